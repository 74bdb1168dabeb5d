"""Where a system file says what decided an answer: the lines without which it would be another."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from typelattice.dtypes import Node
from typelattice.ops import CLASS, TABLE
from typelattice.order import Order, OrderError
from typelattice.promotion import Promotion, Rule, Step
from typelattice.source import FormatError, Line, Spec

if TYPE_CHECKING:
    from typelattice.system import System

FURTHER = ("defaults", "weak", "tiers", "combine", "order")  # what an answer may rest on though no step says so
Covers = Mapping[Line, Sequence[tuple[Node, Node | None]]]  # what each line of an order states; None: a node alone


def where(spec: Spec, covers: Covers, build: Callable[[Spec], System], p: Promotion) -> Rule:
    """The lines behind an answer: of the step that decided it, or of another key, or of the standard operations."""
    said = answer(p)

    def matters(rule: Rule) -> bool:
        try:
            return bool(rule.lines) and answer(build(spec.without(rule.file, rule.lines)).explain(*p.operands, op=p.op)) != said
        except FormatError:
            return True

    steps = [p.decision, *reversed(p.steps)]
    named = [_named(spec, step) for step in steps] + [_named(spec, Step(key, None, (), None)) for key in FURTHER if key in spec.texts]
    first = [named[0]] if p.decision.key != "order" and matters(named[0]) else []
    for rule in first or filter(None, [_stated(covers, p), *(rule for rule in named[1:] if matters(rule))]):
        return rule
    return _standard(p.decision) if p.decision.key == "ops" else named[0]


def answer(p: Promotion) -> tuple[object, ...]:
    """What a promotion comes to."""
    return p.dtype, p.weak, p.reason, p.bounds if p.dtype is None else ()


def _named(spec: Spec, step: Step) -> Rule:
    """The line of a step's entry."""
    text = spec.texts.get(step.key, spec.main)
    line = text.line(step.key, step.entry)
    return Rule(text.file, step.key, (line,) if line else ())


def _standard(step: Step) -> Rule:
    """The line of the standard's operations that an entry of `ops` departs from."""
    lines = TABLE.read_text(encoding="ascii").splitlines()
    words = {step.entry, CLASS.get(step.entry or "")}
    return Rule(TABLE.name, "ops", tuple(n for n, line in enumerate(lines, 1) if line.partition(" ")[0] in words))


def _stated(covers: Covers, p: Promotion) -> Rule | None:
    """The lines of the order behind an answer: the last that alone changes it and leaves its nodes, else as few as can be."""
    said, nodes = answer(p), [n for step in p.steps for n in step.nodes if n in p.system.order]

    def changed(lines: Sequence[Line]) -> int:
        """2 if the answer is another without these lines, 1 if a node of it is gone, else 0."""
        left: dict[Node, list[Node]] = {}
        for line, stated in covers.items():
            for a, b in stated if line not in lines else ():
                left.setdefault(a, []).extend([b] if b else [])
        system = replace(p.system, order=Order(left), _pairs={})
        try:
            differs = answer(system.explain(*p.operands, op=p.op)) != said
        except OrderError:
            differs = True
        return 0 if not differs else 2 if all(n in system.order for n in nodes) else 1

    lines = list(covers)
    best, n = max((changed([line]), n) for n, line in enumerate(lines))
    if best:
        return Rule(lines[n][0], "order", (lines[n][1],))
    for line in list(lines):
        fewer = [x for x in lines if x != line]
        if fewer and changed(fewer):
            lines = fewer
    file = lines[-1][0]
    lines = [line for line in lines if line[0] == file]
    return Rule(file, "order", tuple(n for _, n in lines)) if changed(lines) else None
