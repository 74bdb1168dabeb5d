"""The graph of a compiled function becomes steps: those that were seen when it was compiled, and the rest."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from typelattice.operands.operand import Operand
from typelattice.programs.draft import Draft
from typelattice.programs.functions import FUNCTIONS
from typelattice.programs.site import Site
from typelattice.programs.step import LONGEST, Index, Input, NamedDType, Place, ProgramError, Ref
from typelattice.tracing.compiled.compilers import Compiler
from typelattice.tracing.compiled.graph import Graph, Node, Span, Variable, needed
from typelattice.tracing.compiled.operations import CAST, Chooser
from typelattice.tracing.libraries import own_system
from typelattice.tracing.links import Note, StepNumber
from typelattice.tracing.source import Source
from typelattice.tracing.spot import Spot

Chosen = tuple[str, bool]  # our name of an operation, and whether constants are Python's numbers


@dataclass(slots=True)
class Traced:
    """The step that was seen for a variable while a function was compiled.

    `counted`: the call for which it was compiled is counted, as it is when the step is seen.
    """

    variable: object
    number: StepNumber
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What a call of a compiled function comes to: the steps that ran, with their bytes, and the results'."""

    notes: tuple[tuple[Note, int], ...]
    results: tuple[StepNumber | None, ...]

    def counted(self, alike: bool = False) -> Told:
        """The same, counted once more; `alike` says that its operands come from elsewhere."""
        for note, size in self.notes:
            if alike:
                note.alike = note.alike or Note(note.number, note.operand, note.mark)
                note = note.alike
            note.count += 1
            note.bytes += size
        return self


class Reading:
    """The reading of one graph at one call, of `at`'s witness.

    `traced` has the steps that were seen while it was compiled. If it is `compiling` still, another compiled
    function calls it, and what is found is added to those.
    """

    def __init__(
        self,
        recorder: Any,
        traced: dict[int, Traced],
        at: Any,
        library: Compiler,
        graph: Graph,
        compiling: bool,
    ) -> None:
        self.recorder, self.at, self.library, self.graph = recorder, at, library, graph
        self.traced, self.compiling = traced, compiling
        self.draft: Draft = recorder.draft
        self.owner: str = library.LIBRARY
        self.notes: dict[StepNumber, int] = {}  # the steps that were added, and their bytes
        self.steps: dict[Variable, StepNumber] = {}
        self.same: dict[Variable, Variable] = {}  # of functions within: the variable that another is
        self.seen: dict[Variable, Traced] = {}
        for variable in graph.operands:
            raw = library.raw(variable)
            known = traced.get(id(raw))
            if known is not None and known.variable is raw:
                self.seen[variable] = known
                self.steps[variable] = known.number

    def told(self, leaves: Sequence[Any]) -> Told:
        """The steps of a call with these arguments. Those that are new are added to the run, and counted."""
        self.take(leaves)
        chooser = Chooser(self.graph, self.owner, own_system(self.owner, ()))
        chosen: dict[int, Chosen] = {}
        nodes: list[Node] = []
        for node in self.graph.nodes:
            if node.name and any(v not in self.seen for v in node.gives):
                name, takes, numbers = chooser.chosen(node)
                node = replace(node, takes=takes)
                chosen[id(node)] = name, numbers
            nodes.append(node)
        wanted = {id(node) for node in needed(nodes, self.graph.outputs, self.seen.keys())}
        for node in nodes:
            if not node.name:
                self.edge(node)
            elif id(node) in wanted:
                self.operation(node, *chosen[id(node)])
        seen = {} if self.compiling else self.counted()
        for number, size in self.notes.items():
            self.count(number, size)
        notes = seen | self.notes
        return Told(
            tuple((self.recorder.notes[number], size) for number, size in notes.items()),
            tuple(self.steps.get(self.same.get(v, v)) for v in self.graph.outputs),
        )

    def count(self, number: StepNumber, size: int) -> None:
        """Counts a step of this call."""
        note = self.recorder.notes[number]
        note.count += 1
        note.bytes += size

    def counted(self) -> dict[StepNumber, int]:
        """The steps that were seen while it was compiled; those of an earlier call count for this one."""
        found: dict[StepNumber, int] = {}
        fresh = {known.number for known in self.seen.values() if not known.counted}
        for known in self.seen.values():
            note, number = self.recorder.notes[known.number], known.number
            known.counted = True
            if note.count and number not in found and self.draft.steps[number].op is not None:
                found[number] = note.bytes // note.count
                if number not in fresh:
                    self.count(number, found[number])
        return found

    # -- of which steps

    def take(self, leaves: Sequence[Any]) -> None:
        """Says which steps the inputs are: those that made the arguments."""
        links = self.recorder.links
        for x, variable in zip(leaves, self.graph.inputs, strict=False):
            kind = self.recorder.kinds[type(x)]
            if variable is None or kind is None:
                continue
            made, seen = links.step_of(x), self.seen.get(variable)
            if seen is None:
                made = made if made is not None else self.input(x, kind, self.graph.names.get(variable))
                if made is not None:
                    self.steps[variable] = made
            elif made is None:
                links.add(x, seen.number, kind.weak)
            else:
                self.join(made, seen.number)

    def input(self, x: Any, kind: Any, name: str | None) -> StepNumber | None:
        """The step of an argument that no step made; None of one that holds no numbers."""
        site = self.recorder.site(self.at, self.owner)
        operand = self.recorder.arrays.read(x, kind)
        if operand is None:
            return None
        step = Input(operand, text=name or site.text, place=site.place, owner=self.owner)
        number = self.noted(self.draft.add(step), operand)
        self.count(number, kind.size(x))
        self.recorder.link(x, kind, number)
        return number

    def noted(self, made: Ref, operand: Operand) -> StepNumber:
        """Notes what the result of a step is that was just added, and gives its number."""
        self.recorder.complete()
        number, shape = StepNumber(made.step), (None,) * (operand.tier == "array")
        self.draft.steps[number] = replace(self.draft.steps[number], shape=shape)
        self.recorder.notes[number] = Note(number, operand, operand)
        return number

    def join(self, made: StepNumber, entered: StepNumber) -> None:
        """What entered a function as its argument is what an earlier step made, and no input."""
        step = self.draft.steps[entered]
        if isinstance(step, Input) and made < entered:
            self.draft.steps[entered] = Index(
                made, (), text=step.text, place=step.place, shape=step.shape, owner=step.owner
            )
            self.recorder.notes[entered].count = self.recorder.notes[entered].bytes = 0

    def edge(self, node: Node) -> None:
        """A variable that is another, of the function that calls or is called."""
        (outer,), (inner,) = node.takes, node.gives
        made = self.steps.get(self.same.get(outer, outer))
        if inner not in self.seen:
            self.same[inner] = self.same.get(outer, outer)
        elif made is not None:
            self.join(made, self.seen[inner].number)

    def argument(self, site: Site, variable: Variable, numbers: bool) -> Ref | None:
        """The step of a variable, or a new one of a constant; None of what holds no numbers."""
        own, number = self.same.get(variable, variable), self.graph.numbers.get(variable)
        made = self.steps.get(own)
        constant = self.graph.constants.get(own)
        if made is None and constant is not None:
            made = self.recorder.links.step_of(constant)
        operand = self.graph.operands.get(variable)
        if made is not None or operand is None:
            return None if made is None else Ref(int(made))
        if number is not None and numbers:
            return self.draft.number(site, number)
        text = str(self.graph.numbers.get(own, self.graph.names.get(own, "a constant")))
        step = self.draft.add(Input(operand, text=text, place=site.place, owner=self.owner))
        self.steps[own] = self.noted(step, operand)
        return step

    # -- what is done

    def operation(self, node: Node, name: str, numbers: bool) -> None:
        """Adds the steps of an operation, one for each of its results."""
        site = self.site(node.span)
        taken = [self.argument(site, v, numbers) for v in node.takes]
        args = [ref for ref in taken if ref is not None]
        for variable in node.gives:
            operand = self.graph.operands.get(variable)
            if operand is None or variable in self.seen:
                continue
            made = self.made(site, name, args, operand) if len(args) == len(taken) else None
            if made is None:
                made = self.draft.opaque(site, node.name, operand, [ref.step for ref in args], None)
            number = self.noted(made, operand)
            self.notes[number] = self.graph.sizes.get(variable, 0)
            self.steps[variable] = number
            if self.compiling:
                raw = self.library.raw(variable)
                self.traced[id(raw)] = Traced(raw, number)

    def made(self, site: Site, name: str, args: Sequence[Ref], operand: Operand) -> Ref | None:
        """The step of an operation that we know; None of another."""
        if name == CAST and operand.dtype is not None and not operand.weak:
            return self.draft.cast(site, args[0], NamedDType(operand.dtype.name))
        with suppress(ProgramError):  # of shapes that an operation does not take
            return self.draft.call(site, FUNCTIONS[name], args) if name in FUNCTIONS else None
        return None

    def site(self, span: Span | None) -> Site:
        """The place and the text of an operation; those of the call where the library keeps none."""
        if span is None:
            of_call: Site = self.recorder.site(self.at, self.owner)
            return of_call
        lines = self.source(span.file)
        text = lines.text(Spot(span.line, span.column, span.end_line, span.end_column))
        if not span.end_line:
            text = "".join(lines.lines[span.line - 1 : span.line]).strip()
        return Site(text[:LONGEST], Place(span.file, span.line), self.owner)

    def source(self, file: str) -> Source:
        """The source of a file, which may be one that is not followed."""
        sources: dict[str, Source] = self.recorder.sources
        if file not in sources:
            sources[file] = Source(lambda: "".join(linecache.getlines(file)))
        return sources[file]
