"""A run under construction: witnesses report operations, which become steps with their observations."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from typelattice.calls.call_signatures import mode_with_rules
from typelattice.calls.program_builder import ProgramBuilder
from typelattice.calls.step import MAX_STEP_CHARS, Argument, Excerpt, Input, Number, Ref, SourceLocation
from typelattice.facts.errors import TypelatticeError
from typelattice.operands.objects import operand as read_operand
from typelattice.operands.operand import SCALARS, Operand, scalar
from typelattice.programs.program import Program
from typelattice.tracing.compiled.compiled_calls import CompiledCalls
from typelattice.tracing.compiled.compilers import (
    compiler_by_module,
    compiler_of_functions,
    compiler_of_loop,
)
from typelattice.tracing.compiled.weakness_changes import WeakArguments
from typelattice.tracing.libraries import has_rules, own_system
from typelattice.tracing.record.array_reader import ArrayReader
from typelattice.tracing.record.child_processes import Children
from typelattice.tracing.record.omissions import omissions
from typelattice.tracing.record.unchanged_casts import UnchangedCasts
from typelattice.tracing.record.value_loss_witness import ValueChecks, ValueWitness
from typelattice.tracing.record.witness import Witness
from typelattice.tracing.run_data.array_classes import (
    AnswersByClass,
    ArrayKind,
    Kinds,
    argument_sort,
    is_function,
    is_many,
    joining,
)
from typelattice.tracing.run_data.array_links import (
    MOST_AT_ONE,
    Links,
    Note,
    StepNumber,
    steps_of,
    without_steps,
)
from typelattice.tracing.run_data.run import CompiledCallArgument, NotFollowed, Observation, Run
from typelattice.tracing.run_data.source_text import Source
from typelattice.tracing.steps import build_step as making
from typelattice.tracing.steps.arguments import UnknownCallError
from typelattice.tracing.steps.calls import CallReader
from typelattice.tracing.steps.library_casts import LibraryCastError, check

MOST_RESULTS = 1000  # that are named
MOST_KEYS = 256  # that identify the known steps of one place
MOST_STEPS = 200_000  # with so many, a place gets no step that differs only in its operands' steps
UNREADABLE = "our reading of it failed ({}); please report it"


class Recorder:
    """The steps so far. A witness calls it when it sees something for the first time."""

    def __init__(self, values: bool | ValueChecks = False) -> None:
        self.values = ValueChecks() if values is True else values or None
        self.witness_class: type[Witness] = ValueWitness if values else Witness
        self.notes: list[Note] = []
        self.builder = ProgramBuilder(self.observed)
        self.kinds = Kinds()
        self.is_function = AnswersByClass(is_function)
        self.is_many = AnswersByClass(is_many)
        self.joining = AnswersByClass(joining)
        self.arguments = AnswersByClass(argument_sort)
        self.compiles = AnswersByClass(compiler_of_functions)
        self.others: set[type] = set()  # classes whose objects are neither arrays nor several results
        self.compiled_calls = CompiledCalls(self)
        self.weak_arguments = WeakArguments(self)
        self.links = Links()
        self.sources: dict[str, Source] = {}
        self.left_alone: dict[str, str] = {}
        self.failures: dict[Witness, str] = {}  # the exception of each witness that raised one
        self.lock = threading.RLock()
        self.arrays = ArrayReader()
        self.children = Children()
        self.unchanged = UnchangedCasts()
        self.following = True
        self.read_from: dict[int, tuple[Witness, Any]] = {}
        """Maps each thread to the witness of `x[i]` in the last `x[i] += y`, and the step of `x`."""
        self.results: dict[str, int] = {}
        self.taken: dict[tuple[int, Witness], None] = {}  # by calls that are no steps

    def observed(self, step: int) -> Operand | None:
        """Return the operand of a step that was seen; None for one that is being added."""
        return self.notes[step].operand if step < len(self.notes) else None

    # -- what witnesses see for the first time

    def operator(self, at: Witness, key: Any, result: Any) -> Note | None:
        return self.add_step(at, key, result, making.operator(self.builder, at.written.name), key[:-1])

    def in_place(self, at: Witness, key: Any, result: Any) -> Note | None:
        """Return the step of an operator such as `+=`. A scalar is replaced, not written into."""
        *parts, _, same = key
        return self.add_step(at, key, result, making.in_place(self.builder, at.written.name, same), parts)

    def item(self, at: Witness, key: Any, result: Any) -> Note | None:
        """Return the step of an index."""
        part, _, arrays = key
        indices = arrays if isinstance(arrays, tuple) else (arrays,)
        parts = (part, *(i for i in indices if type(i) is StepNumber))
        lists = next((i for i in indices if type(i) is str), "")
        return self.add_step(at, key, result, making.item(self.builder, lists), parts)

    def attribute(self, at: Witness, key: Any, result: Any) -> Note | None:
        """Return the step of an attribute that computes an array."""
        return self.add_step(at, key, result, making.attribute(self.builder, at.written.name), key[:1])

    def record_put(self, at: Witness, key: Any, a: Any) -> Note | None:
        """Return the step of an assignment to elements."""
        return self.add_step(at, key, a, making.build_put(self.builder), key)

    def call(
        self, at: Witness, key: Any, function: Any, given: tuple[Any, ...], number: int | None = None
    ) -> Note | None:
        """Return the step of a call. If the call gives several arrays, return the step of array `number`.

        Return None for a library function that was read as a graph: its steps are counted already.
        """
        loop = compiler_of_loop(function)
        if loop is not None:
            self.weak_arguments.record(at, loop, function, given)
        apart = compiler_by_module(function) if number is None else None
        if apart is not None and self.compiled_calls.call(at, apart, function, given):
            return None

        def build(excerpt: Excerpt, args: Sequence[Argument]) -> Argument:
            result = given[-1]
            step = self.reader(at).step(
                excerpt, at.written, function, given, number or 0, self.result(result)
            )
            before = self.links.step_of(result)
            step = self.unchanged.step(self.builder.steps, len(self.notes), step, before)
            if before is not None and step != Ref(int(before)):
                is_method = getattr(function, "__self__", None) is result
                file = at.module.file
                self.unchanged.add(step, before, file, self.sources[file], at.written, is_method)
            return step

        return self.add_step(at, key, given[-1], build, steps_of(key))

    def join(self, at: Witness, key: Any, entries: Sequence[Any], result: Any) -> Note | None:
        """Return the step of `np.r_[...]`."""
        (_, name), *_ = key

        def build(excerpt: Excerpt, args: Sequence[Argument]) -> Argument:
            return self.reader(at).join(excerpt, name, entries)

        return self.add_step(at, key, result, build, steps_of(key))

    def reader(self, at: Witness) -> CallReader:
        """Return a reader of the call at a witness; it looks up the step that made each array."""

        def part(x: Any) -> int | None:
            found = self.step_used(at, at.part(x, 0)) if self.kinds[type(x)] is not None else None
            return found if type(found) is StepNumber else None

        return CallReader(self.builder, part)

    def step_used(self, at: Witness, part: Any) -> Any:
        """Return the step that an operation uses, for a part of its key: the one before an unchanged cast."""
        if not self.unchanged.found:
            return part
        return self.unchanged.step_used(part, at.module.file, self.sources[at.module.file], at.written)

    def result(self, x: Any) -> Operand:
        """Return the operand of a result. Raise UnknownCallError if it is not an array."""
        kind = self.kinds[type(x)]
        found = self.arrays.read(x, kind) if kind else None
        if found is None:
            raise UnknownCallError("it gives no array")
        return found

    def add_step(
        self, at: Witness, key: Any, result: Any, make: making.Make, parts: Sequence[Any]
    ) -> Note | None:
        """Return the note for an operation at a witness: a new one, or the note of an equivalent step."""
        if len(at.known) >= MOST_AT_ONE or len(self.notes) >= MOST_STEPS:
            exact, key = key, without_steps(key, self.notes)
            found: Note | None = at.known.get(key)
            if found is not None:
                with self.lock:
                    if found.alike is None:
                        found.alike = Note(found.number, found.operand, found.mark)
                if len(at.known) < MOST_KEYS:
                    at.known[exact] = found.alike
                return found.alike
        kind = self.kinds[type(result)]
        operand = self.arrays.read(result, kind) if kind is not None and self.following else None
        if kind is None or operand is None:
            return None
        with self.lock:
            known: Note | None = at.known.get(key)
            if known is not None:  # another thread has seen it meanwhile
                return known
            mode = mode_with_rules(type(result).__name__, kind.library)
            excerpt = replace(self.excerpt(at, kind.library), module=mode)
            before = len(self.builder.steps)
            try:
                if not has_rules(kind.library):
                    raise UnknownCallError(f"no system has the rules of {kind.library}")
                made = make(excerpt, [making.argument(self.step_used(at, part)) for part in parts])
                if not isinstance(made, Ref):
                    raise UnknownCallError("it gives no array")
                if made.step < before:
                    made = making.converted_array(
                        self.builder, excerpt, made, self.notes[made.step].operand, operand
                    )
                check(kind.library, self.builder.steps, range(before, made.step + 1), self.notes, operand)
            except Exception as e:  # the program must go on if our reading fails
                del self.builder.steps[max(before, len(self.notes)) :]  # except the inputs that were added
                if isinstance(e, RecursionError):
                    raise
                if not isinstance(e, (TypelatticeError, UnknownCallError)):
                    why = UNREADABLE.format(f"{type(e).__name__}: {e}")
                    self.left_alone[f"{excerpt.text} ({excerpt.location})"] = why
                steps = steps_of(parts)
                if steps:
                    name = f"{self.name_of(at, key)}{e.under if isinstance(e, LibraryCastError) else ''}"
                    made = self.builder.opaque(excerpt, name, operand, steps, None)
                else:
                    made = self.builder.input(excerpt.of_library(None), operand)
            note = self.add_notes(made.step, before, operand, kind, result, at.written)
            at.known[key] = note
            return note

    def add_notes(
        self, number: int, before: int, operand: Operand, kind: ArrayKind, result: Any, written: Any
    ) -> Note:
        """Add the notes of the new steps. Return the note of the last one, which is the result's."""
        mark = kind.mark(result)
        if number < before:  # an earlier step's result was given back: asarray(x)
            earlier = self.notes[number]
            return Note(StepNumber(number), earlier.operand, earlier.mark)
        for i in range(len(self.notes), len(self.builder.steps)):
            step = self.builder.steps[i]
            known = read_operand(step.value) if isinstance(step, Number) else operand
            self.notes.append(Note(StepNumber(i), known, mark))
        shape = (None,) * kind.dimensions(result)
        if self.builder.steps[number].shape != shape:
            self.builder.steps[number] = replace(self.builder.steps[number], shape=shape)
        return self.notes[number]

    def input(self, at: Witness, x: Any, kind: ArrayKind, position: int) -> StepNumber | None:
        """Return the step of an array that no step made: that of its base if it is a view, else an input."""
        operand = self.arrays.read(x, kind) if self.following else None
        if operand is None:
            return None
        mark = kind.mark(x)
        with self.lock:
            linked = self.links.step_of(x)
            if linked is not None:  # another thread has met it meanwhile
                return linked
            base = kind.viewed(x)
            found = self.links.live.get(id(base)) if base is not None else None
            known = self.step_of(kind.stands_for(x))
            if known is not None and self.notes[known].operand.dtype is operand.dtype:
                self.link(x, kind, known)  # another tracer of the same variable, or of the same array
                return known
            number: StepNumber
            element = self.element(at, x) if base is None and position == 0 else None
            if element is not None:
                return element
            if found and found[0]() is base and self.notes[found[1]].operand.dtype is operand.dtype:
                number = found[1]
            else:
                key = "input", position, mark
                note = at.known.get(key)
                if note is None:
                    excerpt = self.excerpt(at, kind.library)
                    self.complete()
                    text = self.sources[at.module.file].operand(at.written, position) or excerpt.text
                    made = self.builder.input(Excerpt(text, excerpt.location), operand)
                    note = Note(StepNumber(made.step), operand, mark)
                    self.notes.append(note)
                    one, shape = self.builder.steps[made.step], (None,) * kind.dimensions(x)
                    self.builder.steps[made.step] = replace(one, shape=shape, owner=kind.library)
                    at.known[key] = note
                if isinstance(self.builder.steps[note.number], Input):
                    note.count += 1
                    note.bytes += kind.size(x)
                number = note.number
            self.link(x, kind, number)
            return number

    def element(self, at: Witness, x: Any) -> StepNumber | None:
        """Return the step of elements that `a[i] += y` has read at a witness; None if `a` is not known."""
        witness, part = self.read_from.pop(threading.get_ident(), (at, None))
        apart = witness.module is not at.module or witness.written.line != at.written.line
        kind = self.kinds[type(x)]
        if type(part) is not StepNumber or apart or kind is None:
            return None
        key = part, kind.mark(x), ()
        note = witness.known.get(key) or self.item(witness, key, x)
        witness.link(note, kind, x)
        return self.links.step_of(x)

    def link(self, x: Any, kind: ArrayKind, number: StepNumber) -> None:
        """Record the step of an array, and of the traced value behind it, which `jax.jit` has."""
        self.links.add(x, number, kind.weak)
        inner = kind.stands_for(x)
        own = self.kinds[type(inner)]
        if own is not None and own.variable is None:
            self.links.add(inner, number, own.weak)
        elif inner is not None:
            self.compiled_calls.saw(inner, number)

    def step_of(self, inner: Any) -> StepNumber | None:
        """Return the step of a variable that stands for an array; None if it is not known."""
        found = self.compiled_calls.step_of(inner)
        return self.links.step_of(inner) if found is None and inner is not None else found

    # -- descriptions of steps

    def excerpt(self, at: Witness, library: str) -> Excerpt:
        """Return the source location and the text of a witness's operation."""
        text = self.sources[at.module.file].text(at.written)
        return Excerpt(text[:MAX_STEP_CHARS], SourceLocation(at.module.file, at.written.line), library)

    def name_of(self, at: Witness, key: Any) -> str:
        """Return the name of an opaque step."""
        who = key[0] if isinstance(key, tuple) and key else None
        match who:
            case (_, str() as name) | (str() as name, int()):
                return name
        return getattr(who, "__name__", None) or at.written.name or "call"

    # -- the result

    def name_results(self, values: Mapping[str, Any]) -> None:
        """Record the steps of named arrays, also of those in a tuple, a list or a dictionary."""
        for name, value in values.items():
            self._name_result(name, value)
            if type(value) is dict:
                inner = [(f"{name}[{key!r}]", x) for key, x in value.items() if type(key) in (str, int)]
            elif type(value) in (tuple, list):
                inner = [(f"{name}[{i}]", x) for i, x in enumerate(value[:MOST_RESULTS])]
            else:
                inner = []
            for inner_name, x in inner[:MOST_RESULTS]:
                self._name_result(inner_name, x)

    def _name_result(self, name: str, value: Any) -> None:
        try:
            number = self.links.step_of(value) if self.kinds[type(value)] is not None else None
        except Exception:  # a class that cannot be hashed, by a metaclass of the program
            return
        if number is not None and len(self.results) < MOST_RESULTS:
            self.results[name] = int(number)

    def run(self) -> Run:
        """Return the run so far."""
        with self.lock:
            self.complete()
            for at, why in [*self.failures.items()]:
                excerpt = self.excerpt(at, "")
                self.left_alone[f"{excerpt.text} ({excerpt.location})"] = UNREADABLE.format(why)
            steps = tuple(self.builder.steps)
            seen = tuple(Observation(note.operand, *note.totals) for note in self.notes)
            results = (len(steps) - 1,) if steps else ()
            named = {step.location.file for step in steps if step.location}
            libraries = {*self.arrays.libraries, *(step.owner for step in steps if step.owner)}
            return Run(
                Program(steps, results, "a run"),
                seen,
                {library: own_system(library, steps) for library in sorted(libraries)},
                tuple(NotFollowed(name, why) for name, why in self.left_alone.items()),
                tuple(omissions(self.notes, self.arrays.unread, self.links.let_go)),
                {name: "".join(source.lines) for name, source in self.sources.items() if name in named},
                self.children.started,
                dict(self.results),
                tuple(self.values.found.values()) if self.values else None,
                tuple(self.children.commands),
                weakness_changes=tuple(self.weak_arguments.found.values()),
                compiled_call_arguments=tuple(
                    CompiledCallArgument(int(number), excerpt.location, excerpt.text)
                    for number, at in [*self.taken]
                    for excerpt in [self.excerpt(at, "")]
                ),
            )

    def complete(self) -> None:
        """Add notes for the steps that were added without an observation of their own."""
        for i in range(len(self.notes), len(self.builder.steps)):
            step = self.builder.steps[i]
            known = read_operand(step.value) if isinstance(step, Number) else scalar(SCALARS[float])
            self.notes.append(Note(StepNumber(i), known, None))

