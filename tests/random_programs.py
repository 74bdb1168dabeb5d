"""Random programs: lines of operations on arrays, 0-d arrays and Python numbers of all dtypes of a system."""

from __future__ import annotations

import random
from collections.abc import Sequence

from typelattice.facts.operations import OPERATIONS
from typelattice.namespaces.standard_signatures import read_standard

NUMBERS = ("1", "2", "2.5", "1j", "True")
# Calls of operations that want more than operands of any shape; `m` and `n` have three rows and columns.
SHAPED = {
    "matmul": "xp.matmul({m}, {n})",
    "tensordot": "xp.tensordot({m}, {n}, axes=1)",
    "vecdot": "xp.vecdot({m}, {n})",
    "outer": "xp.linalg.outer({m}[0, ...], {n}[0, ...])",
    "cross": "xp.linalg.cross({m}, {n})",
    "trace": "xp.linalg.trace({m})",
    "diagonal": "xp.linalg.diagonal({m})",
    "searchsorted": "xp.searchsorted({m}[0, ...], {n}[0, ...])",
    "diff": "xp.diff({m})[:, :1]",
    "reshape": "xp.reshape({m}, (9,))[:3]",
    "broadcast_to": "xp.broadcast_to({x}, (2, 3, 3))[0, ...]",
    "permute_dims": "xp.permute_dims({m}, (1, 0))",
    "moveaxis": "xp.moveaxis({m}, 0, 1)",
    "repeat": "xp.repeat({m}, 2)[:3]",
    "tile": "xp.tile({m}, (2, 1))[:3, ...]",
    "roll": "xp.roll({m}, 1)",
    "take": "xp.take({m}, xp.asarray([0, 1, 2]), axis=0)",
    "take_along_axis": "xp.take_along_axis({m}, xp.asarray([[0, 1, 2]]), axis=0)",
    "squeeze": "xp.squeeze({m}[:1, ...], axis=0)",
    "expand_dims": "xp.expand_dims({x}, axis=0)",
    "full_like": "xp.full_like({x}, 2)",
    "matrix_transpose": "xp.matrix_transpose({m})",
    "tril": "xp.tril({m})",
    "triu": "xp.triu({m})",
    "concat": "xp.concat([{m}, {n}])[:3, ...]",
    "stack": "xp.stack([{x}, {x}])[0, ...]",
    "where": "xp.where({x} == {x}, {x}, {y})",
    "clip": "xp.clip({x}, {y}, {y})",  # without bounds it is no operation in NumPy
    "sort": "xp.sort({m})",
    "argsort": "xp.argsort({m})",
    "flip": "xp.flip({m}, axis=0)",
    "cumulative_sum": "xp.cumulative_sum({m}, axis=0)",
    "cumulative_prod": "xp.cumulative_prod({m}, axis=0)",
}
LEFT_OUT = {  # what gives dtypes, several arrays or arbitrary values, and what writes, which lines do
    "setitem", "result_type", "promote_types", "empty_like", "isin", "nextafter",
}  # fmt: skip
FORMS = ("elementwise", "reduction", "along", "choice", "list", "whole", "indexed")
# The inverse of a matrix of ones, its spectrum and the like have no values to compare.
CLASSES_LEFT_OUT = ("linear", "matrix-power", "spectrum", "eigen", "norm", "rank")
OPERATORS = [op for op in OPERATIONS.values() if op.operator and op.name not in LEFT_OUT]
FOURIER = ("fourier", "fourier-in", "fourier-out", "shifted")
IN_STANDARD = {*read_standard().main, *read_standard().linalg} - LEFT_OUT
FUNCTIONS = [
    op
    for op in OPERATIONS.values()
    if op.name in IN_STANDARD
    and op.call_form in FORMS
    and op.operation_class not in (*CLASSES_LEFT_OUT, *FOURIER)
]


def inputs(dice: random.Random, names: Sequence[str]) -> dict[str, str]:
    """Three arrays and an array without dimensions, of dtypes of these names."""
    bound = {name: f"{dice.choice(names)}[3,3]" for name in "abc"}
    return {**bound, "z": f"{dice.choice(names)}:0d"}


def line(dice: random.Random, known: Sequence[str], name: str) -> str:
    """Text that binds a name to one operation on names that are known; in place, it is two lines."""
    if dice.random() < 0.1:
        return f"{name} = {dice.choice('abc')}\n{name} {dice.choice('+*-')}= {dice.choice(known)}"
    return f"{name} = {expression(dice, known)}"


def expression(dice: random.Random, known: Sequence[str]) -> str:
    """One operation on names that are known, and Python numbers."""
    x, y = dice.choice(known[-6:]), dice.choice([*known, *NUMBERS])
    match dice.random():
        case p if p < 0.1:
            return f"xp.astype({x}, {dice.choice(known)}.dtype)"
        case p if p < 0.15:
            return f"{x}[...]"
        case p if p < 0.5:
            op = dice.choice(OPERATORS)
            sign = op.operator or ""
            if op.name in SHAPED:
                return f"{dice.choice('abc')} {sign} {dice.choice('abc')}"
            if op.max_operands == 1:
                return f"{sign.removesuffix('x')}{x}" if sign else f"xp.{op.name}({x})"
            return f"{x} {sign} {y}" if dice.random() < 0.8 else f"{y} {sign} {x}"
    op = dice.choice(FUNCTIONS)
    if op.name in SHAPED:
        m, n = dice.choices("abc", k=2)
        return SHAPED[op.name].format(x=x, y=dice.choice(known), m=m, n=n)
    given = [x, *(dice.choice(known) for _ in range(op.min_operands - 1))]
    return f"xp.{op.name}({', '.join(given)})"
