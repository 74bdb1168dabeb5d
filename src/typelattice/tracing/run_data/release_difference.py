"""Operations that two releases of a library compute differently, as a run saw them."""

from __future__ import annotations

from dataclasses import dataclass

from typelattice.programs.calls.steps import SourceLocation

RAISES, LOSES, DTYPE_ALONE = "raises", "loses", "differs in dtype alone"
"""What a difference does, the worst first."""
EFFECTS = (RAISES, LOSES, DTYPE_ALONE)


@dataclass(frozen=True, slots=True)
class ReleaseDifference:
    """A source text that two releases compute differently, and a sentence that says how.

    `loser` is the system of the release that raises an error, or loses a value. It is "" if no value is lost.
    `severity` orders the differences of one effect, the greatest first. `ends_program`: the text is a line
    that raised an error, of which no operation is known.
    """

    effect: str
    location: SourceLocation
    text: str
    loser: str
    sentence: str
    severity: float = 0.0
    ends_program: bool = False
