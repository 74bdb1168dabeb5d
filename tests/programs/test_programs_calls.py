"""What a call in a program takes: names of functions, operands, and what does not promote."""
from __future__ import annotations

import io
import re

import pytest
from expressions import whole

import typelattice as tl
from typelattice.core.books.read_book import BookError, _parse_row
from typelattice.programs.calls import call_tables
from typelattice.programs.calls.call_tables import TableError
from typelattice.programs.calls.compositions import _read_composition


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
    with pytest.raises(tl.ProgramError, match="reshape takes 1 operand, not 2; give one operand at a time"):
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
    outcome = tl.program("take(x, x)", x="float32").under("numpy").result
    assert outcome.is_refused and "take takes integers for indices, not float32" in str(outcome.reason)


def test_a_default_that_is_named_changes_nothing() -> None:
    torch = tl.system("torch")
    for text in ("sum(a)*b", "sum(a, axis=None)*b", "prod(a, keepdims=False)*b"):
        assert str(tl.program(text, a="float64", b="float32").under(torch)[-1]) == "float32"
    assert str(tl.program("sum(a, axis=0)*b", a="float64", b="float32").under(torch)[-1]) == "float64"


def test_a_method_that_libraries_order_otherwise_goes_by_the_library_or_is_refused() -> None:
    with pytest.raises(tl.ProgramError, match=r"of a method where libraries take the operands in different"):
        tl.program("x.where(c, y)", x="int8", y="int16", c="bool")
    source = "import torch\ndef f(x, c, y):\n    return torch.abs(x).where(c, y)\n"
    assert str(tl.program(source, x="int8", y="int16", c="bool").under("torch").dtype) == "int16"


def test_a_result_that_is_written_into_an_array_has_its_dtype() -> None:
    """As NumPy does, asked live: the sum of int8 and float32 is written into a float64 array."""
    assert whole("np.add(x, y, out=z)*1", x="int8[2]", y="float32[2]", z="float64[2]") == "float64"
    assert whole("np.sum(x, where=c, initial=2)", x="int8[2]", c="bool[2]") == "int64"
    p = tl.program("np.sum(x, where=c, initial=2)", x="int8[2]", c="bool[2]")
    assert str(tl.program(str(p))) == str(p)


# Asked of PyTorch 2.13 and NumPy 2.4, live.
ANSWERED = [
    ("torch.max(x, 1)[1]", "torch", "int64"),
    ("torch.max(x, dim=1).values", "torch", "float32"),
    ("torch.sort(x)[1]", "torch", "int64"),
    ("torch.abs(x).median(1)[1]", "torch", "int64"),
    ("torch.max(x)", "torch", "float32"),
    ("torch.max(x, y)", "torch", "float64"),
    ("torch.topk(x, 2)[1]", "torch", "int64"),
    ("torch.div(i, i)", "torch", "float32"),
    ("torch.div(i, i, rounding_mode='floor')", "torch", "int64"),
    ("torch.div(i, i, rounding_mode='trunc')", "torch", "int64"),
    ("torch.mm(x, x)", "torch", "float32"),
    ("torch.gather(x, 0, i)", "torch", "float32"),
    ("torch.rand(2) * i", "torch", "float32"),
    ("s = i.sum()\ns /= 2\nreturn s", "numpy", "float64"),
    ("s = x.mean()\ns += y.mean()\nreturn s", "numpy", "float64"),
    ("np.percentile(x, [25, 75])", "numpy", "float64"),
    ("np.quantile(x, [0.25, 0.75])", "numpy", "float64"),
    ("np.percentile(x, 25)", "numpy", "float32"),
    ("np.where(i)[0]", "numpy", "int64"),
    ("x * float('-inf')", "numpy", "float32"),
    ("x.add_(y)\nreturn x", "torch", "float32"),
    ("x.zero_()\nreturn x", "torch", "float32"),
]


@pytest.mark.parametrize(("text", "system", "dtype"), ANSWERED)
def test_calls_of_real_code_have_the_dtypes_that_libraries_give(text: str, system: str, dtype: str) -> None:
    operands = {"x": "float32[2,2]", "y": "float64[2,2]", "i": "int64[2,2]"}
    p = tl.program(text, **{name: each for name, each in operands.items() if re.search(rf"\b{name}\b", text)})
    assert str(p.under(system).dtype) == dtype
    assert str(tl.program(str(p))) == str(p)


def test_what_pytorch_refuses_to_write_is_refused() -> None:
    assert tl.program("s = i.sum()\ns /= 2\nreturn s", i="int64[2]").under("torch").result.is_refused


def test_values_of_a_function_that_only_shares_a_dtype_are_not_computed() -> None:
    p = tl.program("torch.topk(x, 2)[0]", x="float32[3]")
    np = pytest.importorskip("array_api_compat.numpy")
    with pytest.raises(tl.ProgramError, match="it has the dtype of relu, and its values are not computed"):
        p.run(np, x=np.ones(3))


def test_a_row_that_cannot_be_read_is_named_by_file_row_and_column(monkeypatch: pytest.MonkeyPatch) -> None:
    for rows, said in (
        ("summ  *  operands", "signatures.txt, row 1, column 1: unknown 'summ' (did you mean sum"),
        ("sum  nump  operands", "signatures.txt, row 1, column 2: unknown 'nump' (did you mean numpy"),
        ("# a\nsum  *  operands ax-is", "signatures.txt, row 2, column 4: 'ax-is' is no parameter"),
        ("sum  *", "signatures.txt, row 1: 2 columns; give 3"),
        ("sum  *  operands -> a=meen", "signatures.txt, row 1, column 5: unknown 'meen' (did you mean mean"),
        ("sum  *  operands\nsum  *  operands", "signatures.txt, row 2, column 1: sum has a row already"),
    ):
        read = io.StringIO(rows)
        monkeypatch.setattr(call_tables, "open", lambda *a, read=read, **k: read, raising=False)
        with pytest.raises(TableError, match=re.escape(said)):
            call_tables._read_signatures.__wrapped__()
    for read_table, rows, said in (
        (call_tables._read_names.__wrapped__, "* half cast int8\n* half cast int16", "names.txt, row 2"),
        (call_tables._read_names.__wrapped__, "* half cast int8 x", "names.txt, row 1: 5 columns"),
        (
            call_tables.read_equivalents.__wrapped__,
            "* view reshape\n" * 2,
            "equivalents.txt, row 2, column 1",
        ),
    ):
        read = io.StringIO(rows)
        monkeypatch.setattr(call_tables, "open", lambda *a, read=read, **k: read, raising=False)
        with pytest.raises(TableError, match=re.escape(said)):
            read_table()


def test_the_arguments_of_a_call_choose_its_composition() -> None:
    given = {"x": "float16[4]", "i": "int64[4]"}
    weighted = tl.program("np.bincount(i, weights=x)", **given)
    assert weighted.under("numpy").dtype is tl.operand("float64").dtype
    counts = tl.program("u, n = np.unique(x, return_counts=True); n", x="float16[4]")
    assert counts.under("numpy").dtype is tl.operand("int64").dtype
    assert tl.program("np.unique(x)", x="float16[4]").under("numpy").dtype is tl.operand("float16").dtype


def test_a_method_that_writes_its_result_takes_what_an_operator_in_place_takes() -> None:
    torch = {"x": "int32[4]"}
    read = tl.program("y = torch.zeros(4, dtype=torch.int32); torch.exp(x); x", **torch)
    assert read.under("torch").dtype is tl.operand("int32").dtype
    for text, dtype in (("torch.ones_like(x).exp_()", None), ("torch.ones_like(x).clamp_(0, 1)", "int32")):
        said = tl.program(text, **torch).under("torch").dtype
        assert said is (dtype and tl.operand(dtype).dtype), text


def test_a_row_of_a_book_that_cannot_be_read_is_named_by_its_row_and_column() -> None:
    for words, said in (
        (["f", "sqrt(x)"], "torch.txt, row 3, column 1: 'f' is no function; write name(x,y)"),
        (["f(x)"], "torch.txt, row 3, column 2: the function has no result; write its dtype rule, as in"),
        (["f(x,ax-is)", "sqrt(x)"], "torch.txt, row 3, column 1: 'ax-is' is no parameter; write a name"),
        (["f(x)", "int64", "sqrt(x"], "torch.txt, row 3, column 3: 'sqrt(x' is no expression; write one"),
    ):
        with pytest.raises(BookError, match=re.escape(said)):
            _read_composition(_parse_row("torch", 3, words))


def test_the_message_of_a_refusal_names_the_function_that_the_source_calls() -> None:
    for text, dtype, said in (
        ("torch.nn.functional.softsign(x)", "bool", "softsign takes no bool"),
        ("torch.nn.functional.conv2d(x, x)", "bool", "conv2d takes no bool"),
        ("np.quantile(x, 0.5, method='lower')", "complex64", "quantile as elements_in_order takes no"),
    ):
        p = tl.program(text, x=f"{dtype}[2,2]")
        answers = p.under("torch" if text.startswith("torch") else "numpy")
        assert said in " ".join(str(outcome.reason) for outcome in answers), text
