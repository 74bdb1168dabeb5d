"""What is left of a system without some of what its files say, made once: explanations try the same lines."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain

from typelattice.engine.answer import Rule
from typelattice.engine.rules import Rules
from typelattice.facts.dtypes import Node
from typelattice.facts.order import Order
from typelattice.files.order_entries import Covers
from typelattice.files.spec import Spec
from typelattice.files.text import FormatError, Line

Lines = tuple[Line, ...]


class Lacking:
    """One system, whose files `build` makes a system of, without lines of the order or without a rule."""

    def __init__(self, spec: Spec, covers: Covers, build: Callable[[Spec], Rules]) -> None:
        self.spec, self.covers, self.build = spec, covers, build
        self.without_covers = lru_cache(maxsize=256)(self._without_covers)
        self.without_nodes = lru_cache(maxsize=256)(self._without_nodes)
        self.without = lru_cache(maxsize=256)(self._without)

    def _without(self, rule: Rule) -> Rules | None:
        """The rules without the lines of one, or without what a program has replaced.

        None where the rule is neither, or what is left is no system file.
        """
        text = self.spec.text_of(rule.file)
        try:
            if rule.lines:
                return self.build(self.spec.without(rule.file, rule.lines))
            if text is not None and not text.is_toml:
                return self.build(self.spec.unreplaced(rule.file, rule.key, rule.entry))
        except FormatError:
            pass
        return None

    def _without_covers(self, rules: Rules, lines: Lines) -> Rules:
        """Rules whose order has all its nodes, and lacks what some lines say of one above another."""
        stated = [(a, b) for line in lines for a, b in self.covers[line] if b]
        return replace(rules, order=self._whole.without(stated))

    def _without_nodes(self, rules: Rules, lines: Lines) -> Rules:
        """Rules whose order lacks some lines, and the nodes that no other line names."""
        stated = [pair for line in lines for pair in self.covers[line]]
        named = {a for line, others in self.covers.items() if line not in lines for a, _ in others}
        gone = {a for a, _ in stated} - named
        return replace(rules, order=self._whole.without([(a, b) for a, b in stated if b], gone))

    @cached_property
    def _whole(self) -> Order[Node]:
        """The order that all lines state."""
        stated: dict[Node, list[Node]] = {}
        for a, b in chain.from_iterable(self.covers.values()):
            stated.setdefault(a, []).extend([b] if b else [])
        return Order(stated)
