"""A way to ask a system for the dtypes of a program's steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from shutil import which
from typing import Protocol

from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.programs.calls.steps import Call, Input, Number
from typelattice.programs.program.program import Program, Replay
from typelattice.programs.replay.outcome import Outcome

REFUSED = "refused"
NOT_REACHED = "not reached"
Answers = Sequence[str | None]  # of each step, its dtype in words, or None if the way says nothing of it


@dataclass(slots=True)
class AskedProgram:
    """A program, its outcomes under the system, and the reasons of a way that has no answer for a step."""

    system: System
    program: Program
    replay: Replay = field(init=False)
    reasons: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.replay = self.program.under(self.system)

    @property
    def expected(self) -> list[str]:
        """The outcome of each step in words; a step that needs a refused one counts as refused."""
        return [str(o).replace(NOT_REACHED, REFUSED) for o in self.replay]

    @property
    def asked_steps(self) -> list[int]:
        """The steps with a dtype to ask for: all apart from inputs and numbers."""
        return [i for i, s in enumerate(self.program.steps) if not isinstance(s, (Input, Number))]

    @property
    def arrays(self) -> list[int]:
        """The steps that a library computes: those that give arrays, and have values."""
        operands = [o.operand for o in self.replay]
        given = (i for i in self.asked_steps if (o := operands[i]) is not None and o.tier != "scalar")
        return [i for i in given if not self.is_custom(i)]

    def is_custom(self, step: int) -> bool:
        """Return True for a call of an operation that the system defines. No library has values for it."""
        made = self.program.steps[step]
        return isinstance(made, Call) and made.name in self.system.custom_operations

    def is_refused_by_rules(self, step: int) -> bool:
        """Return True if the rules refuse a step itself. Python's own refusals do not count."""
        if isinstance(self.program.steps[step], Call):
            return self.replay[step].operand is None and step in self.promotions()
        return self.replay[step].is_refused

    def promotions(self) -> Mapping[int, Promotion]:
        """Map the steps whose whole result is the answer to a promotion to that answer."""
        return {
            i: o.promotion
            for i, o in enumerate(self.replay)
            if isinstance(self.program.steps[i], Call) and o.promotion is not None and _is_whole_answer(o)
        }


def _is_whole_answer(outcome: Outcome) -> bool:
    p, o = outcome.promotion, outcome.operand
    assert p is not None
    if p.dtype is None:
        return outcome.is_refused
    return o is not None and o == operand_of_dtype(p.dtype, p.weak, o.tier)


class Way(Protocol):
    """A way to ask: its name, what it needs, and the answers to programs.

    `missing` is the command that installs what the way needs, or "" if it is here. `leaves_out` describes the
    steps that it cannot be asked for. `ask` gives an answer for each step of each program, and may write into
    `reasons` why it has none. It raises no errors of programs.
    """

    @property
    def name(self) -> str: ...
    @property
    def missing(self) -> str: ...
    @property
    def leaves_out(self) -> str: ...
    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]: ...


def missing_modules(*modules: str) -> str:
    """Return the command that installs the first of some modules that is not here, or ""."""
    lacking = [module for module in modules if find_spec(module) is None]
    return f"pip install {' '.join(lacking)}" if lacking else ""


def missing_program(program: str, command: str) -> str:
    """Return the command that installs a program if it is not here, or ""."""
    return "" if which(program) else command


def without_value(operand: Operand) -> Operand:
    """Return an operand of unknown value."""
    return replace(operand, value=True if operand.dtype and operand.tier == "scalar" else None)


def words_of(dtype: object, weak: bool = False) -> str:
    """Write a dtype as outcomes are written: `float64*` if it is weak."""
    return f"{dtype}{'*' * weak}"


def no_answers(asked: AskedProgram) -> list[str | None]:
    """Return that a way says nothing of any step."""
    return [None] * len(asked.replay)
