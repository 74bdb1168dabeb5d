"""How NumPy's ufuncs choose: the first loop to which every operand casts, an operand's own loop before all.

Operands do not meet first here, so `add` may answer where promotion refuses. Source: NumPy's linear search over the
loops of a ufunc, and the casts that ml_dtypes registers (github.com/jax-ml/ml_dtypes, issue 189).
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typelattice.dtypes import DType
from typelattice.operand import Operand
from typelattice.ops import Op

if TYPE_CHECKING:
    from typelattice.system import System


def candidates(system: System, rule: Op, operands: Sequence[Operand]) -> tuple[DType, ...]:
    """The operands' dtypes, a Python scalar's stand-in among them; none where the operands meet before the search."""
    stands = any(o.dtype in system.beside for o in operands)
    found = [(system.stand_in.get(o.kind) if stands else None) if o.weak else o.dtype for o in operands]
    return tuple(d for d in found if d) if rule.loops and all(d in system.order for d in found) else ()


def search(system: System, rule: Op, dtypes: Sequence[DType]) -> DType | None:
    """The dtype that the operation computes in; None where it has no loop for these."""
    choices = (*(d for d in dtypes if d in rule.own), *rule.loops)
    return next((to for to in choices if all(casts(system, d, to) for d in dtypes)), None)


def casts(system: System, a: DType, b: DType) -> bool:
    """Whether a loop of b takes a: b lies above and the pair is not refused, or each casts to the other."""
    pair = frozenset((a, b))
    above = a in system.order and b in system.order and system.order.le(a, b)
    return (above or pair in system.both_ways) and pair not in system.refusals
