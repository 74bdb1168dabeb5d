"""How operands join in an operation, which may go its own way: in what they count as, in which order they
meet, and in what may stay weak.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from typelattice.engine.combine import combine
from typelattice.engine.joining import own_dtype
from typelattice.engine.operations import Covers, Op, said_of
from typelattice.engine.rules import Rules
from typelattice.engine.steps import (
    Defaulted,
    Joined,
    Lowered,
    Misfit,
    Operated,
    RefusalError,
    Replaced,
    Step,
)  # fmt: skip
from typelattice.engine.taking import default_of, entry
from typelattice.facts.dtypes import DType, Node
from typelattice.facts.dtypes import weak as weak_node
from typelattice.facts.order import Order
from typelattice.facts.range import fitted
from typelattice.operands.operand import Operand


def counts_as(rules: Rules, op: Op, o: Operand) -> DType | None:
    """The dtype that an operand counts as before it meets the rest, where that is not its own.

    A Python scalar counts so too in a system that does not tell its scalars apart.
    """
    target = said_of(op.before, o) if o.tier != "scalar" or "scalar" not in rules.tiers else None
    counts = default_of(rules, target) if target is not None else None
    return None if counts is o.dtype and not o.weak else counts


def _counted(rules: Rules, op: Op, o: Operand, trail: list[Step]) -> Operand:
    """An operand as the operation counts it."""
    counts = counts_as(rules, op, o)
    if counts is None:
        return o
    trail.append(Operated((o.dtype or weak_node(o.kind),), counts, entry(rules, op, "before")))
    tier = "array" if o.tier == "scalar" else o.tier
    return replace(o, dtype=counts, kind=counts.kind, weak=False, tier=tier, value=None)


def as_arrays(rules: Rules, op: Op, operands: Sequence[Operand], trail: list[Step]) -> Sequence[Operand]:
    """The operands, of which the operation makes arrays by themselves, before any meets another."""
    if op.arrays == "none":
        return operands
    return [
        _array(rules, op, o, trail) if o.tier != "array" and op.makes_array(i) else o
        for i, o in enumerate(operands)
    ]


def _array(rules: Rules, op: Op, o: Operand, trail: list[Step]) -> Operand:
    """The array of its own dtype that an operand without dimensions counts as. Raises RefusalError."""
    own = own_dtype(rules, o)
    if own is None:
        return o  # a bool, which counts as an array of bool everywhere, or a scalar that has no dtype alone
    if rules.combine == "value":
        from typelattice.engine import numpy1  # one library alone goes by values

        own = numpy1.at_least(o, own)
    if o.value is not None and not fitted(o.value, own)[0]:
        reason = f"{o.value} is out of range for {own}"
        raise RefusalError(reason, "use a value within it", Misfit((own,), None, o.kind.word))
    if o.tier in rules.tiers:
        trail.append(Operated((o.dtype or weak_node(o.kind),), own, entry(rules, op, "arrays")))
    return replace(o, dtype=own, kind=own.kind, weak=False, tier="array", value=None)


def joined(rules: Rules, op: Op, operands: Sequence[Operand], trail: list[Step]) -> tuple[Node, DType, bool]:
    """(the node at which operands join, its dtype, whether that is weak), each as the operation counts it."""
    counted = [_counted(rules, op, o, trail) for o in operands] if op.before else operands
    if not op.order:
        return combine(rules, counted, trail)
    own = replace(rules, order=_order(op.order), ties={}, overrides={}, refusals={}, combine="join")
    met = tuple(o.dtype or weak_node(o.kind) for o in counted)
    said = entry(rules, op, "order")
    # One step tells of the operation's order; of the rest the system says the same in every operation.
    steps: list[Step] = []
    last = (Replaced, Defaulted)  # what becomes of the node at which they meet
    try:
        found = combine(own, counted, steps)
    except RefusalError as e:
        raise RefusalError(e.reason, e.remedy, Operated(met, None, said)) from None
    finally:
        trail += [step for step in steps if not isinstance(step, (Joined, Lowered, *last))]
    trail.append(Operated(met, found[0], said))
    trail += [step for step in steps if isinstance(step, last)]
    return found


@lru_cache
def _order(covers: Covers) -> Order[Node]:
    """The order of these covers; a few operations have one, which many calls ask for."""
    return Order(dict(covers))


def check_weak(rules: Rules, op: Op, result: DType) -> None:
    """Raises RefusalError for a weak result that is not of the default dtype of its kind."""
    default = rules.defaults.get(result.kind, result)
    if result is not default:
        step = Operated((result,), None, entry(rules, op, "weak"))
        reason = f"{op.name} gives no weak {result}, but a weak {default} alone"
        raise RefusalError(reason, "make an operand an array that is not weak", step)
