"""A session of pytest under the tracer: what its tests computed, against a baseline and their budgets."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from typelattice.disk.read import FileError, read_bytes
from typelattice.programs.program import AnySystem
from typelattice.tracing.baseline import MOST, Finding, codes_run, finding_places
from typelattice.tracing.findings import findings
from typelattice.tracing.report import report
from typelattice.tracing.run import Run
from typelattice.tracing.words import counted


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a session found, as another process can be told of it: findings with the lines where they stand,
    which entries of a baseline ran, whatever came of them, and the report.
    """

    places: dict[Finding, int]
    ran: frozenset[Finding]
    report: tuple[str, ...]

    def data(self) -> dict[str, object]:
        """The same as lists and strings."""
        places = [[f.file, f.code, f.what, line] for f, line in self.places.items()]
        ran = [[f.file, f.code, f.what] for f in self.ran]
        return {"places": places, "ran": ran, "report": list(self.report)}


def from_data(data: dict[str, list[list[str]]]) -> Outcome:
    """An outcome of what another process told."""
    places = {Finding(*each[:3]): int(each[3]) for each in data["places"]}
    return Outcome(places, frozenset(Finding(*each) for each in data["ran"]), tuple(map(str, data["report"])))


def outcome(
    run: Run, systems: Sequence[AnySystem], known: Sequence[Finding], root: Path, width: int
) -> Outcome:
    """What a run found. Raises UnknownSystemError or FormatError for a system."""
    codes = codes_run(run.program.steps, root)
    ran = frozenset(each for each in known if (each.file, each.code) in codes)
    return Outcome(finding_places(findings(run, systems), root), ran, tuple(report(run, systems, width)))


def merged(outcomes: Sequence[Outcome]) -> Outcome:
    """What several processes found, as one; each has a report of its own."""
    places: dict[Finding, int] = {}
    for each in outcomes:
        for finding, line in each.places.items():
            places.setdefault(finding, line)
    ran = frozenset(finding for each in outcomes for finding in each.ran)
    return Outcome(places, ran, outcomes[0].report if len(outcomes) == 1 else _list(places, len(outcomes)))


def _list(places: Mapping[Finding, int], processes: int) -> tuple[str, ...]:
    """Findings in lines, where no report says more."""
    heading = f"{counted(len(places), 'finding')} of {processes} processes; leave out -n for causes and rules"
    return heading, *(f"  {f.file}:{line}: {f.code}: {f.what}" for f, line in sorted(places.items()))


@dataclass(frozen=True, slots=True)
class Verdict:
    """A session against its baseline: what is new, and which entries are stale.

    An entry is stale if its code ran and nothing was found, or if its file holds that code no more.
    """

    new: tuple[tuple[Finding, int], ...]
    stale: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether the session fails."""
        return bool(self.new or self.stale)


def verdict(found: Outcome, known: Sequence[Finding], root: Path) -> Verdict:
    """A session against a baseline."""
    new = tuple((f, line) for f, line in sorted(found.places.items()) if f not in {*known})
    stale = (f for f in known if f not in found.places and (f in found.ran or not _stands(f, root)))
    return Verdict(new, tuple(sorted(stale)))


def _stands(finding: Finding, root: Path) -> bool:
    """Whether the code of a finding stands in its file, however it is spaced; it need not have run."""
    try:
        source = read_bytes(root / finding.file, MOST).decode(errors="replace")
    except FileError:
        return False
    code, tree = _parsed(finding.code), _parsed(source)
    if len(code) != 1 or not tree:  # code that was cut, or that no Python can read
        return "".join(finding.code.rstrip(".").split()) in "".join(source.split())
    wanted = code[0].value if isinstance(code[0], ast.Expr) else code[0]
    text = ast.dump(wanted)
    return any(
        type(node) is type(wanted) and ast.dump(node) == text
        for line in tree
        for node in ast.walk(line)
    )


def _parsed(text: str) -> Sequence[ast.stmt]:
    """The statements of a text; none of one that cannot be read."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def verdict_lines(made: Verdict, baseline: str) -> Iterator[str]:
    """What fails a session, and what to do."""
    if made.new:
        yield f"{counted(len(made.new), 'finding')} not in {baseline}; cast where the report says:"
        for finding, line in made.new:
            yield f"  {finding.file}:{line}: {finding.code}: {finding.what}"
    if made.stale:
        entries = counted(len(made.stale), "entry", "entries")
        yield f"{entries} of {baseline} found no more; remove from the file:"
        for finding in made.stale:
            yield f"  {finding}"
