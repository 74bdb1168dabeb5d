"""Completion of command lines, in the shells themselves, and the manual page."""
from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import said

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.show.cli.commands.completion import (
    COMPLETION_BY_METAVAR,
    SCRIPT_BY_SHELL,
    complete_line,
)
from typelattice.show.cli.main import COMMAND_NAMES, Parser

FREE = {  # metavars of free text
    "TEXT", "LIST", "CALLS", "N", "S", "SECONDS", "PKG", "LINE", "NAME|LINE", "MODULE", "X", "WORDS",
    "WORD=N", "LIBRARY", "IMPLEMENTATION", "PACKAGE", "ADDRESS", "COMMAND", "COMMIT", "KEY=DTYPE,...", "None",
    "FUNCTION", "POINT", "M", "NAMES",
}  # fmt: skip
# The scripts ask the command that is installed: here these sources.
ASKED = f"env PYTHONPATH={shlex.quote(str(Path(tl.__file__).parents[1]))} {sys.executable} -m typelattice"
OURS = f'typelattice() {{ {ASKED} "$@"; }}'
SYSTEMS = ["numbers.toml", "numpy", "numpy-ml-dtypes", "numpy1", "numpy1-windows"]


def completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last of some words."""
    typed = " ".join(f"'{word}'" for word in words)
    asked = f"{OURS}\n{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _typelattice\n"
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
    assert completed(script, "typelattice", "table", "--system", "num") == SYSTEMS
    assert completed(script, "typelattice", "explain", "--op", "=", "log1") == ["log10", "log1p"]
    assert completed(script, "typelattice", "explain", "") == sorted(DTYPES)


@pytest.mark.parametrize(("words", "offered"), [
    (("table", "--system", "num"), SYSTEMS),
    (("check", "n"), ["numbers.toml"]),
    (("laws", "--exit"), ["--exit-code"]),
    (("diff", "numpy", "tor"), ["torch", "torch-2021", "torch-autocast"]),
    (("explain", "int8", "--format", ""), ["json", "text"]),
    (("explain", "int8", "--exit-code", "uint16"), ["uint16"]),
    (("fix", "imag"), []),
    (("nothing", ""), []),
    (("--v",), ["--version"]),
])  # fmt: skip
def test_words_are_offered_by_the_argument_that_they_stand_for(
    words: tuple[str, ...], offered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("numbers.toml").touch()
    assert complete_line(words) == offered


@pytest.mark.parametrize("shell", SCRIPT_BY_SHELL)
def test_scripts_can_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(said(capsys, "completion", shell))
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "script").write_text(said(capsys, "completion", "fish"))
    (tmp_path / "numbers.toml").touch()
    asked = (
        f"function typelattice; {ASKED} $argv; end; source script; "
        "complete -C 'typelattice dr'; complete -C 'typelattice table --system num'"
    )
    shown = subprocess.run(
        ["fish", "--no-config", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    words = [line.partition("\t")[0] for line in shown.splitlines()]
    assert sorted(words) == ["draw", *SYSTEMS]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes_words_or_else_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "script").write_text(said(capsys, "completion", "zsh"))
    asked = (
        f"typelattice() {{ {ASKED} \"$@\"; }}; compdef() {{ }}; _files() {{ print files }}\n"
        "compadd() { print -- ${(P)2} }\nsource script\n"
        "words=(typelattice explain --op log1); CURRENT=4; _typelattice\n"
        "words=(typelattice fix imag); CURRENT=3; _typelattice\n"
    )
    shown = subprocess.run(["zsh", "-fc", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines() == ["log10 log1p", "files"]


def test_every_argument_completes_to_something_or_is_free_text() -> None:
    for name in COMMAND_NAMES:
        metavars = {str(a.metavar) for a in Parser(name)._actions if a.nargs != 0 and a.choices is None}
        assert metavars <= {*COMPLETION_BY_METAVAR, *FREE}, (
            f"{name} has a metavar that completion does not know"
        )
