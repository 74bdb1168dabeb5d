"""Source files line by line, each line with the steps that stand on it and what was found there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from typelattice.programs.step import Opaque
from typelattice.tracing.causes import Cause
from typelattice.tracing.divergences import Divergence
from typelattice.tracing.findings import Findings
from typelattice.tracing.run import is_operation


@dataclass(frozen=True, slots=True)
class Line:
    """What is known of a line: its steps; the causes that are named by it, those that widened a float here
    too, those whose wide float comes up here, and those that its steps follow from; the places where systems
    part, and the steps that our rules say otherwise.
    """

    steps: list[int] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    widens: list[Cause] = field(default_factory=list)
    makes: list[Cause] = field(default_factory=list)
    follows: list[Cause] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Annotated:
    """A source file: its path, its text if that is known, and its lines of which something is known.

    `operations` ran in it, `opaque` results came from no operation that we know, `causes` of wide floats
    stand in it, which took `bytes` more, and so many `divergences` under each system that was asked.
    """

    name: str
    source: Sequence[str]
    lines: Mapping[int, Line]
    operations: int
    opaque: int
    causes: int
    bytes: int
    divergences: Mapping[str, int]


def annotated(found: Findings) -> list[Annotated]:
    """The source files of a run, by name."""
    ran = found.ran
    files: dict[str, dict[int, Line]] = {}

    def line(i: int) -> Line | None:
        at = ran.steps[i].place
        return files.setdefault(at.file, {}).setdefault(at.line, Line()) if at else None

    for i, step in enumerate(ran.steps):
        if (is_operation(step) or isinstance(step, Opaque)) and (there := line(i)):
            there.steps.append(i)
    for cause in found.causes:
        if there := line(cause.at):
            there.causes.append(cause)
        before = {*cause.first, *cause.later} - {*cause.widening, *cause.follows}
        for i in (*cause.widening, *sorted(before), *cause.follows):
            there = line(i)
            if there and not any(cause in known for known in _causes(there)):
                into = there.widens if i in cause.widening else there.makes if i in before else there.follows
                into.append(cause)
    for divergences in found.divergences.values():
        for divergence in divergences:
            if there := line(divergence.steps[0]):
                there.divergences.append(divergence)
    for i in ran.mismatches:
        if there := line(i):
            there.wrong.append(i)
    return [_file(found, name, lines) for name, lines in sorted(files.items())]


def _causes(line: Line) -> tuple[list[Cause], ...]:
    return line.causes, line.widens, line.makes, line.follows


def _file(found: Findings, name: str, lines: Mapping[int, Line]) -> Annotated:
    run = found.ran.run
    steps = [i for line in lines.values() for i in line.steps]
    opaque = [i for i in steps if isinstance(run.program.steps[i], Opaque)]
    causes = [cause for line in lines.values() for cause in line.causes]
    divergences = [divergence.system for line in lines.values() for divergence in line.divergences]
    return Annotated(
        name,
        run.sources.get(name, "").splitlines(),
        lines,
        sum(run.seen[i].count for i in steps) - sum(run.seen[i].count for i in opaque),
        sum(run.seen[i].count for i in opaque),
        len(causes),
        sum(cause.bytes for cause in causes),
        {system: divergences.count(system) for system in found.divergences},
    )
