"""The parts of drawings: vertices with labels and rows, arrows between them, and links beside those."""

from __future__ import annotations

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.frozen_classes import frozen

FEWEST = 3  # vertices with the same arrows that share a box; one less of those without any


class DrawingError(TypelatticeError, ValueError):
    """The error for a value that cannot be drawn, an unknown format, or one whose library is missing."""


@frozen()
class Vertex:
    """A node of a drawing. `row` is the row it stands in, counted from the top; one between two may be 2.5.

    `label` may have several lines. `kind` chooses the colour, `marks` are words that say how it stands out,
    `title` is the detail shown on demand.
    """

    id: str
    label: str
    row: float = 0
    kind: str = ""
    marks: tuple[str, ...] = ()
    title: str = ""


@frozen()
class Arrow:
    """A line from one vertex to another that stands further right; `badge` is a sign or two that it bears."""

    source: str
    target: str
    marks: tuple[str, ...] = ()
    title: str = ""
    badge: str = ""


@frozen()
class Link:
    """A dotted line between vertices that no arrow joins; `mark` is a word for its sort.

    It points at the `winner`, if there is one.
    """

    mark: str
    nodes: tuple[str, ...]
    winner: str | None = None
    title: str = ""


@frozen()
class Diagram:
    """Vertices, arrows from left to right, and links; `rows` are the names of rows, `notes` stand below.

    Raises DrawingError for an arrow or a link between vertices that are not there.
    """

    title: str
    vertices: tuple[Vertex, ...]
    arrows: tuple[Arrow, ...]
    links: tuple[Link, ...] = ()
    rows: tuple[tuple[float, str], ...] = ()
    notes: tuple[str, ...] = ()

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


def boxes(diagram: Diagram) -> list[tuple[str, ...]]:
    """Return the vertices by twos and threes and more that may share a box; most stand alone.

    Those share one that have the same row, kind, marks, and arrows to and from the same vertices.

    >>> leaves = tuple(Vertex(name, name) for name in "abcd")
    >>> boxes(Diagram("", leaves, tuple(Arrow("a", b) for b in "bcd"), rows=((0, "a row"),)))
    [('a',), ('b', 'c', 'd')]
    """
    after: dict[str, set[tuple[str, ...]]] = {v.id: set() for v in diagram.vertices}
    before: dict[str, set[tuple[str, ...]]] = {v.id: set() for v in diagram.vertices}
    for a in diagram.arrows:
        said = (a.title, a.badge, *a.marks)
        after[a.source].add((a.target, *said))
        before[a.target].add((a.source, *said))
    twins: dict[object, list[str]] = {}
    for v in diagram.vertices:
        alike = v.row, v.kind, v.marks, frozenset(after[v.id]), frozenset(before[v.id])
        twins.setdefault(alike if diagram.rows else v.id, []).append(v.id)
    found: list[tuple[str, ...]] = []
    for ids in twins.values():
        alone = not after[ids[0]] and not before[ids[0]]
        found += [tuple(ids)] if len(ids) >= (FEWEST - alone) else [(each,) for each in ids]
    return found
