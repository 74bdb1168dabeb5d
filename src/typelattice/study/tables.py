"""Tables of what a system answers to every pair of operands, and diffs of two systems."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.explain.english import answer, cast_words, question
from typelattice.facts.dtypes import DType, DTypeError, Kind, Weak, numpy_reading, place, weak
from typelattice.facts.operations import OPERATIONS, operation
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import BOOL, Operand, Tier
from typelattice.rendering import Cell, Grid, render

if TYPE_CHECKING:
    from pathlib import Path

CODES = ("bits", "bytes", "names")
SCALARS = ("int", "float", "complex")
REFUSED = "-"
Cells = tuple[tuple[Promotion, ...], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """What a system answers to each row's operand with each column's; `left_out` are dtypes not shown.

    Of an operation of one operand there is one column, named after it.

    >>> import typelattice as tl
    >>> tl.table("jax")["int8", "uint8"].dtype
    int16
    """

    system: System
    op: str | None
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Cells
    left_out: tuple[DType, ...] = ()

    def __getitem__(self, pair: tuple[object, object]) -> Promotion:
        """The answer to a row's operand with a column's. Raises KeyError for one that the table does not have."""
        row, column = (x if x == self.op else str(_read(x, self.system)) for x in pair)
        if row not in self.rows or column not in self.columns:
            raise KeyError(f"no cell {row}, {column}; rows are {' '.join(self.rows)}; columns {' '.join(self.columns)}")
        return self.cells[self.rows.index(row)][self.columns.index(column)]

    def grid(self, codes: str = "bits") -> Grid:
        """The table as a grid: dtypes as codes that count bits, as NumPy's that count bytes, or as names."""
        cells = tuple(tuple(Cell(code(p, codes), _marks(p), _say(p)) for p in row) for row in self.cells)
        shown = {mark for row in cells for c in row for mark in c.marks}
        refused = sum("refused" in c.marks for row in cells for c in row)
        notes = [f"{REFUSED} is a refusal: {refused} of {len(self.rows) * len(self.columns)} cells"] if refused else []
        if "weak" in shown or "int" in self.columns:
            notes.append("* is weak: it counts by its kind, and gives way to a dtype beside it")
        notes += _left_out(self.left_out)
        rows, columns = ([label(x, self.system, codes) for x in axis] for axis in (self.rows, self.columns))
        title = f"{self.op or 'promotion'} under {self.system.name}: {self.system.title}"
        corner = "" if self.columns == (self.op,) else self.op or ""
        return Grid(title, tuple(columns), tuple(rows), cells, tuple(notes), corner)

    def __str__(self) -> str:
        return render(self)

    def _repr_html_(self) -> str:
        return render(self, "html")


@dataclass(frozen=True, slots=True, repr=False)
class Diff:
    """Two tables of the same operands under two systems; `differing` are the (row, column) where the answers differ.

    >>> import typelattice as tl
    >>> d = tl.diff("numpy", "jax")
    >>> ("int64", "float32") in d.differing, ("int8", "uint8") in d.differing
    (True, False)
    """

    a: Table
    b: Table

    @property
    def differing(self) -> tuple[tuple[str, str], ...]:
        a, b = self.a, self.b
        return tuple(pair for pair in product(a.rows, a.columns) if _differ(a[pair], b[pair]))

    @property
    def summary(self) -> str:
        """How many cells differ, and how."""
        pairs = list(zip(chain(*self.a.cells), chain(*self.b.cells), strict=True))
        names = self.a.system.name, self.b.system.name
        differing = [(p.dtype, q.dtype) for p, q in pairs if _differ(p, q)]
        ways = {
            "another dtype": sum(bool(p and q and p is not q) for p, q in differing),
            "weak in one only": sum(bool(p and p is q) for p, q in differing),
            f"refused by {names[0]} only": sum(p is None for p, _ in differing),
            f"refused by {names[1]} only": sum(q is None for _, q in differing),
        }
        said = ", ".join(f"{n} {way}" for way, n in ways.items() if n)
        return f"{len(differing)} of {len(pairs)} cells differ" + (f": {said}" if said else "")

    def grid(self, codes: str = "bits") -> Grid:
        """The diff as a grid: `a|b` where the answers differ."""
        a, b = self.a, self.b
        cells = tuple(tuple(map(partial(_pair, codes), ps, qs)) for ps, qs in zip(a.cells, b.cells, strict=True))
        rows, columns = ([label(x, a.system, codes) for x in axis] for axis in (a.rows, a.columns))
        notes = [self.summary, *(f"{side}: {t.system.name}, {t.system.title}" for side, t in (("left", a), ("right", b)))]
        if any(p.dtype is None for p in chain(*a.cells, *b.cells)):
            notes.append(f"{REFUSED} is a refusal")
        notes += _left_out(tuple(dict.fromkeys((*a.left_out, *b.left_out))))
        title = f"{a.op or 'promotion'}: {a.system.name}|{b.system.name}"
        corner = "" if a.columns == (a.op,) else a.op or ""
        return Grid(title, tuple(columns), tuple(rows), cells, tuple(notes), corner)

    def __str__(self) -> str:
        return render(self)

    def _repr_html_(self) -> str:
        return render(self, "html")


def table(
    system: str | Path | System,
    op: str | None = None,
    tier: Tier = "array",
    dtypes: Iterable[object] | None = None,
    all: bool = False,
) -> Table:
    """The table of a system, of promotion alone or of an operation; the rows are of a tier, the columns arrays.

    `dtypes`: the operands; without it all that the system has, those of less than 8 bits and the small floats only if
    `all`, Python scalars only where they are taken.

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
    known = None if op is None else operation(op)
    if known:
        op = known.name
        known.check_table()
    alone = known is not None and known.alone
    columns, left_out = ([str(_read(x, found)) for x in dtypes], ()) if dtypes is not None else _operands(found, all)
    if not columns:
        raise DTypeError("a table of no dtypes at all; name at least one")
    rows = _rows(columns, tier, found)
    columns = [c for c in columns if tier == "array" or dtypes is not None or c not in SCALARS]
    columns = [op] if op and alone else columns
    beside = [()] if alone else [(_read(c, found),) for c in columns]
    cells = tuple(tuple(found.explain(_read(r, found), *c, op=op) for c in beside) for r in rows)
    full = Table(found, op, tuple(rows), tuple(columns), cells)
    if dtypes is not None:
        return full
    rows = [r for r, ps in zip(rows, full.cells, strict=True) if r not in SCALARS or any(p.dtype for p in ps)]
    columns = [c for j, c in enumerate(columns) if c not in SCALARS or any(ps[j].dtype for ps in full.cells)]
    return Table(found, op, *_part(full, rows, columns), left_out)


def diff(
    a: str | Path | System,
    b: str | Path | System,
    op: str | None = None,
    tier: Tier = "array",
    dtypes: Iterable[object] | None = None,
    all: bool = False,
) -> Diff:
    """Where two systems answer otherwise, over the dtypes that both have.

    >>> import typelattice as tl
    >>> tl.diff("jax", "jax-x32", dtypes=["int8", "float32"]).summary
    '0 of 4 cells differ'
    """
    one, other = (table(s, op, tier, dtypes, all) for s in (a, b))
    if dtypes is None:
        common = [x for x in one.columns if x in other.columns]
        if not common:
            raise DTypeError(f"{one.system.name} and {other.system.name} have no dtype in common")
        rows = [x for x in one.rows if x in other.rows]
        left_out = tuple(d for d in one.left_out if d in other.left_out)
        one, other = (Table(t.system, op, *_part(t, rows, common), left_out) for t in (one, other))
    return Diff(one, other)


def _part(t: Table, rows: list[str], columns: list[str]) -> tuple[tuple[str, ...], tuple[str, ...], Cells]:
    """Some rows and columns of a table, in its own order."""
    down = [i for i, x in enumerate(t.rows) if x in rows]
    across = [j for j, x in enumerate(t.columns) if x in columns]
    cells = tuple(tuple(t.cells[i][j] for j in across) for i in down)
    return tuple(t.rows[i] for i in down), tuple(t.columns[j] for j in across), cells


def _operands(found: System, all: bool) -> tuple[list[str], tuple[DType, ...]]:
    """The operands of a system's own order, kind by kind from narrow to wide; and the dtypes left out."""
    have = sorted({n for n in (*found.order.nodes, *found.before) if isinstance(n, DType)}, key=place)
    least = {Kind.FLOAT: 9, Kind.UNSIGNED: 8, Kind.SIGNED: 8}
    small = tuple(d for d in have if d.bits is not None and d.bits < least.get(d.kind, 0))
    left_out = () if all or len(small) == len(have) else small
    widths = sorted((n.dtype for n in found.order.nodes if isinstance(n, Weak) and n.dtype), key=place)
    return [d.name for d in have if d not in left_out] + ([f"{d}:weak" for d in widths] or [*SCALARS]), left_out


def _read(x: object, found: System) -> Operand:
    """An operand of a system's; a string may name a dtype of its own."""
    return found.operand(x)


def _rows(columns: list[str], tier: Tier, found: System) -> list[str]:
    """The operands of the rows, of the tier asked for."""
    if tier == "scalar":
        return ["True", *SCALARS]
    parsed = [_read(c, found) for c in columns]
    if tier == "array":
        return list(columns)
    return [f"{c}:0d" for c, o in zip(columns, parsed, strict=True) if o.tier == "array" and not o.weak] or list(columns)


def label(text: str, found: System, codes: str) -> Cell:
    """An operand as the label of a row or column; an operation's own name as it is."""
    if text in OPERATIONS:
        return Cell(text)
    o: Operand = _read(text, found)
    if o.dtype is None or o.tier == "scalar":
        word = text if o.value is not None or codes == "names" else repr(weak(o.kind))
        return Cell(word, (o.kind.value, *(["weak"] * o.weak)), f"a Python {'int' if o.kind is Kind.SIGNED else o.kind}")
    stem = short(o.dtype, codes) + "*" * o.weak + ":0d" * (o.tier == "0d") + (f"={o.value}" if o.value is not None else "")
    return Cell(stem, (o.kind.value, *(["weak"] * o.weak)), text)


def code(p: Promotion, codes: str = "bits") -> str:
    """The answer in a cell: `i16`, `f*` if it is weak, `f32*` where weak dtypes have a width; `-` for a refusal."""
    if p.dtype is None:
        return REFUSED
    if not p.weak:
        return short(p.dtype, codes)
    if p.dtype is p.system.defaults.get(p.dtype.kind) and weak(p.dtype.kind, p.dtype) not in p.system.order:
        return repr(weak(p.dtype.kind)) if codes != "names" else f"{p.dtype}*"
    return f"{short(p.dtype, codes)}*"


def short(d: DType, codes: str) -> str:
    """A dtype's code: the one that counts bits, NumPy's, or its name."""
    if codes not in CODES:
        raise ValueError(f"unknown codes {codes!r}; these are {', '.join(CODES)}")
    if codes == "bytes":
        bytewise = f"{d.code[0]}{(d.bits or 0) // 8}"
        return bytewise if numpy_reading(bytewise) is d else "b1" if d is BOOL else d.name
    return d.code if codes == "bits" else d.name


def _marks(p: Promotion) -> tuple[str, ...]:
    if p.dtype is None:
        return ("refused",)
    lossy = any(c.loss for c in p.casts)
    return (p.dtype.kind.value, *(["weak"] * p.weak), *(["lossy"] * lossy))


def _say(p: Promotion) -> str:
    """One line on a cell: what was asked, the answer, and why not or what is lost."""
    lost = dict.fromkeys(cast_words(c) for c in p.casts if c.loss)
    return ". ".join((f"{question(p)}: {answer(p)}", *([str(p.reason)] if p.reason else []), *lost))


def _pair(codes: str, p: Promotion, q: Promotion) -> Cell:
    """A cell of a diff."""
    title = f"{question(p)}: {p.system.name} {answer(p)}, {q.system.name} {answer(q)}"
    if not _differ(p, q):
        return Cell(code(p, codes), ("same", *_marks(p)), title)
    return Cell(f"{code(p, codes)}|{code(q, codes)}", ("differs",), title)


def _differ(p: Promotion, q: Promotion) -> bool:
    return (p.dtype, p.weak) != (q.dtype, q.weak)


def _left_out(dtypes: tuple[DType, ...]) -> list[str]:
    codes = ", ".join(d.code for d in dtypes)
    return [f"left out: {len(dtypes)} small dtypes ({codes}); all=True or --all shows them"] if dtypes else []
