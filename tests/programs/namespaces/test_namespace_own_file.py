"""A namespace has the operations and dtypes that a file defines, and casts implicitly by its rules."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import typelattice as tl
from typelattice.core.system_files.reader import parse

pytest.importorskip("ml_dtypes")

NPU = """
name  = "npu"
order = "b; i4 -> i8 -> i32 -> f32; u4; f8_e4m3fn, q8 -> bf16 -> f32; odd -> f32"
[dtypes]
q8  = { kind = "float", bits = 8, storage_bits = 8, max = 57344.0, precision = 3, min_exponent = -14 }
odd = { kind = "float", bits = 8, storage_bits = 8, values = "unknown" }
[casts]
"f32 -> i8" = "needs quantize"
"i8 -> i32" = "refused: no instruction widens it"
"i32 -> f32" = "toward zero"
"odd -> f32" = "stochastic"
[ops]
quantize = { like = "positive", parameters = "scale, zero", kernels = "f32", gives = "i8" }
tile_matmul = { like = "matmul", operands = "left, right", accumulates = { i8 = "i32" } }
"""


def quantize(x: Any, scale: float, zero: Any = 0) -> Any:
    return np.clip(np.rint(x / scale) + zero, -128, 127).astype("int8")


def product(left: Any, right: Any) -> Any:
    return left.astype("int32") @ right.astype("int32")


OWN = {"quantize": quantize, "tile_matmul": product}


def npu() -> tl.System:
    return parse(NPU)


def test_own_operations_are_computed_by_the_users_functions() -> None:
    xp = tl.namespace(npu(), np, operations=OWN)
    x = xp.asarray([1.0, -50.0], dtype="float32")
    assert str(xp.quantize(x, scale=0.25)) == "<int8 under npu over numpy: [   4 -128]>"
    zero = xp.asarray([1, 2], dtype="int8")
    assert xp.quantize(x, 1.0, zero=zero).bare.tolist() == [2, -48]
    ones = xp.full((2, 2), 100, dtype="int8")
    assert str(xp.tile_matmul(ones, right=ones).dtype) == "int32"
    assert xp.tile_matmul(ones, ones).bare.tolist() == [[20_000] * 2] * 2
    assert "quantize" not in dir(xp)


@pytest.mark.parametrize("form", ["as written", "explicit"])
def test_programs_call_own_operations_of_a_namespace(form: str) -> None:
    program = tl.program("tile_matmul(quantize(x, scale=0.5), y)", npu(), x="float32[2,2]", y="int8[2,2]")
    program = program.explicit(npu()) if form == "explicit" else program
    x, y = np.float32([[1, 2], [3, 4]]), np.int8([[100, 0], [0, 100]])
    found = program.run(tl.namespace(npu(), np, operations=OWN), x=x, y=y)
    assert found.bare.tolist() == [[200, 400], [600, 800]]
    with pytest.raises(tl.NamespaceError, match="npu says no values of quantize, only its dtypes; give a"):
        program.run(tl.namespace(npu(), np), x=x, y=y)


def test_bad_calls_of_own_operations_are_refused() -> None:
    xp = tl.namespace(npu(), np, operations={**OWN, "quantize": lambda x, scale: x})
    x = xp.asarray([1.0], dtype="float32")
    for call, why in (
        (lambda: xp.quantize(x, scal=1), r"^quantize\(x, scale=None, zero=None\): got an unexpected"),
        (lambda: xp.quantize(x, scale=1), "gave float32, and npu says int8; cast its result to int8"),
        (lambda: xp.quantize(x, zero=1), r"function of quantize raised TypeError \(.*missing|unexpected"),
        (lambda: xp.quantize(np.ones(1)), "quantize takes arrays of <namespace npu over numpy>"),
        (lambda: tl.namespace(npu(), np, operations={"quantise": quantize}), "did you mean quantize"),
        (lambda: tl.namespace("array-api", np, operations={"quantise": quantize}), "these are none"),
    ):
        with pytest.raises(tl.NamespaceError, match=why):
            call()
    with pytest.raises(tl.PromotionError, match="quantize takes no signed integers"):
        xp.quantize(xp.asarray([1], dtype="int8"))


def test_a_namespace_with_operations_is_pickled_and_found_again() -> None:
    xp = tl.namespace(npu(), np, operations=OWN)
    assert xp is tl.namespace(npu(), np, operations=dict(OWN)) is not tl.namespace(npu(), np)
    assert pickle.loads(pickle.dumps(xp)) is xp
    x = pickle.loads(pickle.dumps(xp.asarray([1.0], dtype="float32")))
    assert xp.quantize(copy.copy(x), scale=1).bare.tolist() == [1]


def test_dtypes_of_the_file_are_members_as_far_as_the_library_has_them() -> None:
    import ml_dtypes

    xp = tl.namespace(npu(), np)
    assert [str(getattr(xp, name)) for name in ("int4", "uint4", "float8_e4m3fn", "bfloat16", "q8")] == [
        "int4", "uint4", "float8_e4m3fn", "bfloat16", "q8",
    ]  # fmt: skip
    for absent in ("odd", "float8_e5m2", "float64"):
        assert not hasattr(xp, absent)
    x = xp.asarray([1.5, 3.0], dtype="q8")
    assert x.bare.dtype == ml_dtypes.float8_e5m2  # which has the facts of q8
    assert (x + x).dtype is xp.asarray(x.bare).dtype is npu().custom_dtypes["q8"]
    assert (x + xp.ones(2, dtype=xp.bfloat16)).dtype is tl.dtype("bfloat16")
    assert xp.asarray([7, -8], dtype=xp.int4).bare.dtype == ml_dtypes.int4
    with pytest.raises(tl.NamespaceError, match="numpy cannot hold odd"):
        xp.zeros(1, dtype="odd")
    with pytest.raises(tl.DTypeError, match="unknown dtype 'q9'"):
        xp.zeros(1, dtype="q9")


def test_implicit_casts_follow_the_file_in_every_way_out() -> None:
    """A namespace, bare arrays and a typed graph refuse the same implicit casts."""
    narrow, wide = np.ones(2, "int8"), np.ones(2, "int32")
    xp = tl.namespace(npu(), np)
    whole = tl.program("x + y", x="int8[2]", y="int32[2]")
    assert str(whole.under(npu()).dtype) == "int32"  # a rule for casts changes no promotion
    mask = xp.asarray([True, False])
    for call, error in (
        (lambda: xp.asarray(narrow) + xp.asarray(wide), tl.NamespaceError),
        (lambda: xp.where(mask, xp.asarray(narrow), xp.asarray(wide)), tl.NamespaceError),
        (lambda: xp.concat([xp.asarray(narrow), xp.asarray(wide)]), tl.NamespaceError),
        (lambda: xp.asarray(xp.asarray(narrow), dtype=xp.int32), tl.NamespaceError),
        (lambda: tl.implicit_cast(npu(), narrow, wide), tl.NamespaceError),
        (lambda: whole.explicit(npu()), tl.ProgramError),
    ):
        with pytest.raises(error, match="no instruction widens it"):
            call()
    with pytest.raises(tl.ProgramError, match="a cast of odd to float32 that rounds stochastic"):
        tl.program("x + y", x="odd[2]", y="float32[2]").explicit(npu())


def test_assignments_follow_the_rules_for_casts() -> None:
    text = NPU.replace('"needs quantize"', '"clamp, up"') + 'assignment.gives = "left, any cast"'
    xp = tl.namespace(parse(text), np)
    x = xp.zeros(3, dtype="int8")
    x[:] = xp.asarray([0.25, 1e9, -3.75], dtype="float32")
    assert x.bare.tolist() == [1, 127, -3]


@pytest.mark.parametrize(
    "call",
    [
        *("xp.concat([x, x])", "xp.stack([x, x])", "xp.flip(x)", "xp.sort(x)", "xp.where(x > 2, x, x)"),
        *("xp.clip(x)", "xp.clip(x, 1, 9)", "xp.roll(x, 1)", "xp.tile(x, (2,))"),
        *("xp.take(x, xp.asarray([0]))", "xp.reshape(x, (1, 3))", "xp.max(x)", "xp.maximum(x, x)"),
    ],
)
def test_a_result_has_the_values_of_the_dtype_that_its_rule_gives(call: str) -> None:
    names = "concat, stack, flip, sort, where, clip, roll, tile, take, reshape, max, maximum"
    head = 'name = "narrow"\norder = "b; u4, u8 -> i32 -> f32"\ndefaults = { int = "i32", float = "f32" }'
    system = parse(f'{head}\n[ops]\n"{names}".gives = "u4"')
    xp = tl.namespace(system, np)
    x = xp.asarray([200, 3, 120], dtype="uint8")
    made = eval(call, {"xp": xp, "x": x})
    assert made.dtype == tl.dtype("uint4")
    assert made.bare.dtype.name == "uint4"
