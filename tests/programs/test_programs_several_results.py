"""Functions that give several results in programs: each is a step of its own."""
from __future__ import annotations

from typing import Any

import pytest

import typelattice as tl

np = pytest.importorskip("numpy")
SEVERAL = [  # text, its operands, what its result is under NumPy's rules
    ("u, s, v = xp.linalg.svd(m)\nu * s", {"m": "complex64[2,2]"}, "complex64"),
    ("xp.linalg.svd(m)[1]", {"m": "complex64[2,2]"}, "float32"),
    ("xp.linalg.svd(m).S", {"m": "int64[2,2]"}, "float64"),
    ("values, vectors = xp.linalg.eigh(m)\nvectors", {"m": "complex64[2,2]"}, "complex64"),
    ("values, vectors = xp.linalg.eigh(m)\nvalues", {"m": "complex64[2,2]"}, "float32"),
    ("xp.linalg.slogdet(m).logabsdet", {"m": "complex64[2,2]"}, "float32"),
    ("q, r = xp.linalg.qr(m)\nr", {"m": "float32[2,2]"}, "float32"),
    ("r = xp.unique_counts(x)\nr.counts * 1.5", {"x": "float32[3]"}, "float64"),
    ("xp.unique_all(x).values", {"x": "int8[3]"}, "int8"),
    ("i, = xp.nonzero(x)\ni + 1", {"x": "float32[3]"}, "int64"),
    ("a, b, c = xp.unstack(x)\na + b", {"x": "float16[3]"}, "float16"),
    ("a, b = xp.meshgrid(x, y)\nb", {"x": "float32[3]", "y": "float16[2]"}, "float16"),
    ("a, b = xp.broadcast_arrays(x, y)\na + b", {"x": "float32[3]", "y": "int8[1]"}, "float32"),
    ("xp.einsum('i,i', x, y)", {"x": "int32[3]", "y": "float32[3]"}, "float64"),
    ("a, b = xp.divmod(x, y)\nb", {"x": "float32[3]", "y": "int8[3]"}, "float32"),
]


@pytest.mark.parametrize(("text", "operands", "dtype"), SEVERAL)
def test_each_of_several_results_is_a_step_and_of_what_numpy_gives(
    text: str, operands: dict[str, str], dtype: str
) -> None:
    compat = pytest.importorskip("array_api_compat.numpy")
    p = tl.program(text, **operands)
    assert str(p.under("numpy").dtype) == dtype
    assert str(tl.program(str(p))) == str(p)
    assert tl.Program.from_json(p.to_json()).steps == p.steps
    explicit = p.explicit("numpy")
    explicit.check()
    given = {}
    for name, described in operands.items():
        kind, _, shape = described.removesuffix("]").partition("[")
        lengths = tuple(map(int, shape.split(",")))
        given[name] = np.eye(2, dtype=kind) * 2 if name == "m" else np.ones(lengths, kind)
    made, again = p.run(compat, **given), explicit.run(compat, **given)
    assert str(made.dtype) == dtype  # type: ignore[attr-defined]
    np.testing.assert_array_equal(made, again)


def test_the_casts_of_one_call_are_counted_once() -> None:
    p = tl.program("u, s, v = xp.linalg.svd(m)\nu * s", m="int32[3,3]")
    assert [(p.steps[c.operand].text, str(c.target)) for c in p.casts("numpy")] == [("m", "float64")]


def test_a_function_of_symbols_unpacks_several_results() -> None:
    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        u, s, _ = xp.linalg.svd(x)
        return u * s, xp.unique_counts(x).counts

    p = tl.program(f, "float16[3,3]")
    assert [str(p.under("keras-jax")[i]) for i in p.results] == ["float16", "int32"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("xp.linalg.svd(x) * 2", r"svd gives several arrays; take one: svd\(x\)\[0\]"),
        ("xp.linalg.svd(x)[3]", "returns 3 arrays; index 3 is out of range; give another index"),
        ("a, b = xp.linalg.svd(x)", "as many names as there are values; give each its own line"),
        ("xp.einsum(x, x)", r"einsum takes a text and arrays; write einsum\('ij,jk->ik', x, y\)"),
    ],
)
def test_several_results_that_cannot_be_are_refused(text: str, why: str) -> None:
    with pytest.raises(tl.ProgramError, match=why):
        tl.program(text, x="float32[3,3]")


@pytest.mark.parametrize("text", ["x.max(1)[1]", "x.sort()[0]", "(x + 1).median(dim=0)[-1]"])
def test_a_method_that_gives_a_pair_in_some_library_is_asked_back(text: str) -> None:
    with pytest.raises(tl.ProgramError, match=r"gives several arrays in torch.*write torch"):
        tl.program(text, x="float32[2,3]")


@pytest.mark.parametrize(
    ("text", "dtype"),
    [("torch.max(x, 1)[1]", "int64"), ("xp.max(x, axis=1)[1]", "float32"), ("x.max()", "float32")],
)
def test_a_named_library_says_which_result_is_meant(text: str, dtype: str) -> None:
    assert str(tl.program(text, x="float32[2,3]").under("torch").dtype) == dtype
