"""Notebook views of a value: its drawing, its table, its words; as HTML in the page, or as a picture.

The classes are defined in earlier rooms, which do not know this one. So `typelattice/__init__` passes these
two functions to `display_hooks.NotebookDisplay`, the base of these classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape

from typelattice.base.rendering import has_grid, render
from typelattice.base.rendering.diagram import DrawingError
from typelattice.base.rendering.drawing import Drawing
from typelattice.base.rendering.grid_svg import grid_svg
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.explanations.explanation_text import write_explanation
from typelattice.programs.program.program import Program, Replay
from typelattice.show.drawings.comparison import comparison_diagram
from typelattice.show.drawings.draw import draw, lay_out_checked, lay_out_steps
from typelattice.study.designer.completion import Completion, Design
from typelattice.study.designer.repair import Repair, Repairs
from typelattice.study.laws.jep9407_criteria import Criteria

MAX_DESIGNS = 3  # designs to draw if there are several, the best first
CONTAINER_STYLE = "overflow-x: auto; max-width: 100%; font-family: ui-monospace, monospace"


def html(value: object) -> str | None:
    """Return a value as HTML without scripts, or None if its class has no view."""
    if has_grid(value):
        return render(value, "html")
    if isinstance(value, Criteria):
        return _text_as_html(str(value))
    if isinstance(value, Promotion):  # the explanation follows as text, so the drawing needs no notes
        placed = draw(value).placed
        bare = replace(placed, diagram=replace(placed.diagram, notes=()))
        return (
            f"<div>{Drawing(repr(value), bare)._repr_html_()}{_text_as_html(write_explanation(value))}</div>"
        )
    try:
        drawn = [drawing._repr_html_() for drawing in _yield_drawings(value)]
    except DrawingError as e:  # the drawing would be too large to read
        return _text_as_html(f"{value}\n{e}")
    return f"<div>{''.join(drawn)}</div>" if drawn else None


def svg(value: object) -> str | None:
    """Return a value as a complete SVG file, or None if its class has no picture."""
    if has_grid(value):
        return grid_svg(value.grid())
    try:
        return next((drawing.svg for drawing in _yield_drawings(value)), None)
    except DrawingError:  # the drawing would be too large to read
        return None


def _yield_drawings(value: object) -> Iterator[Drawing]:
    """Yield the drawings of a value. Raises DrawingError for one that is too large."""
    match value:
        case System() | Order() | Promotion() | Replay():
            yield draw(value)
        case Program():
            yield Drawing("a program", lay_out_steps(value))
        case Design():
            for found in value.completions[:MAX_DESIGNS]:
                yield _draw_change(value.system, found.system)
        case Repairs():
            for mended in value.repairs[:MAX_DESIGNS]:
                yield _draw_change(value.system, mended.system)
        case Completion() | Repair():
            yield draw(value.system)


def _draw_change(old_system: System, new_system: System) -> Drawing:
    return Drawing(new_system.name, lay_out_checked(comparison_diagram(old_system, new_system)))


def _text_as_html(text: str) -> str:
    """Return lines of text unchanged."""
    lines = "\n".join(_escape_line(line) for line in text.split("\n"))
    return f'<pre style="{CONTAINER_STYLE}">{escape(lines)}</pre>'


def _escape_line(line: str) -> str:
    """Escape a line, and keep its leading spaces and its columns."""
    return "".join(c if c.isprintable() else "\ufffd" for c in line)
