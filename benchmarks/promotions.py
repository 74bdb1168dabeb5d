"""A call of `System.result_type` beside the one that a library's users write; bound: the bare functions."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from timing import Row, absent, compared, side_by_side, timer

import typelattice as tl

DTYPES, BOUND, ARRAYS, NUMBER, WITHOUT_DIMENSIONS, THEIRS = (
    "two dtypes",
    "two dtypes, bound",
    "two arrays",
    "array and number",
    "array and 0-d array",
    "two of its own dtypes",
)


@dataclass(frozen=True, slots=True)
class Peer:
    """A library: how it is imported, and the questions that its users ask it.

    `dtypes` is an expression of two dtypes, `operands` of two arrays and one without dimensions. `goals` are
    the ratios not to exceed; a question without a goal is one that the library does not take. BOUND has the
    goal of DTYPES, but for NumPy: the call of a Python function alone takes most of what its C function does.
    """

    module: str
    setup: str
    system: str
    dtypes: str
    ask_dtypes: str
    operands: str
    ask: str
    goals: Mapping[str, float]


PEERS = (
    Peer(
        "numpy", "import numpy as np", "numpy",
        "np.dtype('i4'), np.dtype('f4')", "np.promote_types",
        "np.ones(3, 'i4'), np.ones(3, 'f4'), np.array(2.5, 'f4')", "np.result_type",
        {DTYPES: 1.1, BOUND: 2, ARRAYS: 1.2, NUMBER: 1.5, WITHOUT_DIMENSIONS: 3, THEIRS: 1.5},
    ),
    Peer(
        "torch", "import torch", "torch",
        "torch.int32, torch.float32", "torch.promote_types",
        "torch.ones(3, dtype=torch.int32), torch.ones(3), torch.tensor(2.5)", "torch.result_type",
        {DTYPES: 1, ARRAYS: 1.2, NUMBER: 1.5, WITHOUT_DIMENSIONS: 1.2},
    ),
    Peer(
        "mlx.core", "import mlx.core as mx", "mlx",
        "mx.int32, mx.float32", "mx.result_type",
        "mx.ones(3, mx.int32), mx.ones(3), mx.array(2.5)", "mx.result_type",
        {DTYPES: 1, ARRAYS: 3, WITHOUT_DIMENSIONS: 3},
    ),
    Peer(
        "jax", "import jax.numpy as jnp", "jax-x32",
        "jnp.dtype('int32'), jnp.dtype('float32')", "jnp.promote_types",
        "jnp.ones(3, 'int32'), jnp.ones(3, 'float32'), jnp.array(2.5, 'float32')", "jnp.result_type",
        {DTYPES: 0.1, ARRAYS: 0.3, NUMBER: 1, WITHOUT_DIMENSIONS: 0.3, THEIRS: 1},
    ),
    Peer(
        "array_api_strict", "import array_api_strict as xp", "array-api",
        "xp.float32, xp.float64", "xp.result_type",
        "xp.ones(3, dtype=xp.float32), xp.ones(3), xp.asarray(2.5)", "xp.result_type",
        {DTYPES: 1, ARRAYS: 1, NUMBER: 1, WITHOUT_DIMENSIONS: 1},
    ),
    Peer(
        "tinygrad", "from tinygrad.dtype import dtypes, least_upper_dtype", "tinygrad",
        "dtypes.int32, dtypes.float32", "least_upper_dtype", "", "", {DTYPES: 1.1},
    ),
    Peer(
        "keras", "import keras", "keras",
        "'int32', 'float32'", "keras.backend.result_type", "", "", {DTYPES: 1},
    ),
)  # fmt: skip
# What both are given: x and y are arrays, zero an array without dimensions, p and q dtypes of the library.
OURS = {ARRAYS: "x, y", NUMBER: "x, 2.5", WITHOUT_DIMENSIONS: "x, zero", THEIRS: "p, q"}


def promotions() -> list[Row]:
    ours = {"system": tl.system("jax"), "a": tl.dtype("int32"), "b": tl.dtype("float32")}
    rows = [cached(ours)]
    for peer in PEERS:
        setup = f"{peer.setup}; p, q = {peer.dtypes}"
        rows.append(
            contest(DTYPES, peer, "system.result_type(a, b)", f"{peer.ask_dtypes}(p, q)", setup, ours)
        )
        bound = f"{setup}; f, g = system.result_type, {peer.ask_dtypes}"
        rows.append(contest(BOUND, peer, "f(a, b)", "g(p, q)", bound, ours))
    for question, operands in OURS.items():
        for peer in PEERS:
            if question in peer.goals:
                setup = f"{peer.setup}; x, y, zero = {peer.operands}; p, q = {peer.dtypes}"
                call, asked = f"system.result_type({operands})", f"{peer.ask}({operands})"
                rows.append(contest(question, peer, call, asked, setup, {"system": tl.system(peer.system)}))
    return rows


def cached(ours: Mapping[str, object]) -> Row:
    """Two dtypes, beside the same method behind a cache in C, which takes as long: the call is what costs."""
    system = ours["system"]
    assert isinstance(system, tl.System)
    space = {**ours, "f": system.result_type, "g": lru_cache(None)(system.result_type)}
    mine, its = side_by_side([timer("f(a, b)", space), timer("g(a, b)", space)])
    return compared(BOUND, "lru_cache of the same", mine, its, 1.1)


def contest(
    question: str, peer: Peer, ours: str, theirs: str, setup: str, names: Mapping[str, object]
) -> Row:
    """Two expressions over the same names, timed side by side."""
    of_dtypes = question in (DTYPES, BOUND)
    asked = peer.ask_dtypes if of_dtypes else peer.ask
    if absent(peer.module):
        return Row(question, asked, f"absent: no {peer.module}")
    space: dict[str, object] = dict(names)
    exec(setup, space)
    try:
        mine, its = side_by_side([timer(ours, space), timer(theirs, space)])
    except (TypeError, ValueError) as e:
        return Row(question, asked, f"failed: {str(e).splitlines()[0][:40]}", met=False)
    return compared(question, asked, mine, its, peer.goals.get(question, peer.goals[DTYPES]))
