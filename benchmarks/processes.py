"""Whole processes: what an import and a first answer cost over a bare Python, and what a large system takes.

Seconds are those of the processor, which other processes disturb less than the clock on the wall.
"""
from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from orders import grid
from timing import Row, absent, compared, measured

PROCESSES = 15
FRAMEWORKS = ("numpy", "ml_dtypes", "array_api_strict", "tinygrad", "jax")
HEIGHT, WIDTH = 15, 20  # 300 dtypes: the products of 15 precisions and 20 ranges
FIRST = {  # what a fresh process asks first -> its code, milliseconds that it may take over a bare Python
    "result_type": ("import typelattice as tl; tl.system('jax').result_type('int8', 'uint8')", 20),
    "printed explain": ("import typelattice as tl; print(tl.system('jax').explain('int8', 'uint8'))", 35),
}
LARGE = {  # command -> seconds that it may take
    "explain n3_4 n5_2 --system": 0.3,
    "table --system": 2,
    "check": 10,
    "laws": 10,
}


def processes() -> list[Row]:
    ours, cold = "import typelattice", "typelattice explain int64 float16"
    commands = {
        "": ["-c", "pass"],
        ours: ["-c", ours],
        cold: ["-m", *cold.split()],
        **{first: ["-c", code] for first, (code, _) in FIRST.items()},
        **{f"import {m}": ["-c", f"import {m}"] for m in FRAMEWORKS if not absent(m)},
    }
    rounds = [{name: spawn(command) for name, command in commands.items()} for _ in range(PROCESSES)]
    over = {name: median(r[name] - r[""] for r in rounds) for name in commands if name}
    own = (ours, cold, *FIRST)
    others = [compared("import", name, over[ours], b, 1) for name, b in over.items() if name not in own]
    return [
        measured("import", "a bare Python", over[ours] * 1e3, 40, "ms"),
        *others,
        *(
            measured("first", f"a bare Python: {name}", over[name] * 1e3, goal, "ms")
            for name, (_, goal) in FIRST.items()
        ),
        measured("cold", "a bare Python: explain, all systems", over[cold] * 1e3, 200, "ms"),
    ]


def large() -> list[Row]:
    """The commands over a file of 300 dtypes, whole: Python's start and the reading of the file included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.toml"
        path.write_text(large_system(), encoding="utf-8")
        rows = []
        for command, seconds in LARGE.items():
            taken = median(spawn(["-m", "typelattice", *command.split(), str(path)]) for _ in range(3))
            rows.append(measured(command.split()[0], "300 dtypes", taken, seconds, "s"))
    return rows


def large_system() -> str:
    """A file whose order is that of values: a dtype lies above another if it is as precise and as wide."""
    covers = grid(HEIGHT, WIDTH)
    order = [f"{below} -> {', '.join(above)}" for below, above in covers.items() if above]
    facts = [
        f'n{i}_{j} = {{ kind = "float", bits = 64, precision = {3 + i}, max = {2.0 ** (10 * (j + 1)):.1f}, '
        f"min_exponent = {-10 * (j + 1)} }}"
        for i in range(HEIGHT)
        for j in range(WIDTH)
    ]
    return "\n".join(['name = "large"', 'order = """', *order, '"""', "[dtypes]", *facts, ""])


def spawn(command: Sequence[str]) -> float:
    """Seconds of the processor that a Python takes with these arguments."""
    env = {**os.environ}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # a user has the bytecode
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], capture_output=True, check=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
