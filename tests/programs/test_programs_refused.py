"""What is no program: one clear error says so, and nothing of it is evaluated."""
from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from expressions import words

import typelattice as tl


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a.b", "'a.b': a function that is not called; call it"),
        ("np.b", "'np.b': nothing that promotion knows of; give an array or a number"),
        ("lambda: 1", "a function that is not called; call it"),
        ("tuple(zip(a, (b, b)))", "a loop over an array needs the values of an array"),
        ("add(*a)", "arguments with a star, of which nobody knows how many there are; write them out"),
        ("add(**a)", "arguments with a star"),
        ("a + {'x': a}", "a dictionary; take one of its values, or give them names"),
        ("a if b else a", "needs the values of an array, which a program does not have; write where("),
        ("a + b + 'x'", "'x' takes no part in promotion; give an array or a number"),
        ("a < b < a", "compare two, and join with &: (a < x) & (x < b)"),
        ("a and b", "needs the values of an array, .*; join with & or |"),
        ("not a", "needs the values of an array, .*; join with & or |, negate with ~"),
        ("a in b", "needs the values of an array"),
        ("sum(range(10**9))", "'range(10**9)': it has more than 100,000 numbers; take a shorter range"),
        ("(1, 2)[3]", "Python refuses it: tuple index out of range; give another index"),
        ("(1)[0]", "a number has no elements; index an array"),
        ("a.shape", "the shape of a is not known; give its operand a shape, e.g. float32[3,4]"),
        ("len(a)", "the shape is not known"),
        ("math.gama(2)", "math.gama is no operation"),
        ("a.astype(2)", "'2' is no dtype; give one such as float32"),
        ("sqrtt(a)", "unknown function 'sqrtt' (did you mean sqrt"),
        ("sqrt(a, b)", "sqrt takes 1 operand, not 2"),
        ("clip()", "clip takes 1 to 3 operands, not 0"),
        ("a == c", "c has no dtype; add one, such as c=int8 (given: a, b)"),
        ("c != 1", "c has no dtype; add one, such as c=int8 (given: a, b)"),
        ("a + c", "c has no dtype; add one, such as c=int8 (given: a, b)"),
        ("a", "does not use b; remove its operand"),
        ("1 +", "'1 +' is no program: invalid syntax at its end; give operators"),
        ("", "'' is no program: there is nothing in it"),
        ("exp(a, axis=0)", "exp is given axis; of its arguments nothing may be named"),
        ("sum(a, axes=0)", "did you mean axis?); of its arguments axis, keepdims, .* may be named; cast"),
        ("sum(a, dtyp='int8')", "sum is given dtyp (did you mean dtype?); of its arguments"),
        ("zeros(3, dtpe='int8')", "zeros is given dtpe (did you mean dtype?)"),
        ("a.shap", "'a.shap': no array has 'shap' (did you mean shape?)"),
        ("zeros_like(a, a.dtyp)", "no array has 'dtyp' (did you mean dtype?)"),
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a + 0x" + "f" * 4000, "a number of more than 4,096 bits; no dtype holds it"),
        ("a.maximun(a) + a", "unknown function 'maximun' [(]did you mean maximum"),
        ("sum(a, axis=0, axis=1)", "given twice"),
        ("meshgrid(a, a) + a", "meshgrid gives several arrays"),
    ],
)
def test_what_an_expression_cannot_say(text: str, said: str) -> None:
    with pytest.raises(tl.ProgramError, match=said):
        tl.program(text, a="int8")


def test_a_file_without_a_function_is_told_to_name_one(tmp_path: Path) -> None:
    path = tmp_path / "it.py"
    path.write_text("def f(x): return x * 2.0\n")
    for named in (str(path), f"{path}:"):
        with pytest.raises(tl.ProgramError, match=rf"it\.py is a file; say which function .*: {path}:name$"):
            tl.program(named, x="int8")
    path.write_text("# nothing\n")
    with pytest.raises(tl.ProgramError, match=r"^it\.py is no program: there is nothing in it"):
        tl.program(f"{path}:f", x="int8")


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
            f = tl.program(text, **{n: "int8" for n in "ab" if n in words(text)})
            f.under(tl.system("numpy"))
            read += 1
        except (tl.ProgramError, tl.DTypeError):
            refused += 1
    assert read > 25 and refused > 1000
