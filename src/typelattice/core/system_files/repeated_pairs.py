"""The refusal of entries for pairs of operands that an earlier entry has said already, or hides wholly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from typelattice.base.errors.error_texts import quote_short
from typelattice.core.dtypes.dtypes import DType, Kind, Node, WeakNode, weak_node
from typelattice.core.engine.operation_rules import ANY_OPERAND_WORD, DIFFERENT_DTYPE_WORD, PairEntry
from typelattice.core.system_files.value_reader import RepeatedEntryError

OperandWord = Node | Kind | str
OrderedPair = tuple[OperandWord, OperandWord]


def check_repeated_pairs(entries: Mapping[str, PairEntry]) -> None:
    """Raise RepeatedEntryError for an entry that names a pair again, or only pairs that earlier ones take.

    The first entry that names a pair counts. So a special entry comes before a general one, and the general
    one must name other pairs, too.
    """
    earlier: dict[OrderedPair, str] = {}
    for text, entry in entries.items():
        pairs = sorted(_list_pairs(entry), key=str)  # sides are sets, which have no order of their own
        if same := next((pair for pair in pairs if pair in earlier), None):
            a, b = same
            cause = f"{a} + {b} is said already by {quote_short(earlier[same])}; keep one"
            raise RepeatedEntryError(cause, text, earlier[same])
        hidden_by = [_find_hiding(earlier, pair) for pair in pairs]
        if all(hidden_by):
            first = str(hidden_by[0])
            cause = f"{quote_short(text)} has no effect: {quote_short(first)} comes first and names its pairs"
            raise RepeatedEntryError(cause, text, first)
        earlier |= dict.fromkeys(pairs, text)


def hides_pairs(earlier_entries: Iterable[PairEntry], entry: PairEntry) -> bool:
    """Return True if earlier entries take all operands of each pair that an entry names."""
    earlier = {pair: "" for each in earlier_entries for pair in _list_pairs(each)}
    return all(_find_hiding(earlier, pair) is not None for pair in _list_pairs(entry))


def _list_pairs(entry: PairEntry) -> Iterator[OrderedPair]:
    """Yield the pairs that an entry names, in both orders unless its left side must come first."""
    yield from product(entry.left, entry.right)
    if not entry.is_ordered:
        yield from ((a, b) for b, a in product(entry.left, entry.right) if (a, b) != (b, a))


def _find_hiding(earlier: Mapping[OrderedPair, str], pair: OrderedPair) -> str | None:
    """Return the earlier entry that takes all operands of a pair, or None."""
    a, b = pair
    wider = product(_list_wider(a), _list_wider(b))
    return next((earlier[each] for each in wider if each in earlier), None)


def _list_wider(word: OperandWord) -> list[OperandWord]:
    """List the words that name all operands of a word: itself, its kind, and `any`."""
    wider: list[OperandWord] = [word, ANY_OPERAND_WORD]
    if isinstance(word, DType):
        wider.append(word.kind)
    elif isinstance(word, Kind) or word in (ANY_OPERAND_WORD, DIFFERENT_DTYPE_WORD):
        return wider
    elif isinstance(word, str):
        zero_d = [kind for kind in Kind if word.endswith(f" {kind}")]
        wider += zero_d or [weak_node(_kind_of_value(word))]
    return wider


def kind_of_python_number(word: OperandWord) -> Kind | None:
    """Return the kind of a Python number, by its type or by its value, or None for other words."""
    if isinstance(word, WeakNode):
        return word.kind
    is_value = isinstance(word, str) and word.lstrip("-")[:1].isdigit() and " " not in word
    return _kind_of_value(str(word)) if is_value else None


def _kind_of_value(text: str) -> Kind:
    return Kind.FLOAT if "." in text else Kind.SIGNED
