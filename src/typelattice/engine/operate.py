"""What an operation does: the dtype it computes in and that of its result, once its operands have joined."""
from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from typelattice.engine.combine import combine
from typelattice.engine.fit import Fit, fits
from typelattice.engine.joining import enter
from typelattice.engine.loops import casting, search
from typelattice.engine.operations import REBINDS, Domain, Given, Op, find, said_of
from typelattice.engine.own_meeting import as_arrays, check_weak, joined
from typelattice.engine.refused_pairs import check_pairs
from typelattice.engine.rules import Rules
from typelattice.engine.steps import Misfit, Operated, RefusalError, Step
from typelattice.engine.taking import check_alike, check_natural, check_operands, default_of, entry
from typelattice.facts.dtypes import DType, Kind, Node, complex_of, part_of
from typelattice.facts.dtypes import weak as weak_node
from typelattice.operands.operand import Operand


class Outcome(NamedTuple):
    """What operands come to: the node of their join and the dtype computed in, if they join; the result's."""

    node: Node | None
    compute: DType | None
    dtype: DType
    weak: bool
    fits: tuple[Fit, ...]


@lru_cache(maxsize=1024)  # tables ask the same few operations thousands of times
def op_of(rules: Rules, name: str) -> Op:
    """What an operation does under some rules. Raises OpError for an unknown one."""
    return find(name, rules.ops)


def operated(rules: Rules, name: str, operands: Sequence[Operand], trail: list[Step]) -> Outcome:
    """What operands come to in an operation."""
    op = op_of(rules, name)
    check_operands(rules, op, operands)
    check_pairs(rules, op, operands)
    if op.writes:
        _check_room(rules, op, operands)
    operands = as_arrays(rules, op, operands, trail)
    found = _without_join(rules, op, operands, trail)
    if found is not None:
        return found
    node: Node | None = None
    weak = ignored = is_constant = False
    dtypes = casting(rules, op, operands)
    if not dtypes:
        ignored = ignores_right(op, operands)
        # If an exponent is a constant, as in `x ** 2`, no value is checked and its weakness does not count.
        is_constant = ignored and operands[1].tier != "array" and op.has_constants
        joining = operands[:1] if ignored else operands
        node, dtype, weak = joined(rules, op, joining, trail)
        if op.meet == "alike":
            check_alike(rules, op, operands, dtype)
        dtypes = (dtype,)
    compute, result = _applied(rules, op, dtypes, trail, is_constant)
    if op.writes or _said_to_give(op, compute) == "left":
        result = written_into(rules, op, result, operands[0], trail)
    adopted = dtypes[0] if op.adopts == "joined" and len(dtypes) == 1 else compute
    values = () if is_constant else tuple(fits(rules, operands, adopted, op))
    _check_values(values)
    last = operands[-1]
    # The last operand's own fit, if it has one, says what its value has wrapped to.
    wrapped = next((f.becomes for f in values[-1:] if f.value is last.value), None)
    check_natural(rules, op, last, last.value if wrapped is None else wrapped, compute)
    becomes = said_of(op.weak_of, compute) or op.weak
    same = compute is dtypes[0]
    if is_constant:  # a power whose exponent is a constant is a product, and as weak as that
        weak = weak and same
    elif becomes == "made" and not same:
        weak = True
    elif becomes == "0d" and any(o.tier == "array" for o in operands):
        weak = False
    elif weak:
        if becomes == "refuse":
            check_weak(rules, op, result)
        result, weak = _weakness(rules, becomes, result, not ignored or operands[1].weak, same)
    return Outcome(node, compute, result, weak, values)


def _without_join(rules: Rules, op: Op, operands: Sequence[Operand], trail: list[Step]) -> Outcome | None:
    """What an operation comes to for which operands need not join; None if they have to."""
    into = operands[0].dtype
    if op.into == "cast" and op.gives == "left" and into is not None:
        return _assigned(rules, op, operands, rules.made(into), trail)
    if op.meet == "apart" and not _joins(rules, op, operands):
        return _apart(rules, op, operands, trail)
    if op.absorbs is not None and (found := _absorbing(op.absorbs, operands)):
        return _absorbed(rules, op, operands, found, trail)
    return None


def _assigned(rules: Rules, op: Op, operands: Sequence[Operand], into: DType, trail: list[Step]) -> Outcome:
    """What an assignment comes to that casts what it is given, and asks for no dtype that holds both."""
    for o in operands:
        enter(rules, o, trail)
    dtypes = tuple(o.dtype for o in operands if o.dtype)
    if into not in op.takes:
        step = Operated(dtypes, None, entry(rules, op, "takes"))
        raise RefusalError(f"{op.name} takes no {into.kind}", "cast the operands first", step)
    into = _computed_in(rules, op, (into,)) or into
    trail.append(Operated(dtypes, into, entry(rules, op)))
    # A bool holds the truth of every number, so that none is out of its range.
    values = () if into.kind is Kind.BOOL else tuple(fits(rules, operands[1:], into, op))
    _check_values(values)
    return Outcome(None, into, into, operands[0].weak, values)


def _joins(rules: Rules, op: Op, operands: Sequence[Operand]) -> bool:
    """Whether operands that need not join do so."""
    try:
        combine(rules, operands, [])
    except RefusalError:
        return False
    return True


def _apart(rules: Rules, op: Op, operands: Sequence[Operand], trail: list[Step]) -> Outcome:
    """What an operation comes to that looks at each operand by itself, and gives a dtype of its own."""
    for o in operands:
        enter(rules, o, trail)
        if (o.dtype or o.kind) not in op.takes:
            step = Operated((o.dtype or weak_node(o.kind),), None, entry(rules, op, "takes"))
            raise RefusalError(f"{op.name} takes no {o.kind}", "cast the operands first", step)
    assert isinstance(op.gives, (DType, Kind))
    given = default_of(rules, op.gives)
    met = tuple(o.dtype or weak_node(o.kind) for o in operands)
    trail.append(Operated(met, given, entry(rules, op, "meet")))
    if op.writes:
        given = written_into(rules, op, given, operands[0], trail)
    return Outcome(None, None, given, False, ())


def _absorbing(absorbs: Domain, operands: Sequence[Operand]) -> DType | None:
    """The dtype of the first operand that decides alone, if there is one: no Python scalar does."""
    return next((o.dtype for o in operands if o.dtype and o.tier != "scalar" and o.dtype in absorbs), None)


def _absorbed(rules: Rules, op: Op, operands: Sequence[Operand], d: DType, trail: list[Step]) -> Outcome:
    """What an operation comes to where an operand of this dtype decides alone."""
    for o in operands:
        enter(rules, o, trail)
    met = tuple(o.dtype or weak_node(o.kind) for o in operands)
    trail.append(Operated(met, d, entry(rules, op, "absorbs")))
    result = written_into(rules, op, d, operands[0], trail) if op.writes else d
    return Outcome(None, d, result, False, ())


def ignores_right(op: Op, operands: Sequence[Operand]) -> bool:
    """True if the right operand is an integer that promotion ignores, e.g. `x ** 2`."""
    if len(operands) != 2:
        return False
    left, right = operands
    ignored = said_of(op.ignores_of, left) or op.ignores
    # Python's True is the integer 1, of which a constant is made.
    is_one = right.kind is Kind.BOOL and right.tier == "scalar" and op.has_constants
    return (right.kind.rank == 1 or is_one) and right.tier in ignored and right.dtype not in op.takes.but


def _check_values(values: Sequence[Fit]) -> None:
    """Raises RefusalError for a value that the system does not take."""
    for fit in values:
        if fit.outcome == "raise":
            step = Misfit((fit.target,), None, fit.kind.word)
            reason = f"{fit.value} is out of range for {fit.target}"
            raise RefusalError(reason, "use a value within it, or a wider dtype", step)


def _applied(
    rules: Rules, op: Op, dtypes: tuple[DType, ...], trail: list[Step], is_constant: bool
) -> tuple[DType, DType]:
    """(the dtype computed in, the dtype of the result); `dtypes`: the join, or those that search a loop.

    With a constant exponent a power is a product, which has every dtype whose kind the operation takes.
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
        raise RefusalError(reason, "cast the operands first", step)
    result = _given(rules, op, dtypes[0] if len(dtypes) == 1 else compute, compute)
    if not trail or dtypes != (compute,) or result is not compute:
        trail.append(Operated(dtypes, result, entry(rules, op)))
    return compute, result


def _computed_in(rules: Rules, op: Op, dtypes: tuple[DType, ...]) -> DType | None:
    """The dtype that the file maps these to, or whose loop takes them; None if no loop does."""
    mapped = {said_of(op.computes, d) for d in dtypes}
    target = mapped.pop() if len(mapped) == 1 else None
    if target:
        return default_of(rules, target)
    return search(rules, op, dtypes) if op.loops else dtypes[0]


def _given(rules: Rules, op: Op, joined: DType, compute: DType) -> DType:
    """The dtype of the result of what was computed; of what the left operand is to hold, the one computed."""
    match _said_to_give(op, compute):
        case None | "left":
            return compute
        case "joined":
            return joined
        case "real":
            return part_of(compute)
        case "complex":
            return complex_of(compute)
        case target:
            return default_of(rules, target)


def _said_to_give(op: Op, compute: DType) -> Given:
    """What is said of the result of what was computed in a dtype."""
    return said_of(op.gives_of, compute) or op.gives


def _check_room(rules: Rules, op: Op, operands: Sequence[Operand]) -> None:
    """Raises RefusalError if what has dimensions would be written into an array without, as no library does.

    Where the result takes the left operand's place nothing is written into that.
    """
    left, *others = operands
    if op.into in REBINDS or left.tier != "0d" or all(o.tier != "array" for o in others):
        return
    met = tuple(o.dtype or weak_node(o.kind) for o in operands)
    step = Operated(met, None, entry(rules, op, "into"))
    reason = f"{op.name} would write what has dimensions into an array that has none"
    raise RefusalError(reason, "give the result a name of its own", step)


def written_into(rules: Rules, op: Op, d: DType, left: Operand, trail: list[Step]) -> DType:
    """The dtype of the left operand after what was computed is written into it, or takes its place."""
    into = left.dtype if left.tier != "scalar" else None
    if into is None or into is d or op.into == "rebind":
        return d
    rounds = d.kind is Kind.FLOAT and into.kind.rank < d.kind.rank
    if op.into == "round" and not rounds:
        return d
    kinds = [*Kind]
    taken = {
        "round": rounds,
        "kind": kinds.index(d.kind) <= kinds.index(into.kind),
        "category": d.kind.rank <= into.kind.rank,
    }
    if not taken.get(op.into):
        step = Operated((d, into), None, entry(rules, op, "into"))
        remedy = "give the result a name of its own, or cast it"
        raise RefusalError(f"{d} cannot be written into {into}", remedy, step)
    trail.append(Operated((d, into), into, entry(rules, op)))
    return into


def _weakness(rules: Rules, becomes: str, result: DType, kept: bool, same: bool) -> tuple[DType, bool]:
    """A weak result after an operation, and whether it stays weak.

    `becomes` is the file's word for it. `kept` if its operands are all weak, `same` if it was computed in the
    dtype at which they joined.
    """
    if becomes == "default":
        return rules.defaults.get(result.kind, result), True
    return result, kept and (becomes in ("keep", "made", "0d", "refuse") or (becomes == "same" and same))
