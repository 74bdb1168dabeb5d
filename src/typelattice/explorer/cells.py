"""One answer as numbers: each says where in a pool a part of the answer stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from typelattice.engine.answer import Promotion
from typelattice.engine.steps import Step
from typelattice.explain.english import answer, sections
from typelattice.explain.evidence import evidence, given
from typelattice.explain.operation_words import operation_words
from typelattice.explorer.pool import Plain, Pool
from typelattice.operands.operand import Operand, Tier, of
from typelattice.recorded.observed import observed
from typelattice.study.labels import code, label, marks
from typelattice.study.scope import TIERS
from typelattice.study.tables import SHOWN_FROM


@dataclass(frozen=True, slots=True)
class Pools:
    """All that cells are made of.

    - operands: the string, the code, the kind, the tier, whether it is weak, whether its dtype is
      a small one.
    - answers: the code, the words, the kind (or refused), whether it is weak, whether a cast loses something,
      and the operand that the result is in a further step; -1 for a refusal.
    - trails: the sections of an explanation, but for what the operation does, by their numbers.
    - sections: a heading and lines.
    - rules: where the rule stands, then the lines as `number: text`.
    - evidence: whether the library departs from its rule, its answer, and the lines that say so.
    - ways: the nodes of the order that met, the node that they came to, and the bounds that lost.
    - columns: one part of all cells of a table, row by row.
    """

    operands: Pool = field(default_factory=Pool)
    answers: Pool = field(default_factory=Pool)
    trails: Pool = field(default_factory=Pool)
    sections: Pool = field(default_factory=Pool)
    rules: Pool = field(default_factory=Pool)
    evidence: Pool = field(default_factory=Pool)
    ways: Pool = field(default_factory=Pool)
    columns: Pool = field(default_factory=Pool)

    def operand(self, o: Operand) -> int:
        """The number of an operand."""
        shown = label(o, "bits")
        return self.operands.number((str(o), shown.text, o.kind.value, o.tier, o.weak, is_small(o)))

    def data(self) -> dict[str, object]:
        """What the pools hold, by their names."""
        return {name: getattr(self, name).values for name in self.__slots__}


def is_small(o: Operand) -> bool:
    """Whether an operand's dtype is one that tables show on demand only."""
    return o.dtype is not None and o.dtype.bits is not None and o.dtype.bits < SHOWN_FROM.get(o.dtype.kind, 0)


# The parts of a cell, each a column of its own.
PARTS: dict[str, Callable[[Pools, Promotion], int]] = {
    "answer": lambda pools, p: pools.answers.number(_answer(pools, p)),
    "trail": lambda pools, p: pools.trails.number(_trail(pools, p)),
    "operation": lambda pools, p: _operation(pools, p),
    "evidence": lambda pools, p: pools.evidence.number(_evidence(p)),
    "way": lambda pools, p: pools.ways.number(_way(p)),
}


def rule(pools: Pools, p: Promotion) -> int:
    """The lines of the file behind an answer, by number."""
    found = p.rule
    quoted = (f"{n}: {line}" for n, line in zip(found.lines, found.quoted, strict=False))
    return pools.rules.number((str(found), *quoted))


def _answer(pools: Pools, p: Promotion) -> Plain:
    stands_out = marks(p)
    result = -1 if p.dtype is None else pools.operand(of(p.dtype, p.weak, _tier(p)))
    return code(p), answer(p), stands_out[0], p.weak, "lossy" in stands_out, result


def _tier(p: Promotion) -> Tier:
    """The tier of a result: the highest of the operands; of Python scalars alone, `0d`."""
    tiers = {o.tier for o in p.promoting}
    return next(tier for tier in TIERS if tier in tiers or tier == TIERS[-2])


def _trail(pools: Pools, p: Promotion) -> Plain:
    return tuple(
        pools.sections.number((heading, *lines)) for heading, lines in sections(p) if heading != "operation"
    )


def _operation(pools: Pools, p: Promotion) -> int:
    return pools.sections.number(("operation", *operation_words(p))) if p.op else -1


def _evidence(p: Promotion) -> Plain:
    o = observed(p)
    departs = o is not None and o.departs
    return departs, given(o) if o else "", *evidence(p)


def _way(p: Promotion) -> Plain:
    """The nodes that met in the order, the node they came to, and the minimal bounds that lost."""
    step = _meeting(p)
    nodes = [n for n in dict.fromkeys(step.nodes) if n in p.system.order]
    lowest = p.system.order.minimal_bounds(*nodes) if nodes else ()
    to = step.node if step.node in p.system.order else None
    lost = tuple(str(n) for n in lowest if n is not to) if len(nodes) > 1 else ()
    return tuple(map(str, nodes)), str(to) if to else None, lost


def _meeting(p: Promotion) -> Step:
    """The step in which nodes met: the last that had several, or else the first of all."""
    return next((s for s in reversed(p.steps) if len(set(s.nodes)) > 1), p.steps[0])
