"""Programs and the outcomes of their steps as dictionaries, lists, strings and numbers."""

from __future__ import annotations

from typelattice.core.explanations.promotion_as_data import promotion_data
from typelattice.programs.calls.steps import Step
from typelattice.programs.program.program import Program, Replay
from typelattice.programs.replay.outcome import Outcome


def replay_data(replay: Replay, program: Program) -> dict[str, object]:
    """Return the outcome of each step under a system as plain data.

    If the system takes other branches than the program has, its own steps come with them.
    """
    found: dict[str, object] = {"system": replay.name, "steps": [outcome_data(o) for o in replay]}
    if replay.program.steps != program.steps:
        found["program_steps"] = steps_data(replay.program)
    return found


def outcome_data(outcome: Outcome) -> dict[str, object]:
    """Return the outcome of one step as plain data."""
    promotion = promotion_data(outcome.promotion) if outcome.promotion else None
    return {
        "answer": str(outcome),
        "never_asked": outcome.is_unrecorded,
        "reason": outcome.reason,
        "asked": outcome.asked,
        "promotion": promotion,
    }


def steps_data(program: Program) -> list[dict[str, object]]:
    """Return the steps of a program. Each has its source location and the numbers of its operands' steps."""
    return [step_data(step) for step in program.steps]


def step_data(step: Step) -> dict[str, object]:
    place = {"file": step.location.file, "line": step.location.line} if step.location else None
    return {"text": step.text, "op": step.op, "operands": list(step.inputs), "place": place}
