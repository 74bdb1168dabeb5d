"""Python commands that a program starts with subprocess: they run as without the tracer, and are followed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.tracing.record.child_commands import followed_command, read_command

PARENT = """
import subprocess, sys
for words in {}:
    ran = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    print(ran.args[1:], ran.returncode, ran.stdout, ran.stderr)
"""
CHILD = """
import sys
import numpy as np

print(sys.argv, sys.orig_argv[1:], __name__, __file__, sys.path[0], __spec__)
y = np.ones(3, np.float32) * np.linspace(0, 1, 3)
sys.exit(4)
"""
MODULE = "import numpy as np\nz = np.ones(2, np.float32) + np.zeros(2)\nprint(__name__, __package__)\n"
CODE = "import sys, part; print(sys.argv, sys.path[0], __name__); raise ValueError(1)"


def run(folder: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    root = str(Path(tl.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": root, "TMPDIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        cwd=folder, env=env, capture_output=True, text=True, check=check,
    )  # fmt: skip


def counts(folder: Path) -> dict[str, int]:
    """How often each step ran, by its code."""
    steps = json.loads((folder / "run.json").read_text())["steps"]
    return {step["code"]: step["count"] for step in steps}


def write(folder: Path, words: Sequence[Sequence[str]]) -> None:
    (folder / "parent.py").write_text(PARENT.format(words), encoding="utf-8")
    (folder / "child.py").write_text(CHILD, encoding="utf-8")
    (folder / "part.py").write_text(MODULE, encoding="utf-8")


def test_a_script_a_module_and_code_run_as_without_the_tracer_and_are_followed(tmp_path: Path) -> None:
    write(tmp_path, [["child.py", "3"], ["-u", "-X", "dev", "child.py"], ["-m", "part"], ["-c", CODE, "a"]])
    plain = run(tmp_path, "parent.py")
    traced = run(tmp_path, "-m", "typelattice", "trace", "--json", "run.json", "parent.py")
    assert traced.stdout == plain.stdout and "in 5 processes" in traced.stderr
    seen = counts(tmp_path)
    assert seen["np.ones(3, np.float32) * np.linspace(0, 1, 3)"] == 2
    assert seen["np.ones(2, np.float32) + np.zeros(2)"] == 2  # by `-m`, and imported by `-c`
    assert not [*tmp_path.glob("typelattice-runs-*")]


def test_named_packages_are_followed_in_every_process(tmp_path: Path) -> None:
    write(tmp_path, [["-c", CODE], ["-c", CODE]])
    run(tmp_path, "-m", "typelattice", "trace", "--package", "part", "--json", "run.json", "parent.py")
    assert counts(tmp_path)["np.ones(2, np.float32) + np.zeros(2)"] == 2


def test_commands_that_fail_fail_as_without_the_tracer(tmp_path: Path) -> None:
    write(tmp_path, [["missing.py"], ["-m", "missing"], ["-c", "1 +"], ["-c"], ["-V"], ["child.txt"]])
    (tmp_path / "child.txt").write_text("if x\n", encoding="utf-8")
    plain = run(tmp_path, "parent.py")
    assert run(tmp_path, "-m", "typelattice", "trace", "parent.py").stdout == plain.stdout


def test_a_process_that_is_ended_leaves_its_run_if_it_can(tmp_path: Path) -> None:
    """One is ended by `terminate`, which it can answer, and one by `kill`."""
    waiting = "import time, {}; print(flush=True); time.sleep(60)"
    for number, ended in enumerate(("terminate", "kill"), 2):
        text = f"import numpy as np\nz = np.ones({number}) + 1\n"
        (tmp_path / f"{ended}.py").write_text(text, encoding="utf-8")
    (tmp_path / "parent.py").write_text(
        "import subprocess, sys\n"
        "for ended in ('terminate', 'kill'):\n"
        f"    p = subprocess.Popen([sys.executable, '-c', {waiting!r}.format(ended)], stdout=-1)\n"
        "    p.stdout.readline()\n    getattr(p, ended)()\n    assert p.wait() < 0\n",
        encoding="utf-8",
    )
    packages = ("--package", "terminate", "--package", "kill")
    run(tmp_path, "-m", "typelattice", "trace", *packages, "--json", "run.json", "parent.py")
    assert counts(tmp_path).get("np.ones(2) + 1") == 1
    assert "np.ones(3) + 1" not in counts(tmp_path)


def test_the_workers_of_xdist_are_followed(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "part.py").write_text(
        "import numpy as np\n\ndef twice(x):\n    return x * np.float64(2)\n", encoding="utf-8"
    )
    (tmp_path / "test_part.py").write_text(
        "import numpy as np, part, pytest\n\n"
        "@pytest.mark.parametrize('i', range(4))\ndef test_it(i):\n    part.twice(np.ones(2, np.float32))\n",
        encoding="utf-8",
    )
    words = ["-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-p", "no:typelattice"]
    ran = run(tmp_path, "-m", "typelattice", "trace", "--package", "part", "--json", "run.json", *words)
    assert counts(tmp_path)["x * np.float64(2)"] == 4, ran.stderr
    assert "4 passed" in ran.stdout and "in 3 processes" in ran.stderr


class Nobody:
    def save_settings(self) -> str:
        return "settings"


OTHERS = [["ls"], "python s.py", [3], [], [sys.executable, "-"], [sys.executable, "-i", "s.py"]]


@pytest.mark.parametrize("args", OTHERS)
def test_other_commands_stay_as_they_are(args: object) -> None:
    assert followed_command(args, Nobody()) is None


def test_options_of_python_are_told_from_the_arguments_of_its_target() -> None:
    found = read_command([sys.executable, "-OB", "-Wignore", "-X", "dev", "s.py", "-m", "x"])
    assert found is not None and (found.target, found.argv) == ("s.py", ("-m", "x"))
    assert found.options == ("-OB", "-Wignore", "-X", "dev")
