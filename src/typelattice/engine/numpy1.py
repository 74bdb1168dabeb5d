"""NumPy 1, the one rule that is no data: what has no dimensions counts as the smallest dtype that holds its value.

Source: github.com/numpy/numpy/blob/v1.26.4/numpy/core/src/multiarray/convert_datatype.c, from PyArray_MinScalarType on.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from typelattice.engine.answer import Refused, Step
from typelattice.facts.dtypes import CODES, DType, Kind, Node, weak
from typelattice.facts.range import Value, fitted
from typelattice.operands.operand import Operand, OperandError, operand

if TYPE_CHECKING:
    from typelattice.engine.system import System

UNSIGNED, SIGNED = ([CODES[f"{letter}{bits}"] for bits in (8, 16, 32, 64)] for letter in "ui")
BELOW = {CODES["f16"]: 65000, CODES["f32"]: 3.4e38, CODES["c64"]: 3.4e38}  # NumPy's bounds, not the dtypes' own
CUTS = sorted({0, *(sign * 2**n for n in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1))})
UNKNOWN = 1  # the value that counts where none is known
Join = Callable[[Sequence[DType]], Node]
Counted = tuple[DType, DType]  # what an operand counts as beside bool and unsigned, and beside anything else


def meet(operands: Sequence[Operand], nodes: Sequence[Node], join: Join, trail: list[Step]) -> Node:
    """Where operands that enter at these nodes meet."""
    own = [n for n in nodes if isinstance(n, DType)]
    if len(own) < len(nodes):
        raise Refused("a Python scalar has no dtype here", "give it one", Step("defaults", None, tuple(nodes), None))
    counted, by_value = counts(operands, own)
    if not by_value:
        return join([c[0] for c in counted])
    low = [(o.dtype or weak(o.kind), c[0]) for o, c in zip(operands, counted, strict=True) if o.tier != "array"]
    trail += [Step("combine", None, (node,), d) for node, d in low]

    def pair(a: Counted, b: Counted) -> Counted:
        met = join([x[y[0].kind not in (Kind.BOOL, Kind.UNSIGNED)] for x, y in ((a, b), (b, a))])
        assert isinstance(met, DType)
        return met, SIGNED[UNSIGNED.index(met)] if a[0] is not a[1] and b[0] is not b[1] else met

    return reduce(pair, counted)[0]


def loop(system: System, operands: Sequence[Operand], loops: Sequence[DType]) -> tuple[DType, ...]:
    """The first of these to which every operand casts, in either of the ways it counts; none where there is none."""
    own = [d for o in operands if (d := o.dtype or system.defaults.get(o.kind)) and d in system.order]
    counted = counts(operands, own)[0] if len(own) == len(operands) else []
    fit = (to for to in loops if all(any(system.order.le(d, to) for d in c) for c in counted))
    return tuple(islice(fit, counted != [] and 1))


def counts(operands: Sequence[Operand], own: Sequence[DType]) -> tuple[list[Counted], bool]:
    """What operands count as; by value, unless what has no dimensions is of a higher sort than every array."""
    pairs = list(zip(operands, own, strict=True))
    pairs = [(o, smallest(d, o.value)[0] if not o.dtype and o.value and not fitted(o.value, d)[0] else d) for o, d in pairs]
    sorts = [[min(d.kind.rank, 2) for o, d in pairs if (o.tier == "array") is array] for array in (True, False)]
    by_value = all(sorts) and max(sorts[0]) >= max(sorts[1])
    return [smallest(d, o.value) if by_value and o.tier != "array" else (d, d) for o, d in pairs], by_value


def smallest(own: DType, value: Value | None) -> Counted:
    """What a value of this dtype, or kind, counts as. Raises Refused for an integer that no dtype holds."""
    v = UNKNOWN if value is None else value
    if own.kind.rank != 1:
        size = max(abs(v.real), abs(v.imag))
        size = size if own.kind is Kind.COMPLEX or size - size == 0 else 0  # an inf or nan is float16 too
        held = (d for d, bound in BELOW.items() if d.kind is own.kind and size < bound and (d.bits or 0) < (own.bits or 0))
        return (next(held, own),) * 2
    for u, s in zip(UNSIGNED, SIGNED, strict=True):
        if fitted(v, u)[0] or fitted(v, s)[0]:
            return u if fitted(v, u)[0] else s, s if fitted(v, s)[0] else u
    raise Refused("beyond uint64 it is an object", "use a float", Step("combine", None, (own,), None))


def intervals(system: System, *operands: object, op: str | None = None) -> list[tuple[int, int, DType | None]]:
    """(least, greatest, dtype) of the values of the one integer without dimensions whose value is unknown; None: refused."""
    read = [operand(x) for x in operands]
    unknown = [i for i, o in enumerate(read) if o.tier != "array" and o.kind.rank == 1 and o.value is None]
    if len(unknown) != 1:
        raise OperandError(f"{len(unknown)} integers of unknown value; give a value to all but one")
    i, d = unknown[0], read[unknown[0]].dtype
    low, past = (int(d.min or 0), int(d.max or 0) + 1) if d else (-CUTS[-1] // 2, CUTS[-1])
    found: list[tuple[int, int, DType | None]] = []
    for start, end in pairwise([low, *(cut for cut in CUTS if low < cut < past), past]):
        dtype = system.explain(*read[:i], replace(read[i], value=start), *read[i + 1 :], op=op).dtype
        found.append((found.pop()[0] if found and found[-1][2] is dtype else start, end - 1, dtype))
    return found
