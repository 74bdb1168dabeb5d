"""The maps from dtype to dtype in a system file: on entry, in an answer, and for a requested dtype."""
from __future__ import annotations

from collections.abc import Iterator, Mapping

from typelattice.core.dtypes.dtypes import DType, Kind, Node
from typelattice.core.dtypes.order import Order
from typelattice.core.operands.operand import KIND_BY_NAME
from typelattice.core.system_files.key_reader import KeyReader
from typelattice.core.system_files.value_reader import (
    OrderDependentError,
    RepeatedEntryError,
    Vocabulary,
    not_in_order,
    read_kind,
)


def read_requested(
    reader: KeyReader, words: Vocabulary, order: Order[Node], defaults: Mapping[Kind, DType]
) -> Iterator[tuple[DType | Kind, DType]]:
    """Read requested dtype or Python type → the dtype of the order that such arrays get."""
    seen: dict[DType, str] = {}
    for word, target in reader.read_table("requested"):
        with reader.record_mistakes():
            to = words.require_dtype(words.read_node(target))
            if word not in KIND_BY_NAME:
                d = words.require_dtype(words.read_node(word))
                _check_entry(order, d, to)
                if d in seen:
                    raise RepeatedEntryError(f"{d} is mapped twice; keep one entry", word, seen[d])
                seen[d] = word
                yield d, to
                continue
            kind = read_kind(word, KIND_BY_NAME)
            if to not in order:
                raise OrderDependentError(not_in_order(to))
            if defaults.get(kind) is to and reader.definition.main_text_states("requested", word):
                raise ValueError(f"{to} is the default dtype of {word} already; leave it out")
            yield kind, to


def read_before(
    reader: KeyReader, words: Vocabulary, order: Order[Node], entering: Mapping[Node, Node]
) -> Iterator[tuple[Node, Node]]:
    """Read node → the node of the order that operands count as on entry."""
    for node, to in _read_maps(reader, words, "before"):
        with reader.record_mistakes():
            if not isinstance(node, DType) and not node.dtype:
                cause = f"{node} has no width, so no operand has it; name a dtype, or a width such as i32*"
                raise ValueError(cause)
            _check_entry(order, node, to)
            if node in entering:
                cause = f"{node} is said to enter by `requested` already; leave it out there, or here"
                raise ValueError(cause)
            yield node, to


def _check_entry(order: Order[Node], node: Node, replacement: Node) -> None:
    """Raise ValueError for a node that never enters as another."""
    if replacement not in order:
        raise OrderDependentError(not_in_order(replacement))
    if node in order:
        raise OrderDependentError(
            f"{node} is in the order, and would never enter it; leave it out there, or here"
        )


def read_after(reader: KeyReader, words: Vocabulary, order: Order[Node]) -> Iterator[tuple[Node, Node]]:
    """Read node of the order, or weak node of a kind → the node that the answer becomes."""
    for node, to in _read_maps(reader, words, "after"):
        with reader.record_mistakes():
            if node not in order and (isinstance(node, DType) or node.dtype):
                raise OrderDependentError(not_in_order(node))
            yield node, to


def _read_maps(reader: KeyReader, words: Vocabulary, key: str) -> Iterator[tuple[Node, Node]]:
    """Yield the entries of `before` or `after`."""
    seen: dict[Node, str] = {}
    for code, target in reader.read_table(key):
        with reader.record_mistakes():
            node, to = words.read_node(code), words.read_node(target)
            if node in seen:
                raise RepeatedEntryError(f"{node} is mapped twice; keep one entry", code, seen[node])
            if node is to:
                raise ValueError(f"{node} is mapped to itself")
            seen[node] = code
            yield node, to
