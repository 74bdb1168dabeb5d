"""NumPy 1: what has no dimensions counts as the smallest dtype that holds its value. The one rule that is no data.

Source: `PyArray_ResultType` and `PyArray_MinScalarType_internal` in convert_datatype.c of numpy 1.26.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from typelattice.dtypes import CODES, DType, Kind, Node, weak
from typelattice.fit import fitted
from typelattice.operand import Operand, OperandError, of, operand, scalar
from typelattice.promotion import Refused, Step

if TYPE_CHECKING:
    from typelattice.system import System

UNSIGNED, SIGNED = ([CODES[f"{letter}{bits}"] for bits in (8, 16, 32, 64)] for letter in "ui")
HOLDS = [(CODES["f16"], 65000), (CODES["f32"], 3.4e38), (CODES["c64"], 3.4e38)]  # up to where NumPy takes them to hold
UNKNOWN = 1  # what an operand of unknown value is taken to be
Counted = tuple[Node, Node]  # what an operand counts as: beside bool and unsigned, beside anything else


def meet(operands: Sequence[Operand], nodes: Sequence[Node], join: Callable[[Sequence[Node]], Node], trail: list[Step]) -> Node:
    """Where operands meet that enter at these nodes: by value, unless what has no dimensions is of a higher sort."""
    held = [o.dtype or o.value is None or fitted(o.value, n)[0] for o, n in zip(operands, nodes) if isinstance(n, DType)]
    own = [n if ok else smallest(o, n)[0] for o, n, ok in zip(operands, nodes, held, strict=True)]
    arrays, others = ([min(n.kind.rank, 2) for o, n in zip(operands, own) if (o.tier == "array") is side] for side in (True, False))
    if not arrays or not others or max(arrays) < max(others):
        return join(own)
    counted = [(n, n) if o.tier == "array" else smallest(o, n) for o, n in zip(operands, own)]
    entries = [(o.dtype or weak(o.kind), n) for o, (n, _) in zip(operands, counted) if o.tier != "array"]
    trail += [Step("combine", None, (entry,), n) for entry, n in entries]

    def pair(a: Counted, b: Counted) -> Counted:
        met = join([x[y[0].kind not in (Kind.BOOL, Kind.UNSIGNED)] for x, y in ((a, b), (b, a))])
        both = a[0] is not a[1] and b[0] is not b[1]
        return met, SIGNED[UNSIGNED.index(met)] if both and met in UNSIGNED else met

    return reduce(pair, counted)[0]


def smallest(o: Operand, own: Node) -> Counted:
    """What an operand of a dtype counts as by its value. Raises Refused for an integer that no dtype holds."""
    v = UNKNOWN if o.value is None else o.value
    if own.kind.rank == 1:
        for u, s in zip(UNSIGNED, SIGNED, strict=True):
            if fitted(v, u if v.real > 0 else s)[0]:
    ...
