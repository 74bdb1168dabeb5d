"""Where a system file says what decided an answer: the lines without which it would be another."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion, Rule, Step
from typelattice.engine.operations import TABLE
from typelattice.facts.dtypes import Node
from typelattice.facts.operations import OPERATIONS, operation
from typelattice.facts.order import Order, OrderError
from typelattice.files.spec import Spec
from typelattice.files.text import FormatError, Line

if TYPE_CHECKING:
    from typelattice.engine.system import System

Covers = Mapping[Line, Sequence[tuple[Node, Node | None]]]  # what each line of an order states; None: a node alone
Lines = tuple[Line, ...]
FURTHER = ("defaults", "weak", "tiers", "combine", "order")  # what an answer may rest on though no step says so


class Where:
    """The lines of a system's files, and the systems that are left without some of them."""

    def __init__(self, spec: Spec, covers: Covers, build: Callable[[Spec], System]) -> None:
        self.spec, self.covers, self.build = spec, covers, build
        self.order, self.system = cache(self._order), cache(self._system)

    def __call__(self, p: Promotion) -> Rule:
        """The lines behind an answer: of the step that decided it, or of another key, or of the standard operations."""
        step = p.decision
        rule = self.named(step)
        if step.key != "order" and self.matters(rule, p):
            return rule
        if step.key == "ops" and (step.node is None or not rule.lines):
            return _standard(step)
        entries = [(key, None) for key in FURTHER] + [("ops", op) for op in ((p.op, operation(p.op).of_class) if p.op else ())]
        others = [*reversed(p.steps), *(Step(key, entry, (), None) for key, entry in entries if key in self.spec.texts)]
        candidates = dict.fromkeys(filter(None, [self.stated(p), *map(self.named, others)]))
        return next((other for other in candidates if self.matters(other, p)), rule)

    def named(self, step: Step) -> Rule:
        """The line of a step's entry."""
        text = self.spec.texts.get(step.key, self.spec.main)
        line = text.line(step.key, step.entry)
        return Rule(text.file, step.key, (line,) if line else ())

    def matters(self, rule: Rule, p: Promotion) -> bool:
        """Whether without the lines of a rule there is no system, or one that answers differently."""
        system = self.system(rule.file, rule.lines)
        return bool(rule.lines) and (system is None or answer(system.explain(*p.operands, op=p.op)) != answer(p))

    def stated(self, p: Promotion) -> Rule | None:
        """Lines of the order: the last that alone changes an answer and leaves its nodes, else as few as can be."""
        lines = tuple(self.covers)
        best, n = max((self.changed((line,), p), n) for n, line in enumerate(lines))
        if best:
            return Rule(lines[n][0], "order", (lines[n][1],))
        for line in lines:
            fewer = tuple(x for x in lines if x != line)
            if fewer and self.changed(fewer, p):
                lines = fewer
        file = lines[-1][0]
        lines = tuple(line for line in lines if line[0] == file)
        return Rule(file, "order", tuple(n for _, n in lines)) if self.changed(lines, p) else None

    def changed(self, lines: Lines, p: Promotion) -> int:
        """2 if an answer is another without these lines of the order, 1 if a node of it is gone, else 0."""
        order = self.order(lines)
        if p.system.combine == "value" and len(order.nodes) < len(p.system.order.nodes):
            return 0  # no system: values need their dtypes
        try:
            same = answer(replace(p.system, order=order, _pairs={}).explain(*p.operands, op=p.op)) == answer(p)
        except OrderError:
            same = False
        there = all(n in order for step in p.steps for n in step.nodes if n in p.system.order)
        return 0 if same else 2 if there else 1

    def _order(self, lines: Lines) -> Order[Node]:
        left: dict[Node, list[Node]] = {}
        for line, stated in self.covers.items():
            for a, b in stated if line not in lines else ():
                left.setdefault(a, []).extend([b] if b else [])
        return Order(left)

    def _system(self, file: str, lines: tuple[int, ...]) -> System | None:
        try:
            return self.build(self.spec.without(file, lines))
        except FormatError:
            return None


def answer(p: Promotion) -> tuple[object, ...]:
    """What a promotion comes to."""
    return p.dtype, p.weak, p.reason, () if p.dtype else tuple(map(str, p.bounds))


def _standard(step: Step) -> Rule:
    """The line of the standard's table from which an entry of `ops`, a class or an operation, departs."""
    known = OPERATIONS.get(step.entry or "")
    of_class = known.of_class if known else step.entry
    with open(TABLE, encoding="ascii") as rows:
        lines = tuple(n for n, row in enumerate(rows, 1) if row.partition(" ")[0] == of_class)
    return Rule("standard.txt", "ops", lines)
