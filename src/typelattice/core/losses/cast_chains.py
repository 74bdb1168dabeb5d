"""Compare two casts in a row, `a -> b -> c`, with the one cast `a -> c`, for every value.

Small dtypes are tried whole. For the others a proof needs few values. Casts are constant between two
neighbouring *breakpoints*, so it is enough to try the values next to each. Breakpoints repeat with the
doublings of floats, except near the ends of a format's range and of its subnormal values. So only doublings
near these are tried.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, product

from typelattice.base.errors.error_texts import quote_short
from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, DTypeError, Kind, real_part_dtype
from typelattice.core.losses.cast_rounding_and_overflow import PLAIN_CAST_RULE, CastRule, is_proved
from typelattice.core.losses.cast_values import (
    ScaledValue,
    UndefinedValue,
    make_caster,
    special_values,
    wraps_integers,
)
from typelattice.core.losses.finite_values import INTEGER_SCALE, FiniteValues, find_finite_values
from typelattice.core.losses.loss import loss

MAX_VALUES_ALL_TRIED = 300  # values of a dtype that are all tried
HALF_SPACINGS = range(5)  # halves of a spacing on either side of the start of a doubling: a whole period
PLAIN_RULE_FOR_EACH_CAST = (PLAIN_CAST_RULE, PLAIN_CAST_RULE, PLAIN_CAST_RULE)
FLOAT_CATEGORY = Kind.FLOAT.category
ChainDifference = tuple[str, str, str]  # a value, and the results of both ways, as text
ChainRules = tuple[CastRule, CastRule, CastRule]  # the first cast, the second, and the direct one


@frozen()
class CastChain:
    """The casts `source -> through -> target` against the one cast `source -> target`.

    `exact` is True if both give the same result for every value, so a compiler may fold the two casts. It is
    None if the values of a dtype are unknown. If not exact, `first_difference` is the first value with
    different results. The smallest finite value comes first, a positive one before a negative one. Then
    follow -0, inf, -inf and nan. A complex source that loses its imaginary part shows 1j. `chained` and
    `direct` are the two results, as text. The formats do not define some results, such as 1e9 as int8. Such a
    result equals only that of the same value. `obstacle` says why one of the casts is impossible, or why
    nothing is proved.

    >>> from typelattice import dtype
    >>> print(cast_chain(dtype("float32"), dtype("int32"), dtype("bool")))
    float32 -> int32 -> bool: 1.401298464324817e-45 becomes False, directly True
    """

    source: DType
    through: DType
    target: DType
    exact: bool | None
    first_difference: str = ""
    chained: str = ""
    direct: str = ""
    obstacle: str = ""

    def __bool__(self) -> bool:
        return self.exact is True

    def __str__(self) -> str:
        name = f"{self.source} -> {self.through} -> {self.target}"
        if self.obstacle:
            return f"{name}: {self.obstacle}"
        if self.exact is None:
            return f"{name}: not known, as the values of a dtype are not"
        if self.exact:
            return f"{name}: the same as {self.source} -> {self.target}"
        return f"{name}: {self.first_difference} becomes {self.chained}, directly {self.direct}"


@lru_cache(maxsize=100_000)
def cast_chain(
    source: DType, through: DType, target: DType, rules: ChainRules = PLAIN_RULE_FOR_EACH_CAST
) -> CastChain:
    """Compare two casts in a row with the direct cast. Raises DTypeError for anything but a DType.

    `rules` are the rules of the first cast, of the second and of the direct one.

    >>> from typelattice import dtype
    >>> print(cast_chain(dtype("int64"), dtype("int32"), dtype("int16")))
    int64 -> int32 -> int16: the same as int64 -> int16
    >>> chain = cast_chain(dtype("float64"), dtype("float32"), dtype("float16"))
    >>> chain.exact, chain.first_difference, chain.chained, chain.direct
    (False, '2.980232238769532e-08', '0.0', '5.960464477539063e-08')
    """
    for given in (source, through, target):
        if not isinstance(given, DType):
            what = (
                quote_short(given) if isinstance(given, str) else f"an object of type {type(given).__name__}"
            )
            raise DTypeError(f"{what} is no DType; give tl.dtype(...) of it")
    names = (source, through, target)
    if source is through or through is target:
        return CastChain(*names, True)
    for rule in rules:
        if rule.obstacle:
            return CastChain(*names, False, obstacle=rule.obstacle)
    if source.kind is Kind.COMPLEX and through.kind is not Kind.COMPLEX:
        difference = _compare_imaginary_part(through, target)
        if difference is not None:
            return CastChain(*names, False, *difference)
    if any(find_finite_values(d) is None or d.bits is None for d in names):
        return CastChain(*names, None)
    casts = ((source, through), (through, target), (source, target))
    for rule, (start, end) in zip(rules, casts, strict=True):
        if not is_proved(rule, start) and end.kind is not Kind.BOOL:
            reason = f"{rule.rounding or rule.beyond} of {start} to {end} is not compared for all values"
            return CastChain(*names, None, obstacle=reason)
    difference_found = _first_difference(*map(real_part_dtype, names), rules)
    return CastChain(*names, difference_found is None, *(difference_found or ()))


def _compare_imaginary_part(through: DType, target: DType) -> tuple[str, str, str] | None:
    """Return how 1j differs after a cast through a real dtype: the value, and both results."""
    has_zero = through.kind is not Kind.FLOAT or "z" in through.specials
    chained = "0" if has_zero else f"not defined by {through}"
    match through.kind, target.kind:
        case Kind.BOOL, Kind.COMPLEX:
            return "1j", "1", "1j"
        case _, Kind.COMPLEX:
            return "1j", chained, "1j"
        case kind, Kind.BOOL if kind is not Kind.BOOL:
            return "1j", "False" if has_zero else chained, "True"
    return None


def _is_surely_exact(source: DType, through: DType, target: DType) -> bool:
    """Return True if the first cast loses nothing, or integers wrap in both and the second is not wider."""
    whole = [d.kind.category < FLOAT_CATEGORY for d in (source, through, target)]
    if not loss(source, through):
        into_integer = whole[2] and target.kind is not Kind.BOOL
        return not into_integer or whole[0] == whole[1] or not loss(source, target)
    if not (whole[0] and wraps_integers(through) and wraps_integers(target)):
        return False
    return through.bits is not None and target.bits is not None and through.bits >= target.bits


def may_be_folded(
    source: DType, through: DType, target: DType, rules: ChainRules = PLAIN_RULE_FOR_EACH_CAST
) -> bool:
    """Return True if both ways give the same for every value: `exact` of `cast_chain`, but faster.

    A difference often shows at an end of a range, so these values are tried before all others in their order.

    >>> from typelattice import dtype
    >>> may_be_folded(dtype("int64"), dtype("int32"), dtype("int16"))
    True
    """
    a, b, c = map(real_part_dtype, (source, through, target))
    known = [v for d in (a, b, c) if (v := find_finite_values(d))]
    can_be_tried = len(known) == 3 and not any(rule.obstacle for rule in rules)
    if can_be_tried and _find_difference(
        a, b, c, rules, chain[ScaledValue](_yield_range_ends(known), special_values(a))
    ):
        return False
    return cast_chain(source, through, target, rules).exact is True


def _yield_range_ends(all_finite_values: Sequence[FiniteValues]) -> Iterator[int]:
    """Yield values of the first dtype that lie at the ends of the ranges of all: the greatest, the finest."""
    source_values = all_finite_values[0]
    for finite_values in all_finite_values:
        unit = max(finite_values.unit, source_values.unit)
        for size in (
            finite_values.high,
            finite_values.high + unit,
            unit,
            3 * unit,
            (unit << (finite_values.bits or 0)) + unit,
        ):
            yield from (v for v in (size, -size) if source_values.holds(v))


@lru_cache(maxsize=100_000)  # only real dtypes, since the parts of complex ones are cast one by one
def _first_difference(
    source: DType, through: DType, target: DType, rules: ChainRules
) -> ChainDifference | None:
    """Return the first value with different results, and both as text, or None without one."""
    tried = chain[ScaledValue](_list_tried_values(source, through, target), special_values(source))
    return _find_difference(source, through, target, rules, tried)


def _find_difference(
    source: DType, through: DType, target: DType, rules: ChainRules, candidates: Iterable[ScaledValue]
) -> ChainDifference | None:
    """Return the first of these values with different results, and both as text, or None without one."""
    through_values, target_values = find_finite_values(through), find_finite_values(target)
    assert through_values is not None
    assert target_values is not None
    is_plain = rules == PLAIN_RULE_FOR_EACH_CAST
    if source is through or through is target or (is_plain and _is_surely_exact(source, through, target)):
        return None
    to_through, to_target, directly = rules
    cast_to_through, cast_directly = (
        make_caster(source, through, through_values, to_through),
        make_caster(source, target, target_values, directly),
    )
    second_is_direct = (source.kind.category < FLOAT_CATEGORY) == (
        through.kind.category < FLOAT_CATEGORY
    ) and to_target == directly
    cast_to_target = (
        cast_directly if second_is_direct else make_caster(through, target, target_values, to_target)
    )
    for value in candidates:
        middle = cast_to_through(value)
        if second_is_direct and middle == value:
            continue
        if cast_to_target(middle) != cast_directly(value):
            chained = (
                _result_text(middle, through)
                if isinstance(middle, tuple)
                else _result_text(cast_to_target(middle), target)
            )
            return _result_text(value, source), chained, _result_text(cast_directly(value), target)
    return None


def _list_tried_values(source: DType, through: DType, target: DType) -> Iterator[int]:
    """Yield values of the source, among them the first that differs: the smallest first."""
    source_values, *others = (v for d in (source, through, target) if (v := find_finite_values(d)))
    if (
        source_values.listed
        or source_values.count(source_values.low, source_values.high) <= MAX_VALUES_ALL_TRIED
    ):
        yield from sorted(_list_all_values(source_values), key=lambda v: (abs(v), v < 0))
        return
    sizes = _yield_sizes_near_breakpoints(source_values, others)
    if all(d.kind.category < FLOAT_CATEGORY for d in (source, through)):
        sizes = iter(sorted(_yield_wrapping_values(set(sizes), source_values, others)))
    yield from (
        v
        for size in sizes
        for v in ((size, -size) if size else (0,))
        if source_values.low <= v <= source_values.high
    )


def _list_all_values(finite_values: FiniteValues) -> Iterator[int]:
    """Yield every value: the listed values, or the values from zero up and down."""
    if finite_values.listed:
        yield from finite_values.listed
        return
    size, top = 0, max(finite_values.high, -finite_values.low)
    while size <= top:
        yield from (
            v
            for v in {size, -size}
            if finite_values.low <= v <= finite_values.high and (v or finite_values.holds(0))
        )
        size += _value_spacing(finite_values, size)


def _value_spacing(finite_values: FiniteValues, size: int) -> int:
    """Return the distance from a size to the next larger value, as if the dtype had no upper limit."""
    return (
        finite_values.unit
        if finite_values.bits is None
        else max(finite_values.unit, 1 << max(size.bit_length() - finite_values.bits, 0))
    )


def _yield_sizes_near_breakpoints(source_values: FiniteValues, others: list[FiniteValues]) -> Iterator[int]:
    """Yield the sizes of values next to breakpoints, from the least."""
    exponents = _doubling_exponents(source_values, others)
    waiting: set[int] = set()
    for exponent, following in zip(exponents, [*exponents[1:], None], strict=True):
        for point in _yield_breakpoints(exponent, others):
            step = _value_spacing(source_values, point)
            below = point // step * step
            waiting |= {max(below - _value_spacing(source_values, max(below - 1, 0)), 0), below, below + step}
        # The points of the next doubling begin at half its start, and the values next to them below that.
        ready = waiting if following is None else {size for size in waiting if size < 1 << following - 2}
        yield from sorted(ready)
        waiting = waiting - ready


def _yield_breakpoints(exponent: int, others: list[FiniteValues]) -> Iterator[int]:
    """Yield breakpoints around the start of a doubling, and around the ends of ranges in it."""
    start = 1 << exponent
    for sign in (-1, 1):
        # The values of a list are breakpoints themselves, whatever the spacing.
        steps = sorted(
            _value_spacing(finite_values, start if sign > 0 else start - 1)
            for finite_values in others
            if not finite_values.listed
        )
        fine, coarse = steps[0] if steps else 0, steps[-1] if steps else 0
        points = {
            (sign * phase * coarse + other) // 2 for phase, other in product(HALF_SPACINGS, (-fine, 0, fine))
        }
        yield from (start + p for p in points if abs(p) <= start // 2)
    for finite_values in others:
        yield from (size for v in finite_values.listed if (size := abs(v)).bit_length() - 1 == exponent)
        for end in {abs(finite_values.high), abs(finite_values.low)} if not finite_values.listed else ():
            if end.bit_length() - 1 == exponent:
                # Beyond the end of one dtype the values of another still change.
                spacings = {_value_spacing(each, end) for each in others if not each.listed}
                points = {
                    end // spacing * spacing + sign * phase * spacing // 2
                    for spacing, phase, sign in product(spacings, HALF_SPACINGS, (-1, 1))
                }
                yield from (p for p in points if abs(p - end) <= start // 2)


def _doubling_exponents(source_values: FiniteValues, others: list[FiniteValues]) -> list[int]:
    """Return the exponents of the doublings to try, of INTEGER_SCALE times a value."""
    exponents = set[int]()
    for finite_values in (source_values, *others):
        if finite_values.listed:
            exponents |= {abs(v).bit_length() - 1 for v in finite_values.listed}
            continue
        first, last = (
            finite_values.unit.bit_length() - 1,
            max(finite_values.high, -finite_values.low).bit_length() - 1,
        )
        normal = last if finite_values.bits is None else first + finite_values.bits
        exponents |= {*range(first - 2, normal + 3), *range(last - 2, last + 3)}
    first, last = (
        source_values.unit.bit_length() - 1,
        max(source_values.high, -source_values.low).bit_length() - 1,
    )
    # below this power, all values become zero in both ways
    lowest = min(_smallest_nonzero(finite_values).bit_length() for finite_values in others) - 4
    return sorted(e for e in exponents if first <= e <= last and (e >= lowest or e == first))


def _smallest_nonzero(finite_values: FiniteValues) -> int:
    return min((abs(v) for v in finite_values.listed if v), default=finite_values.unit)


def _yield_wrapping_values(
    sizes: set[int], source_values: FiniteValues, others: list[FiniteValues]
) -> set[int]:
    """Return the sizes, and the values that wrap to them in an integer."""
    found = set(sizes)
    for finite_values in others:
        if finite_values.bits is not None or finite_values.unit != INTEGER_SCALE:
            continue
        modulus = finite_values.high - finite_values.low + INTEGER_SCALE
        found |= {abs(modulus - size) for size in sizes} | {modulus + size for size in sizes}
    return {size for size in found if size <= max(source_values.high, -source_values.low)}


def _result_text(value: ScaledValue, dtype: DType) -> str:
    """Return a result as Python writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        if dtype.kind is Kind.BOOL:
            return str(bool(value))
        return (
            str(value // INTEGER_SCALE)
            if value % INTEGER_SCALE == 0 and dtype.kind.category < FLOAT_CATEGORY
            else _float_text(value)
        )
    return _undefined_text(value)


def _undefined_text(value: UndefinedValue) -> str:
    return f"not defined by {value[0]}"


def _float_text(value: int) -> str:
    return str(value / INTEGER_SCALE)
