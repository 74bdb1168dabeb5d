"""Checks of the operands of an operation: their dimensions, the dtype of each, their pairs and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from typelattice.core.dtypes.dtypes import DType, Kind, Node, sort_key, weak_node
from typelattice.core.engine.decisions import (
    Decision,
    DefaultTaken,
    DTypeByOperation,
    MissingDimensions,
    MissingOperation,
    RefusalError,
)
from typelattice.core.engine.operation_rules import (
    ANY_OPERAND_WORD,
    DIFFERENT_DTYPE_WORD,
    DTypeOrKind,
    OperationRules,
    PairEntry,
    entry_names,
)
from typelattice.core.engine.rule_enums import PairJoin, RightLimit, ScalarPlaces
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.scalar_fit import check_scalar_limits
from typelattice.core.losses.loss import loss
from typelattice.core.losses.range_and_overflow import is_in_range
from typelattice.core.operands.operand import BOOL_DTYPE, Operand
from typelattice.core.operations.operations import IN_PLACE_CLASS

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
REWRITE_ADVICE = "write it with operations that it has"


def check_each_operand(rules: Rules, operation_rules: OperationRules, operands: Sequence[Operand]) -> None:
    """Raise RefusalError for the first operand that the operation never accepts."""
    check_scalar_limits(rules.limits if operation_rules.limits is None else operation_rules.limits, operands)
    _check_has_dimensions(rules, operation_rules, operands)
    if operation_rules.name in rules.missing_operations or not operation_rules.kernels.listed:
        nodes = tuple(o.node for o in operands)
        looked_up = operation_rules.name in rules.missing_operations
        decision = (
            MissingOperation(nodes, None, operation_rules.name)
            if looked_up
            else DTypeByOperation(nodes, None, deciding_entry(rules, operation_rules, "kernels"))
        )
        raise RefusalError(f"{rules.name} has no {operation_rules.name}", REWRITE_ADVICE, decision)
    _check_scalars(rules, operation_rules, operands)
    for o in operands:
        own = o.dtype or rules.defaults.get(o.kind) or o.kind
        if operation_rules.accepts is not None and own not in operation_rules.accepts:
            decision = DTypeByOperation((o.node,), None, deciding_entry(rules, operation_rules, "accepts"))
            remedy = cast_remedy(rules, operation_rules, [o.node], "it")
            refused_text = operation_rules.accepts.describe_missing(o.dtype or o.kind)
            raise RefusalError(f"{operation_rules.name} takes no {refused_text}", remedy, decision)


def cast_remedy(
    rules: Rules, operation_rules: OperationRules, nodes: Sequence[Node], operand_words: str = "the operands"
) -> str:
    """Say to which dtype to cast refused operands: the lowest accepted dtype that holds all their values.

    Without one, it is the lowest accepted dtype above them, or a default dtype.
    """

    def is_taken(d: DType) -> bool:
        is_each = operation_rules.accepts is None or d in operation_rules.accepts
        is_looped = not operation_rules.loops or d in operation_rules.loops
        return d in operation_rules.kernels and is_each and is_looped and d in rules.order

    def lowest(found: Iterable[Node]) -> DType | None:
        return min((d for d in found if isinstance(d, DType) and is_taken(d)), key=sort_key, default=None)

    def lowest_holding_dtype() -> DType | None:
        """Find the lowest accepted dtype of their kind, or of a higher kind, that holds all their values."""
        dtypes = [node for node in nodes if isinstance(node, DType)]
        if len(dtypes) < len(nodes):
            return None
        highest = max(d.kind.category for d in dtypes)
        accepted_dtypes = sorted(
            (d for d in rules.order.nodes if isinstance(d, DType) and is_taken(d)), key=sort_key
        )
        fitting = (d for d in accepted_dtypes if d.kind.category >= highest)
        return next((d for d in fitting if not any(loss(x, d) for x in dtypes)), None)

    # The bounds of two equal dtypes include this dtype itself, which was refused.
    is_pair = len(nodes) == 2 and nodes[0] is nodes[1]
    above = rules.order.bounds(*nodes) if not is_pair and all(node in rules.order for node in nodes) else ()
    default = next((d for d in rules.defaults.values() if is_taken(d)), None)
    found = lowest_holding_dtype() or lowest(above) or default or lowest(rules.order.nodes)
    return f"cast {operand_words}, e.g. to {found}" if found else REWRITE_ADVICE


def _check_has_dimensions(rules: Rules, operation_rules: OperationRules, operands: Sequence[Operand]) -> None:
    """Raise RefusalError for an operand without dimensions, if every library refuses it or this one does."""
    needed_by_all_libraries = rules.find_operation(operation_rules.name).required_dimensions
    needed = max(needed_by_all_libraries, operation_rules.required_dimensions)
    operands_without_dimensions = [o for o in operands if o.tier != "array"] if needed else []
    if operands_without_dimensions:
        what = (
            "0-d array"
            if operands_without_dimensions[0].tier == "0d"
            else f"Python {operands_without_dimensions[0].kind.python_name}"
        )
        found = (operands_without_dimensions[0].node,)
        entry = deciding_entry(rules, operation_rules, "scalars")
        decision: Decision = DTypeByOperation(found, None, entry)
        if needed_by_all_libraries:
            decision = MissingDimensions(found, None, operation_rules.name)
        dimensions_text = f"{needed} dimension{'s' * (needed > 1)}"
        reason = f"{operation_rules.name} takes no {what}: every operand has at least {dimensions_text}"
        raise RefusalError(reason, "reshape it first", decision)


def _check_scalars(rules: Rules, operation_rules: OperationRules, operands: Sequence[Operand]) -> None:
    """Raise RefusalError for a Python scalar, or a weak array, where the operation does not accept one."""
    if operation_rules.scalars not in SCALAR_PLACE_TEXTS:  # most operations accept scalars everywhere
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
    if not accepted_under[operation_rules.scalars]:
        refused_operand = next((o for o in operands if o.tier == "scalar"), operands[0])
        decision = DTypeByOperation(
            (refused_operand.node,), None, deciding_entry(rules, operation_rules, "scalars")
        )
        raise RefusalError(
            f"{operation_rules.name} takes {SCALAR_PLACE_TEXTS[operation_rules.scalars]}",
            "make an array of the number",
            decision,
        )


def check_right_value(
    rules: Rules, operation_rules: OperationRules, right: Operand, value: object, compute: DType
) -> None:
    """Raise RefusalError for an integer on the right that is negative or too great after wrapping."""
    limit = operation_rules.limits_right
    tiers = ("scalar", "0d") if limit is RightLimit.NOT_NEGATIVE_ALSO_0D else ("scalar",)
    if limit is None or right.tier not in tiers or not isinstance(value, int):
        return
    is_allowed = is_in_range(value, limit) if isinstance(limit, DType) else value >= 0
    if not is_allowed and compute.kind.category == Kind.SIGNED.category:
        decision = DTypeByOperation(
            (weak_node(right.kind), compute), None, deciding_entry(rules, operation_rules, "limits_right")
        )
        reason = f"{operation_rules.name} of integers takes no negative integer on the right"
        if value >= 0:
            reason = f"{operation_rules.name} of integers takes no integer beyond {limit} on the right"
        if value != right.value:
            reason += f": {right.value} wraps to {value}"
        has_floats = Kind.FLOAT in operation_rules.kernels
        default = rules.defaults.get(Kind.FLOAT)
        to = f", e.g. {default}" if default else ""
        remedy = f"cast the left operand to a float{to}" if has_floats else "use a value that it takes"
        raise RefusalError(reason, remedy, decision)


def check_operation_refusals(
    rules: Rules, operation_rules: OperationRules, operands: Sequence[Operand]
) -> None:
    """Raise RefusalError for the first two operands that this operation refuses to join."""
    for a, b in combinations(operands, 2) if operation_rules.refusals else ():
        for refusal in operation_rules.refusals:
            if _match_sides(a, b, refusal) or (not refusal.is_ordered and _match_sides(b, a, refusal)):
                nodes = (a.node, b.node)
                decision = DTypeByOperation(nodes, None, deciding_entry(rules, operation_rules, "refusals"))
                verb = "stand before" if refusal.is_ordered else "meet"
                reason = f"{operation_rules.name} does not let {a} {verb} {b}: {refusal.reason}"
                raise RefusalError(
                    reason, cast_remedy(rules, operation_rules, nodes, "one of them"), decision
                )


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


def deciding_entry(rules: Rules, operation_rules: OperationRules, key: str | None = None) -> str:
    """Return the entry of `ops` that gives a key of an operation, or any key.

    Without one, return its class.
    """
    names = entry_names(rules.find_operation(operation_rules.name))
    of_class = IN_PLACE_CLASS if key == "gives_into" and IN_PLACE_CLASS in names else names[-2]
    return next((name for name in names if _has_key(rules, name, key)), of_class)


def _has_key(rules: Rules, name: str, key: str | None) -> bool:
    """Return True if the file gives a key, or any key, of an operation, a class or a group."""
    entry = rules.ops.get(name, {})
    return bool(entry) if key is None else key in entry or f"{key}_of" in entry


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
