"""One run says what NumPy 1 and NumPy 2 compute differently: what raises, what is lost, and on which side."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from typelattice.core.system_files.reader import system
from typelattice.repair.port.port_report import PortReport, merge_reports, read_report
from typelattice.repair.port.port_script import port_script
from typelattice.show.cli.main import run as command
from typelattice.tracing.entry_points.script import ScriptError
from typelattice.tracing.library_traits.numpy_releases import compare_releases, list_constants_out_of_range
from typelattice.tracing.run_data.release_difference import DTYPE_ALONE, LOSES, RAISES

IS_NUMPY_1 = np.__version__.startswith("1.")
needs_numpy_2 = pytest.mark.skipif(IS_NUMPY_1, reason="the results are those of NumPy 2")


def ported(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> PortReport:
    (folder / "s.py").write_text(f"import numpy as np\n{code}\n")
    monkeypatch.chdir(folder)
    return port_script("s.py", [], [])


DIFFERENCES = {
    "np.uint16(0x90) << 24": (LOSES, "NumPy 2 loses: 0; NumPy 1 gives 2415919104 (int64 in NumPy 1"),
    "np.float32(0.1) + 1e-9": (LOSES, "NumPy 2 loses 1e-09 here: 0.1; NumPy 1 gives 0.10000000249011612"),
    "np.array([0.1]) * np.float32(1) + np.float32(1e-9) * 0.3": (LOSES, "NumPy 2 loses"),
    "np.int32(5) * 100": (DTYPE_ALONE, "int64 in NumPy 1 and int32 in NumPy 2, and int32 in NumPy 1 on"),
    "np.ones(3, np.float32) * np.float64(2)": (DTYPE_ALONE, "float32 in NumPy 1 and float64 in NumPy 2"),
    "np.ones(3, np.float32) * np.float64(0.1)": (LOSES, "NumPy 1 loses: 0.1; NumPy 2 gives 0.1"),
    "np.array([200], np.uint8) + np.int64(100)": (LOSES, "NumPy 1 loses: 44; NumPy 2 gives 300"),
    "np.array(np.arange(3, dtype='i2'), dtype='i4', copy=None)": None,
    "np.ones(3, np.float32) * 0.1": None,
    "np.uint8(200) + np.uint8(100)": None,  # it wraps in both
    "np.ones(3) + 1": None,
}


@needs_numpy_2
@pytest.mark.parametrize("code", DIFFERENCES)
def test_each_difference_says_which_release_loses(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warnings.filters", [("ignore", None, Warning, None, 0)])
    report = ported(f"y = {code}", tmp_path, monkeypatch)
    wanted = DIFFERENCES[code]
    if wanted is None:
        assert report.differences == ()
        return
    (found,) = (each for each in report.differences if each.text in code and each.effect == wanted[0])
    assert wanted[1] in found.sentence


@needs_numpy_2
def test_the_error_that_ends_a_program_is_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = ported("x = np.uint8(3)\ny = x * 256\nz = np.uint8(1)", tmp_path, monkeypatch)
    (found,) = report.by_effect[RAISES]
    assert (found.location.line, found.loser) == (3, "numpy")
    assert "OverflowError" in found.sentence and "status 1" in report.ending
    assert "OverflowError" in capsys.readouterr().err


@needs_numpy_2
def test_constants_are_listed_even_if_no_operation_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = ported("x = np.uint32(-1)\ny = np.array([0, -8], dtype=np.uint8)", tmp_path, monkeypatch)
    assert [each.location.line for each in report.by_effect[RAISES]] == [2, 3]
    assert "OverflowError" in capsys.readouterr().err


ON_WINDOWS = {
    "np.arange(5)": "int32 in NumPy 1 on Windows and int64 in NumPy 2",
    "np.int32(5) * 100": None,
    "np.ones(3, np.int8).sum()": "int32 in NumPy 1 on Windows and int64 in NumPy 2",
    "np.int32(5) * np.float32(2)": None,
}


@needs_numpy_2
@pytest.mark.parametrize("code", ON_WINDOWS)
def test_numpy_1_on_windows_has_another_default_integer(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.py").write_text(f"import numpy as np\ny = {code}\n")
    monkeypatch.chdir(tmp_path)
    found = [each.sentence for each in port_script("s.py", [], [], on_windows=True).differences]
    assert found == ([ON_WINDOWS[code]] if ON_WINDOWS[code] else [])


@needs_numpy_2
def test_the_reports_of_two_interpreters_are_one_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "x = np.uint8(3)\nz = np.uint16(9) << 24\ny = x * 256\nw = np.uint8(9) - 300"
    own = ported(code, tmp_path, monkeypatch)
    script = str(tmp_path / "s.py")
    data = {
        "own": "numpy1", "other": "numpy", "checked": 6, "status": 0, "ending": "", "notes": [],
        "differences": [
            {
                "effect": "raises", "file": script, "line": line, "text": text, "loser": "numpy",
                "sentence": "NumPy 2 raises an error", "severity": 1.0, "ends_program": False,
            }
            for line, text in ((4, "x * 256"), (5, "np.uint8(9) - 300"))
        ],
    }  # fmt: skip
    assert read_report(data).data() == data
    assert [each.ends_program for each in own.by_effect[RAISES]] == [True]
    merged = merge_reports(own, read_report(data), "old/python")
    assert [(each.location.line, each.text) for each in merged.by_effect[RAISES]] == [
        (4, "x * 256"), (5, "np.uint8(9) - 300"),
    ]  # fmt: skip
    assert len(merged.by_effect[LOSES]) == 1 and not merged.ending
    assert merged.notes == ("old/python: 6 operations under numpy1",)


def test_the_same_interpreter_may_be_the_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.py").write_text("import numpy as np\nx = np.ones(2)\n")
    monkeypatch.chdir(tmp_path)
    lines = [*command(["port", "--python", sys.executable, "s.py"])]
    assert any("1 operation under numpy" in line and sys.executable in " ".join(lines) for line in lines)
    with pytest.raises(ScriptError, match="there is no interpreter nothere; give the path of a Python"):
        [*command(["port", "--python", "nothere", "s.py"])]
    with pytest.raises(ScriptError, match="cannot run the program"):
        [*command(["port", "--python", "/bin/false", "s.py"])]


CONSTANTS = {
    "np.uint32(-1)": "-1 is out of range for uint32",
    "np.array([0, -8], dtype=np.uint8)": "-8 is out of range for uint8",
    "np.asarray((1, [300]), dtype='uint8')": "300 is out of range for uint8",
    "np.full(3, 70000, dtype=np.int16)": "70000 is out of range for int16",
    "np.uint8(255)": None,
    "np.array([1, -8], dtype=np.int8)": None,
    "np.array([0.5, -8.5], dtype=np.uint8)": None,
    "np.uint8(x)": None,
}


@pytest.mark.parametrize("code", CONSTANTS)
def test_constants_that_a_dtype_does_not_hold_are_found_without_running(code: str) -> None:
    calls = list_constants_out_of_range(f"def f(x):\n    return {code}")
    found = [sentence for _, (_, _, sentence, _) in calls]
    says = CONSTANTS[code]
    assert found == ([f"NumPy 2 raises an error: {says}"] if says else [])


@needs_numpy_2
def test_a_constant_is_refused_exactly_where_numpy_refuses_it() -> None:
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        for value in (-(2**63), -(2**31) - 1, -129, -1, 0, 127, 128, 255, 256, 2**31, 2**32, 2**63):
            found = [*list_constants_out_of_range(f"np.array([{value}], dtype=np.{name})")]
            try:
                np.array([value], dtype=name)
            except OverflowError:
                assert found, (name, value)
            else:
                assert not found, (name, value)


@needs_numpy_2
def test_what_numpy_1_would_compute_is_what_its_system_says() -> None:
    values = [3, 300, -1, 1.5, 1e-9, np.uint8(7), np.int16(-300), np.float32(0.5), np.arange(3, dtype="u2")]
    for a in values:
        for b in values:
            if type(a) in (int, float) and type(b) in (int, float):
                continue
            try:
                result = np.add(a, b)
            except OverflowError:
                continue
            older = system("numpy1").explain(a, b, op="add").dtype
            found = compare_releases("add", (a, b), {}, result)
            assert (found is None) == (str(older) == str(result.dtype)), (a, b)


def test_the_command_prints_three_lists_and_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.py").write_text("import numpy as np\ndef f():\n    return np.uint8(-1)\nx = np.ones(2)\n")
    monkeypatch.chdir(tmp_path)
    lines = [*command(["port", "s.py"])]
    assert "raises an error in one release: 1 place" in lines
    assert "loses values in one release: 0 places" in lines
    assert "differs in dtype alone: 0 places" in lines
    with pytest.raises(SystemExit) as ended:
        [*command(["port", "--exit-code", "s.py"])]
    assert ended.value.code == 3


def test_a_program_without_arrays_is_not_called_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.py").write_text("x = 1 + 1\n")
    monkeypatch.chdir(tmp_path)
    assert "nothing was compared" in " ".join(command(["port", "s.py"]))
