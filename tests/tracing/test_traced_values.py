"""What operations do to values: each loss is reported at its line, and nothing else is."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.report.report_entries import make_report

LOSSES = {
    "a = np.uint8([200, 10]) * 2": "1 of 2 numbers wrapped, such as 400, which is 144 in uint8",
    "a = np.uint8([200]); a += np.uint8(100)": "1 of 1 number wrapped, such as 300, which is 44 in uint8",
    "a = np.int8([100, 100]).sum(dtype=np.int8)": "1 of 1 number wrapped, such as 200, which is -56 in int8",
    "a = np.int16([300]).astype(np.uint8)": "1 of 1 number wrapped, such as 300, which is 44 in uint8",
    "a = np.arange(3_000, dtype=np.int32) * 2**20": "952 of 3,000 numbers wrapped, such as 2.14748365e+09",
    "a = np.arange(3_000, dtype=np.int16); a += 32_000": "2,232 of 3,000 numbers wrapped, such as 32768",
    "a = np.full(3_000, 0.5); a[7] = 0; a = a.astype(int)": "2,999 of 3,000 numbers lost a fraction",
    "a = np.float32([1e30]); a *= 1e30": "1 of 1 number became infinite in float32, of finite operands",
    "a = np.log(np.zeros(2))": "2 of 2 numbers became infinite in float64, of finite operands",
    "a = np.zeros(2) / np.zeros(2)": "2 of 2 numbers became NaN in float64, of finite operands",
    "a = np.array([1.5, 2.0]).astype(int)": "1 of 2 numbers lost a fraction, such as 1.5, which is 1",
    "a = np.zeros(2, int); a[0] = 2.5": "1 of 1 number lost a fraction, such as 2.5, which is 2 in int64",
    "a = np.cumsum(np.float32([2**24] + [1] * 1000))[-1:]": "numbers lost digits, such as",
}
HARMLESS = [
    "a = np.uint8([200]) * np.uint16(2)",
    "a = np.floor(np.array([1.5])).astype(int)",
    "a = np.array([np.inf]) + 1",
    "a = np.float32([0.1]) * 3",
    "a = np.float32([0.1, 0.2]).sum()",
    "a = np.int64([2**62]) - 1",
    "a = -np.int8([5])",
    "a = np.array([np.inf, 1]); a += 1",
    "a = np.zeros(2); a[0] = np.nan; a *= 2",
    "a = np.float32([1, 2]); b = np.zeros(2, np.float32); np.add(np.add(a, a), a, b)",
]


BUILDING_UP = """import numpy as np
kept = np.float32([2**17, 2**17])
for i in range(600):
    kept += 0.01
    if i == 300:
        kept[:] = 2**17
total = np.float32(2**17)
for _ in range(500):
    total = total + 0.01
line = np.float32([2**17])
for _ in range(500):
    line += np.float32(0.01)
small = total * 2 + 1
many = np.full((100, 90), 2**17, np.float32)
for _ in range(450):
    many = many + np.float32(0.01)
    many += np.float32(0.01)
"""


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The message of each line of one script that has all examples."""
    path = tmp_path_factory.mktemp("values") / "s.py"
    path.write_text("import numpy as np\n" + "\n".join([*LOSSES, *HARMLESS]) + "\n")
    return traced_values(path)


def traced_values(path: Path) -> dict[int, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = run_script(str(path), [], [], values=True).run
    (chapter,) = [c for c in make_report(collect_findings(run)).chapters if c.name == "values"]
    return {entry.location.line: entry.message for entry in chapter.entries if entry.location}


@pytest.mark.parametrize("code", LOSSES)
def test_a_loss_is_reported_at_its_line(code: str, lines: dict[int, str]) -> None:
    assert LOSSES[code] in lines[[*LOSSES].index(code) + 2]


def test_what_loses_nothing_is_not_reported(lines: dict[int, str]) -> None:
    assert {*lines} == {*range(2, len(LOSSES) + 2)}


def test_digits_that_a_sum_loses_over_several_steps_are_reported_where_they_pass_the_limit(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.py"
    path.write_text(BUILDING_UP)
    found = traced_values(path)
    assert [*found][:2] == [9, 12]  # `kept` was written into before it had lost as much
    assert [*found][2:] in ([16], [17])
    lost = "number lost digits over several steps, such as"
    assert all(lost in each.replace("9,000 of 9,000 numbers", "1 of 1 number") for each in found.values())


def test_nothing_is_checked_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s.py"
    path.write_text("import numpy as np\na = np.uint8([200]) + np.uint8(100)\n")
    run = run_script(str(path), [], []).run
    assert run.value_losses is None and "values" not in {
        c.name for c in make_report(collect_findings(run)).chapters
    }


@pytest.mark.live
@pytest.mark.parametrize("cast", ["x.to(torch.int32)", "x.type(torch.int32)", "x.int()"])
def test_each_cast_of_pytorch_is_checked(cast: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "s.py"
    path.write_text(f"import torch\nx = torch.tensor([1.5, 3.0])\ny = {cast}\n")
    assert "1 of 2 numbers lost a fraction, such as 1.5, which is 1 in int32" in traced_values(path)[3]
