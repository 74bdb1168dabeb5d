"""Our times beside the libraries', measured in one run: medians over interleaved repeats, as ratios. Asserts nothing.

`make bench`. A ratio below 1 says that typelattice is the faster; a goal is a ratio, or a time, not to exceed.
"""
from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from itertools import combinations_with_replacement
from statistics import median
from timeit import Timer
from types import ModuleType
from unittest import mock

import typelattice as tl

REPEATS, SLICE = 31, 2e-3  # rounds; seconds that one timing of one contender takes
PROCESSES = 15
SIZES = {20: (4, 5), 100: (10, 10), 300: (15, 20), 1000: (25, 40), 2000: (40, 50)}
JAX_UP_TO = 1000  # nodes; at 2000 its way takes a minute and more
os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@dataclass(frozen=True, slots=True)
class Peer:
    """Something to be timed beside us: an expression over names; absent where a module cannot be imported."""

    name: str
    expression: str
    module: str
    setup: str
    goal: float | None = None


# The peers in C or C++ do the look-up in native code: the goal is twice their time. Python peers: theirs.
DTYPES = (
    Peer("numpy.promote_types", "np.promote_types(x, y)", "numpy", "import numpy as np; x, y = np.dtype('i4'), np.dtype('f4')", 2),
    Peer("torch.promote_types", "torch.promote_types(x, y)", "torch", "import torch; x, y = torch.int32, torch.float32", 2),
    Peer("mlx.core.result_type", "mx.result_type(x, y)", "mlx.core", "import mlx.core as mx; x, y = mx.int32, mx.float32", 2),
    Peer("jnp.promote_types", "jnp.promote_types(x, y)", "jax", "import jax.numpy as jnp; x, y = jnp.dtype('int32'), jnp.dtype('float32')", 1),
    Peer("tinygrad", "least_upper_dtype(x, y)", "tinygrad", "from tinygrad.dtype import dtypes, least_upper_dtype; x, y = dtypes.int32, dtypes.float32", 1),
    Peer("keras", "keras.backend.result_type(x, y)", "keras", "import keras; x, y = 'int32', 'float32'", 1),
)
ARRAYS = {  # module -> how its arrays x, y are made, its own question about two arrays, about an array and a number, our system
    "numpy": ("import numpy as np; x, y = np.ones(3, 'i4'), np.ones(3, 'f4')", "np.result_type", "numpy", (2, 1)),
    "torch": ("import torch; x, y = torch.ones(3, dtype=torch.int32), torch.ones(3)", "torch.result_type", "torch", (2, 2)),
    "jax": ("import jax.numpy as jnp; x, y = jnp.ones(3, 'int32'), jnp.ones(3, 'float32')", "jnp.result_type", "jax", (1, 1)),
    "mlx.core": ("import mlx.core as mx; x, y = mx.ones(3, mx.int32), mx.ones(3)", "mx.result_type", "mlx", (2, None)),
    "array_api_strict": ("import array_api_strict as xp; x, y = xp.ones(3, dtype=xp.float32), xp.ones(3)", "xp.result_type", "array-api", (1, 1)),
}  # fmt: skip


def main() -> None:
    print(versions(), end="\n\n")
    rows: list[tuple[str, str, str, str, str]] = []
    pair = {"system": tl.system("jax"), "a": tl.dtype("int32"), "b": tl.dtype("float32")}
    for peer in DTYPES:
        for how in ("as written", "bound"):
            rows.append(contest(f"two dtypes, {how}", peer, "system.result_type(a, b)", pair, bound=how == "bound"))
    for module, (setup, ask, name, goals) in ARRAYS.items():
        for what, b, goal in (("two arrays", "y", goals[0]), ("array, number", "2.5", goals[1])):
            if goal is not None and name in tl.systems():
                peer = Peer(ask, f"{ask}(x, {b})", module, setup, goal)
                rows.append(contest(what, peer, f"system.result_type(x, {b})", {"system": tl.system(name)}))
            elif goal is not None:
                rows.append((what, ask, f"no system {name}", "", ""))
    table("Promotion, a call", rows)
    orders()
    processes()


def contest(what: str, peer: Peer, ours: str, names: Mapping[str, object], bound: bool = False) -> tuple[str, str, str, str, str]:
    """One row: what, against whom, both times, their ratio and whether the goal is met."""
    if absent(peer.module):
        return what, peer.name, f"absent: no {peer.module}", "", ""
    space: dict[str, object] = dict(names)
    exec(peer.setup, space)
    theirs = peer.expression
    if bound:
        space |= {"_ours": eval(ours.partition("(")[0], space), "_theirs": eval(theirs.partition("(")[0], space)}
        ours, theirs = f"_ours({ours.partition('(')[2]}", f"_theirs({theirs.partition('(')[2]}"
    try:
        a, b = side_by_side([Timer(ours, globals=space), Timer(theirs, globals=space)])
    except (TypeError, ValueError) as e:
        return what, peer.name, f"failed: {str(e).splitlines()[0][:40]}", "", ""
    return what, peer.name, f"{a * 1e9:,.0f} / {b * 1e9:,.0f} ns", f"{a / b:.2f}", verdict(a / b, peer.goal)


def side_by_side(timers: Sequence[Timer]) -> list[float]:
    """Median seconds a call of each, every round timing all of them in turn."""
    counts = []
    for timer in timers:
        timer.timeit(100)
        counts.append(max(1, int(SLICE / max(timer.timeit(100) / 100, 1e-9))))
    rounds = [[timer.timeit(n) / n for timer, n in zip(timers, counts)] for _ in range(REPEATS)]
    return [median(column) for column in zip(*rounds)]


def orders() -> None:
    """Closure and the joins of all pairs of a product of two chains, which is a lattice of any size wanted."""
    rows = []
    for n, (height, width) in SIZES.items():
        covers = grid(height, width)
        a = clock(lambda c=covers: every_join(c), 3)
        if absent("jax") or n > JAX_UP_TO:
            rows.append((f"{n} nodes", "JAX's builder", f"{a * 1e3:,.1f} ms / " + ("absent: no jax" if absent("jax") else "not run"), "", ""))
            continue
        b = clock(lambda c=covers: jax_way(c), 3 if n <= 300 else 1)
        rows.append((f"{n} nodes", "JAX's builder", f"{a * 1e3:,.1f} / {b * 1e3:,.1f} ms", f"{a / b:.3f}", verdict(a / b, 0.1 if n >= 100 else 0.5)))
    table("Orders: closure and all pairs (JAX: its private functions, given this order)", rows)


def grid(height: int, width: int) -> dict[str, list[str]]:
    """The covers of a product of two chains."""
    name = "{}.{}".format
    return {
        name(i, j): [name(k, m) for k, m in ((i + 1, j), (i, j + 1)) if k < height and m < width]
        for i in range(height) for j in range(width)
    }  # fmt: skip


def every_join(covers: Mapping[str, Sequence[str]]) -> None:
    order = tl.Order(covers)
    for a, b in combinations_with_replacement(covers, 2):
        order.join(a, b)


def jax_way(covers: Mapping[str, Sequence[str]]) -> None:
    """JAX's own closure and least upper bound over another order, their caches left out."""
    dtypes, config = import_module("jax._src.dtypes"), import_module("jax._src.config")
    with mock.patch.object(dtypes, "_type_promotion_lattice", lambda strict, x64: covers):
        bounds = dtypes._make_lattice_upper_bounds(False, True)
    join = dtypes._least_upper_bound.__wrapped__
    with mock.patch.object(dtypes, "_standard_x64_lattice_ubs", bounds):
        for a, b in combinations_with_replacement(covers, 2):
            join(config.NumpyDtypePromotion.STANDARD, True, a, b)


def clock(run: Callable[[], None], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return median(times)


def processes() -> None:
    """Whole processes, their time over that of a bare Python."""
    modules = [m for m in ("numpy", "ml_dtypes", "array_api_strict", "tinygrad", "jax") if not absent(m)]
    commands = {
        "": ["-c", "pass"],
        "import typelattice": ["-c", "import typelattice"],
        "typelattice explain int64 float16": ["-m", "typelattice", "explain", "int64", "float16"],
        **{f"import {m}": ["-c", f"import {m}"] for m in modules},
    }
    for name, command in list(commands.items()):
        if problem := subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False).stderr.strip():
            print(f"{name}: {problem.splitlines()[-1]}")
            del commands[name]
    rounds = [{name: spawn(command) for name, command in commands.items()} for _ in range(PROCESSES)]
    over = {name: median(r[name] - r[""] for r in rounds) for name in commands if name}
    ours, cold = (over.pop(name, float("nan")) for name in ("import typelattice", "typelattice explain int64 float16"))
    rows = [("import", name, f"{ours * 1e3:.0f} / {b * 1e3:.0f} ms", f"{ours / b:.2f}", verdict(ours / b, 0.5)) for name, b in over.items()]
    rows.append(("cold, all systems", "explain int64 float16", f"{cold * 1e3:.0f} ms", "", verdict(cold * 1e3, 300, " ms")))
    table("Processes, over a bare Python", rows)


def spawn(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], capture_output=True, check=False)
    return time.perf_counter() - start


def verdict(x: float, goal: float | None, unit: str = "") -> str:
    return "" if goal is None else f"{'met' if x <= goal else 'missed'} (≤ {goal:g}{unit})"


def absent(module: str) -> bool:
    try:
        loaded: ModuleType = import_module(module)
    except Exception:
        return True
    return loaded is None


def versions() -> str:
    named = ("numpy", "torch", "jax", "keras", "tinygrad", "mlx", "array-api-strict")
    have = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in metadata.distributions()}
    peers = ", ".join(f"{name} {have[name]}" if name in have else f"{name} absent" for name in named)
    return f"typelattice {tl.__version__}, Python {sys.version.split()[0]}; {peers}\nMedians of {REPEATS} interleaved repeats; ours / theirs."


def table(title: str, rows: Sequence[tuple[str, str, str, str, str]]) -> None:
    head = ("", "against", "ours / theirs", "ratio", "goal")
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(5)]
    print(title)
    for row in (head, *rows):
        print("  " + "  ".join(cell.rjust(w) if i in (2, 3) else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths))).rstrip())
    print(flush=True)


if __name__ == "__main__":
    main()
