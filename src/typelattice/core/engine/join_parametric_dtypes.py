"""Families of dtypes: operands of `decimal(10,2)` join as `decimal`, and then get computed parameters."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import DType, DTypeError
from typelattice.core.dtypes.parametric_dtypes import arguments_of, member_of
from typelattice.core.engine.decisions import Decision, ParametersComputed, RefusalError
from typelattice.core.engine.evaluate_operation import find_result_rule
from typelattice.core.engine.evaluation import Evaluation
from typelattice.core.engine.join_one_tier import dtype_or_default
from typelattice.core.engine.join_tiers import join_tiers
from typelattice.core.engine.operation_rules import ComputedMember, OperationRules
from typelattice.core.engine.parameter_formulas import SAME_FOR_ALL_OPERANDS, ArgumentByParameter, RealNumber
from typelattice.core.engine.rules import Rules
from typelattice.core.operands.operand import Operand, operand_of_dtype


def replace_members_by_families(operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """Replace each member of a family by the family, which is a node of the order."""
    return tuple(replace(o, dtype=o.dtype.family) if o.dtype and o.dtype.family else o for o in operands)


def replace_families_by_members(
    rules: Rules,
    operation_rules: OperationRules | None,
    operands: Sequence[Operand],
    evaluation: Evaluation,
    decisions: list[Decision],
) -> Evaluation:
    """Replace families by members in an outcome. A family with unknown parameters stays a family.

    Raises RefusalError if parameters differ that must agree, or if the family does not allow the result.
    """
    if not any(d and d.parameters for d in (evaluation.compute, evaluation.dtype, evaluation.accumulator)):
        return evaluation
    result_rule = (
        find_result_rule(operation_rules, evaluation.compute)
        if operation_rules and evaluation.compute
        else None
    )
    formulas = result_rule if isinstance(result_rule, ComputedMember) else None
    family = evaluation.compute if evaluation.compute and evaluation.compute.parameters else evaluation.dtype
    dtypes = [dtype_or_default(rules, o) for o in _highest_tier(rules, family, operands)]
    computes = bool(formulas) or family not in rules.families
    joined = None if computes else _join_operands(rules, family, dtypes, decisions)

    def known(d: DType | None) -> DType | None:
        return joined if joined and d is family else d

    result = known(evaluation.dtype) or evaluation.dtype
    left = operands[0].dtype
    if (
        operation_rules
        and (operation_rules.writes or result_rule == "left")
        and left
        and left.family is evaluation.dtype
    ):
        result = left
    elif formulas:
        result = _compute_member(rules, family, dtypes, formulas, decisions)
    return replace(
        evaluation, compute=known(evaluation.compute), dtype=result, accumulator=known(evaluation.accumulator)
    )


def _highest_tier(rules: Rules, family: DType, operands: Sequence[Operand]) -> Sequence[Operand]:
    """Return the operands with parameters that count: those of the highest tier, or all.

    The highest tier decides if one of its operands is of the family.
    """
    tiers = [o.tier if o.tier in rules.tiers else rules.tiers[0] for o in operands]
    highest = min(tiers, key=list(rules.tiers).index)
    of_highest = [o for o, tier in zip(operands, tiers, strict=True) if tier == highest]
    return of_highest if any(o.dtype and o.dtype.family is family for o in of_highest) else operands


def _find_members(rules: Rules, family: DType, dtypes: Sequence[DType | None]) -> tuple[DType, ...]:
    """Return the members of a family that dtypes are or count as, or none if one is unknown."""
    members = tuple(map(rules.families[family].find_member, dtypes))
    return tuple(member for member in members if member) if all(members) else ()


def _join_operands(
    rules: Rules, family: DType, dtypes: Sequence[DType | None], decisions: list[Decision]
) -> DType | None:
    """Return the member of a family at which dtypes join, or None if their parameters are unknown.

    If a system joins in pairs, two operands of other dtypes become the dtype of their join first.
    """
    if rules.combine != "fold":
        return _join_members(rules, family, dtypes, decisions)
    first, *rest = dtypes
    for d in rest[:-1]:
        first = _join_pair(rules, family, first, d)
    return _join_members(rules, family, (first, *rest[-1:]), decisions)


def _join_pair(rules: Rules, family: DType, a: DType | None, b: DType | None) -> DType | None:
    """Return the dtype of two operands, which may be a member of a family, or None if it is unknown."""
    if a is None or b is None:
        return None
    _, d, _ = join_tiers(rules, replace_members_by_families([operand_of_dtype(a), operand_of_dtype(b)]), [])
    return _join_members(rules, family, (a, b), []) if d is family else d


def _join_members(
    rules: Rules, family: DType, dtypes: Sequence[DType | None], decisions: list[Decision]
) -> DType | None:
    """Join dtypes all at once to a member of a family, or None if their parameters are unknown."""
    members = _find_members(rules, family, dtypes)
    distinct = tuple(dict.fromkeys(members))
    if len(distinct) < 2:
        return distinct[0] if distinct else None
    joined: dict[str, RealNumber] = {}
    all_arguments, own = _collect_arguments(family, members, dtypes)
    for name, formula in rules.families[family].joins.items():
        values = list(dict.fromkeys(arguments[name] for arguments in all_arguments))
        if formula.text == SAME_FOR_ALL_OPERANDS and len(values) > 1:
            reason = f"{name} differs: {' and '.join(map(str, values))}"
            decision = ParametersComputed(distinct, None, family.name)
            raise RefusalError(reason, f"cast one operand, e.g. to {distinct[0]}", decision)
        joined[name] = (
            values[0]
            if formula.text == SAME_FOR_ALL_OPERANDS
            else formula.evaluate(all_arguments, own, joined)
        )
    return _make_member(family, [joined[p.name] for p in family.parameters], distinct, decisions)


def _collect_arguments(
    family: DType, members: Sequence[DType], dtypes: Sequence[DType | None]
) -> tuple[list[ArgumentByParameter], list[ArgumentByParameter]]:
    """Return the arguments of all members, and of the operands that were members before the join."""
    each: list[ArgumentByParameter] = [arguments_of(member) for member in members]
    return each, [arguments for arguments, d in zip(each, dtypes, strict=True) if d and d.family is family]


def _compute_member(
    rules: Rules,
    family: DType,
    dtypes: Sequence[DType | None],
    member: ComputedMember,
    decisions: list[Decision],
) -> DType:
    """Compute the result of an operation that states its parameters, or the family if some are unknown.

    If no operand is a member of the family, all are cast to their join first.
    """
    if family not in rules.families:  # the file gives numbers for the parameters
        values = [formula.evaluate((), (), {}) for formula in member.formulas]
        return _make_member(member.family, values, (family,), decisions)
    no_operand_is_member = not any(d and d.family is family for d in dtypes)
    joined: DType | None = None
    if no_operand_is_member or any(formula.names_join for formula in member.formulas):
        joined = _join_operands(rules, family, dtypes, [])
    if no_operand_is_member:
        dtypes = (joined,) * len(dtypes)
    members = _find_members(rules, family, dtypes)
    if not members:
        return member.family
    all_arguments, own = _collect_arguments(family, members, dtypes)
    of_join = arguments_of(joined) if joined else {}
    values = [formula.evaluate(all_arguments, own, of_join) for formula in member.formulas]
    return _make_member(member.family, values, members, decisions)


def _make_member(
    family: DType, values: Sequence[RealNumber], nodes: Sequence[DType], decisions: list[Decision]
) -> DType:
    """Return a member that was computed from others. Raises RefusalError if no such member exists."""
    try:
        member = member_of(family, values)
    except DTypeError as e:
        decision = ParametersComputed(tuple(nodes), None, family.name)
        raise RefusalError(str(e), "cast an operand to another dtype", decision) from None
    decisions.append(ParametersComputed(tuple(nodes), member, family.name))
    return member
