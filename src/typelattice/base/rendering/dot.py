"""Drawings in DOT, the language of Graphviz, which computes its own layout."""

from __future__ import annotations

from typelattice.base.rendering.colours import ACCENT_COLOUR, ADDED_COLOUR, KIND_COLOURS, WIDE_COLOUR
from typelattice.base.rendering.diagram import Arrow, Diagram, Vertex
from typelattice.base.rendering.grid import printable

ATTRIBUTES_BY_MARK = {  # mark -> attributes
    "weak": 'style="rounded,dashed"', "operand": "penwidth=3", "join": "penwidth=4 fontname=bold",
    "lost": f'style="rounded,dashed" color="{ACCENT_COLOUR}"', "faded": 'color="#bbbbbb" fontcolor="#bbbbbb"',
    "added": f'penwidth=2.5 color="{ADDED_COLOUR}"', "dropped": f'style=dashed color="{ACCENT_COLOUR}"',
    "way": "penwidth=3", "cast": "style=dashed", "lossy": f'color="{ACCENT_COLOUR}"',
    "wide": f'color="{WIDE_COLOUR}"', "culprit": "peripheries=2 penwidth=2",
    "refused": f'style="rounded,dashed" color="{ACCENT_COLOUR}"',
}  # fmt: skip


def write_dot(diagram: Diagram) -> str:
    """Return a diagram as a directed graph; the links are dotted lines that do not affect the layout."""
    direction = "TB" if diagram.flows_down else "LR"
    lines = [
        "digraph {",
        f"  graph [rankdir={direction}, labelloc=t, label={quote_text(diagram.title)}]",
        "  node [shape=box, style=rounded, fontname=monospace]",
        *(f"  {quote_text(v.id)} [{_node_attributes(v)}]" for v in diagram.vertices),
        *(
            f"  {quote_text(a.source)} -> {quote_text(a.target)}{_arrow_attributes(a)}"
            for a in diagram.arrows
        ),
    ]
    for link in diagram.links:
        for a, b in zip(link.nodes, link.nodes[1:], strict=False):
            title = quote_text(link.tooltip)
            said = f'constraint=false, dir=none, style=dotted, color="{ACCENT_COLOUR}", tooltip={title}'
            lines.append(f"  {quote_text(a)} -> {quote_text(b)} [{said}]")
    return "\n".join([*lines, "}"]) + "\n"


def _node_attributes(vertex: Vertex) -> str:
    colour = KIND_COLOURS.get(vertex.kind, KIND_COLOURS[""])
    marks = "".join(f" {ATTRIBUTES_BY_MARK[mark]}" for mark in vertex.marks if mark in ATTRIBUTES_BY_MARK)
    title = f" tooltip={quote_text(vertex.tooltip)}" if vertex.tooltip else ""
    return f'label={quote_text(vertex.label)} color="{colour}"{title}{marks}'


def _arrow_attributes(arrow: Arrow) -> str:
    said = [ATTRIBUTES_BY_MARK[mark] for mark in arrow.marks if mark in ATTRIBUTES_BY_MARK]
    said += [f"label={quote_text(arrow.badge)}"] if arrow.badge else []
    said += [f"tooltip={quote_text(arrow.tooltip)}"] if arrow.tooltip else []
    return f" [{' '.join(said)}]" if said else ""


def quote_text(text: str) -> str:
    """Return a string of DOT. Graphviz shows its backslashes, quotes and line breaks unchanged.

    >>> print(quote_text('a"b\\\\N'))
    "a\\"b\\\\N"
    """
    lines = [printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'
