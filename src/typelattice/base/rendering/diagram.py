"""The parts of drawings: vertices with labels and rows, arrows between them, and links."""

from __future__ import annotations

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.frozen_classes import frozen

MIN_VERTICES_PER_BOX = 3  # vertices with the same arrows that share a box; one fewer if they have no arrows


class DrawingError(TypelatticeError, ValueError):
    """The error for a value that cannot be drawn, an unknown format, or a missing library."""

    __module__ = "typelattice"


@frozen()
class Vertex:
    """A node of a drawing. `row` is counted from the top; 2.5 is between two rows.

    `label` may have several lines. `kind` chooses the colour, `marks` are words for its style, `tooltip` is
    the detail shown on demand.
    """

    id: str
    label: str
    row: float = 0
    kind: str = ""
    marks: tuple[str, ...] = ()
    tooltip: str = ""


@frozen()
class Arrow:
    """A line from one vertex to another further right; `badge` is a sign of one or two characters on it."""

    source: str
    target: str
    marks: tuple[str, ...] = ()
    tooltip: str = ""
    badge: str = ""


@frozen()
class Link:
    """A dotted line between vertices that no arrow joins; `mark` is a word for its sort.

    It points at the `winner`, or at no vertex if that is None.
    """

    mark: str
    nodes: tuple[str, ...]
    winner: str | None = None
    tooltip: str = ""


@frozen()
class Diagram:
    """Vertices, arrows from left to right, and links; `rows` are names of rows, `notes` are lines below.

    With `flows_down`, arrows lead from the top to the bottom, and there are no rows.

    Raises DrawingError for an arrow or a link between vertices that do not exist.
    """

    title: str
    vertices: tuple[Vertex, ...]
    arrows: tuple[Arrow, ...]
    links: tuple[Link, ...] = ()
    rows: tuple[tuple[float, str], ...] = ()
    notes: tuple[str, ...] = ()
    flows_down: bool = False

    def __post_init__(self) -> None:
        known = {v.id for v in self.vertices}
        if len(known) < len(self.vertices):
            raise DrawingError("two vertices of one name")
        for arrow in self.arrows:
            if {arrow.source, arrow.target} - known or arrow.source == arrow.target:
                raise DrawingError(f"no arrow can lead from {arrow.source} to {arrow.target}")
        for link in self.links:
            if {*link.nodes, link.winner or link.nodes[0]} - known:
                raise DrawingError(f"no link can join {', '.join(link.nodes)}")


def group_vertices(diagram: Diagram) -> list[tuple[str, ...]]:
    """Group the vertices that may share a box; most groups have one vertex.

    Vertices share a box if they have the same row, kind and marks, and the same arrows.

    >>> leaves = tuple(Vertex(name, name) for name in "abcd")
    >>> group_vertices(Diagram("", leaves, tuple(Arrow("a", b) for b in "bcd"), rows=((0, "a row"),)))
    [('a',), ('b', 'c', 'd')]
    """
    after: dict[str, set[tuple[str, ...]]] = {v.id: set() for v in diagram.vertices}
    before: dict[str, set[tuple[str, ...]]] = {v.id: set() for v in diagram.vertices}
    for a in diagram.arrows:
        said = (a.tooltip, a.badge, *a.marks)
        after[a.source].add((a.target, *said))
        before[a.target].add((a.source, *said))
    twins: dict[object, list[str]] = {}
    for v in diagram.vertices:
        alike = v.row, v.kind, v.marks, frozenset(after[v.id]), frozenset(before[v.id])
        twins.setdefault(alike if diagram.rows else v.id, []).append(v.id)
    found: list[tuple[str, ...]] = []
    for ids in twins.values():
        alone = not after[ids[0]] and not before[ids[0]]
        found += [tuple(ids)] if len(ids) >= (MIN_VERTICES_PER_BOX - alone) else [(each,) for each in ids]
    return found
