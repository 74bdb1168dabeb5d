"""Texts for messages: shortened quotes, joined words, and the nearest known name for an unknown one."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from os.path import splitext

MAX_SUGGESTIONS = 2
MIN_BEGINNING_CHARS = 5  # letters of a name that count as its beginning
MIN_SUGGESTION_SIMILARITY = 0.6  # the least likeness of a name that is suggested, from 0 to 1
SECOND_SUGGESTION_MARGIN = 0.15  # how much less similar a second name may be than the first
FIRST_LETTER = 0.1  # bonus for the same first letter, since people seldom mistype it


def clip_text(text: str, max_chars: int) -> str:
    """Return a text, cut to a number of characters."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 3]}..."


def quote_short(text: str) -> str:
    """Return a text for an error message, quoted and cut at 40 characters."""
    return repr(clip_text(text, 40))


def join_words(items: Sequence[object]) -> str:
    """Join texts as in `a, b and c`."""
    texts = [str(x) for x in items]
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def spelling_hint(name: str, known_names: Iterable[str]) -> str:
    """Return ` (did you mean …?)`, to follow an unknown name, or an empty string if no known name is near.

    Swapped letters are the likeliest slip. Next comes the beginning of a name:

    >>> spelling_hint("int46", ["int4", "int6", "int64"])
    ' (did you mean int64 or int6?)'
    >>> spelling_hint("float8", ["float16", "float64", "float8_e5m2"])
    ' (did you mean float8_e5m2?)'

    Then comes the end of a name, and last a short form:

    >>> spelling_hint("pytorch", ["python", "torch"]), spelling_hint("operations", ["order", "ops"])
    (' (did you mean torch?)', ' (did you mean ops?)')
    """
    from difflib import SequenceMatcher

    name_by_lower_case = {each.lower(): each for each in known_names}
    typed = name[:80].lower().replace("++", "pp")  # C++ is cpp17
    likely = [each for each in name_by_lower_case if sorted(each) == sorted(typed)]
    if len(typed) >= MIN_BEGINNING_CHARS:
        likely += [each for each in name_by_lower_case if each.startswith(typed) and each not in likely][
            :MAX_SUGGESTIONS
        ]
    ends = [each for each in name_by_lower_case if len(each) >= MIN_BEGINNING_CHARS and typed.endswith(each)]
    likely += [each for each in ends if each not in likely]
    if len(likely) < MAX_SUGGESTIONS and not ends and not any(each.startswith(typed) for each in likely):
        matcher = SequenceMatcher(b=typed)
        likeness_by_name: dict[str, float] = {}
        for each in name_by_lower_case:
            matcher.set_seq1(each)
            if (
                matcher.real_quick_ratio() >= MIN_SUGGESTION_SIMILARITY
                and matcher.quick_ratio() >= MIN_SUGGESTION_SIMILARITY
            ):
                likeness_by_name[each] = matcher.ratio() + FIRST_LETTER * (each[:1] == typed[:1])
        best = max(likeness_by_name.values(), default=0)
        close = [
            each
            for each, ratio in likeness_by_name.items()
            if ratio >= max(MIN_SUGGESTION_SIMILARITY, best - SECOND_SUGGESTION_MARGIN)
        ]
        likely += sorted(
            (x for x in close if x not in likely), key=lambda x: (likeness_by_name[x], x), reverse=True
        )
    if not likely and len(typed) > 1:
        forms = [
            each for each in name_by_lower_case if is_short_form(typed, each) or is_short_form(each, typed)
        ]
        likely = sorted(forms, key=len)
    return did_you_mean([name_by_lower_case[each] for each in likely])


def did_you_mean(names: Sequence[str]) -> str:
    """Return ` (did you mean …?)` with the first of some names, or an empty string if there are none."""
    return f" (did you mean {' or '.join(names[:MAX_SUGGESTIONS])}?)" if names else ""


def hint_at_file(name: str, files: Sequence[str]) -> str:
    """Return ` (did you mean …?)` with files whose names are near, whatever their common ending.

    >>> hint_at_file("dtype.toml", ["dtypes.toml", "pyproject.toml"])
    ' (did you mean dtypes.toml?)'
    """
    stem = splitext(name)[0]
    return spelling_hint(name, [each for each in files if spelling_hint(stem, [splitext(each)[0]])])


def is_short_form(short_name: str, name: str) -> bool:
    """Return True if a name consists of letters of another, in order, beginning with its first letter.

    >>> is_short_form("tf", "tensorflow"), is_short_form("ops", "operations"), is_short_form("ml", "numpy")
    (True, True, False)
    """
    letters = iter(name)
    return len(short_name) > 1 and short_name[0] == name[:1] and all(each in letters for each in short_name)
