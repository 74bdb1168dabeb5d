"""A run under construction: witnesses report operations, which become steps with their observations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.errors.outside_errors import raise_if_from_outside, run_locked
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand, scalar_operand
from typelattice.core.operands.read_objects import operand as read_operand
from typelattice.programs.calls.call_tables import array_class_with_rules
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import (
    MAX_STEP_CHARS,
    Argument,
    Cast,
    Excerpt,
    Input,
    NamedDType,
    Number,
    Ref,
    SourceLocation,
)
from typelattice.programs.program.program import Program
from typelattice.tracing.compiled.compiled_calls import CompiledCallReader
from typelattice.tracing.compiled.weak_type_recompilations import WeakArguments
from typelattice.tracing.library_traits import converting_methods, has_rules, own_system
from typelattice.tracing.library_traits.array_subclasses import has_own_arithmetic
from typelattice.tracing.models.logged_losses import (
    add_logged_scope,
    join_losses,
    read_installed_text,
)
from typelattice.tracing.record.announced_calls import AnnouncedCalls
from typelattice.tracing.record.array_reader import ArrayReader
from typelattice.tracing.record.child_process_count import ChildProcessCounter
from typelattice.tracing.record.held_arrays import list_held_arrays
from typelattice.tracing.record.object_results import ObjectResults
from typelattice.tracing.record.omissions import yield_omissions
from typelattice.tracing.record.unchanged_casts import UnchangedCasts
from typelattice.tracing.record.value_loss_witness import ValueChecks, ValueWitness
from typelattice.tracing.record.witness import RESIZING_METHOD, Witness
from typelattice.tracing.run_data.array_classes import (
    ArrayClass,
    ArrayClasses,
    CachePerClass,
    argument_sort,
    holds_results,
    is_function,
    is_lasting_class,
    joining_operation,
)
from typelattice.tracing.run_data.compilers import (
    compiler_by_module,
    compiler_of_functions,
    compiler_of_loop,
)
from typelattice.tracing.run_data.float_widths import operand_width
from typelattice.tracing.run_data.model_run import ModelRun
from typelattice.tracing.run_data.operation_log import OperationLog
from typelattice.tracing.run_data.producing_steps import (
    MAX_STEPS_PER_OPERATION,
    ArrayLinks,
    SameObject,
    StepNumber,
    StepTally,
    hide_links,
    list_steps_of_key,
    replace_steps_by_cache_keys,
)
from typelattice.tracing.run_data.run import (
    CompiledCallArgument,
    LocatedLoss,
    Observation,
    Run,
    UnfollowedCode,
    ValueScope,
)
from typelattice.tracing.run_data.source_text import SourceText
from typelattice.tracing.steps import build_step
from typelattice.tracing.steps.arguments import UnknownCallError
from typelattice.tracing.steps.observed_calls import CallReader
from typelattice.tracing.steps.rule_exemptions import (
    LibraryCastError,
    OwnArithmeticError,
    check_casts_of_library,
)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
MAX_NAMED_RESULTS = 1000
MAX_KEYS_PER_OPERATION = 256  # keys of known steps that are kept for one operation
MAX_DISTINCT_STEPS = 200_000  # beyond it, a step must differ in more than its operands' steps
UNREADABLE_MESSAGE = "our reading of it failed ({}); please report it"


def locked(
    method: Callable[Concatenate[Recorder, Parameters], Result],
) -> Callable[Concatenate[Recorder, Parameters], Result]:
    """Let a method of a recorder run while its thread holds the lock."""

    @wraps(method)
    def run(self: Recorder, /, *args: Parameters.args, **named: Parameters.kwargs) -> Result:
        return run_locked(self.lock, partial(method, self, *args, **named))

    return run


class Recorder:
    """The steps so far. A witness calls it when it sees an operation for the first time."""

    def __init__(self, values: bool | ValueChecks = False) -> None:
        self.value_checks = ValueChecks() if values is True else values or None
        self.witness_class: type[Witness] = ValueWitness if values else Witness
        self.tallies: list[StepTally] = []
        self.builder = ProgramBuilder(self.observed_operand)
        self.array_kinds = ArrayClasses()
        self.is_function = CachePerClass(is_function)
        self.objects = ObjectResults(self)
        self.attribute_readers = self.objects.attribute_readers
        self.holds_results = CachePerClass(
            lambda cls: holds_results(cls) or self.attribute_readers[cls] is not None
        )
        self.joining_operation = CachePerClass(joining_operation)
        self.argument_sorts = CachePerClass(argument_sort)
        self.has_own_arithmetic = CachePerClass(has_own_arithmetic)
        self.gives_numbers = CachePerClass(self.wraps_numbers)
        # the class of each step's arrays, if it computes in its own way
        self.packages_of_inputs: dict[int, str] = {}
        """The packages of calls without arrays as arguments, whose results are inputs."""
        self.own_arithmetic_classes: dict[int, str] = {}
        self.compiler_of = CachePerClass(compiler_of_functions)
        self.is_lasting_class = CachePerClass(is_lasting_class)
        self.converting_methods = converting_methods()
        # Objects of these classes are neither arrays nor several results.
        self.arrayless_classes: set[type] = set()
        self.compiled_calls = CompiledCallReader(self)
        self.announced_calls = AnnouncedCalls(self)
        self.weak_arguments = WeakArguments(self)
        self.links = ArrayLinks()
        hide_links()
        self.sources: dict[str, SourceText] = {}
        self.script: str | None = None
        self.model: ModelRun | None = None
        self.log_of_values: OperationLog | None = None
        self.histories: dict[str, Any] = {}  # of dispatchers, by their libraries
        self.not_followed: dict[str, str] = {}
        self.failures: dict[Witness, str] = {}  # our own error at each witness that cannot read its operation
        self.check_failures: dict[Witness, str] = {}  # the same of checks of values
        self.repeating_threads: set[int] = set()
        """The threads that repeat the work of a witness, to learn who raised an error."""
        self.lock = threading.RLock()
        self.array_reader = ArrayReader()
        self.child_process_counter = ChildProcessCounter()
        self.unchanged_casts = UnchangedCasts()
        self.is_following = True
        self.elements_read: dict[int, tuple[Witness, Any]] = {}
        """Maps each thread to the witness of `x[i]` in the last `x[i] += y`, and the step of `x`."""
        self.iterated_arrays: dict[tuple[str, str], tuple[StepNumber, int, int]] = {}
        """Maps a file and the variable of a loop to the step of the array, and the lines of the loop."""
        self.results: dict[str, int] = {}
        # calls of compiled functions, which are not steps themselves
        self.compiled_call_arguments: dict[tuple[int, Witness], None] = {}

    def close(self) -> None:
        """Record nothing from now on, and keep no class of the program alive."""
        self.is_following = False
        for cache in vars(self).values():
            if isinstance(cache, (ArrayClasses, CachePerClass)):
                cache.close()
        self.arrayless_classes.clear()
        self.objects.close()
        self.announced_calls.close()

    def observed_operand(self, step: int) -> Operand | None:
        """Return the operand of a step that was seen, or None for a step that is being added."""
        return self.tallies[step].operand if step < len(self.tallies) else None

    # -- operations that witnesses see for the first time

    def step_of_operator(self, witness: Witness, key: Any, result: Any) -> StepTally | None:
        return self.add_step(
            witness, key, result, build_step.operator_maker(self.builder, witness.operation.name), key[:-1]
        )

    def step_of_in_place(self, witness: Witness, key: Any, result: Any) -> StepTally | None:
        """Return the step of an operator such as `+=`. A scalar is replaced, not written into."""
        *parts, _, same = key
        return self.add_step(
            witness, key, result, build_step.in_place_maker(self.builder, witness.operation.name, same), parts
        )

    def step_of_index(self, witness: Witness, key: Any, result: Any) -> StepTally | None:
        """Return the step of an index."""
        part, _, arrays = key
        indices = arrays if isinstance(arrays, tuple) else (arrays,)
        parts = (part, *(i for i in indices if type(i) is StepNumber))
        lists = next((i for i in indices if type(i) is str), "")
        return self.add_step(witness, key, result, build_step.index_maker(self.builder, lists), parts)

    def step_of_attribute(self, witness: Witness, key: Any, result: Any) -> StepTally | None:
        """Return the step of an attribute that computes an array."""
        return self.add_step(
            witness, key, result, build_step.attribute_maker(self.builder, witness.operation.name), key[:1]
        )

    def step_of_assignment(self, witness: Witness, key: Any, array: Any) -> StepTally | None:
        """Return the step of an assignment to elements."""
        return self.add_step(witness, key, array, build_step.assignment_maker(self.builder), key)

    def step_of_call(
        self,
        witness: Witness,
        key: Any,
        function: Any,
        arguments_and_result: tuple[Any, ...],
        number: int | None = None,
        origin: Mapping[str, str] = {},
    ) -> StepTally | None:
        """Return the step of a call. If it gives several arrays, return that of array `number`.

        Return None for a library function that was read as a graph: its steps are counted already.
        """
        loop = compiler_of_loop(function)
        if loop is not None:
            self.weak_arguments.record_call(witness, loop, function, arguments_and_result)
        if number is None and self.announced_calls.announces_for_first_argument(function):
            self.announced_calls.note_call(witness, function, arguments_and_result)
        compiler = compiler_by_module(function) if number is None else None
        if compiler is not None and self.compiled_calls.add_call(
            witness, compiler, function, arguments_and_result
        ):
            return None

        def build(excerpt: Excerpt, args: Sequence[Argument]) -> Argument:
            result = arguments_and_result[-1]
            step = self.make_call_reader(witness).read_step(
                excerpt,
                witness.operation,
                function,
                arguments_and_result,
                number or 0,
                self.result_operand(result),
            )
            before = self.step_of(result)
            step = self.unchanged_casts.replace_repeated(self.builder.steps, len(self.tallies), step, before)
            if before is not None and step != Ref(int(before)):
                is_method = getattr(function, "__self__", None) is result
                file = witness.module.file
                self.unchanged_casts.note_cast(
                    step, before, file, self.sources[file], witness.operation, is_method
                )
            return step

        steps = list_steps_of_key(key)
        return self.add_step(witness, key, arguments_and_result[-1], build, steps, origin)

    def step_of_result(
        self,
        witness: Witness,
        key: Any,
        function: Any,
        arguments_and_value: tuple[Any, ...],
        number: int,
        result: Any,
    ) -> StepTally | None:
        """Return the step of array `number` in the tuple, list or dictionary that a call gave."""
        *args, value = arguments_and_value
        arrays = list_held_arrays(value, self.array_kinds)
        part = next((path for path, x in arrays if x is result), "")
        origin = {"part": part, "package": self.objects.name_package(function, type(value))}
        return self.step_of_call(witness, key, function, (*args, result), number, origin)

    @locked
    def record_object(self, witness: Witness, function: Any, arguments_and_result: Sequence[Any]) -> None:
        """Record the arrays in an object that a call or an operator gave."""
        self.objects.record(witness, function, arguments_and_result)

    def step_of_joined_entries(
        self, witness: Witness, key: Any, entries: Sequence[Any], result: Any
    ) -> StepTally | None:
        """Return the step of `np.r_[...]`."""
        (_, name), *_ = key

        def build(excerpt: Excerpt, args: Sequence[Argument]) -> Argument:
            return self.make_call_reader(witness).step_of_joined_entries(excerpt, name, entries)

        return self.add_step(witness, key, result, build, list_steps_of_key(key))

    def make_call_reader(self, witness: Witness) -> CallReader:
        """Return a reader of the call at a witness. It looks up the step that made each array."""

        def part(x: Any) -> int | None:
            found = (
                self.step_used(witness, witness.operand_key(x, 0))
                if self.array_kinds[type(x)] is not None
                else None
            )
            return found if type(found) is StepNumber else None

        return CallReader(self.builder, part)

    def step_used(self, witness: Witness, key_part: Any) -> Any:
        """Return the step that an operation uses, for a part of its key: the one before an unchanged cast."""
        if not self.unchanged_casts.casts:
            return key_part
        return self.unchanged_casts.step_used(
            key_part, witness.module.file, self.sources[witness.module.file], witness.operation
        )

    def result_operand(self, result: Any) -> Operand:
        """Return the operand of a result. Raises UnknownCallError if it is not an array."""
        kind = self.array_kinds[type(result)]
        found = self.array_reader.read_operand(result, kind) if kind else None
        if found is None:
            raise UnknownCallError("it gives no array")
        return found

    @locked
    def add_step(
        self,
        witness: Witness,
        key: Any,
        result: Any,
        make_step: build_step.StepMaker,
        key_parts: Sequence[Any],
        origin: Mapping[str, str] = {},
    ) -> StepTally | None:
        """Return the tally for an operation at a witness: a new one, or the tally of an equivalent step.

        If no rule describes the operation, its step has the fields in `origin`.
        """
        if len(witness.tallies) >= MAX_STEPS_PER_OPERATION or len(self.tallies) >= MAX_DISTINCT_STEPS:
            exact, key = key, replace_steps_by_cache_keys(key, self.tallies)
            found: StepTally | None = witness.tallies.get(key)
            if found is not None:
                if found.merged_tally is None:
                    found.merged_tally = StepTally(
                        found.number, found.operand, found.cache_key, dtype=found.dtype
                    )
                if len(witness.tallies) < MAX_KEYS_PER_OPERATION:
                    witness.tallies[exact] = found.merged_tally
                return found.merged_tally
        kind = self.array_kinds[type(result)]
        operand = (
            self.array_reader.read_operand(result, kind) if kind is not None and self.is_following else None
        )
        if kind is None or operand is None:
            return None
        known: StepTally | None = witness.tallies.get(key)
        if known is not None:  # another thread has seen it meanwhile
            return known
        self.announced_calls.note_array(result, kind.library)
        mode = array_class_with_rules(type(result).__name__, kind.library)
        excerpt = replace(self.excerpt_of(witness, kind.library), module=mode)
        before = len(self.builder.steps)
        try:
            if witness in self.failures:
                raise UnknownCallError("our reading of it failed")
            if not has_rules(kind.library):
                raise UnknownCallError(f"no system has the rules of {kind.library}")
            if owner := self.own_class_of(result, list_steps_of_key(key_parts)):
                raise OwnArithmeticError(owner)
            made = make_step(
                excerpt, [build_step.argument_of_key(self.step_used(witness, part)) for part in key_parts]
            )
            if not isinstance(made, Ref):
                raise UnknownCallError("it gives no array")
            if made.step < before:
                made = build_step.add_converted_array(
                    self.builder, excerpt, made, self.tallies[made.step].operand, operand
                )
            check_casts_of_library(
                kind.library, self.builder.steps, range(before, made.step + 1), self.tallies, operand
            )
        except BaseException as e:
            # Incomplete steps would break the run. Inputs that were added are complete, so they stay.
            del self.builder.steps[max(before, len(self.tallies)) :]
            if not isinstance(e, (TypelatticeError, UnknownCallError)):
                raise
            suffix = e.name_suffix if isinstance(e, (LibraryCastError, OwnArithmeticError)) else ""
            name = f"{self.name_of_opaque_step(witness, key)}{suffix}"
            made = self.add_step_without_rule(excerpt, name, operand, list_steps_of_key(key_parts), origin)
        tally = self.add_tallies(made.step, before, operand, kind, result, witness.operation)
        witness.tallies[key] = tally
        if own := self.own_class_of(result, ()):
            self.own_arithmetic_classes[tally.number] = own
        return tally

    def add_step_without_rule(
        self, excerpt: Excerpt, name: str, operand: Operand, steps: Sequence[int], origin: Mapping[str, str]
    ) -> Ref:
        """Add an opaque step, or an input if it has no operand and is no part of a value."""
        if steps or origin.get("part"):
            return self.builder.add_opaque(excerpt, name, operand, steps, None, origin)
        made = self.builder.add_input(excerpt.of_library(None), operand)
        self.packages_of_inputs[made.step] = origin.get("package", "")
        return made

    def wraps_numbers(self, cls: type) -> bool:
        """Return True if an array class computes in its own way, and has another array of its numbers."""
        kind = self.array_kinds[cls]
        return self.has_own_arithmetic[cls] or (kind is not None and not has_rules(kind.library))

    def own_class_of(self, array: Any, operand_steps: Sequence[int]) -> str:
        """Name the class of an array, or of an operand, that computes in its own way, or return ""."""
        if self.has_own_arithmetic[type(array)]:
            name: str = type.__getattribute__(type(array), "__name__")
            return name
        found = (self.own_arithmetic_classes[i] for i in operand_steps if i in self.own_arithmetic_classes)
        return next(found, "")

    def add_tallies(
        self, number: int, first_new: int, operand: Operand, kind: ArrayClass, result: Any, operation: Any
    ) -> StepTally:
        """Add the tallies of the new steps. Return the tally of the last one, which is the result's."""
        mark = kind.cache_key(result)
        if number < first_new:  # an earlier step's result was given back: asarray(x)
            earlier = self.tallies[number]
            return StepTally(StepNumber(number), earlier.operand, earlier.cache_key, dtype=earlier.dtype)
        for i in range(len(self.tallies), len(self.builder.steps)):
            step = self.builder.steps[i]
            known = read_operand(step.value) if isinstance(step, Number) else operand
            self.tallies.append(StepTally(StepNumber(i), known, mark, dtype=kind.dtype_of_link(result)))
        shape = (None,) * kind.dimensions(result)
        if self.builder.steps[number].shape != shape:
            self.builder.steps[number] = replace(self.builder.steps[number], shape=shape)
        return self.tallies[number]

    @locked
    def step_of_input(
        self, witness: Witness, array: Any, kind: ArrayClass, position: int
    ) -> StepNumber | None:
        """Return the step of an array that no step made: its base's step if it is a view, else an input."""
        operand = self.array_reader.read_operand(array, kind) if self.is_following else None
        if operand is None:
            return None
        mark = kind.cache_key(array)
        linked = self.step_of_changed_array(witness, array, kind)
        if linked is not None:  # its dtype has changed, or another thread has added it meanwhile
            return linked
        base = kind.base_of(array)
        found = self.links.by_weak_reference.get(id(base)) if base is not None else None
        known = self.step_of_variable(kind.variable_of(array))
        if known is not None and self.tallies[known].operand.dtype is operand.dtype:
            self.link_array(array, kind, known)  # another tracer of the same variable or array
            return known
        element = self.step_of_elements_read(witness, array) if base is None and position == 0 else None
        if element is not None:
            return element
        own = self.own_class_of(array, ())
        whole = found[1] if found and found[0]() is base else self.step_iterated_over(witness, position)
        if whole is not None and not own and self.tallies[whole].operand.dtype is operand.dtype:
            return self.link_element(witness, array, kind, position, whole)
        wrapped = self.objects.step_of_wrapped_array(array)
        if wrapped is not None and self.tallies[wrapped].operand.dtype is operand.dtype:
            self.link_array(array, kind, wrapped)
            return wrapped
        key = "input", position, mark, own
        tally = witness.tallies.get(key)
        if tally is None:
            self.add_missing_tallies()
            made = self.builder.add_input(self.operand_excerpt(witness, kind, position), operand)
            tally = StepTally(StepNumber(made.step), operand, mark)
            self.tallies.append(tally)
            one, shape = self.builder.steps[made.step], (None,) * kind.dimensions(array)
            self.builder.steps[made.step] = replace(one, shape=shape, owner=kind.library)
            if own:
                self.own_arithmetic_classes[made.step] = own
            witness.tallies[key] = tally
        if isinstance(self.builder.steps[tally.number], Input):
            tally.count += 1
            tally.bytes += kind.size(array)
        self.link_array(array, kind, tally.number)
        return tally.number

    def operand_excerpt(self, witness: Witness, kind: ArrayClass, position: int) -> Excerpt:
        """Return the location of a witness, and the text of one of its operands."""
        excerpt = self.excerpt_of(witness, kind.library)
        text = self.sources[witness.module.file].operand_text(witness.operation, position)
        return Excerpt(text or excerpt.text, excerpt.location)

    def step_iterated_over(self, witness: Witness, position: int) -> StepNumber | None:
        """Return the step of the array that a loop around a witness iterates over, by the loop's variable."""
        if not self.iterated_arrays:
            return None
        name = self.sources[witness.module.file].operand_text(witness.operation, position)
        number, first, last = self.iterated_arrays.get((witness.module.file, name), (None, 0, 0))
        return number if first <= witness.operation.line <= last else None

    def link_element(
        self, witness: Witness, array: Any, kind: ArrayClass, position: int, whole: StepNumber
    ) -> StepNumber:
        """Return the step of a view or an element of an array.

        It is the step of the array, but that a single number may follow other rules.
        """
        number = whole
        if kind.dimensions(array) == 0 and self.tallies[whole].operand.tier != "0d":
            key = "element", whole, kind.cache_key(array), position
            tally = witness.tallies.get(key)
            if tally is None:
                before = len(self.builder.steps)
                self.add_missing_tallies()
                excerpt = self.operand_excerpt(witness, kind, position).of_library(kind.library)
                made = build_step.index_maker(self.builder, "")(excerpt, [Ref(int(whole))])
                assert isinstance(made, Ref)
                operand = self.result_operand(array)
                tally = self.add_tallies(made.step, before, operand, kind, array, witness.operation)
                witness.tallies[key] = tally
            tally.count += 1
            tally.bytes += kind.size(array)
            number = tally.number
        self.link_array(array, kind, number)
        return number

    def step_of_elements_read(self, witness: Witness, array: Any) -> StepNumber | None:
        """Return the step of elements that `a[i] += y` has read at a witness, or None if `a` is not known."""
        reading_witness, part = self.elements_read.pop(threading.get_ident(), (witness, None))
        is_elsewhere = (
            reading_witness.module is not witness.module
            or reading_witness.operation.line != witness.operation.line
        )
        kind = self.array_kinds[type(array)]
        if type(part) is not StepNumber or is_elsewhere or kind is None:
            return None
        key = part, kind.cache_key(array), ()
        tally = reading_witness.tallies.get(key) or self.step_of_index(reading_witness, key, array)
        reading_witness.link_result(tally, kind, array)
        return self.step_of(array)

    def link_array(self, array: Any, kind: ArrayClass, number: StepNumber) -> None:
        """Record the step of an array, and of its traced value under `jax.jit`."""
        self.link_object(array, kind, number)
        inner = kind.variable_of(array)
        own = self.array_kinds[type(inner)]
        if own is not None and own.variable is None:
            self.link_object(inner, own, number)
        elif inner is not None:
            self.compiled_calls.note_variable(inner, number)

    def link_object(self, array: Any, kind: ArrayClass, number: StepNumber) -> None:
        """Record the step of one object."""
        if kind.takes_weak_references:
            self.links.link_array(array, number, kind.dtype_of_link(array))
        else:
            mark_of = kind.mark_of or SameObject
            self.links.link_scalar(array, mark_of(array), number)

    def step_of(self, value: Any) -> StepNumber | None:
        """Return the step that made an array or a scalar, or None if it is not remembered."""
        found = self.links.step_of(value)
        kind = self.array_kinds[type(value)] if found is None else None
        if kind is None or kind.takes_weak_references:
            return found
        return self.links.step_of_scalar(value, (kind.mark_of or SameObject)(value))

    def stop_linking_resizable(self) -> None:
        """Link no array with a method that may resize it, from now on. It must have no weak references."""
        links = self.links
        links.resizes_anything = self.array_kinds.leaves_out_resizable = True
        self.array_kinds.clear()
        for i, (found, part, _) in [*links.by_weak_reference.items()]:
            if type(part) is StepNumber and hasattr(type(found()), RESIZING_METHOD):
                links.by_weak_reference.pop(i, None)

    # -- arrays whose dtype changed since they were linked

    def note_converted_arrays(self, witness: Witness, owner: Any) -> None:
        """Add a cast for each linked array of an object, such as a module, that a method has just cast."""
        for name, array in self.converting_methods[witness.name](owner):
            kind = self.array_kinds[type(array)]
            known = self.links.step_of(array) if kind is not None else None
            if (
                kind is not None
                and known is not None
                and self.step_of_changed_array(witness, array, kind, name) != known
            ):
                self.objects.forget_converted(known)

    @locked
    def step_of_changed_array(
        self, witness: Witness, array: Any, kind: ArrayClass, name: str = ""
    ) -> StepNumber | None:
        """Return the step of a linked array, or of a cast if its dtype has changed since.

        Nothing tells where an array changed, unless a witness has just seen it. Otherwise the cast stands
        where the array is used next.
        """
        number, old, new = self.step_of(array), self.links.old_dtype(array), kind.dtype_of_link(array)
        if number is None or old is None or old == new:
            return number
        operand = self.array_reader.read_operand(array, kind)
        if operand is None or operand.dtype is self.tallies[number].operand.dtype:
            return number
        key = "changed", number, kind.cache_key(array)
        tally = witness.tallies.get(key)
        if tally is None:
            excerpt = self.excerpt_of(witness, kind.library)
            what = name or self.sources[witness.module.file].operand_text(witness.operation, 0)
            text = f"{excerpt.text} casts {what} in place" if name else f"{what} has changed its dtype"
            self.add_missing_tallies()
            assert operand.dtype is not None
            cast = Cast(
                int(number), NamedDType(operand.dtype.name), text=text, location=excerpt.location,
                owner=kind.library,
            )  # fmt: skip
            made = self.builder.add_step(cast)
            tally = self.add_tallies(made.step, len(self.tallies), operand, kind, array, witness.operation)
            witness.tallies[key] = tally
        tally.count += 1
        tally.bytes += kind.size(array)
        if kind.keeps_dtype:
            self.link_array(array, kind, tally.number)
        return tally.number

    def step_of_variable(self, inner: Any) -> StepNumber | None:
        """Return the step of a variable that stands for an array, or None if it is not known."""
        found = self.compiled_calls.step_of(inner)
        return self.step_of(inner) if found is None and inner is not None else found

    def float_of(self, array: Any) -> DType | None:
        """Return the dtype of an array of floats, and None for any other."""
        kind = self.array_kinds[type(array)]
        operand = self.array_reader.read_operand(array, kind) if kind and kind.variable is None else None
        return operand.dtype if operand is not None and operand_width(operand) else None

    def read_float_dtype(self, stated: Any) -> DType | None:
        """Return the float dtype that an object of a library stands for, or None."""
        try:
            found = read_operand(stated)
        except TypelatticeError:
            return None
        return found.dtype if operand_width(found) else None

    # -- descriptions of steps

    def excerpt_of(self, witness: Witness, library: str) -> Excerpt:
        """Return the source location and the text of a witness's operation."""
        text = self.sources[witness.module.file].text_at(witness.operation)
        return Excerpt(
            text[:MAX_STEP_CHARS], SourceLocation(witness.module.file, witness.operation.line), library
        )

    def name_of_opaque_step(self, witness: Witness, key: Any) -> str:
        """Return the name of an opaque step."""
        who = key[0] if isinstance(key, tuple) and key else None
        match who:
            case (_, str() as name) | (str() as name, int()):
                return name
        return getattr(who, "__name__", None) or witness.operation.name or "call"

    # -- the result

    def name_results(self, values: Mapping[str, Any]) -> None:
        """Record the steps of named arrays, also of those in a tuple, a list or a dictionary."""
        for name, value in values.items():
            self._name_result(name, value)
            if type(value) is dict:
                inner = [(f"{name}[{key!r}]", x) for key, x in value.items() if type(key) in (str, int)]
            elif type(value) in (tuple, list):
                inner = [(f"{name}[{i}]", x) for i, x in enumerate(value[:MAX_NAMED_RESULTS])]
            else:
                inner = []
            for inner_name, x in inner[:MAX_NAMED_RESULTS]:
                self._name_result(inner_name, x)

    def _name_result(self, name: str, value: Any) -> None:
        try:
            number = self.step_of(value) if self.array_kinds[type(value)] is not None else None
        except Exception as e:  # the metaclass of a program's class may prevent hashing
            raise_if_from_outside(e, lambda: self.array_kinds[type(value)])
            return
        if number is not None and len(self.results) < MAX_NAMED_RESULTS:
            self.results[name] = int(number)

    @locked
    def build_run(self) -> Run:
        """Return the run so far."""
        self.add_missing_tallies()
        for at, why in [*self.failures.items(), *self.check_failures.items()]:
            excerpt = self.excerpt_of(at, "")
            self.not_followed[f"{excerpt.text} ({excerpt.location})"] = UNREADABLE_MESSAGE.format(why)
        steps = tuple(self.builder.steps)
        seen = tuple(Observation(tally.operand, *tally.totals) for tally in self.tallies)
        results = (len(steps) - 1,) if steps else ()
        announced = tuple(self.announced_calls.wrong.values())
        named = {step.location.file for step in steps if step.location}
        named |= {at.file for each in announced for at in (each.location, each.computing_location) if at}
        if self.model is not None:
            named |= self.model.log.list_files()
        libraries = {*self.array_reader.libraries, *(step.owner for step in steps if step.owner)}
        return Run(
            Program(steps, results, "a run"),
            seen,
            {library: own_system(library, steps) for library in sorted(libraries)},
            tuple(UnfollowedCode(name, why) for name, why in self.not_followed.items()),
            tuple(yield_omissions(self.tallies, self.array_reader.unknown_dtypes, self.links.forgotten)),
            {name: "".join(source.lines) for name, source in self.sources.items() if name in named},
            self.child_process_counter.started_count,
            dict(self.results),
            self._list_losses(),
            tuple(self.child_process_counter.commands),
            weakness_changes=tuple(self.weak_arguments.changes.values()),
            compiled_call_arguments=tuple(
                CompiledCallArgument(int(number), excerpt.location, excerpt.text)
                for number, at in [*self.compiled_call_arguments]
                for excerpt in [self.excerpt_of(at, "")]
            ),
            held_arrays=tuple(self.objects.held_arrays),
            value_scope=self._scope_of_values(),
            script=self.script,
            model=self.model,
            announced_calls=announced,
        )

    def _list_losses(self) -> tuple[LocatedLoss, ...] | None:
        """List the losses of values that witnesses and dispatchers saw, or return None if none looked."""
        if self.value_checks is None:
            return None
        own = tuple(self.value_checks.losses.values())
        if self.log_of_values is None:
            return own
        return tuple(join_losses(self.log_of_values, own, self._text_at))

    def _text_at(self, location: SourceLocation) -> str:
        source = self.sources.get(location.file)
        return source.text_at(location) if source is not None else read_installed_text(location)

    def _scope_of_values(self) -> ValueScope | None:
        if self.value_checks is None:
            return None
        scope, log = self.value_checks.scope, self.log_of_values
        return scope if log is None else add_logged_scope(scope, log)

    def add_missing_tallies(self) -> None:
        """Add tallies for the steps that were added without an observation of their own."""
        for i in range(len(self.tallies), len(self.builder.steps)):
            step = self.builder.steps[i]
            known = (
                read_operand(step.value)
                if isinstance(step, Number)
                else scalar_operand(KIND_BY_PYTHON_TYPE[float])
            )
            self.tallies.append(StepTally(StepNumber(i), known, None))
