"""Losses of casts from and to decimals, compared with every value of small ones."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations

import typelattice as tl
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.losses.finite_values import INTEGER_SCALE, find_finite_values
from typelattice.core.system_files.reader import parse

SYSTEM = parse("""
name = "shop"
order = "i8 -> price -> f32; grid -> f32"
[dtypes.price]
kind = "float"
specials = "sz"
parameters = { p = "1 to 38 digits", s = "0 to p decimals" }
[dtypes.grid]
kind = "float"
specials = "sz"
parameters = { p = "1 to 38", s = "0 to p" }
""")
OTHERS = ("bool", "int4", "uint4", "int8", "float4_e2m1fn", "float6_e2m3fn", "float8_e3m4")


def member(text: str) -> DType:
    found = SYSTEM.explain(text, text).dtype
    assert found is not None
    return found


@cache
def every_value(d: DType) -> list[Fraction]:
    """Every finite value of a small dtype, from the least; of a decimal by its definition."""
    if d.family is not None:
        p, s = map(int, d.arguments)
        return [Fraction(i, 10**s) for i in range(1 - 10**p, 10**p)]
    its = find_finite_values(d)
    assert its is not None
    steps = range(its.low // its.unit, its.high // its.unit + 1)
    return [Fraction(i * its.unit, INTEGER_SCALE) for i in steps if its.holds(i * its.unit)]


@cache
def kept_up_to(d: DType, sign: int) -> Fraction:
    """The first size that a cast does not keep: half a step beyond the end, or a whole one of an integer."""
    found = [v * sign for v in every_value(d)]
    end = max(found)
    step = end - max(v for v in found if v < end)
    return end + (1 if d.kind.category < Kind.FLOAT.category else step / 2)


def test_losses_of_decimals_are_those_of_their_values() -> None:
    decimals = [member(f"price({p},{s})") for p in (1, 2) for s in range(p + 1)]
    dtypes = [*decimals, *map(tl.dtype, OTHERS)]
    asked = 0
    for source, target in permutations(dtypes, 2):
        if source.family is target.family is None:
            continue
        have, take, found = every_value(source), {*every_value(target)}, tl.loss(source, target)
        low, top = min(take), max(take)
        inside = [v for v in have if low <= v <= top]
        assert not found.unknown
        assert found.precision == any(v not in take for v in inside), (source, target)
        # A tie at the end of a range goes to the even neighbour, which is beyond: these ends are odd.
        beyond = have[-1] >= kept_up_to(target, 1) or (low < 0 and -have[0] >= kept_up_to(target, -1))
        assert found.magnitude == beyond, (source, target)
        asked += 1
    assert asked == 5 * 4 + 2 * 5 * len(OTHERS)


def test_a_family_that_counts_no_digits_has_unknown_losses() -> None:
    assert tl.loss(member("grid(4,2)"), member("grid(5,2)")).unknown
    assert not tl.loss(member("price(4,2)"), member("price(5,2)"))
    assert tl.loss(member("price(10,0)"), tl.dtype("float32")).first_inexact == 2**24 + 1
    assert tl.loss(tl.dtype("float16"), member("price(38,24)")).special == ("-0", "inf", "nan")
