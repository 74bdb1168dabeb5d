"""Lists beside arrays in a run: NumPy makes an array of a list, and joins the entries of `np.r_[...]`."""

from __future__ import annotations

import re

import pytest
from followed import followed

import typelattice as tl
from typelattice.programs.calls.steps import Call, Created, Index, Input, Opaque
from typelattice.tracing.findings.divergences_from_run import find_divergences
from typelattice.tracing.findings.predicted_run import predict_run
from typelattice.tracing.report.run_as_data import run_data
from typelattice.tracing.report.text_report import write_report

ARRAYS = """
import numpy as np
x = np.ones(3, np.float32)
h = np.ones(3, np.float16)
i = np.ones(3, np.int8)
s = np.float32(2)
n = 3
"""
OPERATORS = [
    "x + [1, 2, 3]", "[1, 2, 3] * x", "i - (1, 2, 3)", "h / [1.5, 2, True]", "x == [1, 2, 3]",
    "i + [True] * 3",
    "h + [s, s, s]", "h * [s, 2.0, 1]", "x + [[1, 2, 3], [4, 5, 6]]", "h - [x, [1, 2, 3]]", "x @ [1, 2, 3]",
]  # fmt: skip
CALLS = [
    "np.add([1, 2, 3], x)", "np.maximum(h, [s, s, s])", "np.add([s, 1.0, s], h)", "np.asarray([s, 1.0])",
    "np.array([x, [1, 2, 3]])", "np.array([[s, 1], [2, s]])", "np.sqrt([s, 2])", "np.stack([s, 1.0])",
    "np.append(x, 1.0)", "np.hstack([x, 1.0])", "np.where(x > 0, [1, 2, 3], h)", "np.mean([x, x])",
    "np.vstack([h, [1, 2, 3]])", "np.array([i.sum(), 2.5])",
]  # fmt: skip
JOINED = [
    "np.r_[x, 1.0, 2]", "np.r_[1:5, i]", "np.r_[:n, h]", "np.r_[0:1:5j, x]", "np.r_[0:1:0.25]",
    "np.r_[s, h]",
    "np.r_[i, [1, 2]]", "np.r_[True, i]", "np.r_['0,2', x, h]", "np.c_[h, i]", "np.r_[i]",
    "np.c_[x, [1, 2, 3]]", "np.c_[[1, 2], [3, 4]]", "np.r_[np.int32(3):5, h]", "np.r_[x[:2], i * 2.5]",
]  # fmt: skip


@pytest.mark.parametrize("code", [*OPERATORS, *CALLS, *JOINED])
def test_a_list_beside_arrays_is_an_array_and_the_step_comes_out_as_numpy_has_it(code: str) -> None:
    y, run = followed(code, ARRAYS)
    assert not run.opaque and not run.mismatches
    last, seen = [*run][-1]
    assert (last.text, seen.count) == (code, 1)
    assert str(run.under("numpy")[-1].operand.dtype) == str(seen.operand.dtype) == str(y.dtype)
    assert not isinstance(last, Input)


def test_the_array_of_a_list_is_a_step_with_the_text_of_the_list() -> None:
    _, run = followed("x + [1, 2.5, 3]", ARRAYS)
    (made,) = [step for step in run.program.steps if isinstance(step, Created) and step.op == "asarray"]
    assert made.text == "[1, 2.5, 3]"
    assert str(run.under("torch")[run.program.steps.index(made)]) == "float32"


def test_of_what_was_not_seen_by_itself_the_data_of_a_run_say_no_dtype() -> None:
    _, run = followed("np.add(x, [1, 2, 3], out=x)", ARRAYS)
    told = {(step["op"], step["code"]): (step["observed"], step["count"]) for step in run_data(run)["steps"]}
    assert told["asarray", "[1, 2, 3]"] == told["add", "np.add(x, [1, 2, 3], out=x)"] == (None, 0)
    assert told["setitem", "np.add(x, [1, 2, 3], out=x)"] == ("float32", 1)


def test_a_list_that_is_assigned_to_elements_is_an_array_that_is_cast_as_it_is_written() -> None:
    _, run = followed("x", f"{ARRAYS}x[:2] = [1.5, 2]\n")
    written = run.program.steps[-1]
    assert (written.op, written.text) == ("setitem", "x[:2] = [1.5, 2]")
    assert str(run.under("numpy")[-1]) == "float32" and not run.mismatches
    assert [run.program.steps[part].text for part in written.inputs] == ["np.ones(3, np.float32)", "[1.5, 2]"]


def test_a_long_list_that_is_assigned_to_elements_is_an_opaque_step_by_the_name_of_the_operation() -> None:
    _, run = followed("x", "import numpy as np\nx = np.ones(100, np.float32)\nx[:] = [1.5] * 100\n")
    written, seen = [*run][-1]
    assert isinstance(written, Opaque) and (written.op, written.text) == ("setitem", "x[:] = [1.5] * 100")
    assert (str(seen.operand), seen.count, run.mismatches) == ("float32", 1, ())


def test_the_report_names_the_list_that_made_a_narrow_float_wide() -> None:
    _, run = followed("(x * [0.5, 0.25, 0.125]) + 1", ARRAYS)
    told = " ".join("\n".join(write_report(run, ())).split())
    assert "wide code.py:8: [0.5, 0.25, 0.125] makes float64" in told
    assert "remedy cast this to float32, and all of it stays float32: code.py:8: " in told
    assert "(x * np.asarray([0.5, 0.25, 0.125], dtype=x.dtype)) + 1" in told


def test_lists_of_other_numbers_at_one_place_are_one_step_in_the_end() -> None:
    y, run = followed("[x + [k, k, k] for k in range(100)][-1]", ARRAYS)
    added = [seen.count for step, seen in run if isinstance(step, Call) and step.op == "add"]
    assert sum(added) == 100 and len(added) < 10
    assert str(y.dtype) == "float64" and not run.mismatches


UNTOLD = ["x + [2**63, 1, 1]", "np.add([2**63, 1, 1], x)", "np.ones(100, np.float32) + [1] * 100"]


@pytest.mark.parametrize("code", UNTOLD)
def test_a_list_of_which_no_rule_says_the_dtype_is_taken_as_it_was(code: str) -> None:
    _, run = followed(code, ARRAYS)
    assert isinstance(run.program.steps[-1], Opaque) and run.opaque == 1
    assert not run.mismatches


def test_a_number_in_np_r_is_weak_and_one_in_a_list_is_not() -> None:
    joined, listed = followed("np.r_[x, 1.0]", ARRAYS)[1], followed("np.r_[x, [1.0]]", ARRAYS)[1]
    assert (str(joined.under("numpy")[-1]), str(listed.under("numpy")[-1])) == ("float32", "float64")


def test_what_np_r_joins_is_linked_to_the_steps_that_made_it() -> None:
    _, run = followed("np.r_[x, i] * 2", ARRAYS)
    steps = run.program.steps
    joined = steps[steps[-1].inputs[0]]
    assert isinstance(joined, Call) and joined.op == "hstack"
    assert [steps[part].text for part in joined.inputs] == ["np.ones(3, np.float32)", "np.ones(3, np.int8)"]


@pytest.mark.parametrize("many", [2, 33, 64])
def test_a_call_of_other_arrays_at_the_same_place_is_another_step(many: int) -> None:
    head = f"{ARRAYS}def joined(a):\n    return np.concatenate([a] * {many})\nfirst, second = x * 2, x + 1\n"
    _, run = followed("[joined(first), joined(second)]", head)
    steps = [step for step in run.program.steps if step.op == "concat"]
    texts = [{run.program.steps[i].text for i in step.inputs} for step in steps]
    assert texts == [{"x * 2"}, {"x + 1"}] and not run.opaque and not run.mismatches


@pytest.mark.parametrize(
    "code",
    [
        "x + [1.0, 2.0, 3.0]",
        "h * [s, 2.0, 1]",
        "np.add([1, 2, 3], x)",
        "np.sqrt([s, 2])",
        "np.sum([1.0, 2.0], dtype=np.float32)",
        "[1, 2, 3] * x",
        "np.stack([x, [1, 2, 3]])",
    ],
)
def test_a_library_that_makes_no_array_of_a_list_refuses_the_operation(code: str) -> None:
    _, run = followed(code, ARRAYS)
    for system in ("torch", "jax", "mlx", "tinygrad", "ndonnx", "cupy"):
        (divergence,) = [
            p
            for p in find_divergences(predict_run(run), run.under(system))
            if run.program.steps[p.steps[0]].text == code
        ]
        assert divergence.cost == "raises"
        assert divergence.outcome.reason and "by itself" in divergence.outcome.reason
    for system in ("numpy", "dask", "tensorflow"):
        assert "by itself" not in str([o.reason for o in run.under(system)])


def test_a_list_that_no_operation_takes_is_not_said_to_come_out_narrower() -> None:
    _, run = followed("x + [1.0, 2.0, 3.0]", ARRAYS)
    found = find_divergences(predict_run(run), run.under("torch"))
    assert [(run.program.steps[p.steps[0]].text, p.cost) for p in found] == [
        ("x + [1.0, 2.0, 3.0]", "raises")
    ]


def test_a_list_that_the_program_makes_an_array_of_is_an_array_under_every_system() -> None:
    for code in ("np.asarray([1.0, 2.0, 3.0]) + x", "np.array([x, [1, 2, 3]]) + x"):
        _, run = followed(code, ARRAYS)
        assert not any(outcome.is_refused for outcome in run.under("jax")), code


def test_a_list_is_assigned_where_the_library_takes_it_there() -> None:
    _, run = followed("x", f"{ARRAYS}x[:2] = [1.5, 2]\n")
    said = {name: str(run.under(name)[-1]) for name in ("torch", "mlx", "jax", "ndonnx", "tinygrad")}
    assert said == {
        "torch": "refused",
        "mlx": "refused",
        **dict.fromkeys(("jax", "ndonnx", "tinygrad"), "float32"),
    }


def test_lists_of_a_program_are_written_and_read_again() -> None:
    program = tl.program("x + [1.0, 2.0]", x="float32[2]")
    again = tl.Program.from_json(program.to_json())
    assert [step.list_operands for step in again.steps if isinstance(step, Call)] == [(1,)]
    assert str(again.under("torch")[-1]) == "refused"


@pytest.mark.parametrize(
    ("code", "refusing"),
    [
        ("m[[0, 1]] + 1", {"jax", "ndonnx", "array-api"}),
        ("m[[True, False, True]]", {"jax", "ndonnx", "array-api"}),
        ("m[:, [0, 1]]", {"ndonnx", "array-api", "tensorflow"}),
        ("m[[0, 1], [1, 0]]", {"ndonnx", "array-api", "tensorflow"}),
        ("m[np.ones(2, np.int64)]", {"tensorflow"}),
        ("m[0, 1]", set()),
    ],
)
def test_a_list_as_an_index_is_refused_where_the_library_takes_none(code: str, refusing: set[str]) -> None:
    y, run = followed(code, f"{ARRAYS}m = np.ones((3, 4), np.float32)\n")
    assert y.dtype == "float32" and not run.mismatches and not run.opaque
    for system in ("numpy", "torch", "jax", "ndonnx", "array-api", "tensorflow", "mlx", "tinygrad", "dask"):
        found = [p for p in find_divergences(predict_run(run), run.under(system)) if p.cost == "raises"]
        assert [run.program.steps[p.steps[0]].op for p in found] == ["getitem"] * (system in refusing), system
        assert all(re.search("no (list|array of integers)", str(p.outcome.reason)) for p in found)


def test_one_place_tells_lists_from_other_indices() -> None:
    _, run = followed("[x[k] for k in ([0, 1], slice(2), (slice(2),), ([0, 1],))]", ARRAYS)
    lists = [step.list_form for step in run.program.steps if isinstance(step, Index)]
    assert lists == ["index", "", "indices"]
