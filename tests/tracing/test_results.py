"""Why a result has its dtype: the chain of steps back to the one that decided it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_tracing_scripts import ran

import typelattice as tl
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.report.explain_result import explain_result

SCRIPT = """
import numpy as np
narrow = np.ones(4, np.float32)
big = np.ones(1000, np.float32) * np.zeros(1000)
half = np.float64(0.5)
a = narrow * half
b = a + 1
del big
"""


def widened(x: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    y = x * np.float64(2)
    return y + x, {"kept": x + 1}


def test_the_chain_leads_from_a_result_to_the_step_that_decided_its_dtype() -> None:
    answer = tl.why(tl.trace(widened, np.ones(3, "float32")), "result[0]")
    assert (answer.dtype, [step.text for step in answer.steps]) == (
        tl.dtype("float64"), ["y + x", "x * np.float64(2)", "np.float64(2)"],
    )  # fmt: skip
    assert answer.remedy[-1].endswith("y = x * 2.0")
    assert answer.steps[1].deed == "multiply of float32 and float64:0d gives float64"


def test_a_narrow_result_has_no_remedy() -> None:
    def narrow(x: np.ndarray) -> np.ndarray:
        return x + 1

    answer = tl.why(tl.trace(narrow, np.ones(3, "float32")))
    assert [step.text for step in answer.steps] == ["x + 1", "x"] and not answer.remedy
    counts = tl.why(tl.trace(narrow, np.ones(3, "int8")))
    assert (counts.dtype, [step.text for step in counts.steps]) == (tl.dtype("int8"), ["x + 1", "x"])


def test_a_line_stands_for_its_last_array() -> None:
    traced = tl.trace(widened, np.ones(3, "float32"))
    line = widened.__code__.co_firstlineno + 1
    for name in (str(line), f"test_results.py:{line}"):
        assert [step.text for step in tl.why(traced, name).steps] == ["x * np.float64(2)", "np.float64(2)"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("resul[0]", "did you mean result[0]?"),
        ("99999", "no array was computed at line 99999"),
        ("other", "there are result[0], or name a line"),
    ],
)
def test_a_name_that_no_array_has_is_an_error(name: str, words: str) -> None:
    def single(x: np.ndarray) -> tuple[np.ndarray]:
        return (x + x,)

    with pytest.raises(tl.ResultError) as e:
        tl.why(tl.trace(single, np.ones(3)), name)
    assert words in str(e.value)


def test_causes_that_widen_results_come_first(tmp_path: Path) -> None:
    """The other cause takes more bytes, but nothing that stays is wide because of it."""
    (tmp_path / "main.py").write_text(SCRIPT, encoding="utf-8")
    ended = ran(tmp_path, "-m", "typelattice", "trace", "--why", "b", "main.py")
    assert ended.returncode == 0 and ended.stderr.splitlines()[0] == "b is float64"
    assert "main.py:5: np.float64(0.5)" in ended.stderr
    report = ran(tmp_path, "-m", "typelattice", "trace", "main.py").stderr
    assert report.index("narrow * half") < report.index("np.ones(1000, np.float32) * np.zeros(1000)")
    assert "results   a, b" in report


def test_a_run_names_its_results() -> None:
    run = tl.trace(widened, np.ones(3, "float32")).run
    assert [*run.results] == ["result[0]"]
    assert collect_findings(run).causes[0].result_names == ("result[0]",)
    assert explain_result(run, "result[0]").name == "result[0]"
