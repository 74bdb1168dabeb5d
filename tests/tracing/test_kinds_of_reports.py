"""Kinds of causes in public reports: elements of loops, integers, results, and casts that ask again."""

from __future__ import annotations

import pytest
from followed import followed_module

from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.remedies.remedy import find_remedy
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.run_data.run import Run

NARROW = "import numpy as np\nx = np.ones(4, np.float32)\n"


def followed(code: str) -> Run:
    """The run of a module with a narrow array `x`."""
    return followed_module(f"{NARROW}{code}\n")[1]


def first_places(findings: Findings) -> list[str]:
    """The text of the step that names each cause, and of the one that its wide float comes from."""
    steps = findings.predicted_run.steps
    return [f"{steps[c.step].text} <- {steps[c.origin_steps[0]].text}" for c in findings.causes]


def told(code: str) -> str:
    """The report of a run, as one line."""
    return " ".join(" ".join(write_report(followed(code), ())).split())


def remedied(code: str) -> list[str]:
    """The lines that the remedy of the only cause changes."""
    found = collect_findings(followed(code))
    (cause,) = found.causes
    remedy = find_remedy(found.predicted_run, cause)
    assert remedy is not None
    return [text.strip() for _, _, text in remedy.list_changed_lines()]


WIDE = "w = np.linspace(0, 1, 3)\n"


@pytest.mark.parametrize(
    "loop",
    [
        "for v in w:\n    y = x * v",
        "for i, v in enumerate(w):\n    y = x * v",
        "for a, v in zip([1, 2, 3], w):\n    y = x * v",
        "y = [x * v for v in w]",
        "y = {i: x * v for i, v in enumerate(w[1:])}",
        "y = [*(x * v for v in w)]",
        "for _ in range(2):\n    for v in w:\n        y = x * v",
    ],
)
def test_an_element_comes_from_the_array_that_a_loop_iterates_over(loop: str) -> None:
    assert first_places(collect_findings(followed(WIDE + loop))) == ["x * v <- np.linspace(0, 1, 3)"]


@pytest.mark.parametrize(
    "code",
    [
        "for v in w:\n    pass\nv = [np.float64(2), 3][0]\ny = x * v",  # after the loop
        "def f(v):\n    return x * v\nfor v in np.ones(3, np.float32):\n    y = f(np.array(2.0))",
        "def f(v):\n    return x * v\nfor k in w:\n    y = f(np.array(2.0))",
    ],
)
def test_another_value_of_the_name_does_not_come_from_a_loop(code: str) -> None:
    (place,) = first_places(collect_findings(followed(WIDE + code)))
    assert place in ("x * v <- np.float64(2)", "x * v <- np.array(2.0)")


def test_a_single_number_of_an_array_follows_its_own_rules() -> None:
    """Elements are scalars of NumPy: the prediction of each step is right."""
    assert not collect_findings(followed(f"{WIDE}for v in w:\n    y = x * v")).predicted_run.mismatches


def test_integers_that_made_a_float_wide_are_named_where_they_were_made() -> None:
    says = told("def f(n):\n    return np.arange(n)\nk = f(4)\ny = x * k")
    assert "with code.py:4: np.arange(n) makes int64" in says
    assert " with " not in told("y = x * np.linspace(0, 1, 4)")


def test_a_cast_that_changed_nothing_before_is_said_to_widen_again() -> None:
    says = told("S = np.array([2.0])\ndef f(x):\n    y = x * S\n    return y.astype(np.float64)\nz = f(x)")
    assert "1 of 2 steps stay float32" in says
    again = "then these make float64 again, and changed nothing before:"
    assert f"{again} code.py:6: y.astype(np.float64)" in says
    assert "make float64 again" not in told("S = np.array([2.0])\ny = x * S\nz = y.astype(np.float32)")


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        # sizes are no arrays
        (
            "def f(v, n):\n    out = np.zeros((len(v), n))\n    out[:, 0] = v\n    return out\ny = f(x, 2)",
            "out = np.zeros((len(v), n), dtype=np.result_type(np.asarray(v), 0.0))",
        ),
        # nor are numbers that the file writes out
        (
            "TINY = 1e-9\nS = np.linspace(1, 2, 4)\ndef f(v):\n    return v / max(TINY, 2) * S\ny = f(x)",
            "return v / max(TINY, 2) * S.astype(np.result_type(v, 0.0))",
        ),
        # a scalar that a module keeps becomes a Python number where it is used
        (
            "NORM = np.sqrt(2.5)\ndef f(v, s):\n    return np.exp(v) / (NORM * s)\ny = f(x, 1.5)",
            "return np.exp(v) / (float(NORM) * s)",
        ),
    ],
)
def test_a_remedy_takes_the_dtype_of_an_array(code: str, changed: str) -> None:
    assert changed in remedied(code)


def test_an_element_of_a_list_gives_a_new_array_its_dtype() -> None:
    code = "class A:\n    def f(self):\n        b = np.zeros((2,) + self.xs[0].shape)\n"
    code += "        for i, img in enumerate(self.xs):\n            b[i] = img / 2\n        return b\n"
    (line,) = remedied(f"{code}a = A()\na.xs = [x, x]\ny = a.f()")
    assert line.endswith("shape, dtype=np.result_type(np.asarray(self.xs[0]), 0.0))"), line


def test_an_object_that_describes_a_dtype_holds_no_arrays() -> None:
    assert "finfo that holds" not in told("e = np.finfo(np.float64)\ny = x + 1")


def test_the_module_computes_what_it_did() -> None:
    names, _ = followed_module(f"{NARROW}{WIDE}y = [float((x * v).sum()) for v in w]\n")
    assert names["y"] == [0, 2, 4]


@pytest.mark.live
def test_a_tensor_of_a_loop_is_a_view_of_its_base() -> None:
    pytest.importorskip("torch")
    made = "torch.linspace(0, 1, 4, dtype=torch.float64)"
    loop = "for t in ts[:2]:\n    y = x * t.view(1)\n    z = x * t\n"
    code = f"import torch\nts = {made}\nx = torch.ones(3)\n{loop}"
    found = collect_findings(followed_module(code)[1])
    assert first_places(found) == [f"x * t.view(1) <- {made}"]
    assert not found.predicted_run.mismatches  # a tensor without dimensions widens nothing
