"""The `refuses` of an operation: pairs of operands that do not meet there."""
from __future__ import annotations

from typelattice.engine.operations import OTHER, Refused, Side
from typelattice.facts.dtypes import Kind, Node, weak
from typelattice.facts.suggest import short
from typelattice.files.vocabulary import Words, once, text

THEN = " then "  # between two sides that stand in this order


def read_refused(words: Words, entries: object) -> tuple[Refused, ...]:
    """`["bool + int, i*", "int then float"]`: kinds and dtypes of arrays, kinds of Python scalars."""
    if not isinstance(entries, list):
        raise ValueError('should be a list of pairs, as in ["bool + int"]')
    found = []
    for entry in map(text, entries):
        ordered = THEN in entry
        sides = entry.split(THEN if ordered else "+")
        if len(sides) != 2 or "+" in sides[1]:
            raise ValueError(f'{short(entry)} should name two sides, as in "bool + int"')
        found.append((_side(words, sides[0]), _side(words, sides[1]), ordered))
    return once(found)


def _side(words: Words, names: str) -> Side:
    """Kinds and dtypes of arrays, `other`; `b*`, `i*`, `f*`, `c*` for Python scalars."""
    listed = [word.strip() for word in names.split(",")]
    named: dict[str, Node | str] = {**{f"{kind.letter}*": weak(kind) for kind in Kind}, OTHER: OTHER}
    plain = [word for word in listed if word not in named]
    found: list[Node | Kind | str] = [named[word] for word in listed if word in named]
    return frozenset(once([*found, *(words.sources(",".join(plain)) if plain else ())]))
