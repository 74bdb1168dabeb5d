"""Our options after a program are refused before anything runs; after `--` they are the program's."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import refused

from typelattice.show.cli.main import COMMAND_NAMES, Parser, find_command, main

PROGRAM = "open('ran', 'w').write('yes')\n"
COMMANDS = [name for name in COMMAND_NAMES if find_command(name).runs_program]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("argv", "ours", "theirs"), [
    ("fix x.py --write", "fix --write x.py", "fix -- x.py --write"),
    ("fix x.py --tolerance abc", "fix --tolerance abc x.py", "fix -- x.py --tolerance abc"),
    ("fix x.py --tolerance", "fix --tolerance X x.py", "fix -- x.py --tolerance"),
    ("fix pytest tests --write", "fix --write pytest tests", "fix -- pytest tests --write"),
    ("trace x.py --format json", "trace --format json x.py", "trace -- x.py --format json"),
    ("trace --all x.py a --json=f b", "trace --json=f --all x.py a b", "trace --all -- x.py a --json=f b"),
    ("trace x.py --json f --all", "trace --json f --all x.py", "trace -- x.py --json f --all"),
    ("trace x.py --help", "trace --help x.py", "trace -- x.py --help"),
    ("trace -m x --all", "trace --all -m x", "trace -m x -- --all"),
    ("trace x.py --all -- --json", "trace --all x.py -- --json", "trace -- x.py --all -- --json"),
    ("fix x.py --wirte", "fix --write x.py", "fix -- x.py --wirte"),
    ("fix x.py --tolerence=1", "fix --tolerance=1 x.py", "fix -- x.py --tolerence=1"),
    ("trace x.py --fromat json", "trace --format json x.py", "trace -- x.py --fromat json"),
])  # fmt: skip
def test_an_option_of_ours_after_the_program_runs_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: str, ours: str, theirs: str
) -> None:
    said = refused(capsys, *argv.split())
    assert f"if it is ours, type typelattice {ours}; " in said
    assert said.endswith(f"if it is the program's, type typelattice {theirs}\n")
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_that_runs_programs_is_refused_after_one(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    options = {*Parser(name)._option_string_actions} - {"-m"}
    assert len(options) > 4
    for option in options:
        assert f"{option} stands after the program" in refused(capsys, name, "x.py", option)
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("argv", [
    ["--", "x.py", "--all"], ["x.py", "--", "--all"], ["x.py", "--epochs", "3"], ["x.py", "-m", "--wide"],
    ["-m", "x", "--", "--all"], ["x.py", "--aal"],
])  # fmt: skip
def test_the_program_gets_its_options(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: Sequence[str]
) -> None:
    (folder / "x.py").write_text("import sys\nprint(sys.argv[1:])\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(folder)
        assert main(["trace", *argv]) == 0
    words = argv[argv.index("x.py") + 1 :] if "x.py" in argv else argv[3:]
    assert capsys.readouterr().out == f"{words}\n"
