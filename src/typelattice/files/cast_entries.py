"""The entries of a system file for explicit casts: their rounding, and which of them need a function."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from typelattice.facts.cast_rounding_and_overflow import (
    OVERFLOW_WORDS,
    ROUNDING_WORDS,
    CastRule,
    impossible_cast_reason,
)
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.operations import OPERATION_BY_NAME, Operation
from typelattice.files.key_reader import KeyReader
from typelattice.files.value_reader import (
    OrderDependentError,
    UnknownWordError,
    Vocabulary,
    not_in_order,
    require_phrase,
    require_text,
)
from typelattice.support.error_texts import quote_short, spelling_hint

CAST_ARROW = "->"
NEEDS_PREFIX, REFUSED_PREFIX = "needs ", "refused: "
DTypePair = tuple[DType, DType]


def read_casts(
    reader: KeyReader, words: Vocabulary, dtypes: Sequence[DType], custom_operations: Mapping[str, Operation]
) -> dict[DTypePair, CastRule]:
    """Read `"float -> i8" = "clamp, nearest even"`: the rule of each cast that some entry names.

    An entry that names a dtype counts before one that names its kind. The file defines
    `custom_operations`.
    """
    found: dict[DTypePair, tuple[int, CastRule]] = {}
    for entry, said in reader.read_table("casts"):
        with reader.record_mistakes():
            rule = _read_rule(entry, said, custom_operations)
            for pair, named_sides in _list_pairs(entry, words, dtypes):
                if why := impossible_cast_reason(rule, *pair):
                    if named_sides == 2:
                        raise ValueError(why)
                    continue
                earlier_named_sides, earlier = found.get(pair, (-1, rule))
                if earlier_named_sides == named_sides and earlier.entry != entry:
                    source, target = pair
                    cause = f"{source} to {target} is said in {quote_short(earlier.entry)}, too; say it once"
                    raise ValueError(cause)
                if earlier_named_sides < named_sides:
                    found[pair] = named_sides, rule
    return {pair: rule for pair, (_, rule) in found.items()}


def _list_pairs(entry: str, words: Vocabulary, dtypes: Sequence[DType]) -> list[tuple[DTypePair, int]]:
    """Return the casts that an entry names, each with the number of its sides that name a dtype."""
    sides = entry.split(CAST_ARROW)
    if len(sides) != 2:
        raise ValueError(f'{quote_short(entry)} should name what is cast and to what, as in "float -> i8"')
    left, right = (
        [(d, x) for x in words.read_sources(side) for d in _list_members(x, dtypes)] for side in sides
    )
    pairs = product(left, right)
    found = [((a, b), (x is a) + (y is b)) for (a, x), (b, y) in pairs if a is not b]
    if not found:
        cause = f"{quote_short(entry)} names no cast from one dtype of the system to another; leave it out"
        raise ValueError(cause)
    return found


def _list_members(dtype_or_kind: DType | Kind, dtypes: Sequence[DType]) -> list[DType]:
    """Return a dtype of the system, or its dtypes of a kind."""
    if isinstance(dtype_or_kind, DType):
        if dtype_or_kind not in dtypes:
            raise OrderDependentError(not_in_order(dtype_or_kind))
        return [dtype_or_kind]
    return [d for d in dtypes if d.kind is dtype_or_kind]


def _read_rule(entry: str, words: object, custom_operations: Mapping[str, Operation]) -> CastRule:
    """Read the words of an entry."""
    if require_text(words).startswith(REFUSED_PREFIX):
        return CastRule(refusal_reason=require_phrase(words).removeprefix(REFUSED_PREFIX), entry=entry)
    if require_text(words).startswith(NEEDS_PREFIX):
        name = require_text(words).removeprefix(NEEDS_PREFIX).strip()
        if name not in custom_operations and name not in OPERATION_BY_NAME:
            raise UnknownWordError(
                f"unknown operation {quote_short(name)}"
                f"{spelling_hint(name, (*custom_operations, *OPERATION_BY_NAME))}",
                name,
            )
        return CastRule(function=name, entry=entry)
    parts = {"rounding": ROUNDING_WORDS, "beyond": OVERFLOW_WORDS}
    given: dict[str, str] = {}
    for word in map(str.strip, require_text(words).split(",")):
        part = next((part for part, known in parts.items() if word in known), "")
        if not part:
            every = (*ROUNDING_WORDS, *OVERFLOW_WORDS, NEEDS_PREFIX.strip(), REFUSED_PREFIX.strip())
            near = spelling_hint(word, every) or f"; it is one of {', '.join(every)}"
            raise UnknownWordError(f"unknown word {quote_short(word)} for a cast{near}", word)
        if part in given:
            raise ValueError(f"{given[part]} and {word} exclude each other")
        given[part] = word
    return CastRule(given.get("rounding", ""), given.get("beyond", ""), entry=entry)
