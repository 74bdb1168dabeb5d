"""Plants a widening in random float32 programs, fixes each program, and counts what came of it.

    python tools/widenings.py                  # 200 programs
    python tools/widenings.py --seeds 17 40    # those of two seeds, each shown with its patch

A program is right if its patch keeps float32 input narrow and float64 input wide, with the values it had,
if no other line changed by a byte, and if a second search finds nothing to do.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import typelattice as tl
from typelattice.fixing.patch import Patch
from typelattice.support.errors import TypelatticeError

N = 8  # the length of the input
CONSTANTS = """
WINDOW = np.hanning({n})  # ünïcode stays
TABLE = {{'low': np.linspace(0.5, 1, {n}),   "high": 2}}
GAIN=np.float64(1.5)


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
LINE_ENDS = ("\n", "\r\n")
MARKS = (b"", b"\xef\xbb\xbf")


class PlantedError(Exception):
    """A fact of a patch that does not hold."""


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


def check(seed: int, folder: Path) -> Patch:
    """Fix the program of a seed in a folder. Raises PlantedError if something is not as it should be."""
    name = f"planted_{seed}"
    path = folder / f"{name}.py"
    content, _ = program(seed)
    path.write_bytes(content)
    narrow = np.linspace(1, 2, N, dtype=np.float32)
    wide = narrow.astype(np.float64)
    if all(x.dtype == np.float32 for x in called(name, narrow)):
        raise PlantedError("the program is narrow as it is")
    expected = called(name, wide)
    patch = tl.fix(sys.modules[name].work, narrow)
    if patch.unfixed_causes or not patch.kept_changes:
        raise PlantedError(f"not fixed: {'; '.join(map(str, patch.unfixed_causes)) or patch}")
    patch.write()
    if found := [str(x.dtype) for x in called(name, narrow) if x.dtype != np.float32]:
        raise PlantedError(f"with float32 it gives {found[0]}")
    for old, new in zip(expected, called(name, wide), strict=True):
        if old.dtype != new.dtype or not np.array_equal(old, new):
            raise PlantedError(f"with float64 it gives other values, of {new.dtype} instead of {old.dtype}")
    check_lines(content, path.read_bytes(), patch)
    again = tl.fix(sys.modules[name].work, narrow)
    if again.kept_changes or again.unfixed_causes:
        raise PlantedError(f"a second search finds something to do: {again}")
    return patch


def check_lines(before: bytes, after: bytes, patch: Patch) -> None:
    """Compare all lines but those that the patch names, byte by byte."""
    named = {each.line for each in patch.kept_changes}
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) != len(new):
        raise PlantedError("the patch changed the number of lines")
    changed = {i for i, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b}
    if not changed <= named:
        raise PlantedError(f"lines {sorted(changed - named)} changed, which the patch does not name")


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
                except (PlantedError, TypelatticeError) as e:
                    wrong = f"{type(e).__name__}: {e}"
                yield seed, wrong, diff, time.monotonic() - started
        finally:
            sys.path.remove(folder)


def main() -> None:
    """Fix the programs one by one; print those that are wrong, and the count. End with 1 if one is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=200, help="the number of seeds from 0 on")
    parser.add_argument("--seeds", type=int, nargs="*", help="some seeds, each shown with its patch")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed, wrong, diff, seconds in outcomes(args.seeds or range(args.programs)):
        counts["wrong" if wrong else "right"] += 1
        if wrong or args.seeds:
            planted = program(seed)[1].replace("\n", "; ")
            print(f"{seed}: {seconds:.1f} s  {planted}\n{wrong}\n{diff}", flush=True)
    print(f"{counts['right']} of {counts.total()} programs are right")
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
