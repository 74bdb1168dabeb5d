"""What notebooks show: every value as HTML and as a picture, without scripts, in light and dark."""

from __future__ import annotations

import io
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import typelattice as tl
from typelattice.base.rendering import Cell, Grid, terminal_output
from typelattice.base.rendering.grid_svg import grid_svg
from typelattice.core.system_files.reader import parse
from typelattice.study.designer import find_repairs

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("x")</script> & \' \x1b[31m'
PROGRAM = 'tl.program("a*2.0 + b", a="int32", b="float16")'
SHOWN = [  # what a cell of a notebook ends with, and a word that stands in it
    ('tl.system("numpy")', "NumPy 2"),
    ('tl.system("torch").order', "float16"),
    ('tl.Order.parse("a -> b -> d; a -> c -> d")', "d"),
    ('tl.system("numpy").explain("int8", "uint8")', "the file chooses int16"),
    ('tl.system("torch").explain("int32", "uint16")', "no tie says which one"),
    ('tl.explain("int64", "float16")', "numpy-ml-dtypes"),
    ('tl.table("jax", dtypes=["int8", "uint8", "float"])', "f*"),
    ('tl.diff("numpy", "jax", tier="array")', "cells differ"),
    ('tl.consensus("numpy", "jax", "torch", dtypes=["int8", "float32"])', "agreed"),
    ('tl.laws("numpy")', "associative"),
    ('tl.criteria("numpy")', "precision"),
    (PROGRAM, "a*2.0"),
    (f'{PROGRAM}.under("jax")', "float16"),
    ('tl.draw("numpy", "jax")', "jax adds"),
]
DESIGNED = [
    ('tl.design("jep9407-0", costs=["deference", "relations"])', "adds"),
    ('tl.design("jep9407-0", costs=["deference", "relations"])[0]', "jep9407-0"),
]


class Page(HTMLParser):
    """The tags and the texts of a fragment."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.open, self.text = set[str](), list[str](), ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("href", "src")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "tags that do not close in order"

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("code, word", SHOWN + DESIGNED, ids=[code for code, _ in SHOWN + DESIGNED])
def test_a_notebook_shows_it_as_html_and_as_a_picture(code: str, word: str) -> None:
    value = eval(code, {"tl": tl})
    page = Page(value._repr_html_())
    assert word in page.text and not page.open
    assert page.tags.isdisjoint({"script", "iframe", "img", "link", "object", "form", "input"})
    picture = ElementTree.fromstring(value._repr_svg_())
    assert picture.tag == f"{SVG}svg" and {e.tag for e in picture.iter()}.isdisjoint({f"{SVG}script"})
    assert "prefers-color-scheme: dark" in value._repr_svg_()  # by itself it has a ground of its own
    assert 'tl-ground"' not in value._repr_html_()  # within a page it has the page's


def test_repairs_show_what_they_change() -> None:
    assert "numpy" in Page(find_repairs("numpy", limit=2)._repr_html_()).text


def test_hostile_names_stay_text_in_notebooks() -> None:
    title = HOSTILE.replace("'", "").replace("\x1b", "")
    system = parse(f"name = 'mine'\ntitle = '{title}'\norder = 'i8 -> i16; u8 -> i16'")
    for value in (
        system,
        system.explain("int8", "uint8"),
        tl.table(system),
        tl.diff(system, "jax"),
        tl.laws(system),
    ):
        for text in (value._repr_html_(), value._repr_svg_()):
            assert text and "<script" not in text
    grid = Grid(
        HOSTILE,
        (Cell(HOSTILE, (HOSTILE,)),),
        (Cell(HOSTILE),),
        ((Cell(HOSTILE, (HOSTILE,), HOSTILE),),),
        (HOSTILE,),
    )
    tree = ElementTree.fromstring(grid_svg(grid))
    assert {e.tag.removeprefix(SVG) for e in tree.iter()} <= {"svg", "title", "style", "rect", "text"}
    assert "\x1b" not in grid_svg(grid)


def test_a_table_without_rows_is_a_picture_too() -> None:
    assert ElementTree.fromstring(grid_svg(Grid("empty", (Cell("a"),), (), ()))).tag == f"{SVG}svg"


def test_what_is_too_large_to_read_is_words() -> None:
    large = tl.Order({i: [] for i in range(1001)})
    assert "too many to read" in Page(large._repr_html_() or "").text
    assert large._repr_svg_() is None


def test_nothing_is_drawn_before_it_is_shown() -> None:
    program = "import sys, typelattice as tl; tl.system('jax').explain('int8', 'uint8'); "
    program += "print([m for m in sys.modules if 'typelattice.show.drawings' in m])"
    env = {"PYTHONPATH": str(Path(tl.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True
    )
    assert done.stdout.strip() == "[]"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(terminal_output.show_progress_of(["a", "b"], str.upper)) == ["a", "b"]
    assert "0/2 A" in stream.getvalue() and "1/2 B" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")  # and taken away in the end
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    list(terminal_output.show_progress_of(["a", "b"], str.upper))
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "of, said", [("agreement", "has no heat map of 'agreement'"), ("heat", "loss and width")]
)
def test_a_heat_map_that_a_table_has_not_is_an_error(of: str, said: str) -> None:
    with pytest.raises(tl.DrawingError, match=said):
        tl.heatmap(tl.table("jax", dtypes=["int8"]), of)


def test_a_heat_map_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for module in ("matplotlib.figure", "matplotlib.cm", "matplotlib.colors"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(tl.DrawingError, match="not here: pip install matplotlib"):
        tl.heatmap(tl.table("jax", dtypes=["int8"]))


@pytest.mark.live
def test_heat_maps_have_the_values_of_the_tables() -> None:
    table = tl.table("jax")
    (image,) = tl.heatmap(table, "loss").axes[0].images
    values = image.get_array()
    for i, row in enumerate(table.cells):
        for j, p in enumerate(row):
            assert bool(values[i, j]) == any(cast.loss for cast in p.casts)
    (image,) = tl.heatmap(tl.table("numpy", dtypes=["int8", "uint8"]), "width").axes[0].images
    assert image.get_array().tolist() == [[0, 8], [8, 0]]
    found = tl.diff("numpy", "jax", tier="array")
    (image,) = tl.heatmap(found).axes[0].images
    assert image.get_array().sum() == len(found.differing)


@pytest.mark.live
def test_a_notebook_runs_whole_and_shows_everything() -> None:
    nbformat = pytest.importorskip("nbformat")
    execute = pytest.importorskip("nbconvert.preprocessors")
    codes = [code for code, _ in SHOWN]
    codes.append('tl.heatmap(tl.table("jax", dtypes=["int8", "float16"]))')
    cells = [nbformat.v4.new_code_cell(code) for code in ("import typelattice as tl", *codes)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    execute.ExecutePreprocessor(timeout=120, kernel_name="python3").preprocess(notebook, {})
    assert {"text/plain", "image/svg+xml"} <= {*notebook.cells[-1].outputs[0].data}
    for cell in notebook.cells[1:-1]:
        (output,) = cell.outputs
        assert {"text/plain", "text/html", "image/svg+xml"} <= {*output.data}, cell.source
    page, _ = pytest.importorskip("nbconvert").HTMLExporter().from_notebook_node(notebook)
    assert page.count("tl-drawing") > len(codes) / 2 and page.count("tl-grid") > 3
