"""`x + y` of arrays under JAX's rules that compute with NumPy: one element, and ten million."""
from __future__ import annotations

import tracemalloc
from statistics import median

from timing import Row, absent, clock, compared, measured, side_by_side, timer

import typelattice as tl

PEERS = {  # int32 + float32 where the library promotes so; array-api-strict refuses it
    "numpy": "x, y = a, b",
    "jax": "import jax.numpy as jnp; x, y = jnp.asarray(a), jnp.asarray(b)",
    "array_api_strict": "import array_api_strict as s; x, y = s.ones(1, dtype=s.float32), s.ones(1)",
    "torch": "import array_api_compat.torch as s; x, y = s.ones(1, dtype=s.int32), s.ones(1)",
}
MAY_ADD = 0.5e-6  # seconds over NumPy's own, of one element
MANY = 10_000_000


def arrays() -> list[Row]:
    if absent("numpy") or absent("array_api_compat"):
        return [Row("one element", "x + y", "absent: no numpy or no array_api_compat")]
    import numpy as np

    xp = tl.namespace("jax", np)
    a, b = np.ones(1, "int32"), np.ones(1, "float32")
    ours = timer("x + y", {"x": xp.asarray(a), "y": xp.asarray(b)})
    rows = []
    for module, setup in PEERS.items():
        if absent(module):
            continue
        space: dict[str, object] = {"a": a, "b": b}
        exec(setup, space)
        # array-api-compat wraps the functions of PyTorch, not its tensors
        asked = "s.add(x, y)" if module == "torch" else "x + y"
        mine, theirs = side_by_side([ours, timer(asked, space)])
        goal = 1 + MAY_ADD / theirs if module == "numpy" else 1.0
        rows.append(compared("one element", f"{module}: {asked}", mine, theirs, goal))
    many = np.ones(MANY, "int32"), np.ones(MANY, "float32")
    x, y = map(xp.asarray, many)
    pairs = [(clock(lambda: x + y, 1), clock(lambda: many[0] + many[1], 1)) for _ in range(15)]
    mine, theirs = (median(column) for column in zip(*pairs, strict=True))
    rows.append(compared("10 million", "numpy: x + y", mine, theirs, 0.5))
    tracemalloc.start()
    result = x + y
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    goal = round(1.02 * result.bare.nbytes / 1e6)  # the result and no temporary
    return [*rows, measured("10 million", "peak memory", peak / 1e6, goal, "MB")]
