"""Whole expressions: the dtypes that NumPy computes, one clear error for what is none, nothing evaluated."""
from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.cli.main import main
from typelattice.programs.meanings import OPERATORS

np = pytest.importorskip("numpy")


def answers(text: str, system: str | Path, **bound: object) -> dict[str, str]:
    f = tl.program(text, **bound)
    return {part.text: str(o) for part, o in zip(f.steps, f.under(tl.system(system)), strict=True) if part.op}


def test_a_name_may_be_bound_to_an_array_of_any_shape() -> None:
    for shape in ((), (2,), (0, 3)):
        assert tl.program("x + 1", x=np.ones(shape, "float32")).under("jax").dtype == tl.dtype("float32")


def test_every_part_has_an_answer_and_systems_part_where_they_do() -> None:
    bound = {"a": "int8:0d", "b": "float16"}
    found = {s: answers("a*2.0 + b", s, **bound) for s in ("numpy", "numpy1", "jax", "torch", "array-api")}
    assert found == {
        "numpy": {"a*2.0": "float64", "a*2.0 + b": "float64"},
        "numpy1": {"a*2.0": "float64", "a*2.0 + b": "float16"},
        "jax": {"a*2.0": "float64*", "a*2.0 + b": "float16"},
        "torch": {"a*2.0": "float32", "a*2.0 + b": "float16"},
        "array-api": {"a*2.0": "refused", "a*2.0 + b": "not reached"},
    }  # fmt: skip


def test_functions_casts_and_reductions() -> None:
    bound = {"a": "int8", "b": "float16", "c": "bool"}
    text = "np.where(c, xp.sqrt(a), b.astype(float32))"
    assert answers(text, "jax", **bound)[text] == "float32"
    assert whole("astype(a, 'bfloat16') + b", "jax", a="int8", b="float16") == "float32"
    assert whole("sum(a) + b", "torch", a="int8", b="float16") == "float16"  # the sum has no dimensions
    assert whole("sum(a, axis=0) + b", "torch", a="float32", b="float16") == "float32"
    assert answers("concat([a, b])", "jax", a="int8", b="uint8") == {"concat([a, b])": "int16"}
    assert answers("a == 1", "numpy", a="int8") == {"a == 1": "bool"}
    assert answers("np.linalg.inv(a)", "numpy", a="float32") == {"np.linalg.inv(a)": "float32"}


def test_numbers_among_themselves_are_pythons() -> None:
    assert answers("a + (1 + True)*2.0", "jax", a="float16")["a + (1 + True)*2.0"] == "float16"
    for text, said in (("7 // 2", "Python int"), ("7 / 2", "Python float"), ("1 < 2", "Python bool")):
        assert whole(text) == said
        p = tl.program(f"a + ({text})", a="uint8")
        assert str(p.under("numpy")[1]) == said
    assert answers("a + -1", "array-api", a="uint8")["a + -1"] == "refused"
    assert answers("a + 1j", "numpy", a="float32")["a + 1j"] == "complex64"


def test_numpy_computes_the_dtypes_that_are_said() -> None:
    """Random expressions, evaluated by NumPy on arrays of ones."""
    dice, numpy = random.Random(9407), tl.system("numpy")
    names = [d.name for d in numpy.order.nodes if isinstance(d, tl.DType)]
    symbols = ["+", "*", "/", "-", "//", "%", "**", "<", "==", "&", "|"]

    def written(depth: int) -> str:
        if depth == 0 or dice.random() < 0.2:
            return dice.choice(["a", "b", "c", "1", "2.0", "1j", "True"])
        if dice.random() < 0.2:
            name = dice.choice(["sqrt", "sum", "exp", "abs", "square", "isfinite", "max"])
            return f"np.{name}({written(depth - 1)})"
        return f"({written(depth - 1)} {dice.choice(symbols)} {written(depth - 1)})"

    compared = 0
    for _ in range(1500):
        text = written(3)
        bound = {n: dice.choice(names) + dice.choice(["", "", ":0d"]) for n in "abc" if n in _words(text)}
        if not bound:
            continue
        f = tl.program(text, **bound)
        outcome = f.under(numpy)[-1]
        arrays = {n: np.ones(() if o.endswith("0d") else 2, o.partition(":")[0]) for n, o in bound.items()}
        with np.errstate(all="ignore"):
            try:
                result = eval(text, {"np": np, **arrays})
            except (TypeError, OverflowError):
                assert outcome.operand is None, (text, bound)
                continue
            except ZeroDivisionError:  # of Python's numbers
                continue
        if not isinstance(result, (np.ndarray, np.generic)):
            assert outcome.operand is not None
            # np.float64 is a float to Python
            assert outcome.operand.tier == "scalar" or ":0d" in str(bound) or "np." in text
            continue
        assert str(outcome) == str(result.dtype), (text, bound)
        compared += 1
    assert compared > 600


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a.b", "'a.b': a function that is not called; call it"),
        ("np.b", "'np.b': nothing that promotion knows of; give an array or a number"),
        ("lambda: 1", "a function that is not called; call it"),
        ("[a for a in b]", "a loop over an array asks for .*; use functions of whole arrays"),
        ("sum(x for x in a)", "a loop over an array asks for the value of an array"),
        ("add(*a)", "arguments with a star, of which nobody knows how many there are; write them out"),
        ("add(**a)", "arguments with a star"),
        ("{'x': a}", "a dictionary; take one of its values, or give them names"),
        ("(c := a)", "a name given within an expression; give it on a line before"),
        ("a if b else a", "asks for the value of an array, and its steps depend on that; write where("),
        ("a + b + 'x'", "'x' takes no part in promotion; give an array or a number"),
        ("a < b < a", "compare two, and join with &: (a < x) & (x < b)"),
        ("a and b", "asks for the value of an array, .*; join with & or |"),
        ("not a", "asks for the value of an array, .*; join with & or |, negate with ~"),
        ("a in b", "asks for the value of an array"),
        ("(1, 2)[3]", "Python refuses it: tuple index out of range; give another index"),
        ("(1)[0]", "a number has no elements; index an array"),
        ("a.shape", "the shape is not known; give its operand a shape, e.g. float32[3,4]"),
        ("len(a)", "the shape is not known"),
        ("math.gamma(2)", "math.gamma is no operation"),
        ("sqrt(a, out=b)", "out= writes into an array that is there already; give the result a name"),
        ("sum(a, where=b)", "where= writes into an array that is there already; write where(mask, x, ...)"),
        ("a.astype(2)", "'2' is no dtype; give one such as float32"),
        ("zeros(a)", "the shape of zeros is not known; give numbers"),
        ("sqrtt(a)", "unknown function 'sqrtt'; did you mean sqrt"),
        ("sqrt(a, b)", "sqrt takes 1 operand, not 2"),
        ("clip()", "clip takes 1 to 3 operands, not 0"),
        ("a == c", "c is bound to nothing; bound are a, b: names need operands, e.g. c=int8"),
        ("c != 1", "c is bound to nothing; bound are a, b: names need operands, e.g. c=int8"),
        ("a + c", "c is bound to nothing; bound are a, b: names need operands, e.g. c=int8"),
        ("a", "b is bound and does not occur"),
        ("1 +", "'1 +' is no program: invalid syntax; give operators"),
        ("", "'' is no program: there is nothing in it"),
        ("exp(a, axis=0)", "exp is given axis; of its arguments nothing may be named"),
        ("sum(a, axes=0)", "of its arguments axis, keepdims, .* may be named; cast with .astype"),
        ("f.g.h.i(a)", "no function of the array API"),
        ("(a)(b)", "'a' is no function of the array API standard; define it in the source"),
        ("astype(a, 3)", "'3' is no dtype"),
        ("-" * 50_000 + "a", "nested too deep"),
        ("\x00", "no program"),
    ],
)  # fmt: skip
def test_what_is_no_program_is_refused(text: str, match: str) -> None:
    pattern = re.escape(match).replace(re.escape(".*"), ".*")
    with pytest.raises((tl.ProgramError, tl.DTypeError), match=pattern):
        tl.program(text, a="int8", b="int8")


def test_nothing_is_evaluated() -> None:
    harmful = ("__import__('os').system('x')", "open('x')", "(lambda: open)()()", "exec('1')")
    for text in (*harmful, "a.__class__", "[open(b) for b in 'ab']", "{'a': exec}['a']('1')"):
        with pytest.raises(tl.ProgramError):
            tl.program(text, a="int8")


def test_random_texts_give_an_error_or_an_expression() -> None:
    dice = random.Random(9407)
    pieces = [*"ab12.()[]+-*/%&|^<>=~,'\" \n\\@:"]
    pieces += ["sqrt(", "where(", ".astype(", "float32", "1j", "and", "lambda", "é", "\ud800"]
    read = refused = 0
    for _ in range(3000):
        text = "".join(dice.choices(pieces, k=dice.randint(1, 12)))
        try:
            f = tl.program(text, **{n: "int8" for n in "ab" if n in _words(text)})
            f.under(tl.system("numpy"))
            read += 1
        except (tl.ProgramError, tl.DTypeError):
            refused += 1
    assert read > 25 and refused > 1000


def test_every_operator_is_an_operation() -> None:
    from typelattice.facts.operations import OPERATIONS

    assert {*OPERATORS.values()} <= {*OPERATIONS}


def test_a_refusal_is_told_by_its_reason_which_names_the_operation_once() -> None:
    told = str(tl.program("x.mean() + 1", x="int32[3]").under("torch"))
    assert told.splitlines()[2:] == [
        "x.mean(): refused: mean takes no signed",
        "1: Python int",
        "x.mean() + 1: not reached",
    ]
    assert str(tl.program("x - x", x="bool").under("numpy")).endswith("x - x: refused: - takes no bool")


def test_command_tells_what_the_library_did_where_that_is_not_its_rule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["explain", "solve(x, y) * 2.0", "x=uint16", "y=int16"]
    assert main([*asked, "--system", "dask", "--system", "keras"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    of_dask, of_keras = told.split(" with x=uint16, y=int16 under keras")
    assert "gives float32; the rule says float64; linear algebra announces what a sample" in of_dask
    assert "solve(x, y) * 2.0: float64 2 fits in float64 rule: numpy.toml, lines 5, 6" in of_dask
    assert "observed: never asked of keras" in of_keras
    assert main(asked) == 0
    out = capsys.readouterr().out
    step = " ".join(out.partition("\n\nsolve(x, y) * 2.0\n")[0].split())
    assert "float32 4 dask (by rule float64)" in step and "keras?" in step and "jax-2019?" not in step
    assert "? the library was never asked this" in out
    assert "later steps are made of what the rule says" in " ".join(out.split())


def test_command_marks_where_systems_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "a*2.0 + b", "a=int8:0d", "b=float16"]) == 0
    out = capsys.readouterr().out
    assert "a*2.0 <- here the libraries part" in out
    assert out.count("part") == 1
    assert max(map(len, out.splitlines())) <= 80
    assert main(["explain", "a*2.0 + b", "a=int8:0d", "b=float16", "--system", "jax"]) == 0
    out = capsys.readouterr().out
    assert "a*2.0 + b: float16" in out
    assert "jax.toml" in out
    assert main(["explain", "a+b", "a=int8:0d", "b=int16:0d=300", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["operands"] == {"a": "int8:0d", "b": "int16:0d=300"}
    assert len(told["answers"]) == len(tl.systems())


@pytest.mark.parametrize(
    ("argv", "match"),
    [
        (["a", "b", "a=int8"], "2 programs where one is wanted"), (["a=int8"], "0 programs"),
        (["a", "a=int8", "a=int16"], "a is bound twice"),
        (["a", "a=int8", "--op", "add"], "--op goes with operands"),
        (["a", "a=int88"], "did you mean int8"), (["a+b", "a=int8"], "b is bound to nothing"),
    ],
)  # fmt: skip
def test_command_refuses(argv: list[str], match: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *argv]) == 2
    told = capsys.readouterr().err
    assert match in told
    assert told.count("\n") == 1


def test_arithmetic_of_literals_is_pythons() -> None:
    for number in ("3*100", "(+300)", "300"):
        assert whole(f"a + {number}", a="uint8") == "refused"
    assert whole("a + 3*50", a="uint8") == "uint8"
    assert whole("a * 2**-1", a="int8") == "float64"
    assert whole("a * (-2)**0.5", a="float32") == "complex64"
    assert whole("a * (1/0)", a="int8") == "float64"  # only its kind is known
    assert whole("a * 2**9**9**9", a="int8") == "int8"  # and is not computed


def test_a_default_that_is_named_changes_nothing() -> None:
    torch = tl.system("torch")
    for text in ("sum(a)*b", "sum(a, axis=None)*b", "prod(a, keepdims=False)*b"):
        assert str(tl.program(text, a="float64", b="float32").under(torch)[-1]) == "float32"
    assert str(tl.program("sum(a, axis=0)*b", a="float64", b="float32").under(torch)[-1]) == "float64"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a + 0x" + "f" * 4000, "a number of more than 4,096 bits; no dtype holds it"),
        ("a.maximun(a) + a", "unknown function 'maximun'; did you mean maximum"),
        ("sum(a, axis=0, axis=1)", "given twice"),
        ("meshgrid(a, a)", "meshgrid gives several arrays"),
    ],
)
def test_what_an_expression_cannot_say(text: str, said: str) -> None:
    with pytest.raises(tl.ProgramError, match=said):
        tl.program(text, a="int8")


def whole(text: str, system: str | Path = "numpy", **bound: object) -> str:
    return str(tl.program(text, **bound).under(system)[-1])


def test_functions_of_python_numbers_are_the_librarys() -> None:
    """An operator of Python numbers gives one, a function of them an array or a scalar of the library's."""
    bound = {"s": "float", "t": "float", "x": "float32"}
    x = np.ones(2, "float32")
    assert whole("multiply(s, t)*x", **bound) == str((np.multiply(2.0, 3.0) * x).dtype) == "float64"
    assert whole("s*t*x", **bound) == str((2.0 * 3.0 * x).dtype) == "float32"
    assert whole("negative(1.0)*x", x="float32") == str((np.negative(1.0) * x).dtype) == "float64"
    assert whole("np.add(1, 2)*x", x="int8") == str((np.add(1, 2) * np.ones(2, "int8")).dtype) == "int64"
    assert whole("jnp.multiply(2.0, 3.0)*x", "jax", x="float16") == "float16"  # JAX's is weak


@pytest.mark.parametrize("factor", [
    "2**-126", "10**-70", "2**-1", "2**64", "2**b", "(-8)**0.5", "2.0**-1100", "True**-1", "0**1", "7 // 2",
    "1 << 3", "6 & 3", "~True", "3 > 2", "-2**2", "+True", "5 % 3.0", "1e308*10", "b*b", "1j**2",
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["int8", "float16", "complex64"])
def test_python_computes_what_is_of_its_own_numbers(factor: str, dtype: str) -> None:
    b = -1
    number = eval(factor.replace("~True", "~1"), {"b": b})
    bound = {"b": str(b)} if "b" in factor else {}
    computed = tl.program(factor, **bound).under("numpy")[-1].operand
    assert computed is not None and (computed.value, type(computed.value)) == (number, type(number))
    try:
        with np.errstate(all="ignore"):
            expected = str((np.ones(2, dtype) + number).dtype)
    except OverflowError:
        expected = "refused"
    assert whole(f"x + ({factor})", x=dtype, **bound) == expected


def test_python_numbers_that_it_refuses_or_that_are_too_large() -> None:
    assert whole("(1j < 2)*x", x="int8") == "not reached"
    assert answers("(1j < 2)*x", "numpy", x="int8") == {"1j < 2": "refused", "(1j < 2)*x": "not reached"}
    assert whole("(1.5 & 2)*x", x="int8") == "not reached"
    assert answers("x + (1 << 5000)", "numpy", x="int8")["1 << 5000"] == "Python int"
    assert answers("x + (5 // 0)", "numpy", x="int8")["5 // 0"] == "Python int"
    assert whole("2**(-2**1000)") == "Python float"
    assert answers("x + (1 << -1)", "numpy", x="int8")["1 << -1"] == "Python int"


def test_a_function_goes_by_any_of_its_names() -> None:
    f = tl.program("np.absolute(torch.arcsin(x))", x="float16")
    assert [part.op for part in f.steps] == [None, "asin", "abs"]
    with pytest.raises(tl.ProgramError, match="unknown function '__add__'"):
        tl.program("__add__(x, x)", x="int8")


def test_operands_of_a_call_come_first() -> None:
    """What else a function of whole arrays is given, a shape or an axis, says nothing of dtypes."""
    assert whole("np.reshape(x, (2, -1)) + y", x="int8", y="int16") == "int16"
    assert whole("sum(x, 0)*y", "torch", x="float64", y="float32") == "float64"  # an axis: not all of them go
    assert whole("tensordot(x, y, 1)", x="int8", y="int16") == "int16"
    with pytest.raises(tl.ProgramError, match="reshape takes 1 operand, not 2; ask it of each"):
        tl.program("reshape(x, y)", x="int8", y="int8")


def test_a_condition_and_indices_do_not_promote() -> None:
    assert whole("where(c, x, y)", c="bool", x="int8", y="int16") == "int16"
    branches = {"x": "float64:0d", "y": "float64:0d"}
    assert whole("where(c, x, y)*z", "torch", c="bool", z="float32", **branches) == "float64"
    assert whole("take(x, i)", x="int8", i="int64") == "int8"
    for text, what in (("where(x, x)", "where takes 3"), ("take(x)", "take takes 2")):
        with pytest.raises(tl.ProgramError, match=f"{what} operands in an expression"):
            tl.program(text, x="int8")
    with pytest.raises(tl.ProgramError, match="clip takes 1 to 3 operands, not 4"):
        tl.program("clip(x, 1, 2, 3)", x="int8")
    with pytest.raises(tl.OpError, match="take takes integers for indices, not float32"):
        tl.program("take(x, x)", x="float32").under("numpy")


MINE = """
name = "mine"
order = "f16, posit8 -> f32; f* -> f16, posit8; i8 -> f*"
tiers = ["array", "scalar"]
defaults = { float = "f32" }
[dtypes]
posit8 = { kind = "float", bits = 8, max = 64.0, precision = 5, min_exponent = 0, specials = "szn" }
"""


def test_a_file_without_a_function_is_told_to_name_one(tmp_path: Path) -> None:
    path = tmp_path / "it.py"
    path.write_text("def f(x): return x * 2.0\n")
    for named in (str(path), f"{path}:"):
        with pytest.raises(tl.ProgramError, match=rf"it\.py is a file; say which function .*: {path}:name$"):
            tl.program(named, x="int8")
    path.write_text("# nothing\n")
    with pytest.raises(tl.ProgramError, match=r"^it\.py is no program: there is nothing in it"):
        tl.program(f"{path}:f", x="int8")


def test_names_may_be_bound_to_dtypes_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    assert whole("x + y", path, x="posit8", y="float16") == "float32"
    assert whole("x.astype(posit8) + x", str(path), x="float16") == "float32"
    with pytest.raises(tl.DTypeError, match="unknown dtype 'posit8'"):
        tl.program("x + x", x="posit8").under("numpy")
    with pytest.raises(tl.DTypeError, match=r"unknown dtype 'flout32'; did you mean float32 or uint32\?"):
        tl.program("x.astype(flout32)", x="int8").under("numpy")


def test_a_weak_result_stays_weak(tmp_path: Path) -> None:
    """Also where Python scalars are a tier of their own: an operand is what explain answered."""
    path = tmp_path / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    assert tl.system(path).explain("int8", 2.0).weak
    assert answers("x*2.0 + y", path, x="int8", y="posit8") == {
        "x*2.0": "float32*",
        "x*2.0 + y": "posit8",
    }


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["x + y"], "typelattice: x is bound to nothing: names need operands, e.g. x=int8\n"),
        (
            ["sqrt(x)", "--system", "jax"],
            "typelattice: x is bound to nothing: names need operands, e.g. x=int8\n",
        ),
        (
            ["x + y", "int8"],
            "typelattice: 2 programs where one is wanted; give one program and its names",
        ),
        (
            ["x + y", "x=int8"],
            "typelattice: y is bound to nothing; bound are x: names need operands, e.g. y=int8\n",
        ),
        (["x"], "typelattice: unknown dtype 'x'; a dtype is named as int8, float16 or bfloat16 are\n"),
    ],
)
def test_an_expression_without_operands_is_told_to_have_names(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *argv]) == 2
    assert capsys.readouterr().err.startswith(said)


def test_an_expression_without_names_is_pythons(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "1 + 2.5", "--system", "numpy"]) == 0
    assert capsys.readouterr().out.startswith("1 + 2.5 under numpy: Python float\n")


def test_two_files_may_mean_different_dtypes_by_one_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = MINE.replace("posit8 -> f32", "posit8 -> f32, f64").replace("max = 64.0", "max = 32.0")
    for name, text in (
        ("a", MINE),
        ("b", wide.replace("f32, f64; f*", "f64; f*").replace('"f32" }', '"f64" }')),
    ):
        (tmp_path / f"{name}.toml").write_text(text.replace('"mine"', f'"{name}"'), encoding="utf-8")
    files = [x for name in "ab" for x in ("--system", str(tmp_path / f"{name}.toml"))]
    assert main(["explain", "posit8", "--format", "json", *files]) == 0
    given = json.loads(capsys.readouterr().out)["answers"]
    assert [(a["system"], a["dtype"], a["reason"]) for a in given] == [
        ("a", "posit8", None),
        ("b", "posit8", None),
    ]
    assert main(["explain", "x + x", "x=posit8", "--format", "json", *files]) == 0
    assert [a["steps"][-1]["answer"] for a in json.loads(capsys.readouterr().out)["answers"]] == [
        "posit8",
        "posit8",
    ]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("xp.diff(m)", (3, 3)),
        ("xp.diff(m, axis=0, n=2)", (1, 4)),
        ("xp.tile(m, (2, 1))", (6, 4)),
        ("xp.repeat(m, 2)", (24,)),
        ("xp.linalg.diagonal(m)", (3,)),
        ("xp.linalg.outer(m[0, :], m[:, 0])", (4, 3)),
        ("xp.vecdot(m, m)", (3,)),
        ("xp.tensordot(m, m[0, :], axes=1)", (3,)),
        ("xp.swapaxes(m, 0, 1)", (4, 3)),
        ("xp.searchsorted(m[0, :], m)", (3, 4)),
    ],
)
def test_shapes_follow_from_those_of_operands(text: str, shape: tuple[int, ...]) -> None:
    p = tl.program(text, m="float32[3,4]")
    assert p.steps[-1].shape == shape
    compat = pytest.importorskip("array_api_compat.numpy")
    made = np.swapaxes(np.ones((3, 4)), 0, 1) if "swap" in text else p.run(compat, m=np.ones((3, 4)))
    assert made.shape == shape


def test_an_error_of_the_namespace_names_the_step() -> None:
    p = tl.program("y = x + 1\nz = xp.reshape(y, (5,))", x="float32[?]")
    with pytest.raises(ValueError, match="cannot reshape") as refused:
        p.run(np, x=np.ones(3))
    assert refused.value.__notes__ == ["reshape 'xp.reshape(y, (5,))' (<source>, line 2)"]


# -- several results


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
        ("xp.linalg.svd(x)[3]", "which are 3, none has this number; give another index"),
        ("a, b = xp.linalg.svd(x)", "as many names as there are values; give each its own line"),
        ("xp.einsum(x, x)", r"einsum takes a text and arrays; write einsum\('ij,jk->ik', x, y\)"),
    ],
)
def test_several_results_that_cannot_be_are_refused(text: str, why: str) -> None:
    with pytest.raises(tl.ProgramError, match=why):
        tl.program(text, x="float32[3,3]")


def test_numbers_beside_arrays_in_a_list_take_the_default_dtype_in_programs_too() -> None:
    p = tl.program("np.asarray([x, 1.0])", x="float32:0d")
    assert str(p.under("numpy").dtype) == "float64"
    assert str(tl.program("jnp.asarray([x, 1.0])", x="float32:0d").under("jax").dtype) == "float32"
    chosen = tl.program("np.where(c, x, 1.0)", c="bool[3]", x="float32[3]")
    assert str(chosen.under("numpy").dtype) == "float32"


SHAPES = [(3,), (2, 3), (2, 1, 3), (1,), ()]


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack", "stack", "concatenate"])
def test_what_is_joined_has_the_shape_that_numpy_gives_it(name: str) -> None:
    def written(shape: tuple[int, ...]) -> str:
        return f"float64[{','.join(map(str, shape))}]" if shape else "float64:0d"

    compared = 0
    for a in SHAPES:
        for b in SHAPES:
            try:
                made = getattr(np, name)([np.ones(a), np.ones(b)]).shape
            except ValueError:
                continue  # of shapes that do not go together
            p = tl.program(f"np.{name}([a, b])", a=written(a), b=written(b))
            assert p.steps[-1].shape == made
            compared += 1
    assert compared >= len(SHAPES) - 1
