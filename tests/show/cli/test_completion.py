"""Completion of command lines, in the shells themselves, and the manual page."""
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import said

from typelattice.show.cli.commands.completion import COMPLETION_BY_METAVAR, SUPPORTED_SHELLS
from typelattice.show.cli.main import COMMAND_NAMES, Parser, main

FREE = {  # metavars of free text
    "TEXT", "LIST", "CALLS", "N", "S", "SECONDS", "PKG", "LINE", "NAME|LINE", "MODULE", "X", "WORDS",
    "WORD=N", "LIBRARY", "IMPLEMENTATION", "PACKAGE", "ADDRESS", "COMMAND", "COMMIT", "KEY=DTYPE,...", "None",
    "FUNCTION", "POINT", "M", "NAMES",
}  # fmt: skip


def completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last of some words."""
    typed = " ".join(f"'{word}'" for word in words)
    asked = f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _shtab_typelattice\n"
    shown = ["bash", "-c", asked + 'printf "%s\\n" "${COMPREPLY[@]}"']
    return subprocess.run(shown, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.skipif(sys.platform == "win32", reason="bash")
def test_bash_completes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("numbers.toml").touch()
    script = said(capsys, "completion", "bash")
    assert completed(script, "typelattice", "dr") == ["draw"]
    assert completed(script, "typelattice", "table", "--system", "num") == [
        "numpy", "numpy-ml-dtypes", "numpy1", "numpy1-windows", "numbers.toml",
    ]  # fmt: skip
    assert completed(script, "typelattice", "explain", "--op", "log1") == ["log1p", "log10"]
    assert completed(script, "typelattice", "check", "n") == ["numbers.toml"]
    assert completed(script, "typelattice", "laws", "--exit") == ["--exit-code"]


@pytest.mark.parametrize("shell", SUPPORTED_SHELLS)
def test_scripts_can_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(said(capsys, "completion", shell))
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "script").write_text(said(capsys, "completion", "fish"))
    (tmp_path / "numbers.toml").touch()
    asked = "source script; complete -C 'typelattice dr'; complete -C 'typelattice table --system num'"
    shown = subprocess.run(
        ["fish", "--no-config", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    words = [line.partition("\t")[0] for line in shown.splitlines()]
    assert words == ["draw", "numpy", "numpy-ml-dtypes", "numpy1", "numpy1-windows", "numbers.toml"]


def test_every_argument_completes_to_something_or_is_free_text() -> None:
    for name in COMMAND_NAMES:
        metavars = {str(a.metavar) for a in Parser(name)._actions if a.nargs != 0 and a.choices is None}
        assert metavars <= {*COMPLETION_BY_METAVAR, *FREE}, (
            f"{name} has a metavar that completion does not know"
        )


def test_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert capsys.readouterr().err == "typelattice: completion needs the library shtab: pip install shtab\n"
