"""Tables and diffs say what the systems say."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from samples import one_in

import typelattice as tl
from typelattice.base.rendering import GRID_FORMATS, Grid
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.show.cli.main import main
from typelattice.study.tables.study_scope import BeyondReachError
from typelattice.study.tables.table_labels import CODE_STYLES, short_label

SCALARS = ("int", "float", "complex")
own = """
name = "mine"
title = "<b>a</b> | *b* & `c`"
order = "posit8 -> f32"
[dtypes]
posit8 = { kind = "float", bits = 8, max = 16777216.0, values = "unknown", specials = "szn" }
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(own)
    return path


def codes(grid: Grid) -> list[str]:
    return [c.text for c in grid.columns]


@pytest.mark.parametrize("name", one_in(3, tl.systems(), 1))
def test_a_cell_is_what_the_system_explains(name: str) -> None:
    table = tl.table(name)
    for row in table.rows:
        for column in table.columns:
            p = table[row, column]
            assert [str(o) for o in p.operands] == [row, column]
            assert p.dtype is tl.system(name).explain(row, column).dtype


def test_columns_stand_in_the_order_of_the_documents() -> None:
    assert codes(tl.table("jax").grid()) == [
        "b",
        "u8",
        "u16",
        "u32",
        "u64",
        "i8",
        "i16",
        "i32",
        "i64",
        "bf16",
        "f16",
        "f32",
        "f64",
        "c64",
        "c128",
        "i*",
        "f*",
        "c*",
    ]


def test_small_dtypes_are_left_out_and_named_unless_asked_for() -> None:
    brief, full = tl.table("jax"), tl.table("jax", small=True)
    assert brief.left_out
    assert not full.left_out
    assert {d.name for d in brief.left_out} == set(full.columns) - set(brief.columns)
    assert all(d.code in str(brief).replace("\n  ", " ") for d in brief.left_out)


@pytest.mark.parametrize("format", GRID_FORMATS)
def test_no_format_leaves_out_small_dtypes_without_a_word(
    format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["table", "--system", "jax"], ["diff", "jax", "jax"]):
        assert main([*command, "--format", format]) == 0
        out, err = capsys.readouterr()
        assert "left out: " in " ".join((out + err).split())
        assert bool(err) == (format == "csv")


def test_a_system_of_ones_own_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(own.replace("posit8 -> f32", "posit8 -> f32; i8; i4 -> i8"))
    for shown in (tl.table(path), tl.diff(path, path).left):
        assert {"posit8", "int4"} <= {*shown.columns}
        assert shown.left_out == ()
    assert "i4" in tl.draw(path).svg
    assert "i4" in tl.draw("jax", path).svg
    assert "f8_e5m2" not in tl.draw("jax", path).svg.partition("left out")[0]


def test_python_scalars_that_everything_refuses_are_left_out() -> None:
    assert "int" not in tl.table("max-2024").columns
    assert "int" in tl.table("numpy").columns


def test_a_cell_is_found_by_operand_dtype_or_python_type() -> None:
    table = tl.table("jax")
    assert table["int8", "float"] is table[tl.dtype("int8"), float]
    with pytest.raises(KeyError, match="no cell int8, int128; rows are bool"):
        table["int8", "int128"]


def test_rows_are_of_the_tier_asked_for() -> None:
    array, zero, scalar = (tl.table("numpy", tier=tier) for tier in ("array", "0d", "scalar"))
    assert zero.rows == tuple(f"{d}:0d" for d in array.rows if d not in SCALARS)
    assert zero.columns == array.columns
    assert scalar.rows == ("True", *SCALARS)
    assert scalar.columns == tuple(d for d in array.columns if d not in SCALARS), (
        "two scalars are Python's to add"
    )


def test_tier_all_has_the_rows_of_every_tier_that_is_told_apart() -> None:
    assert tl.table("jax", tier="all").rows == tl.table("jax").rows
    apart = [tl.table("numpy1", tier=tier).rows for tier in ("array", "0d")]
    assert tl.table("numpy1", tier="all").rows == (*apart[0], *apart[1])
    assert tl.diff("numpy1", "numpy").left.rows == tl.table("numpy1", tier="all").rows


def test_a_diff_shows_the_best_known_changes_of_nep_50_unasked() -> None:
    """np.float32(3) + 3.0, and arrays beside arrays without dimensions
    (https://numpy.org/neps/nep-0050-scalar-promotion.html)."""
    d = tl.diff("numpy1", "numpy")
    answers = {pair: (str(d.left[pair].dtype), str(d.right[pair].dtype)) for pair in d.differing}
    assert answers["float32:0d", "float"] == ("float64", "float32")
    assert answers["float64:0d", "float32"] == ("float32", "float64")
    shown = d.grid()
    row, column = d.left.rows.index("float32:0d"), d.left.columns.index("float")
    assert shown.cells[row][column].text == "f64|f32"


def test_values_say_what_they_are() -> None:
    assert repr(tl.table("jax")) == "<table of jax: 18 rows, 18 columns>"
    assert repr(tl.table("jax", "sin")) == "<sin under jax: 18 rows, 1 columns>"
    assert repr(tl.diff("jax", "jax")) == "<diff of jax and jax: 0 of 324 cells differ>"
    assert repr(tl.consensus("numpy", "jax")).startswith("<consensus: 196 pairs under numpy, jax: ")
    assert repr(tl.laws("numpy")) == "<laws of numpy: 5 of 9 hold>"
    assert repr(tl.criteria("numpy")).startswith("<criteria of numpy: of 91 pairs: several bounds 3, ")


def test_more_operands_than_anyone_reads_are_refused_at_once() -> None:
    values = [f"int16:0d={i}" for i in range(301)]
    for asked in (tl.table, lambda s, dtypes: tl.consensus(s, "jax", dtypes=dtypes)):
        said = "numpy is asked of 301 operands, and at most 300 are taken together; name fewer with dtypes="
        with pytest.raises(BeyondReachError, match=said):
            asked("numpy", dtypes=values)
    assert len(tl.table("numpy", dtypes=values[:3]).columns) == 3


def test_refusals_are_marked_and_counted() -> None:
    table = tl.table("array-api", dtypes=["int8", "uint64"])
    assert [[c.text for c in row] for row in table.grid().cells] == [["i8", "-"], ["-", "u64"]]
    assert "- is a refusal: 2 of 4 cells" in str(table)


def test_weak_answers_bear_a_star() -> None:
    assert [c.text for row in tl.table("jax", dtypes=["bool", "int", "float"]).grid().cells for c in row] == [
        "b",
        "i*",
        "f*",
        "i*",
        "i*",
        "f*",
        "f*",
        "f*",
        "f*",
    ]


def test_byte_codes_are_numpys() -> None:
    native = {n for n in tl.table("numpy").columns if n not in ("int", "float", "complex")}
    for d in (tl.dtype(n) for n in native):
        assert np.dtype(short_label(d, "bytes")) == np.dtype(d.name)
    assert short_label(tl.dtype("bfloat16"), "bytes") == "bfloat16"


def test_codes_other_than_the_three_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown codes 'octets'; these are bits, bytes, names"):
        tl.table("numpy").grid("octets")


def test_an_operation_of_one_operand_has_one_column() -> None:
    t = tl.table("numpy", "sin", dtypes=["int8", "int32", "float32"])
    assert t.columns == ("sin",)
    assert [str(t[row, "sin"].dtype) for row in t.rows] == ["float16", "float64", "float32"]
    two = tl.diff("numpy", "jax", "sin", dtypes=["int8", "float32"])
    assert two.differing == (("int8", "sin"),)
    assert [[cell.text for cell in row] for row in two.grid().cells] == [["f16|f32"], ["f32"]]
    assert tl.consensus("numpy", "jax", op="sin", dtypes=["int8", "float32"]).pairs("contested") == (
        ("int8", "sin"),
    )
    with pytest.raises(tl.OpError, match="sin takes 1 operand, not 2; give one operand at a time"):
        tl.system("numpy").explain("int8", "int8", op="sin")


@pytest.mark.parametrize("given", [["no"], []])
def test_dtypes_that_are_none_are_refused(given: list[str]) -> None:
    with pytest.raises(tl.DTypeError):
        tl.table("numpy", dtypes=given)


def test_a_system_differs_from_itself_nowhere() -> None:
    for name in tl.systems():
        assert not tl.diff(name, name).differing


@pytest.mark.parametrize("op", [None, "add"])
def test_a_diff_counts_what_it_shows(op: str | None) -> None:
    d = tl.diff("numpy", "torch", op=op)
    shown = [c for row in d.grid().cells for c in row if "differs" in c.marks]
    assert len(d.differing) == len(shown)
    assert d.summary.startswith(f"{len(shown)} of {len(d.left.rows) * len(d.left.columns)} cells differ: ")
    assert sum(int(part.split()[0]) for part in d.summary.split(": ")[1].split(", ")) == len(shown)
    assert all(
        d.left[pair].dtype is not d.right[pair].dtype or d.left[pair].weak != d.right[pair].weak
        for pair in d.differing
    )


def test_a_diff_is_of_what_both_have() -> None:
    d = tl.diff("numpy", "torch")
    assert d.left.columns == d.right.columns
    assert set(d.left.columns) == set(tl.table("numpy").columns) & set(tl.table("torch").columns)


def test_systems_with_nothing_in_common_have_no_diff(tmp_path: Path) -> None:
    path = tmp_path / "lone.toml"
    path.write_text('name = "lone"\norder = "u3 -> i5"')
    with pytest.raises(tl.DTypeError, match="numpy and lone have no dtype in common"):
        tl.diff("numpy", path)


@pytest.mark.parametrize("make", [lambda path: tl.table(path), lambda path: tl.diff(path, "jax")])
@pytest.mark.parametrize("format", ["text", "markdown", "html", "csv", "json"])
def test_own_files_make_tables_whatever_their_titles(
    mine: Path, make: Callable[[Path], tl.Table], format: str
) -> None:
    shown = tl.render(make(mine), format)
    assert ("<b>" in shown) <= (format in ("text", "json"))


def test_own_dtypes_are_operands(mine: Path) -> None:
    assert tl.table(mine, dtypes=["posit8", "float32"])["posit8", "float32"].dtype is tl.dtype("float32")


@pytest.mark.parametrize("codes", CODE_STYLES)
def test_notebooks_show_html(codes: str) -> None:
    assert tl.table("numpy")._repr_html_().startswith('<div class="tl-grid">')
    assert tl.diff("numpy", "jax")._repr_html_().startswith('<div class="tl-grid">')
    assert len(tl.table("numpy").grid(codes).cells) == len(tl.table("numpy").rows)


def test_a_cell_shows_what_the_library_did_where_that_is_not_what_the_rule_says() -> None:
    table = tl.table("polars", op="pow", dtypes=["int32", "float32", "float64"])
    grid, departing = table.grid(), 0
    for row, cells in zip(table.rows, grid.cells, strict=True):
        for column, cell in zip(table.columns, cells, strict=True):
            p = table[row, column]
            o = find_recorded_answer(p)
            assert o
            given = (o if o.departs else p).dtype
            assert cell.text == (given.code if given else "-") + "!" * o.departs
            assert ("polars 2." in cell.tooltip_text) is o.departs
            departing += o.departs
    assert departing
    cells = len(table.rows) * len(table.columns)
    assert any(f"not what the rule says: {departing} of {cells} cells" in note for note in grid.notes)


def test_a_table_counts_the_cells_that_no_library_was_asked() -> None:
    table = tl.table("polars", op="hypot", dtypes=["int8", "float32"])
    unasked = sum(find_recorded_answer(p) is None for row in table.cells for p in row)
    assert unasked and any(f"by the rule alone: {unasked} of 4 cells" in note for note in table.grid().notes)
    assert not any("never asked" in note for note in tl.table("jep9407-3", dtypes=["int8"]).grid().notes)
