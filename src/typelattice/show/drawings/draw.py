"""The function `typelattice.draw`, which chooses a drawing by the class of a value."""

from __future__ import annotations

import os
from collections.abc import Sequence

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.base.rendering.diagram import Arrow, Diagram, DrawingError, Vertex
from typelattice.base.rendering.drawing import Drawing
from typelattice.base.rendering.layout.layered import PlacedDiagram, lay_out
from typelattice.core.dtypes.dtypes import DType, WeakNode
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.program.program import Program, Replay
from typelattice.show.drawings.comparison import comparison_diagram
from typelattice.show.drawings.highlighted_answer import draw_highlighted
from typelattice.show.drawings.orders import ROW_NUMBERS_AND_KINDS, make_vertex, order_diagram
from typelattice.show.drawings.programs import program_diagram, steps_diagram
from typelattice.study.tables.diffs import Diff
from typelattice.study.tables.table_labels import CODE_STYLES

MAX_NODES = 1_000  # nodes of a drawing; nobody can read more
MAX_ARROWS = 5_000

SystemOrPath = str | os.PathLike[str] | System


def draw(
    x: SystemOrPath | Order[object] | Promotion | Program | Replay | Diff,
    other: SystemOrPath | None = None,
    /,
    *,
    highlight: Sequence[object] = (),
    op: str | None = None,
    small: bool = False,
    codes: str = "bits",
) -> Drawing:
    """Draw a system's order, two systems in one drawing, an answer, or a program under a system.

    A system is drawn from left to right, with a row for each kind. `=` marks a tie between lowest bounds,
    with a frame around the winner. `×` marks a refusal.

    - `other`: a second system, drawn as what it adds and drops; for a program, the system whose rules it
      follows.
    - `highlight`: operands. Their ways to the join are lit. Bounds that lost are dashed, and the reason is
      written below.
    - `op`: the operation on the highlighted operands.
    - `small`: also draw dtypes of less than 8 bits and small floats.
    - `codes`: labels such as i8 (bits), i1 (bytes) or int8 (names).

    Raises UnknownSystemError, FormatError; DTypeError or OperandError if an operand is not valid;
    DrawingError if the value cannot be drawn.

    >>> import typelattice as tl
    >>> tl.draw("jax").placed.crossings
    0
    >>> print(tl.draw(tl.Order.parse("a -> b -> d; a -> c -> d")))
         b
    a         d
         c
    <BLANKLINE>
    also  a -> b, c; b -> d; c -> d
    """
    refuse_strange(x, DrawingError, "draw a system, an order, an answer, a diff or a program")
    if codes not in CODE_STYLES:
        near = spelling_hint(str(codes), CODE_STYLES)
        raise DrawingError(f"unknown codes {codes!r}{near}; these are {', '.join(CODE_STYLES)}")
    match x:
        case Program() | Replay():
            return _replayed_program(x, other, highlight)
        case Diff():
            return _draw_two_systems(x.left.system, x.right.system, small, codes)
        case Promotion():
            _check_alone(x, other, highlight)
            return Drawing(repr(x)[1:-1], draw_highlighted(x, small, codes))
        case Order():
            _check_alone(x, other, highlight)
            return Drawing("an order", lay_out_checked(_plain_order_diagram(x)))
    if not isinstance(x, (str, os.PathLike, System)):
        raise DrawingError(
            f"nothing to draw in an object of {type(x).__name__}; "
            "draw a system, an order, an answer, a diff or a program"
        )
    system = find_system(x)
    if other is not None:
        if highlight:
            raise DrawingError("an answer is highlighted in one system; leave out the other")
        return _draw_two_systems(system, find_system(other), small, codes)
    if highlight:
        p = system.explain(*highlight, op=op)
        return Drawing(repr(p)[1:-1], draw_highlighted(p, small, codes))
    if op is not None:
        raise DrawingError("an operation is shown with operands alone; name some to highlight")
    return Drawing(system.name, lay_out_checked(order_diagram(system, small, codes)))


def lay_out_steps(x: Program) -> PlacedDiagram:
    """Return the steps of a program by themselves. Raises DrawingError if there are too many."""
    _check_size(len(x.steps), 0)
    return lay_out_checked(steps_diagram(x))


def _replayed_program(
    program_or_replay: Program | Replay, other: SystemOrPath | None, highlight: Sequence[object]
) -> Drawing:
    """Return a program under the named system, or under the system of its replay."""
    if highlight:
        raise DrawingError("operands are highlighted in a system; a program is drawn with its own")
    _check_size(
        len(
            (program_or_replay.program if isinstance(program_or_replay, Replay) else program_or_replay).steps
        ),
        0,
    )
    if isinstance(program_or_replay, Replay):
        _check_alone(program_or_replay, other, ())
        return Drawing(
            f"a program under {program_or_replay.name}", lay_out_checked(program_diagram(program_or_replay))
        )
    if other is None:
        raise DrawingError("a program is drawn under a system: draw(program, 'numpy')")
    replay = program_or_replay.under(other)
    return Drawing(f"a program under {replay.name}", lay_out_checked(program_diagram(replay)))


def _draw_two_systems(a: System, b: System, small: bool, codes: str) -> Drawing:
    return Drawing(f"{a.name} and {b.name}", lay_out_checked(comparison_diagram(a, b, small, codes)))


def _check_alone(value: object, second: object, highlight: Sequence[object]) -> None:
    """Raise DrawingError if other arguments accompany a value that takes none."""
    if second is not None or highlight:
        what = f"{'an' if isinstance(value, Order) else 'a'} {type(value).__name__}"
        raise DrawingError(f"{what} is drawn by itself; leave out the rest")


def _plain_order_diagram(order: Order[object]) -> Diagram:
    """Return an order of any nodes: kinds are the rows of dtypes; other nodes have no rows."""
    ids = {n: str(n) for n in order.nodes}
    if len({*ids.values()}) < len(ids):
        raise DrawingError("two nodes of the order print alike; name them apart")
    arrows = tuple(Arrow(ids[a], ids[b]) for a in order.nodes for b in order.covers(a))
    dtypes = [n for n in order.nodes if isinstance(n, (DType, WeakNode))]
    if len(dtypes) == len(ids):
        return Diagram("", tuple(map(make_vertex, dtypes)), arrows, rows=ROW_NUMBERS_AND_KINDS)
    return Diagram("", tuple(Vertex(each, each) for each in ids.values()), arrows)


def lay_out_checked(diagram: Diagram) -> PlacedDiagram:
    """Return the diagram with coordinates. Raises DrawingError if it is too large to read."""
    _check_size(len(diagram.vertices), len(diagram.arrows))
    return lay_out(diagram)


def _check_size(nodes: int, arrows: int) -> None:
    """Raise DrawingError if the drawing would be too large to read."""
    if nodes > MAX_NODES or arrows > MAX_ARROWS:
        raise DrawingError(
            f"{nodes:,} nodes and {arrows:,} arrows are too many to read; "
            f"at most {MAX_NODES:,} and {MAX_ARROWS:,} are drawn"
        )
