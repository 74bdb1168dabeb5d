"""What is found in a run: causes of wide floats, what is cast back, and where other systems part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from typelattice.programs.program import AnySystem, Replay
from typelattice.tracing.cast_back import CastBack, cast_back
from typelattice.tracing.causes import Cause, causes
from typelattice.tracing.divergences import Divergence, divergences
from typelattice.tracing.ran import Ran, ran
from typelattice.tracing.run import Run


@dataclass(frozen=True, slots=True)
class Findings:
    """The causes in a run, the places that compute in a wider float than they write, and by each system asked
    the replay and the places where it parts.
    """

    ran: Ran = field(repr=False)
    causes: tuple[Cause, ...]
    cast_back: tuple[CastBack, ...]
    replays: Mapping[str, Replay] = field(repr=False)
    divergences: Mapping[str, tuple[Divergence, ...]]


def findings(run: Run, systems: Sequence[AnySystem] = ()) -> Findings:
    """What is found in a run, replayed under some systems.

    Raises UnknownSystemError or FormatError for a system.
    """
    own = ran(run)
    replays = {made.name: made for made in (run.program.under(system) for system in systems)}
    diverging = {name: divergences(own, replayed) for name, replayed in replays.items()}
    return Findings(own, causes(own), cast_back(own), replays, diverging)
