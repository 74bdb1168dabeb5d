"""The closure and the joins of all pairs in lattices of 20 to 2000 nodes, beside JAX's own way to them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import combinations_with_replacement
from unittest import mock

from timing import Row, absent, clock, compared

import typelattice as tl

SIZES = ((4, 5), (10, 10), (15, 20), (25, 40), (40, 50))  # products of two chains
JAX_UP_TO = 1000  # nodes; at 2000 its way takes a minute and more


def orders() -> list[Row]:
    rows = []
    for height, width in SIZES:
        covers = grid(height, width)
        n, ours = len(covers), clock(partial(every_join, covers), 3)
        if absent("jax") or n > JAX_UP_TO:
            why = "absent: no jax" if absent("jax") else "not run: a minute and more"
            rows.append(Row(f"{n} nodes", "JAX's builder", f"{ours * 1e3:,.1f} ms / {why}"))
        else:
            theirs = clock(partial(jax_way, covers), 3 if n <= 300 else 1)
            rows.append(compared(f"{n} nodes", "JAX's builder", ours, theirs, 0.1 if n >= 100 else 0.5))
    return rows


def grid(height: int, width: int) -> dict[str, list[str]]:
    """The covers of a product of two chains."""
    inside = {(i, j): f"n{i}_{j}" for i in range(height) for j in range(width)}
    return {
        name: [inside[k] for k in ((i + 1, j), (i, j + 1)) if k in inside] for (i, j), name in inside.items()
    }


def every_join(covers: Mapping[str, Sequence[str]]) -> None:
    order = tl.Order(covers)
    for a, b in combinations_with_replacement(covers, 2):
        order.join(a, b)


def jax_way(covers: Mapping[str, Sequence[str]]) -> None:
    """JAX's own closure and least upper bound over another order, past its cache."""
    dtypes, config = import_module("jax._src.dtypes"), import_module("jax._src.config")
    with mock.patch.object(dtypes, "_type_promotion_lattice", lambda strict, x64: covers):
        bounds = dtypes._make_lattice_upper_bounds(False, True)
    join = dtypes._least_upper_bound.__wrapped__
    with mock.patch.object(dtypes, "_standard_x64_lattice_ubs", bounds):
        for a, b in combinations_with_replacement(covers, 2):
            join(config.NumpyDtypePromotion.STANDARD, True, a, b)
