"""What casts lose: proved over all values of dtypes of at most 16 bits, and at the edges of wider ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import ml_dtypes
import numpy as np
import pytest

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, real_part_dtype
from typelattice.core.losses.loss import Loss

F64 = np.ndarray[tuple[int], np.dtype[np.float64]]
BOOL = DTYPES["bool"]


def native(d: DType) -> np.dtype | None:  # type: ignore[type-arg]
    found = getattr(ml_dtypes, d.name, None) or getattr(np, "bool_" if d is BOOL else d.name, None)
    return np.dtype(found) if found else None


FOUND = [d for d in DTYPES.values() if native(d) is not None]
SMALL = [d for d in FOUND if d.bits is not None and d.bits <= 16]
# Casts to these end at the largest value.
FINITE_ONLY_FLOATS = ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn")


@cache
def values(d: DType) -> F64:
    """The values of all bit patterns; float64 holds them all exactly."""
    if d is BOOL:
        return np.array([0.0, 1.0])
    assert d.bits is not None
    patterns = np.arange(2**d.bits, dtype=f"uint{d.storage_bits}")
    with np.errstate(all="ignore"):
        return patterns.view(native(d)).astype(np.float64)


@cache
def finite(d: DType) -> F64:
    return np.unique(values(d)[np.isfinite(values(d))])


def rounded(x: F64, d: DType) -> F64:
    """x to nearest even at a format's precision and smallest value, and no largest one, by definition."""
    positive = finite(d)[finite(d) > 0]
    smallest = positive[0]
    precision = max(significand_bits(v / smallest) for v in positive)
    unit = np.maximum(np.exp2(np.frexp(x)[1] - precision), smallest)
    return np.rint(x / unit) * unit


def significand_bits(n: float) -> int:
    whole = int(n)
    return (whole // (whole & -whole)).bit_length()


@dataclass(frozen=True)
class Cast:
    """What becomes of each finite value of one dtype in another: by the real cast to a float; to an integer
    by cutting off, where NumPy does the same within the range and C leaves a cast out of it undefined.
    """

    x: F64  # those whose sign the target has
    becomes: F64
    beyond: F64  # whether out of range


@cache
def cast(source: DType, target: DType) -> Cast:
    x = finite(source)
    if not (finite(target) < 0).any():
        x = x[x >= 0]
    if not (finite(target) == 0).any():
        x = x[x != 0]
    if target.kind is not Kind.FLOAT:
        becomes = np.trunc(x)
        return Cast(x, becomes, (becomes < finite(target).min()) | (becomes > finite(target).max()))
    with np.errstate(all="ignore"):
        becomes = x.astype(native(target)).astype(np.float64)
    if target.name in FINITE_ONLY_FLOATS:
        return Cast(x, becomes, np.abs(rounded(x, target)) > finite(target).max())
    return Cast(x, becomes, ~np.isfinite(becomes))


def counted(source: DType, target: DType) -> Loss:
    """The loss of a cast, from its values."""
    c = cast(source, target)
    inside = ~c.beyond
    changed = inside & (c.becomes != c.x)
    whole = c.x[changed & (c.x > 0) & (c.x == np.trunc(c.x))]
    to_float = target.kind is Kind.FLOAT
    return Loss(
        magnitude=bool(c.beyond.any()),
        precision=bool(changed.any()),
        first_inexact=int(whole.min()) if to_float and whole.size else None,
        underflow=to_float and bool((inside & (c.x != 0) & (c.becomes == 0)).any()),
        sign=bool((finite(source) < 0).any() and not (finite(target) < 0).any()),
        special=tuple(
            name for name in ("zero", "-0", "inf", "nan") if has(name, source) and not has(name, target)
        ),
    )


@cache
def has(special: str, d: DType) -> bool:
    v = values(d)
    found = {"zero": v == 0, "-0": (v == 0) & np.signbit(v), "inf": np.isinf(v), "nan": np.isnan(v)}
    return bool(found[special].any())


@pytest.mark.parametrize("source", SMALL, ids=repr)
def test_loss_by_all_values(source: DType) -> None:
    claimed = {target: tl.loss(source, target) for target in SMALL}
    assert claimed == {target: counted(source, target) for target in SMALL}


@pytest.mark.parametrize("target", [d for d in SMALL if d.kind.category == 1], ids=repr)
def test_cutting_off_is_the_real_cast_to_an_integer(target: DType) -> None:
    """So that `cast` may rely on it; 7.5 is 7 in int4, whose largest is 7."""
    for source in (d for d in SMALL if d.kind is Kind.FLOAT):
        c = cast(source, target)
        real_cast = c.x[~c.beyond].astype(np.float32).astype(native(target)).astype(np.float64)
        assert (real_cast == c.becomes[~c.beyond]).all()


@pytest.mark.parametrize("target", [d for d in SMALL if d.name in FINITE_ONLY_FLOATS], ids=repr)
def test_rounding_by_definition_is_the_real_cast(target: DType) -> None:
    """So that `cast` may rely on it where a cast ends at the largest value."""
    for source in SMALL:
        c = cast(source, target)
        inside = ~c.beyond
        assert (rounded(c.x, target)[inside] == c.becomes[inside]).all()
        assert (np.abs(c.becomes[c.beyond]) == finite(target).max()).all()


@pytest.mark.parametrize("d", [d for d in SMALL if d.kind is Kind.FLOAT], ids=repr)
def test_specials_survive_real_casts_where_they_have_a_counterpart(d: DType) -> None:
    special = {"zero": 0.0, "-0": -0.0, "inf": np.inf, "nan": np.nan}
    for name, x in special.items():
        with np.errstate(all="ignore"):
            y = np.array([x]).astype(native(d)).astype(np.float64)
        kept = bool(np.array_equal(y, [x], equal_nan=True) and np.signbit(y[0]) == np.signbit(x)) or (
            name == "nan" and bool(np.isnan(y[0]))
        )
        assert kept == has(name, d)


def test_complex_loses_what_its_parts_lose() -> None:
    for a, b in product(DTYPES.values(), repeat=2):
        whole, parts = tl.loss(a, b), tl.loss(real_part_dtype(a), real_part_dtype(b))
        assert whole.imaginary == (a.kind is Kind.COMPLEX and b.kind is not Kind.COMPLEX)
        for fact in ("magnitude", "precision", "first_inexact", "underflow", "sign", "special"):
            assert getattr(whole, fact) == getattr(parts, fact), (a, b, fact)


def test_a_cast_to_itself_loses_nothing() -> None:
    assert {d: tl.loss(d, d) for d in DTYPES.values()} == dict.fromkeys(DTYPES.values(), Loss())


def test_two_casts_without_loss_are_one_without_loss() -> None:
    exact = {a: [b for b in DTYPES.values() if not tl.loss(a, b)] for a in DTYPES.values()}
    for a, direct in exact.items():
        assert {c for b in direct for c in exact[b]} <= set(direct), a


def test_loss_is_false_exactly_where_no_field_is_set() -> None:
    for a, b in product(DTYPES.values(), repeat=2):
        lost = tl.loss(a, b)
        assert bool(lost) == (lost != Loss())
        assert not (lost.underflow or lost.first_inexact) or lost.precision, "both are losses of precision"


WIDE = [d for d in FOUND if d.kind is not Kind.BOOL and d.kind is not Kind.COMPLEX]
WIDE_FLOATS = [d for d in WIDE if d.kind is Kind.FLOAT and (d.bits or 0) >= 16]


def through(value: int | float, source: DType, target: DType) -> float:
    """A value of the source, cast by NumPy."""
    with np.errstate(all="ignore"):
        return float(np.array([value]).astype(native(source)).astype(native(target)).astype(np.float64)[0])


@pytest.mark.parametrize("target", WIDE_FLOATS, ids=repr)
def test_magnitude_has_a_witness_in_real_casts(target: DType) -> None:
    for source in WIDE:
        assert source.max is not None and source.min is not None
        ends = [through(v, source, target) for v in (source.max, source.min)]
        assert tl.loss(source, target).magnitude == (not all(np.isfinite(ends))), source


@pytest.mark.parametrize("target", WIDE_FLOATS, ids=repr)
def test_first_inexact_changes_in_real_casts_and_its_predecessors_do_not(target: DType) -> None:
    for source in WIDE:
        n = tl.loss(source, target).first_inexact
        top = int(min(source.max or 0, target.max or 0))
        if n is not None:
            assert through(n, source, target) != n
        known = range(1, 70) if n is None else [*range(1, min(n, 70)), *range(max(1, n - 70), n)]
        held = [k for k in known if k <= top and through(k, source, DTYPES["float64"]) == k]
        assert all(through(k, source, target) == k for k in held if k <= 2**53)
        if n is None and source.precision is None:
            assert top <= 2 ** (target.precision or 0)


@pytest.mark.parametrize("target", WIDE_FLOATS, ids=repr)
def test_underflow_has_a_witness_in_real_casts(target: DType) -> None:
    for source in WIDE:
        assert tl.loss(source, target).underflow == (through(source.smallest, source, target) == 0), source


@pytest.mark.parametrize(
    ("source", "target"), [*product([d for d in WIDE if d.kind.category == 1], repeat=2)], ids=repr
)
def test_integers_lose_exactly_what_lies_out_of_range(source: DType, target: DType) -> None:
    lost = tl.loss(source, target)
    assert (
        source.max is not None
        and target.max is not None
        and source.min is not None
        and target.min is not None
    )
    assert lost.sign == (source.min < 0 <= target.min)
    assert lost.magnitude == (source.max > target.max or (not lost.sign and source.min < target.min))
    assert not (lost.precision or lost.underflow or lost.imaginary or lost.special)


@pytest.mark.parametrize("name", ["index", "address"])
def test_a_width_that_the_platform_decides_counts_at_its_worst(name: str) -> None:
    d = tl.dtype(name)
    assert tl.loss(d, tl.dtype("uint32")).magnitude, "64 bits on some platforms"
    assert not tl.loss(d, tl.dtype("uint64"))
    assert tl.loss(tl.dtype("uint64"), d).magnitude, "32 bits on others"
    assert not tl.loss(tl.dtype("uint32"), d)


def test_examples_that_the_documents_name() -> None:
    """float64 holds the integers to 2**53, float16 ends at 65504, an unsigned type loses the sign."""
    loss = lambda a, b: tl.loss(tl.dtype(a), tl.dtype(b))  # noqa: E731
    assert loss("int64", "float64").first_inexact == 2**53 + 1
    assert loss("int64", "float32") == Loss(precision=True, first_inexact=2**24 + 1)
    assert loss("int64", "float16").magnitude
    assert loss("float16", "bfloat16") == Loss(precision=True, first_inexact=257)
    assert loss("bfloat16", "float16") == Loss(magnitude=True, precision=True, underflow=True)
    assert loss("int8", "uint8") == Loss(sign=True)
    assert loss("float64", "int64") == Loss(magnitude=True, precision=True, special=("-0", "inf", "nan"))
    assert loss("complex64", "float64") == Loss(imaginary=True)
    assert not loss("uint8", "float16")


def test_a_name_is_no_dtype_and_it_is_said_how_to_get_one() -> None:
    with pytest.raises(tl.DTypeError, match=r"^'int8' is no DType; give tl\.dtype\(\.\.\.\) of it$"):
        tl.loss("int8", tl.dtype("float16"))  # type: ignore[arg-type]  # what a newcomer writes
