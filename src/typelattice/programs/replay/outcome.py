"""Outcome of a program's step under a system, together with the library's recorded answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.promotion import DecidingLines, Promotion
from typelattice.core.losses.cast_rounding_and_overflow import CastRule
from typelattice.core.operands.operand import Operand

if TYPE_CHECKING:
    from typelattice.core.evidence.recorded_answer import RecordedAnswer


@dataclass(frozen=True, slots=True)
class ExplicitCast:
    """A cast that the source writes, with the system's rule for it and the line of that rule."""

    source: DType
    target: DType
    cast_rule: CastRule
    rule: DecidingLines


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a step under a system: an operand, or None if the step is refused or not reached.

    `reason` says why a step is refused. A step that needs a refused one is not reached, and has no reason.
    `cast` is set for an explicit cast if the system has a rule for it. `asked` says of whom the outcome was
    asked if no rule decides it: "asked of torch 2.13.0 just now". `alternatives` are the outcomes of which
    the values of arrays choose one, if these differ. Then `operand` is None, and `reason` says what decides.
    """

    operand: Operand | None
    promotion: Promotion | None = None
    reason: str | None = None
    cast: ExplicitCast | None = None
    asked: str = ""
    alternatives: tuple[Outcome, ...] = ()

    @property
    def dtype(self) -> DType | None:
        """The dtype, or None if the step is refused or not reached, or if the result is a Python number."""
        return self.operand.dtype if self.operand else None

    @property
    def is_refused(self) -> bool:
        """Return True if this step itself is refused."""
        return self.reason is not None and not self.alternatives

    @property
    def recorded_answer(self) -> RecordedAnswer | None:
        """The library's recorded answer, or None if it has none or no rule decides the step."""
        from typelattice.core.evidence.recorded_answer import (
            find_recorded_answer,  # slow to import, and few programs need it
        )

        p = self.promotion
        return find_recorded_answer(p) if p and self.is_refused == (p.dtype is None) else None

    @property
    def recorded_departure(self) -> RecordedAnswer | None:
        """The library's recorded answer if it contradicts the rule. Later steps follow the rule."""
        return seen if (seen := self.recorded_answer) and seen.departs else None

    @property
    def is_unrecorded(self) -> bool:
        """Return True if only a rule gives the outcome, though the library could have been recorded.

        >>> from typelattice import program
        >>> [o.is_unrecorded for o in program("heaviside(x, x)", x="int8").under("keras")]
        [False, True]
        """
        from typelattice.core.evidence.never_asked import is_never_asked

        p = self.promotion
        return p is not None and self.is_refused == (p.dtype is None) and is_never_asked(p)

    @property
    def text_with_mark(self) -> str:
        """The outcome as pages show it: a `?` follows if the library has no recorded answer.

        >>> from typelattice import program
        >>> print(program("heaviside(x, x)", x="int8").under("keras")[-1].text_with_mark)
        float32?
        """
        from typelattice.core.evidence.never_asked import NEVER_ASKED_MARK

        return f"{self}{NEVER_ASKED_MARK}" if self.is_unrecorded else str(self)

    def __str__(self) -> str:
        if self.alternatives:
            return " or ".join(dict.fromkeys(map(str, self.alternatives)))
        if self.operand is None:
            return "refused" if self.is_refused else "not reached"
        if self.operand.tier == "scalar":
            return f"Python {self.operand.kind.python_name}"
        return f"{self.operand.dtype}{'*' if self.operand.weak else ''}"


def merge_alternatives(outcomes: Sequence[Outcome], condition: str) -> Outcome:
    """Return the outcome that all alternatives have, or one that holds them.

    `condition` says what decides between them.
    """
    flat = [each for outcome in outcomes for each in (outcome.alternatives or (outcome,))]
    alternatives = tuple({(str(each), each.operand and each.operand.tier): each for each in flat}.values())
    first = alternatives[0].operand
    if first is None or any(str(each) != str(alternatives[0]) for each in alternatives):
        if len(alternatives) == 1:
            return alternatives[0]
        return Outcome(None, reason=condition, alternatives=alternatives)
    same_value = all(each.operand is not None and each.operand.value == first.value for each in flat)
    operand = first if same_value else replace(first, value=None)
    if len(alternatives) == 1:
        return replace(alternatives[0], operand=operand)
    return Outcome(operand, alternatives=alternatives)


NOT_REACHED_OUTCOME = Outcome(None)
EarlierOutcomes = Sequence[Outcome] | Mapping[int, Outcome]  # the outcomes of earlier steps, by their numbers
