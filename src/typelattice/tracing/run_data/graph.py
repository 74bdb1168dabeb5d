"""The graph of a compiled function: its library's operations on variables, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.operand import Operand
from typelattice.programs.calls.steps import SourceLocation

Variable = Hashable  # the key of a value in a library's graph
MAX_GRAPH_OPERATIONS = 20_000  # operations of a graph that are read


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One operation of a graph. A node without a name is an edge: its outputs are its inputs."""

    name: str
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    location: SourceLocation | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of a compiled function.

    `inputs` has the variable of each leaf of the arguments, or None for a leaf that is part of the function.
    `operands` maps each variable to its operand, and `sizes` to its bytes. `numbers` has the values of
    constants without dimensions, `constants` the arrays that the function captured, and `names` the names of
    parameters.
    """

    inputs: tuple[Variable | None, ...]
    nodes: tuple[GraphNode, ...] = field(repr=False)
    outputs: tuple[Variable, ...]
    operands: Mapping[Variable, Operand] = field(repr=False)
    sizes: Mapping[Variable, int] = field(repr=False)
    numbers: Mapping[Variable, PythonNumber] = field(repr=False)
    constants: Mapping[Variable, object] = field(repr=False)
    names: Mapping[Variable, str] = field(repr=False)


class GraphReader:
    """A graph under construction: all that the reader of a library's own graph has found so far.

    `read` is that library's adapter. An inner graph may be read several times. `readings` counts the
    readings, and each variable contains the number of its reading.
    """

    def __init__(self, read: Callable[[Any], Operand | None]) -> None:
        self.adapter = read
        self.nodes: list[GraphNode] = []
        self.operands: dict[Variable, Operand] = {}
        self.sizes: dict[Variable, int] = {}
        self.numbers: dict[Variable, PythonNumber] = {}
        self.constants: dict[Variable, object] = {}
        self.names: dict[Variable, str] = {}
        self.readings = 0

    def operand_of(self, value: Any) -> Operand | None:
        """Return the operand of a value in the graph, or None if it holds no numbers, like a random key."""
        try:
            return self.adapter(value)
        except TypelatticeError:
            return None

    def add_edges(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        """Add an edge for each pair of variables, up to the end of the shorter list."""
        self.nodes += [GraphNode("", (a,), (b,)) for a, b in zip(inputs, outputs, strict=False)]

    def build_graph(self, inputs: tuple[Variable | None, ...], outputs: tuple[Variable, ...]) -> Graph | None:
        """Return the graph, or None if it is too long."""
        if len(self.nodes) > MAX_GRAPH_OPERATIONS:
            return None
        known = self.operands, self.sizes, self.numbers, self.constants, self.names
        return Graph(inputs, tuple(self.nodes), outputs, *known)


def find_needed_nodes(
    nodes: Sequence[GraphNode], outputs: Sequence[Variable], known_variables: Collection[Variable]
) -> Iterator[GraphNode]:
    """Return the operations that make the outputs from some known variables, in the graph's order."""
    wanted = {v for v in outputs if v not in known_variables}
    found: list[GraphNode] = []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.outputs):
            found.append(node)
            wanted.update(v for v in node.inputs if v not in known_variables)
    return reversed(found)
