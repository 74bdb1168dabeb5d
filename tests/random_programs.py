"""Random programs: lines of operations on arrays, 0-d arrays and Python numbers of all dtypes of a system."""

from __future__ import annotations

import random
from collections.abc import Iterator

import typelattice as tl
from typelattice.facts.operations import OPERATIONS
from typelattice.namespaces.signatures import standard

NUMBERS = ("1", "2", "2.5", "1j", "True")
LEFT_OUT = {  # what has no kernel over arrays of ones and twos, or gives several arrays
    "setitem", "iadd", "tensordot", "vecdot", "outer", "cross", "searchsorted", "result_type",
    "promote_types", "trace", "diff", "isin", "reshape", "broadcast_to", "moveaxis", "permute_dims", "repeat",
    "tile", "roll", "matmul", "take_along_axis", "nextafter", "squeeze", "full_like", "empty_like",
    "matrix_transpose", "tril", "triu", "diagonal",
}  # fmt: skip
FORMS = ("elementwise", "reduction", "choice", "several", "whole", "indexed")
CLASSES_LEFT_OUT = ("linear", "matrix-power", "spectrum", "eigen", "norm", "rank")
OPERATORS = [op for op in OPERATIONS.values() if op.operator and op.name not in LEFT_OUT]
FOURIER = ("fourier", "fourier-in", "fourier-out", "shifted")
IN_STANDARD = {*standard().main} - LEFT_OUT
FUNCTIONS = [
    op
    for op in OPERATIONS.values()
    if op.name in IN_STANDARD and op.form in FORMS and op.of_class not in (*CLASSES_LEFT_OUT, *FOURIER)
]


def inputs(dice: random.Random, system: tl.System, least: int = 0) -> dict[str, str]:
    """Three arrays and an array without dimensions, of dtypes of so many bits at least."""
    names = [d.name for d in system.dtypes if d.kind.value == "bool" or (d.bits or 0) >= least]
    bound = {name: f"{dice.choice(names)}[3,3]" for name in "abc"}
    return {**bound, "z": f"{dice.choice(names)}:0d"}


def lines(dice: random.Random, bound: dict[str, str], count: int) -> Iterator[str]:
    """Lines, each of which may use the names of those before it."""
    known = [*bound]
    for i in range(count):
        name = f"t{i}"
        yield f"{name} = {expression(dice, known)}"
        known.append(name)


def expression(dice: random.Random, known: list[str]) -> str:
    """One operation on names that are known, and Python numbers."""
    x, y = dice.choice(known[-6:]), dice.choice([*known, *NUMBERS])
    match dice.random():
        case p if p < 0.1:
            return f"xp.astype({x}, {dice.choice(known)}.dtype)"
        case p if p < 0.15:
            return f"{x}[...]"
        case p if p < 0.6:
            op = dice.choice(OPERATORS)
            sign = op.operator or ""
            if op.most == 1:
                return f"{sign.removesuffix('x')}{x}" if sign else f"xp.{op.name}({x})"
            return f"{x} {sign} {y}" if dice.random() < 0.8 else f"{y} {sign} {x}"
    op = dice.choice(FUNCTIONS)
    match op.form:
        case "choice":
            return f"xp.where({x} == {x}, {x}, {dice.choice(known)})"
        case "several":
            return f"xp.stack([{x}, {x}])[0, ...]" if dice.random() < 0.5 else f"xp.concat([a, b])[:3] + {x}"
        case "reduction":
            return f"xp.{op.name}({x})"
        case "indexed":
            return f"xp.take({dice.choice('abc')}, xp.asarray([0, 1, 2]), axis=0)"
    given = [x, *(dice.choice(known) for _ in range(op.least - 1))]
    if op.name == "clip":  # without bounds it is no operation in NumPy
        given += [dice.choice(known), dice.choice(known)]
    if op.name == "expand_dims":
        given.append("axis=0")
    return f"xp.{op.name}({', '.join(given)})"
