"""What following a program costs: an operation of small arrays, and scikit-learn's estimators as a whole.

Each loop runs with the tracer and without it, in turn, so that what else the machine does cancels.
"""
from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from processes import spawn
from timing import REPEATS, Row, absent, compared, measured

from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder

LOOPS = {  # what is written in the loop
    "an operator": "x + y",
    "with a number": "x * 2.0",
    "in place": "x += y",
    "a chain": "z = z + y",
    "an index": "x[1:]",
    "a scalar": "x[0]",
    "a method": "x.astype(np.float64)",
    "a function": "np.add(x, y)",
    "keywords": "np.sum(x, axis=0, dtype=np.float64)",
    "several arrays": "np.concatenate([x, y])",
    "no array": "k + i",
}
TIMES = 1_000  # rounds of a loop
MAY_COST = 1_000  # ns an operation
COLD, WARM = 3.0, 1.5  # times as long as without the tracer
ESTIMATORS = """
import warnings
import numpy as np
from sklearn import cluster, decomposition, ensemble, linear_model, mixture, neighbors, neural_network
from sklearn import preprocessing, svm, tree
warnings.simplefilter("ignore")
dice = np.random.default_rng(0)
X = dice.random((60, 5)).astype(np.float32)
y = (X[:, 0] > 0.5).astype(int)
for estimator in (
    linear_model.LinearRegression(), linear_model.Ridge(), linear_model.Lasso(), linear_model.Lars(),
    linear_model.BayesianRidge(), linear_model.HuberRegressor(), linear_model.LogisticRegression(),
    neighbors.KNeighborsClassifier(), svm.SVC(), tree.DecisionTreeClassifier(random_state=0),
    ensemble.RandomForestClassifier(5, random_state=0), ensemble.AdaBoostClassifier(random_state=0),
    neural_network.MLPClassifier(max_iter=20, random_state=0), cluster.KMeans(3, random_state=0),
    cluster.DBSCAN(), cluster.MeanShift(), cluster.AffinityPropagation(random_state=0),
    mixture.GaussianMixture(2, random_state=0), decomposition.PCA(2), decomposition.NMF(2, random_state=0),
    decomposition.FastICA(2, random_state=0), preprocessing.StandardScaler(),
    preprocessing.QuantileTransformer(n_quantiles=10, random_state=0), preprocessing.PowerTransformer(),
):
    estimator.fit(X, y)
"""
PROCESSES = 5
PROGRAM_ROUNDS = 3
CHECKED = {  # what is written in loops whose values are checked; `lib` is NumPy or PyTorch
    "operators": ("z = (x - y) * 2.0 / (y + 1.0)", "m = z > x", "total += z", "w = -z[1:] + 1.0"),
    "functions": ("z = lib.sqrt(lib.exp(x) + y)", "w = lib.where(x > y, z, x)", "c = lib.maximum(w, y)"),
    "reductions": ("z = x - x.mean()", "s = x.sum() / lib.sqrt(x.var())", "t = z.max()", "p = x @ y"),
    "integers": ("k = (i1 + i2) * 3", "s = k.sum()", "k -= 1", "f = x / k"),
}
PROGRAMS = {  # whole programs; each widens at one place
    "large arrays": """
import numpy as np

WINDOW = np.hanning(1000)


def smoothed(x):
    y = np.sqrt(np.abs(x)) * WINDOW
    return (y - y.mean()) / y.std()


x = np.linspace(1, 2, 2_000_000, dtype=np.float32).reshape(2000, 1000)
for i in range(40):
    x = x + smoothed(x).astype(np.float32) * 0.001
""",
    "small arrays": """
import numpy as np

WINDOW = np.hanning(8)


def smoothed(x):
    y = np.sqrt(np.abs(x)) * WINDOW
    return (y - y.mean()) / y.std()


x = np.linspace(1, 2, 8, dtype=np.float32)
for i in range(60_000):
    x = x + smoothed(x).astype(np.float32) * 0.001
""",
    "Python numbers": """
import numpy as np


def logistic(r, n):
    x = 0.5
    total = 0.0
    for i in range(n):
        x = r * x * (1 - x)
        if x > 0.7:
            total = total + x * 2
        else:
            total -= x
    return total / n


def scaled(x):
    return x * np.linspace(0, 1, len(x))


y = scaled(np.ones(4, np.float32)) * logistic(3.7, 10_000_000)
""",
}
FIX_TIMES = 10.0  # times as long as the program that is patched
SIZES = 100, 1_000_000
CHECKS = 5.0  # times as long as followed without checks


def tracing() -> list[Row]:
    if absent("numpy"):
        return [Row("an operation", "numpy", "absent: no numpy")]
    return [*operations(), *checks("numpy"), *checks("torch"), *estimators()]


def operations() -> list[Row]:
    """Each loop, as it is and followed: what the tracer adds to a round, in ns and in NumPy's additions."""
    import numpy as np

    lines = ["import numpy as np", "k = 3", "def empty(x, y, n):", "    for i in range(n): pass"]
    for i, what in enumerate(LOOPS.values()):
        lines += [f"def loop{i}(x, y, n):", "    z = x", "    for i in range(n):", f"        {what}"]
    text = "\n".join(lines)
    plain: dict[str, Any] = {}
    followed: dict[str, Any] = {}
    exec(text, plain)
    code = ModuleCompiler(Recorder()).compile_module("loops", "loops.py", text.encode())
    assert code is not None
    exec(code, followed)
    names = ["empty", *(f"loop{i}" for i in range(len(LOOPS)))]

    def once(scope: Mapping[str, Callable[..., object]], name: str) -> float:
        x, y = np.ones(3, np.float32), np.full(3, 0.5, np.float32)
        start = time.process_time()
        scope[name](x, y, TIMES)
        return (time.process_time() - start) / TIMES

    rounds = [{name: (once(plain, name), once(followed, name)) for name in names} for _ in range(2 * REPEATS)]
    # the shortest time is that of a round in which nothing else ran; the others measure the machine
    best = {name: tuple(min(r[name][which] for r in rounds) for which in (0, 1)) for name in names}
    addition = best["loop0"][0] - best["empty"][0]
    rows = []
    for name, (what, line) in zip(names[1:], LOOPS.items(), strict=True):
        added = best[name][1] - best[name][0]
        row = measured(what, line, added * 1e9, MAY_COST, "ns")
        rows.append(replace(row, ratio=f"{added / addition:.1f} adds"))
    return rows


def whole_programs() -> list[Row]:
    """Whole processes: a program alone, traced, traced with checks of its values, and patched."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        for name, text in PROGRAMS.items():
            script.write_text(text, encoding="utf-8")
            ways = {
                "plain": [str(script)],
                "trace": ["-m", "typelattice", "trace", str(script)],
                "trace --values": ["-m", "typelattice", "trace", "--values", str(script)],
                "fix": ["-m", "typelattice", "fix", "--seconds", "600", str(script)],
            }
            rounds = [{way: spawn(words) for way, words in ways.items()} for _ in range(PROGRAM_ROUNDS)]
            took = {way: median(r[way] for r in rounds) for way in ways}
            for way in ("trace", "trace --values"):
                row = compared(way, f"the program alone; {name}", took[way], took["plain"], FIX_TIMES)
                rows.append(replace(row, goal="", met=None))
            rows.append(compared("fix", f"the program alone; {name}", took["fix"], took["plain"], FIX_TIMES))
    return rows


def checks(library: str) -> list[Row]:
    """Loops over small and large arrays, followed with and without checks of their values."""
    if absent(library):
        return [Row("values", library, f"absent: no {library}")]
    lib: Any = import_module(library)
    text = f"import {library} as lib\n"
    for name, lines in CHECKED.items():
        body = "".join(f"        {line}\n" for line in lines)
        text += f"def {name}(x, y, i1, i2, n):\n    total = x * 0\n    for i in range(n):\n{body}"
    scopes: list[dict[str, Any]] = [{}, {}]
    for scope, values in zip(scopes, (True, False), strict=True):
        code = ModuleCompiler(Recorder(values)).compile_module("loops", "loops.py", text.encode())
        assert code is not None
        exec(code, scope)
    rows = []
    for size in SIZES:
        i1 = lib.arange(size, dtype=lib.int32)
        x = lib.ones(size, dtype=lib.float32).cumsum(0) / size
        arrays = [x, x + 0.5, i1, i1 % 7]
        times = max(3, min(TIMES, 3_000_000 // size))

        for name in CHECKED:
            rounds = [[seconds(scope[name], arrays, times) for scope in scopes] for _ in range(PROCESSES)]
            with_checks, without = (median(column) for column in zip(*rounds, strict=True))
            against = f"without checks; {library}, {size:,} numbers"
            rows.append(compared(f"values: {name}", against, with_checks, without, CHECKS))
    return rows


def seconds(loop: Callable[..., object], arrays: list[Any], times: int) -> float:
    """Seconds of the processor that a round of a loop takes."""
    start = time.process_time()
    loop(*arrays, times)
    return (time.process_time() - start) / times


def estimators() -> list[Row]:
    """Whole processes that import scikit-learn and fit its estimators; in one run, by turns."""
    if absent("sklearn"):
        return [Row("estimators", "scikit-learn", "absent: no scikit-learn")]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "estimators.py"
        script.write_text(ESTIMATORS, encoding="utf-8")
        trace = ["-m", "typelattice", "trace", "--package", "sklearn"]
        warm = [*trace, "--cache", f"{folder}/cache", str(script)]
        subprocess.run([sys.executable, *warm], capture_output=True, check=True)
        ways = {"plain": [str(script)], "cold": [*trace, str(script)], "warm": warm}
        rounds = [{name: spawn(words) for name, words in ways.items()} for _ in range(PROCESSES)]
    took = {name: median(r[name] for r in rounds) for name in ways}
    return [
        compared("estimators", "without the tracer; nothing cached", took["cold"], took["plain"], COLD),
        compared("estimators", "without the tracer; with --cache", took["warm"], took["plain"], WARM),
    ]
