"""Places that compute in a wider float than that of the array into which they write the result."""

from __future__ import annotations

from dataclasses import dataclass

from typelattice.facts.dtypes import DType
from typelattice.programs.step import WRITES, Call
from typelattice.tracing.ran import Ran, source_of, written_into
from typelattice.tracing.widths import width_of


@dataclass(frozen=True, slots=True)
class CastBack:
    """A place such as `x *= y`, or one with `out=`, at which narrower floats are computed with in `computed`,
    and the result is cast back to `kept`. Nothing is wide by that, so it is no cause; but it takes longer.
    """

    step: int
    computed: DType
    kept: DType


def cast_back(ran: Ran) -> tuple[CastBack, ...]:
    """The places in a run, each once, that compute in a wider float than they write."""
    found: dict[object, CastBack] = {}
    computing = dict(written_into(ran.run))
    computing |= {i: i for i, step in enumerate(ran.steps) if isinstance(step, Call) and step.op in WRITES}
    for i, by in sorted(computing.items()):
        p, into = ran.said[by].promotion, ran.observed(i)
        computed, kept = p.compute if p else None, into.dtype if into else None
        if computed is None or kept is None:
            continue
        wide, least = width_of(computed) or 0, width_of(kept) or 0
        if wide > least > 0 and any(0 < (ran.widths[x] or 0) < wide for x in ran.parts[by]):
            found.setdefault((source_of(ran.steps[i]), computed, kept), CastBack(i, computed, kept))
    return tuple(found.values())
