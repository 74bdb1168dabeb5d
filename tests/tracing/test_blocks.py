"""Blocks and cells of notebooks are followed, and functions are as they were afterwards."""

from __future__ import annotations

import linecache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import typelattice as tl
from typelattice.tracing.entry_points.followed_functions import Traced


def halved(x: Any) -> Any:
    return x * np.float64(0.5)


def test_a_block_follows_the_functions_of_its_file() -> None:
    code = halved.__code__
    with tl.trace(systems=["torch"]) as block:
        y = halved(np.ones(3, np.float32))
    assert halved.__code__ is code
    assert [step.text for step in block.run.program.steps if step.op == "multiply"] == ["x * np.float64(0.5)"]
    assert str(tl.why(block, "y").dtype) == "float64" == y.dtype.name
    assert "under torch 1 place would differ" in str(block) and "<h2" in block._repr_html_()


def test_a_block_follows_packages_imported_before_and_within_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "blockpkg"
    package.mkdir()
    for name in ("__init__", "early", "late"):
        (package / f"{name}.py").write_text("def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import blockpkg.early  # type: ignore[import-not-found]

    with tl.trace(package="blockpkg") as block:
        import blockpkg.late  # type: ignore[import-not-found]

        blockpkg.early.f(np.ones(2))
        blockpkg.late.f(np.ones(2))
    files = {Path(step.location.file).stem for step in block.run.program.steps if step.location}
    assert {"early", "late"} <= files


def test_a_block_has_no_run_before_its_end() -> None:
    with tl.trace() as block, pytest.raises(tl.TraceError, match="the block has not ended"):
        str(block)


def test_a_cell_of_a_notebook_shows_its_report() -> None:
    magics: dict[str, Any] = {}
    shell = SimpleNamespace(
        user_ns={"np": np}, register_magic_function=lambda f, kind, name: magics.update({name: f})
    )
    tl.load_ipython_extension(shell)
    shown = magics["dtypes"]("torch", "x = np.ones(3, np.float32)\ny = x * np.ones(3)\n")
    assert isinstance(shown, Traced) and shell.user_ns["y"].dtype == np.float64
    assert "floats were widened from 1 place" in str(shown) and "<h2" in shown._repr_html_()
    with pytest.raises(SyntaxError):
        magics["dtypes"]("", "x = (")


def test_values_of_runs_are_short_in_a_console_and_html_in_a_notebook() -> None:
    def halved(x: Any) -> Any:
        return x * 0.5

    traced = tl.trace(halved, np.ones(9_000, np.float32), systems=["torch"])
    replay = traced.run.under("torch")
    for value in (traced, traced.run, traced.run.program, replay, tl.why(traced)):
        assert len(repr(value)) < 100 and "\n" not in repr(value)
        page = str(value._repr_html_())
        assert "<" in page and "\ufffd" not in page  # which stands for characters that cannot be printed
    assert repr(traced.run) == f"<run of 1 operation with {traced.run.systems['numpy']}>"
    assert repr(tl.trace(package="json")) == "<a followed block that has not ended>"


def test_a_function_of_a_cell_is_followed_with_those_of_other_cells() -> None:
    names: dict[str, Any] = {"np": np, "__name__": "__main__"}
    cells = ("def doubled(x):\n    return x * np.float64(2)\n", "def both(x):\n    return doubled(x) + 1\n")
    for i, cell in enumerate(cells):
        file = f"<cell {i}>"
        linecache.cache[file] = len(cell), None, cell.splitlines(keepends=True), file
        exec(compile(cell, file, "exec"), names)
    code = names["doubled"].__code__
    traced = tl.trace(names["both"], np.ones(3, np.float32))
    assert names["doubled"].__code__ is code and not traced.run.opaque
    assert [step.text for step in traced.run.program.steps if step.op == "multiply"] == ["x * np.float64(2)"]
