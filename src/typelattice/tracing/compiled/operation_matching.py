"""Identification of a graph's nodes, by the operation with a rule that gives the node's dtype."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import Operation
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.call_tables import CAST_OPERATION, OPERATION_BY_FUNCTION, graph_operation
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import Excerpt, Input, Ref
from typelattice.programs.replay.replay import replay_steps
from typelattice.tracing.run_data.graph import Graph, GraphNode, Variable

SPREADING_OPERATIONS = ("reshape", "broadcast_to")  # operations that bring operands to one shape
OperandVariables = tuple[Variable, ...]


class OperationMatcher:
    """A matcher of the nodes of one compiled graph to our operations.

    An operation matches a node if the library's own system gives it the dtype that the node has.
    """

    def __init__(self, graph: Graph, library: str, system: str) -> None:
        self.graph, self.library, self.system = graph, library, system
        self.known_results: dict[Hashable, Operand | None] = {}
        self.makers = {
            variable: node
            for node in graph.nodes
            if graph_operation(library, node.name) in (CAST_OPERATION, *SPREADING_OPERATIONS)
            for variable in node.outputs
        }

    def match_operation(self, node: GraphNode) -> tuple[str, OperandVariables, bool]:
        """Return our name for a node, its operands, and True if its constants are Python numbers.

        A library's graph contains its promotions as casts. Such a cast comes before the operation that needs
        it, at the same source location. If our rules give the observed result without it, it is a promotion,
        and is ignored. The name is "" if no operation gives the observed result.
        """
        name = graph_operation(self.library, node.name)
        if name == CAST_OPERATION:
            return name, node.inputs[:1], False
        op = OPERATION_BY_FUNCTION.get(name)
        if op is None or len(node.outputs) != 1 or not node.inputs:
            return "", node.inputs, False
        takes = node.inputs if op.call_form == "list" else node.inputs[: op.max_operands or len(node.inputs)]
        for these in dict.fromkeys((tuple(self.find_variable_before_casts(v, node) for v in takes), takes)):
            for numbers in (True, False):
                if self.predicted_dtype(op, these, numbers) == self.observed_dtype(node.outputs[0]):
                    return name, these, numbers
        return "", node.inputs, False

    def find_variable_before_casts(self, variable: Variable, node: GraphNode) -> Variable:
        """Return a variable as it was before casts and reshapes at the node's source location."""
        maker = self.makers.get(variable)
        while maker is not None and maker.location is not None and maker.location == node.location:
            variable = maker.inputs[0]
            maker = self.makers.get(variable)
        return variable

    def observed_dtype(self, variable: Variable) -> Hashable:
        """Return the dtype and the weakness of a variable, which are compared with our rules."""
        operand = self.graph.operands.get(variable)
        return operand and (operand.dtype, operand.weak)

    def predicted_dtype(
        self, operation: Operation, variables: Sequence[Variable], constants_are_numbers: bool
    ) -> Hashable:
        """Return the dtype and weakness of an operation's result by our rules, or False if they refuse it."""
        if any(v not in self.graph.operands for v in variables):
            return False  # no match: an operand is not an array of numbers
        inputs = [*self.inputs_of(variables, constants_are_numbers)]
        key = operation.name, tuple((type(x), x) for x in inputs)
        if key not in self.known_results:
            self.known_results[key] = self.compute_result(operation, inputs)
        found = self.known_results[key]
        return found is not None and (found.dtype, found.weak)

    def inputs_of(
        self, variables: Sequence[Variable], constants_are_numbers: bool
    ) -> Iterator[Operand | PythonNumber]:
        """Yield the inputs of an operation: operands, and Python numbers if `constants_are_numbers`."""
        for variable in variables:
            number = self.graph.numbers.get(variable) if constants_are_numbers else None
            yield self.graph.operands[variable] if number is None else number

    def compute_result(
        self, operation: Operation, inputs: Sequence[Operand | PythonNumber]
    ) -> Operand | None:
        """Return the result of an operation by our rules, or None if they refuse it."""
        builder, excerpt = ProgramBuilder(), Excerpt("", owner=self.library)
        try:
            refs = [
                builder.add_step(Input(x, text=""))
                if isinstance(x, Operand)
                else builder.add_number(excerpt, x)
                for x in inputs
            ]
            call = builder.add_call(excerpt, operation, refs)
            assert isinstance(call, Ref)
            return replay_steps(builder.steps, find_system(self.system))[call.step].operand
        except TypelatticeError:
            return None
