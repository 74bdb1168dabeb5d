"""A run in the making: what witnesses tell becomes steps, each with what was seen of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from typelattice.facts.errors import TypelatticeError
from typelattice.operands.objects import operand as read_operand
from typelattice.operands.operand import SCALARS, Operand, scalar
from typelattice.programs.draft import Draft
from typelattice.programs.program import Program
from typelattice.programs.site import Site
from typelattice.programs.step import LONGEST, Argument, Input, Number, Place, Ref
from typelattice.tracing import making
from typelattice.tracing.arguments import UnknownCallError
from typelattice.tracing.calls import CallReader
from typelattice.tracing.children import Children
from typelattice.tracing.compiled.compilers import compiler_by_module, compiler_of_functions
from typelattice.tracing.compiled.inside import Inside
from typelattice.tracing.kinds import ArrayKind, Asked, Kinds, argument_sort, is_function, is_many, joining
from typelattice.tracing.left_out import left_out
from typelattice.tracing.libraries import has_rules, own_system
from typelattice.tracing.links import MOST_AT_ONE, Links, Note, StepNumber, steps_of, without_steps
from typelattice.tracing.own_casts import OwnCastError, check
from typelattice.tracing.reading import ArrayReader
from typelattice.tracing.run import LeftAlone, Run, Seen
from typelattice.tracing.source import Source
from typelattice.tracing.witness import Witness

MOST_KEYS = 256  # by which one place knows its steps again
MOST_STEPS = 200_000  # from then on a place gets no step that differs in that alone
UNREADABLE = "our reading of it failed ({}: {}); please report it"


class Recorder:
    """The steps so far. Witnesses call it where they see something for the first time."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.notes: list[Note] = []
        self.kinds = Kinds()
        self.is_function = Asked(is_function)
        self.is_many = Asked(is_many)
        self.joining = Asked(joining)
        self.arguments = Asked(argument_sort)
        self.compiles = Asked(compiler_of_functions)
        self.others: set[type] = set()  # classes whose objects are neither arrays nor several results
        self.inside = Inside(self)
        self.links = Links()
        self.sources: dict[str, Source] = {}
        self.left_alone: dict[str, str] = {}
        self.lock = threading.RLock()
        self.arrays = ArrayReader()
        self.children = Children()
        self.following = True

    # -- what witnesses see for the first time

    def operator(self, at: Witness, key: Any, result: Any) -> Note | None:
        """The step of an operator."""
        return self.noted(at, key, result, making.operator(self.draft, at.spot.name), key[:-1])

    def in_place(self, at: Witness, key: Any, result: Any) -> Note | None:
        """The step of an operator such as `+=`; a scalar is replaced, and nothing written into it."""
        *parts, _, same = key
        return self.noted(at, key, result, making.in_place(self.draft, at.spot.name, same), parts)

    def item(self, at: Witness, key: Any, result: Any) -> Note | None:
        """The step of an index."""
        part, _, arrays = key
        indices = arrays if isinstance(arrays, tuple) else (arrays,)
        parts = (part, *(i for i in indices if type(i) is StepNumber))
        lists = next((i for i in indices if type(i) is str), "")
        return self.noted(at, key, result, making.item(self.draft, lists), parts)

    def attribute(self, at: Witness, key: Any, result: Any) -> Note | None:
        """The step of an attribute that computes an array."""
        return self.noted(at, key, result, making.attribute(self.draft, at.spot.name), key[:1])

    def put(self, at: Witness, key: Any, a: Any) -> Note | None:
        """The step of an assignment to elements."""
        return self.noted(at, key, a, making.put(self.draft), key)

    def call(
        self, at: Witness, key: Any, function: Any, given: tuple[Any, ...], number: int | None = None
    ) -> Note | None:
        """The step of a call; of one that gives several arrays, that of the one of a number.

        None of a function of a library's that is taken apart: its steps are counted by then.
        """
        apart = compiler_by_module(function) if number is None else None
        if apart is not None and self.inside.call(at, apart, function, given):
            return None

        def made(site: Site, args: Sequence[Argument]) -> Argument:
            return self.reader(at).step(site, at.spot, function, given, number or 0, self.result(given[-1]))

        return self.noted(at, key, given[-1], made, steps_of(key))

    def joined(self, at: Witness, key: Any, entries: Sequence[Any], result: Any) -> Note | None:
        """The step of `np.r_[...]`."""
        (_, name), *_ = key

        def made(site: Site, args: Sequence[Argument]) -> Argument:
            return self.reader(at).joined(site, name, entries)

        return self.noted(at, key, result, made, steps_of(key))

    def reader(self, at: Witness) -> CallReader:
        """What reads a call at a witness, and the arrays in it as the steps that made them."""

        def part(x: Any) -> int | None:
            found = at.part(x, 0) if self.kinds[type(x)] is not None else None
            return found if type(found) is StepNumber else None

        return CallReader(self.draft, part)

    def result(self, x: Any) -> Operand:
        """The operand that a result is. Raises UnknownCallError for one that is none."""
        kind = self.kinds[type(x)]
        found = self.arrays.read(x, kind) if kind else None
        if found is None:
            raise UnknownCallError("it gives no array")
        return found

    def noted(
        self, at: Witness, key: Any, result: Any, make: making.Make, parts: Sequence[Any]
    ) -> Note | None:
        """The note of what happened at a witness: a new one, or that of a step which is alike."""
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
            site = self.site(at, kind.library)
            before = len(self.draft.steps)
            try:
                if not has_rules(kind.library):
                    raise UnknownCallError(f"no system has the rules of {kind.library}")
                made = make(site, [making.argument(part) for part in parts])
                if not isinstance(made, Ref):
                    raise UnknownCallError("it gives no array")
                check(kind.library, self.draft.steps, range(before, made.step + 1), self.notes, operand)
            except Exception as e:  # the program goes on, whatever we make of it
                if not isinstance(e, (TypelatticeError, UnknownCallError)):
                    self.left_alone[f"{site.text} ({site.place})"] = UNREADABLE.format(type(e).__name__, e)
                del self.draft.steps[max(before, len(self.notes)) :]  # but for the inputs that it has met
                steps = steps_of(parts)
                if steps:
                    name = f"{self.name_of(at, key)}{e.under if isinstance(e, OwnCastError) else ''}"
                    made = self.draft.opaque(site, name, operand, steps, None)
                else:
                    made = self.draft.input(Site(site.text, site.place), operand)
            note = self.settled(made.step, before, operand, kind, result, at.spot)
            at.known[key] = note
            return note

    def settled(
        self, number: int, before: int, operand: Operand, kind: ArrayKind, result: Any, spot: Any
    ) -> Note:
        """The notes of the steps that were added, of which the last is the result's."""
        mark = kind.mark(result)
        if number < before:  # an earlier step's result was given back: asarray(x)
            earlier = self.notes[number]
            return Note(StepNumber(number), earlier.operand, earlier.mark)
        for i in range(len(self.notes), len(self.draft.steps)):
            step = self.draft.steps[i]
            known = read_operand(step.value) if isinstance(step, Number) else operand
            self.notes.append(Note(StepNumber(i), known, mark))
        shape = (None,) * _dimensions(result)
        if self.draft.steps[number].shape != shape:
            self.draft.steps[number] = replace(self.draft.steps[number], shape=shape)
        return self.notes[number]

    def input(self, at: Witness, x: Any, kind: ArrayKind, position: int) -> StepNumber | None:
        """The step of an array that no step made: that of the array it is a view of, or an input."""
        operand = self.arrays.read(x, kind) if self.following else None
        if operand is None:
            return None
        mark = kind.mark(x)
        with self.lock:
            linked = self.links.step_of(x)
            if linked is not None:  # another thread has met it meanwhile
                return linked
            base = getattr(x, "base", None) if kind.library == "numpy" else None
            found = self.links.live.get(id(base)) if base is not None else None
            known = self.step_of(kind.stands_for(x))
            if known is not None and self.notes[known].operand.dtype is operand.dtype:
                self.link(x, kind, known)  # another tracer of the same variable, or of the same array
                return known
            number: StepNumber
            if found and found[0]() is base and self.notes[found[1]].operand.dtype is operand.dtype:
                number = found[1]
            else:
                key = "input", position, mark
                note = at.known.get(key)
                if note is None:
                    site = self.site(at, kind.library)
                    self.complete()
                    text = self.sources[at.module.file].operand(at.spot, position) or site.text
                    made = self.draft.input(Site(text, site.place), operand)
                    note = Note(StepNumber(made.step), operand, mark)
                    self.notes.append(note)
                    one, shape = self.draft.steps[made.step], (None,) * _dimensions(x)
                    self.draft.steps[made.step] = replace(one, shape=shape, owner=kind.library)
                    at.known[key] = note
                if isinstance(self.draft.steps[note.number], Input):
                    note.count += 1
                    note.bytes += kind.size(x)
                number = note.number
            self.link(x, kind, number)
            return number

    def link(self, x: Any, kind: ArrayKind, number: StepNumber) -> None:
        """Notes the step of an array, and of what it stands for while a function is compiled or derived."""
        self.links.add(x, number, kind.weak)
        inner = kind.stands_for(x)
        own = self.kinds[type(inner)]
        if own is not None and own.variable is None:
            self.links.add(inner, number, own.weak)
        elif inner is not None:
            self.inside.saw(inner, number)

    def step_of(self, inner: Any) -> StepNumber | None:
        """The step of what stands for an array; None where it is not known."""
        found = self.inside.step_of(inner)
        return self.links.step_of(inner) if found is None and inner is not None else found

    # -- what they are

    def site(self, at: Witness, library: str) -> Site:
        """The place and the text of what a witness stands at."""
        text = self.sources[at.module.file].text(at.spot)
        return Site(text[:LONGEST], Place(at.module.file, at.spot.line), library)

    def name_of(self, at: Witness, key: Any) -> str:
        """What an opaque step is called."""
        who = key[0] if isinstance(key, tuple) and key else None
        match who:
            case (_, str() as name) | (str() as name, int()):
                return name
        return getattr(who, "__name__", None) or at.spot.name or "call"

    # -- what comes out

    def run(self) -> Run:
        """The run so far."""
        with self.lock:
            self.complete()
            steps = tuple(self.draft.steps)
            seen = tuple(Seen(note.operand, *note.totals) for note in self.notes)
            results = (len(steps) - 1,) if steps else ()
            named = {step.place.file for step in steps if step.place}
            libraries = {*self.arrays.libraries, *(step.owner for step in steps if step.owner)}
            return Run(
                Program(steps, results, "a run"),
                seen,
                {library: own_system(library, steps) for library in sorted(libraries)},
                tuple(LeftAlone(name, why) for name, why in self.left_alone.items()),
                tuple(left_out(self.notes, self.arrays.unread, self.links.let_go)),
                {name: "".join(source.lines) for name, source in self.sources.items() if name in named},
                self.children.started,
            )

    def complete(self) -> None:
        """Notes of what was added for steps, of which nothing was seen."""
        for i in range(len(self.notes), len(self.draft.steps)):
            step = self.draft.steps[i]
            known = read_operand(step.value) if isinstance(step, Number) else scalar(SCALARS[float])
            self.notes.append(Note(StepNumber(i), known, None))


def _dimensions(x: Any) -> int:
    """The number of dimensions, as far as an array tells it."""
    shape: Any = getattr(x, "shape", ())
    return len(shape) if isinstance(shape, tuple) else int(getattr(x, "ndim", 1))
