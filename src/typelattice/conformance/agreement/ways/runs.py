"""Ways that compute a program: as a whole, or step by step where that is not possible."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from typelattice.conformance.agreement.parts import key_of_part, single_part, whole_part
from typelattice.conformance.agreement.way import REFUSED, Answers, AskedProgram, missing_modules, no_answers
from typelattice.core.engine.promotion import PromotionError
from typelattice.core.engine.system import System
from typelattice.programs.calls.steps import Input
from typelattice.programs.program.program import Program

MAX_REASON_CHARS = 100
LOCATION_PATTERN = re.compile(r"'[^']*'|\(<source>, line \d+\)|\d+")


class CannotComputeError(Exception):
    """The error of a way that cannot compute a step. Its text is the reason, without details."""


class Run:
    """A way that computes a program. A subclass says how."""

    name = ""
    modules: tuple[str, ...] = ()
    leaves_out = ""

    @property
    def missing(self) -> str:
        return missing_modules(*self.modules)

    def compute(self, system: System, program: Program) -> Sequence[str]:
        """Compute a program from ones, and return the dtype of each result. It may raise any error."""
        raise NotImplementedError

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        known: dict[str, str | Exception] = {}
        return [self._ask_program(system, asked, known) for asked in programs]

    def _ask_program(
        self, system: System, asked: AskedProgram, known: dict[str, str | Exception]
    ) -> Answers:
        found = no_answers(asked)
        whole, results = whole_part(asked)
        made = self._try(system, whole) if results else []
        if not isinstance(made, Exception):
            words: list[str | Exception] = [*made]
        else:
            words = [self._ask_step(system, asked, i, known) for i in results]
            if isinstance(made, PromotionError) and not any(str(w).startswith(REFUSED) for w in words):
                words[-1] = REFUSED  # together only
        for i, word in zip(results, words, strict=True):
            if isinstance(word, Exception):
                asked.reasons[i] = reason_of(word)
            else:
                found[i] = word
        for i in asked.asked_steps:
            if found[i] is None and i not in asked.reasons:
                asked.reasons[i] = self.reason_without_answer(asked, i)
        return found

    def _ask_step(
        self, system: System, asked: AskedProgram, step: int, known: dict[str, str | Exception]
    ) -> str | Exception:
        """Return the dtype of one step of inputs, or the error that there is no way to compute it."""
        part = single_part(asked, step)
        if part is None:
            return CannotComputeError("steps whose shapes are not known")
        key = key_of_part(part)
        if key not in known:
            made = self._try(system, part)
            if isinstance(made, PromotionError):
                known[key] = f"{REFUSED} ({' '.join(str(made).split())[:120]})"
            else:
                known[key] = made if isinstance(made, Exception) else made[0]
        return known[key]

    def _try(self, system: System, program: Program) -> Sequence[str] | Exception:
        """Return the dtypes of a program's results, or the error of its computation."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.compute(system, program)
        except Exception as e:  # a library has many classes of errors for values and for what it lacks
            return e

    def reason_without_answer(self, asked: AskedProgram, step: int) -> str:
        """Return why a step that is not computed has no answer."""
        outcome = asked.replay[step]
        if outcome.operand is None:
            return "refused steps, and those after them"
        return "Python numbers" if outcome.operand.tier == "scalar" else "the file's own operations"


def reason_of(error: Exception) -> str:
    """Return the reason in an error, without the names of one program."""
    if isinstance(error, CannotComputeError):
        return str(error)
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return LOCATION_PATTERN.sub("…", words)[:MAX_REASON_CHARS]


def as_weak_as_expected(answers: Sequence[Answers], programs: Sequence[AskedProgram]) -> list[Answers]:
    """Mark answers as weak where weak results are expected: a typed graph has no weak arrays."""
    return [
        [
            f"{word}*" if f"{word}*" == expected else word
            for word, expected in zip(found, asked.expected, strict=True)
        ]
        for found, asked in zip(answers, programs, strict=True)
    ]


def inputs_of(program: Program) -> list[Input]:
    """Return the inputs of a program that are arrays."""
    inputs = (step for step in program.steps if isinstance(step, Input))
    return [x for x in inputs if isinstance(x.fixed_result, str) or x.fixed_result.tier != "scalar"]
