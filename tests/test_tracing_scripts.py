"""A script that is followed finds itself as Python would have started it, and ends as it would have ended."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
import zipapp
from pathlib import Path

import pytest

import typelattice as tl

MAIN = """
import sys
import numpy as np
x = np.ones(3, np.float32) * np.float64(2)
for name in ("annotations", "builtins", "cached", "doc", "file", "name", "package"):
    name = f"__{name}__"
    print(name, type(globals()[name]), str(globals()[name])[:100])
print(__loader__.__class__.__mro__[-5:], __spec__ and (__spec__.name, __spec__.origin), sys.argv, sys.path)
"""


def ran(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """What Python makes of words, in a folder."""
    variables = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1]), **settings}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=variables, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def both(folder: Path, *words: str, **settings: str) -> list[subprocess.CompletedProcess[str]]:
    """What Python makes of a script, by itself and followed."""
    return [ran(folder, *before, *words, **settings) for before in ((), ("-m", "typelattice", "trace"))]


@pytest.mark.parametrize("safe", ["", "1"])
@pytest.mark.parametrize("words", [("main.py", "a"), ("app", "a"), ("app.pyz", "-x"), ("-m", "app", "a")])
def test_the_main_module_is_what_python_makes_it(tmp_path: Path, words: tuple[str, ...], safe: str) -> None:
    (tmp_path / "app").mkdir()
    for file in ("main.py", "app/__main__.py"):
        (tmp_path / file).write_text(MAIN, encoding="utf-8")
    zipapp.create_archive(tmp_path / "app")
    plain, followed = both(tmp_path, *words, PYTHONSAFEPATH=safe, PYTHONDONTWRITEBYTECODE="1")
    if safe and words[0] == "-m":
        assert plain.returncode and "there is no module app" in followed.stderr
        return
    assert plain.returncode == followed.returncode == 0, followed.stderr
    assert followed.stdout == plain.stdout
    assert "\n 1  " in followed.stderr and "np.ones(3, np.float32) * np.float64(2)" in followed.stderr


def test_compiled_code_is_refused_and_its_source_asked_for(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print(1)\n", encoding="utf-8")
    (tmp_path / "app").mkdir()
    for made in ("main.pyc", "app/__main__.pyc"):
        py_compile.compile(str(tmp_path / "main.py"), str(tmp_path / made))
    for word in ("main.pyc", "app"):
        plain, followed = both(tmp_path, word)
        assert (plain.stdout, followed.stdout, followed.returncode) == ("1\n", "", 2)
        assert "compiled code, of which nothing can be followed; trace the source" in followed.stderr
