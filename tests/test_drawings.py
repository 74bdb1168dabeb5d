"""What drawings show and say: orders, answers, two systems, programs; no format takes text for markup."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import typelattice as tl
from typelattice.cli.main import main
from typelattice.rendering.diagram import Arrow, Diagram, Link, Vertex
from typelattice.rendering.drawing import Drawing
from typelattice.rendering.layered import layered

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("x")</script> & \' "q" ]]> --> %%{init: {}}%% `b` \x1b[31m\\N \\" |"| #quot; end'


def marks(drawing: tl.Drawing) -> dict[str, set[str]]:
    return {n.vertex.id: {*n.vertex.marks} for n in drawing.placed.nodes}


def lit(drawing: tl.Drawing) -> set[tuple[str, str]]:
    edges = [e for e in drawing.placed.edges if "way" in e.arrow.marks]
    return {(a, b) for e in edges for a in e.sources for b in e.targets}


def hostile() -> Drawing:
    vertices = (
        Vertex(HOSTILE, HOSTILE, title=HOSTILE),
        Vertex("b", f"two\n{HOSTILE}", kind="float", marks=("weak",)),
    )
    arrows = (Arrow(HOSTILE, "b", title=HOSTILE, badge=HOSTILE),)
    links = (Link("tie", (HOSTILE, "b"), HOSTILE, HOSTILE),)
    return Drawing(HOSTILE, layered(Diagram(HOSTILE, vertices, arrows, links, ((0, HOSTILE),), (HOSTILE,))))


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


@pytest.mark.parametrize("name", tl.systems())
def test_every_system_is_drawn_with_all_its_covers(name: str) -> None:
    system = tl.system(name)
    drawing = tl.draw(name, small=True)
    covers = {(str(a), str(b)) for a in system.order.nodes for b in system.order.covers(a)}
    assert {(a, b) for e in drawing.placed.edges for a in e.sources for b in e.targets} == covers
    assert {n.vertex.id for n in drawing.placed.nodes} == {*map(str, system.order.nodes)}
    assert ElementTree.fromstring(drawing.svg).tag == f"{SVG}svg"
    assert json.loads(drawing.to("json"))["nodes"]


@pytest.mark.parametrize("name", tl.systems())
def test_arrows_lead_from_one_node_to_another_exactly_where_it_lies_above(name: str) -> None:
    order = tl.system(name).order
    diagram = tl.draw(name).placed.diagram
    drawn = tl.Order({v.id: [a.target for a in diagram.arrows if a.source == v.id] for v in diagram.vertices})
    nodes = {str(n): n for n in order.nodes if str(n) in drawn}
    assert all(drawn.le(a, b) == order.le(nodes[a], nodes[b]) for a in nodes for b in nodes)


def test_small_dtypes_are_left_out_and_what_lies_between_them_is_not() -> None:
    drawing = tl.draw("tinygrad")  # f* -> float8 -> float16
    arrows = {(a.source, a.target) for a in drawing.placed.diagram.arrows}
    assert ("f*", "float16") in arrows
    assert "left out: 4 small dtypes" in drawing.placed.diagram.notes[-1]


def test_a_tie_names_its_winner_and_what_is_undecided_has_none() -> None:
    ties = {frozenset(k.nodes): k.winner for k in tl.draw("numpy").placed.diagram.links}
    assert ties == {
        frozenset(map(str, bounds)): str(winner) for bounds, winner in tl.system("numpy").ties.items()
    }
    (fork,) = tl.draw("torch").placed.diagram.links
    assert (fork.mark, fork.winner, {*fork.nodes}) == ("fork", None, {"float16", "bfloat16"})
    assert tl.system("torch").explain("int32", "uint16").dtype is None


def test_nodes_of_pairs_that_the_file_refuses_bear_a_cross() -> None:
    system = tl.system("torch")
    refused = {str(n) for pair in system.refusals for n in pair}
    drawing = tl.draw("torch", small=True)
    assert {n for n, said in marks(drawing).items() if "refuses" in said} == refused
    assert drawing.svg.count('class="tl-cross"') == len(refused)
    assert any("an unsigned type other than uint8" in note for note in drawing.placed.diagram.notes)


def test_a_highlight_lights_both_ways_and_dims_the_bound_that_lost() -> None:
    drawing = tl.draw("numpy", highlight=["int8", "uint8"])
    assert lit(drawing) == {("int8", "int16"), ("uint8", "int16")}
    found = marks(drawing)
    assert found["int8"] == found["uint8"] == {"operand"} and found["int16"] == {"join"}
    assert found["float16"] == {"lost"} and found["float64"] == {"bound"} and found["bool"] == {"faded"}
    assert drawing.placed.diagram.title == "int8 with uint8 under numpy: int16"
    assert "tie: the file chooses int16; float16 lost" in drawing.placed.diagram.notes


@pytest.mark.parametrize(
    "system", ["numpy", "jax", "torch", "mlx", "array-api", "tensorflow-safe", "keras-jax", "c"]
)
def test_a_highlight_lights_covers_that_lead_to_the_join_of_every_pair(system: str) -> None:
    s = tl.system(system)
    for a in s.dtypes[:12]:
        for b in s.dtypes[:12]:
            p = s.explain(a, b)
            drawing = tl.draw(p)
            found = marks(drawing)
            joins = [n for n, said in found.items() if "join" in said]
            assert joins == ([str(p.node)] if p.node in s.order else []), p
            ways = lit(drawing)
            assert all(
                {"operand", "way"} & found[x] and {"operand", "way", "join"} & found[y] for x, y in ways
            )
            operands = {n for n, said in found.items() if "operand" in said and "join" not in said}
            assert not joins or operands <= {x for x, _ in ways} or p.op or system == "c", p


def test_a_highlight_shows_small_dtypes_that_take_part() -> None:
    assert marks(tl.draw("jax", highlight=["int4", "int8"]))["int4"] == {"operand"}


def test_the_layout_is_the_same_with_a_highlight() -> None:
    plain = {n.vertex.id: n.at for n in tl.draw("numpy").placed.nodes}
    assert {n.vertex.id: n.at for n in tl.draw("numpy", highlight=["int8", "uint8"]).placed.nodes} == plain


def test_two_systems_show_what_the_second_adds_and_drops() -> None:
    drawing = tl.draw("numpy", "jep9407-3")
    said = {(a.source, a.target): a.marks for a in drawing.placed.diagram.arrows}
    assert said["uint64", "float64"] == ("dropped",)
    assert said["int64", "f*"] == ("added",)
    assert said["uint8", "int16"] == ()
    assert marks(drawing)["bool"] == {"dropped"} and marks(drawing)["f*"] == {"weak", "added"}
    a, b = tl.system("numpy").order, tl.system("jep9407-3").order
    common = [n for n in a.nodes if n in b]
    dropped = [(x, y) for x in common for y in common if a.le(x, y) and not b.le(x, y)]
    (line,) = [note for note in drawing.placed.diagram.notes if "drops" in note]
    assert f"{len(dropped)} relations" in line and all(f"{x} -> {y}" in line for x, y in dropped)


def test_a_system_beside_itself_adds_and_drops_nothing() -> None:
    drawing = tl.draw("jax", "jax")
    assert not [a for a in drawing.placed.diagram.arrows if a.marks]
    assert [note for note in drawing.placed.diagram.notes if note.endswith("nothing")] == [
        "jax adds nothing",
        "jax drops nothing",
    ]


def test_a_program_marks_the_casts_that_lose() -> None:
    program = tl.program("(a*2.0 + b) / c", a="int32", b="float16", c="int64")
    drawing = tl.draw(program, "jax")
    casts = [c for c in program.casts("jax") if c.loss]
    assert len(casts) == 2
    lossy = {(int(a.source), int(a.target)) for a in drawing.placed.diagram.arrows if "lossy" in a.marks}
    assert lossy == {(c.operand, c.number) for c in casts}
    assert "int64 to float16: values beyond 65504 become inf" in "\n".join(drawing.placed.diagram.notes)
    assert drawing.svg == tl.draw(program.under("jax")).svg


def test_a_refused_step_is_marked_with_the_reason() -> None:
    drawing = tl.draw(tl.program("a + b", a="int32", b="uint16"), "torch")
    assert {"refused"} in marks(drawing).values()
    assert any(note.startswith("refused: a + b: ") for note in drawing.placed.diagram.notes)


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


def test_the_pictures_of_the_documents_are_what_is_drawn() -> None:
    tool = Path(__file__).parents[1] / "tools" / "drawings.py"
    env = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1])}
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, env=env)
    assert done.stderr == "" and done.returncode == 0


def test_a_png_without_its_libraries_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    said = "needs resvg-py, which is not here: pip install resvg-py matplotlib"
    with pytest.raises(tl.DrawingError, match=said):
        tl.draw("python").to_png()


@pytest.mark.live
def test_a_png_shows_the_drawing() -> None:
    found = tl.draw("numpy").to_png(scale=2)
    width, height = struct.unpack(">II", found[16:24])
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', tl.draw("numpy").svg)
    assert found.startswith(b"\x89PNG") and size
    assert (width, height) == (round(2 * float(size[1])), round(2 * float(size[2])))
    assert len(found) > 20_000  # letters and lines, and not an empty sheet


WRONG = [
    (["nope"], "unknown system 'nope'"),
    (["jax", "nope"], "unknown system 'nope'"),
    (["jax", "--highlight", "nope"], "nope"),
    (["jax", "numpy", "--highlight", "int8"], "leave out the other"),
    (["jax", "--op", "add"], "name some to highlight"),
    (["jax", "--format", "png"], "name a file with -o for a PNG, and for the picture of a heat map"),
    (["jax", "--heat", "loss", "--format", "svg"], "name a file with -o"),
    (["jax", "--heat", "agreement"], "agreement is of two systems"),
    (["jax", "--heat", "loss", "-o", "x.dot"], "written as .svg, .png or .txt"),
    (["jax", "--heat", "agreement", "-o", "x.svg"], "agreement is of two systems"),
    (["jax", "--heat", "loss", "--highlight", "int8", "-o", "x.svg"], "a heat map is of all pairs"),
    (["jax", "-o", "x.gif"], "no format ends in '.gif'"),
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
    assert main(["draw", "torch", "--heat", "loss", "--op", "divide"]) == 0
    _, _, heads, _, *rows = capsys.readouterr().out.splitlines()
    table = tl.table("torch", op="divide")
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


def test_the_ending_of_a_file_chooses_its_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begins = {"svg": "<svg", "dot": "digraph", "gv": "digraph", "mmd": "%% ", "txt": "jax: ", "json": "{"}
    for ending, first in begins.items():
        assert main(["draw", "jax", "-o", str(tmp_path / f"x.{ending}")]) == 0
        assert (tmp_path / f"x.{ending}").read_text(encoding="utf-8").startswith(first)


@pytest.mark.parametrize(
    "ask, said",
    [
        (lambda: tl.draw(3), "nothing to draw in an object of int; draw a system, an order"),
        (lambda: tl.draw("jax", codes="bites"), "unknown codes 'bites'"),
        (lambda: tl.draw(tl.program("a", a="int8")), "a program is drawn under a system"),
        (lambda: tl.draw(tl.Order.parse("a -> b"), "jax"), "drawn by itself"),
        (lambda: tl.draw(tl.Order({1: ["1"]})), "print alike"),  # type: ignore[dict-item]
        (lambda: tl.draw("jax").to("gif"), "unknown format 'gif'; these are text, svg, png"),
        (lambda: tl.draw("jax").to("png"), "to_png gives its bytes"),
        (lambda: tl.draw(tl.Order({i: [] for i in range(1001)})), "1,001 nodes and 0 arrows are too many"),
    ],
)
def test_python_says_in_one_error_what_cannot_be_drawn(ask: object, said: str) -> None:
    with pytest.raises(tl.DrawingError, match=re.escape(said)):
        ask()  # type: ignore[operator]
