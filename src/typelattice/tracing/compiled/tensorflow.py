"""Functions that `tf.function` made, read from the graph of the concrete function that was called."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from os.path import dirname
from typing import Any

from typelattice.core.operands.adapters.tensorflow import read
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE
from typelattice.programs.calls.call_tables import graph_operands
from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.run_data.graph import MAX_GRAPH_OPERATIONS, Graph, GraphNode, GraphReader, Variable

LIBRARY = "tensorflow"
COMPILER_MODULE_PREFIX = "tensorflow.python.eager.polymorphic_function."
TRACER_CLASS_NAME = "SymbolicTensor"
IDENTITY_OPERATIONS = ("Identity", "IdentityN", "ReadVariableOp")
IGNORED_OPERATIONS = ("Placeholder", "Const", "NoOp", "Assert")
GRAPH_ATTRIBUTES = {
    "PartitionedCall": "f",
    "StatefulPartitionedCall": "f",
    "StatelessWhile": "body",
    "While": "body",
}
BRANCH_OPERATIONS = ("StatelessIf", "If")


def is_compiled(cls: type) -> bool:
    """Return True if the objects of a class are functions that TensorFlow compiles."""
    return cls.__name__ == "Function" and cls.__module__.startswith(COMPILER_MODULE_PREFIX)


def is_tracer(cls: type) -> bool:
    """Return True if the objects of a class replace tensors during compilation."""
    return cls.__name__ == TRACER_CLASS_NAME


def variable(tracer: Any) -> Any:
    """Return the symbolic tensor, which stands for itself."""
    return tracer


def tracer_object(variable: Any) -> Any:
    """Return the symbolic tensor of a graph's variable."""
    return variable[0].deref()


def leaves(nested: Any) -> list[Any]:
    """Return the leaves of nested arguments or results, in TensorFlow's order."""
    return list(sys.modules["tensorflow"].nest.flatten(nested))


def graph(function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Graph | None:
    """Return the graph of a function for arguments of an earlier call, or None if it is too long."""
    concrete = function.get_concrete_function(*args, **keywords)
    reader = _FunctionGraphReader(read)
    inputs = [reader.variable_of(t, 0) for t in concrete.graph.inputs]
    captured = list(concrete.captured_inputs)
    own = inputs[: len(inputs) - len(captured)]
    variables = {id(known.handle): known for known in concrete.variables}
    for v, tensor in zip(inputs[len(own) :], captured, strict=True):
        reader.constants[v] = known = variables.get(id(tensor), tensor)
        reader.names[v] = getattr(known, "name", "a constant").partition(":")[0]
    reader.read_graph(concrete.graph, 0)
    outputs = tuple(reader.variable_of(t, 0) for t in concrete.graph.outputs)
    return reader.build_graph(_tensor_variables(leaves((args, keywords)), own), outputs)


def _tensor_variables(arguments: Sequence[Any], variables: Sequence[Variable]) -> tuple[Variable | None, ...]:
    """Return the variable of each tensor and NumPy array, and None for Python numbers: they are constants.

    The result is empty if the leaves do not match the variables.
    """
    module = sys.modules["tensorflow"]
    kinds = module.Tensor, sys.modules["numpy"].ndarray, sys.modules["numpy"].generic
    own = [isinstance(x, kinds) for x in arguments]
    if sum(own) != len(variables):
        return ()
    names = iter(variables)
    return tuple(next(names) if is_input else None for is_input in own)


class _FunctionGraphReader(GraphReader):
    """A reader of a graph and its inner ones. A variable is a tensor, with the number of the reading."""

    def read_graph(self, graph: Any, number: int) -> None:
        for op in graph.get_operations():
            if len(self.nodes) > MAX_GRAPH_OPERATIONS:
                break
            self.add_operation(graph, op, number)

    def add_operation(self, graph: Any, op: Any, number: int) -> None:
        """Add one operation, or the operations of the graphs that it runs."""
        takes = [self.variable_of(t, number) for t in op.inputs]
        gives = [self.variable_of(t, number) for t in op.outputs]
        if op.type == "Const":
            self.record_constant(op, gives)
        if op.type in IGNORED_OPERATIONS:
            return
        if op.type in IDENTITY_OPERATIONS:
            self.nodes += [GraphNode("", (a,), (b,)) for a, b in zip(takes, gives, strict=True)]
            return
        inner = [*self.yield_inner_graphs(graph, op)]
        for inside in inner:
            self.readings += 1
            given = takes[1:] if op.type in BRANCH_OPERATIONS else takes
            entered = [self.variable_of(t, self.readings) for t in inside.inputs]
            self.add_edges(given, entered)
            self.read_graph(inside, self.readings)
            made = [self.variable_of(t, self.readings) for t in inside.outputs]
            if inside is inner[0]:  # the first of two branches stands for the outputs
                self.add_edges(made, gives)
        if not inner:
            taken = graph_operands(LIBRARY, op.type, takes)
            self.nodes.append(GraphNode(op.type, taken, tuple(gives), _source_location(op)))

    def yield_inner_graphs(self, graph: Any, op: Any) -> Iterator[Any]:
        """Yield the graphs that an operation runs."""
        names = (
            ("then_branch", "else_branch")
            if op.type in BRANCH_OPERATIONS
            else (GRAPH_ATTRIBUTES.get(op.type),)
        )
        for name in names:
            if name is not None:
                yield graph._get_function(op.get_attr(name).name).graph

    def record_constant(self, op: Any, outputs: Sequence[Variable]) -> None:
        """Record the value of a constant, if it is a single number."""
        value = sys.modules["tensorflow"].get_static_value(op.outputs[0])
        number: Any = value.item() if getattr(value, "shape", None) == () else None
        if type(number) in KIND_BY_PYTHON_TYPE:
            self.numbers[outputs[0]] = number

    def variable_of(self, tensor: Any, number: int) -> Variable:
        """Return the variable of a tensor. Record its name, its operand and its size."""
        found = tensor.ref(), number
        if found not in self.operands:
            self.names.setdefault(found, tensor.op.name)
            operand = self.operand_of(tensor)
            if operand is not None:
                self.operands[found] = operand
                self.sizes[found] = (tensor.shape.num_elements() or 0) * tensor.dtype.size
        return found


def _source_location(op: Any) -> SourceLocation | None:
    """Return an operation's location in the program's source: only the file and the line are known."""
    own = dirname(sys.modules["tensorflow"].__file__ or "")
    for frame in reversed(op.traceback or ()):
        if not frame.filename.startswith(own) and not frame.filename.startswith("<"):
            return SourceLocation(frame.filename, frame.lineno)
    return None
