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
from typelattice.programs.calls.steps import Call
from typelattice.programs.program.program import Program, Replay
from typelattice.programs.replay.outcome import Outcome

REFUSED = "refused"
NOT_REACHED = "not reached"
Answers = Sequence[str | None]  # of each step, its dtype in words, or None if the way says nothing of it


@dataclass(slots=True)
class AskedProgram:
    """A program, its outcomes under the system, and the answers of a way so far."""

    system: System
    program: Program
    replay: Replay = field(init=False)
    reason: str = ""  # why the way says nothing of the program

    def __post_init__(self) -> None:
        self.replay = self.program.under(self.system)

    @property
    def expected(self) -> list[str]:
        """The outcome of each step in words; a step that needs a refused one counts as refused."""
        return [str(o).replace(NOT_REACHED, REFUSED) for o in self.replay]

    @property
    def reached(self) -> int:
        """The number of steps before the first one that is refused."""
        return next((i for i, o in enumerate(self.replay) if o.operand is None), len(self.replay))

    @property
    def computable(self) -> int:
        """The number of steps before the first one that is refused, or that no library computes."""
        steps = enumerate(self.program.steps[: self.reached])
        own = self.system.custom_operations
        return next((i for i, s in steps if isinstance(s, Call) and s.name in own), self.reached)

    @property
    def ends_in_refusal(self) -> bool:
        """True if the rules refuse the first step that has no result. Python's own refusals do not count."""
        if self.reached == len(self.replay):
            return False
        is_call = isinstance(self.program.steps[self.reached], Call)
        return self.reached in self.promotions() if is_call else self.replay[self.reached].is_refused

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

    `missing` is the command that installs what the way needs, or "" if it is here. `ask` gives an answer for
    each step of each program, and may write into `reason` why it has none. It raises no errors of programs.
    """

    @property
    def name(self) -> str: ...
    @property
    def missing(self) -> str: ...
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
