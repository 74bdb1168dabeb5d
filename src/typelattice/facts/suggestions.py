"""Texts in error messages: cut short, and the nearest known name beside an unknown one."""
from __future__ import annotations

from collections.abc import Iterable

MOST = 2  # names that are suggested
BEGINNING = 5  # letters of a name that count as its beginning
ALIKE = 0.6  # the least likeness of a name that is suggested, from 0 to 1
CLOSE = 0.15  # how much less alike than the first name a second one may be
FIRST_LETTER = 0.1  # what the same first letter adds: people seldom mistype it


def clip_text(text: str, most: int) -> str:
    """A text, cut at so many characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def short(text: str) -> str:
    """A text for an error message, quoted and cut at 40 characters."""
    return repr(clip_text(text, 40))


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing where no known name is near.

    Swapped letters are the likeliest slip, then a name of which only the beginning was written:

    >>> nearest("int46", ["int4", "int6", "int64"])
    '; did you mean int64 or int6?'
    >>> nearest("float8", ["float16", "float64", "float8_e5m2"])
    '; did you mean float8_e5m2?'
    """
    from difflib import SequenceMatcher

    written = {each.lower(): each for each in known}
    typed = name[:80].lower()
    likely = [each for each in written if sorted(each) == sorted(typed)]
    if len(typed) >= BEGINNING:
        likely += [each for each in written if each.startswith(typed) and each not in likely][:MOST]
    if len(likely) < MOST and not any(each.startswith(typed) for each in likely):
        matcher = SequenceMatcher(b=typed)
        alike: dict[str, float] = {}
        for each in written:
            matcher.set_seq1(each)
            if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE:
                alike[each] = matcher.ratio() + FIRST_LETTER * (each[:1] == typed[:1])
        best = max(alike.values(), default=0)
        close = [each for each, ratio in alike.items() if ratio >= max(ALIKE, best - CLOSE)]
        likely += sorted((x for x in close if x not in likely), key=lambda x: (alike[x], x), reverse=True)
    return f"; did you mean {' or '.join(written[each] for each in likely[:MOST])}?" if likely else ""
