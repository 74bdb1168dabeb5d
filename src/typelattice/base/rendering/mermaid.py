"""Drawings as Mermaid flowcharts, which GitHub and many notebooks show."""

from __future__ import annotations

import re

from typelattice.base.rendering.colours import ACCENT_COLOUR, ADDED_COLOUR, KIND_COLOURS, WIDE_COLOUR
from typelattice.base.rendering.diagram import Diagram
from typelattice.base.rendering.grid import printable

ESCAPED_CHARACTER_PATTERN = re.compile(
    r"[^\w .,+*/()=-]", re.ASCII
)  # other characters are written as numbers
SHAPE_BY_WEAKNESS = {True: ('(["', '"])'), False: ('["', '"]')}  # the shapes of weak nodes and of other nodes
STYLE_BY_MARK = {  # mark -> style
    "lost": f"stroke:{ACCENT_COLOUR},stroke-dasharray:2 3",
    "faded": "opacity:0.3",
    "operand": "stroke-width:3px",
    "join": "stroke-width:5px",
    "added": f"stroke:{ADDED_COLOUR},stroke-width:3px",
    "dropped": f"stroke:{ACCENT_COLOUR},stroke-dasharray:5 4",
    "wide": f"fill:{WIDE_COLOUR}33,stroke:{WIDE_COLOUR}",
    "culprit": f"stroke:{WIDE_COLOUR},stroke-width:5px",
    "refused": f"stroke:{ACCENT_COLOUR},stroke-dasharray:2 3",
}  # fmt: skip
ARROW_BY_MARK = {"dropped": "-.->", "added": "==>", "way": "==>", "cast": "-.->"}


def write_mermaid(diagram: Diagram) -> str:
    """Return a diagram as a flowchart."""
    number = {v.id: f"n{i}" for i, v in enumerate(diagram.vertices)}
    lines = [f"%% {_escape_comment(diagram.title)}", f"flowchart {'TB' if diagram.flows_down else 'LR'}"]
    for v in diagram.vertices:
        begin, end = SHAPE_BY_WEAKNESS["weak" in v.marks]
        label = "<br/>".join(escape_label(line) for line in v.label.split("\n"))
        lines.append(f"  {number[v.id]}{begin}{label}{end}:::{v.kind or 'plain'}")
    for a in diagram.arrows:
        line = next((ARROW_BY_MARK[mark] for mark in a.marks if mark in ARROW_BY_MARK), "-->")
        said = f'|"{escape_label(a.badge)}"|' if a.badge else ""
        lines.append(f"  {number[a.source]} {line}{said} {number[a.target]}")
    for link in diagram.links:
        for one, other in zip(link.nodes, link.nodes[1:], strict=False):
            lines.append(f'  {number[one]} -. "{escape_label(link.mark)}" .- {number[other]}')
    lines += [
        f"  classDef {kind or 'plain'} fill:{colour}33,stroke:{colour}"
        for kind, colour in KIND_COLOURS.items()
    ]
    for mark, style in STYLE_BY_MARK.items():
        marked = [number[v.id] for v in diagram.vertices if mark in v.marks]
        if marked:
            lines += [f"  classDef {mark} {style}", f"  class {','.join(marked)} {mark}"]
    return "\n".join(lines) + "\n"


def escape_label(text: str) -> str:
    """Escape a label so that Mermaid finds no quotes, HTML or Markdown in it.

    >>> escape_label('a"<b>')
    'a#34;#60;b#62;'
    """
    return ESCAPED_CHARACTER_PATTERN.sub(lambda found: f"#{ord(found[0])};", printable(text))


def _escape_comment(text: str) -> str:
    """Escape a comment. Mermaid would read braces as a directive."""
    return printable(text).replace("{", "(").replace("}", ")")
