"""A budget: the widest float that a test may compute with, and the steps by which it did with wider ones."""

from __future__ import annotations

from collections.abc import Iterator

from typelattice.facts.dtypes import DType
from typelattice.tracing.causes import made_by
from typelattice.tracing.ran import Ran, ran
from typelattice.tracing.run import Run
from typelattice.tracing.sentences import deed
from typelattice.tracing.widths import width, width_of
from typelattice.tracing.words import counted, place


def told(run: Run, before: Run | None, budget: DType) -> str:
    """Where a test took wider floats than its budget, in lines; empty where it did not.

    `before` is the run before the test; what ran since is the test's.
    """
    over = _over(run, before, budget)
    those = _excesses(ran(run), over) if over else []
    found = [line for each in those for line in each]
    head = f"the dtype budget {budget} is exceeded from {counted(len(those), 'place')}"
    return "\n".join([head, *found]) if those else ""


def _over(run: Run, before: Run | None, budget: DType) -> list[int]:
    """The steps that ran since, and came to a wider float than a budget."""
    limit = width_of(budget) or 0
    counts = [seen.count for seen in before.seen] if before else []
    counts += [0] * (len(run.seen) - len(counts))
    seen = enumerate(zip(run.seen, counts, strict=True))
    return [i for i, (now, earlier) in seen if now.count > earlier and (width(now.operand) or 0) > limit]


def _excesses(found: Ran, over: list[int]) -> list[list[str]]:
    """The steps by which others came to be too wide, a place each: in lines."""
    by: dict[object, list[int]] = {}
    first: dict[object, int] = {}
    causes = made_by(found)
    for i in over:
        step = found.steps[causes[i]]
        first.setdefault((step.place, step.text), causes[i])
        by.setdefault((step.place, step.text), []).append(i)
    return [[*_lines(found, first[place], those)] for place, those in by.items()]


def _lines(found: Ran, cause: int, over: list[int]) -> Iterator[str]:
    """A step by which others came to be too wide, the first of them, and how many there are."""
    yield f"  {place(found.steps[cause].place)}: {found.steps[cause].text}"
    yield f"    {deed(found, cause)}"
    others = [i for i in over if i != cause]
    if others:
        yield f"    then {place(found.steps[others[0]].place)}: {deed(found, others[0])}"
    if others[1:]:
        yield f"    and {counted(len(others) - 1, 'more step')} in this test"
