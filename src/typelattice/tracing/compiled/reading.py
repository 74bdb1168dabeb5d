"""Conversion of a compiled function's graph to steps: those seen during compilation, and new ones."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from typelattice.calls.call_signatures import CAST, FUNCTIONS
from typelattice.calls.program_builder import ProgramBuilder
from typelattice.calls.steps import (
    MAX_STEP_CHARS,
    Excerpt,
    Index,
    Input,
    NamedDType,
    ProgramError,
    Ref,
    SourceLocation,
)
from typelattice.operands.operand import Operand
from typelattice.tracing.compiled.compilers import Compiler
from typelattice.tracing.compiled.graph import Graph, Node, Variable, find_needed
from typelattice.tracing.compiled.operations import Chooser
from typelattice.tracing.libraries import own_system
from typelattice.tracing.run_data.array_links import Note, StepNumber
from typelattice.tracing.run_data.source_text import Source
from typelattice.tracing.run_data.written_operation import WrittenOperation

Chosen = tuple[str, bool]  # our name of an operation, and whether constants are Python's numbers


@dataclass(slots=True)
class Traced:
    """The step that was seen for a variable during compilation.

    `counted` is True once the call that caused the compilation is counted. The step was counted for it when
    it was seen.
    """

    variable: object
    number: StepNumber
    counted: bool = False


@dataclass(frozen=True, slots=True)
class StepsOfCall:
    """The steps that ran in a call of a compiled function, with their bytes, and the steps of its results."""

    notes: tuple[tuple[Note, int], ...]
    results: tuple[StepNumber | None, ...]

    def count_again(self, alike: bool = False) -> StepsOfCall:
        """Count the steps once more. `alike` says that their operands come from other steps. Return self."""
        for note, size in self.notes:
            if alike:
                note.alike = note.alike or Note(note.number, note.operand, note.mark)
                note = note.alike
            note.count += 1
            note.bytes += size
        return self


class Reading:
    """The reading of one graph, for a call at the witness `at`.

    `traced` has the steps that were seen during compilation. If `compiling` is True, another function that
    is being compiled calls this one. Then the new steps are added to `traced`.
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
        self.builder: ProgramBuilder = recorder.builder
        self.owner: str = library.LIBRARY
        self.notes: dict[StepNumber, int] = {}  # the steps that were added, and their bytes
        self.steps: dict[Variable, StepNumber] = {}
        self.same: dict[Variable, Variable] = {}  # of inner functions: the variable that a variable equals
        self.seen: dict[Variable, Traced] = {}
        for variable in graph.operands:
            raw = library.raw(variable)
            known = traced.get(id(raw))
            if known is not None and known.variable is raw:
                self.seen[variable] = known
                self.steps[variable] = known.number

    def read_call(self, leaves: Sequence[Any]) -> StepsOfCall:
        """Return the steps of a call with these arguments. Add the new ones to the run, and count all."""
        self.link_inputs(leaves)
        chooser = Chooser(self.graph, self.owner, own_system(self.owner, ()))
        chosen: dict[int, Chosen] = {}
        nodes: list[Node] = []
        for node in self.graph.nodes:
            if node.name and any(v not in self.seen for v in node.gives):
                name, takes, numbers = chooser.chosen(node)
                node = replace(node, takes=takes)
                chosen[id(node)] = name, numbers
            nodes.append(node)
        wanted = {id(node) for node in find_needed(nodes, self.graph.outputs, self.seen.keys())}
        for node in nodes:
            if not node.name:
                self.edge(node)
            elif id(node) in wanted:
                self.operation(node, *chosen[id(node)])
        seen = {} if self.compiling else self.count_seen()
        for number, size in self.notes.items():
            self.count(number, size)
        notes = seen | self.notes
        return StepsOfCall(
            tuple((self.recorder.notes[number], size) for number, size in notes.items()),
            tuple(self.steps.get(self.same.get(v, v)) for v in self.graph.outputs),
        )

    def count(self, number: StepNumber, size: int) -> None:
        """Count a step of this call."""
        note = self.recorder.notes[number]
        note.count += 1
        note.bytes += size

    def count_seen(self) -> dict[StepNumber, int]:
        """Return the steps seen during compilation. Count those of an earlier call for this one too."""
        found: dict[StepNumber, int] = {}
        fresh = {known.number for known in self.seen.values() if not known.counted}
        for known in self.seen.values():
            note, number = self.recorder.notes[known.number], known.number
            known.counted = True
            if note.count and number not in found and self.builder.steps[number].op is not None:
                found[number] = note.bytes // note.count
                if number not in fresh:
                    self.count(number, found[number])
        return found

    # -- the steps of inputs and variables

    def link_inputs(self, leaves: Sequence[Any]) -> None:
        """Map the inputs to the steps that made the arguments."""
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
        """Return the step of an argument that no step made; None if it holds no numbers."""
        excerpt = self.recorder.excerpt(self.at, self.owner)
        operand = self.recorder.arrays.read(x, kind)
        if operand is None:
            return None
        step = Input(operand, text=name or excerpt.text, location=excerpt.location, owner=self.owner)
        number = self.add_note(self.builder.add(step), operand)
        self.count(number, kind.size(x))
        self.recorder.link(x, kind, number)
        return number

    def add_note(self, made: Ref, operand: Operand) -> StepNumber:
        """Record the operand of the step that was just added. Return its number."""
        self.recorder.complete()
        number, shape = StepNumber(made.step), (None,) * (operand.tier == "array")
        self.builder.steps[number] = replace(self.builder.steps[number], shape=shape)
        self.recorder.notes[number] = Note(number, operand, operand)
        return number

    def join(self, made: StepNumber, entered: StepNumber) -> None:
        """Replace the input `entered` of a function by a link to the earlier step that made the argument."""
        step = self.builder.steps[entered]
        if isinstance(step, Input) and made < entered:
            self.builder.steps[entered] = Index(
                made, (), text=step.text, location=step.location, shape=step.shape, owner=step.owner
            )
            self.recorder.notes[entered].count = self.recorder.notes[entered].bytes = 0

    def edge(self, node: Node) -> None:
        """Record that a variable equals another one, of the calling or the called function."""
        (outer,), (inner,) = node.takes, node.gives
        made = self.steps.get(self.same.get(outer, outer))
        if inner not in self.seen:
            self.same[inner] = self.same.get(outer, outer)
        elif made is not None:
            self.join(made, self.seen[inner].number)

    def argument(self, excerpt: Excerpt, variable: Variable, numbers: bool) -> Ref | None:
        """Return the step of a variable, or a new step for a constant; None if it holds no numbers."""
        own, number = self.same.get(variable, variable), self.graph.numbers.get(variable)
        made = self.steps.get(own)
        constant = self.graph.constants.get(own)
        if made is None and constant is not None:
            made = self.recorder.links.step_of(constant)
        operand = self.graph.operands.get(variable)
        if made is not None or operand is None:
            return None if made is None else Ref(int(made))
        if number is not None and numbers:
            return self.builder.add_number(excerpt, number)
        text = str(self.graph.numbers.get(own, self.graph.names.get(own, "a constant")))
        step = self.builder.add(Input(operand, text=text, location=excerpt.location, owner=self.owner))
        self.steps[own] = self.add_note(step, operand)
        return step

    # -- operations

    def operation(self, node: Node, name: str, numbers: bool) -> None:
        """Add the steps of an operation, one for each of its results."""
        excerpt = self.excerpt(node.location)
        taken = [self.argument(excerpt, v, numbers) for v in node.takes]
        args = [ref for ref in taken if ref is not None]
        for variable in node.gives:
            operand = self.graph.operands.get(variable)
            if operand is None or variable in self.seen:
                continue
            made = self.build_step(excerpt, name, args, operand) if len(args) == len(taken) else None
            if made is None:
                made = self.builder.opaque(excerpt, node.name, operand, [ref.step for ref in args], None)
            number = self.add_note(made, operand)
            self.notes[number] = self.graph.sizes.get(variable, 0)
            self.steps[variable] = number
            if self.compiling:
                raw = self.library.raw(variable)
                self.traced[id(raw)] = Traced(raw, number)

    def build_step(self, excerpt: Excerpt, name: str, args: Sequence[Ref], operand: Operand) -> Ref | None:
        """Return the step of a known operation; None for any other."""
        if name == CAST and operand.dtype is not None and not operand.weak:
            return self.builder.cast(excerpt, args[0], NamedDType(operand.dtype.name))
        with suppress(ProgramError):  # the operation does not take these shapes
            return self.builder.call(excerpt, FUNCTIONS[name], args) if name in FUNCTIONS else None
        return None

    def excerpt(self, location: SourceLocation | None) -> Excerpt:
        """Return the location and the text of an operation; those of the call if the library keeps none."""
        if location is None:
            of_call: Excerpt = self.recorder.excerpt(self.at, self.owner)
            return of_call
        lines = self.source(location.file)
        text = lines.text(
            WrittenOperation(location.line, location.column, location.end_line, location.end_column)
        )
        if not location.end_line:
            text = "".join(lines.lines[location.line - 1 : location.line]).strip()
        return Excerpt(text[:MAX_STEP_CHARS], SourceLocation(location.file, location.line), self.owner)

    def source(self, file: str) -> Source:
        """Return the source of a file, which need not be a followed one."""
        sources: dict[str, Source] = self.recorder.sources
        if file not in sources:
            sources[file] = Source(lambda: "".join(linecache.getlines(file)))
        return sources[file]
