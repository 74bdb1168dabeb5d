"""Our times beside the libraries', measured in one run: medians over interleaved repeats. Asserts nothing.

`make bench`, or `python benchmarks/run.py promotions arrays` for some parts. A ratio below 1 says that
typelattice is the faster; a goal is a ratio, or a figure, not to exceed.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import metadata

from arrays import arrays
from drawings import drawings
from explorer import explorer
from lookups import lookups
from memory import memory
from orders import orders
from processes import large, processes
from programs import programs
from promotions import promotions
from timing import REPEATS, Row, show
from tracing import tracing, whole_programs

import typelattice as tl

PARTS: Mapping[str, tuple[str, Callable[[], list[Row]]]] = {
    "promotions": ("Promotion, a call; bound: the bare functions", promotions),
    "arrays": ("Arrays under JAX's rules on NumPy: int32 + float32", arrays),
    "orders": ("Orders: closure and all pairs. JAX's own private functions are given the same order", orders),
    "drawings": ("Drawings: laid out in layers, and written as SVG", drawings),
    "processes": ("Processes, over a bare Python", processes),
    "large": ("A system of 300 dtypes: whole commands", large),
    "programs": ("Programs: lines of code that become steps, replayed under JAX's rules", programs),
    "whole-programs": ("Whole programs, traced and patched: time of the processor", whole_programs),
    "tracing": ("Programs under the tracer: what it adds to an operation; whole processes", tracing),
    "explorer": ("The page of `typelattice explore`", explorer),
    "lookups": ("Emitted C++: promotion of two dtypes", lookups),
    "memory": ("Memory that operands leave behind", memory),
}
LIBRARIES = ("numpy", "torch", "jax", "keras", "tinygrad", "mlx", "array-api-strict")


def main(asked: list[str]) -> int:
    unknown = [name for name in asked if name not in PARTS]
    if unknown:
        print(f"no part {unknown[0]!r}: the parts are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    os.environ.setdefault("KERAS_BACKEND", "jax")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    print(machine(), end="\n\n")
    goals = []
    for name in asked or PARTS:
        title, measure = PARTS[name]
        rows = measure()
        show(title, rows)
        goals += [row.met for row in rows if row.met is not None]
    print(f"{goals.count(True)} goals hit, {goals.count(False)} missed")
    return 0


def machine() -> str:
    have = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in metadata.distributions()}
    libraries = ", ".join(f"{name} {have.get(name, 'absent')}" for name in LIBRARIES)
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    ours = f"typelattice {tl.__version__}, Python {sys.version.split()[0]}, {load}"
    return f"{ours}\n{libraries}\nMedians of {REPEATS} interleaved repeats."


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
