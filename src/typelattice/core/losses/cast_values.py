"""The cast of one value to a dtype, as far as the formats define it.

A finite value is an integer here, its value times INTEGER_SCALE. `SPECIALS` are the other values.
"""
from __future__ import annotations

from collections.abc import Callable

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.losses.cast_rounding_and_overflow import (
    NEAREST_EVEN,
    OVERFLOW_CLAMPS,
    OVERFLOW_UNDEFINED,
    OVERFLOW_WRAPS,
    PLAIN_CAST_RULE,
    ROUND_BY_ROUNDING_WORD,
    TOWARD_ZERO,
    CastRule,
    stays_finite,
)  # fmt: skip
from typelattice.core.losses.finite_values import INTEGER_SCALE, FiniteValues

LETTER_BY_SPECIAL = {"-0": "m", "inf": "i", "-inf": "i", "nan": "n"}  # the letter of each in `DType.specials`
UndefinedValue = tuple[str, object]  # the dtype that has no result for a value, and the value
ScaledValue = int | str | UndefinedValue
ScaledCaster = Callable[[ScaledValue], ScaledValue]


def make_caster(
    source: DType, target: DType, target_values: FiniteValues, rule: CastRule = PLAIN_CAST_RULE
) -> ScaledCaster:
    """Return the cast from one real dtype to another. `target_values` are the values of the target.

    If the system has no rule for it:

    - To bool: False for zero only.
    - To an integer: an integer wraps, a fraction is cut off.
    - To a binary float: to the nearest value, ties to even. A value beyond the range becomes an infinity, or
      nan if the format has no infinity, or the largest value if it has neither.
    - To fixed point: to the nearest value. To a list of values: only the values in the list.

    All else is undefined, such as nan as an integer. An undefined result equals only the result of the same
    value in the same dtype.
    """
    convert: ScaledCaster
    into_integer = target.kind.category < Kind.FLOAT.category
    rounding = rule.rounding or (TOWARD_ZERO if into_integer else NEAREST_EVEN)
    if target.kind is Kind.BOOL:
        convert = _cast_to_bool
    elif target_values.listed:
        convert = _listed_values_caster(target, target_values)
    elif target.kind.category >= Kind.FLOAT.category:
        build_caster = _rounding_caster if target_values.bits is not None else _fixed_point_caster
        convert = build_caster(target, target_values, rounding, rule.beyond)
    elif source.kind.category < Kind.FLOAT.category:
        convert = _wrapping_caster(
            target,
            target_values,
            rule.beyond or (OVERFLOW_WRAPS if wraps_integers(target) else OVERFLOW_UNDEFINED),
        )
    else:
        convert = _truncating_caster(target, target_values, rounding, rule.beyond)

    def cast(value: ScaledValue) -> ScaledValue:
        return (target.name, value) if isinstance(value, tuple) else convert(value)

    return cast


def wraps_integers(dtype: DType) -> bool:
    """Return True if integers that a dtype does not hold wrap in it: if it uses all its bits."""
    if (
        dtype.kind not in (Kind.UNSIGNED, Kind.SIGNED)
        or dtype.bits is None
        or dtype.values
        or dtype.max is None
    ):
        return False
    most = 2 ** (dtype.bits - (dtype.kind is Kind.SIGNED)) - 1
    return (dtype.min, dtype.max) == (-most - 1 if dtype.kind is Kind.SIGNED else 0, most)


def special_values(dtype: DType) -> list[str]:
    """Return the values of a dtype that are not finite numbers, and its minus zero."""
    return [
        value for value, letter in LETTER_BY_SPECIAL.items()
        if letter in dtype.specials and (value != "-inf" or "s" in dtype.specials)
    ]  # fmt: skip


def _cast_to_bool(value: ScaledValue) -> ScaledValue:
    return 0 if value in (0, "-0") else INTEGER_SCALE


def _wrapping_caster(target: DType, target_values: FiniteValues, overflow_word: str) -> ScaledCaster:
    """Cast integers. For an integer that does not use all its bits, wrapping is undefined."""
    modulus = target_values.high - target_values.low + INTEGER_SCALE

    def cast(value: ScaledValue) -> ScaledValue:
        assert isinstance(value, int)
        if target_values.low <= value <= target_values.high:
            return value
        if overflow_word == OVERFLOW_CLAMPS:
            return min(max(value, target_values.low), target_values.high)
        return (
            (value - target_values.low) % modulus + target_values.low
            if overflow_word == OVERFLOW_WRAPS
            else (target.name, value)
        )

    return cast


def _truncating_caster(
    target: DType, target_values: FiniteValues, rounding: str, overflow_word: str
) -> ScaledCaster:
    """Cast floats to integers."""
    modulus, round_size = (
        target_values.high - target_values.low + INTEGER_SCALE,
        ROUND_BY_ROUNDING_WORD[rounding],
    )

    def cast(value: ScaledValue) -> ScaledValue:
        if value == "-0":
            return 0
        if isinstance(value, int):
            size = round_size(abs(value), INTEGER_SCALE, value < 0)
            found = -size if value < 0 else size
            if target_values.low <= found <= target_values.high:
                return found
            if overflow_word == OVERFLOW_WRAPS:
                return (found - target_values.low) % modulus + target_values.low
        return (
            _clamp_to_dtype(value, target_values)
            if overflow_word == OVERFLOW_CLAMPS
            else (target.name, value)
        )

    return cast


def _clamp_to_dtype(value: ScaledValue, target_values: FiniteValues) -> ScaledValue:
    """Return the nearest value of a dtype, or 0 for nan."""
    if isinstance(value, int):
        return target_values.high if value > 0 else target_values.low
    return 0 if value == "nan" else target_values.low if value == "-inf" else target_values.high


def _rounding_caster(target: DType, target_values: FiniteValues, rounding: str, word: str) -> ScaledCaster:
    special_letters, unit, bits = {*target.specials}, target_values.unit, target_values.bits
    assert bits is not None
    round_size = ROUND_BY_ROUNDING_WORD[rounding]

    def beyond(value: ScaledValue, negative: bool) -> ScaledValue:
        if negative and "s" not in special_letters and word != OVERFLOW_CLAMPS:
            return target.name, value
        if word == OVERFLOW_UNDEFINED:
            return target.name, value
        if word == OVERFLOW_CLAMPS or (
            not word and isinstance(value, int) and stays_finite(rounding, negative)
        ):
            return target_values.low if negative else target_values.high
        if "i" in special_letters:
            return "-inf" if negative else "inf"
        return "nan" if "n" in special_letters else target_values.low if negative else target_values.high

    def zero(value: ScaledValue, negative: bool) -> ScaledValue:
        if negative and "m" in special_letters:
            return "-0"
        return 0 if "z" in special_letters else (target.name, value)

    def cast(value: ScaledValue) -> ScaledValue:
        if not isinstance(value, int):
            if value == "nan":
                undefined = (
                    (0 if "z" in special_letters else target_values.high)
                    if word == OVERFLOW_CLAMPS
                    else (target.name, value)
                )
                return "nan" if "n" in special_letters else undefined
            return zero(value, True) if value == "-0" else beyond(value, value == "-inf")
        if value == 0:
            return zero(value, False)
        negative, size = value < 0, abs(value)
        if negative and "s" not in special_letters:
            return beyond(value, True)
        found = round_size(size, max(unit, 1 << max(size.bit_length() - bits, 0)), negative)
        if found == 0:
            return zero(value, negative)
        if found > (-target_values.low if negative else target_values.high):
            return beyond(value, negative)
        return -found if negative else found

    return cast


def _fixed_point_caster(target: DType, target_values: FiniteValues, rounding: str, word: str) -> ScaledCaster:
    round_size = ROUND_BY_ROUNDING_WORD[rounding]

    def cast(value: ScaledValue) -> ScaledValue:
        if value == "-0":
            return 0
        if isinstance(value, int):
            size = round_size(abs(value), target_values.unit, value < 0)
            found = -size if value < 0 else size
            if target_values.low <= found <= target_values.high:
                return found
        return _clamp_to_dtype(value, target_values) if word == OVERFLOW_CLAMPS else (target.name, value)

    return cast


def _listed_values_caster(target: DType, target_values: FiniteValues) -> ScaledCaster:
    def cast(value: ScaledValue) -> ScaledValue:
        if isinstance(value, str) and LETTER_BY_SPECIAL[value] in target.specials:
            return value
        plain = 0 if value == "-0" else value
        return plain if isinstance(plain, int) and target_values.holds(plain) else (target.name, value)

    return cast
