"""Explicit casts by a rule of a system as plain steps: rounding, bounds, and a plain cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typelattice.calls.steps import Call, Cast, NamedDType, Number, ProgramError, Ref, Step
from typelattice.facts.cast_rules import CLAMP, DOWN, EVEN, TOWARD_ZERO, UP, WRAP
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.finite_values import FiniteValues, find_finite_values, scale
from typelattice.facts.range_checks import Value
from typelattice.operands.operand import BOOL
from typelattice.programs.replay.outcome import ExplicitCast

ROUNDING_FUNCTIONS = {
    EVEN: "round",
    TOWARD_ZERO: "trunc",
    UP: "ceil",
    DOWN: "floor",
}  # these round to whole numbers
Add = Callable[[Step], int]  # adds a step to a program, and returns its number


class PlainStepWriter:
    """Writes steps before a plain cast, so that the result is what the system's rule for casts gives."""

    def __init__(self, add: Add, step: Cast, cast: ExplicitCast) -> None:
        self.add, self.step, self.cast = add, step, cast

    def write(self, source: int) -> int:
        """Add the steps, and return the one to cast. Raises ProgramError if the rule has no plain steps."""
        says, d, to = self.cast.cast_rule, self.cast.source, self.cast.target
        is_real, into_whole = d.kind is Kind.FLOAT, to.kind.category < Kind.FLOAT.category
        if says.rounding and into_whole:
            if says.rounding not in ROUNDING_FUNCTIONS:
                raise self._refuse(f"that rounds {says.rounding}")
            source = self._add_call(ROUNDING_FUNCTIONS[says.rounding], d, source)
        elif says.rounding not in ("", EVEN):
            raise self._refuse(f"that rounds {says.rounding}")
        if says.beyond == WRAP and is_real:
            raise self._refuse("that wraps floats")
        if says.beyond != CLAMP or Kind.COMPLEX in (d.kind, to.kind):
            return source
        if is_real and "n" not in to.specials:
            is_nan = self._add_call("isnan", BOOL, source)
            source = self._add_call("where", d, is_nan, self._add_number(0, d), source)
        own, others = find_finite_values(d), find_finite_values(to)
        if own is None or others is None or None in (d.min, d.max, to.min, to.max):
            raise self._refuse("whose range is not known")
        if "i" not in d.specials and others.low <= own.low and own.high <= others.high:
            return source  # no value is out of range
        low, high = self._find_bound(own, d.min, to.min, max), self._find_bound(own, d.max, to.max, min)
        return self._add_call("clip", d, source, self._add_number(low, d), self._add_number(high, d))

    def _find_bound(
        self, its: FiniteValues, other_bound: Any, other: Any, nearer: Callable[[float, float], float]
    ) -> Value:
        """Return the bound of both dtypes, or the value that infinity becomes. The source must hold it."""
        d = self.cast.source
        bound = other if "i" in d.specials else nearer(other_bound, other)
        if not its.holds(scale(bound)):
            raise self._refuse(f"whose bound {bound} {d} does not hold")
        return int(bound) if d.kind.category < Kind.FLOAT.category else float(bound)

    def _add_number(self, value: Value, d: DType) -> int:
        number = self.add(Number(value, text=str(value), location=self.step.location, shape=()))
        text = f"{value}.astype({d})"
        return self.add(Cast(number, NamedDType(str(d)), text=text, location=self.step.location, shape=()))

    def _add_call(self, name: str, d: DType, *operands: int) -> int:
        step, refs = self.step, tuple(map(Ref, operands))
        return self.add(
            Call(
                name, refs, (), operands, False, NamedDType(str(d)),
                text=step.text, location=step.location, shape=step.shape, owner=step.owner,
            )
        )  # fmt: skip

    def _refuse(self, reason: str) -> ProgramError:
        cast = self.cast
        where = f" ({self.step.location})" if self.step.location else ""
        which = f"a cast of {cast.source} to {cast.target} {reason}"
        cause = f"{self.step.text!r}{where}: no plain steps are {which}"
        return ProgramError(f"{cause}; give such casts an operation of their own")
