"""The lines that must stay wide, each with the operation that would lose its digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, inf
from pathlib import Path

from typelattice.core.dtypes.dtypes import DTYPES, real_part_dtype
from typelattice.repair.tune.configuration_search import ConfigurationSearch, Refusal
from typelattice.repair.tune.operation_sites import ABSORPTION, CANCELLATION, LOST_UPDATES, OVERFLOW
from typelattice.repair.tune.place_edits import width_of
from typelattice.repair.tune.places import ACCUMULATED, NUMBER, Place
from typelattice.repair.tune.site_graph import FoundLoss, severity
from typelattice.repair.tune.tuned_program import TunedProgram

NUMBER_PART_PATTERN = re.compile(r"(?<![^.])\d+(?=\.)")  # of a name such as `blocks.3.weight`
MAX_NAMES = 4  # of parameters that are shown


@dataclass(frozen=True, slots=True)
class WideLine:
    """A place that stays at a dtype, as a narrower one was refused by a run.

    `error` is that of the run, or None if there is no finite one. `reason` says what happens there: which
    operation would lose digits, by the shadows of the first run. It is "" if no shadow shows a loss.
    """

    file: Path
    line: int
    text: str
    dtype: str
    refused_dtype: str
    error: float | None
    failure: str
    reason: str
    reason_file: Path | None = None
    reason_line: int = 0
    sort: str = ""


def explain_refusals(tuned: TunedProgram, search: ConfigurationSearch) -> tuple[WideLine, ...]:
    """Return a line for each place that is wider in the best configuration than what was refused for it."""
    found: dict[Place, WideLine] = {}
    for refusal in sorted(search.refusals.values(), key=lambda each: -width_of(each.move.target)):
        for place in refusal.move.places:  # the widest dtype that was refused comes first
            now = search.best.get(place)
            if place not in found and now is not None and width_of(now) > width_of(refusal.move.target):
                found[place] = explain_refusal(tuned, refusal, place, now)
    return tuple(sorted(found.values(), key=lambda each: (str(each.file), each.line, each.text)))


def explain_refusal(tuned: TunedProgram, refusal: Refusal, place: Place, now: str) -> WideLine:
    """Say why one place stays wide."""
    outcome, target = refusal.outcome, refusal.move.target
    worst = find_worst_loss(tuned, place, target)
    reason, at, sort = "", None, ""
    if worst is not None and worst.loss.error > 0:
        reason, at, sort = (
            describe_loss(worst, target, place, place.dtype_at(now)),
            worst.site,
            worst.loss.sort,
        )
    return WideLine(
        original_path(tuned, place.file), place.line, name_place(place),
        place.dtype_at(now), place.dtype_at(target),
        None if outcome.error == inf else outcome.error, outcome.reason, reason,
        original_path(tuned, at.file) if at is not None else None, at.line if at is not None else 0, sort,
    )  # fmt: skip


def find_worst_loss(tuned: TunedProgram, place: Place, dtype: str) -> FoundLoss | None:
    """Return the largest loss of the operations that depend on a place."""
    found = tuned.graph.find_losses(place, dtype)
    return max(found, key=lambda each: (severity(each), -each.distance), default=None)


def describe_loss(found: FoundLoss, dtype: str, place: Place, now: str) -> str:
    """Describe a loss in words."""
    loss, site = found.loss, found.site
    known = DTYPES[dtype]
    name = site.name.rstrip("=")
    if loss.sort == OVERFLOW:
        if loss.figure > float(known.max or inf):
            return (
                f"overflow: {name} gives {loss.figure:.3g}, and {dtype} ends at {float(known.max or 0):.3g}"
            )
        return f"overflow: {name} is not finite in {dtype}"
    if loss.sort == CANCELLATION:
        return f"cancellation: {name} loses {loss.figure:.1f} of the {digits_of(dtype)} digits of {dtype}"
    if loss.sort == LOST_UPDATES:
        share = f"{loss.figure:.0%} of the updates of a step change nothing"
        return f"absorption: {share} in {dtype}: keep {now}"
    if loss.sort == ABSORPTION:
        is_sum = name in ("sum", "mean", "cumsum")
        terms = f"{name} of {site.operand_size:,} terms" if is_sum else f"{name}, run {site.count:,} times,"
        advice = (
            f": accumulate in {now}" if place.sort in (ACCUMULATED, NUMBER) or is_sum else f": keep {now}"
        )
        return f"absorption: {terms} in {dtype} sticks at {loss.figure:,.5g}{advice}"
    return f"rounding: {name} has a relative error of {loss.error:.1e} in {dtype}"


def name_place(place: Place) -> str:
    """Return the text of a place, with the names of the parameters that it makes."""
    if not place.names:
        return place.text
    names = list(dict.fromkeys(NUMBER_PART_PATTERN.sub("*", name) for name in place.names))
    shown = names if len(place.names) > MAX_NAMES else list(place.names)
    return f"{place.text} ({', '.join(shown[:MAX_NAMES])}{', ...' if len(shown) > MAX_NAMES else ''})"


def digits_of(dtype: str) -> int:
    """Return the decimal digits that a float dtype holds."""
    return ceil((real_part_dtype(DTYPES[dtype]).precision or 1) * 0.30103)


def original_path(tuned: TunedProgram, file: str) -> Path:
    """Return the path of a file of the copy in the user's folder."""
    program = tuned.workspace.program
    path = Path(file)
    if path.is_relative_to(program.copy_folder):
        return program.original_folder / path.relative_to(program.copy_folder)
    return path
