"""Writes core/operations/missing_operations.txt: the operations that each library does not have.

PYTHONPATH=src .venv-live/bin/python tools/absent.py dask mlx  # looks in the installed libraries
PYTHONPATH=src .venv-live/bin/python tools/absent.py           # in all that the environment has
.venv/bin/python tools/absent.py --releases                    # older ones, by what their recordings lack
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from typelattice.conformance.recording.find_missing_operations import list_absent_operations
from typelattice.conformance.recording.library import MissingLibraryError
from typelattice.conformance.recording.library_process import LibraryProcess
from typelattice.conformance.recording.load_library import load_library
from typelattice.core.evidence.recording_files import open_recording
from typelattice.core.operations.missing_operations import (
    MISSING_OPERATIONS_TABLE_PATH,
    find_missing_operations,
)
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.registry.libraries import recordings
from typelattice.core.registry.releases import VERSION_SIGN
from typelattice.core.system_files.system_text import systems

HEAD = """\
# Operations that libraries do not have, a row each: the operation, and the systems whose libraries lack it.
# tools/absent.py looks them up; `conform --live` looks again. A name that a library has for something else
# does not count here: the system's file says so, with kernels = "none".
"""


def looked_up(names: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """What each library of these recordings lacks; without those that are not installed here."""
    found = {}
    for name in names:
        try:
            with LibraryProcess(partial(load_library, name)) as asked:
                if asked.catalogue.absent_operations is not None:
                    found[name] = frozenset(asked.catalogue.absent_operations)
        except MissingLibraryError:
            print(f"{name}: not here", file=sys.stderr)
    return found


def of_releases(known: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """What older releases lack: as the newest, and what their recordings say; less what these were asked."""
    found = {}
    for name in recordings():
        plain, sign, _ = name.partition(VERSION_SIGN)
        page = open_recording(name) if sign else None
        if page and plain in known:
            lacks, _ = page.missing_in_release
            asked = {op for op in page.operations if op not in lacks and any(page.answers_of(op))}
            found[name] = frozenset(list_absent_operations(({*OPERATIONS} - known[plain] - lacks) | asked))
    return found


def write(known: Mapping[str, frozenset[str]]) -> None:
    """Write the table, in the order of the table of operations."""
    lines, stated = [HEAD], [name for name in recordings() if name in systems(versions=True)]
    for op in OPERATIONS:
        if lacking := [name for name in stated if op in known.get(name, ())]:
            lines.append(f"{op:20} {' '.join(lacking)}\n")
    Path(MISSING_OPERATIONS_TABLE_PATH).write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    known = {name: find_missing_operations(name) for name in recordings()}
    asked = sys.argv[1:]
    write(known | (of_releases(known) if asked == ["--releases"] else looked_up(asked or recordings())))
