"""In IPython, places are numbered cells, and errors of the magic show no frame of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.live
Runner = Callable[[str], str]


@pytest.fixture
def run_cell(capsys: pytest.CaptureFixture[str]) -> Iterator[Runner]:
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell: Any = interactive.InteractiveShell.instance(colors="nocolor")

    def run(cell: str) -> str:
        shell.run_cell(cell, store_history=True)
        return "".join(capsys.readouterr())

    run("import numpy as np\nimport typelattice as tl\n%load_ext typelattice")
    run("w = np.ones(3)\n\ndef f(x):\n    return x * w")
    yield run
    interactive.InteractiveShell.clear_instance()


def test_a_place_is_a_line_of_a_cell_with_its_code(run_cell: Runner) -> None:
    said = run_cell("traced = tl.trace(f, np.ones(3, np.float32)); print(traced)")
    assert " 1  cell 2, line 4: x * w" in said and "ipython" not in said
    said = run_cell("print(tl.why(traced))")
    assert "because   cell 2, line 4: x * w" in said


def test_the_magic_counts_lines_from_its_own(run_cell: Runner) -> None:
    run_cell("%%dtypes torch\nx = np.ones(3, np.float32)\ny = x * w")
    said = run_cell("print(_)")
    assert " 1  cell 3, line 3: x * w" in said and "under torch" in said


@pytest.mark.parametrize(("cell", "error"), [
    ("%%dtypes nope\nx = 1", "UsageError: unknown system 'nope'"),
    (
        "%%dtypes --system torch\nx = 1",
        "UsageError: %%dtypes takes names of systems alone, and no option '--system'; write %%dtypes torch",
    ),
    ("%%dtypes 'a\nx = 1", """UsageError: %%dtypes: no closing quotation in "'a"; give names of systems"""),
    ("%%dtypes\nx = 1\nx = = 1", "UsageError: cell 3, line 3: invalid syntax: x = = 1"),
])  # fmt: skip
def test_an_error_of_the_magic_is_one_line(run_cell: Runner, cell: str, error: str) -> None:
    said = run_cell(cell)
    assert said.startswith(error) and said.count("\n") == 1


@pytest.mark.parametrize(("line", "error"), [
    ("x = missing", "NameError: name 'missing' is not defined"), ("f(1, 2)", "TypeError: f() takes 1"),
    ("tl.system('nope')", "UnknownSystemError: unknown system 'nope'"),
])  # fmt: skip
def test_an_error_of_a_cell_shows_the_cell_and_no_frame_of_the_magic(
    run_cell: Runner, line: str, error: str
) -> None:
    said = run_cell(f"%%dtypes\ny = 1\n{line}")
    assert error in said and f"----> 3 {line}" in said and "Cell In[3], line 3" in said
    assert "entry_points" not in said and "run_cell_magic" not in said
