"""The losses of values in the log of a dispatcher, as those of a run."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Sequence

from typelattice.programs.calls.steps import MAX_STEP_CHARS, SourceLocation
from typelattice.tracing.library_traits.checked_call import IN_DISPATCHER
from typelattice.tracing.run_data.operation_log import BACKWARD, LoggedLoss, OperationLog, Place
from typelattice.tracing.run_data.run import LocatedLoss, UncheckedResults, ValueLoss, ValueScope
from typelattice.tracing.run_data.source_text import SourceText


def join_losses(
    log: OperationLog, known: Sequence[LocatedLoss], read_text: Callable[[SourceLocation], str]
) -> Iterator[LocatedLoss]:
    """List the losses that lines of the program and a dispatcher saw. Those of both are the dispatcher's."""
    seen: set[tuple[str, int, str]] = set()
    for loss in log.losses.values():
        at = loss.place.location
        assert at is not None  # the log keeps no other
        seen.add((at.file, at.line, loss.rule))
        found = ValueLoss(loss.rule, loss.lost_count, loss.total_count, _describe(loss, read_text))
        yield LocatedLoss(at, read_text(at)[:MAX_STEP_CHARS] or loss.operation, found, loss.runs,
                          tuple(filter(None, loss.modules)), loss.place.caller)  # fmt: skip
    yield from (
        each for each in known if (each.location.file, each.location.line, each.loss.rule) not in seen
    )


def _describe(loss: LoggedLoss, read_text: Callable[[SourceLocation], str]) -> str:
    """Describe a loss, with its operation, the backward pass and the origin of a NaN."""
    what = f"{loss.description} ({loss.operation}{', backward' if loss.place.phase == BACKWARD else ''})"
    return f"{what}; the first came from {_name(loss.origin, read_text)}" if loss.origin is not None else what


def _name(place: Place, read_text: Callable[[SourceLocation], str]) -> str:
    where = f" in {place.module}" if place.module else ""
    if place.location is None:
        return f"an unknown line{where}"
    file = place.location.file.rpartition("/")[2]
    return f"{file}:{place.location.line}: {read_text(place.location)[:MAX_STEP_CHARS]}{where}"


def read_installed_text(location: SourceLocation) -> str:
    """Read the text at a location from its file, or return ""."""
    text = "".join(linecache.getlines(location.file))
    return SourceText(lambda: text).text_at(location) if text else ""


def add_logged_scope(scope: ValueScope, log: OperationLog) -> ValueScope:
    """Add the results that a dispatcher saw to the scope of the checks."""
    unchecked = (UncheckedResults(IN_DISPATCHER, reason, count, 0) for reason, count in log.unchecked.items())
    return ValueScope(scope.checked_count, (*scope.unchecked, *unchecked), log.checked_count)
