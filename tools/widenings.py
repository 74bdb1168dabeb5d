"""Plants a widening in random float32 programs, fixes each program, and counts what came of it.

    python tools/widenings.py                  # 500 programs
    python tools/widenings.py --seeds 17 40    # those of two seeds, each shown with its patch

A program is right if its patch keeps float32 input narrow, and changes nothing for any other caller: each
dtype, lists, tuples, numbers, arrays without dimensions, and empty ones give the same dtypes and values, or
the same exception. Other functions and constants of the file stay as they are, no other line changes by a
byte, and a second search finds nothing to do. A program without a patch is counted apart.
"""

from __future__ import annotations

import argparse
import copy
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import typelattice as tl
from typelattice.base.errors.errors import TypelatticeError
from typelattice.repair.patch.patch import Patch

N = 8  # the length of the input
MAX_NOT_FOUND_SHARE = 0.05  # of the programs, above which the tool fails
CONSTANTS = """
WINDOW = np.hanning({n})  # ünïcode stays
TABLE = {{'low': np.linspace(0.5, 1, {n}),   "high": 2}}
GAIN=np.float64(1.5)
OFFSETS = np.array([.1, .2]*({n}//2))
MEAN = np.array( 0.48 )


class Settings:
    weights = np.full({n}, 0.25)


def as_array(a, dtype=np.float64):
    return np.asarray( a, dtype )


def ramp(n):
    return np.linspace(0, 1, n)


def scaled(a, by):
    "Odd   spaces stay."
    return (a
            * by)
"""
WIDENINGS = (  # each gives y, which is wide, from x and k
    "y = x * np.linspace(0, 1, {n})",
    "w = np.linspace(0, 1, {n})\ny = x * w",
    "y = x + np.ones({n})",
    "y = x @ np.eye({n})",
    "y = x / np.arange(1, {n} + 1)",
    "y = x * np.float64(2)",
    "y = x * np.float64(k)",
    "y = np.multiply(x, GAIN)",
    "y = x * WINDOW",
    "y = x - TABLE['low']",
    "y = x * Settings.weights",
    "y = x * Settings().weights + 1",
    "y = x - [0.5] * {n}",
    "y = as_array(x)",
    "y = as_array(x, dtype=np.float64)",
    "y = x + ramp({n})",
    "y = scaled(x, ramp(x.shape[0]))",
    "y = scaled(x, by=np.float64(0.5))",
    "y = x.astype(float) + 1",
    "y = x.astype(np.float64)",
    'y = x.astype("float64") * 2',
    "y = np.array(x, dtype=np.double)",
    "buf = np.zeros({n})\nbuf[:] = x\ny = buf + 1",
    "buf = np.empty(({n},))\nfor i in range({n}):\n    buf[i] = x[i]\ny = buf",
    "y = np.concatenate([x, np.zeros(2)])[:{n}]",
    "y = np.hstack((x, np.full(2, 0.5)))[:{n}]",
    "y = np.stack([x, np.ones({n})]).sum(axis=0)",
    "y = np.where(x > 0, x, np.full({n}, 0.5))",
    "y = x - np.mean(x, dtype=np.float64)",
    "y = np.cumsum(x, dtype=float)",
    "y = x * np.random.default_rng(0).normal(size={n})",
    "y = np.outer(x, np.ones({n})).sum(axis=1)",
    "y = x + np.array([0.1] * {n})",
    "y = np.array([float(v) for v in x]) + x",
    "y = (lambda a: a * np.linspace(1, 2, {n}))(x)",
    "y = sum([x * w for w in (np.float64(1), np.float64(2))])",
    "y = x if k < 0 else x * np.linspace(\n        0, 1, {n},\n    )",
    "y = np.maximum(x, np.zeros_like(x, dtype=np.float64))",
    "y = x * np.linspace(0, 1, {n})[::-1] ; z = 1",
    "y = x * np.hanning({n})",
    "y = x * OFFSETS[::-1]",
    "y = (x - MEAN) / GAIN",
    "y = x * np.interp(np.arange({n}), [0, {n}], [0, 1])",
    "acc = np.zeros({n})\nfor i in range(3):\n    acc += x\ny = x - acc / 3",
    "acc = np.zeros({n})\nfor i in range(3):\n    acc = acc + x * i\ny = acc",
    "total = np.float64(0)\nfor v in x:\n    total = total + v\ny = x - total",
    "m = np.zeros_like(x, dtype=float)\nm += x\ny = m * 2",
    "out = np.zeros(len(x))\nfor i in range(len(x)):\n    out[i] = x[:i + 1].mean()\ny = out + x",
    "pos = np.arange({n})\nangle = pos * 0.1\ny = x * np.cos(angle)",
    "y = np.full_like(x, 0.5, dtype=np.float64) * x",
    "w = np.array([0.1, 0.2] * ({n} // 2))\ny = x @ np.diag(w)",
    "y = np.asarray([0.5] * {n}) + x",
    "a, b = np.ones({n}), np.zeros({n})\ny = a * x + b",
    "y = np.zeros({n})\ny[:] = np.sqrt(np.abs(x))",
    "grid = np.linspace(-1, 1, {n})\nw = np.exp(-grid ** 2)\ny = np.convolve(x, w, mode='same')",
    "y = np.where(np.asarray(x) > 0, x, MEAN)",
    "y = np.dot(np.eye({n}), x)",
)
NARROW = (  # each keeps x as narrow as it was
    "x = np.sqrt(np.abs(x)) + 0.5",
    "x = x[::-1] - x.mean()",
    "x = np.where(x > 0, x, 0.1)",
    "x = (x   *  2)  # spaces stay",
    "x = np.clip(x, 0, 10) ;  x = x + 1",
    "x = np.roll(x, k) / np.max(x)",
    "x = scaled(x, 0.5)",
    "x = np.outer(x, x).mean(axis=0)",
    "for i in range(2):\n    x = x + i",
    "if k > 100:\n    x = x * 2",
    "x = np.sort(x).reshape(2, -1).ravel()",
    "x = x - np.min(x, axis=0, keepdims=True)",
    "x = np.concatenate([x[4:], x[:4]])",
    "x = np.exp(-x) ** 2",
)
KEPT_TEST_PATTERN = re.compile(r"\w+ = getattr\(x, .dtype., None\) == np\.float32")
LINE_ENDS = ("\n", "\r\n")
MARKS = (b"", b"\xef\xbb\xbf")


class PlantedError(Exception):
    """A fact of a patch that does not hold."""


class UnfixedError(Exception):
    """A program for which no patch was found."""


def program(seed: int) -> tuple[bytes, str]:
    """Write a random program, a function `work(x, k)` among others; return it and the planted lines."""
    dice = random.Random(seed)
    widening = WIDENINGS[seed % len(WIDENINGS)].format(n=N)
    before = dice.choices(NARROW, k=dice.randint(0, 3))
    body = "\n".join([*before, widening, *dice.choices(NARROW, k=dice.randint(0, 2))])
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    helper = dice.choice(["", "\n\ndef untouched( a , b = 2 ):\n    return a*b # as it was\n"])
    end = dice.choice(["\n", ""])
    result = dice.choice(["y + x", "y, x", "{'y': y, 'x': x}", "y * 2"])
    work = f"def work(x, k=3):\n{lines}\n    return {result}{end}"
    text = f"import numpy as np\n{CONSTANTS.format(n=N)}{helper}\n\n{work}"
    return dice.choice(MARKS) + text.replace("\n", dice.choice(LINE_ENDS)).encode(), widening


def arrays(x: Any) -> list[Any]:
    """List the arrays of a result."""
    if isinstance(x, dict):
        return [*x.values()]
    return [*x] if isinstance(x, tuple) else [x]


def called(name: str, x: Any) -> list[Any]:
    """Import a program anew, and return the arrays that its function gives."""
    sys.modules.pop(name, None)
    return arrays(import_module(name).work(x))


def _kinds() -> Iterator[tuple[str, Any]]:
    """Yield each kind of argument that is no float32 array, with an argument."""
    odd = np.linspace(1, 2, N, dtype=np.float64) / 3 + 0.7
    counts = np.arange(1, N + 1) * 9
    for code in "?bhilqBHILQ":
        yield np.dtype(code).name, counts.astype(code)
    for code in "edgFDG":
        yield np.dtype(code).name, odd.astype(code)
    yield "wide numbers", odd * 1e5
    yield "negative", -counts
    yield "object", odd.astype(object)
    yield "list of floats", odd.tolist()
    yield "list of integers", counts.tolist()
    yield "tuple", tuple(odd.tolist())
    yield "nested list", [odd.tolist(), counts.tolist()]
    yield from (("float", 2.5), ("int", 7), ("bool", True), ("complex", 2 + 1j))
    yield from (("0-d", np.array(2.5)), ("float64 scalar", np.float64(1 / 3)), ("int64 scalar", np.int64(7)))
    yield from (("empty", np.zeros(0)), ("empty float32", np.zeros(0, np.float32)), ("empty list", []))
    yield "float32 scalar", np.float32(1.1)
    yield "2-d", np.outer(odd, odd)
    yield "2-d integers", np.outer(counts, counts)
    yield "one element", odd[:1]
    yield "nothing", None


def _outcome(function: Callable[..., Any], *args: Any) -> list[Any]:
    """Call a function with a copy of its arguments. List what it gives and what it leaves of them."""
    args = copy.deepcopy(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings(
            "error", message="Casting complex values"
        )  # a caller with complex numbers is warned
        try:
            return [*arrays(function(*args)), *args]
        except Exception as e:
            return [e]


def _builtin_class(x: Any) -> type:
    """Return the class of Python that an exception belongs to: NumPy has many for a TypeError."""
    return next(cls for cls in type(x).__mro__ if cls.__module__ == "builtins")


def _difference(old: list[Any], new: list[Any], is_narrow: bool) -> str:
    """Say how two outcomes differ. With `is_narrow`, floats may be narrower."""
    if isinstance(old[0], Exception):
        if isinstance(old[0], np.exceptions.ComplexWarning):
            return ""  # the unpatched program loses the imaginary part
        same = _builtin_class(old[0]) is _builtin_class(new[0])
        return "" if same else f"gives {new[0]!r} instead of {old[0]!r}"
    if isinstance(new[0], Exception):
        return f"raises {new[0]!r}"
    for a, b in zip(old, new, strict=True):
        if not isinstance(b, type(a)) and not (is_narrow and isinstance(b, np.generic)):
            return f"gives a {type(b).__name__} instead of a {type(a).__name__}"
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape:
            return f"gives the shape {b.shape} instead of {a.shape}"
        if a.dtype != b.dtype and not (is_narrow and a.dtype.kind == b.dtype.kind and a.dtype.kind in "fc"):
            return f"gives {b.dtype} instead of {a.dtype}"
        if a.dtype.kind in "fc":
            error = 200 * np.finfo(b.dtype).eps if is_narrow else 1e-13
            largest = np.max(np.abs(a[np.isfinite(a)]), initial=0)
            close = np.isclose(a, b, rtol=0, atol=float(largest) * error, equal_nan=True)
            if not close.all():
                return f"gives {b[~close].ravel()[0]} instead of {a[~close].ravel()[0]}"
        elif not np.array_equal(a, b):
            return f"gives {b} instead of {a}"
    return ""


def _call_all(module: Any) -> dict[str, tuple[list[Any], bool]]:
    """Map calls of a program's functions to their outcomes, each with True if it may be narrow."""
    narrow = np.linspace(1, 2, N, dtype=np.float32)
    found = {"work(float32)": (_outcome(module.work, narrow), True)}
    for kind, x in _kinds():
        is_narrow = getattr(x, "dtype", None) in (np.float16, np.float32, np.complex64)
        found[f"work({kind})"] = (_outcome(module.work, x), is_narrow)
    for k in (2, 2.5, True, np.int64(2), np.float32(2.5)):
        found[f"work(float32, {k!r})"] = (_outcome(module.work, narrow, k), True)
        found[f"work(float64, {k!r})"] = (_outcome(module.work, narrow.astype(float), k), False)
    for x in (narrow, narrow.astype(float), np.arange(N), 3, [1.5] * N):
        found[f"scaled({x!r})"] = (_outcome(module.scaled, x, np.linspace(0, 1, N)), False)
        found[f"as_array({x!r})"] = (_outcome(module.as_array, x), False)
    found["ramp"] = (_outcome(module.ramp, N), False)
    constants = (module.WINDOW, module.TABLE["low"], module.GAIN, module.OFFSETS, module.MEAN)
    found["a constant"] = ([*constants, module.Settings.weights], False)
    return found


def check(seed: int, folder: Path) -> Patch:
    """Fix the program of a seed in a folder. Raises PlantedError if something is not as it should be."""
    name = f"planted_{seed}"
    path = folder / f"{name}.py"
    content, _ = program(seed)
    path.write_bytes(content)
    narrow = np.linspace(1, 2, N, dtype=np.float32)
    if all(x.dtype == np.float32 for x in called(name, narrow)):
        raise PlantedError("the program is narrow as it is")
    expected = _call_all(sys.modules[name])
    patch = tl.fix(sys.modules[name].work, narrow)
    if patch.unfixed_causes or not patch.kept_changes:
        raise UnfixedError(f"not fixed: {'; '.join(map(str, patch.unfixed_causes)) or patch}")
    if patch.refusal:
        raise UnfixedError(f"not to be written: {patch.refusal}")
    patch.write()
    if found := [str(x.dtype) for x in called(name, narrow) if x.dtype != np.float32]:
        raise PlantedError(f"with float32 it gives {found[0]}")
    for call, (outcome, _) in _call_all(sys.modules[name]).items():
        if difference := _difference(expected[call][0], outcome, expected[call][1]):
            raise PlantedError(f"{call} {difference}")
    check_lines(content, path.read_bytes(), patch)
    again = tl.fix(sys.modules[name].work, narrow)
    if again.kept_changes or again.unfixed_causes:
        raise PlantedError(f"a second search finds something to do: {again}")
    return patch


def check_lines(before: bytes, after: bytes, patch: Patch) -> None:
    """Compare all lines but those that the patch names, byte by byte.

    It may insert lines that keep whether an argument is narrow.
    """
    named = {each.after for each in patch.kept_changes}
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for _, i, j, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        added = [line.decode().strip() for line in new[start:end] if line not in old[i:j]]
        if any(line not in named and KEPT_TEST_PATTERN.fullmatch(line) is None for line in added):
            raise PlantedError(f"line {start + 1} changed, which the patch does not name")
        if end - start < j - i:
            raise PlantedError(f"line {i + 1} is gone")


def outcomes(seeds: Sequence[int]) -> Iterator[tuple[int, str, str, float]]:
    """Check the programs of some seeds: yield each seed, its mistake or "", the diff, and the seconds."""
    with TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        sys.dont_write_bytecode = True
        try:
            for seed in seeds:
                started = time.monotonic()
                wrong = diff = ""
                try:
                    diff = check(seed, Path(folder)).diff
                except (PlantedError, UnfixedError, TypelatticeError) as e:
                    wrong = f"{type(e).__name__}: {e}"
                yield seed, wrong, diff, time.monotonic() - started
        finally:
            sys.path.remove(folder)


def main() -> None:
    """Fix the programs one by one; print those that are wrong, and the count.

    End with 1 if one is wrong, or if too many have no patch.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=500, help="the number of seeds from 0 on")
    parser.add_argument("--seeds", type=int, nargs="*", help="some seeds, each shown with its patch")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed, wrong, diff, seconds in outcomes(args.seeds or range(args.programs)):
        counts["not fixed" if wrong.startswith("UnfixedError") else "wrong" if wrong else "right"] += 1
        if wrong or args.seeds:
            planted = program(seed)[1].replace("\n", "; ")
            print(f"{seed}: {seconds:.1f} s  {planted}\n{wrong}\n{diff}", flush=True)
    found = f"{counts['right']} of {counts.total()} patches are right, {counts['not fixed']} are not found"
    print(f"{found}, {counts['wrong']} are wrong")
    sys.exit(1 if counts["wrong"] or counts["not fixed"] > MAX_NOT_FOUND_SHARE * counts.total() else 0)


if __name__ == "__main__":
    main()
