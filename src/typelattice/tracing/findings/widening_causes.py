"""Causes: the places at which a wide float came up that made narrower floats wide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from typelattice.calls.steps import Index, Input, Opaque
from typelattice.facts.dtypes import DType
from typelattice.tracing.findings.checked_run import CheckedRun, source_of
from typelattice.tracing.run_data.float_widths import width_of
from typelattice.tracing.steps.called_name import WRITING


@dataclass(frozen=True, slots=True)
class Cause:
    """A place at which a wide float appeared that made narrower floats wide.

    - `first`: the steps at that place, which share one source text and one dtype.
    - `widening`: the steps that made a narrower float wide because of it, in order. They may be `first`.
    - `later`: the other steps that are wide because of it.
    - `follows`: the `later` steps that use a widened value, directly or through other steps. They ran `runs`
      times.
    - `results`: the names bound in the end to arrays that are wide because of it.
    - `usual`: the wide dtype is the library's default float or wider, so a program gets it without asking.
    - `bytes`: the memory that all these results took beyond what narrow ones would have taken. It is 0 if the
      program asked for the wide dtype.
    """

    first: tuple[int, ...]
    narrow: DType
    wide: DType
    widening: tuple[int, ...]
    later: tuple[int, ...]
    follows: tuple[int, ...]
    runs: int
    bytes: int
    usual: bool
    results: tuple[str, ...] = ()

    @property
    def at(self) -> int:
        """The step that a cause is named by: the first at which a float widened."""
        return self.widening[0]


def causes(checked: CheckedRun) -> tuple[Cause, ...]:
    """Return the causes in a run: those of the usual dtype first, and after them what child processes sent.

    The cause that widens the most named results comes first, then the one that takes the most bytes.
    """
    causes_of = responsible_steps(checked)
    widening: dict[int, list[int]] = {}
    for i, cause in causes_of.items():
        if narrow_parts(checked, i):
            widening.setdefault(cause, []).append(i)
    groups: dict[object, list[int]] = {}
    for first, widened in widening.items():
        groups.setdefault(_cause_key(checked, first, widened[0]), []).append(first)
    later: dict[int, list[int]] = {}
    for i, cause in causes_of.items():
        later.setdefault(cause, []).append(i)
    found = [_make_cause(checked, group, widening, later) for group in groups.values()]
    sent = _sent_by_children(checked, found)
    return tuple(
        sorted(found, key=lambda c: (not c.usual, c in sent, -len(c.results), -c.bytes, -c.runs, c.first))
    )


def _sent_by_children(checked: CheckedRun, found: list[Cause]) -> list[Cause]:
    """List the causes that may only pass on what a followed child process computed, as `pool.map` does.

    Those are calls without a rule, if a cause with a rule made the same dtype and no result came of it.
    """
    if not checked.run.followed:
        return []
    opaque = [c for c in found if isinstance(checked.steps[c.first[0]], Opaque)]
    made = {c.wide for c in found if c not in opaque and not c.results}
    return [c for c in opaque if c.wide in made]


def responsible_steps(checked: CheckedRun) -> dict[int, int]:
    """Map each float step to the earliest step responsible for its width.

    A step is responsible itself if no operand is as wide, or if it would be as wide with narrower operands.
    Several operands may be as wide, each with its own responsible step. Then the first of these that has
    already widened a narrower float counts, or the first of all if none has.
    """
    responsible: dict[int, int] = {}
    guilty: set[int] = set()
    for i, parts in enumerate(checked.inputs):
        own = checked.widths[i]
        if own is None:
            continue
        wide = [responsible[p] for p in parts if p in responsible and checked.widths[p] == own]
        if wide and checked.is_always_wide(i):
            wide = []
        responsible[i] = next((cause for cause in wide if cause in guilty), wide[0] if wide else i)
        if narrow_parts(checked, i):
            guilty.add(responsible[i])
    return responsible


def narrow_parts(checked: CheckedRun, i: int) -> list[int]:
    """Return the operands of a step that are floats narrower than its result."""
    own = checked.widths[i] or 0
    return [p for p in checked.inputs[i] if 0 < (checked.widths[p] or 0) < own]


def _cause_key(checked: CheckedRun, first: int, widened: int) -> object:
    """Return the key by which steps count as one cause: source location, text, operation and dtypes.

    An input has no source location of its own, so the key has that of the step that it widened.
    """
    step = checked.steps[widened if isinstance(checked.steps[first], Input) else first]
    return step.location, step.text, step.op, checked.observed(first), _widest_narrow_dtype(checked, widened)


def _widest_narrow_dtype(checked: CheckedRun, widened: int) -> DType:
    """Return the widest dtype among the narrow float operands of a step that widened."""
    operands = [checked.observed(p) for p in narrow_parts(checked, widened)]
    return max((o.dtype for o in operands if o and o.dtype), key=lambda d: width_of(d) or 0)


def _make_cause(
    checked: CheckedRun, group: list[int], widening: dict[int, list[int]], later_of: dict[int, list[int]]
) -> Cause:
    widened = sorted(i for first in group for i in widening[first])
    wide, narrow = checked.observed(group[0]), _widest_narrow_dtype(checked, widened[0])
    assert wide is not None and wide.dtype is not None
    later = sorted(i for first in group for i in later_of[first] if i != first)
    costly = [*later, *(i for i in group if not isinstance(checked.steps[i], Input))]
    follows = _find_following(checked, widened, later)
    wide_steps = {*widened, *later}
    named = tuple(name for name, i in checked.run.results.items() if i in wide_steps)
    default = checked.default_float(widened[0])
    usual = default is None or (width_of(wide.dtype) or 0) >= (width_of(default) or 0)
    return Cause(
        tuple(group), narrow, wide.dtype, tuple(widened), tuple(later), follows,
        sum(checked.run.seen[i].count for i in follows),
        usual * sum(_extra_bytes(checked, i, narrow) for i in costly),
        usual,
        named,
    )  # fmt: skip


def _find_following(checked: CheckedRun, widened: list[int], later: list[int]) -> tuple[int, ...]:
    """Find the later steps that use a widened value, directly or not, without those of the same source text.

    An array into which a widened value was written counts as widened from then on.
    """
    reached, _ = reached_steps(checked, widened, sorted({*widened, *later}))
    sources = {source_of(checked.steps[i]) for i in widened}
    return tuple(i for i in later if i in reached and source_of(checked.steps[i]) not in sources)


def reached_steps(
    checked: CheckedRun, first: Iterable[int], among: Iterable[int]
) -> tuple[set[int], set[int]]:
    """Find the steps that use the values of some steps, directly or not: these, and those they write into.

    `among` are the steps that are looked at, in order. An array into which a value was written counts as
    using it from then on.
    """
    reached: set[int] = set()
    holding: set[int] = set()
    start = {*first}
    for i in among:
        if i in start or not (reached | holding).isdisjoint(checked.inputs[i]):
            reached.add(i)
            holding |= {*written_arrays(checked, i)}
    return reached, holding


def written_arrays(checked: CheckedRun, i: int) -> Iterator[int]:
    """Yield the array into which a step writes elements, then each array of which that one is a view."""
    if checked.steps[i].op == WRITING:
        p = checked.inputs[i][0]
        yield p
        while isinstance(view := checked.steps[p], Index):
            p = view.source
            yield p


def _extra_bytes(checked: CheckedRun, i: int, narrow: DType) -> int:
    """Return the bytes that the result of a step takes beyond those of the narrower width."""
    own, less = checked.widths[i], width_of(narrow)
    return checked.run.seen[i].bytes * (own - less) // own if own and less and less < own else 0
