"""Operations on operands: how they join, the dtype computed in, and the dtype of the result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from typelattice.engine.combine import combine
from typelattice.engine.decisions import Decision, Misfit, Operated, RefusalError
from typelattice.engine.fit import ValueFit, check_values
from typelattice.engine.joining import enter
from typelattice.engine.loops import casting, search
from typelattice.engine.operand_checks import (
    cast_remedy,
    check_exponent,
    check_operands,
    check_pairs,
    default_of,
    dtype_of_pair,
    entry,
    has_pair,
)  # fmt: skip
from typelattice.engine.operation_join import check_alike, check_weak, join_operands, make_arrays
from typelattice.engine.operations import (
    CASTS,
    DEFAULT_DTYPE,
    DEFAULT_OR_ERROR,
    EVEN_IF_CAST,
    IF_0D,
    IF_NOT_CAST,
    JOINED,
    LEFT_CAST,
    LEFT_CATEGORY,
    LEFT_KIND,
    NEVER,
    NUMBER_OF_ALL,
    PYTHON_NUMBERS,
    REBINDS,
    REBOUND,
    ROUNDED,
    SAME_DTYPE,
    STAYS,
    MemberGiven,
    Op,
    find,
    said_of,
)  # fmt: skip
from typelattice.engine.rules import Rules
from typelattice.facts.dtypes import DType, Kind, Node, complex_of, part_of
from typelattice.facts.frozen_classes import frozen
from typelattice.operands.operand import Operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.engine.operations import Given

STAY_WEAK = (STAYS, EVEN_IF_CAST, IF_0D, DEFAULT_OR_ERROR)  # words by which a weak result is weak


@frozen()
class Evaluation:
    """The outcome for some operands: the node of their join, the dtype computed in and the result's dtype.

    `node` is None if the operands need not join, `compute` if the operation looks at each by itself.
    """

    node: Node | None
    compute: DType | None
    dtype: DType
    weak: bool
    fits: tuple[ValueFit, ...]
    number: Kind | None = None  # that of the Python number that the result is
    accumulator: DType | None = None  # the dtype in which it adds up, if that is stated


@lru_cache(maxsize=1024)  # tables ask the same few operations thousands of times
def op_of(rules: Rules, name: str) -> Op:
    """Find the behaviour of an operation under some rules. Raise OpError for an unknown operation."""
    return find(rules.operation(name), rules.ops)


def evaluate_operation(
    rules: Rules, op: Op, operands: Sequence[Operand], trail: list[Decision]
) -> Evaluation:
    """Evaluate an operation on operands. Raise RefusalError if the system refuses them."""
    check_operands(rules, op, operands)
    check_pairs(rules, op, operands)
    if op.writes:
        _check_room(rules, op, operands)
    operands = make_arrays(rules, op, operands, trail)
    return _without_join(rules, op, operands, trail) or _with_join(rules, op, operands, trail)


def _with_join(
    rules: Rules, op: Op, operands: Sequence[Operand], trail: list[Decision]
) -> Evaluation:
    """Evaluate an operation whose operands join, or are cast to dtypes of its own."""
    node: Node | None = None
    weak = ignored = is_constant = False
    dtypes = casting(rules, op, operands)
    if not dtypes:
        ignored = ignores_right(op, operands)
        # If an exponent is a constant, as in `x ** 2`, no value is checked and its weakness does not count.
        is_constant = ignored and operands[1].tier != "array" and op.has_constants
        joining = operands[:1] if ignored else operands
        node, dtype, weak = join_operands(rules, op, joining, trail)
        if op.meet == SAME_DTYPE:
            check_alike(rules, op, operands, dtype)
        dtypes = (dtype,)
    compute, result = _apply_rule(rules, op, dtypes, trail, is_constant)
    if op.writes or said_to_give(op, compute) == "left":
        result = written_into(rules, op, result, operands[0], trail)
    adopted = dtypes[0] if op.adopts == JOINED and len(dtypes) == 1 else compute
    values = () if is_constant else tuple(check_values(rules, operands, adopted, op))
    _check_values(values)
    _check_last(rules, op, operands[-1], values, compute)
    same = compute is dtypes[0]
    if is_constant:  # a power whose exponent is a constant is a product, and as weak as that
        return Evaluation(node, compute, result, weak and same, values)
    becomes = said_of(op.weak_of, compute) or op.weak
    if becomes == EVEN_IF_CAST and not same:
        weak = True
    elif becomes == IF_0D and any(o.tier == "array" for o in operands):
        weak = False
    elif weak:
        if becomes == DEFAULT_OR_ERROR:
            check_weak(rules, op, result)
        result, weak = _weakness(rules, becomes, result, not ignored or operands[1].weak, same)
    accumulator = _accumulator(rules, op, compute)
    return Evaluation(node, compute, result, weak, values, _number(op, compute, result), accumulator)


def _check_last(
    rules: Rules, op: Op, last: Operand, values: Sequence[ValueFit], compute: DType
) -> None:
    """Check an exponent. Its own fit, if it has one, says what its value has wrapped to."""
    wrapped = next((f.becomes for f in values[-1:] if f.value is last.value), None)
    check_exponent(rules, op, last, last.value if wrapped is None else wrapped, compute)


def _without_join(
    rules: Rules, op: Op, operands: Sequence[Operand], trail: list[Decision]
) -> Evaluation | None:
    """Evaluate an operation if its operands need not join; return None if they have to."""
    into = operands[0].dtype
    if op.into in CASTS and op.gives == "left" and into is not None:
        return _evaluate_assignment(rules, op, operands, rules.dtype_of_new_array(into), trail)
    if op.meet == NEVER and not _have_join(rules, op, operands):
        return _apart(rules, op, operands, trail)
    if op.apart and has_pair(op.apart, operands):
        return _apart(rules, op, operands, trail)
    if op.unjoined and (found := dtype_of_pair(op.unjoined, operands)):
        return _accumulate_unjoined(rules, op, operands, found, trail)
    if op.overrides and (found := dtype_of_pair(op.overrides, operands)):
        return _overridden(rules, op, operands, found, trail)
    return None


def _evaluate_assignment(
    rules: Rules, op: Op, operands: Sequence[Operand], into: DType, trail: list[Decision]
) -> Evaluation:
    """Evaluate an assignment that casts its value, and needs no dtype that holds both operands."""
    for o in operands:
        enter(rules, o, trail)
    dtypes = tuple(o.dtype for o in operands if o.dtype)
    if into not in op.takes:
        step = Operated(dtypes, None, entry(rules, op, "takes"))
        raise RefusalError(f"{op.name} takes no {into.kind}", cast_remedy(rules, op, [into]), step)
    into = _computed_in(rules, op, (into,)) or into
    trail.append(Operated(dtypes, into, entry(rules, op)))
    # A bool holds the truth of every number, so that none is out of its range.
    values = () if into.kind is Kind.BOOL else tuple(check_values(rules, operands[1:], into, op))
    _check_values(values)
    return Evaluation(None, into, into, operands[0].weak, values)


def _have_join(rules: Rules, op: Op, operands: Sequence[Operand]) -> bool:
    """Return True if operands join, of an operation that does without their join."""
    try:
        combine(rules, operands, [])
    except RefusalError:
        return False
    return True


def _apart(rules: Rules, op: Op, operands: Sequence[Operand], trail: list[Decision]) -> Evaluation:
    """Evaluate an operation that looks at each operand by itself, and gives a dtype of its own."""
    for o in operands:
        enter(rules, o, trail)
        if (o.dtype or o.kind) not in op.takes:
            step = Operated((o.own_node,), None, entry(rules, op, "takes"))
            remedy = cast_remedy(rules, op, [o.own_node])
            raise RefusalError(f"{op.name} takes no {o.kind}", remedy, step)
    assert isinstance(op.gives, (DType, Kind))
    given = default_of(rules, op.gives)
    met = tuple(o.own_node for o in operands)
    trail.append(Operated(met, given, entry(rules, op, "meet")))
    if op.writes:
        given = written_into(rules, op, given, operands[0], trail)
    return Evaluation(None, None, given, False, ())


def _overridden(
    rules: Rules, op: Op, operands: Sequence[Operand], d: DType, trail: list[Decision]
) -> Evaluation:
    """Return the outcome for operands that an override sends to a dtype, whatever they join at."""
    for o in operands:
        enter(rules, o, trail)
    met = tuple(o.own_node for o in operands)
    trail.append(Operated(met, d, entry(rules, op, "overrides")))
    result = written_into(rules, op, d, operands[0], trail) if op.writes else d
    return Evaluation(None, d, result, False, (), _number(op, d, result))


def _accumulate_unjoined(
    rules: Rules, op: Op, operands: Sequence[Operand], accumulator: DType, trail: list[Decision]
) -> Evaluation:
    """Return the outcome for operands that keep their own dtypes, and whose products add up in another."""
    for o in operands:
        enter(rules, o, trail)
    result = dtype_of_pair(op.gives_of_pairs, operands) or accumulator
    trail.append(Operated(tuple(o.own_node for o in operands), result, entry(rules, op, "unjoined")))
    return Evaluation(None, None, result, False, (), None, accumulator)


def _accumulator(rules: Rules, op: Op, compute: DType) -> DType | None:
    """Return the dtype in which an operation adds up what it computes in one; None if none is stated."""
    target = said_of(op.accumulates, compute)
    return default_of(rules, target) if target else None


def ignores_right(op: Op, operands: Sequence[Operand]) -> bool:
    """True if the right operand is an integer that promotion ignores, e.g. `x ** 2`."""
    if len(operands) != 2:
        return False
    left, right = operands
    ignored = said_of(op.ignores_of, left) or op.ignores
    # Python's True is the integer 1, of which a constant is made.
    is_one = right.kind is Kind.BOOL and right.tier == "scalar" and op.has_constants
    return (right.kind.rank == 1 or is_one) and right.tier in ignored and right.dtype not in op.takes.but


def _check_values(values: Sequence[ValueFit]) -> None:
    """Raise RefusalError for a value that the system does not take."""
    for fit in values:
        if fit.outcome == "raise":
            step = Misfit((fit.target,), None, fit.kind.word)
            reason = f"{fit.value} is out of range for {fit.target}"
            raise RefusalError(reason, "use a value within it, or a wider dtype", step)


def _apply_rule(
    rules: Rules, op: Op, dtypes: tuple[DType, ...], trail: list[Decision], is_constant: bool
) -> tuple[DType, DType]:
    """Return the dtype computed in and that of the result; `dtypes`: the join, or those to find a loop for.

    With a constant exponent a power is a product, which takes every dtype of a kind the operation takes.
    """
    highest = max(dtypes, key=lambda d: d.kind.rank)
    compute = _computed_in(rules, op, dtypes)
    counts = highest if op.loops else compute
    taken = counts is not None and (counts.kind if is_constant else counts) in op.takes
    if compute is None or counts is None or not taken:
        what = " with ".join(map(str, dtypes))
        if compute is not None and counts is not None:
            what = str(counts if counts.kind in op.takes else counts.kind)
        step = Operated(dtypes, None, entry(rules, op, "takes"))
        reason = f"{op.name} takes no {what}"
        raise RefusalError(reason, cast_remedy(rules, op, dtypes), step)
    result = _result_dtype(rules, op, dtypes[0] if len(dtypes) == 1 else compute, compute)
    if not trail or dtypes != (compute,) or result is not compute:
        trail.append(Operated(dtypes, result, entry(rules, op)))
    return compute, result


def _computed_in(rules: Rules, op: Op, dtypes: tuple[DType, ...]) -> DType | None:
    """Return the dtype that the file maps these to, or whose loop takes them; None if no loop does."""
    mapped = {said_of(op.computes, d) for d in dtypes}
    target = mapped.pop() if len(mapped) == 1 else None
    if target:
        return default_of(rules, target)
    return search(rules, op, dtypes) if op.loops else dtypes[0]


def _result_dtype(rules: Rules, op: Op, joined: DType, compute: DType) -> DType:
    """Return the dtype of the result; if the left operand is to hold it, still that of the arithmetic."""
    made = _accumulator(rules, op, compute) or compute
    match said_to_give(op, compute):
        case None | "left" | "last array":
            return made
        case "joined":
            return joined
        case "real":
            return part_of(made)
        case "complex":
            return complex_of(made)
        case DType() | Kind() as target:
            return default_of(rules, target)
        case MemberGiven() as member:
            return member.family
        case word if word == NUMBER_OF_ALL:
            return default_of(rules, Kind.SIGNED)
        case word:
            kind = PYTHON_NUMBERS[word]
            return made if kind is None or kind is made.kind else default_of(rules, kind)


def gives_number(rules: Rules, name: str) -> bool:
    """Return True if an operation of a name may give a Python number."""
    op = op_of(rules, name)
    return any(given in PYTHON_NUMBERS for given in (op.gives, *op.gives_of.values()))


def _number(op: Op, compute: DType, result: DType) -> Kind | None:
    """Return the kind of the Python number that a result is; None if it is an array."""
    if said_to_give(op, compute) not in PYTHON_NUMBERS:
        return None
    return Kind.SIGNED if result.kind is Kind.UNSIGNED else result.kind


def said_to_give(op: Op, compute: DType) -> Given:
    """Return the value of `gives` for a result that was computed in a dtype."""
    return said_of(op.gives_of, compute) or op.gives


def _check_room(rules: Rules, op: Op, operands: Sequence[Operand]) -> None:
    """Raise RefusalError for writing an operand with dimensions into a 0-d array, which no library does.

    If the result replaces the left operand, nothing is written into it.
    """
    left, *others = operands
    if op.into in REBINDS or left.tier != "0d" or all(o.tier != "array" for o in others):
        return
    met = tuple(o.own_node for o in operands)
    step = Operated(met, None, entry(rules, op, "into"))
    reason = f"{op.name} would write what has dimensions into an array that has none"
    raise RefusalError(reason, "give the result a name of its own", step)


def written_into(rules: Rules, op: Op, d: DType, left: Operand, trail: list[Decision]) -> DType:
    """Return the dtype of the left operand after the result is written into it or replaces it."""
    into = left.dtype if left.tier != "scalar" else None
    if into is None or into is d or op.into == REBOUND:
        return d
    rounds = d.kind is Kind.FLOAT and into.kind.rank < d.kind.rank
    if op.into == ROUNDED and not rounds:
        return d
    kinds = [*Kind]
    taken = {
        ROUNDED: rounds,
        LEFT_KIND: kinds.index(d.kind) <= kinds.index(into.kind),
        LEFT_CATEGORY: d.kind.rank <= into.kind.rank,
        LEFT_CAST: True,
    }
    if not taken.get(op.into):
        step = Operated((d, into), None, entry(rules, op, "into"))
        remedy = "give the result a name of its own, or cast it"
        raise RefusalError(f"{d} cannot be written into {into}", remedy, step)
    trail.append(Operated((d, into), into, entry(rules, op)))
    return into


def _weakness(rules: Rules, becomes: str, result: DType, kept: bool, same: bool) -> tuple[DType, bool]:
    """Return the dtype of a weak result, and whether it stays weak.

    `becomes` is the file's word for this. `kept` is true if the operands are all weak, `same` if the
    operation computed in the dtype at which they joined.
    """
    if becomes == DEFAULT_DTYPE:
        return rules.defaults.get(result.kind, result), True
    return result, kept and (becomes in STAY_WEAK or (becomes == IF_NOT_CAST and same))
