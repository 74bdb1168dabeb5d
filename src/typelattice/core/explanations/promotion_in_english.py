"""A promotion in English."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from typelattice.base.errors.error_texts import join_words
from typelattice.core.dtypes.dtypes import DType, Kind, Node, sort_key
from typelattice.core.dtypes.order import Order
from typelattice.core.dtypes.order_paths import find_paths
from typelattice.core.engine.decisions import (
    CastByRule,
    Decision,
    DefaultTaken,
    ForeignArrayCounted,
    JoinedByValue,
    MissingOperation,
    NodesJoined,
    PairOverridden,
    ParametersComputed,
    RefusedJoin,
    ReplacedInAnswer,
    ReplacedOnEntry,
    RequestTaken,
    SizedByValue,
    TiersJoined,
    TieSettled,
    WidenedDefault,
)  # fmt: skip
from typelattice.core.engine.promotion import OperandCast, Promotion
from typelattice.core.engine.scalar_fit import ValueFit
from typelattice.core.losses.cast_rounding_and_overflow import (
    NEAREST_AWAY,
    NEAREST_EVEN,
    OVERFLOW_BECOMES_INF,
    OVERFLOW_CLAMPS,
    OVERFLOW_UNDEFINED,
    OVERFLOW_WRAPS,
    ROUND_DOWN,
    ROUND_UP,
    STOCHASTIC,
    TOWARD_ZERO,
    CastRule,
)
from typelattice.core.losses.finite_values import find_finite_values
from typelattice.core.losses.loss import Loss

MAX_BOUNDS = 12  # upper bounds spelled out
TitledLines = tuple[str, list[str]]  # a heading of one or two words, and the lines under it


def answer_text(promotion: Promotion) -> str:
    """Name the result in two words at most.

    >>> from typelattice import system
    >>> answer_text(system("jax").explain("int8", "float"))
    'float64 (weak)'
    """
    if promotion.python_number_kind:
        return f"Python {promotion.python_number_kind.python_name}"
    return (
        "refused"
        if promotion.dtype is None
        else f"{promotion.dtype} (weak)"
        if promotion.weak
        else str(promotion.dtype)
    )


def question_of_promotion(p: Promotion) -> str:
    """Write the operands, and the operation of the question: `add of int8 and uint8`."""
    return p.question or question_text([str(o) for o in p.promoting_operands], p.op)


def question_text(operands: Sequence[str], op_name: str | None) -> str:
    return f"{op_name} of {' and '.join(operands)}" if op_name else " with ".join(operands)


def explain_in_sections(promotion: Promotion, with_operation: bool = True) -> Iterator[TitledLines]:
    """Explain a promotion section by section, in the order of its decisions.

    `with_operation` adds a section on the operation.
    """
    decisions = _select_decisions(promotion)
    entry_lines = _explain_scalars(promotion, decisions)
    if entry_lines:
        yield "on entry", entry_lines
    joins = [
        decision
        for decision in decisions
        if isinstance(decision, (NodesJoined, TieSettled)) and len(decision.nodes) > 1
    ]
    for decision in decisions:
        if len(decisions) > 1 and decision in joins:
            heading = f"step {joins.index(decision) + 1}" if len(joins) > 1 else "join"
            yield heading, [f"{' with '.join(map(name_node, decision.nodes))}: {decision.node or 'refused'}"]
        yield from _explain_decision(promotion, decision)
    intervals = _describe_intervals(promotion) if promotion.system.combine == "value" else []
    if intervals:
        yield "by value", intervals
    if promotion.op and with_operation and not isinstance(promotion.decision, MissingOperation):
        # promotion without an operation needs no rules of operations
        from typelattice.core.explanations.operation_description import describe_operation

        yield "operation", describe_operation(promotion)
    if promotion.weak and promotion.dtype:
        number_name = promotion.dtype.kind.python_name
        yield "weak", [f"beside an array the result adopts its width, as a Python {number_name} does"]
    if promotion.fits:
        yield "values", [describe_fit(f) for f in promotion.fits]
    casts = dict.fromkeys(describe_cast(c) for c in promotion.casts if c.loss is not None)
    if casts and not isinstance(promotion.decision, CastByRule):
        yield "casts", list(casts)
    if promotion.dtype is None:
        yield "refused", [str(promotion.reason)]
        yield "instead", [str(promotion.remedy)]


def _select_decisions(promotion: Promotion) -> Sequence[Decision]:
    """Return the decisions that are not obvious, or the last one if all are.

    A join of a node with itself is obvious. So is a Python scalar that does not change the result, after its
    value has chosen a dtype.
    """
    by_value = any(isinstance(decision, JoinedByValue) for decision in promotion.decisions)
    found = []
    for decision in promotion.decisions:
        if (
            isinstance(decision, (NodesJoined, TieSettled))
            and len(set(decision.nodes)) == 1
            and decision.node is not None
        ):
            continue
        if by_value and isinstance(decision, TiersJoined) and decision.node is decision.nodes[0]:
            continue
        found.append(decision)
    return found or promotion.decisions[-1:]


def _explain_decision(promotion: Promotion, decision: Decision) -> Iterator[TitledLines]:
    nodes, node = tuple(dict.fromkeys(decision.nodes)), decision.node
    names = " and ".join(map(name_node, nodes))
    match decision:
        case SizedByValue() if node:
            yield "on entry", [f"{names} counts as {node}, {_explain_counting(promotion)}"]
        case NodesJoined() | TieSettled() | RefusedJoin() if all(n in promotion.system.order for n in nodes):
            if len(nodes) > 1:
                yield from (
                    (heading, [*lines])
                    for heading, lines in _explain_bounds(promotion.system.order, decision, nodes)
                )
            elif any(o.dtype for o in promotion.promoting_operands):
                several = len(promotion.promoting_operands) > 1
                yield "way up", [f"every operand is {nodes[0]}" if several else f"{nodes[0]} stays as it is"]
        case PairOverridden():
            yield "override", [f"the file states the result of {names}: {node}"]
        case TiersJoined():
            yield "tiers", [_explain_lower_tiers(promotion, decision)]
        case ForeignArrayCounted() if decision.entry and promotion.dtype:
            yield "foreign array", [decision.entry]
        case ReplacedOnEntry():
            yield "on entry", [f"{nodes[0]} counts as {name_node(node) if node else node}"]
        case ParametersComputed() if isinstance(node, DType):
            from typelattice.core.explanations.dtype_parameters_in_english import (
                explain_parameters,  # few answers have parameters
            )

            yield "parameters", explain_parameters(promotion, node)
        case ReplacedInAnswer():
            yield "on the answer", [f"{nodes[0]} becomes {node}"]
        case JoinedByValue() if node:
            of_array = isinstance(nodes[0], DType)
            why = "beside a negative int" if of_array else "the least dtype that holds its value"
            yield "by value", [f"{names} counts as {node}, {why}"]
        case WidenedDefault() if node:
            yield "on entry", [f"{names} counts as {node}, its first default dtype that holds its value"]
        case RequestTaken() if node is not nodes[0]:
            yield "requested", [f"{names} becomes {node}"]
        case CastByRule(node=DType()):
            cast_rule = promotion.system.cast_rule(*decision.dtypes)
            yield "cast", [describe_explicit_cast(*decision.dtypes, cast_rule)]
        case DefaultTaken() if node:
            yield "default", [f"{nodes[0]} has no width: it becomes the default dtype, {node}"]
        case _:  # other sections explain refusals and operations
            return


def _describe_intervals(promotion: Promotion) -> list[str]:
    """Describe the result for each range of values of an integer."""
    from typelattice.core.explanations.results_by_value import (
        list_intervals,  # only NumPy 1 promotes by value
    )

    return [
        f"{_format_number(low)} to {_format_number(high)}: {d or 'refused'}"
        for low, high, d in list_intervals(promotion)
    ]


def _explain_counting(promotion: Promotion) -> str:
    """Explain the dtype of an operand without dimensions."""
    from typelattice.core.engine.numpy1 import ASSUMED_VALUE  # only NumPy 1 promotes by value

    if all(o.value is not None for o in promotion.promoting_operands if o.tier != "array"):
        return "the smallest dtype that holds its value"
    return f"as its value is unknown and taken to be {ASSUMED_VALUE}"


def _explain_lower_tiers(promotion: Promotion, decision: TiersJoined) -> str:
    """Explain how a Python scalar or 0-d array (a lower tier) changes the dtype of an operand above it."""
    high, low = decision.nodes
    if decision.node is high:
        return f"{_name_lower_operand(promotion, low)} is of no higher kind than {high}, so {high} stays"
    higher = f"{_name_lower_operand(promotion, low)} is of a higher kind than {high}"
    if decision.node is None:
        return f"{higher}, and no rule joins them"
    by_default = low is decision.node and low in promotion.system.defaults.values()
    return f"{higher}: {'its default dtype is ' if by_default else 'they join at '}{decision.node}"


@lru_cache(maxsize=4096)  # many answers of one system rest on the same join
def _explain_bounds(
    order: Order[Node], decision: Decision, nodes: tuple[Node, ...]
) -> Sequence[tuple[str, Sequence[str]]]:
    """Explain a join: the paths up to it, the upper bounds, and the choice among them."""
    node = decision.node
    lines: list[tuple[str, Sequence[str]]] = []
    bounds, lowest = order.bounds(*nodes), order.minimal_bounds(*nodes)
    target = node or (lowest[0] if len(lowest) == 1 else None)
    if target:
        lines.append(("way up", [_write_way(order, n, target) for n in nodes]))
    lines.append(("upper bounds", _upper_bounds(nodes, bounds, lowest)))
    match decision:
        case TieSettled():
            lost = [n for n in lowest if n is not node]
            rest = f"; {join_words(lost)} lost" if node in lowest else f", above {join_words(lowest)}"
            lines.append(("tie", [f"the file chooses {node}{rest}"]))
        case RefusedJoin():
            outside = f"{lowest[0]} is not an operand"
            lines.append(("rule", [f"one operand must hold all values of the others; {outside}"]))
    return lines


def _upper_bounds(nodes: Sequence[Node], bounds: Sequence[Node], lowest: Sequence[Node]) -> list[str]:
    """List the upper bounds, at most a dozen, and name the lowest."""
    if not bounds:
        return [f"none: nothing lies above {'both' if len(nodes) == 2 else 'all'}"]
    shown = sorted(bounds, key=sort_key)
    more = f" and {len(bounds) - MAX_BOUNDS} more" if len(bounds) > MAX_BOUNDS + 1 else ""
    listed = " ".join(map(str, shown[:MAX_BOUNDS] if more else shown)) + more
    if len(lowest) == 1:
        rest = "the only one" if len(bounds) == 1 else "the lowest: all others lie above it"
        return [listed, f"{lowest[0]} is {rest}"]
    unordered = "neither lies below the other" if len(lowest) == 2 else "none lies below another"
    return [listed, f"{join_words(lowest)} are the lowest, and {unordered}"]


def _explain_scalars(promotion: Promotion, decisions: Sequence[Decision]) -> list[str]:
    """Explain each Python scalar that counts as its default dtype."""
    nodes = {n for s in decisions for n in s.nodes if not isinstance(s, TiersJoined)}
    kinds = {
        o.kind: promotion.system.defaults.get(o.kind) for o in promotion.promoting_operands if o.dtype is None
    }
    if any(
        isinstance(s, WidenedDefault) for s in decisions
    ):  # the decision WidenedDefault explains this itself
        return []
    counted = {kind: d for kind, d in kinds.items() if d in nodes}
    return [f"a Python {kind.python_name} counts as its default dtype, {d}" for kind, d in counted.items()]


def _name_lower_operand(promotion: Promotion, node: Node) -> str:
    """Name the operand behind a node of a lower tier. A Python scalar may be there with its default dtype."""
    if any(o.dtype is None and o.kind.category == node.kind.category for o in promotion.promoting_operands):
        return f"a Python {node.kind.python_name}"
    return f"the 0-d {node}" if isinstance(node, DType) else name_node(node)


def _write_way(order: Order[Node], node: Node, target: Node) -> str:
    """Write the shortest way up the order."""
    path = next(find_paths(order, node, target), (node,))
    return " -> ".join(map(str, path)) + (" is the result already" if len(path) == 1 else "")


def name_node(node: Node) -> str:
    """Name the operand that a node of an order represents."""
    if isinstance(node, DType):
        return node.name
    return f"a weak {node.dtype}" if node.dtype else f"a Python {node.kind.python_name}"


def describe_cast(cast: OperandCast) -> str:
    """Describe a cast and its possible losses."""
    lost = []
    if cast.loss and isinstance(cast.source, DType):
        lost = describe_loss(cast.loss, cast.source, cast.target)
    return f"{cast.source} to {cast.target}: {'; '.join(lost) or 'loses nothing'}"


def describe_explicit_cast(source: DType, target: DType, cast_rule: CastRule) -> str:
    """Describe the system's rule for a cast that the source writes.

    >>> from typelattice import dtype
    >>> describe_explicit_cast(dtype("float32"), dtype("int8"), CastRule("nearest even", "clamp"))
    'float32 to int8: rounds to nearest, ties to even; values beyond the range become the nearest value'
    """
    phrases = [
        cast_rule.obstacle,
        PHRASE_BY_ROUNDING.get(cast_rule.rounding, ""),
        PHRASE_BY_OVERFLOW.get(cast_rule.beyond, ""),
    ]
    return f"{source} to {target}: {'; '.join(filter(None, phrases))}"


PHRASE_BY_ROUNDING = {
    NEAREST_EVEN: "rounds to nearest, ties to even", NEAREST_AWAY: "rounds to nearest, ties away from zero",
    TOWARD_ZERO: "rounds toward zero", ROUND_UP: "rounds up", ROUND_DOWN: "rounds down",
    STOCHASTIC: "rounds at random",
}  # fmt: skip
PHRASE_BY_OVERFLOW = {
    OVERFLOW_WRAPS: "values beyond the range wrap",
    OVERFLOW_CLAMPS: "values beyond the range become the nearest value",
    OVERFLOW_BECOMES_INF: "values beyond the range become infinite",
    OVERFLOW_UNDEFINED: "values beyond the range are undefined",
}  # fmt: skip


def describe_loss(loss: Loss, source: DType, target: DType) -> list[str]:
    """Describe each possible loss of a cast in a phrase.

    >>> from typelattice import dtype, loss
    >>> a, b = dtype("int64"), dtype("float64")
    >>> describe_loss(loss(a, b), a, b)
    ['integers above 2**53 are no longer exact']
    """
    lost = [*_describe_range_loss(loss, source, target), *_describe_rounding(loss, source, target)]
    if loss.imaginary:
        lost.insert(0, "the imaginary part is dropped")
    if loss.unknown:
        unsaid = " and ".join(str(d) for d in (source, target) if find_finite_values(d) is None)
        lost.append(f"rounding is unknown: the facts of {unsaid} do not list its values")
    if loss.special:
        have = "has" if len(loss.special) == 1 else "have"
        lost.append(f"{join_words(loss.special)} {have} no counterpart")
    return lost


def _describe_range_loss(loss: Loss, source: DType, target: DType) -> Iterator[str]:
    """Describe the fate of values beyond the range of a target."""
    whole, into_whole = source.kind.category < Kind.FLOAT.category, target.kind.category < Kind.FLOAT.category
    if loss.sign:
        yield "negative values wrap" if whole else "negative values are undefined"
    if loss.magnitude and target.max is not None:
        # The loss of sign has described the values below.
        beyond = "above" if into_whole and loss.sign else "beyond"
        yield f"values {beyond} {_format_number(target.max)} {_describe_overflow(source, target)}"
    elif loss.magnitude and target.family:
        yield f"values beyond the range of {target} are undefined"
    elif loss.magnitude:
        yield f"values beyond the platform's {target} wrap"


def _describe_rounding(loss: Loss, source: DType, target: DType) -> Iterator[str]:
    """Describe the values within the range of a target that a cast rounds."""
    into_whole = source.kind.category >= Kind.FLOAT.category > target.kind.category
    has, keeps = source.precision, target.precision
    is_coarser = has is not None and keeps is not None and has > keeps
    if loss.precision and into_whole:
        yield "fractions are cut off"
    elif loss.precision and is_coarser:
        yield f"{has} significant bits are rounded to {keeps}"
    elif loss.first_inexact:
        yield f"integers above {_format_number(loss.first_inexact - 1)} are no longer exact"
    elif loss.precision and (has is None or keeps is None):
        yield "some values are rounded"
    if loss.underflow and source.smallest is not None:
        yield f"values near {_format_number(source.smallest)} become zero"
    elif loss.precision and has is not None and keeps is not None and not is_coarser:
        yield f"values near {_format_number(source.smallest or 0)} are rounded"


def _describe_overflow(source: DType, target: DType) -> str:
    if target.kind.category < Kind.FLOAT.category:
        return "wrap" if source.kind.category < Kind.FLOAT.category else "are undefined"
    if "i" in target.specials:
        return "become inf"
    return "become nan" if "n" in target.specials else "are undefined"


def describe_fit(fit: ValueFit) -> str:
    """Describe the fate of a Python scalar's value."""
    value = _format_number(fit.value)
    if fit.outcome == "fits":
        return f"{value} fits in {fit.target}"
    return f"{value} {fit.misfit}: {describe_outcome(fit)}"


def describe_outcome(fit: ValueFit) -> str:
    """Describe what a system does with a value out of range."""
    text_by_outcome = {
        "raise": "an error", "wrap": f"it wraps to {fit.becomes}", "inf": f"it becomes {fit.becomes}",
        "saturate": f"it becomes {fit.becomes}, the nearest", "widen": "computed without a limit",
        "exact": "used as it is, exactly",
    }  # fmt: skip
    return text_by_outcome.get(fit.outcome, "no rule covers it")


def _format_number(value: object) -> str:
    """Write a number for people: a large power of two as a power, a float in few digits."""
    if isinstance(value, int) and value > 2**10:
        off = 1 if value & (value + 1) == 0 else 0
        if (value + off) & (value + off - 1) == 0:
            return f"2**{(value + off).bit_length() - 1}" + " - 1" * off
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) < 1e7 and value.is_integer() else f"{value:.4g}"
    return str(value)
