"""Whole expressions: each part has the dtype that NumPy computes, and systems part where they do."""
from __future__ import annotations

import random

import pytest
from expressions import answers, whole, words

import typelattice as tl
from typelattice.core.operations.operations import OPERATIONS
from typelattice.programs.calls.steps import DTypeOf, Ref
from typelattice.programs.program.outcome_data import outcome_data
from typelattice.programs.readers.json.write import encode_step
from typelattice.programs.readers.source.syntax_operators import OPERATOR_BY_SYNTAX

np = pytest.importorskip("numpy")


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
        bound = {n: dice.choice(names) + dice.choice(["", "", ":0d"]) for n in "abc" if n in words(text)}
        if not bound:
            continue
        try:
            f = tl.program(text, **bound)
        except tl.ProgramError as e:
            assert "division by zero" in str(e), text
            continue
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


def test_every_operator_is_an_operation() -> None:
    assert {*OPERATOR_BY_SYNTAX.values()} <= {*OPERATIONS}


def test_a_refusal_is_told_by_its_reason_which_names_the_operation_once() -> None:
    told = str(tl.program("x.mean() + 1", x="int32[3]").under("torch"))
    assert told.splitlines()[2:] == [
        "x.mean(): refused: mean takes no signed integers",
        "1: Python int",
        "x.mean() + 1: not reached",
    ]
    assert str(tl.program("x - x", x="bool").under("numpy")).endswith("x - x: refused: - takes no bool")


def test_a_replay_marks_what_the_library_was_never_asked() -> None:
    replay = tl.program("heaviside(x, x)", x="int8").under("keras")
    assert [outcome.is_unrecorded for outcome in replay] == [False, True]
    lines = str(replay).splitlines()
    assert lines[2] == "heaviside(x, x): float32?"
    assert lines[-1] == "? predicted by the rule; the library was never asked"
    assert "?" not in str(tl.program("x + x", x="int8").under("torch"))


def test_divergences_and_json_mark_what_the_library_was_never_asked() -> None:
    p = tl.program("heaviside(x, x)", x="int8")
    assert str(p.divergences("keras", "torch")).splitlines() == [
        "diverges  heaviside(x, x): keras float32?, torch int8",
        "? predicted by the rule; the library was never asked",
    ]
    assert "?" not in str(p.divergences("numpy", "torch"))
    assert [outcome_data(outcome)["never_asked"] for outcome in p.under("keras")] == [False, True]
    assert [outcome_data(outcome)["never_asked"] for outcome in p.under("torch")] == [False, False]


def test_an_error_of_the_namespace_names_the_step() -> None:
    p = tl.program("y = x + 1\nz = xp.reshape(y, (5,))", x="float32[?]")
    with pytest.raises(ValueError, match="cannot reshape") as refused:
        p.run(np, x=np.ones(3))
    assert refused.value.__notes__ == ["reshape 'xp.reshape(y, (5,))' (<source>, line 2)"]


def shifted(x: object, by: int, of_steps: bool = False) -> object:
    """The JSON of a step with other numbers of steps, wherever it has some."""
    if isinstance(x, dict):
        fields = ("step", "dtype_of", "source", "operands", "lists", "made_of", "like")
        return {key: shifted(value, by, key in fields) for key, value in x.items()}
    if isinstance(x, list):
        return [shifted(each, by, of_steps) for each in x]
    return x + by if of_steps and isinstance(x, int) else x


def test_a_step_of_other_steps_has_those_in_all_its_fields() -> None:
    total = "(x + [1, 2] + 2).astype(y.dtype)[i].sum(dtype=x.dtype)"
    text = f"opaque('float32', {total}, full((2,), y.item()), x[1:].sum())"
    steps = tl.program(text, x="int8[2]", y="float16", i="int64[2]").steps
    assert len({type(step) for step in steps}) == 8

    def moved(x: object) -> object:
        return type(x)(x.step + 10) if isinstance(x, (Ref, DTypeOf)) else x

    for step in steps:
        other = step.map_refs(lambda i: i + 10, moved)
        assert encode_step(other) == shifted(encode_step(step), 10)
        assert other.inputs == tuple(i + 10 for i in step.inputs)
