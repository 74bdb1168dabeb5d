"""Plain steps in a typed graph, for casts and operations that follow a rule of a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.losses.plain_casts import NoPlainStepsError
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.programs.calls.steps import Call, Cast, NamedDType, Number, ProgramError, Ref, Step

StepAdder = Callable[[Step], int]  # adds a step to a program, and returns its number


@dataclass(frozen=True, slots=True)
class GraphStepWriter:
    """A writer of plain steps into a graph, in place of one step of a program.

    The last cast has the text `cast_text`, so that it still reads as the program's own step.
    """

    add: StepAdder
    step: Step
    cast_text: str

    def call(self, name: str, dtype: DType, *operands: int) -> int:
        """Add a call of a function."""
        step, refs = self.step, tuple(map(Ref, operands))
        return self.add(
            Call(
                name, refs, (), operands, False, NamedDType(str(dtype)),
                text=step.text, location=step.location, shape=step.shape, owner=step.owner,
            )
        )  # fmt: skip

    def number(self, value: PythonNumber, dtype: DType) -> int:
        """Add a number, cast to a dtype."""
        number = self.add(Number(value, text=str(value), location=self.step.location, shape=()))
        text = f"{value}.astype({dtype})"
        return self.add(
            Cast(number, NamedDType(str(dtype)), text=text, location=self.step.location, shape=())
        )

    def cast(self, value: int, target: DType) -> int:
        """Add a plain cast."""
        step, to = self.step, NamedDType(str(target))
        return self.add(Cast(value, to, text=self.cast_text, location=step.location, shape=step.shape))

    def make_refusal(self, error: NoPlainStepsError) -> ProgramError:
        """Build the error of a step that no plain steps express."""
        where = f" ({self.step.location})" if self.step.location else ""
        cause = f"{self.step.text!r}{where}: no plain steps are {error}"
        return ProgramError(f"{cause}; give such casts an operation of their own")
