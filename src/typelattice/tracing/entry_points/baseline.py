"""A baseline: a file with the known findings of a package. It may only shrink."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from typelattice.calls.steps import SourceLocation, Step
from typelattice.disk.read import read_bytes
from typelattice.disk.write import write_text
from typelattice.support.error_texts import quote_short
from typelattice.support.errors import TypelatticeError
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.report.formatting import package_path

MAX_BASELINE_BYTES = 1 << 24  # bytes of a baseline that are read
ENTRY_KEYS = ("file", "code", "what")
FILE_HEADER = """\
# Dtypes that are known to widen, or to differ between systems: found by pytest --dtype-trace.
# This file may only shrink:
# a finding that is not here fails the run, and so does an entry that no longer occurs.
"""


class BaselineError(TypelatticeError, ValueError):
    """A baseline that cannot be read."""


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """A finding in a baseline: the file, the source text of the step, and what happens there.

    The file is named from the project's folder or the installed package on. There are no line numbers, so an
    entry stays valid when code is moved.
    """

    file: str
    code: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.code}: {self.what}"


def find_line_by_entry(findings: Findings, root: Path) -> dict[BaselineEntry, int]:
    """Return the findings of a run, each with its first line."""
    predicted_run = findings.predicted_run
    line_by_finding: dict[BaselineEntry, int] = {}

    def add(i: int, what: str) -> None:
        step = predicted_run.steps[i]
        if step.location is not None:
            line_by_finding.setdefault(
                BaselineEntry(_common_file_name(step.location, root), step.text, what), step.location.line
            )

    for cause in findings.causes:
        add(cause.step, f"{cause.narrow_dtype} becomes {cause.wide_dtype}")
    for system, divergences in findings.divergences.items():
        for each in divergences:
            add(each.steps[0], f"{system} gives {each.outcome}, not {each.observed}")
    return line_by_finding


def list_run_codes(steps: Iterable[Step], root: Path) -> set[tuple[str, str]]:
    """Return the file and the source text of each step that ran."""
    return {
        (_common_file_name(step.location, root), step.text) for step in steps if step.location is not None
    }


def _common_file_name(location: SourceLocation, root: Path) -> str:
    """Name a file the same way everywhere: from its installed package or the project's folder on."""
    path = Path(location.file)
    installed = package_path(location.file)
    if installed is not None:
        return installed.as_posix()
    for folder in (root, *map(Path, filter(None, sys.path))):
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return location.file


def source_file(name: str, root: Path) -> Path:
    """Find the file that a baseline names: in the project's folder, or else where Python imports from."""
    folders = (root, *map(Path, filter(None, sys.path)))
    return next((folder / name for folder in folders if (folder / name).is_file()), root / name)


def read_baseline(path: str | os.PathLike[str]) -> tuple[BaselineEntry, ...]:
    """Return the findings of a baseline. Raises FileError or BaselineError if it cannot be read."""
    name = os.fspath(path)
    try:
        data = tomllib.loads(read_bytes(path, MAX_BASELINE_BYTES).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise BaselineError(
            f"{name} is no baseline: {e}; write it anew with --dtype-write-baseline"
        ) from None
    entries = data.pop("known", [])
    if data or not isinstance(entries, list):
        what = quote_short(next(iter(data), "known"))
        raise BaselineError(f"{name}: {what} has no place in a baseline, which is a list of [[known]] tables")
    return tuple(_read_entry(name, i, entry) for i, entry in enumerate(entries, 1))


def _read_entry(name: str, number: int, entry: object) -> BaselineEntry:
    if (
        isinstance(entry, Mapping)
        and {*entry} == {*ENTRY_KEYS}
        and all(isinstance(x, str) for x in entry.values())
    ):
        return BaselineEntry(**entry)
    raise BaselineError(
        f"{name}, entry {number}: it has to have the texts {', '.join(ENTRY_KEYS)}, and nothing else"
    )


def write_baseline(path: str | os.PathLike[str], findings: Iterable[BaselineEntry]) -> None:
    """Write a baseline. Raises FileError if that fails."""
    entries = (
        "\n[[known]]\n" + "".join(f"{key} = {_quote_text(getattr(each, key))}\n" for key in ENTRY_KEYS)
        for each in sorted(findings)
    )
    write_text(path, FILE_HEADER + "".join(entries))


def _quote_text(text: str) -> str:
    """Return a text as TOML has it."""

    def escape_character(c: str) -> str:
        if c in '"\\':
            return f"\\{c}"
        return c if c.isprintable() else f"\\U{ord(c):08X}" if not 0xD800 <= ord(c) < 0xE000 else "\ufffd"

    return f'"{"".join(map(escape_character, text))}"'
