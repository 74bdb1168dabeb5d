"""What a compiled function computes, as its library says: operations on variables, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.range import Value
from typelattice.operands.operand import Operand

Variable = Hashable  # what a library's graph knows a value by
MOST = 20_000  # operations of a graph that are read


@dataclass(frozen=True, slots=True)
class Span:
    """Where the program's own source asks for an operation; without columns where the library keeps none."""

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of a graph. One without a name gives what it takes: it is no operation, but an edge."""

    name: str
    takes: tuple[Variable, ...]
    gives: tuple[Variable, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of a compiled function.

    `inputs` has the variable of each leaf of the arguments; None for a leaf that is part of the function.
    `operands` says what each variable is, `sizes` how many bytes it takes. `numbers` has the values of
    constants without dimensions, `constants` the arrays that the function took along, and `names` the names
    of parameters.
    """

    inputs: tuple[Variable | None, ...]
    nodes: tuple[Node, ...] = field(repr=False)
    outputs: tuple[Variable, ...]
    operands: Mapping[Variable, Operand] = field(repr=False)
    sizes: Mapping[Variable, int] = field(repr=False)
    numbers: Mapping[Variable, Value] = field(repr=False)
    constants: Mapping[Variable, object] = field(repr=False)
    names: Mapping[Variable, str] = field(repr=False)


class GraphReader:
    """A graph in the making: what the reader of a library's own graph has found so far.

    `read` is that library's adapter. A graph within it may be read several times: `readings` counts them, and
    the number of the reading is part of a variable.
    """

    def __init__(self, read: Callable[[Any], Operand | None]) -> None:
        self.adapter = read
        self.nodes: list[Node] = []
        self.operands: dict[Variable, Operand] = {}
        self.sizes: dict[Variable, int] = {}
        self.numbers: dict[Variable, Value] = {}
        self.constants: dict[Variable, object] = {}
        self.names: dict[Variable, str] = {}
        self.readings = 0

    def operand(self, x: Any) -> Operand | None:
        """What a value of the library's graph is; None of one that holds no numbers, such as a random key."""
        try:
            return self.adapter(x)
        except TypelatticeError:
            return None

    def edges(self, takes: Sequence[Variable], gives: Sequence[Variable]) -> None:
        """Variables that are others under another name, as many as both lists have."""
        self.nodes += [Node("", (a,), (b,)) for a, b in zip(takes, gives, strict=False)]

    def graph(self, inputs: tuple[Variable | None, ...], outputs: tuple[Variable, ...]) -> Graph | None:
        """The graph; None of one too long."""
        if len(self.nodes) > MOST:
            return None
        known = self.operands, self.sizes, self.numbers, self.constants, self.names
        return Graph(inputs, tuple(self.nodes), outputs, *known)


def needed(nodes: Sequence[Node], outputs: Sequence[Variable], seen: Collection[Variable]) -> Iterator[Node]:
    """The operations that make the outputs, back to what was seen already, in the order of the graph."""
    wanted = {v for v in outputs if v not in seen}
    found: list[Node] = []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.gives):
            found.append(node)
            wanted.update(v for v in node.takes if v not in seen)
    return reversed(found)
