"""Lists the packages and recordings of a virtual environment, for the Makefile and tools/conform.

    python tools/libraries.py packages live    # what pip installs, a line each
    python tools/libraries.py recordings live  # what is asked there, and how many live calls at most
"""
from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # before anything is installed

from typelattice.core.registry.libraries import libraries, recordings
from typelattice.core.system_files.system_text import systems


def packages(environment: str) -> Iterator[str]:
    """What pip installs in an environment, for all the libraries that are asked there."""
    for known in libraries().values():
        yield from known.packages.get(environment, ())


def asked(environment: str) -> Iterator[str]:
    """The recordings of an environment that are of a system; others can be made, and compared by hand."""
    for name, entry in recordings().items():
        if entry.environment == environment and name in systems(versions=True, functions=True):
            yield name if entry.max_calls is None else f"{name} {entry.max_calls}"


ANSWERS = {"packages": packages, "recordings": asked}

if __name__ == "__main__":
    environments = sorted({name for known in libraries().values() for name in known.packages})
    if len(sys.argv) != 3 or sys.argv[1] not in ANSWERS or sys.argv[2] not in environments:
        raise SystemExit(f"say python tools/libraries.py {'|'.join(ANSWERS)} {'|'.join(environments)}")
    print(*ANSWERS[sys.argv[1]](sys.argv[2]), sep="\n")
