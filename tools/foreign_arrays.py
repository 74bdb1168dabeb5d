"""Asks the installed libraries how they treat NumPy's arrays and scalars, and records the answers.

    python tools/foreign_arrays.py              # every library whose system says something of NumPy's
    python tools/foreign_arrays.py torch mlx    # these

Each is asked in a process of its own, and its answers are kept in recorded/recordings/foreign. What cannot be
asked is named at the end, and the exit status is 1 then.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from typelattice.conformance.foreign_array_recordings import Host, record_foreign_arrays
from typelattice.conformance.registry import library
from typelattice.facts.libraries import recordings
from typelattice.files.reader import system
from typelattice.files.text import systems
from typelattice.recorded.recording_files import FOREIGN, RECORDINGS, save_recording

OWNER = "numpy"
NAMES = tuple(name for name in recordings() if name in systems() and OWNER in system(name).foreign)


def record(name: str) -> None:
    """Writes the recording of one library, asked in this process."""
    asked = library(name)
    if Host(asked, library(OWNER)).operations():  # some answer of promotion alone
        path = Path(RECORDINGS) / FOREIGN / f"{name}.jsonl"
        save_recording(record_foreign_arrays(asked, library(OWNER)), path)


def main(names: tuple[str, ...]) -> int:
    """Asks each library in a process of its own; 1 if one cannot be asked."""
    failed = [n for n in names if subprocess.run([sys.executable, __file__, "--here", n]).returncode]
    for name in failed:
        print(f"{name} was not asked", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        record(sys.argv[2])
    else:
        sys.exit(main(tuple(sys.argv[1:]) or NAMES))
