"""Asks the installed libraries how they treat NumPy's arrays and scalars, and records the answers.

    python tools/foreign_arrays.py              # every library whose system says something of NumPy's
    python tools/foreign_arrays.py torch mlx    # these

Each is asked in a process of its own, and its answers are kept in recorded/recordings/foreign. What cannot be
asked is named at the end, and the exit status is 1 then.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import product
from pathlib import Path
from platform import python_version

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from typelattice.conformance.recording.in_process_library import InProcessLibrary
from typelattice.conformance.recording.library import Library
from typelattice.conformance.recording.load_library import load_library
from typelattice.core.evidence.answer_notation import NOT_ASKED_ANSWER, TAKEN_OVER_ANSWER, Messages
from typelattice.core.evidence.encode_recording import encode_recording, save_recording
from typelattice.core.evidence.recorded_calls import AnswerByOperands
from typelattice.core.evidence.recording import Recording
from typelattice.core.evidence.recording_files import FOREIGN_FOLDER, RECORDINGS_FOLDER
from typelattice.core.operands.operand import FOREIGN_SCALAR_SUFFIX
from typelattice.core.registry.libraries import library_of, recordings
from typelattice.core.system_files.reader import system
from typelattice.core.system_files.system_text import systems

OWNER = "numpy"
NAMES = tuple(name for name in recordings() if name in systems() and OWNER in system(name).foreign)
CHOSEN = re.compile(r"bool|u?int8|int(32|64)|float(16|32|64)")
"""The dtypes that are asked: few, as a foreign array counts by its dtype or by its kind."""

OPERATIONS = ("add", "+", "*", "/", "<", "divide", "maximum")


class Host:
    """A library whose operands may also be foreign arrays or scalars: `float32:numpy`."""

    def __init__(self, library: Library, foreign: Library) -> None:
        self.library, self.foreign = library, foreign
        self.name, self.how = library.name, f"{library.how}; beside {foreign.name}'s arrays and scalars"
        self.versions: Mapping[str, str] = {**library.versions, **foreign.versions}

    def dtypes(self) -> Sequence[str]:
        return self.library.dtypes()

    def make(self, operand: str) -> object:
        """Make an array of the library itself; a foreign one if the string ends with its library's name."""
        of_library, _, mark = operand.rpartition(":")
        if mark == self.foreign.name:
            return self.foreign.make(of_library)
        if mark == self.foreign.name + FOREIGN_SCALAR_SUFFIX:
            return self.foreign.make(f"{of_library}:scalar")
        return self.library.make(operand)

    def read(self, result: object) -> str:
        """Read a result with the library; return TAKEN_OVER_ANSWER if it belongs to the foreign library."""
        owner = library_of(type(result).__module__.partition(".")[0])
        return TAKEN_OVER_ANSWER if owner == self.foreign.name else self.library.read(result)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        known = self.library.operations()
        return {name: known[name] for name in OPERATIONS if name in known}


def record_foreign_arrays(library: Library, foreign: Library) -> Recording:
    """Record what a library makes of foreign arrays and scalars beside its own arrays.

    Each call has one foreign operand and one of the library's own; others are not asked.
    """
    host = Host(library, foreign)
    asker = InProcessLibrary(host)
    own = [d for d in library.dtypes() if CHOSEN.fullmatch(d)]
    marks = (f":{foreign.name}", f":0d:{foreign.name}", f":{foreign.name}{FOREIGN_SCALAR_SUFFIX}")
    foreign_arrays = [d + mark for mark in marks for d in foreign.dtypes() if CHOSEN.fullmatch(d)]
    operands = tuple(filter(asker.has_operand, (*own, *foreign_arrays)))
    messages = Messages()
    found: dict[str, AnswerByOperands] = {}
    for op in host.operations():
        found[op] = dict.fromkeys(product(operands, operands), NOT_ASKED_ANSWER)
        for a, b in found[op]:
            if (a in own) is not (b in own):
                found[op][a, b] = messages.name_answer(*asker.ask(op, (a, b)))
    head = {
        "library": host.name,
        "versions": dict(host.versions),
        "python": python_version(),
        "date": date.today().isoformat(),
        "how": host.how,
        "operands": list(operands),
        "seed": 0,
    }
    return encode_recording(head, messages.texts, found)


def record(name: str) -> None:
    """Writes the recording of one library, asked in this process."""
    asked = load_library(name)
    if Host(asked, load_library(OWNER)).operations():  # some answer of promotion alone
        path = Path(RECORDINGS_FOLDER) / FOREIGN_FOLDER / f"{name}.jsonl"
        save_recording(record_foreign_arrays(asked, load_library(OWNER)), path)


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
