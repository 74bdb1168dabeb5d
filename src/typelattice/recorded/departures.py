"""Listed departures: calls where a library contradicts itself or lacks a kernel, each with the reason and where to see it.

`departures/<recording>.toml` holds tables `[[departure]]` of `calls`, a regular expression that matches whole calls such as
`equal(bool, 9223372036854775808)`, `reason`, `source`, and `count`, how many recorded calls there are: it may fall only.
"""
from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from typelattice.facts.errors import TypelatticeError

FOLDER = Path(__file__).with_name("departures")
KEYS = {"calls": str, "reason": str, "source": str, "count": int}


class DepartureError(TypelatticeError, ValueError):
    """A list of departures that cannot be read."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A reason why some calls of a library go their own way."""

    calls: str
    reason: str
    source: str
    count: int = 0

    def covers(self, call: str) -> bool:
        """Whether a call, written `op(operand, …)`, is one of these."""
        return re.fullmatch(self.calls, call) is not None


def departures(name: str, path: Path | None = None) -> Sequence[Departure]:
    """The departures listed for a recording, or in a file of your own; none where there is no list."""
    path = path or FOLDER / f"{name}.toml"
    if not path.is_file():
        return ()
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8")).get("departure", [])
        for number, entry in enumerate(listed, 1):
            for key, value in entry.items():
                if not isinstance(value, KEYS.get(key, ())):
                    cause = f"{key} is unknown or of the wrong type; the keys are {', '.join(KEYS)}"
                    raise DepartureError(f"{path.name}, departure {number}: {cause}")
            re.compile(entry.get("calls", ""))
        return tuple(Departure(**entry) for entry in listed)
    except (tomllib.TOMLDecodeError, re.error, TypeError, AttributeError) as e:
        raise DepartureError(f"{path.name}: {e}") from None
