"""The entries of a system file for explicit casts: their rounding, and which of them need a function."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.losses.cast_rounding_and_overflow import (
    OVERFLOW_WORDS,
    PLAIN_CAST_RULE,
    ROUNDING_WORDS,
    CastRule,
    impossible_cast_reason,
    without_defaults,
)
from typelattice.core.losses.loss import loss
from typelattice.core.operations.operations import OPERATION_BY_NAME, Operation
from typelattice.core.system_files.key_reader import KeyReader
from typelattice.core.system_files.value_reader import (
    ConsequentError,
    OrderDependentError,
    RepeatedEntryError,
    UnknownWordError,
    Vocabulary,
    not_in_order,
    require_reason,
    require_text,
)

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
    found: dict[DTypePair, dict[int, CastRule]] = {}  # rules by the sides of the entry that name a dtype
    for entry, said in reader.read_table("casts"):
        with reader.record_mistakes():
            rule = _read_rule(reader, entry, said, custom_operations)
            for pair, named_sides in _list_pairs(entry, words, dtypes):
                if why := impossible_cast_reason(rule, *pair) or _needless_reason(rule, *pair):
                    if named_sides == 2:
                        raise ValueError(why)
                    continue
                rules = found.setdefault(pair, {})
                earlier = rules.setdefault(named_sides, rule)
                if earlier.entry != entry:
                    source, target = pair
                    cause = f"{source} to {target} is said in {quote_short(earlier.entry)}, too; say it once"
                    raise RepeatedEntryError(cause, entry, earlier.entry)
    if not reader.mistakes:
        _refuse_repetitions(reader, found)
    return {pair: rules[max(rules)] for pair, rules in found.items()}


def _needless_reason(rule: CastRule, source: DType, target: DType) -> str:
    """Return the reason why a cast has nothing to round or to clamp, or "" if it has or may have."""
    if rule.obstacle or loss(source, target):
        return ""
    return f"{target} holds every {source}, so that nothing is rounded or out of range; leave it out"


def _refuse_repetitions(reader: KeyReader, found: Mapping[DTypePair, Mapping[int, CastRule]]) -> None:
    """Note each entry without which all its casts have the same rule, by a wider entry or by the formats."""
    entries = dict.fromkeys(rule.entry for rules in found.values() for rule in rules.values())
    with_effect: set[str] = set()
    for pair, rules in found.items():
        named_sides = sorted(rules, reverse=True)
        wider = rules[named_sides[1]] if len(rules) > 1 else PLAIN_CAST_RULE
        counted = rules[named_sides[0]]
        if without_defaults(counted, *pair) != without_defaults(wider, *pair):
            with_effect.add(counted.entry)
    for entry in entries:
        if entry not in with_effect:
            reader.go_to("casts", entry)
            with reader.record_mistakes():
                raise ValueError("the casts are the same without it; leave it out")


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
        raise OrderDependentError(cause)
    return found


def _list_members(dtype_or_kind: DType | Kind, dtypes: Sequence[DType]) -> list[DType]:
    """Return a dtype of the system, or its dtypes of a kind."""
    if isinstance(dtype_or_kind, DType):
        if dtype_or_kind not in dtypes:
            raise OrderDependentError(not_in_order(dtype_or_kind))
        return [dtype_or_kind]
    return [d for d in dtypes if d.kind is dtype_or_kind]


def _read_rule(
    reader: KeyReader, entry: str, words: object, custom_operations: Mapping[str, Operation]
) -> CastRule:
    """Read the words of an entry."""
    if require_text(words).startswith(REFUSED_PREFIX):
        reason = require_reason(require_text(words).removeprefix(REFUSED_PREFIX))
        return CastRule(refusal_reason=reason, entry=entry)
    if require_text(words).startswith(NEEDS_PREFIX):
        name = require_text(words).removeprefix(NEEDS_PREFIX).strip()
        if "ops" in reader.definition.broken:
            raise ConsequentError(name)
        if name not in custom_operations and name not in OPERATION_BY_NAME:
            ops = reader.definition.values.get("ops")
            defined = ops.get(name) if isinstance(ops, Mapping) else None
            if isinstance(defined, Mapping) and "like" in defined:  # with a mistake of its own
                raise ConsequentError(name)
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
