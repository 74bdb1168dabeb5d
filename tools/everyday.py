"""Counts how often each rule is right for recorded calls with common dtypes.

    python tools/everyday.py             # every recording of a newest release, and all of them together
    python tools/everyday.py numpy@2.4   # these

Of each system it prints how many such calls were recorded, how many of them the rule answers as the library
did, and how many are answered so or are listed as departures, which `explain` tells.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import compare_calls
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recording_files import load_recording, recording_names
from typelattice.core.registry.releases import VERSION_SIGN
from typelattice.core.system_files.system_text import systems

DTYPES = ("bool", "uint8", "int32", "int64", "bfloat16", "float16", "float32", "float64")
SCALARS = ("True", "int", "float", "-1", "1", "1.5")
EVERYDAY = frozenset([*SCALARS, *(dtype + tier for dtype in DTYPES for tier in ("", ":0d"))])


def counts(name: str) -> tuple[int, int, int]:
    """The everyday calls of a recording: all, those the rule gets right, those that are right or told."""
    calls = (call for call in load_recording(name).calls() if EVERYDAY.issuperset(call.operands))
    report = compare_calls(tl.system(name), calls, list_departures(name))
    listed = sum(map(len, report.mismatches_by_departure.values()))
    told = report.compared_count - len(report.mismatches)
    return report.compared_count + report.broken_count, told - listed, told


def row(name: str, calls: int, right: int, told: int) -> str:
    shares = f"{right / calls:>8.2%} by rule  {told / calls:>8.2%} with what is told"
    return f"{name:<22} {calls:>8,} calls  {shares}"


def main(names: list[str]) -> int:
    known = [name for name in recording_names() if name.partition(VERSION_SIGN)[0] in systems()]
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"there is no recording {unknown[0]!r}; there are {', '.join(known)}")
    every = [0, 0, 0]
    for name in names or [name for name in known if VERSION_SIGN not in name]:
        found = counts(name)
        every = [a + b for a, b in zip(every, found, strict=True)]
        if found[0]:
            print(row(name, *found), flush=True)
    print(row("all", *every) if every[0] else "no everyday call was recorded of these")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
