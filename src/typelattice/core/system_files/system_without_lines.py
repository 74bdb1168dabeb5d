"""A system without some lines of its files. Each is built once, since explanations try lines repeatedly."""
from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.engine.promotion import DecidingLines
from typelattice.core.engine.rules import Rules
from typelattice.core.system_files.order_entries import CoversByLine
from typelattice.core.system_files.system_definition import SystemDefinition
from typelattice.core.system_files.system_text import FileLine, FormatError

FileLines = tuple[FileLine, ...]


class LineRemoval:
    """One system without some lines of its order, or without a rule. `build` makes a system of its files."""

    def __init__(
        self, definition: SystemDefinition, covers: CoversByLine, build: Callable[[SystemDefinition], Rules]
    ) -> None:
        self.definition, self.covers, self.build = definition, covers, build
        self.without_covers = lru_cache(maxsize=256)(self._without_covers)
        self.without_nodes = lru_cache(maxsize=256)(self._without_nodes)
        self.without = lru_cache(maxsize=256)(self._remove_rule)

    def _remove_rule(self, rules: Rules, rule: DecidingLines) -> Rules | None:
        """Return rules without the lines of one rule, or without the key that a program has replaced.

        They keep the operations that these lines define, so that the same question stays possible. Return
        None if the rule has neither, or if the rest is not a system file.
        """
        text = self.definition.text_of(rule.file)
        try:
            if rule.lines:
                rest = self.definition.drop_lines(rule.file, rule.lines)
                if rule.key == "ops":  # a cast promotes nothing, and may need an operation of these lines
                    rest = rest.drop_replaced(rule.file, "casts", None)
            elif text is not None and not text.is_toml:
                rest = self.definition.drop_replaced(rule.file, rule.key, rule.entry)
            else:
                return None
            found = self.build(rest.mark_checked(self.definition))
            return replace(found, custom_operations=rules.custom_operations)
        except FormatError:
            return None

    def _without_covers(self, rules: Rules, lines: FileLines) -> Rules:
        """Return rules with an order that keeps all its nodes, but lacks the arrows that some lines state."""
        stated = [(a, b) for line in lines for a, b in self.covers[line] if b]
        return replace(rules, order=rules.order.without(stated))

    def _without_nodes(self, rules: Rules, lines: FileLines) -> Rules:
        """Return rules with an order that lacks some lines, and the nodes that only these lines name."""
        stated = [pair for line in lines for pair in self.covers[line]]
        named = {a for line, others in self.covers.items() if line not in lines for a, _ in others}
        gone = {a for a, _ in stated} - named
        return replace(rules, order=rules.order.without([(a, b) for a, b in stated if b], gone))
