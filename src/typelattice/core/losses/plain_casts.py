"""Casts by a rule, written with plain steps: roundings, bounds, choices, and casts as the formats have them.

The steps are written by a `StepWriter`: into a graph, or by calling a library's functions at once.
"""
from __future__ import annotations

import math

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.losses.cast_rounding_and_overflow import (
    NEAREST_AWAY,
    NEAREST_EVEN,
    OVERFLOW_BECOMES_INF,
    OVERFLOW_CLAMPS,
    OVERFLOW_WRAPS,
    ROUND_DOWN,
    ROUND_UP,
    TOWARD_ZERO,
    CastRule,
)
from typelattice.core.losses.cast_values import wraps_integers
from typelattice.core.losses.finite_values import INTEGER_SCALE, FiniteValues, find_finite_values
from typelattice.core.losses.range_and_overflow import PythonNumber

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    V = TypeVar("V")

    class StepWriter(Protocol[V]):
        """Writes one plain step, and returns its value: an array, or the number of a step in a graph."""

        def call(self, name: str, dtype: DType, *operands: V) -> V:
            """Call a function whose result has a dtype."""

        def number(self, value: PythonNumber, dtype: DType) -> V:
            """Make an array without dimensions of a number."""

        def cast(self, value: V, target: DType) -> V:
            """Cast as the formats define it."""


# rounding of a cast -> function that rounds to whole numbers in this way
FUNCTION_BY_ROUNDING = {
    NEAREST_EVEN: "round",
    TOWARD_ZERO: "trunc",
    ROUND_UP: "ceil",
    ROUND_DOWN: "floor",
}
BOOL_DTYPE, WIDER_FLOAT = DTYPES["bool"], DTYPES["float32"]


class NoPlainStepsError(ValueError):
    """A cast or an operation that no plain steps express. The text says which."""


def write_plain_cast(
    value: V, source: DType, target: DType, rule: CastRule, steps: StepWriter[V]
) -> V:
    """Write the steps that cast a value by a rule, and return the result.

    Raises NoPlainStepsError if plain steps cannot follow the rule, as for stochastic rounding.
    """
    if Kind.COMPLEX in (source.kind, target.kind) or target.kind is Kind.BOOL:
        return steps.cast(value, target)
    rounds_floats = target.kind is Kind.FLOAT and rule.rounding not in ("", NEAREST_EVEN)
    if rounds_floats and rule.rounding not in (TOWARD_ZERO, ROUND_UP, ROUND_DOWN):
        raise _error(source, target, f"that rounds {rule.rounding}")
    if rounds_floats and _values_of(target, source, target).encloses(_values_of(source, source, target)):
        rounds_floats = False
    if _needs_wider_float(source, rounds_floats):
        value, source = steps.cast(value, WIDER_FLOAT), WIDER_FLOAT
    if rounds_floats:
        return _cast_and_correct(value, source, target, rule, steps)
    if source.kind is Kind.FLOAT and target.kind is not Kind.FLOAT:
        value = _round_to_whole(value, source, target, rule, steps)
        if rule.beyond == OVERFLOW_WRAPS:
            return _cast_and_wrap(value, source, target, steps)
    if rule.beyond != OVERFLOW_CLAMPS:
        return steps.cast(value, target)
    return _cast_and_clamp(value, source, target, steps)


def _needs_wider_float(source: DType, rounds_floats: bool) -> bool:
    """Return True if float32 holds a narrow float, and some steps would leave that float.

    It may have no zero, or largest values that are no whole numbers, or lack the infinities that a result
    rounded to another float is compared with.
    """
    own, wider = find_finite_values(source), find_finite_values(WIDER_FLOAT)
    if source.kind is not Kind.FLOAT or own is None or own.bits is None or wider is None:
        return False
    if source is WIDER_FLOAT or not wider.encloses(own):
        return False
    spacing = max(own.unit, 1 << max(own.high.bit_length() - own.bits, 0))
    return "z" not in source.specials or spacing < INTEGER_SCALE or rounds_floats


def _error(source: DType, target: DType, reason: str) -> NoPlainStepsError:
    return NoPlainStepsError(f"a cast of {source} to {target} {reason}")


def _values_of(dtype: DType, source: DType, target: DType) -> FiniteValues:
    found = find_finite_values(dtype)
    if found is None or dtype.min is None or dtype.max is None:
        raise _error(source, target, "whose range is not known")
    return found


def _round_to_whole(
    value: V, source: DType, target: DType, rule: CastRule, steps: StepWriter[V]
) -> V:
    """Round floats to whole numbers, if the rule says how. A plain cast then has nothing to cut off."""
    if not rule.rounding:
        return value
    if rule.rounding in FUNCTION_BY_ROUNDING:
        return steps.call(FUNCTION_BY_ROUNDING[rule.rounding], source, value)
    if rule.rounding != NEAREST_AWAY:
        raise _error(source, target, f"that rounds {rule.rounding}")
    whole = steps.call("trunc", source, value)
    rest = steps.call("abs", source, steps.call("subtract", source, value, whole))
    is_half = steps.call("greater_equal", BOOL_DTYPE, rest, steps.number(0.5, source))
    away = steps.call("add", source, whole, steps.call("sign", source, value))
    return steps.call("where", source, is_half, away, whole)


def _cast_and_clamp(value: V, source: DType, target: DType, steps: StepWriter[V]) -> V:
    """Clamp to the range of the target.

    If the source does not hold the bound, as float32 does not hold 2**31 - 1, the values beyond it are
    replaced after the cast.
    """
    if source.kind is Kind.FLOAT and "n" in source.specials and "n" not in target.specials:
        is_nan = steps.call("isnan", BOOL_DTYPE, value)
        value = steps.call("where", source, is_nan, steps.number(0, source), value)
    from_values, to_values = _values_of(source, source, target), _values_of(target, source, target)
    has_inf = "i" in source.specials
    if not has_inf and to_values.low <= from_values.low and from_values.high <= to_values.high:
        return steps.cast(value, target)
    low, high = _nearest_within(from_values, to_values.low), _nearest_within(from_values, to_values.high)
    bounds = steps.number(_number_of(low, source), source), steps.number(_number_of(high, source), source)
    found = steps.cast(steps.call("clip", source, value, *bounds), target)
    for bound, number, limit, comparison, reached in (
        (low, bounds[0], target.min, "less", from_values.low < low or (has_inf and "s" in source.specials)),
        (high, bounds[1], target.max, "greater", from_values.high > high or has_inf),
    ):
        assert limit is not None
        if reached and bound not in (to_values.low, to_values.high):
            is_beyond = steps.call(comparison, BOOL_DTYPE, value, number)
            found = steps.call("where", target, is_beyond, steps.number(limit, target), found)
    return found


def _nearest_within(values: FiniteValues, bound: int) -> int:
    """Return the value between zero and a bound, both included, that is nearest to the bound."""
    if values.listed:
        return min((v for v in values.listed if 0 <= abs(v) <= abs(bound)), key=lambda v: abs(v - bound))
    size = abs(bound)
    unit = values.unit
    if values.bits is not None:
        unit = max(unit, 1 << max(size.bit_length() - values.bits, 0))
    found = size // unit * unit
    return max(-found, values.low) if bound < 0 else min(found, values.high)


def _number_of(scaled: int, dtype: DType) -> PythonNumber:
    return scaled // INTEGER_SCALE if dtype.kind.category < Kind.FLOAT.category else scaled / INTEGER_SCALE


def _cast_and_wrap(value: V, source: DType, target: DType, steps: StepWriter[V]) -> V:
    """Take floats modulo the width. Sizes are wrapped as unsigned integers, then negated as integers."""
    bits = target.bits
    unsigned = DTYPES.get(f"uint{bits}")
    if unsigned is None or bits is None or not wraps_integers(target):
        raise _error(source, target, "that wraps floats")
    size = steps.call("abs", source, steps.call("trunc", source, value))
    if _values_of(source, source, target).high >= 2**bits * INTEGER_SCALE:
        size = steps.call("remainder", source, size, steps.number(2.0**bits, source))
    whole = steps.cast(size, unsigned)
    found = whole if unsigned is target else steps.cast(whole, target)
    is_negative = steps.call("less", BOOL_DTYPE, value, steps.number(0, source))
    negated = steps.call("subtract", target, steps.number(0, target), found)
    return steps.call("where", target, is_negative, negated, found)


def _cast_and_correct(
    value: V, source: DType, target: DType, rule: CastRule, steps: StepWriter[V]
) -> V:
    """Round to the nearest float of the target, and step back if it lies on the wrong side of the value."""
    from_values, to_values = _values_of(source, source, target), _values_of(target, source, target)
    clamps = rule.beyond == OVERFLOW_CLAMPS
    held = source.kind is Kind.FLOAT and from_values.encloses(to_values) and "z" in target.specials
    if not held or rule.beyond == OVERFLOW_BECOMES_INF or not (clamps or "i" in target.specials):
        raise _error(source, target, f"that rounds {rule.rounding}")
    plain = _cast_and_clamp(value, source, target, steps) if clamps else steps.cast(value, target)
    back = steps.cast(plain, source)
    if rule.rounding == TOWARD_ZERO:
        left, right = steps.call("abs", source, value), steps.call("abs", source, back)
    else:
        left, right = (value, back) if rule.rounding == ROUND_DOWN else (back, value)
    is_wrong = steps.call("less", BOOL_DTYPE, left, right)
    least, most = (target.min, target.max) if clamps else (-math.inf, math.inf)
    assert least is not None
    assert most is not None
    to = {TOWARD_ZERO: 0.0, ROUND_UP: most, ROUND_DOWN: least}[rule.rounding]
    stepped = steps.call("nextafter", target, plain, steps.number(to, target))
    return steps.call("where", target, is_wrong, stepped, plain)
