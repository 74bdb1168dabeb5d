"""Everyday Python is read as it runs: what each program gives is what NumPy computes."""

from __future__ import annotations

from collections import Counter

import pytest
from everyday_programs import SHAPE, Verdict, judge, list_programs

import typelattice as tl

np = pytest.importorskip("numpy")

DTYPES = ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64")
# A program of a stranger whose `astype(casting=...)` NumPy alone knows to refuse, within a `try`.
KNOWN_WRONG = (116,)
MAX_UNREAD = 32  # of the 140 programs of strangers
MAX_UNREAD_OF_PYTHON, MAX_OPEN_OF_PYTHON = 25, 5  # of the 180 programs without arrays in their branches


def judge_all(name: str, dtypes: tuple[str, ...]) -> list[Verdict]:
    with np.errstate(all="ignore"):
        return [
            judge(number, text, np.ones(SHAPE, dtype), dtype, "numpy", lambda x: str(x.dtype))
            for number, text in enumerate(list_programs(name))
            for dtype in dtypes
        ]


def test_each_construct_is_read_as_numpy_computes_it() -> None:
    verdicts = judge_all("python", DTYPES)
    assert [v for v in verdicts if v.word not in ("right", "raises")] == []
    assert Counter(v.word for v in verdicts)["right"] > 300


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_programs_of_strangers_are_never_read_wrongly(dtype: str) -> None:
    verdicts = judge_all("numpy", (dtype,))
    words = Counter(v.word for v in verdicts)
    assert [v for v in verdicts if v.word == "wrong" and v.number not in KNOWN_WRONG] == []
    assert words["unread"] <= MAX_UNREAD and words["right"] >= 100


def test_a_branch_on_a_dtype_is_taken_by_each_system() -> None:
    text = "def f(x):\n    y = x / 2\n    if y.dtype == np.float32:\n        return y\n    return y > 0"
    program = tl.program(f"import numpy as np\n{text}", x="int32")
    assert [str(program.under(s).dtype) for s in ("numpy", "torch")] == ["bool", "float32"]
    assert program.divergences("numpy", "torch").step_divergences[-1].step.op == "dtype"
    assert "np.float32" in str(program.under("torch"))


def test_a_branch_on_values_gives_the_dtype_that_both_sides_have() -> None:
    text = "def f(x):\n    if x.sum() > 0:\n        y = x * {0}\n    else:\n        y = x\n    return y + y"
    same, different = (tl.program(text.format(n), x="float32[3]").under("numpy") for n in ("2", "1j"))
    assert str(same.result) == "float32"
    assert str(different.result) == "complex64 or float32" and different.dtype is None
    assert different.refusals == ()


def test_a_step_after_a_branch_may_agree_again() -> None:
    text = "def f(x):\n    scale = max(x.max(), 1e-6)\n    return x / scale"
    assert str(tl.program(text, x="float32[3]").under("numpy").dtype) == "float32"


def test_a_line_that_is_not_read_is_listed_and_nothing_depends_on_it() -> None:
    text = "log = open('a.txt', 'w')\ny = x * 2.5\nlog.write(y)\ny"
    program = tl.program(text, x="int8[3]")
    assert str(program.under("numpy").dtype) == "float64"
    assert [line.location.line for line in program.unread if line.location] == [1, 3]
    with pytest.raises(tl.ProgramError, match="it is Python's open, which is not carried out here"):
        tl.program("log = open('a.txt', 'w')\nx * log", x="int8[3]")


def test_a_list_that_an_unread_line_changes_is_not_taken_for_known() -> None:
    text = "def f(x):\n    outs = [x]\n    outs.extend(open('a'))\n    return {}"
    for result in ("outs[-1]", "np.stack(outs)"):
        with pytest.raises(tl.ProgramError):
            tl.program(text.format(result), x="int8[3]")


def test_a_handler_is_read_if_the_system_refuses_the_lines() -> None:
    text = "def f(x):\n    try:\n        return x - x\n    except TypeError:\n        return x ^ x"
    program = tl.program(text, x="bool[3]")
    assert [str(program.under(s).dtype) for s in ("numpy", "jax")] == ["bool", "bool"]
    assert [program.under(s).refusals for s in ("numpy", "jax")] == [(), ()]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("while True:\n    x = x * 1\nx", "a loop without an end; end it with break or return"),
        ("n = 1\nwhile n:\n    x = x * 1\nx", "more than 5,000 passes of loops and calls"),
        ("f = lambda n: f(n + 1)\nf(0) * x", "more than 200 calls within one another"),
        ("s = 'a' * 10**9\nx", "it has more than 100,000 items; take a shorter one"),
        ("[x] * 10**7\nx", "it has more than 100,000 items"),
        ("y = [1]\nfor i in range(99):\n    y.extend(y)\nx", "it has more than 100,000 items"),
        (f"y = [{'1,' * 100_001}]\nx", "it has more than 100,000 items"),
        ("import itertools\nfor i in itertools.count():\n    x = x * i\nx", "more than 5,000 passes"),
        ("np.split(x, 10**9) + x", "split gives several arrays"),
        ("np = 3\nnp.sin(x)", "'int' object has no attribute 'sin'"),
        ("len = 3\nlen(x) * x", "'int' object is not callable"),
        (f"x + {'9' * 5_000}", "a number of more than 4,300 digits"),
        ("'\ud800'\nx", "a character is no Unicode text"),
        ("'%99999d' % 1\nx", "a text with very wide fields"),
        ("raise ValueError('no')\nx", "an error that is raised whatever the arrays are"),
        ("assert x.ndim == 3\nx", "the assertion does not hold"),
        ("class A:\n    pass\nA().b * x", "'A' object has no attribute 'b'"),
        ("import torch\ntorch.set_default_dtype(torch.float64)\nx", "it changes which dtypes torch gives"),
        ("with np.load('a') as d:\n    y = x\ny", "a context that may change dtypes"),
    ],
)
def test_limits_and_refusals_name_the_construct(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typelattice.programs.readers.source.syntax_reader.MAX_LOOP_PASSES", 5_000)
    try:
        unread = [str(line) for line in tl.program(text, x="int8[3]").unread]
    except tl.ProgramError as error:
        unread = [str(error)]
    assert any(said in each for each in unread), unread


def test_python_itself_is_never_read_wrongly() -> None:
    verdicts = judge_all("semantics", ("int8", "float32"))
    words = Counter(v.word for v in verdicts)
    assert [v for v in verdicts if v.word == "wrong"] == []
    assert words["unread"] <= 2 * MAX_UNREAD_OF_PYTHON and words["open"] <= 2 * MAX_OPEN_OF_PYTHON


def test_a_program_that_left_its_source_has_the_branches_of_one_system() -> None:
    program = tl.program("y = x / 2\ny * 2.5 if y.dtype == np.float32 else y.astype('int8')", x="int32[3]")
    x = np.ones(3, "int32")
    assert str(program.run(tl.namespace("torch", np), x=x).dtype) == "float32"  # type: ignore[attr-defined]
    of_torch = program.under("torch").program
    assert [str(of_torch.under(s).dtype) for s in ("numpy", "torch")] == ["int8", "float32"]
    for source, system, other in ((program, "numpy", "torch"), (of_torch, "torch", "numpy")):
        read = tl.Program.from_json(source.to_json())
        assert str(read.under(system).dtype) == str(source.under(system).dtype)
        with pytest.raises(tl.ProgramError, match=f"branches are those of {system}, and {other} may take"):
            read.under(other)


def test_what_an_assertion_knew_is_not_known_of_later_steps() -> None:
    for count in range(6):  # the assertion's steps are dropped, and later ones have their numbers
        others = "".join(f"    y{i} = x[2]\n" for i in range(count))
        text = f"def f(x):\n    assert x[0] > 0 or 1\n{others}    return x if x[1] > 0 else x * 1j"
        assert str(tl.program(text, x="float32[3]").under("numpy").result) == "float32 or complex64"
    with pytest.raises(tl.ProgramError, match="give other shapes"):
        tl.program("assert (x @ y).ndim == 1\nx", x="float32[3]", y="float32[2]")


def test_a_chosen_tuple_or_deque_keeps_its_class() -> None:
    lines = [
        "from collections import deque, namedtuple", "P = namedtuple('P', 'a b')", "def f(x):",
        "    p, d = P(x, 1), deque([x])", "    if x.sum() > 0:", "        p, d = P(x * 2, 2), deque([x * 2])",
        "    return p.a + d.popleft()",
    ]  # fmt: skip
    assert str(tl.program("\n".join(lines), x="float32[3]").under("numpy").dtype) == "float32"


@pytest.mark.parametrize(
    ("lines", "dtype", "result"),
    [
        ("jax.grad(lambda y: (y * y).sum())(x)", "float16", "float16"),
        ("jax.grad(lambda y: (y * y).sum())(x)", "int32", "refused"),
        ("jax.tree_util.tree_map(lambda a, b: a * b, P(x, 1), P(x, 2.5)).b", "float16", "Python float"),
        ("jax.value_and_grad(lambda p: (p.a * p.b).sum())(P(x, 2.0))[1].b", "float16", "float64*"),
        ("jax.vmap(lambda p: p.a.sum())(P(x, x))", "int8", "int64"),
        ("jax.lax.scan(lambda c, y: (c + y, c), x[0], x)[1]", "float16", "float16"),
        ("jax.lax.scan(lambda c, y: (c * 2.5, c), x[0], x)[1]", "int8", "refused"),
        ("np.fromfunction(lambda i, j: i + j * x[0, 0], (2, 3))", "float32", "float64"),
        ("np.fromfunction(lambda i: i * x[0, 0], (2,), dtype='float32')", "float16", "float32"),
        ("np.vectorize(lambda a: a * 2.5)(x)", "int8", "float64"),
    ],
)
def test_functions_that_take_functions_keep_the_classes_of_their_trees(
    lines: str, dtype: str, result: str
) -> None:
    system = "jax" if lines.startswith("jax") else "numpy"
    text = f"from collections import namedtuple\nP = namedtuple('P', 'a b')\n{lines}"
    try:
        found = str(tl.program(text, x=f"{dtype}[3,4]").under(system).result)
    except tl.ProgramError as error:
        found = str(error)
    assert found == result or (len(result) > 20 and result in found)
