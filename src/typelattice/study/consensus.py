"""Where systems agree: which pairs all answer alike, which are contested and by whom, which someone refuses."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, DTypeError, dtype, place
from typelattice.facts.operations import operation
from typelattice.files.reader import system as find_system
from typelattice.operands.notation import parse
from typelattice.operands.operand import Operand, Tier, of
from typelattice.rendering import Cell, Grid, render
from typelattice.study.tables import REFUSED, code, label

if TYPE_CHECKING:
    from pathlib import Path

Pair = tuple[str, str]
SORTS = ("agreed", "contested", "refused")


@dataclass(frozen=True, slots=True, repr=False)
class Consensus:
    """What several systems answer to the same pairs of operands; weakness does not count, the dtype does.

    >>> import typelattice as tl
    >>> found = tl.consensus("numpy", "jax", "torch")
    >>> found.sort("int8", "uint8"), found.sort("int64", "float32"), found.sort("uint16", "int8")
    ('agreed', 'contested', 'refused')
    >>> found.by_answer("int64", "float32")
    {'float64': ('numpy',), 'float32': ('jax', 'torch')}
    """

    systems: tuple[System, ...]
    op: str | None
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    answers: Mapping[Pair, tuple[Promotion, ...]]

    def by_answer(self, row: object, column: object) -> dict[str, tuple[str, ...]]:
        """Each answer to a pair with the names of the systems that give it; `-` is a refusal."""
        found: dict[str, tuple[str, ...]] = {}
        for p in self.answers[str(row), str(column)]:
            said = str(p.dtype) if p.dtype else REFUSED
            found[said] = (*found.get(said, ()), p.system.name)
        return found

    def sort(self, row: object, column: object) -> str:
        """`agreed`: one dtype from all; `refused`: someone refuses; `contested`: dtypes differ."""
        answers = self.by_answer(row, column)
        return "refused" if REFUSED in answers else "agreed" if len(answers) == 1 else "contested"

    def pairs(self, sort: str) -> tuple[Pair, ...]:
        """The pairs of a sort."""
        return tuple(pair for pair in self.answers if self.sort(*pair) == sort)

    @property
    def summary(self) -> str:
        """How many pairs there are of each sort."""
        counts = [f"{len(self.pairs(sort))} {sort}" for sort in SORTS]
        return f"{len(self.answers)} pairs under {', '.join(s.name for s in self.systems)}: {', '.join(counts)}"

    def groups(self, sort: str) -> dict[str, list[Pair]]:
        """The pairs of a sort by who stands against whom, the commonest split first: `numpy | jax, torch`."""
        found: dict[str, list[Pair]] = {}
        for pair in self.pairs(sort):
            sides = [f"{', '.join(names)}{' refuse' * (said == REFUSED)}" for said, names in self.by_answer(*pair).items()]
            found.setdefault(" | ".join(sorted(sides)), []).append(pair)
        return dict(sorted(found.items(), key=lambda group: -len(group[1])))

    def grid(self, codes: str = "bits") -> Grid:
        """The answer where all agree, `?` where they differ, `-` where all refuse, `(-)` where some do."""
        cells = tuple(tuple(self._cell((row, column), codes) for column in self.columns) for row in self.rows)
        rows, columns = (tuple(label(x, self.systems[0], codes) for x in axis) for axis in (self.rows, self.columns))
        notes = (self.summary, "? contested; (-) refused by some; - refused by all")
        title = f"{self.op or 'promotion'}: consensus of {', '.join(s.name for s in self.systems)}"
        return Grid(title, columns, rows, cells, notes, "" if self.columns == (self.op,) else self.op or "")

    def _cell(self, pair: Pair, codes: str) -> Cell:
        said = "; ".join(f"{answer} {', '.join(names)}" for answer, names in self.by_answer(*pair).items())
        sort, first = self.sort(*pair), self.answers[pair][0]
        if sort == "agreed":
            strong = [p for p in self.answers[pair] if not p.weak] or [first]
            return Cell(code(strong[0], codes), (str(first.dtype and first.dtype.kind.value),), said)
        if sort == "contested":
            return Cell("?", ("differs",), said)
        all_refuse = all(p.dtype is None for p in self.answers[pair])
        return Cell(REFUSED if all_refuse else f"({REFUSED})", ("refused",), said)

    def __str__(self) -> str:
        return render(self)

    def _repr_html_(self) -> str:
        return render(self, "html")


def consensus(
    *systems: str | Path | System, op: str | None = None, tier: Tier = "array", dtypes: Iterable[object] | None = None
) -> Consensus:
    """Where systems agree over the dtypes that all have; the rows are of a tier, the columns arrays.

    Raises UnknownSystemError, FormatError; DTypeError where there is no dtype in common.
    """
    found = tuple(find_system(s) for s in systems)
    if len(found) < 2:
        raise DTypeError("a consensus needs two systems at least")
    columns = [parse(str(d)) for d in dtypes] if dtypes is not None else [of(d) for d in common_dtypes(found)]
    if not columns:
        raise DTypeError(f"{', '.join(s.name for s in found)} have no dtype in common")
    rows = _of_tier(columns, tier)
    known = None if op is None else operation(op)
    if known:
        op = known.name
        known.check_table()
    beside = {op: ()} if known and op and known.alone else {str(c): (c,) for c in columns}
    answers = {(str(r), c): tuple(s.explain(r, *beside[c], op=op) for s in found) for r, c in product(rows, beside)}
    return Consensus(found, op, tuple(map(str, rows)), tuple(beside), answers)


def common_dtypes(systems: Sequence[System]) -> list[DType]:
    """The dtypes that all of some systems have, kind by kind from narrow to wide."""
    have = [{n for n in (*s.order.nodes, *s.before) if isinstance(n, DType)} for s in systems]
    return sorted(set.intersection(*have), key=place)


def undefined(standard: System, others: Consensus) -> tuple[Pair, ...]:
    """Unordered pairs that a standard leaves undefined, though it has both dtypes, and on which the others agree."""
    return tuple(
        (a, b)
        for i, a in enumerate(others.rows)
        for b in others.columns[i + 1 :]
        if {dtype(a), dtype(b)} <= {*standard.order.nodes}
        if standard.explain(a, b).dtype is None and others.sort(a, b) == "agreed"
    )


def contradicted(standard: System, other: System) -> tuple[tuple[Promotion, Promotion], ...]:
    """What a system answers otherwise than a standard defines it: (the standard's answer, the system's)."""
    found = []
    for a, b in product(common_dtypes((standard, other)), repeat=2):
        defined, answered = standard.explain(a, b), other.explain(a, b)
        if defined.dtype and defined.dtype is not answered.dtype:
            found.append((defined, answered))
    return tuple(found)


def _of_tier(columns: list[Operand], tier: Tier) -> list[Operand]:
    if tier == "scalar":
        return [parse(word) for word in ("True", "int", "float", "complex")]
    return [Operand(o.dtype, o.kind, o.weak, tier) for o in columns]
