"""Texts in error messages: cut short, and the nearest known name beside an unknown one."""
from __future__ import annotations

from collections.abc import Iterable


def clip_text(text: str, most: int) -> str:
    """A text, cut at so many characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def short(text: str) -> str:
    """A text for an error message, quoted and cut at 40 characters."""
    return repr(clip_text(text, 40))


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing where no known name is near.

    Swapped letters are the likeliest slip:

    >>> nearest("int46", ["int4", "int6", "int64"])
    '; did you mean int64 or int6?'
    """
    from difflib import get_close_matches

    written = {each.lower(): each for each in known}
    typed = name[:80].lower()
    swapped = [each for each in written if sorted(each) == sorted(typed)]
    near = [*dict.fromkeys([*swapped, *get_close_matches(typed, list(written), 2, 0.6)])][:2]
    return f"; did you mean {' or '.join(written[each] for each in near)}?" if near else ""
