"""The memory of a run by module, dtype and sort of tensor: what is kept, and what was alive at the peak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from typelattice.tracing.run_data.operation_log import (
    ACTIVATION,
    CATEGORIES,
    CATEGORY_BY_PHASE,
    FORWARD,
    OTHER,
    Memory,
    OperationLog,
)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """The tensors of one sort and dtype in one module: their number and their bytes."""

    module: str
    category: str
    dtype: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """The tensors that models and optimizers keep, and the memory that was alive at the peak.

    `kept` has parameters, buffers, gradients and optimizer state, as they were last read. Their bytes are
    those of their elements. `peak` has the memory that was alive when most was, and adds up to `peak_bytes`.
    """

    kept: tuple[MemoryRow, ...]
    peak: tuple[MemoryRow, ...]
    peak_bytes: int


def make_memory_table(log: OperationLog) -> MemoryTable:
    """Make the table of a run."""
    stored = [each for group in log.stored.values() for each in group]
    kept = _add_up((each.module, each.category, each.dtype, each.bytes) for each in stored)
    peak = _add_up((each.module, _category_at_peak(each), each.dtype, each.bytes) for each in log.peak)
    return MemoryTable(kept, peak, log.peak_bytes)


def _category_at_peak(memory: Memory) -> str:
    """Return the sort of memory that was alive at the peak."""
    if memory.category:
        return memory.category
    if memory.made.place.phase == FORWARD:
        return ACTIVATION if memory.module else OTHER
    return CATEGORY_BY_PHASE[memory.made.place.phase]


def _add_up(entries: Iterable[tuple[str, str, str, int]]) -> tuple[MemoryRow, ...]:
    counts: dict[tuple[str, str, str], list[int]] = {}
    for module, category, dtype, size in entries:
        total = counts.setdefault((module, category, dtype), [0, 0])
        total[0] += 1
        total[1] += size
    rows = [MemoryRow(*key, *total) for key, total in counts.items()]
    return tuple(sorted(rows, key=lambda row: (row.module, _order(row.category), row.dtype)))


def _order(category: str) -> int:
    order = {each: i for i, each in enumerate(dict.fromkeys((*CATEGORIES, *CATEGORY_BY_PHASE.values())))}
    return order[category]


def add_up_modules(rows: Iterable[MemoryRow]) -> tuple[MemoryRow, ...]:
    """Add up the rows of all modules, by sort and dtype."""
    totals: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        total = totals.setdefault((row.category, row.dtype), [0, 0])
        total[0] += row.count
        total[1] += row.bytes
    made = [MemoryRow("", category, dtype, *total) for (category, dtype), total in totals.items()]
    return tuple(sorted(made, key=lambda row: (_order(row.category), row.dtype)))


def table_data(table: MemoryTable) -> Mapping[str, object]:
    """Return a table as plain data."""
    rows = {"kept": table.kept, "peak": table.peak}
    return {
        "peak_bytes": table.peak_bytes,
        **{
            name: [
                {
                    "module": row.module,
                    "what": row.category,
                    "dtype": row.dtype,
                    "number": row.count,
                    "bytes": row.bytes,
                }
                for row in found
            ]
            for name, found in rows.items()
        },
    }
