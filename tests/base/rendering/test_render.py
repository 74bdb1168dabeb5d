"""Grids in every format: texts come out whole, and nothing in them is taken for markup."""
from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from random import Random
from textwrap import wrap

import pytest

from typelattice.base.rendering import GRID_FORMATS, Cell, Grid, render, terminal_output
from typelattice.base.rendering.grid import fold_text
from typelattice.base.rendering.text import split_columns, text

HOSTILE = '<script>alert("x")</script> & "q" a|b *c* _d_ \x1b[31m\n, `e` \\'


def grid(columns: int = 3, rows: int = 2, word: str = "cell") -> Grid:
    cells = tuple(
        tuple(Cell(f"{word}{i}{j}", ("float", "weak"), word) for j in range(columns)) for i in range(rows)
    )
    return Grid(
        word,
        tuple(Cell(f"{word}{j}") for j in range(columns)),
        tuple(Cell(f"row{word}{i}") for i in range(rows)),
        cells,
        (word,),
    )


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.classes: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.classes += [c for name, value in attrs if name == "class" for c in (value or "").split()]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("columns", [1, 2, 17, 18, 40])
def test_text_keeps_to_the_width_and_shows_every_cell(columns: int) -> None:
    shown = text(grid(columns), 60)
    assert max(map(len, shown.split("\n"))) <= 60
    assert all(
        shown.count(f"cell{i}{j} ") + shown.count(f"cell{i}{j}\n") for i in range(2) for j in range(columns)
    )


def test_a_column_wider_than_the_page_is_shown_all_the_same() -> None:
    assert "x" * 100 in text(Grid("", (Cell("a"),), (Cell("b"),), ((Cell("x" * 100),),)), 40)


def test_runs_share_columns_evenly() -> None:
    assert [len(r) for r in split_columns([5] * 18, 74)] == [9, 9]
    assert [len(r) for r in split_columns([5] * 3, 1)] == [1, 1, 1]


def test_colour_adds_nothing_but_codes() -> None:
    coloured = text(grid(), 80, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == text(grid(), 80)


@pytest.mark.parametrize("colour", [False, True])
def test_cells_marked_same_are_dots_in_text(colour: bool) -> None:
    shown = text(Grid("", (Cell("x"),), (Cell("y"),), ((Cell("f32", ("same",)),),)), colour=colour)
    assert "f32" not in shown
    assert "." in shown


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_no_text_controls_the_terminal(format: str) -> None:
    assert "\x1b" not in render(grid(word=HOSTILE), format)


def test_html_escapes_every_text_and_has_no_scripts() -> None:
    page = render(grid(word=HOSTILE), "html")
    tags = Tags()
    tags.feed(page)
    assert set(tags.tags) <= {"div", "style", "table", "caption", "thead", "tbody", "tr", "td", "th", "p"}
    assert '<script>alert("x")</script>' in "".join(tags.text)
    assert all(c.startswith("tl-") for c in tags.classes)


def test_html_classes_are_made_safe() -> None:
    page = render(Grid("", (Cell("a"),), (Cell("b"),), ((Cell("c", ('x" onclick="y',)),),)), "html")
    assert "onclick=" not in page


def test_html_folds_a_column_of_sentences_whole() -> None:
    short, long = Cell("short"), Cell("a sentence of more than forty characters, which may be folded")
    rows = ((short, short), (short, long))
    page = render(Grid("", (Cell("x"), Cell("y")), (Cell("a"), Cell("b")), rows), "html")
    folded = re.findall(r'<t[dh][^>]*class="tl-prose"[^>]*>([^<]*)<', page)
    assert folded == ["y", short.text, long.text]


def test_html_rules_are_scoped() -> None:
    style = render(grid(), "html").split("<style>")[1].split("</style>")[0]
    assert all(
        rule.strip().startswith(".tl-grid")
        for part in style.split("}")
        for rule in part.split("{")[0].split(",")
        if rule.strip()
    )


def test_markdown_has_as_many_bars_in_every_line() -> None:
    lines = [
        line.replace("\\|", "")
        for line in render(grid(word=HOSTILE), "markdown").split("\n")
        if line.startswith("|")
    ]
    assert {line.count("|") for line in lines} == {5}


def test_markdown_leaves_underscores_in_words_alone() -> None:
    assert "float8_e4m3fn" in render(grid(word="float8_e4m3fn"), "markdown")


def test_csv_reads_back() -> None:
    word = 'a,"b"\nc'
    rows = list(csv.reader(io.StringIO(render(grid(word=word), "csv"))))
    assert rows[0] == ["", *(f"{word}{j}" for j in range(3))]
    assert rows[2] == [f"row{word}1", *(f"{word}1{j}" for j in range(3))]


@pytest.mark.parametrize("cell", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", " =1", "=cmd|' /C calc'!A0", "-inf"])
def test_csv_cells_are_no_formulas(cell: str) -> None:
    rows = list(
        csv.reader(io.StringIO(render(Grid("", (Cell("a"),), (Cell("b"),), ((Cell(cell),),)), "csv")))
    )
    assert rows[1][1].startswith("'")
    assert rows[1][1].removeprefix("'") == cell.strip()


@pytest.mark.parametrize("cell", ["-", "-1", "-2.5", "f32", "f32|-", "-|f32", "-|f64*"])
def test_csv_leaves_numbers_and_refusals_as_they_are(cell: str) -> None:
    assert render(Grid("", (Cell("a"),), (Cell("b"),), ((Cell(cell),),)), "csv").endswith(f"b,{cell}")


def test_csv_controls_no_terminal() -> None:
    assert "\x1b" not in render(grid(word=HOSTILE), "csv")


def test_markdown_makes_no_links_formulas_or_mentions() -> None:
    shown = render(grid(word="see https://a.b/c www.a.b me@a.b @me $x$"), "markdown")
    assert "https\\://a.b" in shown
    assert "www\\.a.b" in shown
    assert "me<span>@</span>a.b <span>@</span>me <span>$</span>x<span>$</span>" in shown
    assert "://" not in shown.replace("\\://", "")


def test_json_reads_back() -> None:
    parts = json.loads(render(grid(word=HOSTILE), "json"))
    assert parts["cells"][1][2] == f"{HOSTILE}12"
    assert parts["marks"]["weak"] == [[i, j] for i in range(2) for j in range(3)]
    assert parts["notes"] == [HOSTILE]


@pytest.mark.parametrize("format", GRID_FORMATS)
def test_an_empty_grid_renders(format: str) -> None:
    shown = render(Grid("", (), (), ()), format)
    if format == "json":
        assert json.loads(shown)["cells"] == []
    else:
        assert shown.count("<td") <= 1  # the corner
        assert len(shown.rpartition("</style>")[2].splitlines()) < 12


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(ValueError, match="unknown format 'pdf'; these are text, markdown"):
        render(grid(), "pdf")
    with pytest.raises(ValueError, match=r"format 'markdwn' [(]did you mean markdown\?[)]; these are"):
        render(grid(), "markdwn")


@pytest.mark.parametrize("indent", ["", "  "])
def test_texts_fold_as_textwrap_folds_them(indent: str) -> None:
    rng = Random(0)
    for _ in range(2_000):
        words = ["x" * rng.choice((1, 2, 5, rng.randint(1, 30))) for _ in range(rng.randint(0, 9))]
        text, width = " ".join(words), rng.randint(5, 30)
        lines = wrap(text, width, subsequent_indent=indent) or [""]
        assert fold_text(text, width, indent) == [line.rstrip() for line in lines], (text, width)


def test_long_work_shows_lines_of_progress_where_nobody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(terminal_output, "monotonic", lambda: now)
    show = terminal_output.progress_bar()
    for done in range(25):
        show(done, 25, f"system {done}")
        now += 2
    show(25, 25, "")
    told = [f"progress: {done} of 25 done, system {done}\n" for done in (10, 20)]
    assert capsys.readouterr().err == "".join(told)
