"""A grid of systems, laws and criteria: the laws that each keeps, and the criteria that it breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from typelattice.base.rendering import Cell, Grid
from typelattice.core.dtypes.dtypes import DTypeError
from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_text import systems as all_systems
from typelattice.study.laws.jep9407_criteria import CRITERIA, criteria, list_pairs
from typelattice.study.laws.laws import STATEMENT_BY_LAW, laws
from typelattice.study.tables.study_scope import TierChoice

if TYPE_CHECKING:
    from pathlib import Path

NOT_ASKED = "-"
HEADING_BY_LAW = dict(
    zip(
        STATEMENT_BY_LAW,
        ("idem", "comm", "assoc", "bounds", "free", "mono", "dist", "id", "top"),
        strict=True,
    )
)


def laws_overview(
    systems: Iterable[str | Path | System] | None = None,
    tier: TierChoice = "array",
    dtypes: Iterable[object] | None = None,
) -> Grid:
    """Show systems (rows) with their laws and the number of pairs that break each criterion.

    Without `systems`, the table has all built-in systems. `tier` and `dtypes` are as in `laws` and
    `criteria`. A system without such operands gets `-`. Raises UnknownSystemError, FormatError.

    >>> from typelattice.study.laws.laws_overview import laws_overview
    >>> print(laws_overview(["numpy", "jax"], dtypes=["int8", "uint8", "float16"]).cells[0][:4])
    (Cell(text='3', ...), Cell(text='✓', ...), Cell(text='✓', ...), Cell(text='✗', ...))
    """
    found = [find_system(s) for s in (all_systems() if systems is None else systems)]
    chosen = None if dtypes is None else list(dtypes)
    heads = [
        Cell("n", (), "operands"),
        *(Cell(HEADING_BY_LAW[law], (), f"{law}: {about}") for law, about in STATEMENT_BY_LAW.items()),
        Cell("pairs", (), "pairs of operands"),
        *(Cell(c.column_heading, (), c.description) for c in CRITERIA.values()),
    ]  # fmt: skip
    renamed = "; ".join(
        f"{HEADING_BY_LAW[law]} {law}" for law in STATEMENT_BY_LAW if HEADING_BY_LAW[law] != law
    )
    criteria_heads = "; ".join(f"{c.column_heading} {c.description}" for c in CRITERIA.values())
    notes = (
        f"✓ the law holds, ✗ it does not, ? not known: `typelattice laws SYSTEM` says more. "
        f"n operands; {renamed}",
        f"pairs of different operands; of these {criteria_heads}",
    )
    title = f"Laws and criteria{'' if tier == 'array' else f', tier {tier}'}"
    rows = tuple(Cell(s.name, (), s.title) for s in found)
    return Grid(
        title,
        tuple(heads),
        rows,
        tuple(tuple(_overview_cells(s, tier, chosen, len(heads))) for s in found),
        notes,
    )


def _overview_cells(
    system: System, tier: TierChoice, dtypes: Sequence[object] | None, length: int
) -> Iterator[Cell]:
    try:
        verdicts, broken_criteria = laws(system, tier, dtypes), criteria(system, tier, dtypes)
    except DTypeError as e:
        yield from [Cell(NOT_ASKED, ("refused",), str(e))] * length
        return
    yield Cell(str(len(verdicts.operands)))
    for verdict in verdicts.values():
        yield Cell(verdict.mark, () if verdict else ("differs",), str(verdict))
    yield Cell(str(broken_criteria.pair_count))
    for name, pairs in broken_criteria.items():
        yield Cell(
            str(len(pairs)), (), list_pairs(pairs) if pairs else f"no pair: {CRITERIA[name].description}"
        )
