"""The command line as a whole: help, examples, what fits in a terminal, and what is shown of systems."""
from __future__ import annotations

import gc
import io
import re
import shlex
import sys
import tomllib
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from command_line import MINE, own_file, said, sampled
from forked import fork_libraries
from samples import one_in

import typelattice as tl
from typelattice.base.rendering import GRID_FORMATS
from typelattice.core.operations.operations import OPERATIONS
from typelattice.show.cli import commands
from typelattice.show.cli.main import COMMAND_NAMES, find_command, main
from typelattice.study.tables.tables import Table, table

SYSTEMS = tl.systems()
OF_FILES = (  # commands that ask for files, libraries, a checker or an editor, or judge what they find
    "conform", "compare", "record", "watch", "trace", "runs", "fix", "lint", "check", "lsp", "stubs",
    "survey", "agree", "port", "tune",
)  # fmt: skip

FEW = {"emit": [("--ops", "add,divide")], "agree": [("--programs", "4"), ("--ways", "table,namespace")]}
LONG = ("conform", "emit", "laws", "stubs", "watch")  # whose examples take more than half of the time


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--version") == f"typelattice {tl.__version__}\n"


@pytest.mark.parametrize("argv", [[], ["--help"]])
def test_help_shows_a_command(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    assert "\n  typelattice explain " in said(capsys, *argv)


@pytest.mark.parametrize("name", COMMAND_NAMES)
def test_help_of_a_command_has_examples_of_it_and_its_exit_status(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    page = said(capsys, name, "--help")
    assert f"\nexamples:\n  typelattice {name}" in page
    assert f"\nexit status:\n  {find_command(name).exit_status}\n" in page


def test_each_module_of_a_command_has_one_place_in_the_help() -> None:
    assert sorted(COMMAND_NAMES) == sorted(module.name for module in iter_modules(commands.__path__))


def test_explain_lists_the_operations(capsys: pytest.CaptureFixture[str]) -> None:
    listed = said(capsys, "explain", "--list-ops").partition(":\n")[2]
    assert {name.strip() for name in listed.split(",")} == {*OPERATIONS}
    assert main(["explain"]) == 2
    assert "arguments are required: OPERAND" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.whole) if name in LONG else name for name in COMMAND_NAMES]
)
def test_every_example_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    # The server would never end.
    monkeypatch.setattr("typelattice.show.cli.commands.explore.serve", lambda at, port, ready: None)
    if name in ("conform", "record", "watch"):
        sampled(monkeypatch)
    fork_libraries(monkeypatch)
    monkeypatch.setattr("typelattice.repair.copies.progress.QUIET_SECONDS", 1e9)  # the machine may be slow
    for example in map(shlex.split, find_command(name).examples):
        if name in OF_FILES and "pytest" in example:
            continue  # it writes to standard error by itself
        # Tests of their own write all operations, and ask many programs in each way.
        few = [word for pair in FEW.get(name, ()) if pair[0] not in example for word in pair]
        example = [*(word.replace("1000", "4") for word in example), *few]
        if name in OF_FILES:
            status, told = main([name, *example]), capsys.readouterr()
            assert status in (0, 1, 2) and len(told.err.splitlines()) == (status == 2)
            assert told.err or told.out
        else:
            said(capsys, name, *example)


def test_options_may_stand_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    orders = ("int8 --system jax uint8", "--system jax int8 uint8", "int8 uint8 --system jax")
    assert len({said(capsys, "explain", *argv.split()) for argv in orders}) == 1


@pytest.mark.parametrize("argv", [
    "explain float32 -1e39", "explain -- float32 -1e39", "explain float32 --system jax -- -1e39",
])  # fmt: skip
def test_negative_numbers_are_operands(capsys: pytest.CaptureFixture[str], argv: str) -> None:
    assert "-1e+39" in said(capsys, *argv.split())


def test_the_project_file_names_the_command() -> None:
    project = Path(__file__).parents[3] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text())["project"]["scripts"]
    assert scripts == {"typelattice": "typelattice.show.cli.main:main"}


# -- what is printed


@pytest.mark.parametrize("argv", [
    "", "systems", "explain int64 float16", "explain uint8 300 1e39 2j float64:0d=1.5",
    *one_in(5, [f"explain uint8 int64 float --system {name}" for name in SYSTEMS]),
    *one_in(5, [f"explain bool uint16 bfloat16 --op where --system {name}" for name in SYSTEMS], 1),
    *one_in(9, [f"table --small --codes names --system {name}" for name in SYSTEMS], 2),
    *one_in(4, [f"diff jax {name}" for name in ("numpy-ml-dtypes", "torch", "tensorflow-all", "polars")]),
    *one_in(9, [f"check {name}" for name in SYSTEMS], 3), *(f"{name} --help" for name in COMMAND_NAMES),
])  # fmt: skip
def test_lines_keep_to_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, argv: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, said(capsys, *argv.split()).split("\n"))) <= 80


def test_what_the_stream_cannot_encode_is_escaped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = own_file(tmp_path)
    Path(mine).write_text(MINE.replace("My own", "Ünïcødé"), encoding="utf-8")
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["check", mine]) == 0
    stream.flush()
    assert b"\\xdcn\\xefc\\xf8d\\xe9" in written.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, True), ({"FORCE_COLOR": "1", "TERM": "dumb"}, True), ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False), ({"TERM": "dumb"}, False),
    ],
)
def test_colour_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    for name, value in {"NO_COLOR": "", "TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(["diff", "numpy", "jax"]) == 0
    assert ("\x1b[" in sys.stdout.getvalue()) == coloured  # type: ignore[attr-defined]


def test_systems_are_listed_with_own_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = own_file(tmp_path)
    lines = said(capsys, "systems", mine).split("\n")
    assert [line.split()[0] for line in lines if line and line[0] != " "] == [*SYSTEMS, "mine"]


@pytest.mark.parametrize("format", GRID_FORMATS)
def test_table_in_every_format(capsys: pytest.CaptureFixture[str], format: str) -> None:
    dtypes = ("--dtypes", "int8,uint8 float", "--codes", "names")
    shown = said(capsys, "table", "--system", "jax", "--format", format, *dtypes)
    assert "int16" in shown


def test_byte_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert re.search(r" i1 +\| +i1 +i2", said(capsys, "table", "--codes", "bytes", "--dtypes", "int8,uint8"))


@pytest.mark.parametrize("enabled", [True, False])
def test_a_table_is_made_without_the_garbage_collector_which_then_is_as_it_was(
    monkeypatch: pytest.MonkeyPatch, enabled: bool
) -> None:
    def uncollected(system: str, **options: Any) -> Table:
        assert not gc.isenabled()
        return table(system, **options)

    monkeypatch.setattr(tl, "table", uncollected)
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert main(["table"]) == 0
        assert gc.isenabled() == enabled
        assert main(["table", "--system", "nowhere"]) == 2
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_diff_shows_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "diff", "numpy", "jax", "--dtypes", "int64,float32")
    assert "f64|f32" in shown
    assert "2 of 4 cells differ: 2 another dtype" in shown


@pytest.mark.parametrize("name", ["jax", "numpy", "torch"])
def test_check_counts_the_pairs_without_a_join(capsys: pytest.CaptureFixture[str], name: str) -> None:
    from itertools import combinations

    order = tl.system(name).order
    pairs = list(combinations(order.nodes, 2))
    none = sum(order.join(*pair) is None for pair in pairs)
    assert f"no join       {none} of {len(pairs)} pairs" in said(capsys, "check", name)


def test_help_of_a_command_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "help", "explain") == said(capsys, "explain", "--help")
