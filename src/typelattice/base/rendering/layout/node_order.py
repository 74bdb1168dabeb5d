"""The order of the nodes in each column, chosen so that few arrows cross.

A long arrow passes each column on its way at a *bend*, which takes a position there like a node. So every
crossing is between two neighbouring columns, where it can be counted.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.rendering.layout.node_columns import NodeEdge

ORDERING_SWEEPS = 6  # forward and back over the columns
INITIAL_ORDERS = 6  # initial orders; the one with the fewest crossings at the end is used
OUTWARD_SHIFT = 0.2  # nodes without outgoing arrows move outward by this part of a row
MAX_COMPARED_PAIRS = 40_000  # a large drawing tries fewer initial orders


@frozen()
class Columns:
    """Nodes and bends in columns from left to right, top down in each.

    `row` is the row of each node, and None for a bend. `right` and `left` are its neighbours in the next
    columns.
    """

    order: list[list[int]]
    row: list[float | None]
    right: list[list[int]]
    left: list[list[int]]

    def crossings(self) -> int:
        """Count the pairs of arrows that cross."""
        return sum(
            _count_crossings(a, b, self.right) for a, b in zip(self.order, self.order[1:], strict=False)
        )


def add_bends(
    column: Sequence[int], rows: Sequence[float], edges: Sequence[NodeEdge]
) -> tuple[Columns, list[list[int]]]:
    """Return the nodes in their columns, with the bends of long edges, and the path of each edge.

    The edges lead to the right.
    """
    row: list[float | None] = list(rows)
    column_of_node, preferred_rows = list(column), list(rows)
    right: list[list[int]] = [[] for _ in rows]
    left: list[list[int]] = [[] for _ in rows]
    ways = list[list[int]]()
    for a, b in edges:
        way, steps = [a], column[b] - column[a]
        for step in range(1, steps):
            way.append(len(row))
            row.append(None)
            column_of_node.append(column[a] + step)
            preferred_rows.append(rows[a] + (rows[b] - rows[a]) * step / steps)
            right.append([])
            left.append([])
        way.append(b)
        for u, v in pairwise(way):
            right[u].append(v)
            left[v].append(u)
        ways.append(way)
    middle = (min(rows, default=0) + max(rows, default=0)) / 2
    for v in range(len(rows)):
        if not right[v]:  # nodes without outgoing arrows go to the edge
            preferred_rows[v] += -OUTWARD_SHIFT if rows[v] < middle else OUTWARD_SHIFT
    order: list[list[int]] = [[] for _ in range(max(column, default=-1) + 1)]
    for v in range(len(row)):
        order[column_of_node[v]].append(v)
    for each in order:
        each.sort(key=lambda v: preferred_rows[v])
    return Columns(order, row, right, left), ways


def untangle(columns: Columns) -> Columns:
    """Return the same columns in orders with few crossings; nodes stay in the order of their rows.

    It returns the best result of a few starts, which are the same each time.
    """
    best, fewest, pairs = columns, columns.crossings(), 0
    dice = Random(0)
    for start in range(INITIAL_ORDERS):
        order = [list(each) for each in columns.order] if start < 2 else _shuffle_order(columns, dice)
        tried = Columns(order, columns.row, columns.right, columns.left)
        for forth in (True, False, True) if not start % 2 else ():
            _follow_neighbours(tried, forth)
        for sweep in range(ORDERING_SWEEPS):
            before = [list(each) for each in tried.order]
            pairs += _sweep_columns(tried, is_forward=sweep % 2 == 0)
            crossings = tried.crossings()
            if crossings < fewest:
                fewest = crossings
                best = Columns([list(e) for e in tried.order], tried.row, tried.right, tried.left)
            if tried.order == before:
                break
        if not fewest or pairs > MAX_COMPARED_PAIRS:
            break
    return best


def _shuffle_order(columns: Columns, dice: Random) -> list[list[int]]:
    """Return another initial order: nodes of a row, and bends, in any order."""
    found = []
    for each in columns.order:
        nodes = sorted(
            (v for v in each if columns.row[v] is not None), key=lambda v: (columns.row[v], dice.random())
        )
        for v in each:
            if columns.row[v] is None:
                nodes.insert(dice.randrange(len(nodes) + 1), v)
        found.append(nodes)
    return found


def _follow_neighbours(columns: Columns, is_forward: bool) -> None:
    """Put each column in the order of its neighbours in the one before it, as far as rows allow."""
    last = len(columns.order) - 1
    near = columns.left if is_forward else columns.right
    for i in range(1, last + 1) if is_forward else range(last - 1, -1, -1):
        places = _place_by_node(columns.order[i - 1 if is_forward else i + 1])
        mean = {
            v: sum(places[u] for u in near[v]) / len(near[v]) if near[v] else place
            for place, v in enumerate(columns.order[i])
        }
        merged = sorted(columns.order[i], key=mean.__getitem__)
        rows = {v: row for v in merged if (row := columns.row[v]) is not None}
        nodes = iter(sorted(rows, key=rows.__getitem__))
        columns.order[i][:] = [next(nodes) if v in rows else v for v in merged]


def _sweep_columns(columns: Columns, is_forward: bool) -> int:
    """Order each column once by its neighbours; return how many pairs were compared."""
    pairs = 0
    numbers = range(len(columns.order))
    for i in numbers if is_forward else reversed(numbers):
        here = columns.order[i]
        beside = [
            _place_by_node(columns.order[j]) if 0 <= j < len(columns.order) else {} for j in (i - 1, i + 1)
        ]
        sides = [
            {v: sorted(places[u] for u in near[v]) for v in here}
            for places, near in zip(beside, (columns.left, columns.right), strict=True)
        ]
        pairs += len(here) ** 2
        for v in list(here):
            _sift_node(here, v, columns.row, sides)
    return pairs


def _sift_node(
    column: list[int], node: int, row: list[float | None], sides: Sequence[dict[int, list[int]]]
) -> None:
    """Move a node within its row's limits to the position where its arrows cross the fewest others."""
    start = column.index(node)
    best, least, cost = start, 0, 0
    for way in (-1, 1):
        cost, i = 0, start + way
        while 0 <= i < len(column):
            u = column[i]
            mine, other = row[node], row[u]
            if mine is not None and other is not None and mine != other:
                break
            above, below = (u, node) if way < 0 else (node, u)  # now v moves past u
            for side in sides:
                upper, lower = side[above], side[below]
                if upper and lower:
                    cost += _count_pair_crossings(lower, upper) - _count_pair_crossings(upper, lower)
            if cost < least:
                best, least = i, cost
            i += way
    if best != start:
        column.insert(best, column.pop(start))


def _count_pair_crossings(upper: Sequence[int], lower: Sequence[int]) -> int:
    """Count the crossings between the arrows of two nodes, one above the other.

    The arguments are the sorted places of their targets.
    """
    if len(upper) == 1 and len(lower) == 1:
        return upper[0] > lower[0]
    return sum(bisect_left(lower, place) for place in upper)


def _count_crossings(
    left_column: Sequence[int], right_column: Sequence[int], right: Sequence[Sequence[int]]
) -> int:
    """Count the crossings of arrows between two columns."""
    places, seen, found = _place_by_node(right_column), list[int](), 0
    for v in left_column:
        ends = sorted(places[u] for u in right[v])
        for end in ends:
            found += len(seen) - bisect_left(seen, end + 1)
        for end in ends:
            insort(seen, end)
    return found


def _place_by_node(order: Sequence[int]) -> dict[int, int]:
    return {v: i for i, v in enumerate(order)}
