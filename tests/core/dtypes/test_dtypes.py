"""The facts of every dtype against NumPy, ml_dtypes and all bit patterns."""
from __future__ import annotations

from dataclasses import FrozenInstanceError

import ml_dtypes
import numpy as np
import pytest
from dtypes_of_numpy import FOUND, ML, as_numpy, np_numbers

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, real_part_dtype

SMALL = [d for d in FOUND if d.bits is not None and d.bits <= 16]
FLOATS = [d for d in FOUND if d.kind in (Kind.FLOAT, Kind.COMPLEX)]


def decoded(d: DType) -> np.ndarray:  # type: ignore[type-arg]
    """The values of all bit patterns of a dtype of at most 16 bits."""
    assert d.bits is not None and d.storage_bits is not None
    patterns = np.arange(2**d.bits, dtype=f"uint{d.storage_bits}")
    with np.errstate(all="ignore"):
        return patterns.view(as_numpy(d)).astype(np.float64)


def test_every_number_of_numpy_and_ml_dtypes_is_known() -> None:
    assert {n.name for n in [*ML, *np_numbers()]} <= set(DTYPES)


@pytest.mark.parametrize("d", FOUND, ids=repr)
def test_kind_and_storage_are_numpys(d: DType) -> None:
    native = as_numpy(d)
    assert native is not None and d.storage_bits == 8 * native.itemsize
    if native in np_numbers():
        letters = {"b": Kind.BOOL, "u": Kind.UNSIGNED, "i": Kind.SIGNED, "f": Kind.FLOAT, "c": Kind.COMPLEX}
        assert d.kind is letters[native.kind]
        assert d.bits == 8 * native.itemsize


@pytest.mark.parametrize("d", [d for d in FOUND if d.kind.category == 1], ids=repr)
def test_integers_are_as_iinfo_says(d: DType) -> None:
    info = ml_dtypes.iinfo(as_numpy(d)) if as_numpy(d) in ML else np.iinfo(as_numpy(d))
    assert (d.min, d.max) == (int(info.min), int(info.max))
    assert (d.precision, d.min_exponent, d.smallest, d.finite_only) == (None, None, 1, True)


@pytest.mark.parametrize("d", FLOATS, ids=repr)
def test_floats_are_as_finfo_says(d: DType) -> None:
    info = ml_dtypes.finfo(as_numpy(d)) if as_numpy(d) in ML else np.finfo(as_numpy(d))
    assert (d.min, d.max, d.smallest) == (float(info.min), float(info.max), float(info.smallest_subnormal))
    assert (d.precision, d.min_exponent) == (info.nmant + 1, info.minexp)
    assert d.bits == info.bits * (2 if d.kind is Kind.COMPLEX else 1)


@pytest.mark.parametrize("d", SMALL, ids=repr)
def test_facts_by_all_bit_patterns(d: DType) -> None:
    if d.kind is Kind.BOOL:
        assert (d.min, d.max, d.smallest, d.finite_only) == (0, 1, 1, True)
        return
    values = decoded(d)
    finite = values[np.isfinite(values)]
    assert (d.min, d.max, d.smallest) == (
        finite.min(),
        finite.max(),
        finite[finite > 0].min() if d.max else 1,
    )
    assert d.finite_only == (finite.size == values.size)
    here = {
        "s": (values < 0).any(), "z": (values == 0).any(), "m": np.signbit(values[values == 0]).any(),
        "i": np.isinf(values).any(), "n": np.isnan(values).any(),
    }  # fmt: skip
    assert {*d.specials} == {letter for letter, has in here.items() if has}
    if d.precision is not None and d.min_exponent is not None:
        significands = [int(abs(v) / d.smallest) for v in finite if v]
        odd = [n // (n & -n) for n in significands]
        assert max(n.bit_length() for n in odd) == d.precision
        normal = {
            np.frexp(abs(v))[1] - 1 for v in finite if v and (abs(v) / d.smallest) >= 2 ** (d.precision - 1)
        }
        assert min(normal) == d.min_exponent
        exact = {*finite[finite == np.floor(finite)].tolist()}
        assert all(float(n) in exact for n in range(1, int(min(2**d.precision, d.max or 0)) + 1))


@pytest.mark.parametrize("d", [d for d in DTYPES.values() if d.kind.category == 1 and d.bits], ids=repr)
def test_integers_follow_from_their_bits(d: DType) -> None:
    assert d.bits is not None and d.max is not None and d.min is not None
    assert d.max - d.min == 2**d.bits - 1
    assert (d.min < 0) == (d.kind is Kind.SIGNED)
    assert d.storage_bits == max(8, d.bits)


def test_tensor_float32_has_the_range_of_float32_and_the_precision_of_float16() -> None:
    tf32, f32, f16 = (tl.dtype(name) for name in ("tensor_float32", "float32", "float16"))
    assert tf32.precision == f16.precision
    assert tf32.min_exponent == f32.min_exponent
    assert tf32.bits == 1 + 8 + (f16.precision or 0) - 1
    assert tf32.max == (2 - 2.0**-10) * 2.0**127
    assert tf32.storage_bits == f32.storage_bits


def test_index_and_address_have_no_width_of_their_own() -> None:
    for name in ("index", "address"):
        d = tl.dtype(name)
        assert (d.kind, d.bits, d.storage_bits, d.max, d.min) == (Kind.UNSIGNED, None, None, None, 0)


@pytest.mark.parametrize("d", [d for d in DTYPES.values() if d.kind is Kind.COMPLEX], ids=repr)
def test_a_complex_dtype_has_the_facts_of_its_parts(d: DType) -> None:
    part = real_part_dtype(d)
    assert part.kind is Kind.FLOAT
    assert d.bits is not None and part.bits == d.bits // 2
    assert all(
        getattr(d, fact) == getattr(part, fact)
        for fact in ("max", "min", "smallest", "precision", "min_exponent", "specials")
    )
    native = as_numpy(d)
    assert native not in np_numbers() or np.zeros(1, native).real.dtype == as_numpy(part)


def test_the_part_of_a_real_dtype_is_itself() -> None:
    assert all(real_part_dtype(d) is d for d in DTYPES.values() if d.kind is not Kind.COMPLEX)


def test_ranks_compare_kinds_as_numpy_and_python_do() -> None:
    assert [k.category for k in Kind] == [0, 1, 1, 2, 3]
    assert [d.kind.category for d in map(tl.dtype, ("bool", "uint8", "int8", "float16", "complex64"))] == [
        0,
        1,
        1,
        2,
        3,
    ]


def test_facts_cannot_be_changed() -> None:
    with pytest.raises((FrozenInstanceError, AttributeError)):
        tl.dtype("int8").bits = 9  # type: ignore[misc]


# -- NumPy takes them


@pytest.mark.parametrize("d", FOUND, ids=repr)
def test_numpy_takes_a_dtype(d: DType) -> None:
    assert np.zeros(3, dtype=d).dtype == as_numpy(d)  # type: ignore[call-overload]
    assert np.zeros(3, dtype=bool).astype(d).dtype == as_numpy(d)
    assert tl.native(d, np) == as_numpy(d)


@pytest.mark.parametrize("d", [d for d in DTYPES.values() if d not in FOUND], ids=repr)
def test_a_dtype_that_numpy_lacks_is_refused_by_name(d: DType) -> None:
    with pytest.raises(tl.DTypeError, match=f"has {d}; cast to one that they have$"):
        tl.native(d, np)
    with pytest.raises(tl.DTypeError, match=f"has {d}; "):
        np.zeros(3, dtype=d)  # type: ignore[call-overload]
