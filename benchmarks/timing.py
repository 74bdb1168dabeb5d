"""Timing side by side: contenders take turns in one process, and medians are compared as ratios."""
from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from statistics import median
from timeit import Timer

REPEATS, SLICE = 31, 2e-3  # rounds; seconds that one timing of one contender takes


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: what was measured, against what, the figures, their ratio, and the goal if any."""

    what: str
    against: str
    figures: str
    ratio: str = ""
    goal: str = ""
    met: bool | None = None


def timer(call: str, names: Mapping[str, object]) -> Timer:
    """Times a call by the processor's time, which other processes disturb less than the clock on the wall."""
    return Timer(call, timer=time.process_time, globals={**names})


def side_by_side(timers: Sequence[Timer]) -> list[float]:
    """Median seconds of the processor a call of each, every round timing all of them in turn."""
    counts = []
    for timer in timers:
        timer.timeit(100)
        counts.append(max(1, int(SLICE / max(timer.timeit(100) / 100, 1e-9))))
    rounds = [[timer.timeit(n) / n for timer, n in zip(timers, counts, strict=True)] for _ in range(REPEATS)]
    return [median(column) for column in zip(*rounds, strict=True)]


def clock(run: Callable[[], object], repeats: int) -> float:
    """Median seconds of a run."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return median(times)


def compared(what: str, against: str, ours: float, theirs: float, goal: float) -> Row:
    """Our seconds beside theirs; the goal is a ratio not to exceed."""
    unit, scale = ("ns", 1e9) if theirs < 1e-4 else ("ms", 1e3)
    digits = 0 if unit == "ns" else 1
    figures = f"{ours * scale:,.{digits}f} / {theirs * scale:,.{digits}f} {unit}"
    met = ours / theirs <= goal
    return Row(what, against, figures, f"{ours / theirs:.2f}", f"≤ {goal:.3g}", met)


def measured(what: str, of: str, figure: float, goal: float, unit: str) -> Row:
    """A figure of ours alone; the goal is one not to exceed."""
    digits = 0 if figure >= 100 or unit == "blocks" else 2 if figure < 10 else 1
    return Row(what, of, f"{figure:,.{digits}f} {unit}", "", f"≤ {goal:,g} {unit}", figure <= goal)


def verdict(row: Row) -> str:
    return row.goal if row.met is None else f"{'hit' if row.met else 'MISSED'} ({row.goal})"


def show(title: str, rows: Sequence[Row]) -> None:
    """Print rows as a table."""
    head = ("", "against", "ours / theirs", "ratio", "goal")
    cells = [head, *((r.what, r.against, r.figures, r.ratio, verdict(r)) for r in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    print(title)
    for line in cells:
        padded = [
            cell.rjust(w) if i in (2, 3) else cell.ljust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        print(f"  {'  '.join(padded)}".rstrip())
    print(flush=True)


@cache
def absent(module: str) -> bool:
    try:
        import_module(module)
    except Exception:  # a framework may fail to import in ways of its own
        return True
    return False
