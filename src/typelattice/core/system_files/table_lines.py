"""The lines of our own tables of operations that decide an answer, as the lines of a file do."""

from __future__ import annotations

from functools import cache

from typelattice.core.engine.decisions import Decision, MissingDimensions, MissingOperation
from typelattice.core.engine.operation_rules import STANDARD_TABLE_PATH
from typelattice.core.engine.promotion import DecidingLines
from typelattice.core.operations.missing_operations import MISSING_OPERATIONS_TABLE_PATH
from typelattice.core.operations.operations import OPERATIONS, OPERATIONS_TABLE_PATH


def table_rule(decision: Decision) -> DecidingLines:
    """Return the line of a table behind a decision on an operation.

    It states that a library lacks the operation, or the dimensions of an operand, or it is the line of the
    standard that an entry of `ops` overrides.
    """
    if isinstance(decision, MissingOperation):
        return _find_row(MISSING_OPERATIONS_TABLE_PATH, decision.entry)
    if isinstance(decision, MissingDimensions):
        return _find_row(OPERATIONS_TABLE_PATH, decision.entry)
    known = OPERATIONS.get(decision.entry or "")
    return _find_row(STANDARD_TABLE_PATH, known.operation_class if known else decision.entry)


@cache
def _find_row(path: str, name: str | None) -> DecidingLines:
    """Return the row of one of our tables that begins with a name."""
    with open(path, encoding="utf-8") as table:
        rows = [row.rstrip("\n") for row in table]
    lines = tuple(n for n, row in enumerate(rows, 1) if row.partition(" ")[0] == name)
    return DecidingLines(path.rpartition("/")[2], "ops", lines, tuple(rows[n - 1] for n in lines))
