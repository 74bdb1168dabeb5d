"""A baseline: a file with the known findings of a package, and the bytes that new ones may cost."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from typelattice.base.disk.read import read_bytes
from typelattice.base.disk.write import write_text
from typelattice.base.errors.error_texts import hint_at_file, quote_short
from typelattice.base.errors.errors import TypelatticeError
from typelattice.programs.calls.steps import SourceLocation, Step
from typelattice.tracing.findings.divergences_from_run import RunDivergence
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.report.formatting import package_path

MAX_BASELINE_BYTES = 1 << 24  # bytes of a baseline that are read
ENTRY_KEYS = ("file", "code", "what")
BUDGET_KEY = "budget"
FILE_HEADER = """\
# Dtypes that are known to widen, or to differ between systems: found by typelattice.
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


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings of a package.

    With a `budget`, new findings fail a run only if all of them take that many bytes more than narrow floats
    would. Without one, every new finding fails.
    """

    entries: tuple[BaselineEntry, ...] = ()
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class FindingCost:
    """The first line of a finding, and how many more bytes its results took than narrow ones.

    `extra_bytes` is None if a budget cannot count it: of a divergence, or of a requested wide dtype.
    """

    line: int
    extra_bytes: int | None = None

    def add(self, other: FindingCost) -> FindingCost:
        """Return the cost of two places, at the first of them."""
        unknown = self.extra_bytes is None or other.extra_bytes is None
        return FindingCost(self.line, None if unknown else (self.extra_bytes or 0) + (other.extra_bytes or 0))


def find_cost_by_entry(findings: Findings, root: Path) -> dict[BaselineEntry, FindingCost]:
    """Return the findings of a run, each with its first line and the cost of all its places."""
    found: dict[BaselineEntry, FindingCost] = {}
    for cause in findings.causes:
        entry, at = entry_of_cause(findings, cause, root), findings.location_of(cause.step)
        if entry is not None and at is not None:
            # 0 bytes: no size is known, or the program requested the dtype
            own = FindingCost(at.line, cause.extra_bytes or None)
            found[entry] = found[entry].add(own) if entry in found else own
    for system, divergences in findings.divergences.items():
        for each in divergences:
            entry, at = entry_of_divergence(findings, system, each, root), findings.location_of(each.steps[0])
            if entry is not None and at is not None:
                found.setdefault(entry, FindingCost(at.line))
    return found


def entry_of_cause(findings: Findings, cause: WideningCause, root: Path) -> BaselineEntry | None:
    """Return the entry of a cause, or None if its step has no source location."""
    return _make_entry(findings, cause.step, f"{cause.narrow_dtype} becomes {cause.wide_dtype}", root)


def entry_of_divergence(
    findings: Findings, system: str, divergence: RunDivergence, root: Path
) -> BaselineEntry | None:
    """Return the entry of a divergence, or None if its step has no source location."""
    what = f"{system} gives {divergence.outcome}, not {divergence.observed}"
    return _make_entry(findings, divergence.steps[0], what, root)


def _make_entry(findings: Findings, step_number: int, what: str, root: Path) -> BaselineEntry | None:
    step = findings.predicted_run.steps[step_number]
    if step.location is None:
        return None
    return BaselineEntry(_common_file_name(step.location, root), step.text, what)


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


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Read a baseline. Raises FileError or BaselineError if it cannot be read."""
    name = os.fspath(path)
    try:
        data = tomllib.loads(read_bytes(path, MAX_BASELINE_BYTES).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise BaselineError(
            f"{name} is no baseline: {e}; write it anew with --write-baseline (pytest: --dtype-...)"
        ) from None
    entries, budget = data.pop("known", []), data.pop(BUDGET_KEY, None)
    if budget is not None and (type(budget) is not int or budget < 0):
        given = quote_short(str(budget))
        raise BaselineError(f"{name}: {BUDGET_KEY} is {given}; give a whole number of bytes")
    if data or not isinstance(entries, list):
        what = quote_short(next(iter(data), "known"))
        raise BaselineError(f"{name}: {what} has no place in a baseline, only [[known]] tables and a budget")
    return Baseline(tuple(_read_entry(name, i, entry) for i, entry in enumerate(entries, 1)), budget)


def open_baseline(path: Path, is_written: bool, write_option: str) -> Baseline:
    """Read a baseline, or return an empty one if it is about to be written for the first time.

    Raises FileError or BaselineError.
    """
    if path.exists():
        return read_baseline(path)
    if is_written:
        return Baseline()
    near = hint_at_file(path.name, sorted(each.name for each in path.parent.glob("*.toml")))
    raise BaselineError(f"no baseline {path}{near}: write it once with {write_option}")


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


def write_baseline(path: str | os.PathLike[str], baseline: Baseline) -> None:
    """Write a baseline. Raises FileError if that fails."""
    entries = (
        "\n[[known]]\n" + "".join(f"{key} = {_quote_text(getattr(each, key))}\n" for key in ENTRY_KEYS)
        for each in sorted(baseline.entries)
    )
    budget = "" if baseline.budget is None else f"\n{BUDGET_KEY} = {baseline.budget}\n"
    write_text(path, FILE_HEADER + budget + "".join(entries))


def _quote_text(text: str) -> str:
    """Return a text as TOML has it."""

    def escape_character(c: str) -> str:
        if c in '"\\':
            return f"\\{c}"
        return c if c.isprintable() else f"\\U{ord(c):08X}" if not 0xD800 <= ord(c) < 0xE000 else "\ufffd"

    return f'"{"".join(map(escape_character, text))}"'
