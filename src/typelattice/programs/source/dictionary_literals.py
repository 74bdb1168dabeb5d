"""Dictionaries that the source writes out, so that a look-up has a known result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typelattice.calls.steps import DTypeOf, Excerpt, Ref
from typelattice.support.error_texts import clip_text

DICTIONARY_METHODS = ("get", "items", "keys", "values")


def read_key(excerpt: Excerpt, value: Any) -> Any:
    """Return a key: a text, a number, None, or a tuple of these. Raises ProgramError if it is another."""
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, (Ref, DTypeOf)):
            raise excerpt.error("it looks up the value of an array; give a key that is known")
        if each is not None and not isinstance(each, (str, bool, int, float, complex)):
            raise excerpt.error("it is no key; give a text or a number")
    return value


def look_up(excerpt: Excerpt, dictionary: Mapping[Any, Any], key: Any) -> Any:
    """Return the value of a key. Raises ProgramError if the dictionary lacks it."""
    if read_key(excerpt, key) not in dictionary:
        has = clip_text(", ".join(map(repr, dictionary)) or "none", 80)
        raise excerpt.error(f"the dictionary has no key {clip_text(repr(key), 40)}; it has {has}")
    return dictionary[key]


def read_dictionary_attribute(
    excerpt: Excerpt, dictionary: Mapping[Any, Any], method: str, args: Sequence[Any]
) -> Any:
    """Return the result of one of DICTIONARY_METHODS of a dictionary. Raises ProgramError for another."""
    if method == "get" and args:
        return dictionary.get(read_key(excerpt, args[0]), *args[1:2])
    if method in ("items", "keys", "values") and not args:
        return tuple(getattr(dictionary, method)())
    raise excerpt.error(
        f"of a dictionary it is known what {', '.join(DICTIONARY_METHODS)} give; write it out at once"
    )
