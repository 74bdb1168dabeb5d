"""Single calls that were answered wrongly, or refused, with the answers that the libraries gave."""

from __future__ import annotations

import pytest

import typelattice as tl

ANSWERS = (  # the system, a call, the dtypes of x, y and c, and the library's answer: a dtype, or a refusal
    ("tensorflow", "tf.divide(2.5, x)", {"x": "bfloat16"}, "bfloat16"),
    ("tensorflow", "tf.divide(2, x)", {"x": "int16"}, "float32"),
    ("tensorflow", "tf.divide(2, 3)", {}, "float64"),
    ("tensorflow", "tf.divide(2.5, x)", {"x": "int16"}, "refused"),
    ("tensorflow", "tf.math.divide_no_nan(2, x)", {"x": "float16"}, "float16"),
    ("numpy", "np.add(x, y, dtype=np.float64)", {"x": "complex64", "y": "float32"}, "refused"),
    ("numpy", "np.add(x, y, dtype=np.uint8)", {"x": "int64", "y": "uint8"}, "refused"),
    ("numpy", "np.add(x, 2.5, dtype=np.int32)", {"x": "int64"}, "refused"),
    ("numpy", "np.sqrt(x, dtype=np.int32)", {"x": "int32"}, "refused"),
    ("numpy", "np.add(x, y, dtype=np.float32)", {"x": "float64", "y": "float32"}, "float32"),
    ("numpy", "np.add(x, y, out=x)", {"x": "float32[3]", "y": "float64[3]"}, "float32"),
    ("numpy", "np.add(x, y, out=x)", {"x": "int32[3]", "y": "float64[3]"}, "refused"),
    ("numpy", "np.add(x, y, out=x)", {"x": "uint8[3]", "y": "int8[3]"}, "refused"),
    ("torch", "torch.add(x, y, out=x)", {"x": "uint8[3]", "y": "int8[3]"}, "uint8"),
    ("torch", "torch.sqrt(x, out=x)", {"x": "uint8[3]"}, "refused"),
    ("numpy", "np.greater(x, x, out=x)", {"x": "int32[3]"}, "int32"),
    ("numpy", "np.cumsum(x, out=y)", {"x": "float64[3]", "y": "int32[3]"}, "int32"),
    ("numpy", "np.add(x, 2, dtype=np.uint8)", {"x": "uint8"}, "uint8"),
    ("array-api", "sum(x, dtype=int32)", {"x": "bool"}, "refused"),
    ("ndonnx", "cumulative_sum(x, dtype=int32)", {"x": "bool"}, "refused"),
    ("numpy", "sum(x, dtype=int32)", {"x": "bool"}, "int32"),
    ("torch", "torch.sum(x, dtype=torch.float32)", {"x": "float8_e5m2"}, "float32"),
    *((name, "meshgrid(x, y)[0]", {"x": "float32[3]", "y": "float64[3]"}, said) for name, said in (
        ("tensorflow", "refused"), ("array-api", "refused"), ("torch", "refused"), ("numpy", "float32"),
        ("mlx", "float32"), ("ndonnx", "float32"),
    )),
    ("numpy", "np.float32(10**400)", {}, "refused"),
    ("numpy", "np.bool_(10**400)", {}, "bool"),
    ("torch", "torch.tensor([10**400], dtype=torch.float32)", {}, "refused"),
    ("torch", "torch.tensor(2**64, dtype=torch.float32)", {}, "float32"),
    ("mlx", "mx.array(2**63, mx.int64)", {}, "refused"),
    ("mlx", "mx.array(2**63, mx.float32)", {}, "refused"),
    ("mlx", "mx.array(2**33, mx.uint32)", {}, "uint32"),
    ("numpy", "np.arange(2**63, 2**63 + 3)", {}, "float64"),
    ("numpy", "np.arange(0, 2**63, 2**62)", {}, "float64"),
    ("numpy", "np.arange(2**63, 2**63 + 3, dtype=np.uint64)", {}, "uint64"),
    ("numpy", "np.arange(2**63, 2**63 + 3, dtype=np.int64)", {}, "refused"),
    ("torch", "torch.arange(2**63 - 1, 2**63)", {}, "refused"),
    ("tensorflow", "tf.range(2**31, 2**31 + 3)", {}, "int64"),
    ("jax", "jnp.arange(2**63, 2**63 + 3)", {}, "int64"),
    ("jax", "jnp.full((2,), 2**64, dtype=jnp.float32)", {}, "float32"),
    ("jax", "jnp.full((2,), 2**64, dtype=jnp.int8)", {}, "refused"),
    *(("numpy", f"np.full_like(x, {n})", {"x": d}, said) for n, d, said in (
        ("300", "int8", "refused"), ("1.5", "int8", "int8"), ("2**64", "float32", "float32"),
    )),
    ("torch", "torch.full_like(x, -1)", {"x": "uint8"}, "uint8"),
    ("torch", "torch.full_like(x, 1e39)", {"x": "float32"}, "refused"),
    ("jax", "jnp.full_like(x, 300)", {"x": "int8"}, "int8"),
    *((f, f'{module}.zeros(3, dtype="{code}")', {}, said) for f, module in (("jax", "jnp"), ("dask", "da"))
      for code, said in (("u8", "uint64"), ("f4", "float32"))),
    *(("numpy", f"np.{name}(x, {q})", {"x": d}, said)
      for name in ("quantile", "nanquantile", "percentile", "nanpercentile")
      for q, d, said in (
        ("[0.25, 0.75]", "bool", "refused"), ("np.ones(2, np.float32)", "float16", "float32"),
        ("[0.25]", "float32", "float64"),
        ('0.5, method="lower"', "bool", "bool"), ('[0.5], method="inverted_cdf"', "int8", "int8"),
        ('0.5, method="hazen"', "int8", "float64"), ('0.5, method="lower"', "complex64", "refused"),
    )),
    ("numpy", "np.quantile(x, 1)", {"x": "int8"}, "int8"),
    ("numpy", "np.quantile(x, [0, 1])", {"x": "bool"}, "bool"),
    ("dask", "da.quantile(x, [0.5], axis=0)", {"x": "bool"}, "refused"),
    ("torch", "torch.quantile(x, y)", {"x": "float32", "y": "float32"}, "float32"),
    ("torch", "torch.quantile(x, y)", {"x": "float64", "y": "float32"}, "refused"),
    *(("torch", f'torch.einsum("{text}", x, y)', {"x": x, "y": d}, said) for text, x, d, said in (
        ("ij,j->", "int8[2, 3]", "int8[3]", "refused"), ("ij,j->j", "int8[2, 3]", "int8[3]", "int64"),
        ("ij,jk->ik", "int8[2, 3]", "int8[3, 2]", "int8"), ("i,j->ij", "int8[2]", "float32[3]", "float32"),
        ("ij,ij->", "float32[2, 3]", "float64[2, 3]", "refused"),
        ("ij,k->", "bool[2, 3]", "bool[4]", "int64"),
    )),
    ("torch", 'torch.einsum("...i->...", x)', {"x": "int8[2, 3]"}, "int64"),
    ("torch", "F.huber_loss(x, y)", {"x": "float16", "y": "float32"}, "float16"),
    ("torch", "torch.bincount(x, weights=y)", {"x": "int64", "y": "int8"}, "float64"),
    ("torch", "torch.searchsorted(x, y, out_int32=True)", {"x": "float32", "y": "float32"}, "int32"),
    ("dask", "da.linalg.norm(x, ord=0)", {"x": "float32[3]"}, "int64"),
    ("dask", "da.linalg.norm(x, ord=np.inf)", {"x": "int8[3, 3]"}, "int64"),
    ("numpy", "np.std(x, dtype=np.int8)", {"x": "int64"}, "int8"),
    ("numpy", "np.matmul(x, y, dtype=np.float32)", {"x": "int64[3, 3]", "y": "float64[3]"}, "float32"),
    ("numpy", "np.concatenate([x, y], dtype=np.float32)", {"x": "float64", "y": "int8"}, "float32"),
    ("numpy", "np.gradient(x, y)", {"x": "float32", "y": "float64"}, "float32"),
    ("numpy", "np.add(x, y, x)", {"x": "float32[3]", "y": "float64[3]"}, "float32"),
    ("numpy", "np.random.uniform(0, 1) * x", {"x": "float32"}, "float32"),
    ("numpy", "np.random.default_rng(0).normal(size=3) * x", {"x": "float32"}, "float64"),
    ("numpy", "g = np.random.default_rng(0); g.random(3, dtype=np.float32) * x", {"x": "int8"}, "float32"),
    ("numpy", "m, b = np.polyfit(x, y, 1); m", {"x": "float32[3]", "y": "float32[3]"}, "float64"),
    ("polars-series", "pl.abs(x)[0] * y", {"x": "int64", "y": "int8"}, "int8"),
    ("mlx", "x[0] = 1j; x", {"x": "float32[3]"}, "float32"),
    ("tensorflow", "tf.random.uniform((2,), 0, 5, tf.int32)", {}, "int32"),
    ("jax", "lax.argmax(x, axis=0, index_dtype=jnp.int32)", {"x": "float32[3]"}, "int32"),
    ("jax", "round(jnp.sin(2.5), 2) * x", {"x": "float16"}, "float16"),
    ("tensorflow", "meshgrid(x, y)[1]", {"x": "float32[3]", "y": "float32[3]"}, "float32"),
    *((name, f"meshgrid(x, y)[{i}]", {"x": "int32[3]", "y": "bool[2]"}, said) for name, i, said in (
        ("tensorflow", 0, "int32"), ("tensorflow", 1, "bool"), ("tensorflow-function", 1, "bool"),
        ("keras", 0, "bool"), ("keras-jax", 0, "bool"), ("keras-jax-computed", 0, "int32"),
        ("keras-tensorflow-computed", 1, "bool"), ("keras-torch-computed", 0, "refused"),
    )),
    ("tensorflow", "meshgrid(y, x)[1]", {"x": "int32[3]", "y": "bool[2]"}, "bool"),
    ("numpy", "x.conj()", {"x": "bool"}, "bool"),
    ("numpy", "np.conj(x)", {"x": "bool"}, "int8"),
    ("numpy", "np.clip(2, x, 5)", {"x": "int32"}, "int64"),
    ("numpy", "np.clip(x, 2, 5)", {"x": "int32"}, "int32"),
    ("torch", "torch.kron(x, y)", {"x": "int8", "y": "int64:0d"}, "int64"),
    ("numpy", "x.conjugate()", {"x": "complex64"}, "complex64"),
    ("numpy", "np.interp(x, x, y)", {"x": "float32", "y": "complex64"}, "complex128"),
    ("numpy", "np.interp(y, x, x)", {"x": "float32", "y": "complex64"}, "refused"),
    ("numpy", "np.linspace(x, y)", {"x": "int8", "y": "float32"}, "float32"),
    ("numpy1", "np.linspace(x, 3)", {"x": "float32:0d"}, "float64"),
    ("numpy1", "np.linspace(x, y, 5)", {"x": "float32", "y": "float32"}, "float32"),
    ("numpy", "t = x[0]; t **= 2; t", {"x": "bool[3]"}, "int64"),
    ("numpy", "x ** 2", {"x": "bool[3]"}, "int8"),
    ("jax", "jnp.interp(1.5, x, x)", {"x": "uint8"}, "float32"),
    ("jax", "jnp.interp(1.5, x, x)", {"x": "int64"}, "float64"),
    ("jax", "jnp.gradient(x, 0.5)", {"x": "int8"}, "float64*"),
    ("jax", "jnp.gradient(x, 2)", {"x": "int8"}, "float32"),
    ("torch", "torch.count_nonzero(x, dim=0)", {"x": "uint16[3]"}, "int64"),
    ("torch", "torch.count_nonzero(x)", {"x": "uint16[3]"}, "refused"),
    ("torch", "F.unfold(x, 2)", {"x": "complex64[1, 1, 4, 4]"}, "complex64"),
    ("torch", "F.unfold(x, 2)", {"x": "int8[1, 1, 4, 4]"}, "refused"),
    ("dask", "da.linalg.inv(x)", {"x": "float32[3, 3]"}, "float64"),
    ("dask", "da.linalg.solve(x, x)", {"x": "int8[3, 3]"}, "float32"),
    ("dask", "da.linalg.qr(x)[0]", {"x": "float16[3, 3]"}, "refused"),
    ("polars", 'pl.lit(1) + pl.col("x")', {"x": "uint8"}, "uint8"),
    ("polars", 'pl.when(c).then(x).otherwise(y)', {"x": "uint8", "y": "int8", "c": "bool"}, "int16"),
    ("polars", 'pl.when(c).then(x).otherwise(None)', {"x": "uint8", "c": "bool"}, "uint8"),
    ("polars", 'pl.sum("x")', {"x": "uint8"}, "int64"),
    ("polars", 'pl.mean_horizontal("x", "y")', {"x": "int8", "y": "float32"}, "float32"),
    ("polars", 'pl.coalesce("x", 0)', {"x": "uint8"}, "uint8"),
    ("polars", "pl.len()", {}, "uint32"),
    *((name, "x[[True, False, True]]", {"x": "float32[3]"}, said) for name, said in (
        ("numpy", "float32"), ("torch", "float32"), ("jax", "refused"), ("tensorflow", "refused"),
        ("mlx", "refused"), ("tinygrad", "refused"),
    )),
    *((name, "x[c]", {"x": "float32[3]", "c": "bool[3]"}, said) for name, said in (
        ("numpy", "float32"), ("tensorflow", "float32"), ("mlx", "refused"), ("tinygrad", "refused"),
    )),
    *((f, call, {"x": "float32[3]"}, "refused") for f, call in (  # a list is no array there
        ("jax", "jnp.quantile(x, [0.5])"), ("jax", "jnp.nanpercentile(x, [50])"), ("jax", "jnp.take(x, [1])"),
        ("jax", "jnp.where([True, False, True], x, x)"), ("jax", "jnp.diff(x, prepend=[1.0])"),
        ("jax", "jnp.cov(x, [1.0, 2.0, 3.0])"), ("jax", "jnp.polyval([1.0, 2.0], x)"),
        ("jax", "jnp.quantile(x, 1)"), ("torch", "torch.quantile(x, [0.5])"), ("torch", "torch.take(x, [1])"),
        ("mlx", "mx.where([True, False, True], x, x)"), ("array-api", "where([True, False, True], x, x)"),
    )),
    ("tensorflow", "tf.where([True, False, True], x, x)", {"x": "float32[3]"}, "float32"),
    *((f, f"jax.lax.pad(x, {value}, [(1, 1, 0)])", {"x": d}, said) for f, value, d, said in (
        ("jax", "0.0", "float32[3]", "refused"), ("jax", "0.0", "float64[3]", "float64"),
        ("jax-x32", "0.0", "float32[3]", "float32"), ("jax-x32", "0.0", "float16[3]", "refused"),
        ("jax", "jnp.float32(0)", "float32[3]", "float32"), ("jax", "True", "int8[3]", "refused"),
    )),
    *(("torch", call, {"x": d, "c": "bool[3]"}, said) for call, d, said in (
        ("x.masked_fill(c, -1e9)", "float16[3]", "refused"),
        ("x.masked_fill(c, -1e9)", "bfloat16[3]", "bfloat16"),
        ("x.masked_fill(c, float('-inf'))", "float16[3]", "float16"),
        ("x.masked_fill(c, 300)", "bool[3]", "bool"), ("x.masked_fill(c, 1j)", "int8[3]", "refused"),
        ("torch.where(c, -1e9, x)", "float16[3]", "float16"),
    )),
    ("torch", "x.fill_(1e9)", {"x": "float16[3]"}, "refused"),
    ("torch", "x.fill_(1e9)", {"x": "float32[3]"}, "float32"),
    *(("numpy", call, {"x": "int8[3]", "y": "float32[3]"}, said) for call, said in (
        ('np.add(x, y, casting="unsafe")', "float32"), ('np.add(x, y, casting="no")', "refused"),
        ('np.add(x, y, dtype=np.int8, casting="unsafe")', "int8"),
        ('np.divide(x, y, dtype=np.int8, casting="unsafe")', "refused"),
        ("np.concatenate([x, y], dtype=np.int8)", "refused"),
        ('np.concatenate([x, y], dtype=np.int8, casting="unsafe")', "int8"),
    )),
    ("numpy", 'np.multiply(x, 0.5, out=x, casting="unsafe")', {"x": "int8[3]"}, "int8"),
    ("numpy", "np.multiply(x, 0.5, out=x)", {"x": "int8[3]"}, "refused"),
    ("numpy", 'x.astype(np.int8, casting="safe")', {"x": "float32[3]"}, "refused"),
    ("numpy", "np.interp(x, x, x, left=1j)", {"x": "float32[3]"}, "refused"),
    ("jax", "jnp.interp(x, x, x, left=1j)", {"x": "float32[3]"}, "complex64"),
    ("jax", "jnp.interp(x, x, x, left=1.5)", {"x": "float32[3]"}, "float32"),
    *(("dask", f"da.full((2,), {value})", {}, said) for value, said in (
        ("2**63", "refused"), ("2**63 - 1", "int64"), ('2**63, dtype="uint64"', "uint64"),
    )),
)  # fmt: skip


@pytest.mark.parametrize(("system", "call", "given", "answer"), ANSWERS)
def test_a_call_is_answered_as_the_library_answered(
    system: str, call: str, given: dict[str, str], answer: str
) -> None:
    try:
        replay = tl.program(call, **given).under(system)
        said = "refused" if replay.refusals else str(replay.result)
    except tl.ProgramError:
        said = "refused"
    assert said == answer


def test_an_answer_that_the_library_varies_says_so() -> None:
    varied, plain = (str(tl.system("dask").explain(d, d, op="matmul")) for d in ("int8", "int64"))
    assert "but not always: several chunks along the contracted axis are" in varied
    assert "not always" not in plain


def test_an_operation_of_a_stated_dtype_takes_all_its_operands() -> None:
    program = tl.program("logical_and(x > 0, y)", x="float32[3]", y="bool[3]")
    assert str(program.explicit("numpy").under("array-api").result) == "bool"


def test_a_list_of_bools_is_no_list_of_positions() -> None:
    assert str(tl.program("x[[0, 2]]", x="float32[3]").under("mlx").result) == "float32"
