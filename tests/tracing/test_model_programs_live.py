"""Programs of models with a goal: clean ones have no finding, and a planted fault is the first finding.

A comment `# departs` marks the faulty line of a program in `model_programs/`, and `# goal:` or `# policy:`
says what is meant.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.live
pytest.importorskip("torch")
HERE = Path(__file__).parent
FOLDER = HERE / "model_programs"
DRIVER = FOLDER / "driver_of_models.py"
PROGRAMS = sorted({*FOLDER.glob("*.py")} - {DRIVER, FOLDER / "conftest.py"})
SOURCE = HERE.parents[1] / "src"


@cache
def answers() -> dict[str, Any]:
    command = [sys.executable, str(DRIVER), *map(str, PROGRAMS)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def faulty_lines(program: Path) -> list[int]:
    lines = program.read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# departs")]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_a_clean_program_has_no_finding_and_a_fault_is_the_first(program: Path) -> None:
    found, lines = answers()[program.stem], faulty_lines(program)
    assert not found["failure"]
    assert [line for line, _ in found["findings"][:1]] == lines, found["findings"]
    assert not found["others"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_the_log_has_every_operation_that_a_mode_of_the_dispatcher_sees(program: Path) -> None:
    found = answers()[program.stem]
    if "inference_mode" in program.read_text():  # larger operations were taken apart
        assert found["operations"] >= found["by_hand"]
    else:
        assert found["operations"] == found["by_hand"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_the_table_of_memory_equals_a_count_by_hand(program: Path) -> None:
    found = answers()[program.stem]
    if found["status"] == 0:
        assert found["kept"] == found["kept_by_hand"]
    assert found["peak"]


@pytest.mark.parametrize(
    "options", [(), ("--goal", "bfloat16", "--memory"), ("--values",)], ids=" ".join
)
def test_a_program_does_what_it_does_alone(options: tuple[str, ...], tmp_path: Path) -> None:
    program = str(FOLDER / "unchanged" / "uses_of_torch.py")
    report = str(tmp_path / "report")
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    alone, traced = (
        subprocess.run([sys.executable, *words], capture_output=True, timeout=300, env=environment)
        for words in ([program], ["-m", "typelattice", "trace", *options, "--output", report, program])
    )
    assert (traced.stdout, traced.stderr) == (alone.stdout, alone.stderr)
    assert traced.returncode == alone.returncode == 1
