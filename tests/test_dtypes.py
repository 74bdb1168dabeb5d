"""The facts of every dtype against NumPy, ml_dtypes and all bit patterns; and the names to call them by."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from functools import cache
from itertools import product
from threading import Barrier

import ml_dtypes
import numpy as np
import pytest

import typelattice as tl
from typelattice.facts.dtypes import CODES, DTYPES, DType, Kind, define, part_of, weak
from typelattice.files.reader import parse

ML = [np.dtype(t) for t in vars(ml_dtypes).values() if isinstance(t, type) and issubclass(t, np.generic)]


@cache
def as_numpy(d: DType) -> np.dtype | None:  # type: ignore[type-arg]
    """NumPy's or ml_dtypes' dtype of that name, found without the code under test."""
    return next((n for n in [np.dtype(bool), *ML, *np_numbers()] if n.name == d.name), None)


def np_numbers() -> list[np.dtype]:  # type: ignore[type-arg]
    return [np.dtype(c) for c in "BHILbhilefdFD"] + [np.dtype(c) for c in "Qq"]


FOUND = [d for d in DTYPES.values() if as_numpy(d) is not None]
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


@pytest.mark.parametrize("d", [d for d in FOUND if d.kind.rank == 1], ids=repr)
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


@pytest.mark.parametrize("d", [d for d in DTYPES.values() if d.kind.rank == 1 and d.bits], ids=repr)
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
    part = part_of(d)
    assert part.kind is Kind.FLOAT
    assert d.bits is not None and part.bits == d.bits // 2
    assert all(
        getattr(d, fact) == getattr(part, fact)
        for fact in ("max", "min", "smallest", "precision", "min_exponent", "specials")
    )
    native = as_numpy(d)
    assert native not in np_numbers() or np.zeros(1, native).real.dtype == as_numpy(part)


def test_the_part_of_a_real_dtype_is_itself() -> None:
    assert all(part_of(d) is d for d in DTYPES.values() if d.kind is not Kind.COMPLEX)


def test_ranks_compare_kinds_as_numpy_and_python_do() -> None:
    assert [k.rank for k in Kind] == [0, 1, 1, 2, 3]
    assert [d.kind.rank for d in map(tl.dtype, ("bool", "uint8", "int8", "float16", "complex64"))] == [
        0,
        1,
        1,
        2,
        3,
    ]


# names and codes


def test_names_and_codes_are_unique_and_read_back() -> None:
    assert len(CODES) == len(DTYPES)
    assert not (set(CODES) & set(DTYPES)) - {d.name for d in DTYPES.values() if d.name == d.code}
    for name, d in DTYPES.items():
        assert tl.dtype(name) is d
        assert tl.dtype(d) is d
        assert (repr(d), str(d)) == (name, name)


def numpy_reading(code: str) -> str | None:
    """What NumPy reads in a code, if it is one of its numbers."""
    try:
        d = np.dtype(code)
    except (TypeError, ValueError):
        return None
    return d.name if d.name in DTYPES else None


@pytest.mark.parametrize("code", [f"{letter}{n}" for letter, n in product("iufc", range(1, 129))])
def test_a_code_is_taken_in_bits_or_refused_if_numpy_reads_bytes(code: str) -> None:
    ours, numpys = CODES.get(code), numpy_reading(code)
    if numpys:
        with pytest.raises(tl.DTypeError, match="reads as") as e:
            tl.dtype(code)
        in_bits = ours.name if ours else f"{code[1:]}-bit"
        assert numpys in str(e.value)
        assert in_bits in str(e.value)
    elif ours:
        assert tl.dtype(code) is ours
    else:
        with pytest.raises(tl.DTypeError, match=f"^unknown dtype '{code}'"):
            tl.dtype(code)


def test_codes_of_one_reading_are_taken() -> None:
    assert [str(tl.dtype(c)) for c in ("i32", "u64", "f16", "bf16", "tf32", "c64", "c128", "f8_e4m3fn")] == [
        "int32", "uint64", "float16", "bfloat16", "tensor_float32", "complex64", "complex128",
        "float8_e4m3fn",
    ]  # fmt: skip


def test_b_is_bool_or_numpys_int8() -> None:
    with pytest.raises(tl.DTypeError, match=r"(?=.*\bbool\b)(?=.*\bint8\b)"):
        tl.dtype("b")


NEAR_MISSES = {
    "unit8": "uint8",
    "int_8": "int8",
    "bfloat": "bfloat16",
    "float8_e4m3fm": "float8_e4m3fn",
    "Float32": "float32",
    "complex": "complex64",
}


@pytest.mark.parametrize(("wrong", "right"), [*NEAR_MISSES.items()])
def test_a_near_miss_is_pointed_out(wrong: str, right: str) -> None:
    with pytest.raises(tl.DTypeError, match=f"^unknown dtype '{wrong}'; did you mean .*{right}"):
        tl.dtype(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "int8 ",
        "étoile",
        "i" * 10_000,
        "int8\n",
        "[('a', 'i4')]",
        "datetime64",
        "object",
        "str",
        "void",
        "\0",
    ],
)
def test_a_text_that_names_nothing_is_refused_in_one_short_line(text: str) -> None:
    with pytest.raises(tl.DTypeError) as e:
        tl.dtype(text)
    assert len(str(e.value)) < 200
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    "x", [None, 8, 1.5, b"int8", ["int8"], {"name": "int8"}, pytest.param(object(), id="object()")], ids=repr
)
def test_an_object_that_is_no_name_is_refused(x: object) -> None:
    with pytest.raises(
        tl.DTypeError,
        match=f"^a {re.escape(type(x).__name__)} is no name of a dtype; give one such as 'int8'$",
    ):
        tl.dtype(x)


# identity


@pytest.mark.parametrize("d", DTYPES.values(), ids=repr)
def test_copies_and_pickles_are_the_same_object(d: DType) -> None:
    assert copy.copy(d) is d
    assert copy.deepcopy(d) is d
    assert all(
        pickle.loads(pickle.dumps(d, protocol)) is d for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    )


def test_weak_nodes_are_the_same_object_after_a_copy() -> None:
    for node in (weak(Kind.SIGNED), weak(Kind.SIGNED, tl.dtype("int32"))):
        assert weak(node.kind, node.dtype) is node
        assert copy.deepcopy(node) is node
        assert pickle.loads(pickle.dumps(node)) is node


def test_a_copied_system_answers_as_the_original() -> None:
    jax = tl.system("jax")
    for again in (copy.deepcopy(jax), pickle.loads(pickle.dumps(jax))):
        assert again.result_type("int8", 1) is jax.result_type("int8", 1)
        assert again.result_type("int8", "uint8") is jax.result_type("int8", "uint8")


def test_facts_cannot_be_changed() -> None:
    with pytest.raises((FrozenInstanceError, AttributeError)):
        tl.dtype("int8").bits = 9  # type: ignore[misc]


def test_a_dtype_is_a_key() -> None:
    assert {tl.dtype("int8"): 1}[tl.dtype("int8")] == 1
    assert hash(tl.dtype("int8")) == hash(pickle.loads(pickle.dumps(tl.dtype("int8"))))


# comparing: what is equal has one hash, and what a user may mean to be equal is not false without a word


def test_a_dtype_equals_itself_alone() -> None:
    for a, b in product(DTYPES.values(), repeat=2):
        assert (a == b) is (a is b)
        assert (a != b) is (a is not b)


@pytest.mark.parametrize(
    "other", [None, 8, 1.5, "mine", "dtype", (), object(), *Kind, weak(Kind.SIGNED), object, dict]
)
def test_what_names_no_dtype_is_another_thing(other: object) -> None:
    d = tl.dtype("int8")
    assert d != other
    assert other != d
    assert not d == other  # noqa: SIM201


@pytest.mark.parametrize(
    "other", ["float32", "f32", "int8", float, np.float32, np.dtype("float32"), ml_dtypes.bfloat16]
)
def test_a_dtype_compared_with_what_names_one_says_why_not(other: object) -> None:
    d = tl.dtype("float32")
    how = "typelattice.dtype(...)" if isinstance(other, str) else "typelattice.operand(...).dtype"
    for compare in (lambda: d == other, lambda: d != other):
        with pytest.raises(tl.DTypeError) as e:
            compare()
        said = "which is no DType, and so never equal to one; compare with"
        assert f"{said} {how}, a namespace's own dtype, or compare names: str(d)" in str(e.value)
        assert str(e.value).startswith("float32 is compared with ")


def test_numpys_own_dtype_on_the_left_compares_as_numpy_does() -> None:
    """It asks for `__numpy_dtype__`, and never asks us."""
    assert np.dtype("float32") == tl.dtype("float32")
    assert np.dtype("float32") != tl.dtype("int8")


def test_the_ways_to_compare_that_the_error_names() -> None:
    d = tl.dtype("float32")
    assert d == tl.dtype("float32")
    assert d == tl.operand(np.float32).dtype == tl.operand(np.dtype("float32")).dtype
    assert d == tl.namespace("jax", np).float32
    assert str(d) == "float32"


# one object for equal facts, as long as it is in use


def made(n: int) -> DType:
    """A dtype that no other test makes."""
    return define(f"own{n}", f"own{n}", Kind.SIGNED, 8, 8, -128, 127, None, None, 1, (), "sz")


def test_equal_facts_are_one_object_and_unequal_ones_are_not() -> None:
    d = made(0)
    assert made(0) is d
    assert made(1) is not d
    assert pickle.loads(pickle.dumps(d)) is d
    facts = ("own", "own", Kind.FLOAT, None, None, None, 1, None, None, None, (), "sz")
    whole, fraction = define(*facts), define(*(1.0 if fact == 1 else fact for fact in facts))
    assert whole is not fraction
    assert [type(x.max) for x in (whole, fraction)] == [int, float]


def test_threads_that_first_define_a_dtype_get_one_object() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads meet within the definition
    try:
        with ThreadPoolExecutor(8) as pool:
            for n in range(100, 200):
                start = Barrier(8)

                def one(n: int = n, start: Barrier = start) -> tuple[DType, object]:
                    start.wait()
                    d = made(n)
                    return d, weak(Kind.SIGNED, d)

                found = list(pool.map(lambda _: one(), range(8)))
                assert all(d is found[0][0] and w is found[0][1] for d, w in found)
    finally:
        sys.setswitchinterval(interval)


def test_a_dtype_that_nobody_uses_is_gone() -> None:
    """So that a program may read files of its own for ever."""
    d = made(2)
    node = weak(Kind.SIGNED, d)
    gone = [weakref.ref(d), weakref.ref(node)]
    assert all(ref() is not None for ref in gone)
    del d, node
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_two_dtypes_of_one_name_are_two() -> None:
    """The files that define them are not mixed up."""
    narrow, wide = (
        parse(
            f'name = "{bits}"\norder = "mine -> f64"\n'
            f'dtypes = {{ mine = {{ kind = "signed", bits = {bits} }} }}'
        )
        for bits in (8, 16)
    )
    a, b = narrow.result_type("mine", "mine"), wide.result_type("mine", "mine")
    assert (str(a), str(b), a == b) == ("mine", "mine", False)
    assert [tl.loss(d, tl.dtype("int8")).magnitude for d in (a, b)] == [False, True]
    assert narrow.explain(b, "float64").reason == "8 has no mine"
    assert [pickle.loads(pickle.dumps(d)) for d in (a, b)] == [a, b]


# NumPy takes them


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
