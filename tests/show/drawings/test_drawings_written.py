"""Drawings as files: each format has all that is drawn, and what cannot be drawn is said in one line."""
from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.show.cli.main import main


def test_text_lists_the_arrows_that_it_does_not_draw() -> None:
    text = tl.draw("numpy").to("text")
    drawn = len(re.findall(r"-+>", text.partition("also")[0]))
    listed = re.search(r"(?s)also  (.*?)\n\n", text)
    assert listed
    others = sum(len(part.split("->")[1].split(",")) for part in " ".join(listed[1].split()).split(";"))
    assert drawn + others == len(tl.draw("numpy").placed.diagram.arrows)
    assert max(map(len, text.splitlines())) <= 80


def test_dot_and_mermaid_have_every_arrow() -> None:
    arrows = len(tl.draw("torch").placed.diagram.arrows)
    assert tl.draw("torch").to("dot").count(" -> ") == arrows + 1  # and a link
    assert tl.draw("torch").to("mermaid").count("-->") == arrows


def test_the_ending_of_a_file_chooses_its_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begins = {"svg": "<svg", "dot": "digraph", "gv": "digraph", "mmd": "%% ", "txt": "jax: ", "json": "{"}
    for ending, first in begins.items():
        assert main(["draw", "jax", "-o", str(tmp_path / f"x.{ending}")]) == 0
        assert (tmp_path / f"x.{ending}").read_text(encoding="utf-8").startswith(first)


def test_a_dash_for_a_file_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["draw", "jax", "-o", "-", "--format", "svg"]) == 0
    assert capsys.readouterr().out.rstrip() == tl.draw("jax").svg.rstrip()
    assert main(["record", "python", "-o", "-"]) == 2
    assert "a recording is not printed; name a file with -o" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_heat_map_as_text_has_a_sign_for_what_each_answer_loses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", "torch@2.13", "--heat", "loss", "--op", "divide"]) == 0
    _, _, heads, _, *rows = capsys.readouterr().out.splitlines()
    table = tl.table("torch@2.13", op="divide")
    assert heads.split()[2:] == [label.text for label in table.labels()[1]]
    for row, answers in zip(rows, table.cells, strict=False):
        for sign, p in zip(row.split()[2:], answers, strict=True):
            lost = [cast.loss for cast in p.casts if cast.loss]
            beyond = any(loss.magnitude or loss.sign or loss.imaginary for loss in lost)
            assert sign == ("-" if p.dtype is None else "!" if beyond else "~" if lost else "."), p
    file = tmp_path / "width.txt"
    assert main(["draw", "numpy", "--heat", "width", "-o", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    assert "+8" in text and ". as wide as the widest operand; +8 is 8 bits wider" in text
    capsys.readouterr()
    assert main(["draw", "numpy", "jax", "--heat", "agreement"]) == 0
    rows = [line.split("|")[1] for line in capsys.readouterr().out.splitlines()[4:] if "|" in line]
    assert sum(row.count("~") for row in rows) == len(tl.diff("numpy", "jax", tier="array").differing)


@pytest.mark.live
def test_a_png_shows_the_drawing() -> None:
    found = tl.draw("numpy").to_png(scale=2)
    width, height = struct.unpack(">II", found[16:24])
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', tl.draw("numpy").svg)
    assert found.startswith(b"\x89PNG") and size
    assert (width, height) == (round(2 * float(size[1])), round(2 * float(size[2])))
    assert len(found) > 20_000  # letters and lines, and not an empty sheet


def test_a_png_without_its_libraries_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    said = "needs resvg-py, which is not here: pip install resvg-py matplotlib"
    with pytest.raises(tl.DrawingError, match=said):
        tl.draw("python").to_png()


WRONG = [
    (["nope"], "unknown system 'nope'"),
    (["jax", "nope"], "unknown system 'nope'"),
    (["jax", "--highlight", "nope"], "nope"),
    (["jax", "numpy", "--highlight", "int8"], "leave out the other"),
    (["jax", "--op", "add"], "name some to highlight"),
    (["jax", "--format", "png"], "name a file with -o for a PNG, and for the picture of a heat map"),
    (["jax", "--heat", "loss", "--format", "svg"], "name a file with -o"),
    (["jax", "--heat", "agreement"], "agreement takes two systems"),
    (["jax", "--heat", "loss", "-o", "x.dot"], "written as .svg, .png or .txt"),
    (["jax", "--heat", "agreement", "-o", "x.svg"], "agreement takes two systems"),
    (["jax", "--heat", "loss", "--highlight", "int8", "-o", "x.svg"], "a heat map shows all pairs"),
    (["jax", "-o", "x.gif"], "no format ends in '.gif'"),
    (["jax", "-o", "x.pngg"], "no format ends in '.pngg' (did you mean png?)"),
    (["jax", "-o", "folder"], "'folder' has no ending; a format is known by one of .svg, "),
    (["jax", "-o", "nowhere/x.svg"], "cannot write"),
    (["jax", "numpy", "--program", "a"], "without OTHER, --highlight and --op"),
    (["jax", "--program", "a*"], "'a*' is no program"),
]


@pytest.mark.parametrize("argv, said", WRONG, ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_what_cannot_be_drawn_is_one_line(
    argv: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["draw", *argv]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and said in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "ask, said",
    [
        (lambda: tl.draw(3), "nothing to draw in an object of int; draw a system, an order"),
        (lambda: tl.draw("jax", codes="bites"), "unknown codes 'bites' (did you mean bits or bytes?)"),
        (lambda: tl.draw(tl.program("a", a="int8")), "a program is drawn under a system"),
        (lambda: tl.draw(tl.Order.parse("a -> b"), "jax"), "drawn by itself"),
        (lambda: tl.draw(tl.Order({1: ["1"]})), "print alike"),  # type: ignore[dict-item]
        (lambda: tl.draw("jax").to("gif"), "unknown format 'gif'; these are text, svg, png"),
        (lambda: tl.draw("jax").to("mermiad"), "unknown format 'mermiad' (did you mean mermaid?)"),
        (lambda: tl.draw("jax").to("png"), "to_png gives its bytes"),
        (lambda: tl.draw(tl.Order({i: [] for i in range(1001)})), "1,001 nodes and 0 arrows are too many"),
    ],
)
def test_python_says_in_one_error_what_cannot_be_drawn(ask: object, said: str) -> None:
    with pytest.raises(tl.DrawingError, match=re.escape(said)):
        ask()  # type: ignore[operator]
