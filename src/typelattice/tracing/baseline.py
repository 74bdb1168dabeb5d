"""A baseline: the findings of a package that are known, in a file that may only shrink."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from typelattice.disk.read import read_bytes
from typelattice.disk.write import write_text
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.suggest import short
from typelattice.programs.step import Place, Step
from typelattice.tracing.findings import Findings

MOST = 1 << 24  # bytes of a baseline that are read
KEYS = ("file", "code", "what")
HEAD = """\
# Dtypes that are known to widen or to part, found by pytest --dtype-trace. This file may only shrink:
# a finding that is not here fails the run, and so does an entry that is found no more.
"""


class BaselineError(TypelatticeError, ValueError):
    """A baseline that cannot be read."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A finding as a baseline names it: the file from the project's folder on, the source text of the step,
    and what happens there. There is no line number in it, so that it stays as code is moved.
    """

    file: str
    code: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.code}: {self.what}"


def finding_places(found: Findings, root: Path) -> dict[Finding, int]:
    """The findings of a run, each with the first line at which it was found."""
    ran = found.ran
    told: dict[Finding, int] = {}

    def add(i: int, what: str) -> None:
        step = ran.steps[i]
        if step.place is not None:
            told.setdefault(Finding(_file(step.place, root), step.text, what), step.place.line)

    for cause in found.causes:
        add(cause.at, f"{cause.narrow} becomes {cause.wide}")
    for system, divergences in found.divergences.items():
        for each in divergences:
            add(each.steps[0], f"{system} gives {each.outcome}, not {each.observed}")
    return told


def codes_run(steps: Iterable[Step], root: Path) -> set[tuple[str, str]]:
    """The file and the source text of each step that ran."""
    return {(_file(step.place, root), step.text) for step in steps if step.place is not None}


def _file(place: Place, root: Path) -> str:
    """A file as a baseline names it."""
    path = Path(place.file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else place.file


def read(path: str | os.PathLike[str]) -> tuple[Finding, ...]:
    """The findings of a baseline. Raises FileError, BaselineError."""
    name = os.fspath(path)
    try:
        data = tomllib.loads(read_bytes(path, MOST).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise BaselineError(
            f"{name} is no baseline: {e}; write it anew with --dtype-write-baseline"
        ) from None
    entries = data.pop("known", [])
    if data or not isinstance(entries, list):
        what = short(next(iter(data), "known"))
        raise BaselineError(f"{name}: {what} has no place in a baseline, which is a list of [[known]] tables")
    return tuple(_entry(name, i, entry) for i, entry in enumerate(entries, 1))


def _entry(name: str, number: int, entry: object) -> Finding:
    if isinstance(entry, Mapping) and {*entry} == {*KEYS} and all(isinstance(x, str) for x in entry.values()):
        return Finding(**entry)
    raise BaselineError(
        f"{name}, entry {number}: it has to have the texts {', '.join(KEYS)}, and nothing else"
    )


def write(path: str | os.PathLike[str], findings: Iterable[Finding]) -> None:
    """Writes a baseline. Raises FileError."""
    entries = (
        "\n[[known]]\n" + "".join(f"{key} = {_quoted(getattr(each, key))}\n" for key in KEYS)
        for each in sorted(findings)
    )
    write_text(path, HEAD + "".join(entries))


def _quoted(text: str) -> str:
    """A text as TOML has it."""

    def escaped(c: str) -> str:
        if c in '"\\':
            return f"\\{c}"
        return c if c.isprintable() else f"\\U{ord(c):08X}" if not 0xD800 <= ord(c) < 0xE000 else "\ufffd"

    return f'"{"".join(map(escaped, text))}"'
