"""Heat maps of tables: where systems agree, what is lost, how wide answers are.

As text they need no library; as pictures they need matplotlib, an extra.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from io import StringIO
from itertools import product
from math import isnan
from typing import Any

from typelattice.base.errors.error_texts import quote_short
from typelattice.base.rendering.colours import ACCENT_COLOUR, ADDED_COLOUR
from typelattice.base.rendering.diagram import DrawingError
from typelattice.base.rendering.grid import Cell, Grid, printable
from typelattice.core.engine.promotion import Promotion
from typelattice.study.tables.consensus import Consensus
from typelattice.study.tables.diffs import Diff, answers_differ
from typelattice.study.tables.table_labels import REFUSED_LABEL
from typelattice.study.tables.tables import Table

HEAT_MEASURES = ("loss", "width", "agreement")
LOSS_RANK_NAMES = ("nothing is lost", "values are rounded", "values are out of range")
AGREEMENT_RANK_NAMES = ("the same", "another answer")
RANK_SIGNS = ".~!"  # one sign per rank in text; further ranks are shown as numbers
INCHES_PER_CELL = 0.42
NO_VALUE = float("nan")  # the value of a refusal, which is grey and hatched
MIN_BRIGHTNESS_FOR_DARK_TEXT = 0.45  # cells brighter than this have dark text
ORDINARY_CELL_COLOUR = "#f0f0f0"
MONOSPACED_FONT = "DejaVu Sans Mono"
MAX_UPRIGHT_CHARS = 4  # characters of a name that fits above its column
HeatValues = list[list[float]]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table with a value in each cell, or NO_VALUE where the call is refused.

    `description` describes the values. They are ranks, each with its name, or numbers on both sides of zero.
    """

    grid: Grid
    values: HeatValues
    description: str
    ranks: tuple[str, ...] = ()

    @property
    def has_refusals(self) -> bool:
        """Return True if any call is refused."""
        return any(isnan(value) for row in self.values for value in row)


def make_heat(table_like: Table | Diff | Consensus, map_name: str | None = None) -> HeatMap:
    """Return the values of a heat map. Raises DrawingError for a map that `table_like` lacks."""
    available = HEAT_MEASURES[:2] if isinstance(table_like, Table) else HEAT_MEASURES[2:]
    chosen = available[0] if map_name is None else map_name
    if chosen not in available:
        what = f"a {type(table_like).__name__} has no heat map of {quote_short(str(chosen))}"
        raise DrawingError(f"{what}; it has {' and '.join(available)}")
    grid = table_like.grid()
    match table_like:
        case Table() if chosen == "loss":
            return HeatMap(
                grid, _cell_values(table_like, _worst_loss), "what the worst cast loses", LOSS_RANK_NAMES
            )
        case Table():
            return HeatMap(grid, _cell_values(table_like, _extra_bits), "bits wider than the widest operand")
        case Diff():
            pairs = [
                zip(ps, qs, strict=True)
                for ps, qs in zip(table_like.left.cells, table_like.right.cells, strict=True)
            ]
            values = [[float(answers_differ(p, q)) for p, q in row] for row in pairs]
            return HeatMap(grid, values, "agreement", AGREEMENT_RANK_NAMES)
        case _:
            counts = {
                (a, b): len(table_like.by_answer(a, b))
                for a, b in product(table_like.rows, table_like.columns)
            }
            names = ("all alike", *(f"{n} answers" for n in range(2, max(counts.values()) + 1)))
            return HeatMap(
                grid,
                [[counts[a, b] - 1.0 for b in table_like.columns] for a in table_like.rows],
                "agreement",
                names,
            )


def heatmap(x: Table | Diff | Consensus, of: str | None = None) -> Any:
    """Return a table as a heat map: a matplotlib Figure, which notebooks show and `savefig` writes.

    A table has `loss` (of the worst cast: nothing, precision, range) and `width` (bits that the answer has
    beyond its widest operand); a diff or a consensus has `agreement` (how many different answers there are).
    Refusals are hatched. Colour-blind people can distinguish the colours, cividis and PuOr; so can anyone in
    grey.

    Raises DrawingError for a map that the value does not have, and without matplotlib.
    """
    return draw_figure(make_heat(x, of))


def draw_figure(heat: HeatMap) -> Any:
    """Return the matplotlib Figure of a heat map. Raises DrawingError without matplotlib."""
    return _draw_ranks(heat) if heat.ranks else _draw_signed(heat)


def heat_grid(heat: HeatMap) -> Grid:
    """Return a heat map for a terminal: signs in place of colours, with notes that explain them."""
    cells = tuple(
        tuple(_heat_cell(heat, value, cell) for value, cell in zip(values, row, strict=True))
        for values, row in zip(heat.values, heat.grid.cells, strict=True)
    )
    notes = [f"{_short_value_text(i, heat.ranks)} {name}" for i, name in enumerate(heat.ranks)]
    notes = notes or [f"{_short_value_text(0, ())} as wide as the widest operand; +8 is 8 bits wider"]
    notes += [f"{REFUSED_LABEL} refused"] * heat.has_refusals
    title = f"{heat.description}: {heat.grid.title}"
    return replace(heat.grid, title=title, cells=cells, notes=tuple(notes))


def _heat_cell(heat: HeatMap, value: float, cell: Cell) -> Cell:
    return (
        Cell(REFUSED_LABEL, ("refused",))
        if isnan(value)
        else Cell(_short_value_text(value, heat.ranks), cell.marks)
    )


def _short_value_text(value: float, ranks: Sequence[str]) -> str:
    """Return a value in a character or two."""
    if not ranks:
        return f"{value:+.0f}" if value else RANK_SIGNS[0]
    return RANK_SIGNS[int(value)] if len(ranks) <= len(RANK_SIGNS) else str(int(value) + 1)


def _cell_values(table: Table, value: Callable[[Promotion], float]) -> HeatValues:
    return [[NO_VALUE if p.dtype is None else value(p) for p in row] for row in table.cells]


def _worst_loss(promotion: Promotion) -> float:
    """Return the worst loss of the casts, as an index into LOSS_RANK_NAMES."""
    losses = [cast.loss for cast in promotion.casts if cast.loss]
    if any(loss.magnitude or loss.sign or loss.imaginary for loss in losses):
        return 2.0
    return float(bool(losses))


def _extra_bits(promotion: Promotion) -> float:
    """Return the bits of the result, minus those of the widest operand."""
    widths = [o.dtype.bits for o in promotion.operands if o.dtype and o.dtype.bits]
    if not widths or promotion.dtype is None or not promotion.dtype.bits:
        return 0.0  # an operation on only Python scalars has no width to compare
    return float(promotion.dtype.bits - max(widths))


def _draw_ranks(heat: HeatMap) -> Any:
    """Draw a map of a few ranks, each with its name."""
    figure, _, colours = _draw_map(
        heat, (ORDINARY_CELL_COLOUR, ACCENT_COLOUR), 0.0, max(len(heat.ranks) - 1.0, 1.0)
    )
    patches = import_module("matplotlib.patches")
    shown = [patches.Patch(facecolor=colours(float(i)), label=name) for i, name in enumerate(heat.ranks)]
    shown += [
        patches.Patch(facecolor="0.85", hatch="////", edgecolor="0.5", label="refused")
    ] * heat.has_refusals
    figure.legend(handles=shown, title=heat.description, loc="outside right upper", frameon=False)
    return figure


def _draw_signed(heat: HeatMap) -> Any:
    """Draw a map of numbers on both sides of zero, with a scale."""
    widest = max((abs(v) for row in heat.values for v in row if not isnan(v)), default=1.0) or 1.0
    figure, axes, _ = _draw_map(heat, (ADDED_COLOUR, ORDINARY_CELL_COLOUR, ACCENT_COLOUR), -widest, widest)
    figure.colorbar(axes.images[0], ax=axes, label=heat.description, shrink=0.7)
    return figure


def _draw_map(heat: HeatMap, colours: Sequence[str], low: float, high: float) -> tuple[Any, Any, Any]:
    """Return the figure, its axes, and the colour of each value: `colours` from low to high.

    Raises DrawingError without matplotlib.
    """
    grid, values = heat.grid, heat.values
    try:
        figures, cm = import_module("matplotlib.figure"), import_module("matplotlib.cm")
        painting = import_module("matplotlib.colors")
    except ModuleNotFoundError:
        message = "a heat map needs matplotlib, which is not here"
        raise DrawingError(f"{message}: pip install matplotlib") from None
    inches = (len(grid.columns) * INCHES_PER_CELL + 3.4, len(grid.rows) * INCHES_PER_CELL + 1.3)

    class Shown(figures.Figure):  # type: ignore[misc, name-defined]  # imported where needed
        """A Figure that a notebook shows even if nothing there has imported pyplot."""

        def _repr_svg_(self) -> str:
            file = StringIO()
            self.savefig(file, format="svg", metadata={"Date": None})
            return file.getvalue()

    figure = Shown(figsize=inches, layout="compressed")
    figure.get_layout_engine().set(w_pad=0.12)
    axes = figure.add_subplot()
    scale = painting.Normalize(low, high)
    shades = painting.LinearSegmentedColormap.from_list("shades", [*colours])
    painted = cm.ScalarMappable(scale, shades)
    axes.set_facecolor("0.85")
    axes.imshow(values, cmap=shades, norm=scale)
    _write_cells(axes, heat, painted.to_rgba)
    axes.set_xticks(range(len(grid.columns)), [_escape_formula(c.text) for c in grid.columns])
    axes.set_yticks(range(len(grid.rows)), [_escape_formula(c.text) for c in grid.rows])
    longest = max((len(c.text) for c in grid.columns), default=0)
    axes.tick_params(length=0, labelsize=8, labelfontfamily=MONOSPACED_FONT)
    axes.tick_params(
        "x", top=True, labeltop=True, labelbottom=False, rotation=90 if longest > MAX_UPRIGHT_CHARS else 0
    )
    axes.set_title(_escape_formula(grid.title), fontsize=9, loc="left", weight="bold")
    for at in range(1, max(len(grid.rows), len(grid.columns))):
        axes.axhline(at - 0.5, color="white", linewidth=0.8)
        axes.axvline(at - 0.5, color="white", linewidth=0.8)
    axes.set_xlim(-0.5, len(grid.columns) - 0.5)
    axes.set_ylim(len(grid.rows) - 0.5, -0.5)
    axes.spines[:].set_visible(False)
    return figure, axes, lambda value: painted.to_rgba(value)


def _write_cells(axes: Any, heat: HeatMap, colour_of: Callable[[float], Any]) -> None:
    """Write the text of each cell in black or white, and hatch cells without a value."""
    square = import_module("matplotlib.patches").Rectangle
    for i, row in enumerate(heat.grid.cells):
        for j, cell in enumerate(row):
            empty = isnan(heat.values[i][j])
            red, green, blue, _ = colour_of(heat.values[i][j])
            is_bright = 0.3 * red + 0.6 * green + 0.1 * blue > MIN_BRIGHTNESS_FOR_DARK_TEXT
            axes.text(
                j, i, _escape_formula(cell.text), ha="center", va="center", fontsize=7,
                color="black" if empty or is_bright else "white", family=MONOSPACED_FONT,
            )  # fmt: skip
            if empty:
                axes.add_patch(square((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", edgecolor="0.6"))


def _escape_formula(text: str) -> str:
    """Escape a text so that matplotlib finds no formula in it."""
    return printable(text).replace("$", r"\$")
