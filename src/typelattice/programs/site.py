"""Where in the source something is asked for, and how it is refused there."""

from __future__ import annotations

from dataclasses import dataclass

from typelattice.facts.suggest import clipped
from typelattice.programs.step import Place, ProgramError


@dataclass(frozen=True, slots=True)
class Site:
    """Where in the source something is asked for: its text, its place, and the library that it names."""

    text: str
    place: Place | None = None
    owner: str | None = None

    def refuse(self, why: str) -> ProgramError:
        """The error of what cannot be a step; `why` says what to do, too."""
        where = f"{self.place}: " if self.place else ""
        return ProgramError(f"{where}{clipped(self.text, 60)!r}: {clipped(why, 600)}")
