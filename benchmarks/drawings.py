"""Drawings of all systems, and of orders of 300 nodes: their layout, and the SVG."""
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from orders import grid
from timing import Row, clock

import typelattice as tl

NODES = 300  # as many as an order may have
SMALL, LARGE = 0.050, 2.0  # seconds: goals for 35 nodes, and for 300
SEED = 1


def drawings() -> list[Row]:
    """The slowest of all systems, with the small dtypes too; a product of chains; covers at random."""
    times = {name: clock(partial(drawn, name), 3) for name in tl.systems()}
    slowest = max(times, key=times.__getitem__)
    rows = [measured(f"the slowest system: {slowest}", times[slowest], SMALL)]
    for name, covers in (("two chains' product", grid(15, 20)), ("covers at random", scattered())):
        order = tl.Order(covers)
        rows.append(measured(f"{len(order.nodes)} nodes, {name}", clock(partial(svg, order), 1), LARGE))
    return rows


def drawn(name: str) -> str:
    return tl.draw(name, small=True).svg


def svg(order: tl.Order[object]) -> str:
    return tl.draw(order).svg


def measured(what: str, seconds: float, goal: float) -> Row:
    return Row(what, "", f"{seconds * 1e3:,.0f} ms", "", f"{goal * 1e3:,.0f} ms", seconds <= goal)


def scattered() -> Mapping[int, list[int]]:
    """Covers between nodes that are mostly near each other, the same each time."""
    dice, up, covers = Random(SEED), dict[int, set[int]](), dict[int, list[int]]()
    for a in reversed(range(NODES)):
        ends = {a + 1 + int(dice.expovariate(1 / 25)) for _ in range(dice.choice((1, 1, 2)))}
        ends = {b for b in ends if b < NODES}
        covers[a] = sorted(b for b in ends if not any(b in up[c] for c in ends if c != b))
        up[a] = {a}.union(*(up[b] for b in ends))
    return covers
