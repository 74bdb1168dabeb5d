"""Rules for casts: the rounding, and the result for values beyond the range of the target."""
from __future__ import annotations

from collections.abc import Callable

from typelattice.base.objects.frozen_classes import field, frozen
from typelattice.core.dtypes.dtypes import DType, Kind

Rounder = Callable[[int, int, bool], int]  # a size, the distance between neighbours, and if it is negative


@frozen()
class CastRule:
    """The rule of a system for the cast from one dtype to another.

    "" means the result that the formats define.

    `rounding` is one of ROUNDING_WORDS, `beyond` one of OVERFLOW_WORDS. `function` is the
    operation to call instead, and
    `refusal_reason` is the reason why the cast is impossible. `entry` is the entry of the file.

    >>> CastRule(function="quantize").obstacle
    'it needs quantize'
    """

    rounding: str = ""
    beyond: str = ""
    function: str = ""
    refusal_reason: str = ""
    entry: str = field(default="", compare=False)

    @property
    def obstacle(self) -> str:
        """The reason why a plain cast is impossible, or an empty string if it is possible."""
        return self.refusal_reason or (f"it needs {self.function}" if self.function else "")


PLAIN_CAST_RULE = CastRule()
NEAREST_EVEN, NEAREST_AWAY, TOWARD_ZERO, ROUND_UP, ROUND_DOWN, STOCHASTIC = ROUNDING_WORDS = (
    "nearest even", "nearest away", "toward zero", "up", "down", "stochastic",
)  # fmt: skip
OVERFLOW_WRAPS, OVERFLOW_CLAMPS, OVERFLOW_BECOMES_INF, OVERFLOW_UNDEFINED = OVERFLOW_WORDS = (
    "wrap",
    "clamp",
    "inf",
    "undefined",
)


def _to_nearest_even(size: int, unit: int, negative: bool) -> int:
    count, rest = divmod(size, unit)
    return (count + (2 * rest > unit or (2 * rest == unit and count % 2))) * unit


def _to_nearest_away(size: int, unit: int, negative: bool) -> int:
    return (2 * size + unit) // (2 * unit) * unit


def _round_down(size: int, unit: int, negative: bool) -> int:
    return -(-size // unit) * unit if negative else size // unit * unit


ROUND_BY_ROUNDING_WORD: dict[str, Rounder] = {
    NEAREST_EVEN: _to_nearest_even,
    NEAREST_AWAY: _to_nearest_away,
    TOWARD_ZERO: lambda size, unit, negative: size // unit * unit,
    ROUND_UP: lambda size, unit, negative: _round_down(size, unit, not negative),
    ROUND_DOWN: _round_down,
}


def stays_finite(rounding: str, negative: bool) -> bool:
    """Return True if a value beyond the range may still round to the largest value in it."""
    return rounding == TOWARD_ZERO or rounding == (ROUND_UP if negative else ROUND_DOWN)


def impossible_cast_reason(rule: CastRule, source: DType, target: DType) -> str:
    """Return the reason why a cast cannot follow a rule, or an empty string if it can."""
    is_whole = target.kind.category < Kind.FLOAT.category
    if rule.beyond == OVERFLOW_BECOMES_INF and (is_whole or "i" not in target.specials):
        return f"{target} has no infinity; say clamp or undefined"
    if rule.beyond == OVERFLOW_WRAPS and (not is_whole or target.bits is None):
        return f"only integers of known width wrap, and {target} is none; say clamp, inf or undefined"
    if rule.rounding and source.kind.category < Kind.FLOAT.category and is_whole:
        return f"{source} to {target} rounds nothing; leave the rounding out"
    return ""


def without_defaults(rule: CastRule, source: DType, target: DType) -> CastRule:
    """Return a rule without the words that say what the formats define for a cast."""
    from_whole, to_whole = (d.kind.category < Kind.FLOAT.category for d in (source, target))
    rounding = "" if rule.rounding == (TOWARD_ZERO if to_whole else NEAREST_EVEN) else rule.rounding
    beyond = "" if rule.beyond == OVERFLOW_WRAPS and from_whole else rule.beyond
    return CastRule(rounding, beyond, rule.function, rule.refusal_reason, rule.entry)


def is_proved(rule: CastRule, source: DType) -> bool:
    """Return True if the values next to breakpoints prove a property of a cast for all values.

    A stochastic cast has no one result. A wrapped float has breakpoints all over its range.
    """
    return rule.rounding != STOCHASTIC and not (
        rule.beyond == OVERFLOW_WRAPS and source.kind.category >= Kind.FLOAT.category
    )
