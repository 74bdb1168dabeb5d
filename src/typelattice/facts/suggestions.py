"""Texts in error messages: cut short, and the nearest known name beside an unknown one."""
from __future__ import annotations

from collections.abc import Iterable


def clipped(text: str, most: int) -> str:
    """A text, cut at so many characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def short(text: str) -> str:
    """A text for an error message, quoted and cut at 40 characters."""
    return repr(clipped(text, 40))


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing where no known name is near."""
    from difflib import get_close_matches

    written = {each.lower(): each for each in known}
    near = [written[each] for each in get_close_matches(name[:80].lower(), list(written), 2, 0.6)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
