"""A diagram laid out in layers from left to right, or downwards: places of its nodes, paths of its arrows.

The method is that of Sugiyama, Tagawa and Toda (1981): columns, then an order in each column with few
crossings, then heights. The functions are pure: the same diagram has the same layout each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil

from typelattice.base.objects.frozen_classes import frozen, replace
from typelattice.base.rendering.diagram import Arrow, Diagram, Link, Vertex, group_vertices
from typelattice.base.rendering.grid import printable
from typelattice.base.rendering.layout.node_columns import assign_columns, break_cycles
from typelattice.base.rendering.layout.node_heights import compute_levels
from typelattice.base.rendering.layout.node_order import add_bends, untangle

# width of a letter and height of a line, in a monospaced font of 13 pixels
LETTER_WIDTH, LINE_HEIGHT = 7.83, 17.0
LABEL_PADDING, MIN_NODE_WIDTH = 8.0, 40.0  # space in a node on each side of its label; least width of a node
BOX_MEMBER_GAP = 6.0  # between the members of a box
# between columns; how much wider for each pixel that an arrow rises there
COLUMN_GAP, EXTRA_GAP_PER_RISE = 30.0, 0.22
SAME_POINT_DISTANCE = 0.5
MAX_BOX_WIDTH = 640  # a box may be wider if it would be too tall otherwise
MAX_MEMBERS_PER_COLUMN = 5  # members of a box in one column; more get a second column

Point = tuple[float, float]


@frozen()
class Rect:
    """A rectangle by its middle."""

    centre_x: float
    centre_y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.centre_x + self.width / 2

    @property
    def left(self) -> float:
        return self.centre_x - self.width / 2


@frozen()
class PlacedNode:
    """A vertex where it is drawn."""

    vertex: Vertex
    rect: Rect


@frozen()
class NodeGroup:
    """Several nodes with the same arrows, drawn as members of one box."""

    members: tuple[str, ...]
    kind: str
    rect: Rect


@frozen()
class PlacedEdge:
    """An arrow where it is drawn: from each of `sources` to each of `targets`, through `points`.

    Between two points of the same height the path is straight, else a curve with level ends. If the drawing
    flows down, the ends of curves are upright.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    points: tuple[Point, ...]
    arrow: Arrow


@frozen()
class PlacedDiagram:
    """A diagram with coordinates, in pixels from the upper left, and how many arrows cross."""

    diagram: Diagram
    width: float
    height: float
    nodes: tuple[PlacedNode, ...]
    boxes: tuple[NodeGroup, ...]
    edges: tuple[PlacedEdge, ...]
    rows: tuple[tuple[str, float], ...]
    crossings: int

    def replace_marks(
        self,
        title: str,
        nodes: Mapping[str, tuple[str, ...]],
        edges: Callable[[PlacedEdge], tuple[str, ...]],
        links: Sequence[Link],
        notes: Sequence[str],
    ) -> PlacedDiagram:
        """Return the drawing with more marks on nodes and edges, and another title, links and notes."""
        shown = tuple(
            replace(n, vertex=replace(n.vertex, marks=(*n.vertex.marks, *nodes.get(n.vertex.id, ()))))
            for n in self.nodes
        )
        lines = tuple(
            replace(e, arrow=replace(e.arrow, marks=(*e.arrow.marks, *edges(e)))) for e in self.edges
        )
        placed = replace(self, nodes=shown, edges=lines)
        ways = {(a, b): e.arrow.marks for e in lines for a in e.sources for b in e.targets}
        arrows = tuple(replace(a, marks=ways[a.source, a.target]) for a in self.diagram.arrows)
        vertices = tuple(n.vertex for n in shown)
        rows, flows_down = self.diagram.rows, self.diagram.flows_down
        diagram = Diagram(title, vertices, arrows, tuple(links), rows, tuple(notes), flows_down)
        return replace(placed, diagram=diagram)


def lay_out(diagram: Diagram) -> PlacedDiagram:
    """Return a diagram with coordinates.

    A diagram that flows down is laid out from left to right with turned nodes, and then turned itself.

    >>> drawn = lay_out(Diagram("", (Vertex("a", "a"), Vertex("b", "b")), (Arrow("a", "b"),)))
    >>> [(n.vertex.id, n.rect.centre_x, n.rect.centre_y) for n in drawn.nodes], drawn.crossings
    ([('a', 20.0, 13.0), ('b', 90.0, 13.0)], 0)
    """
    groups = group_vertices(diagram)
    known = {v.id: v for v in diagram.vertices}
    group_of_vertex = {each: i for i, group in enumerate(groups) for each in group}
    arrows = {(group_of_vertex[a.source], group_of_vertex[a.target]): a for a in diagram.arrows}
    edges = break_cycles(len(groups), list(arrows))
    column = _separate_lone_nodes(assign_columns(len(groups), edges), edges)
    tall = MAX_MEMBERS_PER_COLUMN if edges else 1  # without arrows, boxes may use all the width
    inner = [_place_members([known[each] for each in group], tall) for group in groups]
    if diagram.flows_down:
        inner = [
            (high, width, [(dy, dx, h, w) for dx, dy, w, h in places]) for width, high, places in inner
        ]
    rows = [known[group[0]].row for group in groups]
    columns, ways = add_bends(column, rows, edges)
    columns = untangle(columns)
    heights, base = compute_levels(columns, ways, [high for _, high, _ in inner], bool(diagram.rows))
    widths = [
        max([MIN_NODE_WIDTH, *(inner[v][0] for v in order if v < len(groups))]) for order in columns.order
    ]
    lefts = _column_edges(
        widths,
        [[(heights[a], heights[b]) for a in order for b in columns.right[a]] for order in columns.order],
    )
    spans = [(left, left + width) for left, width in zip(lefts, widths, strict=True)]
    rects = [
        Rect(spans[column[i]][0] + width / 2, heights[i], width, high)
        for i, (width, high, _) in enumerate(inner)
    ]
    nodes = tuple(
        PlacedNode(known[each], Rect(rects[i].centre_x + dx, rects[i].centre_y + dy, width, high))
        for i, group in enumerate(groups)
        for each, (dx, dy, width, high) in zip(group, inner[i][2], strict=True)
    )
    lines = tuple(_route_arrow(way, groups, arrows, rects, column, spans, heights) for way in ways)
    shared = tuple(
        NodeGroup(group, known[group[0]].kind, rects[i]) for i, group in enumerate(groups) if len(group) > 1
    )
    placed = PlacedDiagram(
        diagram,
        round(max((right for _, right in spans), default=0.0), 1),
        round(max((r.centre_y + r.height / 2 for r in rects), default=0.0), 1),
        nodes, shared, lines,
        tuple((name, base[row]) for row, name in diagram.rows if row in base),
        columns.crossings(),
    )  # fmt: skip
    return _turn(placed) if diagram.flows_down else placed


def _turn(placed: PlacedDiagram) -> PlacedDiagram:
    """Exchange the two directions of a drawing."""
    return replace(
        placed,
        width=placed.height,
        height=placed.width,
        nodes=tuple(replace(n, rect=_turn_rect(n.rect)) for n in placed.nodes),
        boxes=tuple(replace(b, rect=_turn_rect(b.rect)) for b in placed.boxes),
        edges=tuple(replace(e, points=tuple((y, x) for x, y in e.points)) for e in placed.edges),
    )


def _turn_rect(rect: Rect) -> Rect:
    return Rect(rect.centre_y, rect.centre_x, rect.height, rect.width)


def _separate_lone_nodes(column: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the columns, with one in front for the nodes without arrows."""
    joined = {v for edge in edges for v in edge}
    if not joined or len(joined) == len(column):
        return list(column)
    return [c + 1 if v in joined else 0 for v, c in enumerate(column)]


def _place_members(
    vertices: Sequence[Vertex], tall: int
) -> tuple[float, float, list[tuple[float, float, float, float]]]:
    """Return the size of a box, and for each member its centre x, centre y, width and height.

    Centres are relative to the centre of the box. A column has at most `tall` members, unless the box gets
    too wide.
    """
    lines = [[printable(line) for line in v.label.split("\n")] for v in vertices]
    letters = max((len(line) for each in lines for line in each), default=0)
    # the width is even, so that half of it is a whole number
    width = max(
        MIN_NODE_WIDTH, 2.0 * ceil(LABEL_PADDING + LETTER_WIDTH * letters / 2)
    )
    high = max(len(each) for each in lines) * LINE_HEIGHT + 9
    if len(vertices) == 1:
        return width, high, [(0.0, 0.0, width, high)]
    across = min(
        -(-len(vertices) // tall),
        max(MAX_BOX_WIDTH // int(width), -(-len(vertices) // MAX_MEMBERS_PER_COLUMN)),
    )
    down = -(-len(vertices) // across)
    whole = (
        across * (width + BOX_MEMBER_GAP) + BOX_MEMBER_GAP,
        down * (high + BOX_MEMBER_GAP) + BOX_MEMBER_GAP,
    )
    places = [
        (
            BOX_MEMBER_GAP + (i // down) * (width + BOX_MEMBER_GAP) + width / 2 - whole[0] / 2,
            BOX_MEMBER_GAP + (i % down) * (high + BOX_MEMBER_GAP) + high / 2 - whole[1] / 2,
            width, high,
        )
        for i in range(len(vertices))
    ]  # fmt: skip
    return *whole, places


def _column_edges(
    column_widths: Sequence[float], hops: Sequence[Sequence[tuple[float, float]]]
) -> list[float]:
    """Return the left edge of each column; a steep arrow between two columns needs a wider gap."""
    lefts, x = list[float](), 0.0
    for width, rising in zip(column_widths, hops, strict=True):
        lefts.append(float(round(x)))
        steepest = max((abs(a - b) for a, b in rising), default=0.0)
        x += width + COLUMN_GAP + min(EXTRA_GAP_PER_RISE * steepest, 3 * COLUMN_GAP)
    return lefts


def _route_arrow(
    way: Sequence[int], groups: Sequence[tuple[str, ...]], arrows: Mapping[tuple[int, int], Arrow],
    rects: Sequence[Rect], column: Sequence[int], spans: Sequence[tuple[float, float]],
    level: Sequence[float],
) -> PlacedEdge:  # fmt: skip
    """Route an arrow from its source to its target.

    It leaves the column of its source, and runs level through each column that it passes.
    """
    a, b = way[0], way[-1]
    points = [(rects[a].right, rects[a].centre_y), (spans[column[a]][1], rects[a].centre_y)]
    for step, bend in enumerate(way[1:-1], column[a] + 1):
        points += [(spans[step][0], level[bend]), (spans[step][1], level[bend])]
    points += [(spans[column[b]][0], rects[b].centre_y), (rects[b].left, rects[b].centre_y)]
    if (a, b) not in arrows:  # it was reversed, because it was part of a circle
        a, b = b, a
        points.reverse()
    kept = [p for p, (x, y) in pairwise(points) if abs(p[0] - x) > SAME_POINT_DISTANCE or p[1] != y]
    return PlacedEdge(groups[a], groups[b], (*((round(x, 1), y) for x, y in kept), points[-1]), arrows[a, b])
