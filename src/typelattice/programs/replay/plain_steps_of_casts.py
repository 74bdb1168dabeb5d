"""Explicit casts by a rule of a system as plain steps: rounding, bounds, and a plain cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typelattice.calls.steps import Call, Cast, NamedDType, Number, ProgramError, Ref, Step
from typelattice.facts.cast_rounding_and_overflow import (
    NEAREST_EVEN,
    OVERFLOW_CLAMPS,
    OVERFLOW_WRAPS,
    ROUND_DOWN,
    ROUND_UP,
    TOWARD_ZERO,
)
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.finite_values import FiniteValues, find_finite_values, scale_exactly
from typelattice.facts.range_and_overflow import PythonNumber
from typelattice.operands.operand import BOOL_DTYPE
from typelattice.programs.replay.outcome import ExplicitCast

# rounding of a cast -> function that rounds to whole numbers in this way
FUNCTION_BY_ROUNDING = {
    NEAREST_EVEN: "round",
    TOWARD_ZERO: "trunc",
    ROUND_UP: "ceil",
    ROUND_DOWN: "floor",
}
StepAdder = Callable[[Step], int]  # adds a step to a program, and returns its number


class PlainStepWriter:
    """Writes steps before a plain cast, so that the result is what the system's rule for casts gives."""

    def __init__(self, add: StepAdder, step: Cast, cast: ExplicitCast) -> None:
        self.add, self.step, self.cast = add, step, cast

    def write_steps(self, source: int) -> int:
        """Add the steps, and return the one to cast. Raises ProgramError if the rule has no plain steps."""
        rule, source_dtype, target_dtype = self.cast.cast_rule, self.cast.source, self.cast.target
        is_real, into_whole = (
            source_dtype.kind is Kind.FLOAT,
            target_dtype.kind.category < Kind.FLOAT.category,
        )
        if rule.rounding and into_whole:
            if rule.rounding not in FUNCTION_BY_ROUNDING:
                raise self._make_refusal(f"that rounds {rule.rounding}")
            source = self._add_call(FUNCTION_BY_ROUNDING[rule.rounding], source_dtype, source)
        elif rule.rounding not in ("", NEAREST_EVEN):
            raise self._make_refusal(f"that rounds {rule.rounding}")
        if rule.beyond == OVERFLOW_WRAPS and is_real:
            raise self._make_refusal("that wraps floats")
        if rule.beyond != OVERFLOW_CLAMPS or Kind.COMPLEX in (source_dtype.kind, target_dtype.kind):
            return source
        if is_real and "n" not in target_dtype.specials:
            is_nan = self._add_call("isnan", BOOL_DTYPE, source)
            source = self._add_call("where", source_dtype, is_nan, self._add_number(0, source_dtype), source)
        source_values, target_values = find_finite_values(source_dtype), find_finite_values(target_dtype)
        if (
            source_values is None
            or target_values is None
            or None in (source_dtype.min, source_dtype.max, target_dtype.min, target_dtype.max)
        ):
            raise self._make_refusal("whose range is not known")
        if (
            "i" not in source_dtype.specials
            and target_values.low <= source_values.low
            and source_values.high <= target_values.high
        ):
            return source  # no value is out of range, so nothing is clipped
        low, high = (
            self._find_bound(source_values, source_dtype.min, target_dtype.min, max),
            self._find_bound(source_values, source_dtype.max, target_dtype.max, min),
        )
        return self._add_call(
            "clip",
            source_dtype,
            source,
            self._add_number(low, source_dtype),
            self._add_number(high, source_dtype),
        )

    def _find_bound(
        self,
        source_values: FiniteValues,
        source_bound: Any,
        target_bound: Any,
        choose_nearer: Callable[[float, float], float],
    ) -> PythonNumber:
        """Return the bound of both dtypes, or the value that infinity becomes. The source must hold it."""
        d = self.cast.source
        bound = target_bound if "i" in d.specials else choose_nearer(source_bound, target_bound)
        if not source_values.holds(scale_exactly(bound)):
            raise self._make_refusal(f"whose bound {bound} {d} does not hold")
        return int(bound) if d.kind.category < Kind.FLOAT.category else float(bound)

    def _add_number(self, value: PythonNumber, dtype: DType) -> int:
        number = self.add(Number(value, text=str(value), location=self.step.location, shape=()))
        text = f"{value}.astype({dtype})"
        return self.add(
            Cast(number, NamedDType(str(dtype)), text=text, location=self.step.location, shape=())
        )

    def _add_call(self, name: str, dtype: DType, *operands: int) -> int:
        step, refs = self.step, tuple(map(Ref, operands))
        return self.add(
            Call(
                name, refs, (), operands, False, NamedDType(str(dtype)),
                text=step.text, location=step.location, shape=step.shape, owner=step.owner,
            )
        )  # fmt: skip

    def _make_refusal(self, reason: str) -> ProgramError:
        cast = self.cast
        where = f" ({self.step.location})" if self.step.location else ""
        which = f"a cast of {cast.source} to {cast.target} {reason}"
        cause = f"{self.step.text!r}{where}: no plain steps are {which}"
        return ProgramError(f"{cause}; give such casts an operation of their own")
