"""Promotion of operands, with or without an operation, under some rules. All answers are made here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from typelattice.core.engine.decisions import Decision, RefusalError
from typelattice.core.engine.evaluation import Evaluation
from typelattice.core.engine.join_tiers import join_tiers
from typelattice.core.engine.promotion import DecidingLines, Promotion
from typelattice.core.engine.question import Question
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.scalar_fit import check_scalar_limits, fit_values
from typelattice.core.operands.operand import Operand


def promote_operands(
    rules: Rules,
    operands: tuple[Operand, ...],
    name: str | None,
    find_rule: Callable[[Promotion], DecidingLines],
) -> Promotion:
    """Answer a question: the dtype that operands promote to, with or without an operation.

    Raises OpError if the operation is unknown or does not take these operands.
    """
    decisions: list[Decision] = []
    promoting, op = operands, None
    if name is not None:
        # promotion without an operation needs no rules of operations
        from typelattice.core.engine.evaluate_operation import evaluate_operation, prepare_operation
        from typelattice.core.engine.operation_question import OperationQuestion

        op, promoting = prepare_operation(rules, name, operands)
        name = op.name
    with_parameters = promoting
    if rules.families:
        # few systems have dtypes with parameters
        from typelattice.core.engine.join_parametric_dtypes import replace_members_by_families

        promoting = replace_members_by_families(promoting)
    try:
        if any(o.foreign_library for o in operands):
            # few questions are of another library's arrays
            from typelattice.core.engine.foreign_arrays import (
                check_nonpromoting_foreign,
                replace_foreign_arrays,
            )

            check_nonpromoting_foreign(rules, operands, promoting)
            promoting = replace_foreign_arrays(rules, op, promoting, decisions)
        evaluation = (
            _evaluate_promotion(rules, promoting, decisions)
            if op is None
            else evaluate_operation(OperationQuestion(rules, op, promoting, decisions))
        )
        if rules.families:
            from typelattice.core.engine.join_parametric_dtypes import replace_families_by_members

            evaluation = replace_families_by_members(rules, op, with_parameters, evaluation, decisions)
    except RefusalError as e:
        return Question(rules, operands, find_rule, name).refuse(decisions, e)
    return Promotion(
        rules, operands, name, tuple(decisions), find_rule,
        evaluation.node, evaluation.compute, evaluation.dtype, evaluation.weak, evaluation.fits,
        evaluation.python_number_kind, evaluation.accumulator,
    )  # fmt: skip


def _evaluate_promotion(rules: Rules, operands: Sequence[Operand], decisions: list[Decision]) -> Evaluation:
    """Return the outcome of promotion without an operation."""
    check_scalar_limits(rules.limits, operands)
    node, dtype, weak = join_tiers(rules, operands, decisions)
    return Evaluation(node, dtype, dtype, weak, tuple(fit_values(rules, operands, dtype, None)))
