"""Checks of the operands of an operation: their dimensions, the dtype of each, their pairs and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from typelattice.core.dtypes.dtypes import DType, Kind, weak_node
from typelattice.core.engine.decisions import (
    DefaultTaken,
    MissingDimensions,
    MissingOperation,
    RefusalError,
)
from typelattice.core.engine.operation_question import REWRITE_ADVICE, OperationQuestion
from typelattice.core.engine.operation_rules import (
    ANY_OPERAND_WORD,
    DIFFERENT_DTYPE_WORD,
    DTypeOrKind,
    OperationRules,
    PairEntry,
)
from typelattice.core.engine.rule_enums import PairJoin, RightLimit, ScalarPlaces
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.scalar_fit import check_scalar_limits
from typelattice.core.losses.range_and_overflow import is_in_range
from typelattice.core.operands.operand import BOOL_DTYPE, Operand

SCALAR_PLACE_TEXTS = {
    ScalarPlaces.BESIDE_ARRAY: "a Python scalar only beside an array",
    ScalarPlaces.BESIDE_STRONG_ARRAY: (
        "a Python scalar, and a weak array, only beside an array that is not weak"
    ),
    ScalarPlaces.ON_THE_RIGHT: "a Python scalar only on the right of an array",
    ScalarPlaces.LAST: "a Python scalar only as the last operand",
    ScalarPlaces.NONE: "no Python scalar",
    ScalarPlaces.NONE_NOR_0D_NOR_WEAK: "no Python scalar and no weak array",
}

# The places of the operands that join. Other pairs join as they stand.
JOINING_PLACES: Mapping[PairJoin | DType | None, slice] = {
    PairJoin.LEFT: slice(1), PairJoin.LEFT_AS_PRODUCT: slice(1), PairJoin.RIGHT: slice(1, None),
}  # fmt: skip


def check_each_operand(question: OperationQuestion) -> None:
    """Raise RefusalError for the first operand that the operation never accepts."""
    rules, of_operation, name = question.rules, question.of_operation, question.name
    limits = rules.limits if of_operation.limits is None else of_operation.limits
    check_scalar_limits(limits, question.operands)
    _check_has_dimensions(question)
    if name in rules.missing_operations:
        decision = MissingOperation(question.nodes, None, name)
        raise RefusalError(f"{rules.name} has no {name}", REWRITE_ADVICE, decision)
    if not of_operation.kernels.listed:
        raise question.make_refusal(
            f"{rules.name} has no {name}", REWRITE_ADVICE, question.nodes, "kernels"
        )
    _check_scalars(question)
    for o in question.operands:
        own = o.dtype or rules.defaults.get(o.kind) or o.kind
        if of_operation.accepts is not None and own not in of_operation.accepts:
            refused_text = of_operation.accepts.describe_missing(o.dtype or o.kind)
            remedy = question.find_remedy([o.node], "it")
            raise question.make_refusal(f"{name} takes no {refused_text}", remedy, (o.node,), "accepts")


def _check_has_dimensions(question: OperationQuestion) -> None:
    """Raise RefusalError for an operand without dimensions, if every library refuses it or this one does."""
    name = question.name
    needed_by_all_libraries = question.rules.find_operation(name).required_dimensions
    needed = max(needed_by_all_libraries, question.of_operation.required_dimensions)
    operands_without_dimensions = [o for o in question.operands if o.tier != "array"] if needed else []
    if operands_without_dimensions:
        what = (
            "0-d array"
            if operands_without_dimensions[0].tier == "0d"
            else f"Python {operands_without_dimensions[0].kind.python_name}"
        )
        found = (operands_without_dimensions[0].node,)
        dimensions_text = f"{needed} dimension{'s' * (needed > 1)}"
        reason = f"{name} takes no {what}: every operand has at least {dimensions_text}"
        if needed_by_all_libraries:
            raise RefusalError(reason, "reshape it first", MissingDimensions(found, None, name))
        raise question.make_refusal(reason, "reshape it first", found, "scalars")


def _check_scalars(question: OperationQuestion) -> None:
    """Raise RefusalError for a Python scalar, or a weak array, where the operation does not accept one."""
    places, operands = question.of_operation.scalars, question.operands
    if places not in SCALAR_PLACE_TEXTS:  # most operations accept scalars everywhere
        return
    are_scalars = [o.tier == "scalar" for o in operands]
    accepted_under = {
        ScalarPlaces.BESIDE_ARRAY: not all(are_scalars),
        ScalarPlaces.BESIDE_STRONG_ARRAY: not all(o.tier == "scalar" or o.weak for o in operands),
        ScalarPlaces.ON_THE_RIGHT: not are_scalars[0],
        ScalarPlaces.LAST: not any(are_scalars[:-1]),
        ScalarPlaces.NONE: not any(are_scalars),
        ScalarPlaces.NONE_NOR_0D_NOR_WEAK: not any(o.tier == "scalar" or o.weak for o in operands),
    }
    if not accepted_under[places]:
        refused_operand = next((o for o in operands if o.tier == "scalar"), operands[0])
        reason = f"{question.name} takes {SCALAR_PLACE_TEXTS[places]}"
        remedy = "make an array of the number"
        raise question.make_refusal(reason, remedy, (refused_operand.node,), "scalars")


def check_right_value(
    question: OperationQuestion, right: Operand, value: object, compute: DType
) -> None:
    """Raise RefusalError for an integer on the right that is negative or too great after wrapping."""
    limit, name = question.of_operation.limits_right, question.name
    tiers = ("scalar", "0d") if limit is RightLimit.NOT_NEGATIVE_ALSO_0D else ("scalar",)
    if limit is None or right.tier not in tiers or not isinstance(value, int):
        return
    is_allowed = is_in_range(value, limit) if isinstance(limit, DType) else value >= 0
    if not is_allowed and compute.kind.category == Kind.SIGNED.category:
        reason = f"{name} of integers takes no negative integer on the right"
        if value >= 0:
            reason = f"{name} of integers takes no integer beyond {limit} on the right"
        if value != right.value:
            reason += f": {right.value} wraps to {value}"
        has_floats = Kind.FLOAT in question.of_operation.kernels
        default = question.rules.defaults.get(Kind.FLOAT)
        to = f", e.g. {default}" if default else ""
        remedy = f"cast the left operand to a float{to}" if has_floats else "use a value that it takes"
        nodes = (weak_node(right.kind), compute)
        raise question.make_refusal(reason, remedy, nodes, "limits_right")


def check_operation_refusals(question: OperationQuestion) -> None:
    """Raise RefusalError for the first two operands that this operation refuses to join."""
    refusals = question.of_operation.refusals
    for a, b in combinations(question.operands, 2) if refusals else ():
        for refusal in refusals:
            if _match_sides(a, b, refusal) or (not refusal.is_ordered and _match_sides(b, a, refusal)):
                nodes = (a.node, b.node)
                verb = "stand before" if refusal.is_ordered else "meet"
                reason = f"{question.name} does not let {a} {verb} {b}: {refusal.reason}"
                remedy = question.find_remedy(nodes, "one of them")
                raise question.make_refusal(reason, remedy, nodes, "refusals")


def dtype_of_pair(pairs: Sequence[PairEntry], operands: Sequence[Operand]) -> DType | None:
    """Return the dtype in an operation's table of pairs for its operands, or None without an entry."""
    return next((pair.dtype for pair in pairs if _matches_pair(pair, operands)), None)


def find_pair_join(operation_rules: OperationRules, operands: Sequence[Operand]) -> PairJoin | DType | None:
    """Return how these operands join, or at which dtype, if the operation's table of pairs names them.

    An operand whose dtype the kernels exclude joins like any other, so that it is refused.
    """
    return next(
        (
            pair.join or pair.dtype
            for pair in operation_rules.joins_of_pairs
            if _matches_pair(pair, operands)
            and (
                pair.join not in JOINING_PLACES
                or all(o.dtype not in operation_rules.kernels.excluded for o in operands[1:])
            )
        ),
        None,
    )


def find_joining_places(pair_join: PairJoin | DType | None) -> slice:
    """Return the places of the operands that join: one of two if the operation ignores the other, or all."""
    return JOINING_PLACES.get(pair_join, slice(None))


def _matches_pair(pair: PairEntry, operands: Sequence[Operand]) -> bool:
    """Return True if one operand is of a pair's left side and all others are of its right side."""
    for i, o in enumerate(operands[:1] if pair.is_ordered else operands):
        others = [*operands[:i], *operands[i + 1 :]]
        if others and all(_match_sides(o, other, pair) for other in others):
            return True
    return False


def _match_sides(a: Operand, b: Operand, pair: PairEntry) -> bool:
    """Return True if two operands match the sides of a pair.

    An array matches by its dtype or its kind, a 0-d array also as `0d signed`. A Python scalar matches by its
    kind or as the number that it is.
    """
    different = {DIFFERENT_DTYPE_WORD} if a.dtype is not b.dtype else set()
    of_a, of_b = (
        {ANY_OPERAND_WORD, weak_node(o.kind), str(o.value)}
        if o.tier == "scalar"
        else {ANY_OPERAND_WORD, o.dtype, o.kind, f"{o.tier} {o.kind}"} | different
        for o in (a, b)
    )
    return not (pair.left.isdisjoint(of_a) or pair.right.isdisjoint(of_b))


def resolve_target(rules: Rules, target: DTypeOrKind) -> DType:
    """Return a dtype, or the default dtype of a kind. Raises RefusalError without a default."""
    if isinstance(target, DType):
        return target
    found = BOOL_DTYPE if target is Kind.BOOL else rules.defaults.get(target)
    if found is None:
        decision = DefaultTaken((), None, str(target))
        reason = f"{rules.name} has no default dtype for {target}"
        raise RefusalError(reason, "name the dtype of the result", decision)
    return found
