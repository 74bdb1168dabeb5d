"""CONTRIBUTING.md is followed to the letter: a first change, a front end of the tracer, generated lists."""
from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from guide import ROOT, copied, python

PROGRAM = """
from typelattice.tracing.entry_points.block import followed_block
with followed_block("widening", systems=("torch",)):
    import widening
print(widening.total.dtype)
"""


def test_the_first_change_that_the_guide_shows_is_in_the_code_and_in_the_tests() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Where things are\n")[0]
    function = textwrap.dedent(re.findall(r"(?s)```python\n(.*?) *```", section)[0])
    (row,) = re.findall(r"(?m)^   \+(.*)$", section)
    source = ROOT / "src" / "typelattice" / "tracing" / "entry_points" / "script.py"
    assert function in source.read_text(encoding="utf-8")
    assert f"{row}\n" in (ROOT / "tests" / "tracing" / "test_tracing_command.py").read_text(encoding="utf-8")


def test_a_front_end_added_as_the_guide_says_follows_a_block(tmp_path: Path) -> None:
    house = copied(tmp_path / "house", "A new way into the tracer")
    module = house / "widening.py"
    module.write_text("import numpy as np\ntotal = np.ones(3, np.float32) + np.ones(3)\n", encoding="utf-8")
    done = python(house, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    assert " 1  widening.py:2: np.ones(3, np.float32) + np.ones(3)\n" in done.stdout
    assert done.stdout.endswith("float64\n")


@pytest.mark.parametrize("tool", [
    "drawings", "operands", "operations", "standard",
    *(pytest.param(name, marks=pytest.mark.whole) for name in ("findings", "laws")),  # of every system
])  # fmt: skip
def test_generated_pages_are_up_to_date(tool: str) -> None:
    command = [sys.executable, f"tools/{tool}.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
