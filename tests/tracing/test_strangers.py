"""The tool that compares programs of strangers, untraced and traced."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import strangers  # noqa: E402

SAME = """
import sys
import numpy as np
x = np.ones(3, np.float32) * np.float64(2)
print(x.dtype, x)
open("written.txt", "w").write("text")
print("error", file=sys.stderr)
"""
DIFFERENT = {
    "print('typelattice' in sys.modules)": "output: line 2: 'False' → 'True'",
    "sys.exit('typelattice' in sys.modules)": "status 0 → 1",
    "print('typelattice' in sys.modules, file=sys.stderr)": "errors: line 2: 'False' → 'True'",
    "open('written.txt', 'w').write(str('typelattice' in sys.modules))": "file written.txt",
}


@pytest.fixture
def differences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The differences of one program that has all those of DIFFERENT, in the three ways."""
    *others, last = sorted(DIFFERENT, key=lambda line: "exit" in line)
    return compare_program("\n".join([SAME, *others, last]), tmp_path, monkeypatch)


def compare_program(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (folder / "strangers").mkdir()
    (folder / "strangers" / "json.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(strangers, "TOOLS", folder)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    found, ratios = strangers.compare(strangers.Stranger("numpy", "2", "json"), folder, None)
    assert len(ratios) == 3
    return found


def test_a_program_that_runs_as_it_does_alone_has_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compare_program(SAME, tmp_path, monkeypatch) == []


def test_each_difference_is_reported_in_each_way(differences: list[str]) -> None:
    for way in strangers.Stranger("", "", "json").ways:
        own = [text for text in differences if text.startswith(f"{way}: ")]
        assert len(own) == len(DIFFERENT)
        assert all(any(expected in text for text in own) for expected in DIFFERENT.values())


def test_every_package_has_its_program() -> None:
    listed = {stranger.module for stranger in strangers.read_strangers()}
    assert listed == {path.stem for path in (ROOT / "tools" / "strangers").glob("*.py")}
    assert len(listed) == 30
