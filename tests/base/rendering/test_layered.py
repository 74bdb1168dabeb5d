"""The layout of drawings: nodes apart, arrows to the right and around nodes, few crossings."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import one_in

import typelattice as tl
from typelattice.base.rendering.diagram import Arrow, Diagram, DrawingError, Link, Vertex
from typelattice.base.rendering.layout.layered import PlacedDiagram, Rect, lay_out

GRAPHS = json.loads((Path(__file__).parents[2] / "seeds/jep9407_graphs.json").read_text())["graphs"]
Pair = tuple[float, float]


def diagram(edges: list[tuple[int, int]], rows: list[float] | None = None, count: int = 0) -> Diagram:
    nodes = sorted({*range(count), *(v for edge in edges for v in edge)})
    vertices = tuple(Vertex(str(v), f"node {v}", rows[v] if rows else 0) for v in nodes)
    arrows = tuple(Arrow(str(a), str(b)) for a, b in dict.fromkeys(edges))
    return Diagram("", vertices, arrows, rows=tuple((r, str(r)) for r in sorted({*(rows or ())})))


def overlap(a: Rect, b: Rect) -> bool:
    return (
        abs(a.centre_x - b.centre_x) < (a.width + b.width) / 2 - 0.1
        and abs(a.centre_y - b.centre_y) < (a.height + b.height) / 2 - 0.1
    )


def check(drawn: PlacedDiagram) -> None:
    """What holds of every drawing."""
    units = [b.rect for b in drawn.boxes]
    members = {v for b in drawn.boxes for v in b.members}
    units += [n.rect for n in drawn.nodes if n.vertex.id not in members]
    assert not [(a, b) for a, b in combinations(units, 2) if overlap(a, b)], "two nodes overlap"
    for at in units:
        assert at.left >= -0.1 and at.right <= drawn.width + 0.1
        assert at.centre_y - at.height / 2 >= -0.1 and at.centre_y + at.height / 2 <= drawn.height + 0.1
    at = {n.vertex.id: n.rect for n in drawn.nodes}
    for box in drawn.boxes:
        at |= dict.fromkeys(box.members, box.rect)
    for edge in drawn.edges:
        ends = at[edge.sources[0]], at[edge.targets[0]]
        assert edge.points[0][1] == ends[0].centre_y and edge.points[-1][1] == ends[1].centre_y
        for (x1, y1), (x2, y2) in pairwise(edge.points):
            if y1 != y2:
                continue
            through = [
                r
                for r in units
                if r not in ends and r.left < max(x1, x2) - 0.2 and r.right > min(x1, x2) + 0.2
            ]
            assert not [r for r in through if abs(r.centre_y - y1) < r.height / 2], (
                "an arrow passes through a node"
            )


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[float] | None, int]:
    count = draw(st.integers(1, 14))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda p: p[0] < p[1])
    edges = draw(st.lists(pairs, max_size=24, unique=True)) if count > 1 else []
    rows = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5]), min_size=count, max_size=count))
    return edges, rows, count


@given(orders())
def test_nodes_stand_apart_and_arrows_lead_around_them_to_the_right(
    given: tuple[list[tuple[int, int]], list[float] | None, int],
) -> None:
    drawn = lay_out(diagram(*given))
    check(drawn)
    assert all(a[0] <= b[0] + 0.1 for e in drawn.edges for a, b in pairwise(e.points))


@given(orders())
@settings(max_examples=30)
def test_every_arrow_is_drawn_once(given: tuple[list[tuple[int, int]], list[float] | None, int]) -> None:
    made = diagram(*given)
    drawn = [(a, b) for e in lay_out(made).edges for a in e.sources for b in e.targets]
    assert sorted(drawn) == sorted((a.source, a.target) for a in made.arrows)


@pytest.mark.parametrize("name", one_in(3, tl.systems(), 2))
@pytest.mark.parametrize("small", [False, True])
def test_every_system_is_drawn_clean(name: str, small: bool) -> None:
    drawn = tl.draw(name, small=small).placed
    check(drawn)
    levels = [y for _, y in drawn.rows]
    assert levels == sorted(levels)
    across: dict[float, list[tuple[float, float]]] = {}
    for n in drawn.nodes:
        across.setdefault(n.rect.left, []).append((n.vertex.row, n.rect.centre_y))
    for column in across.values():
        ordered = sorted(column, key=lambda place: place[1])
        assert [row for row, _ in ordered] == sorted(row for row, _ in column), "a kind leaves its row"


@given(st.permutations(range(15)))
@settings(max_examples=30)
def test_a_tree_has_no_crossing_in_whatever_order_its_nodes_are_named(names: list[int]) -> None:
    edges = [(names[(i - 1) // 2], names[i]) for i in range(1, 15)]
    assert lay_out(diagram(edges)).crossings == 0


def test_the_same_diagram_is_laid_out_the_same_each_time() -> None:
    assert tl.draw("numpy-ml-dtypes", small=True).data() == tl.draw("numpy-ml-dtypes", small=True).data()


def crossing(a: Pair, b: Pair, c: Pair, d: Pair) -> bool:
    """Whether two straight lines cross between their ends, or one runs along a part of the other."""
    if {a, b} & {c, d}:
        return False

    def side(p: Pair, q: Pair, r: Pair) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: f"{len(g['covers'])} covers")
def test_no_more_arrows_cross_than_where_the_documents_placed_the_nodes_by_hand(
    graph: dict[str, dict],
) -> None:
    covers, places = graph["covers"], {node: tuple(at) for node, at in graph["positions"].items()}
    edges = [(a, b) for a, bs in covers.items() for b in bs]
    lines = [(places[a], places[b]) for a, b in edges]
    by_hand = sum(crossing(*one, *other) for one, other in combinations(lines, 2))
    rows = {"c": 0.0, "f": 1.0, "b": 1.0, "i": 2.0, "u": 3.0}
    vertices = tuple(Vertex(n, n, 2.5 if n == "i*" else rows.get(n[0], 1.0)) for n in places)
    arrows = tuple(Arrow(a, b) for a, b in edges)
    named = ((0.0, "complex"), (1.0, "float"), (2.0, "signed"), (3.0, "unsigned"))
    assert lay_out(Diagram("", vertices, arrows, rows=named)).crossings <= by_hand


def test_a_lattice_of_jax_has_no_crossing_and_numpys_has_those_of_two_covers() -> None:
    assert tl.draw("jax").placed.crossings == 0
    assert tl.draw("numpy").placed.crossings == 2


def test_a_long_arrow_takes_a_level_of_its_own_and_keeps_it() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    drawn = lay_out(diagram(edges, [0.0] * 5))
    (long,) = [e for e in drawn.edges if (e.sources, e.targets) == (("0",), ("4",))]
    bends = {y for _, y in long.points[2:-2]}
    assert len(bends) == 1 and bends.isdisjoint({n.rect.centre_y for n in drawn.nodes})


def test_what_leads_in_a_circle_is_drawn_with_an_arrow_that_goes_back() -> None:
    drawn = lay_out(diagram([(0, 1), (1, 2), (2, 0)]))
    check(drawn)
    back = [e for e in drawn.edges if e.points[0][0] > e.points[-1][0]]
    assert [(e.sources, e.targets) for e in back] == [(("2",), ("0",))]


def test_vertices_with_the_same_arrows_share_a_box_from_three_on() -> None:
    boxes = tl.draw("torch").placed.boxes
    assert [b.members for b in boxes] == [("uint16", "uint32", "uint64")]
    assert not lay_out(diagram([(0, 1), (0, 2)], [0.0] * 3)).boxes


def test_an_arrow_to_nowhere_and_two_vertices_of_one_name_are_refused() -> None:
    with pytest.raises(DrawingError, match="no arrow can lead from a to b"):
        Diagram("", (Vertex("a", "a"),), (Arrow("a", "b"),))
    with pytest.raises(DrawingError, match="two vertices of one name"):
        Diagram("", (Vertex("a", "a"), Vertex("a", "b")), ())
    with pytest.raises(DrawingError, match="no link can join a, b"):
        Diagram("", (Vertex("a", "a"),), (), (Link("tie", ("a", "b")),))
