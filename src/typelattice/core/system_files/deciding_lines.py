"""Search for the lines that decide an answer, in a system's files or in our tables.

A line decides if the system answers differently without it. So the search removes lines and evaluates again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations, pairwise

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.order import OrderError
from typelattice.core.engine.decisions import (
    Decision,
    DefaultTaken,
    DTypeByOperation,
    ForeignArrayCounted,
    JoinedByValue,
    MissingDimensions,
    MissingOperation,
    NodesJoined,
    OutOfTargetRange,
    ParametersComputed,
    ReplacedInAnswer,
    ReplacedOnEntry,
    SizedByValue,
    TiersJoined,
    WidenedDefault,
)  # fmt: skip
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.promotion import DecidingLines, Promotion
from typelattice.core.engine.rules import Rules
from typelattice.core.operands.operand import FOREIGN_SCALAR_SUFFIX
from typelattice.core.system_files.order_entries import CoversByLine
from typelattice.core.system_files.system_definition import SystemDefinition
from typelattice.core.system_files.system_text import SystemText
from typelattice.core.system_files.system_without_lines import FileLines, LineRemoval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LineRemover = Callable[[Rules, FileLines], Rules]  # returns the rules without some lines of the order
DECISIONS_GIVING_OPERAND_DTYPES = (
    ReplacedOnEntry,
    WidenedDefault,
    JoinedByValue,
    DTypeByOperation,
)  # decisions that give an operand a dtype to join the others with
# Keys that may decide an answer although no decision in it names them.
KEYS_NAMED_BY_NO_DECISION = ("defaults", "weak-join", "tiers", "combine", "requested")
# Keys that other lines of a file may need, with their values if no line gives them.
VALUES_IF_ABSENT: Mapping[str, Any] = {"ties": {}, "tiers": ("array",), "combine": "join"}


class DecidingLineSearch:
    """The search for the lines behind one system's answers. `build` makes a system of its files."""

    def __init__(
        self, definition: SystemDefinition, covers: CoversByLine, build: Callable[[SystemDefinition], Rules]
    ) -> None:
        self.definition, self.covers = definition, covers
        self.line_removal = LineRemoval(definition, covers, build)
        self._rules_of_key = lru_cache(maxsize=256)(self._find_rules_of_key)
        # The last promotion, and which rules decide it: a search has some rules in several of its lists.
        self._last: tuple[Promotion | None, dict[DecidingLines, bool]] = None, {}

    def deciding_rule(self, promotion: Promotion) -> DecidingLines:
        """Return the lines that decided an answer, in the system's file or in one of our tables.

        The decision on a new array, a cast, an index or a write names its key, and nothing else decides.
        """
        if promotion.question:
            return self._rules_of_decision(promotion.decision)[0]
        if isinstance(promotion.decision, (MissingOperation, MissingDimensions)):
            return _table_rule(promotion.decision)
        return next(self._candidate_rules(promotion))

    def rule_of_key(self, key: str, entry: str | None) -> DecidingLines:
        """Return the line of a key, or of an entry under it."""
        text = self.definition.text_of_entry(key, entry)
        line = text.line_of(key, entry)
        return (
            self._rule_on_lines(text.file, key, (line,))
            if line
            else self._rule_without_line(text, key, entry)
        )

    def _rules_of_decision(self, decision: Decision) -> Sequence[DecidingLines]:
        """Return the lines of the key and entry that a decision names."""
        return self._rules_of_key(decision.key, decision.entry)

    def _find_rules_of_key(self, key: str, entry: str | None) -> Sequence[DecidingLines]:
        """Return the line of a key or of its entry. For an operation, return the lines of all its entries."""
        return self._rules_of_operation(entry) if key == "ops" else [self.rule_of_key(key, entry)]

    def _rules_of_operation(self, op_name: str | None) -> list[DecidingLines]:
        """Return the lines of all entries for an operation or its class."""
        text = self.definition.text_of_entry("ops", op_name)
        lines = text.lines_of("ops", op_name)
        return [self._rule_on_lines(text.file, "ops", (line,)) for line in lines] or [
            self._rule_without_line(text, "ops", op_name)
        ]

    def decides(self, rule: DecidingLines, promotion: Promotion) -> bool:
        """Return True if the system answers differently without a rule."""
        promotion_of_last, decided = self._last
        if promotion_of_last is not promotion:
            decided = {}
            self._last = promotion, decided
        if rule not in decided:
            decided[rule] = self._answers_differ_without(rule, promotion)
        return decided[rule]

    def _answers_differ_without(self, rule: DecidingLines, promotion: Promotion) -> bool:
        """Return True if the answer is another one without a rule.

        If the file is invalid without the lines, give the key its default instead.
        """
        rules = self.line_removal.without(promotion.system, rule)
        if rule.lines and rules is None and rule.key in VALUES_IF_ABSENT:
            rules = replace(promotion.system, **{rule.key: VALUES_IF_ABSENT[rule.key]})
        if rules is None:
            return False
        again = self._ask_again(rules, promotion)
        # NumPy compares uint64 with int64 directly. Without the line that allows this, it casts both.
        casts_instead = (
            promotion.dtype is not None and promotion.compute is None and again.compute is not None
        )
        return casts_instead or comparable_result(again) != comparable_result(promotion)

    def _depends_on_defaults(self, promotion: Promotion) -> bool:
        """Return True if changing a default dtype changes the answer.

        A file with `combine = "value"` needs its defaults, so leaving them out would prove nothing.
        """
        defaults = promotion.system.defaults
        for kind in {o.kind for o in promotion.promoting_operands if o.dtype is None and o.kind in defaults}:
            for other in (d for d in promotion.system.dtypes if d.kind is defaults[kind].kind):
                rules = replace(promotion.system, defaults={**defaults, kind: other})
                if comparable_result(self._ask_again(rules, promotion)) != comparable_result(promotion):
                    return True
        return False

    def _candidate_rules(self, promotion: Promotion) -> Iterator[DecidingLines]:
        """Yield the rules that decide the answer, the most specific first, the order's last."""
        names = _entry_names(promotion) if promotion.op and "ops" in self.definition.texts else ()
        of_operation = [rule for name in names for rule in self._rules_of_operation(name)]
        yield from self._keep_deciding(self._rules_of_single_operands(promotion, names), promotion)
        yield from self._rules_of_parameters(promotion, names)
        yield from self._rules_of_last_cast(promotion, of_operation)
        for rule in self._rules_of_operand_dtypes(promotion):
            needed = rule.key == "defaults" and promotion.system.combine == "value"
            if self._depends_on_defaults(promotion) if needed else self.decides(rule, promotion):
                yield rule
        yield from self._rules_of_main_decision(promotion, of_operation)
        yield from self._keep_deciding(self._rules_before_joining(promotion, names), promotion)
        yield from self._rules_with_the_order(promotion, names, of_operation)
        yield self._lines_with_the_dtypes(promotion)

    def _keep_deciding(self, rules: Iterable[DecidingLines], p: Promotion) -> Iterator[DecidingLines]:
        """Yield the rules without which the answer differs."""
        return (rule for rule in rules if self.decides(rule, p))

    def _rules_of_last_cast(
        self, promotion: Promotion, of_operation: Sequence[DecidingLines]
    ) -> Iterator[DecidingLines]:
        """Yield the rules of an operation that makes another dtype of the joined one."""
        last = promotion.decisions[-1]
        if (
            isinstance(last, DTypeByOperation)
            and len(last.nodes) == 1
            and last.node not in (None, *last.nodes)
        ):
            yield from self._keep_deciding(of_operation, promotion)
            standard = _table_rule(last)
            if standard.lines:
                yield standard

    def _rules_of_main_decision(
        self, promotion: Promotion, of_operation: Sequence[DecidingLines]
    ) -> Iterator[DecidingLines]:
        """Yield the rules of the decision that decided, and then the operation's."""
        decision = promotion.decision
        behind = () if isinstance(decision, NodesJoined) else self._rules_of_decision(decision)
        yield from self._keep_deciding(behind, promotion)
        yield from self._keep_deciding(of_operation, promotion)
        if isinstance(decision, DTypeByOperation) and (decision.node is None or not behind[0].lines):
            # An entry of the file is more specific, even if the standard has the same rule.
            if decision.node is None:
                yield from self._rules_of_refusal(decision, promotion.op)
            standard = _table_rule(decision)
            if standard.lines:  # a group and an operator have no lines in the standard
                yield standard

    def _rules_of_refusal(self, decision: DTypeByOperation, op_name: str | None) -> Iterator[DecidingLines]:
        """Yield the rules by which an operation refuses the dtypes of its operands."""
        from typelattice.core.operations.operations import IN_PLACE_CLASS

        may_give = decision.entry in (op_name, IN_PLACE_CLASS)
        for part in ("kernels", "loops", "gives") if may_give else ("kernels", "loops"):
            yield from self._rules_of_part("ops", decision.entry, part)

    def _rules_with_the_order(
        self, promotion: Promotion, names: Sequence[str], of_operation: Sequence[DecidingLines]
    ) -> Iterator[DecidingLines]:
        """Yield lines of the order, rules that only together decide, and rules with the effect of another."""
        order = self._order_lines(promotion, self.line_removal.without_covers)
        if order and (len(order.lines) == 1 or not names):
            yield order
        is_refused_join = isinstance(promotion.decision, NodesJoined) and promotion.decision.node is None
        further = () if is_refused_join else [*self._remaining_rules(promotion, names)]
        yield from self._keep_deciding(further, promotion)
        # No single line decides. So another one says the same as the operation's own, which explains more.
        yield from (rule for rule in of_operation if self._changes_decisions(rule, promotion))
        if order:
            yield order
        yield from self._keep_deciding(self._pairs_of_lines(further), promotion)
        # The order may have the same effect. A decision on an operand still explains more than its place in
        # the order.
        done = (
            decision
            for decision in reversed(promotion.decisions)
            if isinstance(decision, (SizedByValue, TiersJoined))
        )
        yield from chain.from_iterable(
            () if is_refused_join else self._rules_of_decision(decision) for decision in done
        )

    def _rules_of_single_operands(
        self, promotion: Promotion, names: Sequence[str]
    ) -> Iterator[DecidingLines]:
        """Yield the rules for foreign operands, and for values out of range."""
        foreign = [o for o in promotion.operands if o.foreign_library]
        counted = (decision for decision in promotion.decisions if isinstance(decision, ForeignArrayCounted))
        for o, decision in zip(foreign, counted, strict=False):
            if decision.node is not decision.nodes[0]:
                lines = [
                    *self._rules_of_part("foreign", o.foreign_library.removesuffix(FOREIGN_SCALAR_SUFFIX))
                ]
                yield from lines
                # A dtype's own line may have the effect of the scalars' line.
                yield from self._pairs_of_lines(lines)
        if any(fit.outcome not in ("fits", "unsaid") for fit in promotion.fits):
            for op in names:
                yield from self._rules_of_part("ops", op, "fit")

    def _rules_of_parameters(
        self, promotion: Promotion, operation_names: Sequence[str]
    ) -> Iterator[DecidingLines]:
        """Yield the rules that compute or refuse the parameters of a result."""
        decision = promotion.decisions[-1]
        if not isinstance(decision, ParametersComputed):
            return
        given = [
            rule
            for op in operation_names
            for rule in self._rules_of_part("ops", op, "gives")
            if decision.node
        ]
        parts = ("joins", "from", "parameters")
        stated = [rule for part in parts for rule in self._rules_of_part("dtypes", decision.entry, part)]
        yield from (
            rule for rule in (*given, *stated) if decision.node is None or self.decides(rule, promotion)
        )

    def _rules_of_part(self, key: str, entry: str | None, part: str | None = None) -> Iterator[DecidingLines]:
        """Yield a rule for each line that states an entry of the table `key`, or a part of the entry."""
        text = self.definition.text_of_entry(key, entry)
        for line in text.lines_of(key, entry, part):
            yield self._rule_on_lines(text.file, key, (line,))

    def _rules_of_operand_dtypes(self, promotion: Promotion) -> Iterator[DecidingLines]:
        """Yield the rules that gave an operand, or the join, the dtype of the answer.

        In `bool + 2` the default dtype of Python's int explains more than the order, which has bool below it.
        """
        made, joined = promotion.decisions[-1], promotion.decision
        if isinstance(made, (DefaultTaken, ReplacedInAnswer)):
            yield from self._rules_of_decision(made)
        if not isinstance(joined, (NodesJoined, TiersJoined)):
            return
        for decision in reversed(promotion.decisions):
            if isinstance(decision, SizedByValue) or (
                isinstance(decision, DECISIONS_GIVING_OPERAND_DTYPES) and decision.node is joined.node
            ):
                yield from self._rules_of_decision(decision)
        for kind in dict.fromkeys(o.kind for o in promotion.promoting_operands if o.dtype is None):
            if promotion.system.defaults.get(kind) is joined.node:
                yield self.rule_of_key("defaults", kind.python_name)

    def _rules_before_joining(self, promotion: Promotion, names: Sequence[str]) -> Iterator[DecidingLines]:
        """Yield the rules that apply before operands join: the fit of a value, and what operands count as.

        An operation may have its own `fit`, and the file may have `limits`. Both explain a value better than
        the order, which only has its dtype.
        """
        if isinstance(promotion.decision, OutOfTargetRange):
            yield from self._value_rules(promotion.decision, names)
        for decision, then in pairwise(promotion.decisions):
            if isinstance(decision, DTypeByOperation) and not isinstance(then, DTypeByOperation):
                yield from self._rules_of_decision(decision)

    def _changes_decisions(self, rule: DecidingLines, promotion: Promotion) -> bool:
        """Return True if the system takes other decisions without a rule, even to the same answer."""
        rules = self.line_removal.without(promotion.system, rule)
        return rules is not None and _computation_of_call(
            self._ask_again(rules, promotion)
        ) != _computation_of_call(promotion)

    def _remaining_rules(self, promotion: Promotion, names: Sequence[str]) -> Iterator[DecidingLines]:
        """Yield the remaining candidates: keys of decisions, keys that none names, and the operation's."""
        for decision in reversed(promotion.decisions):
            if not isinstance(decision, NodesJoined):
                yield from self._rules_of_decision(decision)
        for key in KEYS_NAMED_BY_NO_DECISION:
            if key in self.definition.texts:
                yield from self._rules_of_key(key, None)
        for op in () if isinstance(promotion.decision, OutOfTargetRange) else names:
            yield from self._rules_of_key("ops", op)

    def _pairs_of_lines(self, candidates: Sequence[DecidingLines]) -> Iterator[DecidingLines]:
        """Yield each two rules of one file as one, since only both together may decide.

        `int64 + 2` is int64 by NumPy's tiers, since a Python int adds nothing. By the default dtype of the
        int it would also be int64.
        """
        for a, b in combinations(dict.fromkeys(rule for rule in candidates if rule.lines), 2):
            if a.file == b.file:
                yield self._rule_on_lines(a.file, a.key, tuple(sorted({*a.lines, *b.lines})))

    def _lines_with_the_dtypes(self, promotion: Promotion) -> DecidingLines:
        """Return the line that brings the question's dtypes into the order, or all lines if no one does."""
        found = self._order_lines(promotion, self.line_removal.without_nodes)
        if found:
            return found
        naming = [
            line for line, said in self.covers.items() if {a for a, _ in said} & {*promotion.decision.nodes}
        ]
        file = naming[-1][0] if naming else self.definition.text_of_entry("order", None).file
        return self._rule_on_lines(
            file, "order", tuple(n for name, n in naming or self.covers if name == file)
        )

    def _value_rules(self, decision: Decision, names: Sequence[str]) -> Iterator[DecidingLines]:
        """Yield the rules that may decide the fit of a value: the operation's, the file's, or one of each."""
        own = [rule for op in names for rule in self._rules_of_key("ops", op)]
        limits = self._rules_of_key("limits", None) if "limits" in self.definition.texts else ()
        yield from own
        yield from limits
        pairs = (
            (a, b)
            for n, a in enumerate(own)
            for b in (*own[n + 1 :], *self._rules_of_decision(decision), *limits)
        )
        for a, b in pairs:  # if both say the same, neither decides without the other
            if a.lines and b.lines and a.file == b.file:
                yield self._rule_on_lines(a.file, a.key, tuple(sorted({*a.lines, *b.lines})))

    def _order_lines(self, promotion: Promotion, remove_lines: LineRemover) -> DecidingLines | None:
        """Return the smallest set of order lines whose removal changes the answer, if possible one line.

        `remove_lines` returns the rules without some lines. If each of several lines changes the answer, name
        the last. A refusal with several bounds rests on the ways to all of them, so name every such line. If
        no single line changes the answer, leave out one after another to find the smallest set.
        """
        lines = tuple(self.covers)
        last = next(
            (line for line in reversed(lines) if self._answers_change(promotion, remove_lines, (line,))), None
        )
        if last:
            several = promotion.dtype is None and len(promotion.bounds) > 1
            alone = [
                line
                for line in lines
                if line == last or (several and self._answers_change(promotion, remove_lines, (line,)))
            ]
            return self._rule_on_lines(last[0], "order", tuple(n for file, n in alone if file == last[0]))
        needed = lines
        for line in lines:
            fewer = tuple(other for other in needed if other != line)
            if fewer and self._answers_change(promotion, remove_lines, fewer):
                needed = fewer
        file = needed[-1][0]
        needed = tuple(line for line in needed if line[0] == file)
        found = self._rule_on_lines(file, "order", tuple(n for _, n in needed))
        return found if self._answers_change(promotion, remove_lines, needed) else None

    def _answers_change(self, promotion: Promotion, remove_lines: LineRemover, lines: FileLines) -> bool:
        """Return True if the rules answer differently without some lines of the order."""
        try:
            return comparable_result(
                self._ask_again(remove_lines(promotion.system, lines), promotion)
            ) != comparable_result(promotion)
        except OrderError:
            return True

    def _ask_again(self, rules: Rules, p: Promotion) -> Promotion:
        """Ask the same question under other rules."""
        return promote_operands(rules, p.operands, p.op, p.find_rule)

    def _rule_without_line(self, text: SystemText, key: str, entry: str | None) -> DecidingLines:
        """Return a rule without lines, for a key that was set in Python or that no file has."""
        return DecidingLines(text.file, key, (), entry=None if text.is_toml else entry)

    def _rule_on_lines(self, file: str, key: str, lines: tuple[int, ...]) -> DecidingLines:
        text = self.definition.text_of(file)
        whole = text.lines if text else ()
        return DecidingLines(
            file, key, lines, tuple(whole[n - 1].rstrip("\r") for n in lines if n <= len(whole))
        )


def comparable_result(p: Promotion) -> tuple[object, ...]:
    """Return the result of a promotion for a comparison. For a refusal this is the reason and the bounds."""
    return p.dtype, p.weak, p.accumulator, p.reason, () if p.dtype else tuple(map(str, p.bounds))


def _computation_of_call(p: Promotion) -> tuple[object, ...]:
    """Return the dtype computed in, the outcomes of values, and the decisions, for a comparison."""
    return p.compute, p.fits, p.decisions


# Promotion without an operation needs no tables of operations.
def _entry_names(promotion: Promotion) -> Sequence[str]:
    """Return the entries of `ops` that may describe the operation of a promotion."""
    from typelattice.core.engine.operation_rules import entry_names

    return entry_names(promotion.system.find_operation(str(promotion.op)))


def _table_rule(decision: Decision) -> DecidingLines:
    """Return the line of our own tables behind a decision on an operation."""
    from typelattice.core.system_files.table_lines import table_rule

    return table_rule(decision)
