"""Runs of real code become programs: what is a step, and what is known of it."""
from __future__ import annotations

from pathlib import Path

import pytest
from traced_modules import followed, texts

import typelattice as tl
from typelattice.programs.calls.steps import Call, Input, Number, Opaque, Ref
from typelattice.tracing.run_data.run import Run

OPERATIONS = """
    import numpy as np

    def run():
        x = np.ones(3, np.float32)
        y = x * np.float64(2)
        y += 1
        s = y.sum()
        m = np.where(y > s, x, y)
        m[1:] = x[1:]
        np.multiply(x, 3.0, out=x)
        e = np.exp(x, dtype=np.float64)
        t = np.add.reduce(x)
        c = np.concatenate([x, y.T])
        q, r = np.linalg.qr(np.outer(x, x))
        return np.clip(-c, 0, None), q, t, e, m
"""


X = "run(np.ones((2, 3), np.float32))"  # the call of a function of one array


MADE_BY_OTHERS = """
    import numpy as np
    from functools import reduce

    random = np.random.default_rng(0)

    def taken(x, k=np.frombuffer(np.arange(3.0).tobytes()).copy(), *, n=np.float64(2)):
        return k * x * n

    def run(x):
        a = random.normal(x, 1.0)
        b = random.normal(size=3)
        c = np.random.rand(3)
        d = sum([x, b])
        e = reduce(np.add, [x, b])
        s = max([np.float64(2), np.float64(1)])
        return taken(x), a * x, b * x, c * x, d * x, e * x, s * x
"""


def test_operators_calls_methods_assignments_and_ufuncs_are_steps(package: Path) -> None:
    _, run = followed(package, OPERATIONS)
    seen = texts(run)
    assert seen["x * np.float64(2)"] == ("multiply", "float64", 1)
    assert seen["y += 1"] == ("iadd", "float64", 1)
    assert seen["y.sum()"] == ("sum", "float64", 1)
    assert seen["y > s"] == ("greater", "bool", 1)
    assert seen["np.where(y > s, x, y)"] == ("where", "float64", 1)
    assert seen["m[1:] = x[1:]"] == ("setitem", "float64", 1)
    assert seen["x[1:]"] == ("getitem", "float32", 1)
    assert seen["np.multiply(x, 3.0, out=x)"] == ("setitem", "float32", 1)
    assert seen["np.exp(x, dtype=np.float64)"] == ("exp", "float64", 1)
    assert seen["np.add.reduce(x)"] == ("sum", "float32", 1)
    assert seen["np.concatenate([x, y.T])"] == ("concat", "float64", 1)
    assert seen["-c"] == ("negative", "float64", 1)
    assert not run.mismatches


def test_a_step_names_the_steps_that_made_its_operands(package: Path) -> None:
    _, run = followed(package, OPERATIONS)
    steps = run.program.steps
    at = {step.text: i for i, step in enumerate(steps) if run.observations[i].count}
    assert at["x * np.float64(2)"] in steps[at["y += 1"]].inputs
    assert at["y += 1"] in steps[at["y.sum()"]].inputs
    assert steps[at["np.where(y > s, x, y)"]].inputs[0] == at["y > s"]
    place = steps[at["y += 1"]].location
    assert place is not None and (Path(place.file).name, place.line) == ("traced_one.py", 7)


def test_arguments_that_are_constants_are_known_although_no_witness_is_told_of_them(package: Path) -> None:
    text = """
        import numpy as np

        def run(x):
            a = np.clip(x, 0.5, 2)
            b = np.full(2, 3, dtype="float32")
            c = np.minimum(-1, x)
            return np.where(True, 1.5, x), np.sum(x, axis=-1, dtype="float64"), a, b, c
    """
    _, run = followed(package, text, X)
    seen = texts(run)
    assert seen["np.clip(x, 0.5, 2)"] == ("clip", "float32", 1)
    assert seen['np.full(2, 3, dtype="float32")'] == ("full", "float32", 1)
    assert seen["np.minimum(-1, x)"] == ("minimum", "float32", 1)
    assert seen["np.where(True, 1.5, x)"] == ("where", "float32", 1)
    assert seen['np.sum(x, axis=-1, dtype="float64")'] == ("sum", "float64", 1)
    assert [step.text for step in run.program.steps if isinstance(step, Input)] == ["x"]
    numbers = [step.value for step in run.program.steps if isinstance(step, Number)]
    assert {0.5, 2, 3, -1, 1.5} <= {*numbers}
    assert not run.mismatches


def test_a_call_whose_arguments_could_not_be_seen_is_taken_as_it_was(package: Path) -> None:
    text = """
        import numpy as np

        def run(x):
            shape = (3,)
            one = np.ones(*(shape,), *(), dtype=np.dtype("float32"))
            return x.sum(*(), *(), dtype=np.dtype("float64")), one
    """
    _, run = followed(package, text, X)
    assert not run.mismatches
    opaque = [step.name for step in run.program.steps if isinstance(step, Opaque)]
    assert opaque == ["sum"]


def test_an_input_that_a_function_hands_through_among_others_is_no_new_array(package: Path) -> None:
    text = """
        import numpy as np

        def delayed(x, n):
            return len, (x, n), {}

        def run(x):
            _, (same, n), _ = delayed(x, 3)
            return same + n
    """
    _, run = followed(package, text, X)
    assert [(type(step), step.text) for step in run.program.steps if step.op or step.inputs] == [
        (Call, "same + n")
    ]
    assert run.opaque == 0


def test_what_is_raised_is_no_step_and_what_it_is_made_of_is(package: Path) -> None:
    text = """
        import numpy as np

        def run(x):
            try:
                raise ValueError(x * 2) from KeyError(x + 1)
            except ValueError as e:
                return type(e.__cause__).__name__, *e.args
    """
    (cause, array), run = followed(package, text, X)
    assert cause == "KeyError" and array.dtype == "float32"
    assert {*texts(run)} == {"x * 2", "x + 1"}


def test_a_run_is_replayed_under_any_system(package: Path) -> None:
    _, run = followed(package, OPERATIONS)
    steps = [step.text for step in run.program.steps]
    i = steps.index("x * np.float64(2)")
    assert run.observations[i].operand.dtype is tl.dtype("float64")
    assert run.under("torch")[i].operand.dtype is tl.dtype("float32")
    assert run.under({"numpy": "jax"})[i].operand.dtype is tl.dtype("float64")


def test_a_result_that_no_operation_describes_is_opaque_and_names_its_operands(package: Path) -> None:
    text = """
        import numpy as np

        def run():
            x = np.ones(3, np.float32)
            return np.piecewise(x, [x > 0], [1.0]) + x
    """
    _, run = followed(package, text)
    (opaque,) = [step for step in run.program.steps if isinstance(step, Opaque)]
    assert opaque.name == "piecewise" and opaque.input_steps
    assert (run.opaque, run.opaque_share) == (1, 1 / 3)  # of np.ones, x > 0 and itself


def test_arrays_of_no_dtype_of_ours_are_named_once(package: Path) -> None:
    text = """
        import numpy as np

        def run(x):
            wide = x * np.longdouble(1)
            return wide + x, wide * 2, np.array([1, "a"], dtype=object) * 2
    """
    _, run = followed(package, text, X)
    assert run.summaries == (
        "what is done with arrays of longdouble and of object_ is no step: that is no dtype of ours",
    )


def test_an_array_that_python_or_a_librarys_object_makes_has_the_line_that_made_it(package: Path) -> None:
    _, run = followed(package, MADE_BY_OTHERS, "run(np.ones(3, np.float32))")
    steps = {(type(s).__name__, s.text, s.location.line) for s in run.program.steps if s.location}
    assert ("Opaque", "random.normal(x, 1.0)", 11) in steps
    assert ("Input", "random.normal(size=3)", 12) in steps
    assert ("Input", "np.random.rand(3)", 13) in steps
    assert ("Opaque", "sum([x, b])", 14) in steps
    assert ("Opaque", "reduce(np.add, [x, b])", 15) in steps
    assert ("Cast", "np.float64(2)", 16) in steps
    assert ("Cast", "np.float64(2)", 7) in steps
    inputs = {text for sort, text, _ in steps if sort == "Input"}
    assert inputs == {
        "x", "random.normal(size=3)", "np.random.rand(3)", "np.frombuffer(np.arange(3.0).tobytes())",
    }  # fmt: skip
    assert not run.mismatches


def test_a_system_that_is_wrong_is_reported_as_a_mismatch(package: Path) -> None:
    _, run = followed(package, OPERATIONS)
    wrong = Run(run.program, run.observations, {"numpy": "torch"})
    first = wrong.mismatches[0]
    assert (first.step.text, str(first.outcome)) == ("x * np.float64(2)", "float32")
    follows = {m.step.text for m in wrong.mismatches}
    assert "y.sum()" not in follows  # it follows from the first, and is none of its own


def test_a_dtype_that_is_given_by_position_is_known(package: Path) -> None:
    text = """
        import numpy as np

        def run():
            x = np.ones(4, np.int16)
            np.full_like(x, 2.5)
            return np.empty_like(x, np.float64), np.full_like(x, 2.5, "f4"), np.zeros(3, "i1"), x.astype("f2")
    """
    _, run = followed(package, text)
    seen = texts(run)
    assert seen["np.empty_like(x, np.float64)"] == ("empty_like", "float64", 1)
    assert seen['np.full_like(x, 2.5, "f4")'] == ("full_like", "float32", 1)
    assert seen["np.full_like(x, 2.5)"] == ("full_like", "int16", 1)
    assert not run.mismatches


def test_bits_that_are_taken_for_another_dtype_are_opaque_and_a_view_of_another_shape_is_not(
    package: Path,
) -> None:
    text = """
        import numpy as np

        def run():
            x = np.ones(4, np.uint16)
            return x.view(np.int16) + 1, x.view(dtype="float16") + 1, x.view() + 1
    """
    _, run = followed(package, text)
    made = [(step.text, type(step).__name__) for step in run.program.steps if step.text.startswith("x.view")]
    assert made[0] == ("x.view(np.int16)", "Opaque")
    assert ('x.view(dtype="float16")', "Opaque") in made
    seen = next(step for step in run.program.steps if step.text == "x.view() + 1")
    assert isinstance(seen, Call) and seen.args[0] == Ref(0)  # a view of x is x
    assert not run.mismatches


def test_an_input_is_shown_by_its_text(package: Path) -> None:
    _, run = followed(package, "def run(x, y): return x + y * 2\n", "run(__import__('numpy').ones(2), 3.0)")
    assert [step.text for step in run.program.steps if isinstance(step, Input)] == ["x"]
    assert [step.text for step in run.program.steps if isinstance(step, Call)] == ["x + y * 2"]


@pytest.mark.parametrize(
    ("call", "inputs"),
    [
        ("np.concatenate([y, x])", ["y", "x"]),
        ("np.concatenate([-x, y * 2, y], axis=0)", ["x", "y"]),
        ("np.where([True, False], x, y)", ["x", "y"]),
        ("np.select([[True, False], y > 0], (x, y), 0)", ["y", "x"]),
        ("np.concatenate([\n    *[x], y])", ["[ *[x], y]"]),
    ],
)
def test_an_array_in_a_list_that_a_call_is_given_is_shown_by_its_own_text(
    package: Path, call: str, inputs: list[str]
) -> None:
    text = f"import numpy as np\ndef run(x, y): return {call}\n"
    result, run = followed(package, text, "run(*np.ones((2, 2), np.float32))")
    assert [step.text for step in run.program.steps if isinstance(step, Input)] == inputs
    assert not run.mismatches and str(run.observations[-1].operand.dtype) == str(result.dtype)
