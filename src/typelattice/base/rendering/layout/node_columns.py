"""The column of each node of a drawing, chosen so that arrows lead to the right and are short."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

NodeEdge = tuple[int, int]
COLUMN_PASSES = 20  # passes over all nodes; each node moves to the column where its arrows are shorter


def break_cycles(count: int, edges: Sequence[NodeEdge]) -> list[NodeEdge]:
    """Return the edges, with some reversed if they lead in a circle.

    >>> break_cycles(3, [(0, 1), (1, 2), (2, 0)])
    [(0, 1), (1, 2), (0, 2)]
    """
    try:
        TopologicalSorter(_predecessors(count, edges)).prepare()
    except CycleError:
        return _turn_back_edges(count, edges)
    return list(edges)


def _turn_back_edges(count: int, edges: Sequence[NodeEdge]) -> list[NodeEdge]:
    """Return the edges, with those reversed that lead a depth-first search back to its own path."""
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        after[a].append(b)
    state, turned = [0] * count, set[NodeEdge]()  # 0: not visited, 1: on the current path, 2: done
    for start in range(count):
        if state[start]:
            continue
        state[start] = 1
        way = [(start, iter(after[start]))]
        while way:
            a, rest = way[-1]
            b = next(rest, -1)
            if b < 0:
                state[a] = 2
                way.pop()
            elif state[b] == 1:
                turned.add((a, b))
            elif not state[b]:
                state[b] = 1
                way.append((b, iter(after[b])))
    return list(dict.fromkeys((b, a) if (a, b) in turned else (a, b) for a, b in edges))


def assign_columns(count: int, edges: Sequence[NodeEdge]) -> list[int]:
    """Return the column of each node, counted from 0; `edges` must have no circle.

    A node with more arrows out than in is as far right as it can be, so that its one arrow in is short.

    >>> assign_columns(5, [(0, 1), (1, 2), (2, 3), (4, 3)])
    [0, 1, 2, 3, 2]
    """
    before = _predecessors(count, edges)
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        after[a].append(b)
    upward = list(TopologicalSorter(before).static_order())
    column = [0] * count
    for v in upward:
        column[v] = max((column[a] + 1 for a in before[v]), default=0)
    for _ in range(COLUMN_PASSES):
        was = list(column)
        for v in [*reversed(upward), *upward]:
            more = len(after[v]) - len(before[v])
            if more > 0:
                column[v] = min(column[b] for b in after[v]) - 1
            elif more < 0:
                column[v] = max(column[a] for a in before[v]) + 1
        if column == was:
            break
    least = min(column, default=0)
    return [c - least for c in column]


def _predecessors(count: int, edges: Sequence[NodeEdge]) -> dict[int, list[int]]:
    before: dict[int, list[int]] = {v: [] for v in range(count)}
    for a, b in edges:
        before[b].append(a)
    return before
