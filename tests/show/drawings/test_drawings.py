"""What drawings show: orders, answers, two systems, programs."""

from __future__ import annotations

import json
from itertools import combinations_with_replacement
from xml.etree import ElementTree

import pytest
from samples import one_in

import typelattice as tl


def marks(drawing: tl.Drawing) -> dict[str, set[str]]:
    return {n.vertex.id: {*n.vertex.marks} for n in drawing.placed.nodes}


def lit(drawing: tl.Drawing) -> set[tuple[str, str]]:
    edges = [e for e in drawing.placed.edges if "way" in e.arrow.marks]
    return {(a, b) for e in edges for a in e.sources for b in e.targets}


# -- orders


@pytest.mark.parametrize("name", one_in(3, tl.systems()))
def test_every_system_is_drawn_with_all_its_covers(name: str) -> None:
    system = tl.system(name)
    drawing = tl.draw(name, small=True)
    covers = {(str(a), str(b)) for a in system.order.nodes for b in system.order.covers(a)}
    assert {(a, b) for e in drawing.placed.edges for a in e.sources for b in e.targets} == covers
    assert {n.vertex.id for n in drawing.placed.nodes} == {*map(str, system.order.nodes)}
    assert ElementTree.fromstring(drawing.svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert json.loads(drawing.to("json"))["nodes"]


@pytest.mark.parametrize("name", one_in(3, tl.systems(), 1))
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
    assert "--small" not in drawing.svg  # a picture stands where nobody can follow advice


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


# -- answers


def test_a_highlight_lights_both_ways_and_dims_the_bound_that_lost() -> None:
    drawing = tl.draw("numpy", highlight=["int8", "uint8"])
    assert lit(drawing) == {("int8", "int16"), ("uint8", "int16")}
    found = marks(drawing)
    assert found["int8"] == found["uint8"] == {"operand"} and found["int16"] == {"join"}
    assert found["float16"] == {"lost"} and found["float64"] == {"bound"} and found["bool"] == {"faded"}
    assert drawing.placed.diagram.title == "int8 with uint8 under numpy: int16"
    assert "tie: the file chooses int16; float16 lost" in drawing.placed.diagram.notes


@pytest.mark.parametrize(
    "system", one_in(3, ["numpy", "jax", "torch", "mlx", "array-api", "tensorflow-safe", "keras-jax", "c"], 1)
)
def test_a_highlight_lights_covers_that_lead_to_the_join_of_every_pair(system: str) -> None:
    s = tl.system(system)
    for a, b in combinations_with_replacement(s.dtypes[:12], 2):
        p = s.explain(a, b)
        drawing = tl.draw(p)
        found = marks(drawing)
        joins = [n for n, said in found.items() if "join" in said]
        assert joins == ([str(p.node)] if p.node in s.order else []), p
        ways = lit(drawing)
        assert all({"operand", "way"} & found[x] and {"operand", "way", "join"} & found[y] for x, y in ways)
        operands = {n for n, said in found.items() if "operand" in said and "join" not in said}
        assert not joins or operands <= {x for x, _ in ways} or p.op or system == "c", p


def test_a_highlight_shows_small_dtypes_that_take_part() -> None:
    assert marks(tl.draw("jax", highlight=["int4", "int8"]))["int4"] == {"operand"}


def test_the_layout_is_the_same_with_a_highlight() -> None:
    plain = {n.vertex.id: n.rect for n in tl.draw("numpy").placed.nodes}
    assert {n.vertex.id: n.rect for n in tl.draw("numpy", highlight=["int8", "uint8"]).placed.nodes} == plain


# -- two systems, and programs


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


IMAGES = "scaled = image / 255.0; standard = (scaled - MEAN) / SPREAD; np.sqrt(np.abs(standard))"


@pytest.mark.parametrize(("text", "bound", "ringed", "wide"), [
    (IMAGES, {"image": "float32", "MEAN": "float64", "SPREAD": "float64"}, {"scaled - MEAN"},
     {"MEAN", "SPREAD", "scaled - MEAN", "(scaled - MEAN) / SPREAD", "np.abs(standard)",
      "np.sqrt(np.abs(standard))"}),
    (IMAGES, {"image": "float32", "MEAN": "float32", "SPREAD": "float32"}, set(), set()),
    (IMAGES, {"image": "float32", "MEAN": "float32", "SPREAD": "float64"}, {"(scaled - MEAN) / SPREAD"},
     {"SPREAD", "(scaled - MEAN) / SPREAD", "np.abs(standard)", "np.sqrt(np.abs(standard))"}),
    ("x * w + x", {"x": "float32", "w": "complex128"}, {"x * w"}, {"w", "x * w", "x * w + x"}),
    ("x * c", {"x": "float32", "c": "complex64"}, set(), set()),
    ("x * 2.0", {"x": "int32"}, set(), set()),
    ("x.astype('float64') + 1", {"x": "float32"}, set(), set()),
])  # fmt: skip
def test_a_program_rings_the_step_that_widens_a_float(
    text: str, bound: dict[str, str], ringed: set[str], wide: set[str]
) -> None:
    drawing = tl.draw(tl.program(text, **bound), "numpy")
    text_of = {n.vertex.id: n.vertex.label.split("\n")[0] for n in drawing.placed.nodes}
    found = marks(drawing)
    assert {text_of[i] for i in found if "culprit" in found[i]} == ringed
    assert {text_of[i] for i in found if "wide" in found[i]} == wide
    assert drawing.svg.count('"tl-ring"') == len(ringed)
    assert bool(ringed) == any(note.startswith("ringed: ") for note in drawing.placed.diagram.notes)


def test_a_program_fits_a_telephone_with_its_whole_title() -> None:
    drawing = tl.draw(tl.program(IMAGES, image="float32", MEAN="float64", SPREAD="float64"), "numpy")
    root = ElementTree.fromstring(drawing.svg)
    assert float(root.attrib["width"]) <= 440
    titles = [str(each.text).strip() for each in root.iter() if each.get("class") == "tl-title"]
    assert " ".join(titles) == f"{IMAGES} under numpy"
    for edge in drawing.placed.edges:
        assert edge.points[0][1] < edge.points[-1][1]


def test_a_program_marks_the_casts_that_lose() -> None:
    program = tl.program("(a*2.0 + b) / c", a="int32", b="float16", c="int64")
    drawing = tl.draw(program, "jax")
    casts = [c for c in program.casts("jax") if c.loss]
    assert len(casts) == 2
    lossy = {(int(a.source), int(a.target)) for a in drawing.placed.diagram.arrows if "lossy" in a.marks}
    assert lossy == {(c.operand, c.step_number) for c in casts}
    assert "int64 to float16: values beyond 65504 become inf" in "\n".join(drawing.placed.diagram.notes)
    assert drawing.svg == tl.draw(program.under("jax")).svg


def test_a_refused_step_is_marked_with_the_reason() -> None:
    drawing = tl.draw(tl.program("a + b", a="int32", b="uint16"), "torch")
    assert {"refused"} in marks(drawing).values()
    assert any(note.startswith("refused: a + b: ") for note in drawing.placed.diagram.notes)


def test_a_repeated_expression_is_drawn_once() -> None:
    program = tl.program("sqrt(x*y + 1) / (x*y + 1) + x*y", x="float32", y="int32")
    for drawing in (tl.draw(program, "jax"), tl.draw(program, "numpy")):
        labels = [node["label"].partition("\n")[0] for node in drawing.data()["nodes"]]
        assert len(labels) == len({*labels}) and {"x", "y", "1", "x*y", "x*y + 1"} < {*labels}
    rebound = tl.program("def f(x):\n    y = x * 2\n    x = x + 1\n    return y + x * 2", x="float32")
    labels = [node["label"].partition("\n")[0] for node in tl.draw(rebound, "numpy").data()["nodes"]]
    assert labels.count("x * 2") == 2


def test_two_systems_have_a_legend_of_what_is_drawn() -> None:
    assert "blue and thick: jax alone has it" in tl.draw("numpy", "jax").svg
    assert "alone has it" not in tl.draw("numpy", "numpy").svg


def test_no_tie_crosses_the_drawing() -> None:
    drawing = tl.draw("numpy-ml-dtypes", small=True).data()
    at = {node["id"]: node["x"] for node in drawing["nodes"]}
    across = [(one["path"], [at[n] for n in one["nodes"]]) for one in drawing["links"]]
    far = [path for path, places in across if max(places) - min(places) > 500]
    assert far and all(" L " not in path and " C " not in path for path in far)
