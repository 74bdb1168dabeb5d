"""The section of pyproject.toml: it stands in for options, and every mistake in it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from typelattice.show.cli.main import run as command
from typelattice.tracing.entry_points.pyproject_settings import Settings, SettingsError, read_settings


def section(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(f"[tool.typelattice]\n{text}\n")
    return folder


def test_a_section_stands_in_for_options_in_all_folders_below(tmp_path: Path) -> None:
    inner = section(tmp_path, 'packages = ["a"]\ntolerance = 1e-3\nfloor = 64\nto = "float16"') / "inner"
    inner.mkdir()
    assert read_settings(inner) == Settings(packages=("a",), tolerance=1e-3, floor=64, to="float16")
    assert read_settings(Path("/")) == Settings()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("package = []", r"has no key 'package' [(]did you mean packages\?[)]"),
        ("zzz = 1", "has no key 'zzz'; it may have packages, systems"),
        ("packages = 1", r"packages of \[tool.typelattice\] is '1'; give a list of texts"),
        ("systems = [1]", "systems of .* give a list of texts"),
        ("floor = true", "floor of .* is 'True'; give a whole number"),
        ("floor = ", "pyproject.toml cannot be read: .*; mend it, or remove it"),
    ],
)
def test_a_mistake_is_named(text: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=error):
        read_settings(section(tmp_path, text))


def test_commands_go_by_the_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(section(tmp_path, 'systems = ["torch"]\nvalues = true'))
    (tmp_path / "s.py").write_text("import numpy as np\na = np.uint8([200]) * 2\n")
    assert not [*command(["trace", "s.py"])]
    said = capfd.readouterr().err
    assert "under torch every step has the same dtype" in said and "values were lost at 1 place" in said
