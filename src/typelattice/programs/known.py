"""The steps of a program in the making, and what is known of the result of each, whatever the system."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.facts.dtypes import DTYPES, DType, DTypeError
from typelattice.facts.range import Value
from typelattice.operands.notation import parse
from typelattice.operands.operand import Operand
from typelattice.programs.site import Site
from typelattice.programs.step import (
    AnyDType,
    Argument,
    Call,
    Cast,
    Created,
    DTypeOf,
    Index,
    Input,
    Item,
    NamedDType,
    Number,
    Opaque,
    ProgramError,
    Ref,
    Shape,
    Step,
)  # fmt: skip

MOST = 1_000_000  # steps


class KnownSteps:
    """The steps so far. `scalars` are those that give Python numbers, `values` the numbers that are known."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.scalars: set[int] = set()
        self.values: dict[int, Value] = {}

    def add(self, step: Step) -> Ref:
        """Adds a step. Raises ProgramError past the number of steps that a program may have."""
        if len(self.steps) >= MOST:
            raise ProgramError(f"a program of more than {MOST:,} steps; take it apart")
        self.steps.append(step)
        ref = Ref(len(self.steps) - 1)
        if self._gives_number(step):
            self.scalars.add(ref.step)
        return ref

    def _gives_number(self, step: Step) -> bool:
        """Whether the result of a step is a Python number."""
        match step:
            case Call():
                return step.operator and self.scalars.issuperset(step.operands)
            case Number() | Item():
                return True
            case Input() | Opaque():
                return isinstance(step.given, Operand) and step.given.tier == "scalar"
        return False

    def static(self, x: Argument) -> Argument:
        """A plain value in place of a step whose result is a Python number that is known."""
        if isinstance(x, Ref):
            return self.values.get(x.step, x)
        return tuple(map(self.static, x)) if isinstance(x, tuple) else x

    def is_scalar(self, x: Argument) -> bool:
        """Whether it is a Python number, known or not."""
        return x.step in self.scalars if isinstance(x, Ref) else isinstance(x, (bool, int, float, complex))

    def shape(self, x: Argument) -> Shape | None:
        """The shape of a step's result; of a plain value that it has no dimensions."""
        return self.steps[x.step].shape if isinstance(x, Ref) else ()

    def dtype(self, x: AnyDType | Ref) -> DType | None:
        """The dtype that is named, or that an earlier step is stated to have; None where the system decides.

        An input is of the dtype that it is given as, a cast of the one that it names.
        """
        while not isinstance(x, NamedDType):
            step = self.steps[x.step]
            match step:
                case Input(given=given) | Opaque(given=given):
                    return _dtype_of(given)
                case Cast(to=to) | Created(dtype=NamedDType() | DTypeOf() as to):
                    x = to
                case Call(dtype=NamedDType() | DTypeOf() as to):
                    x = to
                case Index(source=source):
                    x = Ref(source)
                case _:
                    return None
        return DTYPES.get(x.name)

    def owner(self, site: Site, steps: Sequence[int]) -> str | None:
        """The library that decides: the one that is named, else that of the arrays that Python asks.

        NumPy's arrays and scalars leave an operation to those of another library.
        """
        if site.owner:
            return site.owner
        owner = None
        for i in steps:
            found = self.steps[i].owner
            if found is not None and (owner is None or owner == "numpy"):
                owner = found
        return owner


def _dtype_of(given: Operand | str) -> DType | None:
    """The dtype of an input; None of a Python number, and of a dtype that a system's own file defines."""
    if isinstance(given, Operand):
        return given.dtype
    try:
        return parse(given).dtype
    except DTypeError:
        return None
