"""A check of a program fails for what a change newly widens, and says what it left out."""
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from traced_modules import write

import typelattice as tl
from typelattice.programs.calls.steps import SourceLocation
from typelattice.show.cli.main import main
from typelattice.tracing.entry_points.changed_lines import ChangedLinesError, read_changed_lines

WIDE = """
import numpy as np
x = np.ones(3, np.float32)
def made(size, dtype=np.float64):
    return np.zeros(size, dtype)
y = x * made(3)
"""
NARROW = WIDE.replace("float64", "float32")
KNOWN = """
[[known]]
file = "s.py"
code = "x * made(3)"
what = "float32 becomes float64"
"""
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


def git(*words: str) -> None:
    subprocess.run([*GIT, *words], check=True, capture_output=True)


def commit(folder: Path, **texts: str) -> None:
    if not (folder / ".git").exists():
        git("init", "-q")
    for name, text in texts.items():
        write(folder, name, text)
    git("add", "-A")
    git("commit", "-qm", "a")


def status(*words: str) -> int:
    """The exit status of a check of s.py, which runs in this process."""
    try:
        return main(["trace", *words, "s.py"])
    except SystemExit as e:
        return int(str(e.code))


@pytest.mark.parametrize(("text", "words", "expected"), [
    (WIDE, (), 0), (WIDE, ("--exit-code",), 3), (NARROW, ("--exit-code",), 0),
    (NARROW, ("--exit-code", "--system", "torch"), 0),
    ("import numpy as np\nx = np.ones(3, np.float32)\nn = x * np.arange(3)\n", ("--exit-code",), 3),
    (f"{WIDE}raise SystemExit(7)\n", ("--exit-code",), 7), (f"{WIDE}raise ValueError\n", ("--exit-code",), 1),
    ("import numpy as np\nx = np.ones(3, np.int32) / 2\n", ("--exit-code", "--system", "torch"), 3),
])  # fmt: skip
def test_the_status_says_whether_a_float_was_widened(
    folder: Path, text: str, words: Sequence[str], expected: int
) -> None:
    write(folder, "s", text)
    assert status(*words) == expected


@pytest.mark.parametrize(
    "end", ["", "import os; os._exit(0)", "import atexit; atexit.register(print, 'last')"]
)
def test_the_status_is_that_of_the_check_however_a_program_ends(folder: Path, end: str) -> None:
    write(folder, "s", f"{WIDE}{end}\n")
    words = (sys.executable, "-m", "typelattice", "trace", "--exit-code", "s.py")
    env = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1])}
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode == 3 and "the check fails: 1 new finding" in done.stderr
    assert done.stdout == ("last\n" if "last" in end else "")


@pytest.mark.parametrize(("before", "after", "is_new"), [
    (NARROW, WIDE, True),  # the default that decides the dtype
    (WIDE, f"{WIDE}z = x + 1\n", False),
    (WIDE, WIDE.replace("x * made(3)", "x *  made(3)"), True),
    (WIDE.replace("ones", "zeros"), WIDE, False),
    (f"{WIDE}# end\n", WIDE, True),  # only a line beside the widening was removed
    (WIDE, WIDE, False),
])  # fmt: skip
def test_only_what_changed_lines_decide_is_new(folder: Path, before: str, after: str, is_new: bool) -> None:
    commit(folder, s=before)
    write(folder, "s", after)
    assert status("--exit-code", "--since", "HEAD") == 3 * is_new
    commit(folder, s=after, other="")
    assert status("--exit-code", "--since", "HEAD~1") == 3 * is_new
    assert status("--exit-code", "--since", "HEAD") == 0


def test_what_the_base_changed_since_is_not_new(folder: Path) -> None:
    commit(folder, s=WIDE)
    git("checkout", "-qb", "change")
    commit(folder, other="")
    git("checkout", "-q", "main")
    commit(folder, s=NARROW)
    git("checkout", "-q", "change")
    assert status("--exit-code", "--since", "main") == 0


@pytest.mark.parametrize("name", ["s.py", "a b.py", 'quote".py', "ümlaut.py", "new\nline.py", "-x.py"])
def test_lines_of_any_file_are_found(folder: Path, name: str) -> None:
    commit(folder, first="")
    (folder / name).write_text("1\n2\n")
    (folder / "new.py").write_text("1\n")
    git("add", "-A", "--", f":(literal){name}")
    git("commit", "-qm", "a")
    (folder / name).write_text("1\nchanged\n")
    changed = read_changed_lines("HEAD", str(folder))
    at = [SourceLocation(str(folder / name), line) in changed for line in (1, 2)]
    assert at == [False, True]
    assert SourceLocation(str(folder / "new.py"), 1) in changed
    assert SourceLocation(str(folder / name), 1, end_line=2) in changed
    assert SourceLocation(str(folder / "first.py"), 1) not in changed


@pytest.mark.parametrize(("base", "why"), [
    ("nothing", "there is no commit 'nothing'; name a branch"), ("--output", "'--output' is no name of a"),
    ("HAED", r"no commit 'HAED' \(did you mean HEAD\?\)"),
    ("", "'' is no name of a commit"), ("HEAD\n", "is no name of a commit"),
])  # fmt: skip
def test_a_commit_that_is_not_there_is_named(folder: Path, base: str, why: str) -> None:
    commit(folder, s=WIDE)
    with pytest.raises(ChangedLinesError, match=why):
        read_changed_lines(base, str(folder))


@pytest.mark.parametrize(("words", "why"), [
    (("--since", "main"), "Git cannot tell what changed: not a git repository"),
    (("--baseline", "no.toml"), "no baseline "), (("--baseline", "s.py"), "s.py is no baseline"),
    (("--write-baseline",), "--write-baseline needs --baseline FILE, which says where"),
    (("--baseline", "bugdet.toml"), "bugdet.toml (did you mean budget.toml?): write it once"),
    (("--baseline", "budget.toml"), "budget is '-1'; give a whole number of bytes"),
    (("--summary", "no/where.md"), "no/where.md"),
    (("--summary", "a", "--output", "a"), "need paths of their own"),
])  # fmt: skip
def test_a_check_that_cannot_be_made_runs_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], words: Sequence[str], why: str
) -> None:
    write(folder, "s", "open('ran', 'w')\n")
    (folder / "budget.toml").write_text("budget = -1\n")
    assert status("--exit-code", *words) == 2
    assert why in capsys.readouterr().err and not (folder / "ran").exists()


@pytest.mark.parametrize(("known", "text", "expected", "said"), [
    ("", WIDE, 3, "the check fails: 1 new finding"), (KNOWN, WIDE, 0, "1 finding not shown: known in k.toml"),
    (KNOWN, NARROW, 3, "1 entry of k.toml no longer occurs; remove it from the file:"),
    ("budget = 24\n", WIDE, 0, "new findings take 24 bytes, within the budget of 24 bytes"),
    ("budget = 23\n", WIDE, 3, "new findings take 24 bytes, more than the budget of 23 bytes"),
    ("budget = 99\n", f"{WIDE}z = x.astype(np.float16) * x\n", 3, "the check fails: 2 new findings"),
])  # fmt: skip
def test_a_baseline_holds_what_is_known_and_a_budget(
    folder: Path, capsys: pytest.CaptureFixture[str], known: str, text: str, expected: int, said: str
) -> None:
    write(folder, "s", text)
    (folder / "k.toml").write_text(known)
    assert status("--exit-code", "--baseline", "k.toml") == expected
    assert said in capsys.readouterr().err


def test_a_baseline_of_the_project_is_taken_and_only_shrinks(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text('[tool.typelattice]\nbaseline = "k.toml"\n')
    write(folder, "s", WIDE)
    assert status("--write-baseline") == 0 and KNOWN in (folder / "k.toml").read_text()
    assert status("--exit-code") == 0
    write(folder, "s", NARROW)
    (folder / "k.toml").write_text(f"budget = 5\n{KNOWN}")
    assert status("--exit-code") == 3 and status("--write-baseline") == 0
    text = (folder / "k.toml").read_text()
    assert "[[known]]" not in text and "budget = 5" in text
    write(folder, "s", WIDE)
    capsys.readouterr()
    assert status("--write-baseline") == 0
    assert "wrote 0 findings to k.toml, which may only shrink; 1 new not added" in capsys.readouterr().err
