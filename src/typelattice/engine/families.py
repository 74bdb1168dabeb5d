"""Families of dtypes: operands of `decimal(10,2)` join as `decimal`; then its parameters are computed."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.engine.combine import combine
from typelattice.engine.decisions import Decision, Parameterized, RefusalError
from typelattice.engine.formulas import SAME, Arguments, Number
from typelattice.engine.joining import own_dtype
from typelattice.engine.operate import Evaluation, gives_for
from typelattice.engine.operations import LEFT, MemberGiven, Op
from typelattice.engine.rules import Rules
from typelattice.facts.dtype_members import arguments_of, member_of
from typelattice.facts.dtypes import DType, DTypeError
from typelattice.facts.frozen_classes import replace
from typelattice.operands.operand import Operand, operand_of


def without_arguments(operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """Replace each member of a family by the family, which has a place in the order."""
    return tuple(replace(o, dtype=o.dtype.family) if o.dtype and o.dtype.family else o for o in operands)


def add_arguments(
    rules: Rules, op: Op | None, operands: Sequence[Operand], found: Evaluation, trail: list[Decision]
) -> Evaluation:
    """Replace the families of an outcome by members; those of unknown parameters stay families.

    Raise RefusalError for operands that differ in what has to be the same, and for a member that cannot be.
    """
    if not any(d and d.parameters for d in (found.compute, found.dtype, found.accumulator)):
        return found
    given = gives_for(op, found.compute) if op and found.compute else None
    formulas = given if isinstance(given, MemberGiven) else None
    met = found.compute if found.compute and found.compute.parameters else found.dtype
    dtypes = [own_dtype(rules, o) for o in _highest_tier(rules, met, operands)]
    computes = bool(formulas) or met not in rules.families
    joined = None if computes else _join_operands(rules, met, dtypes, trail)

    def known(d: DType | None) -> DType | None:
        return joined if joined and d is met else d

    result = known(found.dtype) or found.dtype
    left = operands[0].dtype
    if op and (op.writes or given == LEFT) and left and left.family is found.dtype:
        result = left
    elif formulas:
        result = _compute_member(rules, met, dtypes, formulas, trail)
    return replace(found, compute=known(found.compute), dtype=result, accumulator=known(found.accumulator))


def _highest_tier(rules: Rules, family: DType, operands: Sequence[Operand]) -> Sequence[Operand]:
    """Return the operands whose parameters count: those of the highest tier, if one is of the family."""
    tiers = [o.tier if o.tier in rules.tiers else rules.tiers[0] for o in operands]
    highest = min(tiers, key=list(rules.tiers).index)
    found = [o for o, tier in zip(operands, tiers, strict=True) if tier == highest]
    return found if any(o.dtype and o.dtype.family is family for o in found) else operands


def _find_members(rules: Rules, family: DType, dtypes: Sequence[DType | None]) -> tuple[DType, ...]:
    """Return the members of a family that dtypes are or count as; none if one is unknown."""
    found = tuple(map(rules.families[family].member, dtypes))
    return tuple(member for member in found if member) if all(found) else ()


def _join_operands(
    rules: Rules, family: DType, dtypes: Sequence[DType | None], trail: list[Decision]
) -> DType | None:
    """Return the member of a family at which dtypes join; None if their parameters are unknown.

    Where a system joins in pairs, two of other dtypes become the dtype of their join first.
    """
    if rules.combine != "fold":
        return _join_members(rules, family, dtypes, trail)
    first, *rest = dtypes
    for d in rest[:-1]:
        first = _join_pair(rules, family, first, d)
    return _join_members(rules, family, (first, *rest[-1:]), trail)


def _join_pair(rules: Rules, family: DType, a: DType | None, b: DType | None) -> DType | None:
    """Return the dtype of two operands, which may be a member of a family; None if it is unknown."""
    if a is None or b is None:
        return None
    _, d, _ = combine(rules, without_arguments([operand_of(a), operand_of(b)]), [])
    return _join_members(rules, family, (a, b), []) if d is family else d


def _join_members(
    rules: Rules, family: DType, dtypes: Sequence[DType | None], trail: list[Decision]
) -> DType | None:
    """Join dtypes all at once to a member of a family; None if their parameters are unknown."""
    members = _find_members(rules, family, dtypes)
    distinct = tuple(dict.fromkeys(members))
    if len(distinct) < 2:
        return distinct[0] if distinct else None
    found: dict[str, Number] = {}
    each, own = _collect_arguments(family, members, dtypes)
    for name, formula in rules.families[family].joins.items():
        values = list(dict.fromkeys(arguments[name] for arguments in each))
        if formula.text == SAME and len(values) > 1:
            reason = f"{name} differs: {' and '.join(map(str, values))}"
            step = Parameterized(distinct, None, family.name)
            raise RefusalError(reason, f"cast one operand, e.g. to {distinct[0]}", step)
        found[name] = values[0] if formula.text == SAME else formula.value(each, own, found)
    return _make_member(family, [found[p.name] for p in family.parameters], distinct, trail)


def _collect_arguments(
    family: DType, members: Sequence[DType], dtypes: Sequence[DType | None]
) -> tuple[list[Arguments], list[Arguments]]:
    """Return the arguments of all members, and of those that were of the family before they met."""
    each: list[Arguments] = [arguments_of(member) for member in members]
    return each, [arguments for arguments, d in zip(each, dtypes, strict=True) if d and d.family is family]


def _compute_member(
    rules: Rules, met: DType, dtypes: Sequence[DType | None], given: MemberGiven, trail: list[Decision]
) -> DType:
    """Compute the result of an operation that states its parameters; the family if some are unknown.

    If no operand is a member of the family, all are cast to their join first.
    """
    if met not in rules.families:  # the file gives numbers for the parameters
        values = [formula.value((), (), {}) for formula in given.formulas]
        return _make_member(given.family, values, (met,), trail)
    are_other = not any(d and d.family is met for d in dtypes)
    joined: DType | None = None
    if are_other or any(formula.names_join for formula in given.formulas):
        joined = _join_operands(rules, met, dtypes, [])
    if are_other:
        dtypes = (joined,) * len(dtypes)
    members = _find_members(rules, met, dtypes)
    if not members:
        return given.family
    each, own = _collect_arguments(met, members, dtypes)
    of_join = arguments_of(joined) if joined else {}
    values = [formula.value(each, own, of_join) for formula in given.formulas]
    return _make_member(given.family, values, members, trail)


def _make_member(
    family: DType, values: Sequence[Number], nodes: Sequence[DType], trail: list[Decision]
) -> DType:
    """Return a member that was computed from others. Raise RefusalError if there is none such."""
    try:
        member = member_of(family, values)
    except DTypeError as e:
        step = Parameterized(tuple(nodes), None, family.name)
        raise RefusalError(str(e), "cast an operand to another dtype", step) from None
    trail.append(Parameterized(tuple(nodes), member, family.name))
    return member
