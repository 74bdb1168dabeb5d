"""No format of drawings takes text for markup."""
from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from typelattice.base.rendering.diagram import Arrow, Diagram, Link, Vertex
from typelattice.base.rendering.drawing import Drawing
from typelattice.base.rendering.layout.layered import lay_out
from typelattice.show.cli.main import main

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("x")</script> & \' "q" ]]> --> %%{init: {}}%% `b` \x1b[31m\\N \\" |"| #quot; end'


def hostile() -> Drawing:
    vertices = (
        Vertex(HOSTILE, HOSTILE, tooltip=HOSTILE),
        Vertex("b", f"two\n{HOSTILE}", kind="float", marks=("weak",)),
    )
    arrows = (Arrow(HOSTILE, "b", tooltip=HOSTILE, badge=HOSTILE),)
    links = (Link("tie", (HOSTILE, "b"), HOSTILE, HOSTILE),)
    return Drawing(HOSTILE, lay_out(Diagram(HOSTILE, vertices, arrows, links, ((0, HOSTILE),), (HOSTILE,))))


def test_hostile_names_stay_text_in_svg_and_html() -> None:
    for text in (hostile().svg, hostile()._repr_html_()):
        tree = ElementTree.fromstring(text)
        tags = {element.tag.removeprefix(SVG) for element in tree.iter()}
        assert tags <= {"div", "svg", "g", "rect", "path", "circle", "text", "title", "style"}
        assert not [a for e in tree.iter() for a in e.attrib if a.startswith("on") or "href" in a]
        assert "\x1b" not in text
        assert '<script>alert("x")</script>' in "".join(tree.itertext())


def test_hostile_names_stay_strings_in_dot() -> None:
    dot = hostile().to("dot")
    rest = re.sub(r'"(?:\\.|[^"\\])*"', "S", dot)  # what is left without the strings
    assert not set(rest) & set('<>&`\x1b"') - {">"} and "script" not in rest
    assert rest.count("{") == rest.count("}") == 1
    assert re.sub(r"\\(.)", r"\1", re.findall(r'"(?:\\.|[^"\\])*"', dot)[0])[1:-1].startswith(
        '<script>alert("x")'
    )


def test_hostile_names_stay_labels_in_mermaid() -> None:
    comment, *lines = hostile().to("mermaid").splitlines()
    assert comment.startswith("%% ") and "{" not in comment
    for line in lines:
        inside = "".join(re.findall(r'"([^"]*)"', line)).replace("<br/>", "")
        assert not set(inside) & set("<>&'`|{}\\%\x1b"), line
        assert line.count('"') % 2 == 0


def test_hostile_names_in_a_file_stay_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("name = 'mine'\ntitle = '<script>alert(1)</script>'\norder = 'i8 -> i16'\n")
    assert main(["draw", str(file), "--format", "svg"]) == 0
    assert "<script" not in capsys.readouterr().out
