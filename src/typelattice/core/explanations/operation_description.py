"""An operation in English: its operands, how they join, the compute dtype and the result."""

from __future__ import annotations

from collections.abc import Iterator, Set

from typelattice.base.errors.error_texts import join_words
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.evaluate_operation import find_operation_rules
from typelattice.core.engine.operand_checks import SCALAR_PLACE_TEXTS, dtype_of_pair
from typelattice.core.engine.operation_join import counted_dtype, make_arrays
from typelattice.core.engine.operation_question import OperationQuestion
from typelattice.core.engine.operation_rules import Domain, OperationRules
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.rule_enums import JoinRule

MAX_ALWAYS_NAMED_DTYPES = 3  # excluded dtypes that are always named


def describe_operation(promotion: Promotion) -> list[str]:
    """Describe an operation: its operands, how they join, and its result."""
    assert promotion.op
    rule = find_operation_rules(promotion.system, promotion.op)
    lines = [*_describe_taken(promotion, rule), *_describe_join(promotion, rule)]
    if promotion.dtype is None:
        return lines
    given = (
        f"a Python {promotion.python_number_kind.python_name}"
        if promotion.python_number_kind
        else promotion.dtype
    )
    if promotion.accumulator is not None:
        operands = f"takes {promotion.compute}" if promotion.compute else "casts no operand"
        lines.append(f"it {operands}, accumulates in {promotion.accumulator} and gives {given}")
    elif promotion.compute is None:
        lines.append(f"it casts no operand, and gives {given}")
    else:
        lines.append(f"it computes in {promotion.compute} and gives {given}")
    return lines


def _describe_taken(promotion: Promotion, rule: OperationRules) -> Iterator[str]:
    """Describe the dtypes that the operation can compute in, and the operands that it accepts."""
    concerned = {promotion.node, promotion.compute, *(o.dtype for o in promotion.promoting_operands)}
    concerned.update(*(decision.nodes for decision in promotion.decisions))
    yield f"{promotion.op} can compute in {_describe_domain(rule.kernels, concerned)}"
    if rule.accepts and any(o.dtype and o.dtype not in rule.accepts for o in promotion.promoting_operands):
        yield f"an operand may be {_describe_domain(rule.accepts, concerned)}"
    if rule.scalars in SCALAR_PLACE_TEXTS and any(o.tier == "scalar" for o in promotion.promoting_operands):
        yield f"it takes {SCALAR_PLACE_TEXTS[rule.scalars]}"


def _describe_join(promotion: Promotion, rule: OperationRules) -> Iterator[str]:
    """Describe how the operands join, if this differs from plain promotion."""
    if rule.joins is JoinRule.SAME_DTYPE and len(promotion.promoting_operands) > 1:
        yield "it does not promote: all operands need the same dtype"
    if promotion.node is not None and promotion.joining_places != slice(None):
        ignored, side = (
            (promotion.operands[1], "right")
            if promotion.joining_places == slice(1)
            else (promotion.operands[0], "left")
        )
        yield f"the integer {ignored} on the {side} is ignored"
    question = OperationQuestion(promotion.system, rule, promotion.promoting_operands, [])
    if promotion.compute is not None:
        pairs = zip(question.operands, make_arrays(question), strict=True)
        arrays = {o: a.dtype for o, a in pairs if a is not o and o.tier in promotion.system.tiers}
        yield from (f"{o} first becomes an array of {d}" for o, d in arrays.items())
    if rule.counts_as_of:
        counted = {o.dtype or o.kind: counted_dtype(question, o) for o in question.operands}
        yield from (f"{o} first becomes {d}" for o, d in counted.items() if d)
    if rule.joins_order and promotion.node is not None:
        yield "its operands join in an order of the operation's own"
    of_pair = (
        dtype_of_pair(rule.joins_of_pairs, promotion.promoting_operands) if promotion.node is None else None
    )
    if of_pair is not None:
        yield f"such operands become {of_pair}, whatever the order says"
    elif rule.loops and promotion.node is None:
        yield "it computes in the first of its loops to which every operand casts"


def _describe_domain(domain: Domain, concerned: Set[object]) -> str:
    """List the kinds and dtypes of a domain.

    Of the excluded dtypes, name those that concern this question.
    """
    listed = "every kind" if {*Kind} <= {*domain.listed} else join_words(domain.listed)
    if not domain.excluded:
        return listed
    named = [x for x in domain.excluded if len(domain.excluded) <= MAX_ALWAYS_NAMED_DTYPES or x in concerned]
    rest = len(domain.excluded) - len(named)
    others = [f"{rest} {'other ' * bool(named)}dtype{'s' * (rest > 1)}"] if rest else []
    return f"{listed} except {join_words([*named, *others])}"
