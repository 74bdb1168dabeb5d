"""Random programs: lines of operations on arrays, 0-d arrays and Python numbers of all dtypes of a system."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from typelattice.core.engine.system import System
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.programs.calls.steps import ProgramError
from typelattice.programs.entry_points.make_program import program
from typelattice.programs.namespaces.standard_signatures import read_standard
from typelattice.programs.program.program import Program

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
CREATED = (  # arrays of the default dtypes, of shapes that broadcast with those of the inputs
    "xp.asarray([1, 2, 3])", "xp.asarray([True, 1, 2.5])", "xp.asarray([[1j], [2], [3]])",
    "xp.asarray([True, False, True])", "xp.asarray(2)", "xp.asarray([1, 2**40, 3])", "xp.full((3,), 2)",
    "xp.full((), 2.5)", "xp.ones((3,))", "xp.arange(1, 4)", "xp.linspace(1, 2, 3)",
)  # fmt: skip
OF_A_DTYPE = (  # calls that state a dtype
    "xp.sum({x}, dtype={dtype})", "xp.prod({x}, dtype={dtype})", "xp.asarray({x}, dtype={dtype})",
    "xp.zeros_like({x}, dtype={dtype})", "xp.full_like({x}, 2, dtype={dtype})",
)  # fmt: skip
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


REFUSED_SHARE = 0.3  # of the lines that a system refuses, so many stay in a program
CUSTOM_SHARE = 0.15  # of the lines, so many call an operation of the file's own


@dataclass(frozen=True, slots=True)
class RandomProgram:
    """The lines of a program, and the operand string of each of its inputs."""

    system: System
    lines: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...]

    @property
    def used_inputs(self) -> dict[str, str]:
        """The inputs that some line names."""
        words = {*re.findall(r"\w+", "\n".join(self.lines))}
        return {name: given for name, given in self.inputs if name in words}

    def build(self) -> Program:
        """Return the program, with all its steps as results. Raises ProgramError."""
        p = program("\n".join(self.lines), self.system, **self.used_inputs)
        return Program(p.steps, tuple(range(len(p.steps))), p.source)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={x}" for name, x in self.used_inputs.items())
        return "\n".join([f"# {given}", *self.lines])


def random_programs(system: System, count: int, seed: int, steps: int) -> Iterator[RandomProgram]:
    """Yield so many programs of at most so many lines, of all dtypes of a system."""
    for number in range(count):
        yield random_program(system, random.Random(f"{seed} {number}"), steps)


def random_program(system: System, dice: random.Random, steps: int) -> RandomProgram:
    """Return a program of at most so many lines. A few lines are refused, and later ones use them.

    Lines that no program can have are left out.
    """
    own = [op for op in system.custom_operations.values() if op.is_callable]
    bound = inputs(dice, [str(d) for d in system.dtypes])
    found = RandomProgram(system, (), tuple(bound.items()))
    known = [*bound]
    for i in range(steps):
        more = replace(found, lines=(*found.lines, line(dice, known, f"t{i}", own)))
        try:
            outcomes = more.build().under(system)
        except ProgramError:
            continue
        if any(o.operand is None for o in outcomes[-1:]) and dice.random() > REFUSED_SHARE:
            continue
        found = more
        known.append(f"t{i}")
    return found


def inputs(dice: random.Random, names: Sequence[str]) -> dict[str, str]:
    """Three arrays and an array without dimensions, of dtypes of these names."""
    bound = {name: f"{dice.choice(names)}[3,3]" for name in "abc"}
    return {**bound, "z": f"{dice.choice(names)}:0d"}


def line(dice: random.Random, known: Sequence[str], name: str, own: Sequence[Operation] = ()) -> str:
    """Text that binds a name to one operation on names that are known; in place, it is two lines."""
    if dice.random() < 0.1:
        return f"{name} = {dice.choice('abc')}\n{name} {dice.choice('+*-')}= {dice.choice(known)}"
    if own and dice.random() < CUSTOM_SHARE:
        return f"{name} = {call_of_custom(dice, known, dice.choice(own))}"
    return f"{name} = {expression(dice, known)}"


def call_of_custom(dice: random.Random, known: Sequence[str], operation: Operation) -> str:
    """A call of an operation that a file defines, on arrays of three rows and columns."""
    shaped = operation.like in SHAPED
    given = [dice.choice("abc" if shaped else known[-6:]) for _ in range(max(1, operation.min_operands))]
    return f"{operation.name}({', '.join(given)})"


def expression(dice: random.Random, known: Sequence[str]) -> str:
    """One operation on names that are known, and Python numbers."""
    x, y = dice.choice(known[-6:]), dice.choice([*known, *NUMBERS])
    match dice.random():
        case p if p < 0.1:
            return f"xp.astype({x}, {dice.choice(known)}.dtype)"
        case p if p < 0.15:
            return f"{x}[...]"
        case p if p < 0.18:
            return dice.choice(CREATED)
        case p if p < 0.22:
            return dice.choice(OF_A_DTYPE).format(x=x, dtype=f"{dice.choice(known)}.dtype")
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
