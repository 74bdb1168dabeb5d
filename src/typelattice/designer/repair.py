"""The smallest sets of covers to add or drop that leave no pair of an order with several lowest bounds."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from typelattice.designer.completion import Conflict, Pair, core
from typelattice.designer.demands import WORDS, Demand, tally
from typelattice.designer.plan import RULES, Plan, plan
from typelattice.designer.problem import Problem, bits, problem
from typelattice.designer.solver import Atom, Progress, solve
from typelattice.engine.system import System
from typelattice.facts.dtypes import Node
from typelattice.files.reader import parse
from typelattice.files.reader import system as find_system
from typelattice.files.writer import code, reduced, system_file

KEPT = tuple(word for word in RULES if word != "lattice")


@dataclass(frozen=True, slots=True)
class Repair:
    """Covers to add and to drop; the repaired system, its file and what it falls short of, and the pairs it answers anew."""

    add: tuple[Pair, ...]
    drop: tuple[Pair, ...]
    system: System
    text: str
    counts: Mapping[str, int]
    changed: tuple[tuple[Node, Node, Node | None, Node | None], ...]  # the pair, its result before, its result now

    def __str__(self) -> str:
        steps = [*(f"drop {code(a)} -> {code(b)}" for a, b in self.drop), *(f"add {code(a)} -> {code(b)}" for a, b in self.add)]
        return ", ".join(steps) or "nothing to repair"


@dataclass(frozen=True, slots=True)
class Repairs:
    """The smallest repairs, by the answers they change. `proven`: none is smaller; `complete`: these are all."""

    broken: System
    repairs: tuple[Repair, ...]
    proven: bool
    complete: bool

    def __iter__(self) -> Iterator[Repair]:
        return iter(self.repairs)

    def __len__(self) -> int:
        return len(self.repairs)

    def __getitem__(self, i: int) -> Repair:
        return self.repairs[i]


def repairs(
    order: str | Path | System,
    limit: int = 10,
    every: bool = False,
    rules: Sequence[str] = KEPT,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Repairs:
    """The smallest repairs of the order of a system; of one that needs none, the empty repair.

    Pairs with a bound keep one, pairs without may stay so, unless `every` pair is to have a join. The rules are kept by
    what is added. Raises Conflict, BeyondReach, PlanError, MissingSolver.

    >>> from typelattice.designer import repairs
    >>> for repair in repairs("numpy"):
    ...     print(repair, len(repair.changed))
    add i32 -> f16 5
    add i64 -> f16 11
    """
    broken = find_system(order)
    chosen = plan(["lattice", *rules] if every else rules, (), dtypes=broken.own_dtypes)
    stated = problem(broken, chosen)
    answer = solve(("repair", "lattice"), _facts(broken, stated, every), max(1, limit), seconds, progress)
    if not answer.found:
        if not answer.all:
            raise TimeoutError(f"no repair of {broken.name} was found in {seconds:g} seconds; give it more")


        def possible(parts: Sequence[Demand]) -> bool:
            whole = any(d.unjoined for d in parts)
            return bool(solve(("repair", "lattice"), _facts(broken, problem(broken, Plan(tuple(parts), ())), whole), 1).found)

        raise Conflict(broken, [d.name for d in core(chosen.rules, possible)])
    found = [_repair(broken, stated, atoms) for atoms in answer.found]
    found.sort(key=lambda r: (len(r.changed), str(r)))
    return Repairs(broken, tuple(found), answer.proven, answer.all)


def _facts(broken: System, stated: Problem, every: bool) -> Iterator[str]:
    nodes = [m.node for m in stated.members]
    can = [g | m for g, m in zip(stated.given, stated.may, strict=True)]
    for i, a in enumerate(nodes):
        yield f"node({i})."
        covers = {nodes.index(b) for b in broken.order.covers(a)}
        yield from (f"cover({i},{j})." for j in covers)
        yield from (f"may({i},{j})." for j in bits(can[i]) if j != i and j not in covers)
    for x, y in combinations(range(len(nodes)), 2):
        yield f"pair({x},{y})."
        yield from (f"bound({x},{y},{z})." for z in bits(can[x] & can[y]))
        if every or stated.given[x] & stated.given[y]:
            yield f"must_join({x},{y})."


def _repair(broken: System, stated: Problem, atoms: frozenset[Atom]) -> Repair:
    of = {m.node: m for m in stated.members}
    nodes, before = list(of), broken.order
    add, drop = (tuple((nodes[i], nodes[j]) for name, i, j in sorted(atoms) if name == what) for what in ("add", "drop"))
    edges = [(a, b) for a in nodes for b in before.covers(a) if (a, b) not in drop]
    order = reduced(nodes, _closure(nodes, [*edges, *add]))
    results = ((a, b, met(broken, a, b), order.join(a, b)) for a, b in combinations(nodes, 2))
    changed = tuple(result for result in results if result[2] is not result[3])
    text = system_file(broken, order, f"{broken.name[:40]}-repaired", f"{broken.title[:120] or broken.name}, repaired")
    return Repair(add, drop, parse(text, "repaired.toml"), text, tally(tuple(WORDS.values()), order, before, of), changed)


def met(system: System, a: Node, b: Node) -> Node | None:
    """Where two nodes meet: at the join, or where a tie says."""
    return system.order.join(a, b) or system.ties.get(frozenset(system.order.minimal_bounds(a, b)))


def _closure(nodes: Sequence[Node], edges: Sequence[Pair]) -> Iterator[Pair]:
    """All relations that edges come to, some of which may follow from others."""
    above: dict[Node, set[Node]] = {a: {b for x, b in edges if x is a} for a in nodes}
    for via in nodes:
        for a in nodes:
            if via in above[a]:
                above[a] |= above[via]
    return ((a, b) for a in nodes for b in nodes if b in above[a])
