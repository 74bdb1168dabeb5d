"""Programs and the outcomes of their steps as dictionaries, lists, strings and numbers."""

from __future__ import annotations

from typelattice.calls.steps import Step
from typelattice.explanations.promotion_as_data import promotion_data
from typelattice.programs.program import Program, Replay
from typelattice.programs.replay.outcome import Outcome


def replay_data(replay: Replay) -> dict[str, object]:
    """Return the outcome of each step under a system as plain data."""
    return {"system": replay.name, "steps": [outcome_data(o) for o in replay]}


def outcome_data(o: Outcome) -> dict[str, object]:
    """Return the outcome of one step as plain data."""
    promotion = promotion_data(o.promotion) if o.promotion else None
    return {"answer": str(o), "never_asked": o.is_unrecorded, "reason": o.reason, "promotion": promotion}


def steps_data(p: Program) -> list[dict[str, object]]:
    """Return the steps of a program. Each has its source location and the numbers of its operands' steps."""
    return [step_data(step) for step in p.steps]


def step_data(step: Step) -> dict[str, object]:
    place = {"file": step.location.file, "line": step.location.line} if step.location else None
    return {"text": step.text, "op": step.op, "operands": list(step.inputs), "place": place}
