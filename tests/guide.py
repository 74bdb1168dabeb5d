"""CONTRIBUTING.md as tests follow it, to the letter: what it says to write, and a copy to write it into."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns("recordings", "__pycache__")


def files_in_the_guide(heading: str) -> Mapping[str, str]:
    """What a section says stands in files, or is added to them: path within the repository -> text."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"In\s+`(src/[^`]+)`:\n\n```\w+\n(.*?)```", section, re.DOTALL))


def copied(root: Path, heading: str) -> Path:
    """A copy of the package, without recordings, to which was added what a section says."""
    shutil.copytree(ROOT / "src" / "typelattice", root / "src" / "typelattice", ignore=LEFT_OUT)
    (root / "src" / "typelattice" / "core" / "evidence" / "recordings").mkdir()
    for path, text in files_in_the_guide(heading).items():
        with (root / path).open("a", encoding="utf-8") as file:
            file.write(text)
    return root


def python(house: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python run in a copy, whose package it imports."""
    env = os.environ | {"PYTHONPATH": str(house / "src"), "COLUMNS": "80"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=house, env=env, capture_output=True, text=True, timeout=120)
