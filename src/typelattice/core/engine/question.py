"""A question to a system, and the two forms of its answer: a dtype, or a refusal."""
from __future__ import annotations

from collections.abc import Callable, Sequence

from typelattice.base.objects.frozen_classes import frozen, replace
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.decisions import Decision, RefusalError
from typelattice.core.engine.promotion import DecidingLines, Promotion
from typelattice.core.engine.rules import Rules
from typelattice.core.operands.operand import Operand


@frozen()
class Question:
    """A question about operands: what they promote to, or what a cast, an index or a write makes of them.

    `text` is the question in words, if it is not the promotion of the operands. `find_rule` finds the lines
    of the files behind its answer.
    """

    rules: Rules
    operands: tuple[Operand, ...]
    find_rule: Callable[[Promotion], DecidingLines]
    op: str | None = None
    text: str = ""

    def refuse(self, decisions: Sequence[Decision], refusal: RefusalError) -> Promotion:
        """Return the answer that the system refuses the operands."""
        return Promotion(
            self.rules, self.operands, self.op, (*decisions, refusal.decision), self.find_rule,
            reason=refusal.reason, remedy=refusal.remedy, question=self.text,
        )  # fmt: skip

    def answer(self, decisions: Sequence[Decision], dtype: DType | None, weak: bool = False) -> Promotion:
        """Return the answer of an array of this dtype. It is None for a Python number, which stays one."""
        node = dtype or self.operands[0].node
        return Promotion(
            self.rules, self.operands, self.op, tuple(decisions), self.find_rule, node, dtype, dtype, weak,
            question=self.text,
        )  # fmt: skip

    def rest_on(self, basis: Promotion, weak: bool) -> Promotion:
        """Return the answer of a promotion as the answer to this question."""
        return replace(basis, weak=weak, question=self.text, basis=basis)
