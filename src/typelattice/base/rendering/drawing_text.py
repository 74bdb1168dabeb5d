"""Drawings as plain text: nodes in rows and columns, arrows along a row as lines, others in a list.
"""

from __future__ import annotations

from textwrap import fill

from typelattice.base.objects.frozen_classes import replace
from typelattice.base.rendering.grid import fold_text, printable
from typelattice.base.rendering.layout.layered import PlacedDiagram, PlacedNode, lay_out


def write_sketch(placed_diagram: PlacedDiagram, width: int = 80) -> str:
    """Return a drawing in lines of text; a wider one continues below.

    >>> from typelattice.base.rendering.diagram import Arrow, Diagram, Vertex
    >>> from typelattice.base.rendering.layout.layered import lay_out
    >>> nodes = (Vertex("a", "a"), Vertex("b", "b"), Vertex("c", "c"))
    >>> print(write_sketch(lay_out(Diagram("", nodes, (Arrow("a", "b"), Arrow("b", "c"))))))
    a -> b -> c
    """
    if placed_diagram.diagram.flows_down:  # arrows along a row are lines
        placed_diagram = lay_out(replace(placed_diagram.diagram, flows_down=False))
    levels = sorted({n.rect.centre_y for n in placed_diagram.nodes})
    lefts = sorted({n.rect.left for n in placed_diagram.nodes})
    label = {n.vertex.id: _node_label(n) for n in placed_diagram.nodes}
    widths = [
        max(len(label[n.vertex.id]) for n in placed_diagram.nodes if n.rect.left == left) for left in lefts
    ]
    starts = [sum(w + 4 for w in widths[:i]) for i in range(len(widths))]
    stub = max((len(name) for name, _ in placed_diagram.rows), default=-2) + 2
    places = {
        n.vertex.id: (levels.index(n.rect.centre_y), starts[lefts.index(n.rect.left)])
        for n in placed_diagram.nodes
    }
    canvas = [[" "] * (sum(widths) + 4 * len(widths)) for _ in levels]
    for v, (line, start) in places.items():
        canvas[line][start : start + len(label[v])] = label[v]
    others: dict[str, list[str]] = {}
    for e in placed_diagram.edges:
        for a in e.sources:
            for b in e.targets:
                (line, start), (there, end) = places[a], places[b]
                start += len(label[a]) + 1
                if line == there and start < end and not "".join(canvas[line][start : end - 1]).strip():
                    canvas[line][start : end - 1] = f"{'-' * (end - start - 2)}>"
                else:
                    others.setdefault(label[a], []).append(label[b])
    names = {y: name for name, y in placed_diagram.rows}
    rows = [
        f"{names.get(y, ''):{stub}}{''.join(line)}".rstrip() for y, line in zip(levels, canvas, strict=True)
    ]
    listed = [f"{a} -> {', '.join(bs)}" for a, bs in others.items()]
    notes = [
        "\n".join(fold_text(note, width, "  "))
        for note in placed_diagram.diagram.notes
    ]
    further = fill("; ".join(listed), width, initial_indent="also  ", subsequent_indent="      ")
    parts = (
        "\n".join(fold_text(placed_diagram.diagram.title, width, "  ")),
        _split_into_blocks(rows, width, stub),
        further if listed else "",
        "\n".join(notes),
    )
    return "\n\n".join(filter(None, parts))


def _node_label(node: PlacedNode) -> str:
    """Return the label of a node in text, with signs for its marks."""
    marks = node.vertex.marks
    text = printable(" ".join(node.vertex.label.split("\n")))
    if "join" in marks:
        return f"[{text}]"
    if "culprit" in marks:
        return f"(({text}))"
    if "operand" in marks:
        return f"({text})"
    return (
        f"~{text}~"
        if "lost" in marks
        else f"+{text}"
        if "added" in marks
        else f"-{text}"
        if "dropped" in marks
        else text
    )


def _split_into_blocks(rows: list[str], width: int, stub: int) -> str:
    """Return the rows, split into pieces that fit the width."""
    longest, room = max(map(len, rows), default=0), max(width - stub, 20)
    blocks = []
    for start in range(stub, max(longest, stub + 1), room):
        piece = [(row[:stub].ljust(stub) + row[start : start + room]).rstrip() for row in rows]
        blocks.append("\n".join(row for row in piece if row[stub:].strip()))
    return "\n\n".join(blocks)
