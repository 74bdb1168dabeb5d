"""Tables of what a system answers to every pair of operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.base.rendering import Cell, Grid, render
from typelattice.core.dtypes.dtypes import DType, DTypeError, Kind, Node
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.system import System
from typelattice.core.evidence.recorded_answer import (
    find_recorded_answer,
    recorded_library_version,
    recording_name_of,
)
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operands.operand import Operand, Tier, operand_of_dtype
from typelattice.core.registry.releases import VERSION_SIGN
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_text import systems
from typelattice.study.tables.study_scope import PYTHON_SCALARS, TierChoice, check_size, weak_widths
from typelattice.study.tables.table_labels import (
    DEPARTURE_MARK,
    REFUSED_LABEL,
    SHOW_SMALL,
    describe_left_out,
    operand_label,
    table_cell,
)

if TYPE_CHECKING:
    from pathlib import Path

TableCells = tuple[tuple[Promotion, ...], ...]
# The fewest bits of a kind's dtypes that tables show without `small`.
MIN_BITS_SHOWN = {Kind.UNSIGNED: 8, Kind.SIGNED: 8, Kind.FLOAT: 9}


def is_small(x: Node) -> bool:
    """Return True if a node is a dtype shown only on demand: of less than 8 bits, or a float of 8 or less."""
    return isinstance(x, DType) and x.bits is not None and x.bits < MIN_BITS_SHOWN.get(x.kind, 0)


def small_nodes(system: Rules) -> frozenset[Node]:
    """The nodes of a system that are shown only on demand; a user's own system shows all.

    >>> import typelattice as tl
    >>> len(small_nodes(tl.system("jax"))), len(small_nodes(tl.system("numpy")))
    (17, 0)
    """
    comes_along = system.name.partition(VERSION_SIGN)[0] in systems()
    return frozenset(filter(is_small, system.order.nodes)) if comes_along else frozenset()


@dataclass(frozen=True, slots=True, repr=False)
class Table(NotebookDisplay):
    """A system's answers to each row's operand with each column's; `left_out` are dtypes not shown.

    An operation of one operand has one column, named after it.

    >>> import typelattice as tl
    >>> tl.table("jax")
    <table of jax: 18 rows, 18 columns>
    >>> tl.table("jax")["int8", "uint8"].dtype
    int16
    """

    system: System
    op: str | None
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: TableCells
    left_out: tuple[DType, ...] = ()

    def __getitem__(self, pair: tuple[object, object]) -> Promotion:
        """Return the answer to a row's operand with a column's. Raises KeyError for an operand that the table
        lacks."""
        row, column = (x if x == self.op else str(self.system.operand(x)) for x in pair)
        if row not in self.rows or column not in self.columns:
            there = f"rows are {' '.join(self.rows)}; columns {' '.join(self.columns)}"
            raise KeyError(f"no cell {row}, {column}; {there}")
        return self.cells[self.rows.index(str(row))][self.columns.index(str(column))]

    @property
    def operation_text(self) -> str:
        """The operation, or `promotion` without one."""
        return self.op or "promotion"

    def labels(self, codes: str = "bits") -> tuple[tuple[Cell, ...], tuple[Cell, ...], str]:
        """Return the labels of the rows and of the columns, and the text in the corner between them."""
        rows = tuple(operand_label(row[0].operands[0], codes) for row in self.cells)
        if self.columns == (self.op,):
            return rows, (Cell(self.columns[0]),), ""
        return rows, tuple(operand_label(p.operands[1], codes) for p in self.cells[0]), self.op or ""

    def grid(self, codes: str = "bits") -> Grid:
        """Lay out the table as a grid: dtypes as codes in bits, as NumPy's codes in bytes, or as names."""
        recorded = [[find_recorded_answer(p) for p in row] for row in self.cells]
        cells = tuple(
            tuple(table_cell(p, o, codes) for p, o in zip(*line, strict=True))
            for line in zip(self.cells, recorded, strict=True)
        )
        of = f"of {len(self.rows) * len(self.columns)} cells"
        refused = sum(c.text.startswith(REFUSED_LABEL) for row in cells for c in row)
        notes = [f"{REFUSED_LABEL} is a refusal: {refused} {of}"] if refused else []
        departing = sum(c.text.endswith(DEPARTURE_MARK) for row in cells for c in row)
        if departing:
            did = f"{DEPARTURE_MARK} is what {recorded_library_version(self.system)} did when asked"
            notes.append(f"{did}, and not what the rule says: {departing} {of}")
        unasked = sum(row.count(None) for row in recorded)
        if unasked and recording_name_of(self.system):
            notes.append(
                f"never asked of {recorded_library_version(self.system)}, "
                f"and by the rule alone: {unasked} {of}"
            )
        if "int" in self.columns or any(p.weak for row in self.cells for p in row):
            notes.append("* is weak: it counts by its kind, and gives way to a dtype beside it")
        rows, columns, corner = self.labels(codes)
        title = f"{self.operation_text} under {self.system.name}: {self.system.title}"
        return Grid(
            title, columns, rows, cells, (*notes, *describe_left_out(self.left_out, SHOW_SMALL)), corner
        )

    def part(self, rows: Iterable[str], columns: Iterable[str]) -> Table:
        """Return some rows and columns of the table, in its own order."""
        kept_rows, kept_columns = {*rows}, {*columns}
        across = [j for j, x in enumerate(self.columns) if x in kept_columns]
        down = [i for i, x in enumerate(self.rows) if x in kept_rows]
        cells = tuple(tuple(self.cells[i][j] for j in across) for i in down)
        named = tuple(self.rows[i] for i in down), tuple(self.columns[j] for j in across)
        return Table(self.system, self.op, *named, cells, self.left_out)

    def __repr__(self) -> str:
        what = f"{self.op} under" if self.op else "table of"
        return f"<{what} {self.system.name}: {len(self.rows)} rows, {len(self.columns)} columns>"

    def __str__(self) -> str:
        return render(self)


def table(
    system: str | Path | System,
    op: str | None = None,
    tier: TierChoice = "array",
    dtypes: Iterable[object] | None = None,
    small: bool = False,
) -> Table:
    """Make a system's table of an operation, or of plain promotion; columns have arrays and Python scalars.

    `tier`: the tier of the rows; `all` has arrays, and below them arrays without dimensions if the system
    distinguishes those. `dtypes`: the operands in their order, which may include Python scalars. Without it,
    the table has all dtypes of the system. Those of less than 8 bits and small floats of a built-in system
    are left out unless `small`. The table has Python scalars only if the system accepts them.

    Raises UnknownSystemError, FormatError, OpError; DTypeError or OperandError for objects that are not
    operands, BeyondReachError for too many.

    >>> import typelattice as tl
    >>> print(tl.table("python", dtypes=["bool", "int"]))
    promotion under python: Python's own numbers
    <BLANKLINE>
        | b  i*
    ----+------
     b  | i* i*
     i* | i* i*
    <BLANKLINE>
    * is weak: it counts by its kind, and gives way to a dtype beside it
    """
    found = find_system(system)
    if dtypes is not None:
        return make_table(found, op, tiers_of(tier, [found]), [found.operand(x) for x in dtypes])
    operands, hidden = operands_of(found, tier, small)
    return without_idle_scalars(make_table(found, op, tiers_of(tier, [found]), operands, hidden))


def tiers_of(tier: TierChoice, systems: Sequence[System]) -> tuple[Tier, ...]:
    """Return the tiers of the rows: one, or all that any of the systems distinguishes."""
    if tier != "all":
        return (tier,)
    return ("array", "0d") if any("0d" in s.tiers for s in systems) else ("array",)


def operands_of(system: System, tier: TierChoice, small: bool) -> tuple[list[Operand], tuple[DType, ...]]:
    """Return the operands of a system, kind by kind from narrow to wide, then Python scalars; and the dtypes
    left out.

    Rows of Python scalars have no columns of Python scalars: Python itself adds these.
    """
    have = system.dtypes
    hidden = tuple(filter(small_nodes(system).__contains__, have))
    if small or len(hidden) == len(have):
        hidden = ()
    arrays = [operand_of_dtype(d) for d in have if d not in hidden]
    widths = [operand_of_dtype(d, weak=True) for d in weak_widths(system)]
    if tier == "scalar" and arrays:
        return [*arrays, *widths], hidden
    return [*arrays, *(widths or map(parse_operand, PYTHON_SCALARS))], hidden


def make_table(
    system: System,
    op_name: str | None,
    tiers: Sequence[Tier],
    operands: Sequence[Operand],
    hidden_dtypes: tuple[DType, ...] = (),
) -> Table:
    """Make the table of operands of some tiers, with all operands, or in one column for one operand."""
    if not operands:
        raise DTypeError("a table of no dtypes at all; name at least one")
    check_size(sum(o.dtype is not None for o in operands), system.name)
    known = None if op_name is None else system.find_operation(op_name)
    if known:
        known.check_table()
    name = known.name if known else None
    rows = tuple(dict.fromkeys(o for tier in tiers for o in convert_to_tier(operands, tier)))
    beside: dict[str, tuple[Operand, ...]] = {str(c): (c,) for c in operands}
    if known and known.has_one_promoting_operand:
        beside = {known.name: ()}
    find_rule = system.origin.rule_of_answer
    cells = tuple(
        tuple(promote_operands(system, (r, *others), name, find_rule) for others in beside.values())
        for r in rows
    )
    return Table(system, name, tuple(map(str, rows)), tuple(beside), cells, hidden_dtypes)


def without_idle_scalars(full_table: Table) -> Table:
    """Return the table without Python scalars that everything refuses."""
    rows = [
        x
        for x, ps in zip(full_table.rows, full_table.cells, strict=True)
        if x not in PYTHON_SCALARS or any(p.dtype for p in ps)
    ]
    lines = zip(*full_table.cells, strict=True)
    columns = [
        x
        for x, ps in zip(full_table.columns, lines, strict=True)
        if x not in PYTHON_SCALARS or any(p.dtype for p in ps)
    ]
    return full_table.part(rows, columns)


def convert_to_tier(operands: Sequence[Operand], tier: Tier) -> Sequence[Operand]:
    """Return the operands for rows of a tier: unchanged, as arrays without dimensions, or Python scalars."""
    if tier == "scalar":
        return [parse_operand(word) for word in ("True", *PYTHON_SCALARS)]
    if tier == "array":
        return operands
    zero_d = [
        operand_of_dtype(o.dtype, tier="0d") for o in operands if o.dtype and o.tier == "array" and not o.weak
    ]
    return zero_d or operands
