"""The agreement of systems: pairs with one answer, contested pairs and by whom, and refused pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.base.rendering import Cell, Grid, render
from typelattice.core.dtypes.dtypes import DTypeError
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.system_files.reader import system as find_system
from typelattice.study.tables.study_scope import TierChoice, check_size, common_dtypes, read_operand
from typelattice.study.tables.table_labels import REFUSED_LABEL, dtype_code, operand_label
from typelattice.study.tables.tables import convert_to_tier, tiers_of

if TYPE_CHECKING:
    from pathlib import Path

OperandPair = tuple[str, str]
PAIR_CLASSES = ("agreed", "contested", "refused")


@dataclass(frozen=True, slots=True, repr=False)
class Consensus(NotebookDisplay):
    """The answers of several systems to the same pairs of operands, compared by dtype but not by weakness.

    >>> import typelattice as tl
    >>> found = tl.consensus("numpy", "jax", "torch")
    >>> found.classify("int8", "uint8"), found.classify("int64", "float32"), found.classify("uint16", "int8")
    ('agreed', 'contested', 'refused')
    >>> found.by_answer("int64", "float32")
    {'float64': ('numpy',), 'float32': ('jax', 'torch')}
    """

    systems: tuple[System, ...]
    op: str | None
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    answers: Mapping[OperandPair, tuple[Promotion, ...]]

    def by_answer(self, row: object, column: object) -> dict[str, tuple[str, ...]]:
        """Map each answer to a pair to the names of the systems that give it; `-` is a refusal."""
        found: dict[str, tuple[str, ...]] = {}
        for p in self.answers[str(row), str(column)]:
            answer = str(p.dtype) if p.dtype else REFUSED_LABEL
            found[answer] = (*found.get(answer, ()), p.system.name)
        return found

    def classify(self, row: object, column: object) -> str:
        """Return `agreed` (one dtype from all), `refused` (by some system) or `contested` (dtypes differ)."""
        answers = self.by_answer(row, column)
        return "refused" if REFUSED_LABEL in answers else "agreed" if len(answers) == 1 else "contested"

    def pairs(self, pair_class: str) -> tuple[OperandPair, ...]:
        """Return the pairs of a sort."""
        return tuple(pair for pair in self.answers if self.classify(*pair) == pair_class)

    @property
    def names(self) -> str:
        """The names of the systems, separated by commas."""
        return ", ".join(s.name for s in self.systems)

    @property
    def summary(self) -> str:
        """The number of pairs of each sort, in a line."""
        counts = [f"{len(self.pairs(sort))} {sort}" for sort in PAIR_CLASSES]
        return f"{len(self.answers)} pairs under {self.names}: {', '.join(counts)}"

    def groups(self, pair_class: str) -> dict[str, list[OperandPair]]:
        """Group the pairs of a sort by the split of systems, `numpy | jax, torch`, the most common first."""
        found: dict[str, list[OperandPair]] = {}
        for pair in self.pairs(pair_class):
            answers = self.by_answer(*pair).items()
            sides = [f"{', '.join(names)}{' refuse' * (said == REFUSED_LABEL)}" for said, names in answers]
            found.setdefault(" | ".join(sorted(sides)), []).append(pair)
        return dict(sorted(found.items(), key=lambda group: -len(group[1])))

    def grid(self, codes: str = "bits") -> Grid:
        """Lay out the answers: a dtype if all agree, `?` if not, `-` if all refuse, `(-)` if some do."""
        cells = tuple(
            tuple(self._make_cell((row, column), codes) for column in self.columns) for row in self.rows
        )
        notes = (self.summary, "? contested; (-) refused by some; - refused by all")
        title = f"{self.op or 'promotion'}: consensus of {self.names}"
        rows = tuple(operand_label(self._pair_operands(row, self.columns[0])[0], codes) for row in self.rows)
        if self.columns == (self.op,):
            return Grid(title, (Cell(self.columns[0]),), rows, cells, notes)
        columns = tuple(
            operand_label(self._pair_operands(self.rows[0], column)[1], codes) for column in self.columns
        )
        return Grid(title, columns, rows, cells, notes, self.op or "")

    def _pair_operands(self, row: str, column: str) -> tuple[Operand, ...]:
        return self.answers[row, column][0].operands

    def _make_cell(self, pair: OperandPair, codes: str) -> Cell:
        said = "; ".join(f"{answer} {', '.join(names)}" for answer, names in self.by_answer(*pair).items())
        sort, first = self.classify(*pair), self.answers[pair][0]
        if sort == "agreed":
            strong = [p for p in self.answers[pair] if not p.weak] or [first]
            return Cell(dtype_code(strong[0], codes), (str(first.dtype and first.dtype.kind.value),), said)
        if sort == "contested":
            return Cell("?", ("differs",), said)
        all_refuse = all(p.dtype is None for p in self.answers[pair])
        return Cell(REFUSED_LABEL if all_refuse else f"({REFUSED_LABEL})", ("refused",), said)

    def __repr__(self) -> str:
        return f"<consensus: {self.summary}>"

    def __str__(self) -> str:
        return render(self)


def consensus(
    *systems: str | Path | System,
    op: str | None = None,
    tier: TierChoice = "array",
    dtypes: Iterable[object] | None = None,
) -> Consensus:
    """Compare the answers of systems over the dtypes that all have.

    As in `table`, the columns are arrays and the rows are of a tier. `dtypes`: the operands; give a dtype
    that the file of one of the systems defines by its name. Raises UnknownSystemError, FormatError, OpError;
    DTypeError if there is no dtype in common or a name is ambiguous.

    >>> import typelattice as tl
    >>> print(tl.consensus("numpy", "jax", dtypes=["int32", "float32"]).summary)
    4 pairs under numpy, jax: 2 agreed, 2 contested, 0 refused
    """
    found = tuple(find_system(s) for s in systems)
    if len(found) < 2:
        raise DTypeError("a consensus needs two systems at least")
    columns = (
        [operand_of_dtype(d) for d in common_dtypes(found)]
        if dtypes is None
        else [read_operand(x, found) for x in dtypes]
    )
    if not columns:
        raise DTypeError(f"{', '.join(s.name for s in found)} have no dtype in common")
    check_size(len(columns), found[0].name)
    rows = dict.fromkeys(o for one in tiers_of(tier, found) for o in convert_to_tier(columns, one))
    known = None if op is None else found[0].find_operation(op)
    if known:
        known.check_table()
    op = known.name if known else None
    beside: dict[str, tuple[Operand, ...]] = {str(c): (c,) for c in columns}
    if known and known.has_one_promoting_operand:
        beside = {known.name: ()}
    answers = {
        (str(r), c): tuple(s.explain(r, *beside[c], op=op) for s in found) for r, c in product(rows, beside)
    }
    return Consensus(found, op, tuple(map(str, rows)), tuple(beside), answers)


def find_undefined(standard: System, other_systems: Consensus) -> tuple[OperandPair, ...]:
    """Find the unordered pairs that a standard with both dtypes leaves undefined, and on which the others
    agree.
    """
    has = {d.name for d in standard.dtypes}
    return tuple(
        (a, b)
        for i, a in enumerate(other_systems.rows)
        for b in other_systems.columns[i + 1 :]
        if {a, b} <= has and standard.explain(a, b).dtype is None and other_systems.classify(a, b) == "agreed"
    )


def find_contradicted(standard: System, other_system: System) -> tuple[tuple[Promotion, Promotion], ...]:
    """Find where a system contradicts a standard; return pairs (the standard's answer, the system's)."""
    found = []
    for a, b in product(common_dtypes((standard, other_system)), repeat=2):
        defined, answered = standard.explain(a, b), other_system.explain(a, b)
        if defined.dtype and defined.dtype is not answered.dtype:
            found.append((defined, answered))
    return tuple(found)
