"""Functions that widen on purpose, and the reasons: the list in wide_by_design.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path


@cache
def _read_reasons() -> Mapping[str, str]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="ascii")
    reasons: Mapping[str, str] = tomllib.loads(text)
    return reasons


def reason_of_design(function: str) -> str | None:
    """Return the reason why a function widens on purpose, or None if the list does not have it."""
    return next(
        (reason for pattern, reason in _read_reasons().items() if fnmatchcase(function, pattern)), None
    )
