"""Dtypes that are asked for: what arrays have instead of dtypes that a library lacks, and of Python types."""

from __future__ import annotations

from itertools import product

import pytest

import typelattice as tl
from typelattice.core.operations.operations import OPERATIONS

np = pytest.importorskip("numpy")

X32 = tl.system("jax-x32")
COMMON = [d for d in X32.dtypes if d in tl.system("numpy").order]


def test_jax_takes_64_bits_for_32_of_the_same_kind() -> None:
    assert {*X32.requested} == {*tl.system("jax").order.nodes} - {*X32.order.nodes}
    for d, instead in X32.requested.items():
        assert isinstance(d, tl.DType)
        assert (instead.kind, instead.bits) == (d.kind, (d.bits or 0) // 2)


def test_a_dtype_that_no_array_has_promotes_as_the_one_that_arrays_have_instead() -> None:
    for a, b in product(X32.dtypes, repeat=2):
        said, narrow = X32.explain(a, b), X32.explain(X32.dtype_of_new_array(a), X32.dtype_of_new_array(b))
        assert said.dtype is narrow.dtype, (a, b)


@pytest.mark.parametrize("op", [o.name for o in OPERATIONS.values() if o.min_operands <= 2])
def test_no_operation_gives_a_dtype_that_no_array_has(op: str) -> None:
    count = max(OPERATIONS[op].min_operands, 1)
    for operands in product(COMMON, repeat=count):
        p = X32.explain(*operands, op=op)
        assert p.dtype not in X32.requested and p.compute not in X32.requested, p


EXPRESSIONS = (
    "zeros(3, dtype=float64)",
    "full((2,), 3, dtype=int64)",
    "arange(3, dtype=int64)",
    "asarray([1, 2], dtype=uint64)",
    "x.astype(float64)",
    "sum(x, dtype=int64)",
    "cumulative_sum(x, dtype=float64)",
    "zeros_like(x, dtype=complex128)",
    "full((2,), 3)",
    "linspace(0, 1, 3)",
    "float64(3)",
)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_program_says_what_arrays_have_instead(text: str) -> None:
    p = tl.program(text, **({"x": "int8[2]"} if "x." in text or "x," in text else {}))
    wide = p.under("jax").dtype
    assert wide is not None and p.under("jax-x32").dtype is X32.requested[wide]


def test_a_namespace_makes_what_arrays_have_instead() -> None:
    xp = tl.namespace("jax-x32", np)
    x = xp.ones(2, dtype="int8")
    made = {
        "float32": [
            xp.zeros(3, dtype=xp.float64), xp.linspace(0, 1, 3, dtype="float64"), xp.asarray(np.zeros(2)),
            xp.astype(x, "float64"), xp.from_dlpack(np.zeros(2)), xp.fft.fftfreq(4, dtype="float64"),
        ],
        "int32": [
            xp.full((2,), 3, dtype="int64"), xp.sum(x, dtype="int64"), xp.arange(3, dtype=xp.int64),
            xp.cumulative_sum(x, dtype="int64"), xp.zeros_like(x, dtype="int64"),
            xp.asarray([1], dtype="int64"),
        ],
    }  # fmt: skip
    for dtype, arrays in made.items():
        assert [str(array.dtype) for array in arrays] == [dtype] * len(arrays)
        assert [array.bare.dtype.name for array in arrays] == [dtype] * len(arrays)
    (cast,) = tl.implicit_cast("jax-x32", np.zeros(2))
    assert cast.dtype == np.float32


def test_pytorch_takes_pythons_float_for_its_double() -> None:
    for text, dtype in (("float", "float64"), ("complex", "complex128"), ("int", "int64"), ("bool", "bool")):
        assert str(tl.program(f"zeros(3, dtype={text})").under("torch").dtype) == dtype
    assert str(tl.program("zeros(3, dtype=torch.float)").under("torch").dtype) == "float32"


def test_what_fills_an_array_counts_as_the_library_lets_it() -> None:
    """PyTorch takes the number out of a tensor without dimensions."""
    p = tl.program("full((2,), x[0])", x="int8[2]")
    assert {name: str(p.under(name).dtype) for name in ("numpy", "torch", "jax")} == {
        "numpy": "int8", "torch": "int64", "jax": "int8",
    }  # fmt: skip
