"""What a system file says that dtypes become: on entry, in an answer, and where they are asked for."""
from __future__ import annotations

from collections.abc import Iterator, Mapping

from typelattice.facts.dtypes import DType, Kind, Node
from typelattice.facts.order import Order
from typelattice.files.cursor import Cursor
from typelattice.files.vocabulary import Words, kind_of
from typelattice.operands.operand import WORDS


def read_instead(
    cursor: Cursor, words: Words, order: Order[Node], defaults: Mapping[Kind, DType]
) -> Iterator[tuple[DType | Kind, DType]]:
    """What arrays have that are asked to be of a dtype, or of a Python type: a dtype of the order."""
    for word, target in cursor.table("instead"):
        to = words.dtype(words.node(target))
        if word not in WORDS:
            d = words.dtype(words.node(word))
            _check_entry(order, d, to)
            yield d, to
            continue
        kind = kind_of(word, WORDS)
        if to not in order:
            raise ValueError(f"{to} is not in the order")
        if defaults.get(kind) is to and cursor.spec.says("instead", word):
            raise ValueError(f"{to} is the default dtype of {word} already; leave it out")
        yield kind, to


def read_before(
    cursor: Cursor, words: Words, order: Order[Node], entering: Mapping[Node, Node]
) -> Iterator[tuple[Node, Node]]:
    """What operands count as on entry: node → a node of the order."""
    for node, to in _maps(cursor, words, "before"):
        if not isinstance(node, DType) and not node.dtype:
            raise ValueError(f"{node} has no width, and never comes in as such")
        _check_entry(order, node, to)
        if node in entering:
            raise ValueError(f"{node} is said to enter by `instead` already; leave it out there, or here")
        yield node, to


def _check_entry(order: Order[Node], node: Node, to: Node) -> None:
    """Raises ValueError for a node that never enters as another."""
    if to not in order:
        raise ValueError(f"{to} is not in the order")
    if node in order:
        raise ValueError(f"{node} is in the order, and would never enter it; leave it out there, or here")


def read_after(cursor: Cursor, words: Words, order: Order[Node]) -> Iterator[tuple[Node, Node]]:
    """What the answer becomes: a node of the order, or the weak one of a kind, → node."""
    for node, to in _maps(cursor, words, "after"):
        if node not in order and (isinstance(node, DType) or node.dtype):
            raise ValueError(f"{node} is not in the order")
        yield node, to


def _maps(cursor: Cursor, words: Words, key: str) -> Iterator[tuple[Node, Node]]:
    """The entries of `before` or `after`."""
    seen: set[Node] = set()
    for code, target in cursor.table(key):
        node, to = words.node(code), words.node(target)
        if node in seen or node is to:
            raise ValueError(f"{node} is mapped {'twice' if node in seen else 'to itself'}")
        seen.add(node)
        yield node, to
