"""The entries of a system file for pairs of nodes: ties, overrides, refusals, and casts both ways."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from typelattice.base.errors.error_texts import quote_short
from typelattice.base.objects.frozen_classes import field, frozen
from typelattice.core.dtypes.dtypes import DType, Node
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.rules import UnorderedPair
from typelattice.core.system_files.key_reader import KeyReader
from typelattice.core.system_files.value_reader import (
    OrderDependentError,
    RepeatedEntryError,
    Vocabulary,
    not_in_order,
    read_distinct,
    require_reason,
)


@frozen()
class PairEntryReader:
    """A reader of the entries for pairs of dtypes: ties, overrides, refusals, casts both ways.

    `combine` and `tiers` are the keys of the file that say how nodes join. `ties` are the ties read so far;
    an override or a refusal may not repeat one. `entry_texts` keeps each entry as the file wrote it. Methods
    raise ValueError.
    """

    reader: KeyReader
    words: Vocabulary
    order: Order[Node]
    combine: str
    tiers: tuple[str, ...]
    ties: dict[UnorderedPair, Node] = field(default_factory=dict)
    entry_texts: dict[tuple[str, UnorderedPair], str] = field(default_factory=dict)

    def require_in_order(self, node: Node) -> Node:
        if node not in self.order:
            raise OrderDependentError(not_in_order(node))
        return node

    def read_ties(self) -> Mapping[UnorderedPair, Node]:
        """Minimal bounds → the winner among them, or above one of them."""
        for entry, word in self.reader.read_table("ties"):
            with self.reader.record_mistakes():
                self._read_tie(entry, self.words.read_nodes(entry), self.words.read_node(word))
        return self.ties

    def _read_tie(self, entry: str, bounds: Sequence[Node], winner: Node) -> None:
        """Check a tie, and keep it."""
        tie = frozenset(map(self.require_in_order, read_distinct(bounds)))
        if tie in self.ties:
            earlier = self.entry_texts["ties", tie]
            raise RepeatedEntryError("this tie is stated twice; keep one", entry, earlier)
        if len(tie) < 2:
            raise ValueError("a tie is among two nodes or more")
        if not self._tie_occurs(tie):
            named = ", ".join(map(str, bounds))
            raise OrderDependentError(
                f"no operands have the minimal bounds {named}, so this tie cannot occur; remove it"
            )
        if not any(self.order.le(a, self.require_in_order(winner)) for a in bounds):
            cause = f"{winner} lies above none of them; the winner is one of the bounds or lies above one"
            raise OrderDependentError(cause)
        self.ties[tie], self.entry_texts["ties", tie] = winner, entry

    def _tie_occurs(self, tie: UnorderedPair) -> bool:
        """Return True if these are the minimal bounds of some nodes.

        If the system folds pairs, two nodes count.

        The highest nodes below the whole tie have the same minimal bounds as any such nodes.
        """
        below = {*self.order.lower_bounds(*tie)}
        highest = [a for a in self.order.nodes if a in below and below.isdisjoint(self.order.covers(a))]
        groups = combinations(highest, len(highest) or 1 if self.combine == "join" else 2)
        return any(frozenset(self.order.minimal_bounds(*group)) == tie for group in groups)

    def read_overrides(self) -> Iterator[tuple[UnorderedPair, Node]]:
        """Read pair → the node that it becomes, against the order."""
        for entry, word in self.reader.read_table("overrides"):
            with self.reader.record_mistakes():
                node = self.require_in_order(self.words.read_node(word))
                for pair in self._read_pairs(entry, node):
                    self.entry_texts["overrides", pair] = entry
                    yield pair, node

    def read_refusals(self) -> Iterator[tuple[UnorderedPair, str]]:
        """Read pair → the reason for its refusal."""
        for entry, reason in self.reader.read_table("refusals"):
            with self.reader.record_mistakes():
                for pair in self._read_pairs(entry, None):
                    self.entry_texts["refusals", pair] = entry
                    yield pair, require_reason(reason)

    def _read_pairs(self, entry: str, node: Node | None) -> Iterator[UnorderedPair]:
        """Yield the pairs that an entry sends to a node or rejects. Raises ValueError for a needless pair."""
        for a, b in self.words.read_pairs(entry):
            pair = frozenset((a, b))
            for key in ("overrides", "refusals"):
                if earlier_entry := self.entry_texts.get((key, pair)):
                    cause = f"{a} + {b} is said already by {quote_short(earlier_entry)}"
                    raise RepeatedEntryError(cause, entry, earlier_entry, key)
            if a in self.order and b in self.order:
                self._check_both(a, b, node)
            else:
                self._check_weak_pair(a, b, node)
            yield pair

    def _check_both(self, a: Node, b: Node, node: Node | None) -> None:
        """Check an entry for two nodes of the order."""
        self._check_not_below(a, b, node)
        result_by_order = self.order.join(a, b) or self.ties.get(frozenset(self.order.minimal_bounds(a, b)))
        if self.combine == "comparable" and result_by_order not in (a, b):
            result_by_order = None
        if result_by_order is node:
            what = f"gives {result_by_order}" if result_by_order else "is refused"
            raise OrderDependentError(f"{a} + {b} {what} by the order already; leave it out")
        if node and self.combine == "join" and all(isinstance(n, DType) or n.dtype for n in (a, b)):
            cause = 'overrides go pair by pair, and this system joins sets; say combine = "fold"'
            raise OrderDependentError(cause)

    def _check_weak_pair(self, a: Node, b: Node, node: Node | None) -> None:
        """Check an entry for a node and a weak one, which represents scalars of a lower tier."""
        for n in (a, b):
            if len(self.tiers) == 1 or isinstance(n, DType) or n.dtype:
                self.require_in_order(n)
        node_in_order = next((n for n in (a, b) if n in self.order), None)
        if node_in_order is None:
            cause = f"{a} + {b} never meet: neither is in the order; add one to `order`, or leave them out"
            raise OrderDependentError(cause)
        self._check_not_below(node_in_order, node_in_order, node)
        if node is node_in_order and all(n.kind.category <= node_in_order.kind.category for n in (a, b)):
            raise OrderDependentError(f"{a} + {b} gives {node} already: the kind is no higher; leave it out")

    def _check_not_below(self, a: Node, b: Node, node: Node | None) -> None:
        """Raise ValueError for an override below one of its operands: a promotion never goes down."""
        low = next((n for n in (a, b) if node and n is not node and self.order.le(node, n)), None)
        if low:
            cause = f"{node} lies below {low}, an operand of the pair; name a higher dtype"
            raise OrderDependentError(cause)

    def _read_both_ways(self) -> list[object]:
        with self.reader.record_mistakes():
            return self.reader.read_value("both-ways", list[object]())
        return []

    def read_both_ways(self) -> Iterator[UnorderedPair]:
        """Read the pairs of nodes that cast to each other."""
        seen: set[UnorderedPair] = set()
        for n, entry in enumerate(self._read_both_ways()):
            self.reader.go_to("both-ways", n)
            with self.reader.record_mistakes():
                for a, b in self.words.read_pairs(entry):
                    pair = frozenset((self.require_in_order(a), self.require_in_order(b)))
                    if pair in seen:
                        raise ValueError(f"{a} + {b} stands twice in this list; name it once")
                    seen.add(pair)
                    yield pair
