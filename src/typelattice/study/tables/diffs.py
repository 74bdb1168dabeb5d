"""Two systems side by side: the operands that they answer differently."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.base.rendering import Cell, Grid, render
from typelattice.core.dtypes.dtypes import DTypeError
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.explanations.promotion_in_english import answer_text, question_of_promotion
from typelattice.core.system_files.reader import system as find_system
from typelattice.study.tables.study_scope import TierChoice, read_operand
from typelattice.study.tables.table_labels import (
    REFUSED_LABEL,
    SHOW_SMALL,
    answer_marks,
    describe_left_out,
    dtype_code,
)
from typelattice.study.tables.tables import Table, make_table, operands_of, tiers_of, without_idle_scalars

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, repr=False)
class Diff(NotebookDisplay):
    """Two tables of the same operands under two systems; `differing` are the (row, column) where the answers
    differ.

    >>> import typelattice as tl
    >>> d = tl.diff("numpy", "jax")
    >>> ("int64", "float32") in d.differing, ("int8", "uint8") in d.differing
    (True, False)
    """

    left: Table
    right: Table

    @property
    def differing(self) -> tuple[tuple[str, str], ...]:
        """The (row, column) of each cell where the answers differ."""
        places = ((row, column) for row in self.left.rows for column in self.left.columns)
        return tuple(
            place for place, (p, q) in zip(places, self._answer_pairs(), strict=True) if answers_differ(p, q)
        )

    @property
    def summary(self) -> str:
        """The number of cells that differ, and how they differ."""
        names = self.left.system.name, self.right.system.name
        differing = [(p.dtype, q.dtype) for p, q in self._answer_pairs() if answers_differ(p, q)]
        ways = {
            "another dtype": sum(bool(p and q and p is not q) for p, q in differing),
            "weak in one only": sum(bool(p and p is q) for p, q in differing),
            f"refused by {names[0]} only": sum(p is None for p, _ in differing),
            f"refused by {names[1]} only": sum(q is None for _, q in differing),
        }
        said = ", ".join(f"{n} {way}" for way, n in ways.items() if n)
        counted = f"{len(differing)} of {len(self.left.rows) * len(self.left.columns)} cells differ"
        return f"{counted}: {said}" if said else counted

    def grid(self, codes: str = "bits") -> Grid:
        """Lay out the diff as a grid: `a|b` if the answers differ."""
        a, b = self.left, self.right
        cells = tuple(
            tuple(_diff_cell(p, q, codes) for p, q in zip(ps, qs, strict=True))
            for ps, qs in zip(a.cells, b.cells, strict=True)
        )
        notes = [
            self.summary,
            f"left: {a.system.name}, {a.system.title}",
            f"right: {b.system.name}, {b.system.title}",
        ]
        if any(p.dtype is None for p in chain(*a.cells, *b.cells)):
            notes.append(f"{REFUSED_LABEL} is a refusal")
        rows, columns, corner = a.labels(codes)
        title = f"{a.operation_text}: {a.system.name}|{b.system.name}"
        return Grid(title, columns, rows, cells, (*notes, *describe_left_out(a.left_out, SHOW_SMALL)), corner)

    def _answer_pairs(self) -> Iterator[tuple[Promotion, Promotion]]:
        """Yield the two answers of each cell, row by row."""
        return zip(chain(*self.left.cells), chain(*self.right.cells), strict=True)

    def __repr__(self) -> str:
        return f"<diff of {self.left.system.name} and {self.right.system.name}: {self.summary}>"

    def __str__(self) -> str:
        return render(self)


def diff(
    a: str | Path | System,
    b: str | Path | System,
    op: str | None = None,
    tier: TierChoice = "all",
    dtypes: Iterable[object] | None = None,
    small: bool = False,
) -> Diff:
    """Compare the answers of two systems over the dtypes that both have.

    The options are those of `table`. The rows have all tiers that one of the systems distinguishes, because
    many changes from NumPy 1 to 2 concern arrays without dimensions. Raises the same errors as `table`.

    >>> import typelattice as tl
    >>> tl.diff("jax", "jax-x32", dtypes=["int8", "float32"])
    <diff of jax and jax-x32: 0 of 4 cells differ>
    >>> ("float32:0d", "float") in tl.diff("numpy1", "numpy").differing
    True
    """
    both = [find_system(a), find_system(b)]
    tiers = tiers_of(tier, both)
    if dtypes is not None:
        operands = [read_operand(x, both) for x in dtypes]
        return Diff(*(make_table(s, op, tiers, operands) for s in both))
    (own, hidden), (others, hidden_there) = (operands_of(s, tier, small) for s in both)
    common = [o for o in own if o in others]
    found = [without_idle_scalars(make_table(s, op, tiers, common)) for s in both if common]
    rows = [x for x in found[0].rows if x in found[1].rows] if found else []
    columns = [x for x in found[0].columns if x in found[1].columns] if found else []
    if not rows or not columns:
        raise DTypeError(f"{both[0].name} and {both[1].name} have no dtype in common")
    not_shown = tuple(d for d in hidden if d in hidden_there)
    return Diff(*(replace(t.part(rows, columns), left_out=not_shown) for t in found))


def answers_differ(left: Promotion, right: Promotion) -> bool:
    """Return True if two answers differ in their dtype or in their weakness."""
    return (left.dtype, left.weak) != (right.dtype, right.weak)


def _diff_cell(left: Promotion, right: Promotion, codes: str) -> Cell:

    def describe_difference() -> str:
        answers = ", ".join(f"{p.system.name} {answer_text(p)}" for p in (left, right))
        return f"{question_of_promotion(left)}: {answers}"

    if not answers_differ(left, right):
        return Cell(dtype_code(left, codes), ("same", *answer_marks(left)), describe_difference)
    return Cell(f"{dtype_code(left, codes)}|{dtype_code(right, codes)}", ("differs",), describe_difference)
