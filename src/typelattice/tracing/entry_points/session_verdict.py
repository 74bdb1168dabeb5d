"""A session of pytest under the tracer, compared with a baseline and budgets."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from typelattice.base.disk.read import FileError, read_bytes
from typelattice.tracing.entry_points.baseline import (
    MAX_BASELINE_BYTES,
    Baseline,
    BaselineEntry,
    FindingCost,
    find_cost_by_entry,
    list_run_codes,
    source_file,
    write_baseline,
)
from typelattice.tracing.findings.findings import Findings
from typelattice.tracing.report.formatting import count_text
from typelattice.tracing.report.scope_sentences import describe_scope

CUT_MARK = "..."  # marks the cut end of a step's code (Python may parse it as an Ellipsis)


@dataclass(frozen=True, slots=True)
class SessionFindings:
    """The findings of a session, in a form that can be sent to another process.

    - `costs`: the findings, each with its line and its cost.
    - `executed_entries`: the baseline entries with code that ran, with or without a finding.
    - `report`: the lines of the report.
    - `packages_without_modules`: the packages without a followed module.
    - `scope`: sentences on what was looked at, and on what was not.
    """

    costs: dict[BaselineEntry, FindingCost]
    executed_entries: frozenset[BaselineEntry]
    report: tuple[str, ...]
    packages_without_modules: frozenset[str] = frozenset()
    scope: tuple[str, ...] = ()

    def data(self) -> dict[str, object]:
        """Convert the outcome to lists and strings."""
        places = [[f.file, f.code, f.what, at.line, at.extra_bytes] for f, at in self.costs.items()]
        ran = [[f.file, f.code, f.what] for f in self.executed_entries]
        return {
            "places": places,
            "ran": ran,
            "report": list(self.report),
            "unseen": list(self.packages_without_modules),
            "scope": list(self.scope),
        }


def session_findings_from_data(data: dict[str, list[list[Any]]]) -> SessionFindings:
    """Build an outcome from the data of another process."""
    places = {BaselineEntry(*each[:3]): FindingCost(*each[3:]) for each in data["places"]}
    ran = frozenset(BaselineEntry(*each) for each in data["ran"])
    report, unseen, scope = (map(str, data[key]) for key in ("report", "unseen", "scope"))
    return SessionFindings(places, ran, tuple(report), frozenset(unseen), tuple(scope))


def collect_session_findings(
    findings: Findings,
    baseline: Baseline,
    root: Path,
    report: Iterable[str] = (),
    packages_without_modules: Iterable[str] = (),
) -> SessionFindings:
    """Collect the findings of a run for a comparison with a baseline. `report` has the lines to show."""
    codes = list_run_codes(findings.predicted_run.steps, root)
    executed_entries = frozenset(each for each in baseline.entries if (each.file, each.code) in codes)
    return SessionFindings(
        find_cost_by_entry(findings, root),
        executed_entries,
        tuple(report),
        frozenset(packages_without_modules),
        tuple(describe_scope(findings.scope)),
    )


def merge_session_findings(outcomes: Sequence[SessionFindings]) -> SessionFindings:
    """Merge the outcomes of several processes.

    Each process has its own report, so the report of several only lists the findings.
    """
    places: dict[BaselineEntry, FindingCost] = {}
    for each in outcomes:
        for finding, at in each.costs.items():
            places[finding] = places[finding].add(at) if finding in places else at
    ran = frozenset(finding for each in outcomes for finding in each.executed_entries)
    scope = tuple(dict.fromkeys(line for each in outcomes for line in each.scope))
    listed = _list_findings(places, len(outcomes))
    report_lines = outcomes[0].report if len(outcomes) == 1 else (*listed, *scope)
    return SessionFindings(
        places,
        ran,
        report_lines,
        frozenset.intersection(*(each.packages_without_modules for each in outcomes)),
        scope,
    )


def _list_findings(places: Mapping[BaselineEntry, FindingCost], processes: int) -> tuple[str, ...]:
    """List the findings, one for each line, in place of a report."""
    heading = (
        f"{count_text(len(places), 'finding')} of {processes} processes; leave out -n for causes and rules"
    )
    return heading, *(f"  {f.file}:{at.line}: {f.code}: {f.what}" for f, at in sorted(places.items()))


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The comparison of a session with its baseline: the new findings and the stale entries.

    An entry is stale if its code ran without a finding, or if its file no longer has that code.
    """

    new: tuple[tuple[BaselineEntry, FindingCost], ...]
    stale: tuple[BaselineEntry, ...]
    budget: int | None = None

    @property
    def extra_bytes(self) -> int | None:
        """The bytes that the new findings take more than narrow floats, or None if one cannot be counted."""
        costs = [at.extra_bytes for _, at in self.new]
        return None if None in costs else sum(filter(None, costs))

    @property
    def is_within_budget(self) -> bool:
        """Return True if there is a budget, and the new findings do not exceed it."""
        return self.budget is not None and self.extra_bytes is not None and self.extra_bytes <= self.budget

    @property
    def is_failure(self) -> bool:
        """Return True if the session fails."""
        return bool(self.stale or (self.new and not self.is_within_budget))


def compare_with_baseline(
    session: SessionFindings, baseline: Baseline, root: Path
) -> BaselineComparison:
    """Compare a session with a baseline."""
    entries = frozenset(baseline.entries)
    new = tuple((f, session.costs[f]) for f in sorted(session.costs) if f not in entries)
    gone = [f for f in baseline.entries if f not in session.costs]
    standing = frozenset(
        _yield_standing_findings((f for f in gone if f not in session.executed_entries), root)
    )
    return BaselineComparison(new, tuple(sorted(f for f in gone if f not in standing)), baseline.budget)


def write_shrunk_baseline(path: Path, baseline: Baseline, comparison: BaselineComparison) -> str:
    """Write a baseline anew, and say so: all findings at first, later only the entries that still occur."""
    is_first = not path.exists()
    kept = [f for f, _ in comparison.new] if is_first else [*{*baseline.entries} - {*comparison.stale}]
    write_baseline(path, replace(baseline, entries=tuple(kept)))
    wrote = f"wrote {count_text(len(kept), 'finding')} to {path.name}"
    if comparison.new and not is_first:
        return f"{wrote}, which may only shrink; {len(comparison.new):,} new not added"
    return wrote


def _yield_standing_findings(baseline: Iterable[BaselineEntry], root: Path) -> Iterator[BaselineEntry]:
    """Yield the findings with code that is still in their file, in any spacing. It need not have run."""
    for file, entries in groupby(sorted(baseline), key=attrgetter("file")):
        try:
            source = read_bytes(source_file(file, root), MAX_BASELINE_BYTES).decode(errors="replace")
        except FileError:
            continue
        tree = _parse_statements(source)
        statements_by_entry = {
            f: () if f.code.endswith(CUT_MARK) else _parse_statements(f.code) for f in entries
        }
        nodes = {
            finding: _unwrap_expression(code[0])
            for finding, code in statements_by_entry.items()
            if len(code) == 1 and tree
        }
        sorts = frozenset(map(type, nodes.values()))
        dumped_nodes = {_dump_node(node) for line in tree for node in ast.walk(line) if type(node) in sorts}
        text = _remove_spaces(source)
        for finding in statements_by_entry:
            code = _dump_node(nodes[finding]) if finding in nodes else None
            if code:
                is_in_file = code in dumped_nodes
            else:  # no tree for code that was cut, is no Python, or is nested too deeply
                is_in_file = _remove_spaces(finding.code.removesuffix(CUT_MARK)) in text
            if is_in_file:
                yield finding


def _unwrap_expression(line: ast.stmt) -> ast.AST:
    """Return the expression of an expression statement, or else the statement."""
    return line.value if isinstance(line, ast.Expr) else line


def _dump_node(node: ast.AST) -> str | None:
    """Dump a node without its position, or return None if it is nested too deeply for Python."""
    try:
        return ast.dump(node)
    except RecursionError:
        return None


def _remove_spaces(text: str) -> str:
    return "".join(text.split())


def _parse_statements(text: str) -> Sequence[ast.stmt]:
    """Return the statements of a text, or none if Python cannot parse it."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def describe_unseen_packages(session: SessionFindings) -> Iterator[str]:
    """Yield a line for each package without a followed module."""
    for package in sorted(session.packages_without_modules):
        what = f"no module of {package} was followed, so that nothing of it was checked"
        yield f"{what}; give its name as an import does"


def verdict_lines(comparison: BaselineComparison, baseline: str) -> Iterator[str]:
    """Yield the lines that say why a session fails, and what to do."""
    if comparison.new:
        what = f"{count_text(len(comparison.new), 'finding')} not in {baseline}"
        advice = "they are within its budget" if comparison.is_within_budget else "cast where the report says"
        yield f"{what}; {advice}:"
        for finding, at in comparison.new:
            yield f"  {finding.file}:{at.line}: {finding.code}: {finding.what}"
    yield from stale_lines(comparison, baseline)


def stale_lines(comparison: BaselineComparison, baseline: str) -> Iterator[str]:
    """Yield the lines that name the entries to remove from a baseline."""
    if comparison.stale:
        entries = count_text(len(comparison.stale), "entry", "entries")
        occur, them = ("occurs", "it") if len(comparison.stale) == 1 else ("occur", "them")
        yield f"{entries} of {baseline} no longer {occur}; remove {them} from the file:"
        for finding in comparison.stale:
            yield f"  {finding}"
