"""The cast of one value to a dtype, as far as the formats define it.

A finite value is an integer here, its value times SCALE. `SPECIALS` are the other values.
"""
from __future__ import annotations

from collections.abc import Callable

from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.finite_values import SCALE, Values

SPECIALS = {"-0": "m", "inf": "i", "-inf": "i", "nan": "n"}  # the letter of each in `DType.specials`
Undefined = tuple[str, object]  # the dtype that has no result for a value, and the value
Value = int | str | Undefined
Cast = Callable[[Value], Value]


def caster(source: DType, target: DType, its: Values) -> Cast:
    """Return the cast from one real dtype to another, whose values are `its`.

    - To bool: False for zero only.
    - To an integer: an integer wraps, a fraction is cut off.
    - To a binary float: to the nearest value, ties to even. A value beyond the range becomes an infinity; nan
      if the format has no infinity; the largest value if it has neither.
    - To fixed point: to the nearest value. To a list of values: only the values in the list.

    All else is undefined, such as nan as an integer. An undefined result equals only that of the same value
    in the same dtype.
    """
    find: Cast
    if target.kind is Kind.BOOL:
        find = _truth
    elif its.listed:
        find = _listed(target, its)
    elif target.kind.rank >= Kind.FLOAT.rank:
        find = _rounded(target, its) if its.bits is not None else _fixed(target, its)
    elif source.kind.rank < Kind.FLOAT.rank:
        find = _wrapped(target, its)
    else:
        find = _cut_off(target, its)

    def cast(value: Value) -> Value:
        return (target.name, value) if isinstance(value, tuple) else find(value)

    return cast


def wraps(d: DType) -> bool:
    """Return True if integers that a dtype does not hold wrap in it: if it uses all its bits."""
    if d.kind not in (Kind.UNSIGNED, Kind.SIGNED) or d.bits is None or d.values or d.max is None:
        return False
    most = 2 ** (d.bits - (d.kind is Kind.SIGNED)) - 1
    return (d.min, d.max) == (-most - 1 if d.kind is Kind.SIGNED else 0, most)


def specials(d: DType) -> list[str]:
    """The values of a dtype that are not finite numbers, and its minus zero."""
    return [
        value for value, letter in SPECIALS.items()
        if letter in d.specials and (value != "-inf" or "s" in d.specials)
    ]  # fmt: skip


def _truth(value: Value) -> Value:
    return 0 if value in (0, "-0") else SCALE


def _wrapped(target: DType, its: Values) -> Cast:
    """Cast integers. One that does not use all its bits wraps in no defined way."""
    modulus = its.high - its.low + SCALE
    whole = wraps(target)

    def cast(value: Value) -> Value:
        assert isinstance(value, int)
        if its.low <= value <= its.high:
            return value
        return (value - its.low) % modulus + its.low if whole else (target.name, value)

    return cast


def _cut_off(target: DType, its: Values) -> Cast:
    def cast(value: Value) -> Value:
        if value == "-0":
            return 0
        if isinstance(value, int):
            found = value // SCALE * SCALE if value >= 0 else -(-value // SCALE * SCALE)
            if its.low <= found <= its.high:
                return found
        return target.name, value

    return cast


def _rounded(target: DType, its: Values) -> Cast:
    has, unit, bits = {*target.specials}, its.unit, its.bits
    assert bits is not None

    def beyond(value: Value, negative: bool) -> Value:
        if negative and "s" not in has:
            return target.name, value
        if "i" in has:
            return "-inf" if negative else "inf"
        return "nan" if "n" in has else its.low if negative else its.high

    def zero(value: Value, negative: bool) -> Value:
        if negative and "m" in has:
            return "-0"
        return 0 if "z" in has else (target.name, value)

    def cast(value: Value) -> Value:
        if not isinstance(value, int):
            if value == "nan":
                return "nan" if "n" in has else (target.name, value)
            return zero(value, True) if value == "-0" else beyond(value, value == "-inf")
        if value == 0:
            return zero(value, False)
        negative, size = value < 0, abs(value)
        if negative and "s" not in has:
            return target.name, value
        found = _nearest(size, max(unit, 1 << max(size.bit_length() - bits, 0)))
        if found == 0:
            return zero(value, negative)
        if found > (-its.low if negative else its.high):
            return beyond(value, negative)
        return -found if negative else found

    return cast


def _fixed(target: DType, its: Values) -> Cast:
    def cast(value: Value) -> Value:
        if value == "-0":
            return 0
        if isinstance(value, int):
            size = _nearest(abs(value), its.unit)
            found = -size if value < 0 else size
            if its.low <= found <= its.high:
                return found
        return target.name, value

    return cast


def _listed(target: DType, its: Values) -> Cast:
    def cast(value: Value) -> Value:
        if isinstance(value, str) and SPECIALS[value] in target.specials:
            return value
        plain = 0 if value == "-0" else value
        return plain if isinstance(plain, int) and its.holds(plain) else (target.name, value)

    return cast


def _nearest(size: int, unit: int) -> int:
    """The multiple of a unit nearest to a size; of two, the even one."""
    count, rest = divmod(size, unit)
    return (count + (2 * rest > unit or (2 * rest == unit and count % 2))) * unit
