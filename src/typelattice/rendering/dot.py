"""Drawings in DOT, the language of Graphviz, which computes its own layout."""

from __future__ import annotations

from typelattice.rendering.colours import ACCENT, ADDED_COLOUR, KIND_COLOURS
from typelattice.rendering.diagram import Arrow, Diagram, Vertex
from typelattice.rendering.grid import printable

ATTRIBUTES_BY_MARK = {  # mark -> attributes
    "weak": 'style="rounded,dashed"', "operand": "penwidth=3", "join": "penwidth=4 fontname=bold",
    "lost": f'style="rounded,dashed" color="{ACCENT}"', "faded": 'color="#bbbbbb" fontcolor="#bbbbbb"',
    "added": f'penwidth=2.5 color="{ADDED_COLOUR}"', "dropped": f'style=dashed color="{ACCENT}"',
    "way": "penwidth=3", "cast": "style=dashed", "lossy": f'color="{ACCENT}"',
    "refused": f'style="rounded,dashed" color="{ACCENT}"',
}  # fmt: skip


def dot(diagram: Diagram) -> str:
    """Return a diagram as a directed graph; the links are dotted lines that do not affect the layout."""
    lines = [
        "digraph {",
        f"  graph [rankdir=LR, labelloc=t, label={quote_text(diagram.title)}]",
        "  node [shape=box, style=rounded, fontname=monospace]",
        *(f"  {quote_text(v.id)} [{_node(v)}]" for v in diagram.vertices),
        *(f"  {quote_text(a.source)} -> {quote_text(a.target)}{_arrow(a)}" for a in diagram.arrows),
    ]
    for link in diagram.links:
        for a, b in zip(link.nodes, link.nodes[1:], strict=False):
            title = quote_text(link.tooltip)
            said = f'constraint=false, dir=none, style=dotted, color="{ACCENT}", tooltip={title}'
            lines.append(f"  {quote_text(a)} -> {quote_text(b)} [{said}]")
    return "\n".join([*lines, "}"]) + "\n"


def _node(v: Vertex) -> str:
    colour = KIND_COLOURS.get(v.kind, KIND_COLOURS[""])
    marks = "".join(f" {ATTRIBUTES_BY_MARK[mark]}" for mark in v.marks if mark in ATTRIBUTES_BY_MARK)
    title = f" tooltip={quote_text(v.tooltip)}" if v.tooltip else ""
    return f'label={quote_text(v.label)} color="{colour}"{title}{marks}'


def _arrow(a: Arrow) -> str:
    said = [ATTRIBUTES_BY_MARK[mark] for mark in a.marks if mark in ATTRIBUTES_BY_MARK]
    said += [f"label={quote_text(a.badge)}"] if a.badge else []
    said += [f"tooltip={quote_text(a.tooltip)}"] if a.tooltip else []
    return f" [{' '.join(said)}]" if said else ""


def quote_text(text: str) -> str:
    """Return a string of DOT. Graphviz shows its backslashes, quotes and line breaks unchanged.

    >>> print(quote_text('a"b\\\\N'))
    "a\\"b\\\\N"
    """
    lines = [printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'
