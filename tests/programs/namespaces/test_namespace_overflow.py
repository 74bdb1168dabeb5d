"""Integers out of range wrap, saturate or raise, as the file says: in a namespace and in a typed graph."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

import typelattice as tl
from typelattice.core.system_files.reader import parse

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul}
UNARY = {"-x": operator.neg, "abs(x)": abs}


def system_of(word: str) -> tl.System:
    order = "u8; u16; u32; u64; i8; i16; i32; i64; f32"
    entries = f'"arithmetic, subtraction, negative, abs".overflow = "{word}"'
    return parse(f'name = "drawn"\norder = "{order}"\n[ops]\n{entries}\n')


def edges_of(dtype: str) -> list[int]:
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    near = {low, low + 1, -1, 0, 1, 2, 3, high // 2, high - 1, high, int(high**0.5) + 1}
    return sorted(x for x in near if low <= x <= high)


def expected(exact: int, dtype: str) -> int:
    return min(max(exact, int(np.iinfo(dtype).min)), int(np.iinfo(dtype).max))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("sign", [*BINARY, *UNARY])
def test_saturating_arithmetic_gives_the_nearest_value(dtype: str, sign: str) -> None:
    system, edges = system_of("saturate"), edges_of(dtype)
    pairs = [*itertools.product(edges, edges)] if sign in BINARY else [(x, 0) for x in edges]
    x, y = (np.array([pair[i] for pair in pairs], dtype) for i in (0, 1))
    source = f"x {sign} y" if sign in BINARY else sign
    inputs = {"x": x, "y": y} if sign in BINARY else {"x": x}
    described = {key: f"{dtype}[{len(pairs)}]" for key in inputs}
    xp = tl.namespace(system, np)
    if sign == "*" and dtype.endswith("64"):
        with pytest.raises(tl.ProgramError, match=f"no plain steps are a product of {dtype} that saturates"):
            tl.program(source, **described).explicit(system)
        with pytest.raises(tl.NamespaceError, match=f"a product of {dtype} that saturates"):
            xp.asarray(x) * xp.asarray(y)
        return
    wanted = [expected(BINARY[sign](a, b) if sign in BINARY else UNARY[sign](a), dtype) for a, b in pairs]
    graph = tl.program(source, **described).explicit(system)
    graph.check()
    with np.errstate(all="ignore"):
        assert graph.run(np, **inputs).tolist() == wanted
        assert np.asarray(tl.program(source, **described).run(xp, **inputs).bare).tolist() == wanted


def test_a_system_may_raise_or_wrap() -> None:
    x, y = np.int8([100, 1]), np.int8([100, 1])
    xp = tl.namespace(system_of("raise"), np)
    with pytest.raises(tl.NamespaceError, match=r"\+ of int8 overflows, which drawn refuses"):
        xp.asarray(x) + xp.asarray(y)
    assert (xp.asarray(x) - xp.asarray(y)).bare.tolist() == [0, 0]
    with pytest.raises(tl.ProgramError, match="raises an error for integers out of range under drawn"):
        tl.program("x + y", x="int8[2]", y="int8[2]").explicit(system_of("raise"))
    wrapping = tl.namespace(system_of("wrap"), np)
    assert (wrapping.asarray(x) + wrapping.asarray(y)).bare.tolist() == [-56, 2]
    graph: Any = tl.program("x + y", x="int8[2]", y="int8[2]").explicit(system_of("wrap"))
    assert graph.run(np, x=x, y=y).tolist() == [-56, 2]


def test_in_place_and_numbers_saturate_too() -> None:
    xp = tl.namespace(system_of("saturate"), np)
    x = xp.asarray(np.int8([100, -100]))
    x += xp.asarray(np.int8([100, -100]))
    assert x.bare.tolist() == [127, -128]
    floats = xp.asarray(np.float32([3e38]))
    with np.errstate(over="ignore"):
        assert np.isinf((floats + floats).bare).all()


def test_values_are_of_the_dtype_computed_in_before_they_are_of_the_results() -> None:
    """NumPy's power of int4 is wider, and the typed graph wraps it."""
    pytest.importorskip("ml_dtypes")
    system = parse('name = "s"\norder = "i4 -> i8"\n[ops]\npow.gives = { i4 = "i8" }')
    xp = tl.namespace(system, np)
    x = xp.asarray(np.asarray([6, -3, 2], "int8"), dtype=xp.int4)
    program = tl.program("x ** y", x="int4[3]", y="int4[3]")
    two = xp.asarray(np.asarray([2, 2, 2], "int8"), dtype=xp.int4)
    graph = program.explicit(system).run(xp, x=x, y=two)
    assert np.asarray((x**two).bare).tolist() == np.asarray(graph.bare).tolist() == [4, -7, 4]
    assert str((x**two).dtype) == "int8"
