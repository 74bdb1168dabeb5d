"""Our times beside the libraries', measured in one run: medians over interleaved repeats, as ratios. Asserts nothing.

`make bench`. A ratio below 1 says that typelattice is the faster; a goal is a ratio, or a time, not to exceed.
"""
from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module, metadata
from itertools import combinations_with_replacement
from statistics import median
from timeit import Timer
from unittest import mock

import typelattice as tl

REPEATS, SLICE = 31, 2e-3  # rounds; seconds that one timing of one contender takes
PROCESSES = 15
SIZES = ((4, 5), (10, 10), (15, 20), (25, 40), (40, 50))  # products of two chains: 20 to 2000 nodes
JAX_UP_TO = 1000  # nodes; at 2000 its way takes a minute and more
UNITS = {1e9: "ns", 1e3: "ms"}
Row = tuple[str, str, str, str, str]
os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@dataclass(frozen=True, slots=True)
class Peer:
    """A library: how it is imported, two dtypes and its question about them, two arrays and its question about those.

    `goal`: the ratio not to exceed, of dtypes and of arrays. NumPy answers in C, and its promote_types is the measure.
    """

    module: str
    setup: str
    dtypes: str
    ask_dtypes: str
    arrays: str
    ask: str
    system: str
    goal: tuple[float, float]


PEERS = (
    Peer("numpy", "import numpy as np", "np.dtype('i4'), np.dtype('f4')", "np.promote_types",
         "np.ones(3, 'i4'), np.ones(3, 'f4')", "np.result_type", "numpy", (1.1, 1.5)),
    Peer("torch", "import torch", "torch.int32, torch.float32", "torch.promote_types",
         "torch.ones(3, dtype=torch.int32), torch.ones(3)", "torch.result_type", "torch", (1, 1.5)),
    Peer("mlx.core", "import mlx.core as mx", "mx.int32, mx.float32", "mx.result_type",
         "mx.ones(3, mx.int32), mx.ones(3)", "mx.result_type", "mlx", (1, 1.5)),
    Peer("jax", "import jax.numpy as jnp", "jnp.dtype('int32'), jnp.dtype('float32')", "jnp.promote_types",
         "jnp.ones(3, 'int32'), jnp.ones(3, 'float32')", "jnp.result_type", "jax-x32", (0.1, 1)),
    Peer("tinygrad", "from tinygrad.dtype import dtypes, least_upper_dtype", "dtypes.int32, dtypes.float32",
         "least_upper_dtype", "", "", "tinygrad", (1.1, 1)),
    Peer("keras", "import keras", "'int32', 'float32'", "keras.backend.result_type", "", "", "keras", (1, 1)),
    Peer("array_api_strict", "import array_api_strict as xp", "xp.float32, xp.float64", "xp.result_type",
         "xp.ones(3, dtype=xp.float32), xp.ones(3)", "xp.result_type", "array-api", (1, 1)),
)  # fmt: skip


def main() -> None:
    print(versions(), end="\n\n")
    promotions()
    namespaces()
    orders()
    processes()


def promotions() -> None:
    """A call: ours as `system.result_type(a, b)`, theirs as their users write it; bound: the bare function."""
    ours = {"system": tl.system("jax"), "a": tl.dtype("int32"), "b": tl.dtype("float32")}
    rows = []
    for peer in PEERS:
        call, setup = f"{peer.ask_dtypes}(x, y)", f"{peer.setup}; x, y = {peer.dtypes}"
        rows.append(contest("two dtypes", peer, "system.result_type(a, b)", call, setup, ours))
        bound = f"{setup}; f, g = system.result_type, {peer.ask_dtypes}"
        rows.append(contest("two dtypes, bound", peer, "f(a, b)", "g(x, y)", bound, ours))
    for what, b in (("two arrays", "y"), ("array and number", "2.5")):
        for peer in PEERS:
            if peer.system in tl.systems() and peer.ask and (peer.module, b) != ("mlx.core", "2.5"):  # it takes no numbers
                setup, system = f"{peer.setup}; x, y = {peer.arrays}", {"system": tl.system(peer.system)}
                rows.append(contest(what, peer, f"system.result_type(x, {b})", f"{peer.ask}(x, {b})", setup, system))
    table("Promotion, a call", rows)


def namespaces() -> None:
    """`x + y` under JAX's rules on NumPy, int32 and float32: of one element, and of ten million."""
    if absent("numpy") or absent("array_api_compat"):
        return
    import numpy as np

    xp = tl.namespace("jax", np)
    a, b = np.ones(1, "int32"), np.ones(1, "float32")
    ours = Timer("x + y", globals={"x": xp.asarray(a), "y": xp.asarray(b)})
    rows = []
    peers = {
        "numpy": "x, y = a, b", "jax": "import jax.numpy as jnp; x, y = jnp.asarray(a), jnp.asarray(b)",
        "array_api_strict": "import array_api_strict as s; x, y = s.ones(1, dtype=s.float32), s.ones(1)",
        "torch": "import array_api_compat.torch as s; x, y = s.ones(1, dtype=s.int32), s.ones(1)",
    }  # fmt: skip
    for module, setup in peers.items():
        if not absent(module):
            space: dict[str, object] = {"a": a, "b": b}
            exec(setup, space)
            asked = "s.add(x, y)" if module == "torch" else "x + y"  # array-api-compat wraps functions, not tensors
            mine, theirs = side_by_side([ours, Timer(asked, globals=space)])
            goal = 1 + 1.2e-6 / theirs if module == "numpy" else 1.0
            rows.append(compared("one element", f"{module}: {asked}", mine, theirs, round(goal, 2), 1e9))
    many = np.ones(10_000_000, "int32"), np.ones(10_000_000, "float32")
    x, y = map(xp.asarray, many)
    pairs = [(clock(lambda: x + y, 1), clock(lambda: many[0] + many[1], 1)) for _ in range(15)]
    mine, theirs = (median(column) for column in zip(*pairs, strict=True))
    rows.append(compared("10 million", "numpy: x + y", mine, theirs, 0.5, 1e3))
    tracemalloc.start()
    result = x + y
    peak = tracemalloc.get_traced_memory()[1] / result.bare.nbytes
    tracemalloc.stop()
    rows.append(("10 million", "peak memory over the result's", f"{peak:.2f}", "", verdict(round(peak, 2), 1, "")))
    table("Arrays under JAX's rules on NumPy: int32 + float32", rows)


def contest(what: str, peer: Peer, ours: str, theirs: str, setup: str, names: Mapping[str, object]) -> Row:
    """Two expressions over the same names, timed side by side."""
    if absent(peer.module):
        return what, peer.ask_dtypes, f"absent: no {peer.module}", "", ""
    space: dict[str, object] = dict(names)
    exec(setup, space)
    asked = theirs.partition("(")[0] if "g(" not in theirs else peer.ask_dtypes
    try:
        a, b = side_by_side([Timer(ours, globals=space), Timer(theirs, globals=space)])
    except (TypeError, ValueError) as e:
        return what, asked, f"failed: {str(e).splitlines()[0][:40]}", "", ""
    return compared(what, asked, a, b, peer.goal["dtypes" not in what], 1e9)


def side_by_side(timers: Sequence[Timer]) -> list[float]:
    """Median seconds a call of each, every round timing all of them in turn."""
    counts = []
    for timer in timers:
        timer.timeit(100)
        counts.append(max(1, int(SLICE / max(timer.timeit(100) / 100, 1e-9))))
    rounds = [[timer.timeit(n) / n for timer, n in zip(timers, counts, strict=True)] for _ in range(REPEATS)]
    return [median(column) for column in zip(*rounds, strict=True)]


def orders() -> None:
    """Closure and the joins of all pairs, in lattices of any size wanted."""
    rows = []
    for height, width in SIZES:
        covers = grid(height, width)
        n, a = len(covers), clock(partial(every_join, covers), 3)
        if absent("jax") or n > JAX_UP_TO:
            why = "absent: no jax" if absent("jax") else "not run: a minute and more"
            rows.append((f"{n} nodes", "JAX's builder", f"{a * 1e3:,.1f} ms / {why}", "", ""))
        else:
            b = clock(partial(jax_way, covers), 3 if n <= 300 else 1)
            rows.append(compared(f"{n} nodes", "JAX's builder", a, b, 0.1 if n >= 100 else 0.5, 1e3))
    table("Orders: closure and all pairs. JAX's own private functions are given the same order", rows)


def grid(height: int, width: int) -> dict[str, list[str]]:
    """The covers of a product of two chains."""
    inside = {(i, j): f"{i}.{j}" for i in range(height) for j in range(width)}
    return {name: [inside[k] for k in ((i + 1, j), (i, j + 1)) if k in inside] for (i, j), name in inside.items()}


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


def clock(run: Callable[[], None], repeats: int) -> float:
    """Median seconds of a run."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return median(times)


def processes() -> None:
    """Whole processes, their time over that of a bare Python."""
    ours, cold = "import typelattice", "typelattice explain int64 float16"
    modules = [m for m in ("numpy", "ml_dtypes", "array_api_strict", "tinygrad", "jax") if not absent(m)]
    commands = {
        "": ["-c", "pass"],
        ours: ["-c", ours],
        cold: ["-m", *cold.split()],
        **{f"import {m}": ["-c", f"import {m}"] for m in modules},
    }
    rounds = [{name: spawn(command) for name, command in commands.items()} for _ in range(PROCESSES)]
    over = {name: median(r[name] - r[""] for r in rounds) for name in commands if name}
    rows = [("import", "over bare Python", f"{over[ours] * 1e3:.0f} ms", "", verdict(over[ours] * 1e3, 40, " ms"))]
    rows += [compared("import", name, over[ours], b, 1, 1e3) for name, b in over.items() if name not in (ours, cold)]
    rows.append(("cold", "explain, all systems", f"{over[cold] * 1e3:.0f} ms", "", verdict(over[cold] * 1e3, 200, " ms")))
    table("Processes, over a bare Python", rows)


def spawn(command: Sequence[str]) -> float:
    start = time.perf_counter()
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}  # a user has the bytecode
    subprocess.run([sys.executable, *command], capture_output=True, check=True, env=env)
    return time.perf_counter() - start


def compared(what: str, against: str, ours: float, theirs: float, goal: float, scale: float) -> Row:
    ratio = ours / theirs
    form = f"{{:,.{0 if scale > 1e3 else 1}f}}".format
    return what, against, f"{form(ours * scale)} / {form(theirs * scale)} {UNITS[scale]}", f"{ratio:.2f}", verdict(ratio, goal)


def verdict(x: float, goal: float, unit: str = "") -> str:
    return f"{'met' if x <= goal else 'missed'} (≤ {goal:g}{unit})"


@cache
def absent(module: str) -> bool:
    try:
        import_module(module)
    except Exception:  # a framework may fail to import in ways of its own
        return True
    return False


def versions() -> str:
    named = ("numpy", "torch", "jax", "keras", "tinygrad", "mlx", "array-api-strict")
    have = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in metadata.distributions()}
    peers = "\n".join(f"  {name} {have.get(name, 'absent')}" for name in named)
    machine = f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    ours = f"typelattice {tl.__version__}, {machine}"
    return f"{ours}\n{peers}\nMedians of {REPEATS} interleaved repeats, ours / theirs."


def table(title: str, rows: Sequence[Row]) -> None:
    head = ("", "against", "ours / theirs", "ratio", "goal")
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(5)]
    print(title)
    for row in (head, *rows):
        cells = [cell.rjust(w) if i in (2, 3) else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        print(f"  {'  '.join(cells)}".rstrip())
    print(flush=True)


if __name__ == "__main__":
    main()
