"""The parameters of a result in English: the formulas, their values, and the members used."""

from __future__ import annotations

from typelattice.engine.evaluate_operation import find_result_rule, operation_rules
from typelattice.engine.join_one_tier import dtype_or_default
from typelattice.engine.operation_rules import ComputedMember
from typelattice.engine.promotion import Promotion
from typelattice.facts.dtypes import DType
from typelattice.facts.parametric_dtypes import arguments_of


def explain_parameters(p: Promotion, member: DType) -> list[str]:
    """Explain the computed parameters of a dtype, and the members that other dtypes counted as."""
    assert member.family is not None
    family = p.system.families[member.family]
    given = find_result_rule(operation_rules(p.system, p.op), p.compute) if p.op and p.compute else None
    formulas = family.joins
    if isinstance(given, ComputedMember) and member is p.dtype:
        names = [parameter.name for parameter in family.dtype.parameters]
        formulas = dict(zip(names, given.formulas, strict=True))
    others = [o for o in p.promoting_operands if o.dtype is None or o.dtype.family is not family.dtype]
    counted = {str(o): family.member(dtype_or_default(p.system, o)) for o in others}
    values = arguments_of(member)
    return [
        *(f"{o} counts as {other}" for o, other in counted.items() if other),
        *(f"{name} = {formula.text} = {values[name]}" for name, formula in formulas.items()),
    ]
