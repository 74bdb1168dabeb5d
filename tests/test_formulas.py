"""Whole expressions: the dtypes that NumPy computes, one clear error for what is none, nothing evaluated."""
from __future__ import annotations

import json
import random
import string

import pytest

import typelattice as tl
from typelattice.cli.main import main
from typelattice.programs.expression import OPERATORS

np = pytest.importorskip("numpy")


def answers(text: str, system: str, **bound: object) -> dict[str, str]:
    f = tl.formula(text, **bound)
    return {part.text: str(o) for part, o in zip(f.parts, f.under(tl.system(system)), strict=True) if part.op}


def test_every_part_has_an_answer_and_systems_part_where_they_do() -> None:
    bound = {"a": "int8:0d", "b": "float16"}
    found = {s: answers("a*2.0 + b", s, **bound) for s in ("numpy", "numpy1", "jax", "torch", "array-api")}
    assert found == {
        "numpy": {"a * 2.0": "float64", "a * 2.0 + b": "float64"}, "numpy1": {"a * 2.0": "float64", "a * 2.0 + b": "float16"},
        "jax": {"a * 2.0": "float64*", "a * 2.0 + b": "float16"}, "torch": {"a * 2.0": "float32", "a * 2.0 + b": "float16"},
        "array-api": {"a * 2.0": "refused", "a * 2.0 + b": "not reached"},
    }  # fmt: skip


def test_functions_casts_and_reductions() -> None:
    bound = {"a": "int8", "b": "float16", "c": "bool"}
    text = "np.where(c, xp.sqrt(a), b.astype(float32))"
    assert answers(text, "jax", **bound)[text] == "float32"
    assert answers("astype(a, 'bfloat16') + b", "jax", **{k: bound[k] for k in "ab"})["astype(a, 'bfloat16') + b"] == "float32"
    assert answers("sum(a) + b", "torch", a="int8", b="float16")["sum(a) + b"] == "float16"  # the sum has no dimensions
    assert answers("sum(a, axis=0) + b", "torch", a="float32", b="float16")["sum(a, axis=0) + b"] == "float32"
    assert answers("concat([a, b])", "jax", a="int8", b="uint8") == {"concat([a, b])": "int16"}
    assert answers("a == 1", "numpy", a="int8") == {"a == 1": "bool"}
    assert answers("np.linalg.inv(a)", "numpy", a="float32") == {"np.linalg.inv(a)": "float32"}


def test_numbers_among_themselves_are_pythons() -> None:
    assert answers("a + (1 + True)*2.0", "jax", a="float16")["a + (1 + True) * 2.0"] == "float16"
    assert answers("a + 7 // 2", "numpy", a="uint8")["7 // 2"] == "Python int"
    assert answers("a + 7 / 2", "numpy", a="uint8")["7 / 2"] == "Python float"
    assert answers("a + (1 < 2)", "numpy", a="uint8")["1 < 2"] == "Python bool"
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
            return f"np.{dice.choice(['sqrt', 'sum', 'exp', 'abs', 'square', 'isfinite', 'max'])}({written(depth - 1)})"
        return f"({written(depth - 1)} {dice.choice(symbols)} {written(depth - 1)})"

    compared = 0
    for _ in range(1500):
        text = written(3)
        bound = {n: dice.choice(names) + dice.choice(["", "", ":0d"]) for n in "abc" if n in _words(text)}
        if not bound:
            continue
        f = tl.formula(text, **bound)
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
            assert outcome.operand.tier == "scalar" or ":0d" in str(bound) or "np." in text  # np.float64 is a float to Python
            continue
        assert str(outcome) == str(result.dtype), (text, bound)
        compared += 1
    assert compared > 600


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a.b", "'a.b' is nothing that promotion knows of"),
        ("a[0]", "nothing that promotion knows"),
        ("lambda: 1", "nothing that"),
        ("[a for a in b]", "nothing that promotion"),
        ("a if b else a", "nothing that promotion"),
        ("'x'", "nothing that promotion"),
        ("a < b < a", "compare two, and join with & or |"),
        ("a and b", "compare two"),
        ("not a", "nothing that promotion"),
        ("sqrtt(a)", "unknown function 'sqrtt'; did you mean sqrt"),
        ("sqrt(a, b)", "sqrt takes 1 operand, not 2"),
        ("clip()", "clip takes 1 to 3 operands, not 0"),
        ("a + c", "c is bound to nothing; bound are a, b: give c=int8, for one"),
        ("a", "b is bound and does not occur"),
        ("1 +", "'1 +' is no expression"),
        ("", "is no expression"),
        ("sum(a, dtype=b)", "only axis and keepdims"),
        ("f.g.h.i(a)", "no function of the array API"),
        ("(a)(b)", "unknown function 'a'"),
        ("astype(a, 3)", "'3' is no dtype"),
        ("a.astype(flout32)", "unknown dtype 'flout32'; did you mean float32 or uint32?"),
        ("a +" * 400 + "b", "more than 500 parts or 100 levels"),
        ("-" * 5000 + "a", "no expression|levels"),
        ("a + " * 3000 + "b", "12001 characters; the longest is 10000"),
        ("\x00", "no expression"),
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(text: str, match: str) -> None:
    with pytest.raises((tl.FormulaError, tl.DTypeError), match=match.replace("+", r"\+").replace("?", r"\?")):
        tl.formula(text, a="int8", b="int8")


def test_nothing_is_evaluated(tmp_path: object) -> None:
    for text in ("__import__('os').system('x')", "open('x')", "(lambda: a)()", "a.__class__", "exec('1')"):
        with pytest.raises(tl.FormulaError):
            tl.formula(text, a="int8")


def test_random_texts_give_an_error_or_an_expression() -> None:
    dice = random.Random(9407)
    pieces = [*"ab12.()[]+-*/%&|^<>=~,'\" \n\\@:"]
    pieces += ["sqrt(", "where(", ".astype(", "float32", "1j", "and", "lambda", "é", "\ud800"]
    for _ in range(3000):
        text = "".join(dice.choices(pieces, k=dice.randint(1, 12)))
        try:
            f = tl.formula(text, **{n: "int8" for n in "ab" if n in _words(text)})
            f.under(tl.system("numpy"))
        except (tl.FormulaError, tl.DTypeError):
            continue
    assert set(string.ascii_lowercase)


def test_every_operator_is_an_operation() -> None:
    from typelattice.facts.operations import OPERATIONS

    assert {*OPERATORS.values()} <= {*OPERATIONS}


def test_command_marks_where_systems_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "a*2.0 + b", "a=int8:0d", "b=float16"]) == 0
    out = capsys.readouterr().out
    assert "a * 2.0 <- here the systems part" in out
    assert out.count("systems part") == 1
    assert max(map(len, out.splitlines())) <= 80
    assert main(["explain", "a*2.0 + b", "a=int8:0d", "b=float16", "--system", "jax"]) == 0
    out = capsys.readouterr().out
    assert "a * 2.0 + b: float16" in out
    assert "jax.toml" in out
    assert main(["explain", "a+b", "a=int8:0d", "b=int16:0d=300", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["operands"] == {"a": "int8:0d", "b": "int16:0d=300"}
    assert len(told["answers"]) == len(tl.systems())


@pytest.mark.parametrize(
    ("argv", "match"),
    [
        (["a", "b", "a=int8"], "2 expressions where one is wanted"), (["a=int8"], "0 expressions"),
        (["a", "a=int8", "a=int16"], "a is bound twice"), (["a", "a=int8", "--op", "add"], "--op goes with operands"),
        (["a", "a=int88"], "did you mean int8"), (["a+b", "a=int8"], "b is bound to nothing"),
    ],
)  # fmt: skip
def test_command_refuses(argv: list[str], match: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *argv]) == 2
    told = capsys.readouterr().err
    assert match in told
    assert told.count("\n") == 1


def test_arithmetic_of_literals_is_pythons() -> None:
    numpy = tl.system("numpy")

    def whole(text: str, **bound: str) -> str:
        return str(tl.formula(text, **bound).under(numpy)[-1])

    assert whole("a + 3*100", a="uint8") == whole("a + (+300)", a="uint8") == whole("a + 300", a="uint8") == "refused"
    assert whole("a + 3*50", a="uint8") == "uint8"
    assert whole("a * 2**-1", a="int8") == "float64"
    assert whole("a * (-2)**0.5", a="float32") == "complex64"
    assert whole("a * (1/0)", a="int8") == "float64"  # only its kind is known
    assert whole("a * 2**9**9**9", a="int8") == "int8"  # and is not computed


def test_a_default_that_is_named_changes_nothing() -> None:
    torch = tl.system("torch")
    for text in ("sum(a)*b", "sum(a, axis=None)*b", "prod(a, keepdims=False)*b"):
        assert str(tl.formula(text, a="float64", b="float32").under(torch)[-1]) == "float32"
    assert str(tl.formula("sum(a, axis=0)*b", a="float64", b="float32").under(torch)[-1]) == "float64"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a + 0x" + "f" * 4000, "more than 4096 bits"),
        ("a.maximum(a) + a", "of methods there is astype alone"),
        ("sum(a, axis=0, axis=1)", "given twice"),
        ("meshgrid(a, a)", "meshgrid gives several arrays"),
    ],
)
def test_what_an_expression_cannot_say(text: str, said: str) -> None:
    with pytest.raises(tl.FormulaError, match=said):
        tl.formula(text, a="int8")
