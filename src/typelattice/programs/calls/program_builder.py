"""A builder of programs: it adds steps, each an operation on earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from typelattice.base.errors.error_texts import clip_text
from typelattice.core.dtypes.dtypes import DTYPES, DType, DTypeError, Kind
from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.core.engine.new_arrays import find_deciding_number
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS, class_of
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import (
    OPERATIONS,
    RESULT_SHAPE_ARGUMENT,
    Operation,
    OpError,
    find_operation,
)
from typelattice.core.operations.shapes import Shape, ShapeError
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.program_inputs import read_input
from typelattice.programs.calls.python_arithmetic import python_result
from typelattice.programs.calls.result_shapes import indexed_shape, result_shape
from typelattice.programs.calls.steps import (
    FUNCTION_OF_IN_PLACE,
    IN_PLACE_OF_FUNCTION,
    MAX_STEP_CHARS,
    Argument,
    AskedDType,
    Call,
    Cast,
    Created,
    DTypeArgument,
    DTypeOf,
    Either,
    Excerpt,
    Index,
    Input,
    Item,
    Keywords,
    LibraryCall,
    NamedDType,
    Number,
    Opaque,
    ProgramError,
    Ref,
    Refused,
    Step,
    StepList,
    map_argument,
    yield_leaves,
)  # fmt: skip

MAX_JOINED_CHOICES = 8  # of which one step is one
LIBRARY_YIELDING_TO_OTHERS = "numpy"  # in `numpy_array + tensor`, the other library decides
MAX_LIST_CHARS = 48  # a step shows a longer list in short
MAX_STEPS = 1_000_000
BITWISE_CLASS = "bitwise"  # the class of operations that keep bools
LENGTH_STEP_NAME = "length"  # the name of a step for a length that depends on values
RESULT_KEYWORD = "result"  # the keyword of a call that selects one of its results
DTYPE_DECIDING_KEYWORDS = (
    RESULT_KEYWORD,
    "kind",
)  # keywords that decide the dtype of a call's result


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode in which the functions of a library follow a system of their own: its name, and the library."""

    name: str
    library: str


class ProgramBuilder:
    """The steps so far, and the facts of each that hold under every system.

    `python_number_steps` are the steps that give Python numbers, `known_numbers` the numbers that are known.
    In the builder of a run, `find_observed_operand` gives the operand that an earlier step was seen to be.
    Its steps keep no arguments that no dtype depends on, since these differ from call to call.
    `custom_operations` are those that systems define. `mode` is the mode of a library in which calls are
    made, such as PyTorch's autocast. `list_dtypes_of` gives the dtypes that a step may have under the system
    for which a source is read, if it is read for one.
    """

    list_dtypes_of: Callable[[Excerpt, DTypeArgument | Ref], Sequence[DType]] | None = None

    def __init__(
        self,
        observed: Callable[[int], Operand | None] | None = None,
        custom_operations: Mapping[str, Operation] = {},
    ) -> None:
        self.find_observed_operand, self.custom_operations = observed, custom_operations
        self.steps = StepList()
        self.python_number_steps: set[int] = set()
        self.known_numbers: dict[int, PythonNumber] = {}
        self.checks_shapes = True
        self.mode: Mode | None = None

    def add_step(self, step: Step) -> Ref:
        """Add a step. Raises ProgramError for more steps than a program may have."""
        if len(self.steps) >= MAX_STEPS:
            raise ProgramError(f"a program of more than {MAX_STEPS:,} steps; take it apart")
        self.steps.append(step)
        ref = Ref(len(self.steps) - 1)
        if self._gives_number(step):
            self.python_number_steps.add(ref.step)
        return ref

    def _gives_number(self, step: Step) -> bool:
        """Return True if the result of a step is a Python number."""
        match step:
            case Call():
                return step.is_operator and self.python_number_steps.issuperset(step.operands)
            case Number() | Item():
                return True
            case Either(choices=choices):
                return self.python_number_steps.issuperset(choices)
            case Input() | Opaque():
                return isinstance(step.fixed_result, Operand) and step.fixed_result.tier == "scalar"
        return False

    def forget_shape(self, ref: Ref) -> None:
        """Mark the shape of a step as unknown."""
        self.steps[ref.step] = replace(self.steps[ref.step], shape=None)

    def replace_shape(self, ref: Ref, shape: Shape | None) -> None:
        """Give a step another shape than its operation has."""
        self.steps[ref.step] = replace(self.steps[ref.step], shape=shape)

    def set_stated_shape(self, excerpt: Excerpt, ref: Ref, shape: Shape) -> Ref:
        """Give the last step a shape that the source states.

        Raises ProgramError if it contradicts the known one.
        """
        known = self.steps[ref.step].shape
        if known is not None and known != shape:
            raise excerpt.error(f"its shape is {known}, not {shape}; leave out the wrong one")
        self.steps[ref.step] = replace(self.steps[ref.step], shape=shape)
        return ref

    @contextmanager
    def without_shape_checks(self) -> Iterator[None]:
        """Add steps that have the dtypes of a function, and not its shapes."""
        before, self.checks_shapes = self.checks_shapes, False
        try:
            yield
        finally:
            self.checks_shapes = before

    def mark_same_dtype_as(self, ref: Ref, mark: tuple[str, str], shape: Shape | None = None) -> None:
        """Mark a call that has the dtype, and not the values, of the function that the source calls.

        `shape` is the shape of the function's result.
        """
        step = self.steps[ref.step]
        if isinstance(step, Call):
            keywords = (*(each for each in step.keywords if each[0] != mark[0]), mark)
            self.steps[ref.step] = replace(step, keywords=keywords, shape=shape)

    def mark_made_by(self, ref: Ref, mark: tuple[str, str]) -> None:
        """Mark a new array as made by a function of a class, which says the dtypes that it may have."""
        step = self.steps[ref.step]
        if isinstance(step, Created):
            self.steps[ref.step] = replace(step, keywords=(*step.keywords, mark))

    def find_keyword(self, ref: Ref, name: str) -> Argument:
        """Return a named argument of a step, or None if the step lacks it."""
        step = self.steps[ref.step]
        return dict(step.keywords).get(name) if isinstance(step, Call) else None

    def set_stated_dtype(self, ref: Ref, dtype: NamedDType) -> None:
        """Give the last step, a call, the dtype that its text states. Another step keeps its own dtype."""
        step = self.steps[ref.step]
        if ref.step == len(self.steps) - 1 and isinstance(step, Call) and step.dtype is None:
            self.steps[ref.step] = replace(step, dtype=dtype)

    def known_number(self, x: Argument) -> Argument:
        """Return the Python number that a step gives, if it is known, or any other argument unchanged."""
        found: Argument = map_argument(x, self.known_number) if isinstance(x, tuple) else x
        return self.known_numbers.get(found.step, found) if isinstance(found, Ref) else found

    def is_scalar(self, argument: Argument) -> bool:
        """Return True if an argument is a Python number, of a known value or not."""
        return (
            argument.step in self.python_number_steps
            if isinstance(argument, Ref)
            else isinstance(argument, (bool, int, float, complex))
        )

    def is_number_of_source(self, argument: Argument) -> bool:
        """Return True for a Python number of the source, and not for a literal of a library, `pl.lit(1)`."""
        step = self.steps[argument.step] if isinstance(argument, Ref) else None
        given = step.fixed_result if isinstance(step, Opaque) else None
        is_literal = isinstance(given, Operand) and given.value is not None
        return self.is_scalar(argument) and not is_literal

    def shape_of(self, argument: Argument) -> Shape | None:
        """Return the shape of a step's result. A plain value has no dimensions."""
        return self.steps[argument.step].shape if isinstance(argument, Ref) else ()

    def add_length(self, excerpt: Excerpt, array: Ref) -> Ref | None:
        """Add the step of a length that depends on values, or None if an input has no stated shape."""
        before, seen = [array.step], set[int]()
        while before:
            i = before.pop()
            if i in seen:
                continue
            seen.add(i)
            step = self.steps[i]
            if isinstance(step, Input) and step.shape is None and i not in self.python_number_steps:
                return None
            before += step.inputs
        number = Operand(None, KIND_BY_PYTHON_TYPE[int], True, "scalar")
        return self.add_opaque(excerpt, LENGTH_STEP_NAME, number, (array.step,), ())

    def dtype_of(self, dtype_or_step: DTypeArgument | Ref) -> DType | None:
        """Return the dtype that is named, or that an earlier step states, or None if the system decides.

        An input has its given dtype, and a cast the dtype that it names.
        """
        while not isinstance(dtype_or_step, NamedDType):
            step = self.steps[dtype_or_step.step]
            match step:
                case Input(fixed_result=given) | Opaque(fixed_result=given):
                    return _dtype_of(given)
                case Index(operand=source):
                    dtype_or_step = Ref(source)
                case Step(requested_dtype=NamedDType() | DTypeOf() as asked):
                    dtype_or_step = asked
                case _:
                    return None
        return DTYPES.get(dtype_or_step.name)

    def find_owner(self, excerpt: Excerpt, steps: Sequence[int]) -> str | None:
        """Return the library that decides: the named library, or that of the array with the Python method.

        NumPy's arrays and scalars leave an operation to the arrays of another library.
        """
        if excerpt.owner:
            return excerpt.owner
        owner = None
        for i in steps:
            found = self.steps[i].owner
            if found is not None and (owner is None or owner == LIBRARY_YIELDING_TO_OTHERS):
                owner = found
        return owner

    # -- the fields of steps

    def common_fields(self, excerpt: Excerpt, operands: Sequence[int], shape: Shape | None) -> dict[str, Any]:
        """Return the fields that every step has: the text and location in the source, shape and owner."""
        text, owner = clip_text(excerpt.text, MAX_STEP_CHARS), self.find_owner(excerpt, operands)
        return {"text": text, "location": excerpt.location, "shape": shape, "owner": owner}

    def add_input(self, excerpt: Excerpt, described_operand: object) -> Ref:
        """Add an input: an operand, a string that describes one, or an array."""
        result, shape = read_input(described_operand)
        owner = library_of(type(described_operand).__module__.partition(".")[0]) or excerpt.owner
        ref = self.add_step(Input(result, **self.common_fields(excerpt.of_library(owner), (), shape)))
        if isinstance(result, Operand) and result.tier == "scalar":
            value = result.value
            if value is not None and not (value is True and described_operand is bool):
                self.known_numbers[ref.step] = value
        return ref

    def add_number(self, excerpt: Excerpt, value: PythonNumber) -> Ref:
        operand(value)  # raises OperandError for a number that is too wide
        shown = clip_text(str(value), MAX_STEP_CHARS)
        ref = self.add_step(Number(value, text=shown, location=excerpt.location, shape=()))
        self.known_numbers[ref.step] = value
        return ref

    def ensure_ref(self, excerpt: Excerpt, argument: Argument) -> Ref:
        """Return the step of an operand. For a Python number, a list of numbers, or a dtype, add a step."""
        if isinstance(argument, Ref):
            return argument
        if isinstance(argument, (bool, int, float, complex)):
            return self.add_number(excerpt, argument)
        if isinstance(argument, NamedDType):
            return self.add_step(
                Input(read_input(argument.name)[0], text=argument.name, location=excerpt.location)
            )
        if isinstance(argument, tuple) and argument:
            return self.add_array_of_list(self.operand_excerpt(excerpt, argument), argument, None)
        raise excerpt.error(
            f"{_argument_text(argument)} takes no part in promotion; give an array or a number"
        )

    def operand_excerpt(self, excerpt: Excerpt, x: Argument) -> Excerpt:
        """Return the excerpt of an operand that is not a step by itself, with its text."""
        return Excerpt(clip_text(self.operand_text(x), MAX_LIST_CHARS), excerpt.location, excerpt.owner)

    def operand_text(self, argument: Argument) -> str:
        """Return the text of an operand: a step, a Python number, or a list of these."""
        if isinstance(argument, tuple):
            return f"[{', '.join(map(self.operand_text, argument))}]"
        return self.steps[argument.step].text if isinstance(argument, Ref) else str(argument)

    # -- steps

    def add_operator(self, excerpt: Excerpt, name: str, operands: Sequence[Argument]) -> Argument:
        """Add the step of a Python operator. For known Python numbers, compute their number instead."""
        value = None
        if all(self.is_scalar(x) for x in operands):
            value = self._compute_number(name, [self.known_number(x) for x in operands])
            if value is not None and not any(isinstance(x, Ref) for x in operands):
                return value
        ref = self._add_call_step(excerpt, find_operation(name), operands, (), (), is_operator=True)
        if value is not None:
            self.known_numbers[ref.step] = value
        return ref

    def _compute_number(self, name: str, known_numbers: Sequence[Argument]) -> PythonNumber | None:
        """Compute an operator of Python numbers, as Python does.

        Return None if any argument is not a number.
        """
        numbers = [operand(x) for x in known_numbers if isinstance(x, (bool, int, float, complex))]
        made = python_result(name, numbers) if len(numbers) == len(known_numbers) else None
        return None if made is None else made.value

    def add_in_place(
        self, excerpt: Excerpt, name: str, x: Argument, y: Argument, *, may_rebind: bool = False
    ) -> Argument:
        """Add the step of `x *= y`, the operation of that name being `multiply`.

        `may_rebind`: a result without dimensions is a scalar in some libraries. Its name then refers to a new
        scalar.
        """
        if self.is_scalar(x):
            return self.add_operator(excerpt, name, (x, y))
        left, right = self.ensure_ref(excerpt, x), self.ensure_ref(excerpt, y)
        steps = (left.step, right.step)
        rebinds = may_rebind and self.shape_of(left) == () and self._is_computed(left)
        return self.add_step(Call(
            IN_PLACE_OF_FUNCTION[name], (left, right), (), steps,
            list_operands=steps_written_as_lists((x, y), steps), rebinds=rebinds,
            **self.common_fields(excerpt, steps, self.shape_of(left)),
        ))  # fmt: skip

    def _is_computed(self, ref: Ref) -> bool:
        """Return True if an operation computed a step's result: `x + y`, `x[0]`.

        It is False for inputs, for arrays made by `zeros` and the like, and for arrays written into. A cast
        counts as computed if it casts a computed result, or a Python number as in `np.float32(1)`.
        """
        step = self.steps[ref.step]
        if isinstance(step, Cast):
            return step.operand in self.python_number_steps or self._is_computed(Ref(step.operand))
        if isinstance(step, Call):
            return step.name != "setitem" and (step.name not in FUNCTION_OF_IN_PLACE or step.rebinds)
        return isinstance(step, Index)

    def add_setitem(
        self, excerpt: Excerpt, array: Argument, key: Argument, value: Argument, *, is_operator: bool = False,
        marks: Keywords = (),
    ) -> Ref:
        """Add the step of `x.at[key].set(value)`. Its result replaces x.

        `is_operator`: the source writes `x[key] = value`. Immutable arrays refuse this.
        """
        left, right = self.ensure_ref(excerpt, array), self.ensure_ref(excerpt, value)
        steps = (left.step, right.step)
        return self.add_step(
            Call(
                "setitem", (left, right), (("key", key), *marks), steps, is_operator,
                list_operands=steps_written_as_lists((array, value), steps),
                **self.common_fields(excerpt, steps, self.shape_of(left)),
            )
        )  # fmt: skip

    def add_call(
        self,
        excerpt: Excerpt,
        operation: Operation,
        operands: Sequence[Argument],
        args: Sequence[Argument] = (),
        keywords: Mapping[str, Argument] = {},
        dtype: DTypeArgument | None = None,
        stated_shape: Shape | None = None,
        has_known_shape: bool = True,
    ) -> Ref:
        """Add the step of a call of a library's function. `args` are the arguments after its operands.

        A stated shape is that of the result, whatever shapes the operands have. `has_known_shape` is False
        for a function that has the dtypes of the operation, and another shape.
        """
        return self._add_call_step(
            excerpt,
            operation,
            operands,
            tuple(args),
            tuple(keywords.items()),
            dtype=dtype,
            stated_shape=stated_shape,
            has_known_shape=has_known_shape,
        )

    def _add_call_step(
        self,
        excerpt: Excerpt,
        operation: Operation,
        operands: Sequence[Argument],
        args: tuple[Argument, ...],
        keywords: Keywords,
        is_operator: bool = False,
        dtype: DTypeArgument | None = None,
        stated_shape: Shape | None = None,
        has_known_shape: bool = True,
    ) -> Ref:
        try:
            operation.check_operand_count(sum(x is not None for x in operands))
        except OpError as e:
            raise excerpt.invalid_call(str(e)) from None
        operands = self.convert_operands(excerpt, operation, operands)
        present_operands = [x for x in operands if x is not None]
        refs = tuple([None if x is None else self.ensure_ref(excerpt, x) for x in operands])
        steps = tuple([ref.step for ref in refs if ref is not None])
        like = OPERATIONS[operation.like] if operation.like else operation
        try:
            shape = stated_shape
            if stated_shape is None and has_known_shape:
                shape = result_shape(like, [self.steps[i].shape for i in steps], args, dict(keywords))
        except ShapeError as e:
            if not self.checks_shapes:
                shape = None
            else:
                state = f", or state the result's: {operation.name}(..., {RESULT_SHAPE_ARGUMENT}=(3, 4))"
                raise excerpt.invalid_call(
                    f"{e}; give other shapes{state if operation.like else ''}"
                ) from None
        if self.find_observed_operand:
            args, keywords = (), tuple((key, x) for key, x in keywords if key in DTYPE_DECIDING_KEYWORDS)
        all_arguments: tuple[Argument, ...] = (
            (refs, *args) if operation.call_form == "list" else (*refs, *args)
        )
        fields = self.common_fields(excerpt, steps, shape)
        module = excerpt.module
        if not module and self.mode is not None and fields["owner"] in (None, self.mode.library):
            module, fields["owner"] = self.mode.name, self.mode.library
        return self.add_step(
            Call(
                operation.name, all_arguments, keywords, steps, is_operator, dtype,
                steps_written_as_lists(present_operands, steps), module=module,
                custom_operation=operation if operation.like else None, **fields,
            )
        )  # fmt: skip

    def convert_operands(
        self, excerpt: Excerpt, operation: Operation, operands: Sequence[Argument]
    ) -> Sequence[Argument]:
        """Return the operands as the library converts them before the operation runs."""
        joined = (
            operation.call_form == "list"
            or operation.name == "append"
            or operation.operation_class == "products"
        )
        if not joined:
            return operands  # fast path: most calls need no change
        arrays = [x for x in operands if isinstance(x, Ref) and not self.is_scalar(x)]
        library = self.find_owner(excerpt, [x.step for x in arrays])
        if name_meaning(NameSort.JOINED_NUMBER_IS_ARRAY, "number", library) is not None:
            return [
                self.add_array_of_number(self.operand_excerpt(excerpt, x), x) if self.is_scalar(x) else x
                for x in operands
            ]
        return operands

    def add_cast(
        self, excerpt: Excerpt, x: Argument, to: DTypeArgument, is_conversion: bool = False
    ) -> Ref:
        source = self.ensure_ref(excerpt, x)
        fields = self.common_fields(excerpt, (source.step,), self.shape_of(source))
        return self.add_step(Cast(source.step, to, is_conversion, **fields))

    def add_index(self, excerpt: Excerpt, array: Ref, key: Argument, list_form: str = "") -> Ref:
        """Add the step of elements of an array. `list_form` describes lists in the key, as in an Index."""
        key = self.known_number((key,) if list_form == INDEX_FORMS[0] else key)
        owner = self.find_owner(excerpt, (array.step,))
        if type(key) is int and name_meaning(NameSort.PYTHON_NUMBER_ELEMENTS, "index", owner):
            return self.add_item(excerpt, array)
        arrays = [k for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, Ref)]
        kinds = {k: self._index_kind(k) for k in arrays}
        shapes = {k.step: self.shape_of(k) if kinds[k] else None for k in arrays}
        masks = [k for k in arrays if kinds[k] is Kind.BOOL]
        try:
            shape = indexed_shape(self.shape_of(array), key, shapes, bool(list_form), masks)
        except ShapeError as e:
            raise excerpt.invalid_call(f"{e}; give fewer") from None
        return self.add_step(
            Index(array.step, key, list_form, **self.common_fields(excerpt, (array.step,), shape))
        )

    def _index_kind(self, index: Ref) -> Kind | None:
        """Return the kind of an array among indices, bool or signed, or None if a system decides that."""
        own, step = self.dtype_of(index), self.steps[index.step]
        if index.step in self.python_number_steps:
            return Kind.SIGNED
        if own is not None:
            return Kind.BOOL if own.kind is Kind.BOOL else Kind.SIGNED
        if isinstance(step, Created) and isinstance(step.default_from, Operand):
            return Kind.BOOL if step.default_from.kind is Kind.BOOL else Kind.SIGNED
        if not isinstance(step, Call) or step.name in FUNCTION_OF_IN_PLACE:
            return None
        given = STANDARD_RULES_BY_CLASS[class_of(step.operation)].gives
        if isinstance(given, Kind):
            return given
        is_mask = [self._index_kind(Ref(i)) is Kind.BOOL for i in step.operands]
        return Kind.BOOL if step.operation.operation_class == BITWISE_CLASS and all(is_mask) else None

    def add_item(self, excerpt: Excerpt, x: Ref) -> Ref:
        """Add the step of an array's element as a Python number."""
        return self.add_step(Item(x.step, **self.common_fields(excerpt, (x.step,), ())))

    def add_created_array(
        self,
        excerpt: Excerpt,
        name: str,
        args: Sequence[Argument],
        keywords: Mapping[str, Argument],
        default_from: Operand | int,
        dtype: DTypeArgument | None,
        shape: Shape | None,
    ) -> Ref:
        """Add the step of an array made from a shape, or from Python numbers."""
        if self.find_observed_operand:
            args = ((), *args[1:]) if name == "full" else ()
        fields = self.common_fields(excerpt, (), shape)
        return self.add_step(
            Created(name, tuple(args), tuple(keywords.items()), default_from, dtype, **fields)
        )

    def add_array_of_number(self, excerpt: Excerpt, x: Argument, dtype: DTypeArgument | None = None) -> Ref:
        """Add a 0-d array of a Python number, of a dtype or of the default dtype of its kind."""
        ref = self.ensure_ref(excerpt, x)
        return self.add_created_array(excerpt, "asarray", (ref,), {}, ref.step, dtype, ())

    def add_array_of_list(
        self, excerpt: Excerpt, elements: tuple[Argument, ...], dtype: DTypeArgument | None
    ) -> Ref:
        """Add the array of a list of Python numbers, or of arrays, which are stacked."""
        flat = [*yield_leaves(elements)]
        if all(isinstance(self.known_number(i), (bool, int, float, complex)) for i in flat):
            numbers = [operand(self.known_number(i)) for i in flat]
            deciding_number = find_deciding_number(numbers)
            return self.add_created_array(
                excerpt,
                "asarray",
                (self.known_number(elements),),
                {},
                deciding_number,
                dtype,
                _read_lengths(elements),
            )
        items = [self.ensure_ref(excerpt, item) if isinstance(item, tuple) else item for item in elements]
        stacked = self.add_call(excerpt, find_operation("stack"), items)
        if dtype is None and all(map(self.is_scalar, items)):  # an array of numbers is never weak
            shape = self.shape_of(stacked)
            return self.add_created_array(excerpt, "asarray", (stacked,), {}, stacked.step, None, shape)
        return stacked if dtype is None else self.add_cast(excerpt, stacked, dtype)

    def add_asked_dtype(self, excerpt: Excerpt, array: Ref) -> Ref:
        """Add the step of a question about the dtype of a step."""
        fields = self.common_fields(excerpt, (array.step,), self.shape_of(array))
        return self.add_step(AskedDType(array.step, **fields))

    def add_either(self, excerpt: Excerpt, choices: Sequence[Argument], condition: str) -> Ref:
        """Add the step of a value that is one of several. Axes on which their shapes differ are unknown."""
        refs = [self.ensure_ref(excerpt, x) for x in choices]
        steps = tuple(dict.fromkeys(i for ref in refs for i in self._choices_of(ref, condition)))
        if len(steps) == 1:
            return Ref(steps[0])
        shapes = [self.steps[i].shape for i in steps]
        lengths = [each for each in shapes if each is not None]
        shape = None
        if len(lengths) == len(shapes) and len({*map(len, lengths)}) == 1:
            axes = zip(*lengths, strict=True)
            shape = tuple(axis[0] if len({*axis}) == 1 else None for axis in axes)
        return self.add_step(Either(steps, condition, **self.common_fields(excerpt, steps, shape)))

    def _choices_of(self, ref: Ref, condition: str) -> tuple[int, ...]:
        """Return the steps that a step is one of, if the same condition decides, or else the step itself.

        A step with many choices is one choice: a loop that adds one in each pass costs no more with each.
        """
        step = self.steps[ref.step]
        if not isinstance(step, Either) or step.condition != condition:
            return (ref.step,)
        return step.choices if len(step.choices) < MAX_JOINED_CHOICES else (ref.step,)

    def add_library_call(self, excerpt: Excerpt, call: LibraryCall) -> Ref:
        """Add a call that no table describes. The excerpt gives it the fields that every step has."""
        shapes = tuple(self.steps[i].shape for i in call.inputs)
        fields = self.common_fields(excerpt, call.inputs, None)
        return self.add_step(replace(call, input_shapes=shapes, **fields))

    def drop_steps(self, count: int) -> None:
        """Drop all steps but the first `count`, as if nobody had added them."""
        del self.steps[count:]
        self.python_number_steps = {i for i in self.python_number_steps if i < count}
        self.known_numbers = {i: x for i, x in self.known_numbers.items() if i < count}

    def add_opaque(
        self,
        excerpt: Excerpt,
        name: str,
        result: Operand | str,
        input_steps: Sequence[int],
        shape: Shape | None,
        origin: Mapping[str, str] = {},
    ) -> Ref:
        """Add a step that no rule decides. Its result is `result`, and `origin` has further fields of it."""
        fields = {**self.common_fields(excerpt, input_steps, shape), **origin}
        return self.add_step(Opaque(name, result, tuple(input_steps), **fields))

    def add_refused(self, excerpt: Excerpt, name: str, reason: str, input_steps: Sequence[int]) -> Ref:
        """Add the step of a call that the library refuses for the dtypes of its arrays."""
        fields = self.common_fields(excerpt, input_steps, None)
        return self.add_step(Refused(name, reason, tuple(input_steps), **fields))


def steps_written_as_lists(operands: Sequence[Argument], steps: Sequence[int]) -> tuple[int, ...]:
    """Return the steps of the operands that are written as lists."""
    if tuple not in map(type, operands):
        return ()  # fast path: most calls need no change
    return tuple(i for x, i in zip(operands, steps, strict=True) if isinstance(x, tuple))


def _read_lengths(x: Argument) -> Shape:
    return (len(x), *(_read_lengths(x[0]) if x else ())) if isinstance(x, tuple) else ()


def _argument_text(argument: Argument) -> str:
    match argument:
        case DTypeOf() | NamedDType():
            return "a dtype"
        case tuple():
            return "an empty list"
    return "None" if argument is None else f"{argument!r}"


def _dtype_of(result: Operand | str) -> DType | None:
    """Return the dtype of an input, or None for a Python number, and for a dtype that a system defines."""
    if isinstance(result, Operand):
        return result.dtype
    try:
        return parse_operand(result).dtype
    except DTypeError:
        return None
