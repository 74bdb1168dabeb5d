"""The lines that decide an answer, in a system's files or in a table of ours: without them it differs.

The search tries this and does not guess: it asks the same question of the system without the lines.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, combinations, pairwise
from typing import Any

from typelattice.engine.answer import Promotion, Rule
from typelattice.engine.ask import ask
from typelattice.engine.decisions import (
    Counted,
    Decision,
    Defaulted,
    Entered,
    Joined,
    Lowered,
    Misfit,
    Operated,
    Outgrown,
    Replaced,
    Shaped,
    Widened,
)  # fmt: skip
from typelattice.engine.operations import TABLE, entries
from typelattice.engine.rules import Rules
from typelattice.facts import operations as facts
from typelattice.facts.frozen import replace
from typelattice.facts.operations import OPERATIONS
from typelattice.facts.order import OrderError
from typelattice.files.ablation import Ablation, Lines
from typelattice.files.order_entries import Covers
from typelattice.files.spec import Spec
from typelattice.files.text import Text

Left = Callable[[Rules, Lines], Rules]  # returns the rules without some lines of the order
ENTERED = (Entered, Widened, Outgrown, Operated)  # steps that give an operand a dtype to join the others with
# Keys that an answer may rest on though none of its steps names them.
FURTHER = ("defaults", "weak", "tiers", "combine", "requested")
# Keys that other lines of a file may need, with their values if no line gives them.
NOT_GIVEN: Mapping[str, Any] = {"ties": {}, "tiers": ("array",), "combine": "join"}


class Blame:
    """The search for the lines behind one system's answers; `build` makes a system of its files."""

    def __init__(self, spec: Spec, covers: Covers, build: Callable[[Spec], Rules]) -> None:
        self.spec, self.covers = spec, covers
        self.left = Ablation(spec, covers, build)
        self._told_by = lru_cache(maxsize=256)(self._find_told_by)

    def rule(self, p: Promotion) -> Rule:
        """The lines behind an answer: of the step that decided, of another key, or of the standard."""
        step = p.decision
        return operation_rule(step) if isinstance(step, Shaped) else next(self._rules(p))

    def named(self, key: str, entry: str | None = None) -> Rule:
        """The line of a key, or of an entry under it."""
        text = self.spec.text_of_entry(key, entry)
        line = text.line(key, entry)
        return self._rule(text.file, key, (line,)) if line else self._unlined(text, key, entry)

    def _behind(self, step: Decision) -> Sequence[Rule]:
        """The lines that a step names."""
        return self._told_by(step.key, step.entry)

    def _find_told_by(self, key: str, entry: str | None) -> Sequence[Rule]:
        """Return the line of a key or of its entry; for an operation, the lines of all its entries."""
        return self._told(entry) if key == "ops" else [self.named(key, entry)]

    def _told(self, op: str | None) -> list[Rule]:
        """The lines of all entries that speak of an operation, or of a class; no line if none does."""
        text = self.spec.text_of_entry("ops", op)
        lines = text.lines("ops", op)
        return [self._rule(text.file, "ops", (line,)) for line in lines] or [self._unlined(text, "ops", op)]

    def matters(self, rule: Rule, p: Promotion) -> bool:
        """Return True if the system answers differently without a rule.

        If other lines need those of the rule, give its key the value that it has in a system without it.
        """
        rules = self.left.without(rule)
        if rule.lines and rules is None and rule.key in NOT_GIVEN:
            rules = replace(p.system, **{rule.key: NOT_GIVEN[rule.key]})
        return rules is not None and outcome(self._again(rules, p)) != outcome(p)

    def _by_default(self, p: Promotion) -> bool:
        """Return True if other default dtypes give another answer; rules by value always need some."""
        defaults = p.system.defaults
        for kind in {o.kind for o in p.promoting if o.dtype is None and o.kind in defaults}:
            for other in (d for d in p.system.dtypes if d.kind is defaults[kind].kind):
                rules = replace(p.system, defaults={**defaults, kind: other})
                if outcome(self._again(rules, p)) != outcome(p):
                    return True
        return False

    def _rules(self, p: Promotion) -> Iterator[Rule]:
        """Yield the rules without which the answer differs, the most specific first, the order's last."""
        step, made = p.decision, p.steps[-1]
        if isinstance(made, Operated) and len(made.nodes) == 1 and made.node not in (None, *made.nodes):
            yield from (rule for rule in self._behind(made) if self.matters(rule, p))
            standard = standard_rule(made)
            if standard.lines:
                yield standard
        for rule in self._came_in(p):
            needed = rule.key == "defaults" and p.system.combine == "value"
            if self._by_default(p) if needed else self.matters(rule, p):
                yield rule
        behind = () if isinstance(step, Joined) else self._behind(step)
        yield from (rule for rule in behind if self.matters(rule, p))
        if isinstance(step, Operated) and (step.node is None or not behind[0].lines):
            standard = standard_rule(step)
            if standard.lines:  # of a group, and of an operator, the standard has none
                yield standard
        names = entries(p.op) if p.op and "ops" in self.spec.texts else ()
        yield from (rule for rule in self._before_joining(p, names) if self.matters(rule, p))
        order = self._order_lines(p, self.left.without_covers)
        if order:
            yield order
        if not isinstance(step, Joined) or step.node is not None:
            further = [*self._further(p, names)]
            yield from (rule for rule in further if self.matters(rule, p))
            yield from self._together(further, p)
            # The order may say the same. A step on an operand still says more than its place in the order.
            done = (step for step in reversed(p.steps) if isinstance(step, (Counted, Lowered)))
            yield from chain.from_iterable(map(self._behind, done))
        yield self._presence(p)

    def _came_in(self, p: Promotion) -> Iterator[Rule]:
        """Yield the rules that made an operand, or the join, the dtype that the answer rests on.

        In `bool + 2` the default dtype of Python's int says more than the order, in which bool lies below it.
        """
        made, joined = p.steps[-1], p.decision
        if isinstance(made, (Defaulted, Replaced)):
            yield from self._behind(made)
        if not isinstance(joined, (Joined, Lowered)):
            return
        for step in reversed(p.steps):
            if isinstance(step, Counted) or (isinstance(step, ENTERED) and step.node is joined.node):
                yield from self._behind(step)
        for kind in dict.fromkeys(o.kind for o in p.promoting if o.dtype is None):
            if p.system.defaults.get(kind) is joined.node:
                yield self.named("defaults", kind.word)

    def _before_joining(self, p: Promotion, names: Sequence[str]) -> Iterator[Rule]:
        """Yield the rules for the fit of a value, and for the dtypes that an operation's operands count as.

        An operation may have its own `fit`, and the file may have `holds`. Both say more about a value than
        the order, which only has the dtype in it.
        """
        if isinstance(p.decision, Misfit):
            yield from self._of_value(p.decision, names)
        for step, then in pairwise(p.steps):
            if isinstance(step, Operated) and not isinstance(then, Operated):
                yield from self._behind(step)

    def _further(self, p: Promotion, names: Sequence[str]) -> Iterator[Rule]:
        """Yield further rules of an answer: keys of its steps, of no step, and of its operation."""
        for step in reversed(p.steps):
            if not isinstance(step, Joined):
                yield from self._behind(step)
        for key in FURTHER:
            if key in self.spec.texts:
                yield from self._told_by(key, None)
        for op in () if isinstance(p.decision, Misfit) else names:
            yield from self._told_by("ops", op)

    def _together(self, rules: Sequence[Rule], p: Promotion) -> Iterator[Rule]:
        """Yield two rules of one file as one if the answer differs without both, though not without either.

        `int64 + 2` is int64 by NumPy's tiers, where a Python int adds nothing. By the default dtype of the
        int it would be int64 too.
        """
        for a, b in combinations(dict.fromkeys(rule for rule in rules if rule.lines), 2):
            both = self._rule(a.file, a.key, tuple(sorted({*a.lines, *b.lines})))
            if a.file == b.file and self.matters(both, p):
                yield both

    def _presence(self, p: Promotion) -> Rule:
        """Return the lines that bring dtypes of the question into the order; all its lines if none does."""
        found = self._order_lines(p, self.left.without_nodes)
        if found:
            return found
        naming = [line for line, said in self.covers.items() if {a for a, _ in said} & {*p.decision.nodes}]
        file = naming[-1][0] if naming else self.spec.text_of_entry("order", None).file
        return self._rule(file, "order", tuple(n for name, n in naming or self.covers if name == file))

    def _of_value(self, step: Decision, names: Sequence[str]) -> Iterator[Rule]:
        """Yield rules that may decide the fit of a value: of the operation, of the file, or one of each."""
        own = [told for op in names for told in self._told_by("ops", op)]
        holds = self._told_by("holds", None) if "holds" in self.spec.texts else ()
        yield from own
        yield from holds
        pairs = ((a, b) for n, a in enumerate(own) for b in (*own[n + 1 :], *self._behind(step), *holds))
        for a, b in pairs:  # where both say the same, neither decides alone
            if a.lines and b.lines and a.file == b.file:
                yield self._rule(a.file, a.key, tuple(sorted({*a.lines, *b.lines})))

    def _order_lines(self, p: Promotion, left: Left) -> Rule | None:
        """Return the smallest set of order lines whose removal changes the answer; one line if possible.

        `left` returns the rules without some lines. If several lines change the answer alone, name the last.
        A refusal with several bounds rests on the ways to all of them, so name every such line. If no single
        line changes the answer, leave out one after another to find the lines that it needs together.
        """
        lines = tuple(self.covers)
        last = next((line for line in reversed(lines) if self._changes(p, left, (line,))), None)
        if last:
            several = p.dtype is None and len(p.bounds) > 1
            alone = [line for line in lines if line == last or (several and self._changes(p, left, (line,)))]
            return self._rule(last[0], "order", tuple(n for file, n in alone if file == last[0]))
        needed = lines
        for line in lines:
            fewer = tuple(other for other in needed if other != line)
            if fewer and self._changes(p, left, fewer):
                needed = fewer
        file = needed[-1][0]
        needed = tuple(line for line in needed if line[0] == file)
        found = self._rule(file, "order", tuple(n for _, n in needed))
        return found if self._changes(p, left, needed) else None

    def _changes(self, p: Promotion, left: Left, lines: Lines) -> bool:
        """Return True if the rules answer differently without some lines of the order."""
        try:
            return outcome(self._again(left(p.system, lines), p)) != outcome(p)
        except OrderError:
            return True

    def _again(self, rules: Rules, p: Promotion) -> Promotion:
        """The same question under other rules."""
        return ask(rules, p.operands, p.op, p.find_rule)

    def _unlined(self, text: Text, key: str, entry: str | None) -> Rule:
        """Return the rule of a key that stands on no line: a program gives it, or nothing does."""
        return Rule(text.file, key, (), entry=None if text.is_toml else entry)

    def _rule(self, file: str, key: str, lines: tuple[int, ...]) -> Rule:
        text = self.spec.text_of(file)
        whole = text.text.split("\n") if text else []
        return Rule(file, key, lines, tuple(whole[n - 1].rstrip("\r") for n in lines if n <= len(whole)))


def outcome(p: Promotion) -> tuple[object, ...]:
    """Return the result of a promotion, to compare it; for a refusal the reason and the bounds."""
    return p.dtype, p.weak, p.reason, () if p.dtype else tuple(map(str, p.bounds))


def standard_rule(step: Decision) -> Rule:
    """The line of the standard's table from which an entry of `ops`, a class or an operation, departs."""
    known = OPERATIONS.get(step.entry or "")
    of_class = known.of_class if known else step.entry
    return _row(TABLE, of_class)


def operation_rule(step: Decision) -> Rule:
    """The line of the table of operations that says how many dimensions an operand has at least."""
    return _row(facts.TABLE, step.entry)


@cache
def _row(path: str, name: str | None) -> Rule:
    """Return the row of one of our tables that begins with a name."""
    with open(path, encoding="ascii") as table:
        rows = [row.rstrip("\n") for row in table]
    lines = tuple(n for n, row in enumerate(rows, 1) if row.partition(" ")[0] == name)
    return Rule(path.rpartition("/")[2], "ops", lines, tuple(rows[n - 1] for n in lines))
