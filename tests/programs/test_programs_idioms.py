"""Methods, casts and questions about dtypes, as people write them; NumPy says what each gives."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl

np = pytest.importorskip("numpy")

DTYPES = ("bool", "int8", "uint16", "int64", "float16", "float32", "complex64")
OF_NUMPY = [  # texts that NumPy evaluates as they stand, of an array x
    "x.astype(np.float32) + x",
    "x.astype('int16')",
    "x.astype(np.dtype('float32'))",
    "x.astype(np.dtype(x.dtype))",
    "x.astype(float, copy=False)",
    "x.sum().item() * np.float32(2)",
    "x.max().item() + np.ones(3, 'float16')",
    "x[0].item() * x",
    "x.dtype.type(2) * x",
    "x * x.shape[0] + x.ndim * len(x) + x.size",
    "x * x.dtype.itemsize",
    "x.astype('float32') * np.finfo(np.float32).eps",
    "np.finfo(np.float64).tiny * np.float32(1) + x.real",
    "np.iinfo(np.int16).max + np.ones(2, 'float16')",
    "np.finfo(x.astype('complex64').dtype).max * np.float16(2)",
    "np.ones(3, 'float16') * np.finfo((x + np.float32(1)).dtype).eps",
    "x * (2 if np.issubdtype(x.dtype, np.floating) else 3.5)",
    "x * (2.5 if np.issubdtype(x.dtype, np.inexact) else 3)",
    "x * (2.5 if x.dtype == np.float32 else 2)",
    "x * (2.5 if x.dtype in (np.float32, np.int8) else 2)",
    "x * (2.5 if x.dtype != np.int64 else 2)",
    "x * (2.5 if x.dtype.kind == 'i' else 2)",
    "x * (2.5 if x.dtype.name == 'bool' else 2)",
    "x * (2 if np.iscomplexobj(x) else 2.5)",
    "x.view(np.uint8) + np.int8(1)",
    "x.view() * 2",
    "np.add.reduce(x)",
    "np.multiply.reduce(x, 0, np.float64)",
    "np.maximum.reduce(x, axis=None)",
    "np.logical_and.reduce(x)",
    "np.add.accumulate(x)",
    "np.multiply.accumulate(x)",
    "np.multiply.outer(x, np.ones(2, 'float16'))",
    "np.add.outer(x, 2.5)",
    "np.histogram(x)[0]",
    "np.histogram(x, bins=5)[1]",
    "counts, edges = np.histogram(x, 4)\ncounts * edges[0]",
    "f = lambda a, b=np.float32(1): a * b\nf(x) + f(2, b=x)",
    "(lambda a: a.sum())(x)",
    "np.stack([x * s for s in (1, 2.5) if s > 1])",
    "sum(x * s for s in range(3))",
    "sum([x, x], np.float16(1))",
    "sum(a * b for a, b in zip((1, 2.5), [x, x]))",
    "sum(i * row for i, row in enumerate([x, x]))",
    "[x * i * j for i in range(2) for j in (1, 2.5) if i][-1]",
    "d = {'scale': 2.5, 'x': x}\nd['x'] * d['scale']",
    "d = {'a': 2, **{'b': 2.5}}\nx * d.get('b', 1) * d.get('c', 1)",
    "y = x\nfor k, v in {'a': 1, 'b': 2.5}.items():\n    y = y * v\ny",
    "{k: v * 2 for k, v in {'a': 1, 'b': 2.5}.items()}['b'] * x",
    "x * (2.5 if 1 < 2 < 3 else 2)",
    "1 < 2 < x.real",
    "x * (2 if isinstance(x, (int, float)) else 2.5)",
    "x * (2.5 if isinstance('a', str) and not isinstance(x, dict) else 2)",
    "np.clip(*[x.real, 0, 1.5])",
    "x.sum(**{'dtype': np.float32})",
    "x * len(f'{1}{2}')",
    "np.concatenate([*[x, x], x])",
    "np.concatenate([x[0], x, x[None]], axis=None)",
    "np.concatenate((x[0], x[0]), None)",
    "np.percentile(x.real.astype('float32'), 50)",
    "np.quantile(x.real.astype('float16'), 0.5, axis=0)",
    "np.linalg.norm(x, 1)",
    "np.linalg.norm(x[None, :], None, 1)",
    "np.transpose(x[None, :, None], (2, 0, 1)) * 2",
    "x[None, :, None].transpose() * 2",
    "x[None, :].transpose(1, 0) * 2",
    "np.transpose(x[None, :], axes=(0, 1))",
]


def evaluated(text: str, x: Any, **libraries: Any) -> Any:
    """What the last line of a text gives for an array."""
    *lines, last = text.split("\n")
    scope = {"x": x, **libraries}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec("\n".join(lines), scope)
        return eval(last, scope)


def described(made: Any) -> str:
    """The dtype of a value, or the Python number that it is."""
    return f"Python {type(made).__name__}" if type(made) in (bool, int, float, complex) else str(made.dtype)


@pytest.mark.parametrize("text", OF_NUMPY)
def test_idioms_of_numpy_give_the_dtypes_that_it_computes(text: str) -> None:
    for dtype in DTYPES:
        bound = {"x": f"{dtype}[3]"} if names_in(text, "x") else {}
        p = tl.program(text, **bound)
        made = evaluated(text, np.ones(3, dtype), np=np)
        assert str(p.under("numpy").result) == described(made), dtype
        assert fits(p.steps[p.results[0]].shape, np.shape(made)), dtype
        assert str(tl.program(str(p))) == str(p)


def fits(shape: tuple[int | None, ...] | None, real: tuple[int, ...]) -> bool:
    """Whether a shape, as far as it is known, is the real one."""
    if shape is None:
        return True
    return len(shape) == len(real) and all(a in (None, b) for a, b in zip(shape, real, strict=True))


def names_in(text: str, name: str) -> bool:
    """Whether a name occurs in a text."""
    return re.search(rf"\b{name}\b", text) is not None


GIVEN = {"x": "int8[3]", "y": "float64[3]"}
CASTS = [  # PyTorch's methods, and the dtype of the result
    ("x.to(torch.float16)", "float16"),
    ("x.to(dtype=torch.float16)", "float16"),
    ("x.to('cuda', torch.bfloat16)", "bfloat16"),
    ("x.to(torch.device('cpu'))", "int8"),
    ("x.to(device='cuda')", "int8"),
    ("x.to(y)", "float64"),
    ("x.to(y.dtype, copy=True)", "float64"),
    ("x.type(torch.int16)", "int16"),
    ("x.type_as(y)", "float64"),
    ("x.float()", "float32"),
    ("x.int()", "int32"),
    ("x.half() + x.bfloat16()", "float32"),
    ("x.double()", "float64"),
    ("x.long()", "int64"),
    ("x.byte()", "uint8"),
    ("x.bool()", "bool"),
    ("x.view(torch.uint8)", "uint8"),
    ("x.view(1, -1) * y", "float64"),
    ("x.new_zeros(3)", "int8"),
    ("x.new_ones(3, dtype=torch.float16)", "float16"),
    ("y.new_tensor([1, 2])", "float64"),
    ("x.new_full((3,), 1.5)", "int8"),
    ("x * (1.5 if y.is_floating_point() else 1)", "float32"),
    ("x * (1.5 if torch.is_complex(y) else 1)", "int8"),
    ("x * y.dim() * x.numel() * x.size(0)", "int8"),
    ("y.float() * torch.finfo(torch.float64).eps", "float32"),
    ("x.half() * torch.finfo((x * y).dtype).eps", "float16"),
    ("x.detach().cpu().float()", "float32"),
    ("x[None, :].transpose(-2, -1) * 2", "int8"),
    ("x[None, :].t() * 2", "int8"),
    ("x.expand(2, -1) * 2", "int8"),
    ("y.masked_fill(y > 0, 1)", "float64"),
    ("y.float().quantile(0.5)", "float32"),
]


@pytest.mark.parametrize(("text", "dtype"), CASTS)
def test_methods_of_tensors_are_steps(text: str, dtype: str) -> None:
    p = tl.program(text, **{n: d for n, d in GIVEN.items() if names_in(text, n)})
    assert str(p.under("torch").dtype) == dtype
    assert tl.Program.from_json(p.to_json()).steps == p.steps
    p.explicit("torch").check()


@pytest.mark.parametrize(("call", "shape"), [("jnp.abs", (2, 3)), ("np.abs", (2, 3)), ("torch.abs", (3, 2))])
def test_transpose_takes_two_axes_as_the_library_does(call: str, shape: tuple[int, ...]) -> None:
    """PyTorch swaps the two axes that it is given; NumPy and JAX take them as the new order of all."""
    p = tl.program(f"{call}(x).transpose(0, 1)", x="float32[2,3]")
    assert p.steps[p.results[0]].shape == shape


def test_the_number_that_an_array_holds_is_of_its_kind() -> None:
    p = tl.program("x.sum().item()", x="int8[3]")
    assert [str(p.under(s).result) for s in ("numpy", "jax", "torch")] == ["Python int"] * 3
    assert str(p).splitlines()[-2] == "    t2 = t1.item()"
    quotient = tl.program("(x / 2).mean().item() * y", x="int8[3]", y="float16[3]")
    assert str(quotient.under("numpy").dtype) == "float16"
    again = tl.program(str(quotient))
    assert str(again) == str(quotient)
    assert tl.Program.from_json(quotient.to_json()).steps == quotient.steps
    damaged = quotient.to_json().replace('"is": "item", "text"', '"is": "item", "later": 9, "texts"')
    with pytest.raises(tl.ProgramError, match=r"steps\[5\]: text is missing; give it"):
        tl.Program.from_json(damaged)
    quotient.explicit("jax").check()
    made = quotient.run(np, x=np.ones(3, "int8"), y=np.ones(3, "float16"))
    assert str(made.dtype) == "float16" and made[0] == 0.5  # type: ignore[attr-defined,index]


def test_limits_of_a_dtype_that_a_system_decides_are_numbers_of_unknown_value() -> None:
    p = tl.program("y = x / 2\ny + xp.finfo(y.dtype).eps", x="int8[3]")
    assert [str(p.under(s).dtype) for s in ("numpy", "torch")] == ["float64", "float32"]
    made = p.run(np, x=np.ones(3, "int8"))
    assert made[0] == 0.5 + np.finfo(np.float64).eps  # type: ignore[index]
    known = tl.program("xp.finfo(float32).max").under("numpy").result.operand
    assert known is not None and known.value == float(np.finfo(np.float32).max)


def test_functions_of_symbols_ask_the_same() -> None:
    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        y = x.float() if x.dtype == xp.int8 else x.to(xp.float64)
        wide = xp.astype(y, xp.float64)
        if wide.dtype == xp.float64 and xp.isdtype(y.dtype, ("real floating", "complex floating")):
            return y + xp.finfo(y.dtype).eps * xp.iinfo(xp.int8).max * x.sum().item()
        return wide

    p = tl.program(f, "int8[3]")
    assert [str(p.under(s).dtype) for s in ("numpy", "jax", "torch")] == ["float32"] * 3
    unknown = tl.program(lambda x: (x / 2) * x.__array_namespace__().finfo((x / 2).dtype).eps, "int8[3]")
    assert str(unknown.under("torch").dtype) == "float32"
    limits = tl.Symbols().finfo("float32")
    assert limits.bits == 32 and limits.tiny == limits.smallest_normal and str(limits.dtype) == "float32"
    assert not hasattr(limits, "lowest")


REFUSED_INPUTS = {"x": "int8[3]", "y": "int8"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("np.sqrt.accumulate(x)", "sqrt.accumulate: sqrt takes one array; give a function of two"),
        ("np.hypot.reduce(x, dtype=float)", "hypot.reduce is read without dtype and out; cast with"),
        ("np.add.at(x)", "add.at takes an array, indices and values; give those"),
        ("range(len(np.flatnonzero(x)))", "the shape is not known; give its operand a shape"),
        ("np.add.reduce()", "add.reduce takes an array, and axis, dtype, out, keepdims"),
        ("np.histogram(x, normed=True)", "histogram is given normed"),
        ("f = lambda a: a\nf(x, x)", "the lambda takes a; give those"),
        ("f = lambda a: a\nf()", "the lambda needs a; give it"),
        ("np.clip(*y)", "arguments with a star, of which nobody knows how many there are; write them out"),
        ("{i for i in range(3)}", "no array; make a list of it"),
        ("isinstance(x, np.recarray)", "it asks for a class that libraries have of their own; leave it out"),
        ("[a for a in 3]", "nothing to loop over; give a list, or range(n)"),
        ("d = {'a': x}\nd['b']", "the dictionary has no key 'b'; it has 'a'"),
        ("d = {'a': x}\nd[x]", "it looks up the value of an array; give a key that is known"),
        ("d = {'a': x}\nd * 2", "a dictionary; take one of its values, or give them names"),
        ("1 < x < 2", "compare two, and join with &: (a < x) & (x < b)"),
        ("max(x, 2)", "it asks which is the max; write maximum(x, y)"),
        ("min([x, x])", "it asks which is the min; write minimum(x, y)"),
        ("x.at[0].sort(1)", "elements are written by set, add, multiply, mul, divide, power, min, max"),
        ("x.at[0] + 1", "a function that is not called; call it"),
        ("x.transpose(x)", "the axes are not known; give numbers"),
        ("x.expand(x)", "the lengths are not known; give numbers"),
        ("x.masked_fill(1)", "it takes an array, a mask and a value; give those"),
        ("x.item()", "item takes an array of one element, and this has 3; index it first"),
        ("y.tolist()", "it takes the values out of an array; compute with the array, or with x[0].item()"),
        ("x.type()", "type() gives the name of a dtype, which is no array; leave it out"),
        ("x.sqrt_()", "sqrt_ writes into the array; give the result a name: x = x.sqrt(...)"),
        ("x.view(float)", "the dtype that the bits are taken for is not known; name one, e.g. int32"),
        ("x.size(3)", "there are 1 axes; give the number of one"),
        ("xp.isdtype(x.dtype, 'real')", "unknown kind 'real' (did you mean real floating?); give one of"),
        ("xp.isdtype(x.dtype)", "isdtype is given 1 arguments; give a dtype, and what it is asked for"),
        ("x.dtype < np.float32", "dtypes have no order; ask for the kind with isdtype"),
        ("x.dtype.char", "nothing is known of its 'char'; ask for its kind with isdtype"),
        ("np.finfo(x.dtype).eps", "int8 is no float dtype; use iinfo for integers"),
        ("np.finfo(np.float32).machep", "finfo has no 'machep'; it has eps, max"),
        ("np.finfo(np.float32)", "finfo gives several numbers; take one: finfo(dtype).max"),
        ("np.finfo(2)", "finfo takes a dtype; give one such as float32"),
        ("np.dtype()", "it makes a dtype of one name; give one such as float32"),
        ("xp.finfo(posit8).eps", "it asks for those of posit8"),
    ],
)
def test_what_cannot_be_known_is_refused_with_what_to_do(text: str, said: str) -> None:
    with pytest.raises(tl.ProgramError, match=re.escape(said)):
        tl.program(text, **{name: o for name, o in REFUSED_INPUTS.items() if names_in(text, name)})


@pytest.mark.parametrize(
    "text",
    [
        "[1 for i in range(9**5) for j in range(9**5)]",
        "for i in range(9**5):\n    for j in range(9**5):\n        y = x\ny",
    ],
)
def test_loops_of_too_many_passes_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typelattice.programs.readers.source.syntax_reader.MAX_LOOP_PASSES", 1_000)
    with pytest.raises(tl.ProgramError, match="more than 1,000 passes of loops and calls; take it apart"):
        tl.program(text, x="int8[3]")


def test_a_name_that_stands_where_nothing_is_read_occurs() -> None:
    p = tl.program("x if x.dtype == np.int8 else y", x="int8", y="float32")
    assert str(p.under("numpy").dtype) == "int8" and math.isclose(len(p.steps), 2)


def test_a_function_of_a_file_has_the_lines_that_it_needs(tmp_path: Path) -> None:
    """Others, which may be no program, are not read."""
    file = tmp_path / "f.py"
    file.write_text(
        "import os\nimport numpy as np\nSECRET = os.environ['HOME']\nHALF = 1 / 2\nEPS = np.float32(HALF)\n"
        "SCALES = {'a': EPS}\nscaled = lambda x: x * SCALES['a']\n\ndef f(x):\n    return scaled(x)\n"
    )
    assert str(tl.program(f"{file}:f", x="float16[3]").under("numpy").dtype) == "float32"


@pytest.mark.parametrize("kind", ["float", "complex"])
def test_a_result_type_of_a_kind_is_that_of_a_namespace(kind: str) -> None:
    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        return xp.astype(x, xp.result_type(x, x, kind=kind))

    for system in ("numpy", "jax", "torch", "array-api", "mlx"):
        for dtype in ("bool", "int8", "int64", "float32", "complex64"):
            xp = tl.namespace(system, np)
            p = tl.program(f, dtype)
            if p.under(system).result.operand is None:
                assert p.under(system)[1].reason == f"has no dtype of kind {kind}"
                continue
            said = xp.result_type(xp.asarray([1], dtype=dtype), kind=kind)
            assert p.under(system).dtype is said is tl.program(
                f"xp.astype(x, xp.result_type(x, x, kind='{kind}'))", x=dtype
            ).under(system).dtype
    with pytest.raises(tl.ProgramError, match="result_type knows no such kind; it is 'float' or 'complex'"):
        tl.program("xp.result_type(x, kind='int')", x="int8")


def test_a_symbol_becomes_no_array_of_objects() -> None:
    with pytest.raises(tl.ProgramError, match="it asks <symbol x> for an array of NumPy's"):
        tl.program(lambda x: np.asarray(x), "int8[2]")


def test_methods_of_ufuncs_of_symbols_are_steps() -> None:
    def f(x: Any) -> Any:
        return np.add.reduce(x), np.multiply.accumulate(x), np.subtract.outer(x, x), np.histogram(x)[1]

    p = tl.program(f, "int8[3]")
    made = f(np.ones(3, "int8"))
    assert [str(p.under("numpy")[i]) for i in p.results] == [str(x.dtype) for x in made]
    assert [p.steps[i].shape for i in p.results[:3]] == [x.shape for x in made[:3]]


@pytest.mark.parametrize(
    "text, given, system, expected",
    [
        ("np.sqrt(1.0)\nsum(x)", "int8[3]", "numpy", "int8"),  # Python's own adds element by element
        ("np.sqrt(1.0)\nsum(x)", "bool[3]", "numpy", "int64"),
        ("np.sqrt(1.0)\nsum(x)", "float32[3,2]", "numpy", "float32"),
        ("sum(x)", "int8[3]", "numpy", "int64"),  # without a library, the standard's
        ("np.cumsum(x) * np.ones(4)", "float32[2,2]", "numpy", "float64"),  # it flattens
        ("x.T * 2", "int8[3]", "numpy", "int8"),
        ("k = 0.5\nmx.full((3, 3), k, dtype=mx.float16)", "int8", "mlx", "float16"),
        ("k = 2\nx.scatter(0, torch.zeros(2, dtype=torch.int64), k)", "float16[2]", "torch", "float16"),
    ],
)
def test_python_means_what_it_means_in_a_file(text: str, given: str, system: str, expected: str) -> None:
    *before, result = text.splitlines()
    body = "\n    ".join([*before, f"return {result}"])
    program = tl.program(f"def f(x):\n    {body}", tl.system(system), x=given)
    assert str(program.under(system).result) == expected
