"""A drawing in all its formats."""

from __future__ import annotations

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.rendering.diagram import DrawingError
from typelattice.base.rendering.dot import write_dot
from typelattice.base.rendering.drawing_svg import path_data, write_svg
from typelattice.base.rendering.drawing_text import write_sketch
from typelattice.base.rendering.json import json_document
from typelattice.base.rendering.layout.layered import PlacedDiagram, Rect
from typelattice.base.rendering.layout.link_routes import route_links
from typelattice.base.rendering.mermaid import write_mermaid

DRAWING_FORMATS = ("text", "svg", "png", "dot", "mermaid", "json")


@frozen(repr=False)
class Drawing:
    """Nodes and arrows with coordinates, as SVG, PNG, DOT, Mermaid, JSON and text; `print` shows the last.

    >>> import typelattice as tl
    >>> tl.draw("python")
    <drawing of python: 3 nodes, 2 arrows, 0 crossings>
    """

    name: str
    placed: PlacedDiagram

    @property
    def svg(self) -> str:
        """The drawing as an SVG file."""
        return write_svg(self.placed)

    def to(self, format: str) -> str:
        """Return the drawing as text in a format: text, svg, dot, mermaid or json. Raises DrawingError."""
        match format:
            case "text":
                return write_sketch(self.placed)
            case "svg":
                return self.svg
            case "dot":
                return write_dot(self.placed.diagram)
            case "mermaid":
                return write_mermaid(self.placed.diagram)
            case "json":
                return json_document("drawing", self.data())
            case "png":
                raise DrawingError("a PNG is no text; to_png gives its bytes")
        near = spelling_hint(str(format), DRAWING_FORMATS)
        raise DrawingError(
            f"unknown format {quote_short(str(format))}{near}; these are {', '.join(DRAWING_FORMATS)}"
        )

    def to_png(self, scale: float = 2.0) -> bytes:
        """Return the drawing as a PNG: `scale` pixels for each of its own.

        Raises DrawingError if a library that it needs is missing.
        """
        from typelattice.base.rendering.png import render_png

        return render_png(self.svg, scale)

    def data(self) -> dict[str, object]:
        """Return the drawing as JSON data: lengths in pixels, `x` and `y` of the middles, y downwards."""
        p = self.placed
        return {
            "title": p.diagram.title,
            "width": p.width,
            "height": p.height,
            "crossings": p.crossings,
            "rows": [{"name": name, "y": y} for name, y in p.rows],
            "nodes": [
                {
                    "id": n.vertex.id, "label": n.vertex.label, "kind": n.vertex.kind,
                    "marks": list(n.vertex.marks), "title": n.vertex.tooltip, **_rect_data(n.rect),
                }
                for n in p.nodes
            ],
            "boxes": [
                {"id": f"box {i}", "members": list(b.members), "kind": b.kind, **_rect_data(b.rect)}
                for i, b in enumerate(p.boxes)
            ],
            "edges": [
                {
                    "from": list(e.sources), "to": list(e.targets), "marks": list(e.arrow.marks),
                    "title": e.arrow.tooltip, "badge": e.arrow.badge,
                    "path": path_data(e.points, p.diagram.flows_down),
                }
                for e in p.edges
            ],
            "links": [
                {
                    "mark": link.mark, "nodes": list(link.nodes), "winner": link.winner,
                    "title": link.tooltip, "path": " ".join(lines), "sign": list(sign),
                }
                for link, lines, sign in route_links(p)
            ],
            "notes": list(p.diagram.notes),
        }  # fmt: skip

    def __repr__(self) -> str:
        p = self.placed
        counts = f"{len(p.nodes)} nodes, {len(p.diagram.arrows)} arrows, {p.crossings} crossings"
        return f"<drawing of {self.name}: {counts}>"

    def __str__(self) -> str:
        return self.to("text")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{write_svg(self.placed, is_embedded=True)}</div>'


def _rect_data(rect: Rect) -> dict[str, float]:
    return {"x": rect.centre_x, "y": rect.centre_y, "width": rect.width, "height": rect.height}
