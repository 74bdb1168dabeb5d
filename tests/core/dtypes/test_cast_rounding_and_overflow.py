"""How casts round and what becomes of values out of range, against walks through all values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import one_in

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.losses import cast_chains
from typelattice.core.losses.cast_chains import cast_chain
from typelattice.core.losses.cast_rounding_and_overflow import (
    NEAREST_AWAY,
    NEAREST_EVEN,
    OVERFLOW_CLAMPS,
    OVERFLOW_WORDS,
    OVERFLOW_WRAPS,
    ROUND_BY_ROUNDING_WORD,
    ROUND_DOWN,
    ROUND_UP,
    TOWARD_ZERO,
    CastRule,
)
from typelattice.core.losses.cast_values import ScaledValue, make_caster
from typelattice.core.losses.finite_values import INTEGER_SCALE, find_finite_values

SMALL = [
    DTYPES[name]
    for name in ("float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "int4", "uint4")
]
FORMATS = [*SMALL, DTYPES["float16"], DTYPES["bfloat16"], DTYPES["int16"]]
DIRECTED = {
    TOWARD_ZERO: lambda v, x: abs(x) <= abs(v),
    ROUND_UP: lambda v, x: x >= v,
    ROUND_DOWN: lambda v, x: x <= v,
}
rules = st.builds(
    CastRule,
    st.sampled_from(["", NEAREST_EVEN, NEAREST_AWAY, TOWARD_ZERO, ROUND_UP, ROUND_DOWN]),
    st.sampled_from(["", OVERFLOW_CLAMPS]),
)


def numbers(d: DType) -> list[int]:
    its = find_finite_values(d)
    assert its is not None
    return sorted(cast_chains._list_all_values(its))


def by_definition(value: int, target: DType, rounding: str, clamps: bool) -> ScaledValue | None:
    """The result among all values of a target; None if the value is out of its range."""
    held = numbers(target)
    if not held[0] <= value <= held[-1]:
        return (held[-1] if value > 0 else held[0]) if clamps else None
    if rounding in DIRECTED:
        return min((x for x in held if DIRECTED[rounding](value, x)), key=lambda x: abs(x - value))
    near = sorted(held, key=lambda x: abs(x - value))[:2]
    tie = len(near) == 2 and abs(near[0] - value) == abs(near[1] - value)
    if not tie:
        return near[0]
    if rounding == NEAREST_AWAY:
        return max(near, key=abs)
    gap = abs(near[0] - near[1])
    return next(x for x in near if x // gap % 2 == 0)


@pytest.mark.parametrize(
    ("target", "rounding"),
    one_in(4, [*product(SMALL, (NEAREST_EVEN, NEAREST_AWAY, TOWARD_ZERO, ROUND_UP, ROUND_DOWN))]),
    ids=str,
)
def test_values_of_float16_round_as_a_walk_through_the_target_does(target: DType, rounding: str) -> None:
    its = find_finite_values(target)
    assert its is not None
    cast = make_caster(DTYPES["float16"], target, its, CastRule(rounding, OVERFLOW_CLAMPS))
    for value in numbers(DTYPES["float16"])[::61]:
        expected = by_definition(value, target, rounding, clamps=True)
        found = cast(value)
        assert (0 if found == "-0" else found) == expected, Fraction(value, INTEGER_SCALE)


def test_infinities_and_nan_are_clamped() -> None:
    for name, high in (("float8_e5m2", 57344), ("int8", 127)):
        its = find_finite_values(DTYPES[name])
        assert its is not None
        cast = make_caster(DTYPES["float32"], DTYPES[name], its, CastRule("", OVERFLOW_CLAMPS))
        assert cast("inf") == high * INTEGER_SCALE
        assert cast("nan") == ("nan" if name == "float8_e5m2" else 0)
        assert cast("-inf") == its.low


def test_a_value_rounded_toward_the_range_stays_finite() -> None:
    its = find_finite_values(DTYPES["float16"])
    assert its is not None
    beyond = 10**6 * INTEGER_SCALE
    results = {
        r: make_caster(DTYPES["float32"], DTYPES["float16"], its, CastRule(r))(beyond)
        for r in ROUND_BY_ROUNDING_WORD
    }
    assert results == {
        NEAREST_EVEN: "inf",
        NEAREST_AWAY: "inf",
        TOWARD_ZERO: its.high,
        ROUND_UP: "inf",
        ROUND_DOWN: its.high,
    }


def test_a_float_may_wrap_and_then_nothing_is_proved() -> None:
    its = find_finite_values(DTYPES["int8"])
    assert its is not None
    cast = make_caster(DTYPES["float32"], DTYPES["int8"], its, CastRule("", OVERFLOW_WRAPS))
    assert cast(300 * INTEGER_SCALE + INTEGER_SCALE // 2) == 44 * INTEGER_SCALE
    wraps = CastRule("", OVERFLOW_WRAPS)
    chain = cast_chain(DTYPES["float32"], DTYPES["int16"], DTYPES["int8"], (wraps, CastRule(), wraps))
    assert chain.exact is None and not chain
    assert str(chain).endswith("wrap of float32 to int16 is not compared for all values")
    refused = CastRule(refusal_reason="no instruction")
    direct = cast_chain(DTYPES["float32"], DTYPES["int16"], DTYPES["int8"], (CastRule(), CastRule(), refused))
    assert str(direct) == "float32 -> int16 -> int8: no instruction" and direct.exact is False


chains_of_rules = given(*[st.sampled_from(FORMATS)] * 3, *[rules] * 3)


@settings(max_examples=100)
@chains_of_rules
def test_the_first_difference_is_that_of_all_values(
    a: DType, b: DType, c: DType, first: CastRule, second: CastRule, direct: CastRule
) -> None:
    """What is proved by the values next to breakpoints holds for all values."""
    compare_proofs(a, b, c, first, second, direct)


@pytest.mark.whole
@settings(max_examples=2_000)
@chains_of_rules
def test_the_first_difference_is_that_of_all_values_in_many_chains(
    a: DType, b: DType, c: DType, first: CastRule, second: CastRule, direct: CastRule
) -> None:
    compare_proofs(a, b, c, first, second, direct)


def compare_proofs(
    a: DType, b: DType, c: DType, first: CastRule, second: CastRule, direct: CastRule
) -> None:
    """Compare the difference found by a few values with that found by all."""
    given = tuple(_possible(rule, to) for rule, to in ((first, b), (second, c), (direct, c)))
    proofs = []
    for few in (3, 10**9):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(cast_chains, "MAX_VALUES_ALL_TRIED", few)
            cast_chains._first_difference.cache_clear()
            proofs.append(cast_chains._first_difference(a, b, c, given))
    cast_chains._first_difference.cache_clear()
    assert proofs[0] == proofs[1]


def _possible(rule: CastRule, to: DType) -> CastRule:
    """The rule without a rounding where integers may be cast to integers, which rounds nothing."""
    return rule if to.kind.category >= Kind.FLOAT.category else CastRule("", rule.beyond)


def test_words_are_listed_once() -> None:
    assert len({*OVERFLOW_WORDS, *ROUND_BY_ROUNDING_WORD}) == len(OVERFLOW_WORDS) + len(
        ROUND_BY_ROUNDING_WORD
    )
