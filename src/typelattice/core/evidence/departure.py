"""Departures: calls with another result in the library than by its rule, with reason and source."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.engine.operation_rules import entry_names
from typelattice.core.evidence.operand_patterns import OperandPattern, RecordedOperand
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import OPERATION_BY_NAME, find_operation


def function_of_call(recorded: str) -> str:
    """Return the name of the function that a recorded call is of. Another name is that of an operation.

    >>> function_of_call("numpy.linalg.tensorsolve(x, (2, 2))"), function_of_call("topk.values")
    ('linalg.tensorsolve', 'topk.values')
    """
    name, parenthesis, _ = recorded.partition("(")
    return name.partition(".")[2] if parenthesis else recorded


@frozen()
class OperationSet:
    """Operations, named like entries of `ops` in a system file: an operation, a class or a group.

    >>> but_add = OperationSet(frozenset({"arithmetic"}), excluded=frozenset({"add"}))
    >>> "multiply" in but_add, "add" in but_add, "+=" in but_add
    (True, False, False)
    """

    listed: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def __contains__(self, op_name: str) -> bool:
        if op_name not in OPERATION_BY_NAME:  # a function of a book, or a call of one
            name = function_of_call(op_name)
            return name in self.listed and name not in self.excluded
        named = entry_names(find_operation(op_name))
        return not self.listed.isdisjoint(named) and self.excluded.isdisjoint(named)


@frozen()
class Departure:
    """A reason why some calls of a library do not follow its rule.

    `operands` are the operand patterns of the calls, or empty for any operands. `count` is the number of
    recorded calls. If `varies` is set, the library answers such a call in several ways, e.g. by the chunks of
    an array. The recording has one of them.
    """

    ops: OperationSet
    operands: tuple[OperandPattern, ...]
    reason: str
    source: str
    count: int = 0
    varies: bool = False

    def covers(self, op_name: str, operands: Sequence[RecordedOperand]) -> bool:
        """Return True if the departure covers a call of an operation with these operands."""
        if op_name not in self.ops:
            return False
        return not self.operands or any(pattern.covers(operands) for pattern in self.operands)


def departure_of(
    call: RecordedCall, operands: Sequence[Operand], listed_departures: Sequence[Departure]
) -> Departure | None:
    """Return the first listed departure that covers a call. `operands` are the call's, as read."""
    recorded_operands = RecordedOperand.read_call(call.operands, operands)
    return next(
        (departure for departure in listed_departures if departure.covers(call.op, recorded_operands)), None
    )
