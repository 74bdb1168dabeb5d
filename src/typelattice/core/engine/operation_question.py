"""The question that an operation asks of a system: its rules, the operands, and what was decided so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, Node, sort_key
from typelattice.core.engine.decisions import Decision, DTypeByOperation, RefusalError
from typelattice.core.engine.operation_rules import OperationRules, entry_names
from typelattice.core.engine.rules import Rules
from typelattice.core.losses.loss import loss
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import IN_PLACE_CLASS

REWRITE_ADVICE = "write it with operations that it has"


@frozen()
class OperationQuestion:
    """An operation on operands under the rules of a system. `decisions` grows by each decision.

    `of_operation` has what the system's file says of the operation.
    """

    rules: Rules
    of_operation: OperationRules
    operands: Sequence[Operand]
    decisions: list[Decision]

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.of_operation.name

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the operands in the order."""
        return tuple(o.node for o in self.operands)

    def of(self, operands: Sequence[Operand]) -> OperationQuestion:
        """Return the same question of other operands. Its decisions are among those of this one."""
        if operands is self.operands:
            return self
        return OperationQuestion(self.rules, self.of_operation, operands, self.decisions)

    def decide(self, nodes: Iterable[Node], result: Node | None, key: str | None = None) -> None:
        """Add the decision of an entry of the file: the one that gives a key of the operation, or any key."""
        self.decisions.append(DTypeByOperation(tuple(nodes), result, self.find_entry(key)))

    def make_refusal(self, reason: str, remedy: str, nodes: Iterable[Node], key: str) -> RefusalError:
        """Return the refusal by the entry that gives a key of the operation."""
        return RefusalError(reason, remedy, DTypeByOperation(tuple(nodes), None, self.find_entry(key)))

    def find_entry(self, key: str | None = None) -> str:
        """Return the entry of `ops` that gives a key of the operation, or any key.

        Without one, return its class.
        """
        names = entry_names(self.rules.find_operation(self.name))
        of_class = IN_PLACE_CLASS if key == "gives_into" and IN_PLACE_CLASS in names else names[-2]
        return next((name for name in names if self._has_key(name, key)), of_class)

    def _has_key(self, name: str, key: str | None) -> bool:
        """Return True if the file gives a key, or any key, of an operation, a class or a group."""
        entry = self.rules.ops.get(name, {})
        return bool(entry) if key is None else key in entry or f"{key}_of" in entry

    def find_remedy(self, nodes: Sequence[Node], operand_words: str = "the operands") -> str:
        """Say to which dtype to cast refused operands: the lowest accepted one that holds all their values.

        Without one, it is the lowest accepted dtype above them, or a default dtype.
        """
        order, defaults = self.rules.order, self.rules.defaults

        def lowest(found: Iterable[Node]) -> DType | None:
            taken = (d for d in found if isinstance(d, DType) and self._takes(d))
            return min(taken, key=sort_key, default=None)

        # The bounds of two equal dtypes include this dtype itself, which was refused.
        is_pair = len(nodes) == 2 and nodes[0] is nodes[1]
        above = order.bounds(*nodes) if not is_pair and all(node in order for node in nodes) else ()
        default = next((d for d in defaults.values() if self._takes(d)), None)
        found = self._find_lowest_holding(nodes) or lowest(above) or default or lowest(order.nodes)
        return f"cast {operand_words}, e.g. to {found}" if found else REWRITE_ADVICE

    def _takes(self, d: DType) -> bool:
        """Return True if the operation accepts a dtype of the order."""
        rules = self.of_operation
        is_each = rules.accepts is None or d in rules.accepts
        is_looped = not rules.loops or d in rules.loops
        return d in rules.kernels and is_each and is_looped and d in self.rules.order

    def _find_lowest_holding(self, nodes: Sequence[Node]) -> DType | None:
        """Find the lowest accepted dtype of their kind, or of a higher kind, that holds all their values."""
        dtypes = [node for node in nodes if isinstance(node, DType)]
        if len(dtypes) < len(nodes):
            return None
        highest = max(d.kind.category for d in dtypes)
        accepted = sorted(
            (d for d in self.rules.order.nodes if isinstance(d, DType) and self._takes(d)), key=sort_key
        )
        fitting = (d for d in accepted if d.kind.category >= highest)
        return next((d for d in fitting if not any(loss(x, d) for x in dtypes)), None)
