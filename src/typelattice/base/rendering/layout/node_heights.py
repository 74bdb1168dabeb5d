"""The height of each node of a drawing: near its row or its neighbours, clear of others in its column."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.rendering.layout.node_order import Columns

# clear space between nodes, next to a bend, between bends
NODE_GAP, BEND_NODE_GAP, BEND_GAP = 16.0, 12.0, 9.0
MIN_ROW_DISTANCE = 58.0
HEIGHT_ROUNDS = 24  # rounds; in each, every node moves towards its neighbours
SEPARATING_DISTANCE = 10_000.0  # a distance of rows at which nodes cannot touch


@frozen()
class Block:
    """Some nodes of a column that touch, treated as one: their number, weight, and the wished start."""

    size: int
    weight: float
    wished_start: float


def compute_levels(
    columns: Columns, ways: Sequence[Sequence[int]], sizes: Sequence[float], rowed: bool
) -> tuple[list[float], dict[float, float]]:
    """Return the distance from the top to the middle of each node, of each bend and of each row.

    `sizes` are the heights of the nodes. Without rows, only its neighbours attract a node.
    """
    all_sizes = [*sizes, *(0.0 for _ in columns.row[len(sizes) :])]
    weights, base = [1.0] * len(all_sizes), dict[float, float]()
    if rowed:
        weights = [_firmness_in_row(columns, v) for v in range(len(all_sizes))]
        rows = sorted({r for r in columns.row if r is not None})
        apart = _relax_heights(
            columns, all_sizes, {r: r * SEPARATING_DISTANCE for r in rows}, weights, rounds=1
        )
        base = _row_baselines(columns, all_sizes, rows, apart)
    positions = _relax_heights(columns, all_sizes, base, weights)
    _straighten_bends(columns, ways, all_sizes, positions)
    top = min((y - h / 2 for y, h in zip(positions, all_sizes, strict=True)), default=0.0)
    return [round(y - top, 1) for y in positions], {row: round(y - top, 1) for row, y in base.items()}


def _firmness_in_row(columns: Columns, node: int) -> float:
    """Return how firmly a node keeps to its row.

    It grows with the number of sides on which the node has a neighbour of its row.
    """
    if columns.row[node] is None:
        return 1e-3
    beside = sum(
        any(_end_row(columns, u, side) == columns.row[node] for u in side[node])
        for side in (columns.left, columns.right)
    )
    return float(1000**beside)


def _end_row(columns: Columns, node: int, side: Sequence[Sequence[int]]) -> float | None:
    """Return the row of the node at the end of an arrow that passes one bend or more."""
    while columns.row[node] is None:
        node = side[node][0]
    return columns.row[node]


def _row_baselines(
    columns: Columns, sizes: Sequence[float], rows: Sequence[float], distances: Sequence[float]
) -> dict[float, float]:
    """Return the middle of each row, with space for nodes of different rows and for bends between them."""
    base = dict.fromkeys(rows, 0.0)
    min_distances: dict[tuple[float, float], float] = {}
    for order in columns.order:
        extent: dict[float, tuple[float, float]] = {}
        for v in order:
            row = columns.row[v]
            if row is not None:
                up, down = extent.get(row, (0.0, 0.0))
                off = distances[v] - row * SEPARATING_DISTANCE
                extent[row] = max(up, sizes[v] / 2 - off), max(down, off + sizes[v] / 2)
        rows_in_column = sorted(extent)
        for i, upper in enumerate(rows_in_column):
            for lower in rows_in_column[i + 1 :]:
                least = extent[upper][1] + NODE_GAP + extent[lower][0]
                min_distances[upper, lower] = max(min_distances.get((upper, lower), 0.0), least)
    for i, row in enumerate(rows[1:], 1):
        above = rows[:i]
        base[row] = max(
            base[r] + max(min_distances.get((r, row), 0.0), MIN_ROW_DISTANCE * min(row - r, 1)) for r in above
        )
    for before, row, after in zip(rows, rows[1:], rows[2:], strict=False):
        if row != int(row):  # not a whole number: the node lies between two rows
            base[row] = (base[before] + base[after]) / 2
    return base


def _relax_heights(
    columns: Columns,
    sizes: Sequence[float],
    base: dict[float, float],
    weights: Sequence[float],
    rounds: int = HEIGHT_ROUNDS,
) -> list[float]:
    """Return the levels after some rounds.

    Each node moves towards its row. A bend, or a node without a row, moves towards the middle of its
    neighbours.
    """
    positions = [0.0] * len(sizes)
    for order in columns.order:
        y = 0.0
        for i, v in enumerate(order):
            y += _node_distance(columns, sizes, order[i - 1], v) if i else 0.0
            row = columns.row[v]
            positions[v] = base[row] if row is not None and base else y
    for turn in range(rounds):
        numbers = range(len(columns.order))
        for i in numbers if turn % 2 == 0 else reversed(numbers):
            order = columns.order[i]
            _place_column(
                columns,
                sizes,
                order,
                [_wished_height(columns, base, positions, v) for v in order],
                weights,
                positions,
            )
    return positions


def _wished_height(
    columns: Columns, base: dict[float, float], positions: Sequence[float], node: int
) -> float:
    row = columns.row[node]
    if row is not None and base:
        return base[row]
    near = [*columns.left[node], *columns.right[node]]
    return sum(positions[u] for u in near) / len(near) if near else positions[node]


def _place_column(
    columns: Columns, sizes: Sequence[float], order: Sequence[int], wishes: Sequence[float],
    weights: Sequence[float], positions: list[float],
) -> None:  # fmt: skip
    """Set the heights of a column near the wishes, by weight, and keep the space between nodes.

    This is isotonic regression: nodes that would overlap become one block, which moves to the mean of their
    wishes.
    """
    offset, blocks = list[float](), list[Block]()
    for i, v in enumerate(order):
        offset.append(offset[-1] + _node_distance(columns, sizes, order[i - 1], v) if i else 0.0)
        blocks.append(Block(1, weights[v], wishes[i] - offset[i]))
        while len(blocks) > 1 and blocks[-2].wished_start > blocks[-1].wished_start:
            lower, upper = blocks.pop(), blocks.pop()
            weight = upper.weight + lower.weight
            wish = (upper.weight * upper.wished_start + lower.weight * lower.wished_start) / weight
            blocks.append(Block(upper.size + lower.size, weight, wish))
    i = 0
    for block in blocks:
        for _ in range(block.size):
            positions[order[i]] = block.wished_start + offset[i]
            i += 1


def _node_distance(columns: Columns, sizes: Sequence[float], upper: int, lower: int) -> float:
    """Return the distance between the middles of two nodes that lie below each other."""
    nodes = (columns.row[upper] is not None) + (columns.row[lower] is not None)
    return (sizes[upper] + sizes[lower]) / 2 + (BEND_GAP, BEND_NODE_GAP, NODE_GAP)[nodes]


def _straighten_bends(
    columns: Columns, ways: Sequence[Sequence[int]], sizes: Sequence[float], positions: list[float]
) -> None:
    """Let the bends of a long arrow keep the height of its source, until another node is in the way."""
    place = {v: (order, i) for order in columns.order for i, v in enumerate(order)}
    for way in [*ways, *reversed(ways), *ways]:  # the first arrows of a group make room for the others
        level, start = positions[way[0]], 1
        while start < len(way) - 1:
            low, top, end = (
                -SEPARATING_DISTANCE * SEPARATING_DISTANCE,
                SEPARATING_DISTANCE * SEPARATING_DISTANCE,
                start,
            )
            while end < len(way) - 1:
                upper, lower = _free_range(*place[way[end]], columns, sizes, positions)
                if max(low, upper) > min(top, lower):
                    break
                low, top, end = max(low, upper), min(top, lower), end + 1
            end = max(end, start + 1)
            if end == len(way) - 1 and low <= positions[way[-1]] <= top:
                level = positions[way[-1]]  # the last bend lies at the height of the target
            level = max(low, min(top, level))
            for bend in way[start:end]:
                positions[bend] = level
            start = end


def _free_range(
    order: Sequence[int],
    place_in_column: int,
    columns: Columns,
    sizes: Sequence[float],
    positions: Sequence[float],
) -> tuple[float, float]:
    """Return the range of heights for a bend, between its neighbours in its column."""
    upper = (
        positions[order[place_in_column - 1]]
        + _node_distance(columns, sizes, order[place_in_column - 1], order[place_in_column])
        if place_in_column
        else -SEPARATING_DISTANCE * SEPARATING_DISTANCE
    )
    beyond = place_in_column + 1 == len(order)
    lower = (
        SEPARATING_DISTANCE * SEPARATING_DISTANCE
        if beyond
        else positions[order[place_in_column + 1]]
        - _node_distance(columns, sizes, order[place_in_column], order[place_in_column + 1])
    )
    return upper, max(upper, lower)
