"""What dtypes are called: names, codes in bits, and what is said of a text that names none."""
from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPE_BY_CODE, DTYPES


def test_names_and_codes_are_unique_and_read_back() -> None:
    assert len(DTYPE_BY_CODE) == len(DTYPES)
    assert not (set(DTYPE_BY_CODE) & set(DTYPES)) - {d.name for d in DTYPES.values() if d.name == d.code}
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
def test_a_code_is_taken_in_bits_or_refused_if_it_has_two_likely_readings(code: str) -> None:
    ours, numpys = DTYPE_BY_CODE.get(code), numpy_reading(code)
    if code in ("i8", "u8"):  # as every table writes them
        assert tl.dtype(code) is ours
    elif numpys:
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
    with pytest.raises(tl.DTypeError, match=f"^unknown dtype '{wrong}' [(]did you mean .*{right}"):
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
        match=f"^an object of type {type(x).__name__} is no name of a dtype; give one such as 'int8'$",
    ):
        tl.dtype(x)
