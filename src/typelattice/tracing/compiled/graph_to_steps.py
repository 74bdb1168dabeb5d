"""Conversion of a compiled function's graph to steps: those seen during compilation, and new ones."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from typelattice.core.operands.operand import Operand
from typelattice.programs.calls.call_tables import CAST_OPERATION, OPERATION_BY_FUNCTION
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import (
    MAX_STEP_CHARS,
    Excerpt,
    Index,
    Input,
    NamedDType,
    ProgramError,
    Ref,
    SourceLocation,
)
from typelattice.tracing.compiled.operation_matching import OperationMatcher
from typelattice.tracing.library_traits import own_system
from typelattice.tracing.run_data.compilers import CompilerAdapter
from typelattice.tracing.run_data.graph import Graph, GraphNode, Variable, find_needed_nodes
from typelattice.tracing.run_data.producing_steps import StepNumber, StepTally
from typelattice.tracing.run_data.source_text import SourceText
from typelattice.tracing.run_data.written_operation import WrittenOperation

OperationName = tuple[str, bool]  # our name of an operation, and whether constants are Python's numbers


@dataclass(slots=True)
class VariableStep:
    """The step that was seen for a variable during compilation.

    `is_counted` is True once the call that caused the compilation is counted. The step was counted for that
    call when it was seen.
    """

    variable: object
    number: StepNumber
    is_counted: bool = False


@dataclass(frozen=True, slots=True)
class StepsOfCall:
    """The steps that ran in a call of a compiled function, with their bytes, and the steps of its results."""

    tallies: tuple[tuple[StepTally, int], ...]
    results: tuple[StepNumber | None, ...]

    def count_again(self, has_other_operands: bool = False) -> StepsOfCall:
        """Count the steps again, as steps of other operands if `has_other_operands`. Return self."""
        for tally, size in self.tallies:
            if has_other_operands:
                tally.merged_tally = tally.merged_tally or StepTally(
                    tally.number, tally.operand, tally.cache_key
                )
                tally = tally.merged_tally
            tally.count += 1
            tally.bytes += size
        return self


class GraphStepBuilder:
    """The steps of one graph, for a call at a witness.

    `variable_steps` has the steps that were seen during compilation. If `is_compiling` is True, another
    function that is being compiled calls this one. Then the new steps are added to `variable_steps`.
    """

    def __init__(
        self,
        recorder: Any,
        variable_steps: dict[int, VariableStep],
        witness: Any,
        library: CompilerAdapter,
        graph: Graph,
        is_compiling: bool,
    ) -> None:
        self.recorder, self.witness, self.adapter, self.graph = recorder, witness, library, graph
        self.variable_steps, self.is_compiling = variable_steps, is_compiling
        self.builder: ProgramBuilder = recorder.builder
        self.owner: str = library.LIBRARY
        self.new_step_bytes: dict[StepNumber, int] = {}  # the steps that were added, and their bytes
        self.steps: dict[Variable, StepNumber] = {}
        self.aliases: dict[Variable, Variable] = {}  # inner functions: the variable that a variable equals
        self.seen_variables: dict[Variable, VariableStep] = {}
        for variable in graph.operands:
            tracer = library.tracer_object(variable)
            known = variable_steps.get(id(tracer))
            if known is not None and known.variable is tracer:
                self.seen_variables[variable] = known
                self.steps[variable] = known.number

    def read_call(self, leaves: Sequence[Any]) -> StepsOfCall:
        """Return the steps of a call with these arguments. Add the new ones to the run, and count all."""
        self.link_inputs(leaves)
        chooser = OperationMatcher(self.graph, self.owner, own_system(self.owner, ()))
        chosen: dict[int, OperationName] = {}
        nodes: list[GraphNode] = []
        for node in self.graph.nodes:
            if node.name and any(v not in self.seen_variables for v in node.outputs):
                name, takes, numbers = chooser.match_operation(node)
                node = replace(node, inputs=takes)
                chosen[id(node)] = name, numbers
            nodes.append(node)
        wanted = {
            id(node) for node in find_needed_nodes(nodes, self.graph.outputs, self.seen_variables.keys())
        }
        for node in nodes:
            if not node.name:
                self.alias_variable(node)
            elif id(node) in wanted:
                self.add_operation(node, *chosen[id(node)])
        seen = {} if self.is_compiling else self.count_seen_steps()
        for number, size in self.new_step_bytes.items():
            self.count_step(number, size)
        tallies = seen | self.new_step_bytes
        return StepsOfCall(
            tuple((self.recorder.tallies[number], size) for number, size in tallies.items()),
            tuple(self.steps.get(self.aliases.get(v, v)) for v in self.graph.outputs),
        )

    def count_step(self, number: StepNumber, size: int) -> None:
        """Count a step of this call."""
        tally = self.recorder.tallies[number]
        tally.count += 1
        tally.bytes += size

    def count_seen_steps(self) -> dict[StepNumber, int]:
        """Return the steps seen during compilation. Also count the steps of an earlier call for this one."""
        bytes_of_steps: dict[StepNumber, int] = {}
        fresh = {known.number for known in self.seen_variables.values() if not known.is_counted}
        for known in self.seen_variables.values():
            tally, number = self.recorder.tallies[known.number], known.number
            known.is_counted = True
            if tally.count and number not in bytes_of_steps and self.builder.steps[number].op is not None:
                bytes_of_steps[number] = tally.bytes // tally.count
                if number not in fresh:
                    self.count_step(number, bytes_of_steps[number])
        return bytes_of_steps

    # -- the steps of inputs and variables

    def link_inputs(self, leaves: Sequence[Any]) -> None:
        """Map the inputs to the steps that made the arguments."""
        for x, variable in zip(leaves, self.graph.inputs, strict=False):
            kind = self.recorder.array_kinds[type(x)]
            if variable is None or kind is None:
                continue
            made = self.recorder.step_of_changed_array(self.witness, x, kind)
            seen = self.seen_variables.get(variable)
            if seen is None:
                made = made if made is not None else self.add_input(x, kind, self.graph.names.get(variable))
                if made is not None:
                    self.steps[variable] = made
            elif made is None:
                self.recorder.link_object(x, kind, seen.number)
            else:
                self.link_input(made, seen.number)

    def add_input(self, argument: Any, kind: Any, name: str | None) -> StepNumber | None:
        """Return the step of an argument that no step made, or None if it holds no numbers."""
        excerpt = self.recorder.excerpt_of(self.witness, self.owner)
        operand = self.recorder.array_reader.read_operand(argument, kind)
        if operand is None:
            return None
        step = Input(operand, text=name or excerpt.text, location=excerpt.location, owner=self.owner)
        number = self.add_tally(self.builder.add_step(step), operand)
        self.count_step(number, kind.size(argument))
        self.recorder.link_array(argument, kind, number)
        return number

    def add_tally(self, new_step: Ref, operand: Operand) -> StepNumber:
        """Record the operand of the step that was just added. Return its number."""
        self.recorder.add_missing_tallies()
        number, shape = StepNumber(new_step.step), (None,) * (operand.tier == "array")
        self.builder.steps[number] = replace(self.builder.steps[number], shape=shape)
        self.recorder.tallies[number] = StepTally(number, operand, operand)
        return number

    def link_input(self, source_step: StepNumber, input_step: StepNumber) -> None:
        """Replace the input of a function by a link to the earlier step that made the argument."""
        step = self.builder.steps[input_step]
        if isinstance(step, Input) and source_step < input_step:
            self.builder.steps[input_step] = Index(
                source_step, (), text=step.text, location=step.location, shape=step.shape, owner=step.owner
            )
            self.recorder.tallies[input_step].count = self.recorder.tallies[input_step].bytes = 0

    def alias_variable(self, node: GraphNode) -> None:
        """Record that a variable equals a variable of the calling or the called function."""
        (outer,), (inner,) = node.inputs, node.outputs
        source_step = self.steps.get(self.aliases.get(outer, outer))
        if inner not in self.seen_variables:
            self.aliases[inner] = self.aliases.get(outer, outer)
        elif source_step is not None:
            self.link_input(source_step, self.seen_variables[inner].number)

    def step_of_operand(
        self, excerpt: Excerpt, variable: Variable, constants_are_numbers: bool
    ) -> Ref | None:
        """Return the step of a variable, or a new step for a constant, or None if it holds no numbers."""
        alias, number = self.aliases.get(variable, variable), self.graph.numbers.get(variable)
        step_number = self.steps.get(alias)
        constant = self.graph.constants.get(alias)
        if step_number is None and constant is not None:
            kind = self.recorder.array_kinds[type(constant)]
            if kind is not None:
                step_number = self.recorder.step_of_changed_array(self.witness, constant, kind)
        operand = self.graph.operands.get(variable)
        if step_number is not None or operand is None:
            return None if step_number is None else Ref(int(step_number))
        if number is not None and constants_are_numbers:
            return self.builder.add_number(excerpt, number)
        text = str(self.graph.numbers.get(alias, self.graph.names.get(alias, "a constant")))
        step = self.builder.add_step(Input(operand, text=text, location=excerpt.location, owner=self.owner))
        self.steps[alias] = self.add_tally(step, operand)
        return step

    # -- operations

    def add_operation(self, node: GraphNode, name: str, constants_are_numbers: bool) -> None:
        """Add the steps of an operation, one for each of its results."""
        excerpt = self.excerpt_at(node.location)
        operands = [self.step_of_operand(excerpt, v, constants_are_numbers) for v in node.inputs]
        args = [ref for ref in operands if ref is not None]
        for variable in node.outputs:
            operand = self.graph.operands.get(variable)
            if operand is None or variable in self.seen_variables:
                continue
            new_step = self.build_step(excerpt, name, args, operand) if len(args) == len(operands) else None
            if new_step is None:
                new_step = self.builder.add_opaque(
                    excerpt, node.name, operand, [ref.step for ref in args], None
                )
            number = self.add_tally(new_step, operand)
            self.new_step_bytes[number] = self.graph.sizes.get(variable, 0)
            self.steps[variable] = number
            if self.is_compiling:
                tracer = self.adapter.tracer_object(variable)
                self.variable_steps[id(tracer)] = VariableStep(tracer, number)

    def build_step(self, excerpt: Excerpt, name: str, args: Sequence[Ref], operand: Operand) -> Ref | None:
        """Return the step of a known operation, or None for any other."""
        if name == CAST_OPERATION and operand.dtype is not None and not operand.weak:
            return self.builder.add_cast(excerpt, args[0], NamedDType(operand.dtype.name))
        with suppress(ProgramError):  # raised if the operation does not take these shapes
            return (
                self.builder.add_call(excerpt, OPERATION_BY_FUNCTION[name], args)
                if name in OPERATION_BY_FUNCTION
                else None
            )
        return None

    def excerpt_at(self, location: SourceLocation | None) -> Excerpt:
        """Return the location and text of an operation, or of the call if the library does not keep them."""
        if location is None:
            call_excerpt: Excerpt = self.recorder.excerpt_of(self.witness, self.owner)
            return call_excerpt
        lines = self.find_source(location.file)
        text = lines.text_at(
            WrittenOperation(location.line, location.column, location.end_line, location.end_column)
        )
        if not location.end_line:
            text = "".join(lines.lines[location.line - 1 : location.line]).strip()
        return Excerpt(text[:MAX_STEP_CHARS], SourceLocation(location.file, location.line), self.owner)

    def find_source(self, file: str) -> SourceText:
        """Return the source of a file, which need not be a followed one."""
        sources: dict[str, SourceText] = self.recorder.sources
        if file not in sources:
            sources[file] = SourceText(lambda: "".join(linecache.getlines(file)))
        return sources[file]
