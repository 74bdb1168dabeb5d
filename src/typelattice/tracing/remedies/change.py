"""A change of the source: edits of one place, and the casts that they amount to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from typelattice.tracing.source.source_file import Edit


@dataclass(frozen=True, slots=True, order=True)
class StepCast:
    """A cast of the result of the step `producer`: where it is made, or only where `consumer` uses it."""

    producer: int
    consumer: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Edits that change one expression, at a line of a file.

    `casts` say in steps of the run what the edits do, so that a replay can try them. There are none if the
    steps are not known.
    """

    file: str
    line: int
    edits: tuple[Edit, ...]
    casts: tuple[StepCast, ...] = field(default=(), compare=False)


def edits_overlap(edits: Iterable[Edit]) -> bool:
    """Return True if two edits change the same bytes."""
    spans = sorted((edit.start, edit.end) for edit in edits)
    return any(first[1] > second[0] or first == second for first, second in pairwise(spans))
