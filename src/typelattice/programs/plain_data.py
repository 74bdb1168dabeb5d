"""Programs, and what their steps come to, as dictionaries, lists, strings and numbers."""

from __future__ import annotations

from typelattice.explain.plain_data import data as promotion_data
from typelattice.programs.program import Program, Replay
from typelattice.programs.replay import Outcome
from typelattice.programs.step import Step


def replay_data(replay: Replay) -> dict[str, object]:
    """What each step comes to under a system."""
    return {"system": replay.name, "steps": [outcome_data(o) for o in replay]}


def outcome_data(o: Outcome) -> dict[str, object]:
    """What one step comes to."""
    promotion = promotion_data(o.promotion) if o.promotion else None
    return {"answer": str(o), "reason": o.reason, "promotion": promotion}


def steps_data(p: Program) -> list[dict[str, object]]:
    """The steps of a program, each with its place and the numbers of those that it is made of."""
    return [step_data(step) for step in p.steps]


def step_data(step: Step) -> dict[str, object]:
    """One step."""
    place = {"file": step.place.file, "line": step.place.line} if step.place else None
    return {"text": step.text, "op": step.op, "parts": list(step.parts), "place": place}
