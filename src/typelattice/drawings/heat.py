"""Heat maps of tables: where systems agree, what is lost, how wide answers are. By matplotlib, an extra."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import product
from typing import Any

from typelattice.engine.answer import Promotion
from typelattice.facts.suggest import short
from typelattice.rendering.diagram import DrawingError
from typelattice.rendering.grid import Grid, printable
from typelattice.study.consensus import Consensus
from typelattice.study.diffs import Diff, differ
from typelattice.study.tables import Table

LOSSES = ("nothing is lost", "values are rounded", "values are out of range")
HEATS = ("loss", "width", "agreement")
INCH = 0.42  # of a cell
NO_VALUE = float("nan")  # of a refusal, which is grey and hatched
BRIGHT = 0.6  # of a cell's ground, from which on its letters are dark
Values = list[list[float]]


def heatmap(x: Table | Diff | Consensus, of: str | None = None) -> Any:
    """A table as a heat map: a matplotlib Figure, which notebooks show and `savefig` writes.

    A table has `loss` (of the worst cast: nothing, precision, range) and `width` (bits that the answer has
    beyond its widest operand); a diff or a consensus has `agreement` (how many different answers there are).
    Refusals are hatched. The colours, cividis and PuOr, are told apart by the colour-blind and in grey.

    Raises DrawingError for a map that the value does not have, and without matplotlib.
    """
    have = HEATS[:2] if isinstance(x, Table) else HEATS[2:]
    chosen = have[0] if of is None else of
    if chosen not in have:
        what = f"a {type(x).__name__} has no heat map of {short(str(chosen))}"
        raise DrawingError(f"{what}; it has {' and '.join(have)}")
    grid = x.grid()
    match x:
        case Table() if chosen == "loss":
            return _ranked(grid, _values(x, _lost), "what the worst cast loses", LOSSES)
        case Table():
            return _signed(grid, _values(x, _wider), "bits wider than the widest operand")
        case Diff():
            pairs = [zip(ps, qs, strict=True) for ps, qs in zip(x.a.cells, x.b.cells, strict=True)]
            values = [[float(differ(p, q)) for p, q in row] for row in pairs]
            return _ranked(grid, values, "agreement", ("the same", "another answer"))
        case _:
            counts = {(a, b): len(x.by_answer(a, b)) for a, b in product(x.rows, x.columns)}
            most = max(counts.values())
            names = ("all alike", *(f"{n} answers" for n in range(2, most + 1)))
            return _ranked(
                grid, [[counts[a, b] - 1.0 for b in x.columns] for a in x.rows], "agreement", names
            )


def _values(table: Table, value: Any) -> Values:
    return [[NO_VALUE if p.dtype is None else value(p) for p in row] for row in table.cells]


def _lost(p: Promotion) -> float:
    """The worst of what its casts lose, as a place in LOSSES."""
    losses = [cast.loss for cast in p.casts if cast.loss]
    if any(loss.magnitude or loss.sign or loss.imaginary for loss in losses):
        return 2.0
    return float(bool(losses))


def _wider(p: Promotion) -> float:
    """The bits of the result, less those of the widest operand."""
    widths = [o.dtype.bits for o in p.operands if o.dtype and o.dtype.bits]
    if not widths or p.dtype is None or not p.dtype.bits:
        return 0.0  # Python scalars alone have no width to begin with
    return float(p.dtype.bits - max(widths))


def _ranked(grid: Grid, values: Values, said: str, names: Sequence[str]) -> Any:
    """A map of a few ranks, each with its name."""
    figure, _, colours = _map(grid, values, "cividis", 0.0, max(len(names) - 1.0, 1.0))
    patches = import_module("matplotlib.patches")
    shown = [patches.Patch(facecolor=colours(float(i)), label=name) for i, name in enumerate(names)]
    refused = any(value != value for row in values for value in row)
    shown += [patches.Patch(facecolor="0.85", hatch="////", edgecolor="0.5", label="refused")] * refused
    figure.legend(handles=shown, title=said, loc="outside right upper", frameon=False)
    return figure


def _signed(grid: Grid, values: Values, said: str) -> Any:
    """A map of numbers on both sides of zero, with a scale."""
    widest = max((abs(v) for row in values for v in row if v == v), default=1.0) or 1.0
    figure, axes, _ = _map(grid, values, "PuOr_r", -widest, widest)
    figure.colorbar(axes.images[0], ax=axes, label=said, shrink=0.7)
    return figure


def _map(grid: Grid, values: Values, colours: str, low: float, high: float) -> tuple[Any, Any, Any]:
    """The figure, its axes, and what colours a value. Raises DrawingError without matplotlib."""
    try:
        figures, cm = import_module("matplotlib.figure"), import_module("matplotlib.cm")
        scale = import_module("matplotlib.colors").Normalize(low, high)
    except ModuleNotFoundError:
        wanted = "pip install 'typelattice[drawings]'"
        raise DrawingError(f"a heat map needs matplotlib, which is not here: {wanted}") from None
    wide, high_ = len(grid.columns) * INCH + 3.4, len(grid.rows) * INCH + 1.3
    figure = figures.Figure(figsize=(wide, high_), layout="constrained")
    axes = figure.add_subplot()
    painted = cm.ScalarMappable(scale, colours)
    axes.set_facecolor("0.85")
    axes.imshow(values, cmap=colours, norm=scale)
    for i, row in enumerate(grid.cells):
        for j, cell in enumerate(row):
            empty = values[i][j] != values[i][j]
            red, green, blue, _ = painted.to_rgba(values[i][j])
            ink = "black" if empty or 0.3 * red + 0.6 * green + 0.1 * blue > BRIGHT else "white"
            axes.text(j, i, _plain(cell.text), ha="center", va="center", color=ink, fontsize=7)
            if empty:
                square = import_module("matplotlib.patches").Rectangle
                axes.add_patch(square((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", edgecolor="0.6"))
    axes.set_xticks(range(len(grid.columns)), [_plain(c.text) for c in grid.columns], rotation=90)
    axes.set_yticks(range(len(grid.rows)), [_plain(c.text) for c in grid.rows])
    axes.set_title(_plain(grid.title), fontsize=9, loc="left")
    axes.tick_params(length=0, labelsize=8)
    return figure, axes, lambda value: painted.to_rgba(value)


def _plain(text: str) -> str:
    """Text in which matplotlib finds no formula."""
    return printable(text).replace("$", r"\$")
