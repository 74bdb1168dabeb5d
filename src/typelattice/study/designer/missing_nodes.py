"""The missing nodes of an order: with them, every pair with an upper bound has a least one.

This is the completion by cuts of Dedekind and MacNeille, without a new top and bottom. A set of operands has
common upper bounds. If no single node is the least of these, one new node goes between. No smaller set of
nodes is enough: operands with different upper bounds have different joins.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from itertools import combinations
from pathlib import Path

from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import DType, Kind, Node, intern_dtype
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_origin import SystemOrigin
from typelattice.core.system_files.writer import node_code, reduce_order, write_system_file
from typelattice.study.designer.solver_facts import make_mask
from typelattice.study.tables.study_scope import BeyondReachError

MAX_COMMON_BOUNDS = 2000  # limit of common bounds to examine; an order may have exponentially many


@dataclass(frozen=True, slots=True)
class MissingNode:
    """A node to add: what lies directly below and above it, and the pairs of old nodes that join there."""

    name: str
    below: tuple[Node, ...]
    above: tuple[Node, ...]
    pairs: tuple[tuple[Node, Node], ...]

    def __str__(self) -> str:
        below, above = (", ".join(map(node_code, nodes)) for nodes in (self.below, self.above))
        return f"{below} -> {self.name} -> {above}"


@dataclass(frozen=True, slots=True)
class MissingNodes(NotebookDisplay):
    """The nodes that an order lacks, and the system with them, as a file."""

    given_system: System
    nodes: tuple[MissingNode, ...]
    system: System
    text: str

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[MissingNode]:
        return iter(self.nodes)

    def data(self) -> dict[str, object]:
        """Return the nodes as JSON data."""
        return {
            "system": self.given_system.name,
            "nodes": [
                {
                    "name": n.name,
                    "below": [node_code(x) for x in n.below],
                    "above": [node_code(x) for x in n.above],
                    "pairs": [[node_code(a), node_code(b)] for a, b in n.pairs],
                }
                for n in self.nodes
            ],
            "file": self.text,
        }


def find_missing_nodes(order: str | Path | System) -> MissingNodes:
    """Return the fewest nodes that give every pair with an upper bound a join.

    The file declares each new node as a dtype of unknown values. Its kind is the highest kind below it. Ties
    that a new node settles are left out. Raises BeyondReachError.

    >>> for node in find_missing_nodes("numpy"):
    ...     print(node)
    u8, i8 -> node1 -> i16, f16
    u16, i16 -> node2 -> i32, f32
    """
    partial = find_system(order)
    old = partial.order.nodes
    up = [make_mask(j for j, b in enumerate(old) if partial.order.le(a, b)) for a in old]
    cuts = sorted(_list_cuts(up, partial.name) - {*up}, key=lambda cut: (-cut.bit_count(), cut))
    names = _name_nodes(partial, len(cuts))
    under = ([a for a, u in zip(old, up, strict=True) if u & cut == cut] for cut in cuts)
    made = [_make_dtype(name, below) for name, below in zip(names, under, strict=True)]
    place: dict[Node, int] = dict(zip(old, up, strict=True))
    place.update(zip(made, cuts, strict=True))
    nodes = [*old, *made]
    relations = [(a, b) for a in nodes for b in nodes if place[a] & place[b] == place[b] and a is not b]
    completed = reduce_order(nodes, relations)
    title = f"{partial.title[:100] or partial.name}, with the nodes that it lacks"
    text = write_system_file(_add_dtypes(partial, made), completed, f"{partial.name[:40]}-nodes", title)
    found = tuple(_describe_missing(completed, partial.order, x, set(made)) for x in made)
    return MissingNodes(partial, found, parse(text, f"{partial.name}-nodes.toml"), text)


def _list_cuts(up: Sequence[int], name: str) -> set[int]:
    """Return the non-empty sets of all upper bounds that some nodes have in common, as masks."""
    found, waiting = set(up), list({*up})
    while waiting:
        cut = waiting.pop()
        for u in up:
            if (common := cut & u) and common not in found:
                found.add(common)
                waiting.append(common)
        if len(found) > MAX_COMMON_BOUNDS:
            raise BeyondReachError(
                f"{name} is beyond reach: its completion has more than {MAX_COMMON_BOUNDS:,} nodes; "
                "leave out dtypes, or state more of the order"
            )
    return found


def _name_nodes(partial: System, count: int) -> list[str]:
    taken = {str(d) for d in partial.dtypes} | {d.code for d in partial.dtypes}
    free = (name for i in range(1, count + len(taken) + 1) if (name := f"node{i}") not in taken)
    return [next(free) for _ in range(count)]


def _make_dtype(name: str, nodes_below: Sequence[Node]) -> DType:
    kind = max((node.kind for node in nodes_below), key=list(Kind).index)
    bits = 128 if kind is Kind.COMPLEX else None  # a complex dtype of a file states its bits
    return intern_dtype(name, name, kind, bits, None, None, None, None, None, None, (), "sz")


def _add_dtypes(partial: System, new_dtypes: Sequence[DType]) -> System:
    """Return the system with new dtypes of its file, which its order does not have yet."""
    origin = partial.origin
    assert isinstance(origin, SystemOrigin)
    values = origin.definition.values
    own = values.get("dtypes", {})
    assert isinstance(own, dict)
    facts: dict[str, dict[str, object]] = {
        d.name: {"kind": str(d.kind), "values": "unknown"} for d in new_dtypes
    }
    for d in new_dtypes:
        facts[d.name] |= {"bits": d.bits} if d.bits else {}
    dtypes = {"dtypes": {**own, **facts}} if new_dtypes else {}
    definition = with_fields(origin.definition, values={**values, **dtypes})
    return replace(partial, origin=SystemOrigin(definition, origin.rows, origin.build))


def _describe_missing(
    completed: Order[Node], old_order: Order[Node], node: DType, new_dtypes: set[DType]
) -> MissingNode:
    below = tuple(a for a in completed.nodes if node in completed.covers(a))
    pairs = tuple((a, b) for a, b in combinations(old_order.nodes, 2) if completed.join(a, b) is node)
    return MissingNode(node.name, below, completed.covers(node), pairs)
