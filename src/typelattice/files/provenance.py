"""Provenance: which lines of a system's files decide an answer, and what the system is without them."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from itertools import chain, pairwise

from typelattice.engine.answer import Promotion, Rule
from typelattice.engine.ask import ask
from typelattice.engine.operations import TABLE, entries
from typelattice.engine.rules import Rules
from typelattice.engine.steps import Joined, Misfit, Operated, Shaped, Step
from typelattice.engine.system import Origin, System
from typelattice.facts import operations as facts
from typelattice.facts.dtypes import Node
from typelattice.facts.operations import OPERATIONS
from typelattice.facts.order import Order, OrderError
from typelattice.files.spec import Spec
from typelattice.files.text import FormatError, Line

Covers = Mapping[
    Line, Sequence[tuple[Node, Node | None]]
]  # what each line of an order states; None: a node alone
Lines = tuple[Line, ...]
NONE, PRESENCE, RELATION = range(3)  # how an answer changes without some lines of the order
# Keys that an answer may rest on though none of its steps names them.
FURTHER = ("defaults", "weak", "tiers", "combine", "order")


class Provenance:
    """Where a system comes from: its files, and the systems that are left without some of their lines.

    A line is behind an answer if the answer is another without it; that is tried, not guessed.
    """

    def __init__(self, spec: Spec, covers: Covers, build: Callable[[Spec], System]) -> None:
        self.spec, self.covers, self.build = spec, covers, build
        # An explanation tries each line, and the next explanation mostly the same ones.
        self._other_order = lru_cache(maxsize=256)(self._with_other_order)
        self._rules_without = lru_cache(maxsize=256)(self._make_rules)
        self._told_by = lru_cache(maxsize=256)(self._find_told_by)

    def __reduce__(self) -> tuple[Callable[[Callable[[Spec], System], Spec], Origin], tuple[object, ...]]:
        return _again, (self.build, self.spec)

    def rule(self, p: Promotion) -> Rule:
        """The lines behind an answer: of the step that decided, of another key, or of the standard."""
        step = p.decision
        if isinstance(step, Shaped):
            return operation_rule(step)
        behind = self._behind(step)
        rule = next((told for told in behind if self.matters(told, p)), None)
        if rule and not isinstance(step, Joined):
            return rule
        rule = behind[0]
        if isinstance(step, Operated) and (step.node is None or not rule.lines):
            standard = standard_rule(step)
            if standard.lines:  # of a group, and of an operator, the standard has none
                return standard
        return next((other for other in self._candidates(p) if self.matters(other, p)), rule)

    def replace(self, keys: dict[str, object]) -> System:
        """The system with other values for keys of its file. Raises FormatError."""
        return self.build(self.spec.replaced(keys))

    def rebuild(self) -> tuple[Callable[[Spec], System], tuple[Spec]]:
        """What makes the system again, for pickling."""
        return self.build, (self.spec,)

    def named(self, key: str, entry: str | None = None) -> Rule:
        """The line of a key, or of an entry under it."""
        text = self.spec.text_of_entry(key, entry)
        line = text.line(key, entry)
        return self._rule(text.file, key, (line,) if line else ())

    def _behind(self, step: Step) -> Sequence[Rule]:
        """The lines that a step names."""
        return self._told_by(step.key, step.entry)

    def _find_told_by(self, key: str, entry: str | None) -> Sequence[Rule]:
        """The line of a key or of an entry under it; of an operation, of all entries that speak of it."""
        return self._told(entry) if key == "ops" else [self.named(key, entry)]

    def _told(self, op: str | None) -> list[Rule]:
        """The lines of all entries that speak of an operation, or of a class; no line if none does."""
        text = self.spec.text_of_entry("ops", op)
        lines = text.lines("ops", op)
        return [self._rule(text.file, "ops", (line,)) for line in lines] or [self._rule(text.file, "ops", ())]

    def matters(self, rule: Rule, p: Promotion) -> bool:
        """Whether without the lines of a rule there is no system, or one that answers differently."""
        if not rule.lines:
            return False
        rules = self._rules_without(rule.file, rule.lines)
        return rules is None or outcome(self._again(rules, p)) != outcome(p)

    def _candidates(self, p: Promotion) -> Iterator[Rule]:
        """Rules that may be behind an answer, the likeliest first."""
        names = entries(p.op) if p.op and "ops" in self.spec.texts else ()
        # An operation may have a `fit` of its own, and the file `holds`: of a value both are likelier than
        # the order that has the dtype in it.
        of_value = isinstance(p.decision, Misfit)
        if of_value:
            yield from self._of_value(p.decision, names)
        # What an operand counts as in an operation stands before the join, and says more than the order does.
        counted = (step for step, then in pairwise(p.steps) if not isinstance(then, Operated))
        for step in counted:
            if isinstance(step, Operated):
                yield from self._behind(step)
        order = self.order_lines(p)
        if order:
            yield order
        for step in reversed(p.steps):
            yield from self._behind(step)
        for key in FURTHER:
            if key in self.spec.texts:
                yield from self._told_by(key, None)
        for op in () if of_value else names:
            yield from self._told_by("ops", op)

    def _of_value(self, step: Step, names: Sequence[str]) -> Iterator[Rule]:
        """Rules that may be behind what becomes of a value: of the operation, of the file, or one of each."""
        own = [told for op in names for told in self._told_by("ops", op)]
        holds = self._told_by("holds", None) if "holds" in self.spec.texts else ()
        yield from own
        yield from holds
        for a in own:
            for b in (*self._behind(step), *holds):  # where both say the same, neither decides alone
                if a.lines and b.lines and a.file == b.file:
                    yield self._rule(a.file, a.key, tuple(sorted({*a.lines, *b.lines})))

    def order_lines(self, p: Promotion) -> Rule | None:
        """The smallest set of order lines whose removal changes the answer; one line if possible.

        Of several such lines the one named leaves all nodes of the answer in the order: the relation that it
        states decides, not the mere presence of a dtype. Among those it is the last. A refusal with several
        bounds rests on the ways to all of them, so every such line is named. If no single line changes the
        answer, the lines that it needs together are found by leaving out one after another.
        """
        lines = tuple(self.covers)
        last = self._last_alone(p, lines)
        if last:
            several = p.dtype is None and len(p.bounds) > 1
            named = self._all_alone(p, lines, last) if several else (last,)
            return self._rule(last[0], "order", tuple(n for _, n in named))
        needed = lines
        for line in lines:
            fewer = tuple(other for other in needed if other != line)
            if fewer and self._change(p, fewer):
                needed = fewer
        file = needed[-1][0]
        needed = tuple(line for line in needed if line[0] == file)
        return self._rule(file, "order", tuple(n for _, n in needed)) if self._change(p, needed) else None

    def _last_alone(self, p: Promotion, lines: Lines) -> Line | None:
        """The last line that changes the answer alone, of those that change it most."""
        found = None
        for line in reversed(lines):
            change = self._change(p, (line,))
            if change == RELATION:
                return line
            if change == PRESENCE and found is None:
                found = line
        return found

    def _all_alone(self, p: Promotion, lines: Lines, last: Line) -> Lines:
        """Of the file of the last line, all that change the answer alone, and as much as that does."""
        most = self._change(p, (last,))
        return tuple(line for line in lines if line[0] == last[0] and self._change(p, (line,)) == most)

    def _change(self, p: Promotion, lines: Lines) -> int:
        """What these lines change: NONE, a RELATION between nodes of the answer, or the PRESENCE of one."""
        rules = self._other_order(p.system, lines)
        order = rules.order
        if p.system.combine == "value" and len(order.nodes) < len(p.system.order.nodes):
            return NONE  # without its dtypes a value-based system is none
        try:
            same = outcome(self._again(rules, p)) == outcome(p)
        except OrderError:
            same = False
        if same:
            return NONE
        there = all(n in order for step in p.steps for n in step.nodes if n in p.system.order)
        return RELATION if there else PRESENCE

    def _again(self, rules: Rules, p: Promotion) -> Promotion:
        """The same question under other rules."""
        return ask(rules, p.operands, p.op, p.find_rule)

    def _with_other_order(self, rules: Rules, lines: Lines) -> Rules:
        """Rules whose order lacks some lines."""
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

    def _make_rules(self, file: str, lines: tuple[int, ...]) -> Rules | None:
        """The rules without some lines of one of the files; None where what is left is no system file."""
        try:
            return self.build(self.spec.without(file, lines))
        except FormatError:
            return None

    def _rule(self, file: str, key: str, lines: tuple[int, ...]) -> Rule:
        text = self.spec.text_of(file)
        whole = text.text.split("\n") if text else []
        return Rule(file, key, lines, tuple(whole[n - 1].rstrip("\r") for n in lines if n <= len(whole)))


def _again(build: Callable[[Spec], System], spec: Spec) -> Origin:
    """The provenance of a system that is built again, as unpickling does."""
    return build(spec).origin


def outcome(p: Promotion) -> tuple[object, ...]:
    """What a promotion comes to; of a refusal the reason and the bounds."""
    return p.dtype, p.weak, p.reason, () if p.dtype else tuple(map(str, p.bounds))


def standard_rule(step: Step) -> Rule:
    """The line of the standard's table from which an entry of `ops`, a class or an operation, departs."""
    known = OPERATIONS.get(step.entry or "")
    of_class = known.of_class if known else step.entry
    return _row(TABLE, of_class)


def operation_rule(step: Step) -> Rule:
    """The line of the table of operations that says how many dimensions an operand has at least."""
    return _row(facts.TABLE, step.entry)


@cache
def _row(path: str, name: str | None) -> Rule:
    """The row of a table of ours that begins with a name."""
    with open(path, encoding="ascii") as table:
        rows = [row.rstrip("\n") for row in table]
    lines = tuple(n for n, row in enumerate(rows, 1) if row.partition(" ")[0] == name)
    return Rule(path.rpartition("/")[2], "ops", lines, tuple(rows[n - 1] for n in lines))
