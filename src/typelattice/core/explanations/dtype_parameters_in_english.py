"""The parameters of a result in English: the formulas, their values, and the members used."""

from __future__ import annotations

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.dtypes.parametric_dtypes import arguments_of
from typelattice.core.engine.evaluate_operation import find_operation_rules, find_result_rule
from typelattice.core.engine.join_one_tier import dtype_or_default
from typelattice.core.engine.operation_rules import ComputedMember
from typelattice.core.engine.promotion import Promotion


def explain_parameters(promotion: Promotion, member: DType) -> list[str]:
    """Explain the computed parameters of a dtype, and the members that other dtypes counted as."""
    assert member.family is not None
    family = promotion.system.families[member.family]
    given = (
        find_result_rule(find_operation_rules(promotion.system, promotion.op), promotion.compute)
        if promotion.op and promotion.compute
        else None
    )
    formulas = family.joins
    if isinstance(given, ComputedMember) and member is promotion.dtype:
        names = [parameter.name for parameter in family.dtype.parameters]
        formulas = dict(zip(names, given.formulas, strict=True))
    others = [
        o for o in promotion.promoting_operands if o.dtype is None or o.dtype.family is not family.dtype
    ]
    counted = {str(o): family.find_member(dtype_or_default(promotion.system, o)) for o in others}
    values = arguments_of(member)
    return [
        *(f"{o} counts as {other}" for o, other in counted.items() if other),
        *(f"{name} = {formula.text} = {values[name]}" for name, formula in formulas.items()),
    ]
