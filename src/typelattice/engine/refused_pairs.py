"""Operands that an operation does not let meet, though they meet elsewhere."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from typelattice.engine.operations import OTHER, Op, Refused
from typelattice.engine.rules import Rules
from typelattice.engine.steps import Operated, RefusalError
from typelattice.engine.taking import entry
from typelattice.facts.dtypes import weak
from typelattice.operands.operand import Operand


def check_pairs(rules: Rules, op: Op, operands: Sequence[Operand]) -> None:
    """Raises RefusalError for the first two operands that do not meet here."""
    for a, b in combinations(operands, 2) if op.refuses else ():
        for pair in op.refuses:
            ordered = pair[2]
            if _stands(a, b, pair) or (not ordered and _stands(b, a, pair)):
                met = (a.dtype or weak(a.kind), b.dtype or weak(b.kind))
                step = Operated(met, None, entry(rules, op, "refuses"))
                does = "stand before" if ordered else "meet"
                raise RefusalError(f"{op.name} does not let {a} {does} {b}", "cast one of them first", step)


def _stands(a: Operand, b: Operand, pair: Refused) -> bool:
    """Whether operands are of these sides: an array by its dtype or kind, a Python scalar by its kind."""
    left, right, _ = pair
    other = {OTHER} if a.dtype is not b.dtype else set()
    of_a, of_b = ({weak(o.kind)} if o.tier == "scalar" else {o.dtype, o.kind} | other for o in (a, b))
    return not (left.isdisjoint(of_a) or right.isdisjoint(of_b))
