"""What a compiled function computes, as its library says: operations on variables, in order."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from typelattice.facts.range import Value
from typelattice.operands.operand import Operand

Variable = Hashable  # what a library's graph knows a value by


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


def needed(nodes: Sequence[Node], outputs: Sequence[Variable], seen: Collection[Variable]) -> Iterator[Node]:
    """The operations that make the outputs, back to what was seen already, in the order of the graph."""
    wanted = {v for v in outputs if v not in seen}
    found: list[Node] = []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.gives):
            found.append(node)
            wanted.update(v for v in node.takes if v not in seen)
    return reversed(found)
