"""The smallest sets of arrows to add or remove that leave no pair with several lowest bounds."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from typelattice.designer.clingo_solver import Atom, Progress, solve
from typelattice.designer.completion import ConflictError, Pair, core
from typelattice.designer.demands import DEMANDS, Demand, members, tally
from typelattice.designer.plan import RULES, plan
from typelattice.designer.problem import (
    above,
    bits,
    check_constraints,
    check_nodes,
    is_accepted,
    is_allowed,
    mask,
)
from typelattice.engine.system import System
from typelattice.facts.display_hooks import Viewed
from typelattice.facts.dtypes import Node
from typelattice.files.reader import parse
from typelattice.files.reader import system as find_system
from typelattice.files.writer import code, reduce_order, system_file

KEPT = tuple(word for word in RULES if word != "lattice")  # without `single`, the rule that a repair restores


@dataclass(frozen=True, slots=True)
class Repair(Viewed):
    """A repair: the arrows to add and to remove, the repaired system and its file, and the changed pairs."""

    add: tuple[Pair, ...]
    drop: tuple[Pair, ...]
    system: System
    text: str
    counts: Mapping[str, int]
    # a pair, its result before, its result now
    changed: tuple[tuple[Node, Node, Node | None, Node | None], ...]

    def __str__(self) -> str:
        dropped = [f"drop {code(a)} -> {code(b)}" for a, b in self.drop]
        added = [f"add {code(a)} -> {code(b)}" for a, b in self.add]
        return ", ".join([*dropped, *added]) or "nothing to repair"

    def data(self) -> dict[str, object]:
        """Return the repair as JSON data."""
        return {
            "add": [[code(a), code(b)] for a, b in self.add],
            "drop": [[code(a), code(b)] for a, b in self.drop],
            "counts": dict(self.counts),
            "changed": [
                {"operands": [code(a), code(b)], "before": was and code(was), "after": now and code(now)}
                for a, b, was, now in self.changed
            ],
            "file": self.text,
        }


@dataclass(frozen=True, slots=True)
class Repairs(Viewed):
    """The smallest repairs, by the answers they change. `proven`: none is smaller; `complete`: these are
    all."""

    broken: System
    repairs: tuple[Repair, ...]
    proven: bool
    complete: bool

    def __iter__(self) -> Iterator[Repair]:
        return iter(self.repairs)

    def data(self) -> dict[str, object]:
        """Return the repairs as JSON data."""
        return {
            "system": self.broken.name,
            "proven": self.proven,
            "complete": self.complete,
            "repairs": [repair.data() for repair in self.repairs],
        }

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
    """Return the smallest repairs of a system's order; an order without faults has the empty repair.

    The search includes every set of arrows to remove and to add, with reversals. Pairs with a bound keep one.
    Pairs without a bound may stay so, unless `every` pair must have a join. Each added relation, and each
    result at a node that was not above both operands before, must keep the rules. Raises ConflictError if no
    repair keeps the rules, TimeoutError if none was found in `seconds`, BeyondReachError, PlanError,
    MissingSolverError.

    >>> from typelattice.designer import repairs
    >>> for repair in repairs("numpy"):
    ...     print(repair, len(repair.changed))
    add i32 -> f16 5
    add i64 -> f16 11
    """
    broken = find_system(order)
    chosen = plan(["lattice", *rules] if every else rules, (), dtypes=broken.own_dtypes)
    answer = solve(("repair", "lattice"), _facts(broken, chosen.rules), max(1, limit), seconds, progress)
    if not answer.found:
        if not answer.all:
            raise TimeoutError(f"no repair of {broken.name} was found in {seconds:g} seconds; give it more")

        def possible(parts: Sequence[Demand]) -> bool:
            return bool(solve(("repair", "lattice"), _facts(broken, parts), 1).found)

        rules_kept = [d for d in chosen.rules if not d.several]
        raise ConflictError(broken, [d.name for d in core(rules_kept, possible)], "repairs")
    found = [_repair(broken, atoms) for atoms in answer.found]
    found.sort(key=lambda r: (len(r.changed), str(r)))
    return Repairs(broken, tuple(found), answer.proven, answer.all)


def _facts(broken: System, rules: Sequence[Demand]) -> Iterator[str]:
    """Yield the order and the allowed changes, in the words of repair.lp and lattice.lp.

    Raises BeyondReachError.
    """
    nodes = members(broken)
    n = len(nodes)
    check_nodes(broken.name, n)
    given = above(broken, nodes)
    can = [given[i] | mask(j for j in range(n) if is_allowed(rules, nodes[i], nodes[j])) for i in range(n)]
    check_constraints(broken.name, can)
    index = {m.node: i for i, m in enumerate(nodes)}
    adds = not any(d.uncovered for d in rules)
    for i, m in enumerate(nodes):
        yield f"node({i})."
        covers = {index[b] for b in broken.order.covers(m.node)}
        yield from (f"cover({i},{j})." for j in covers)
        yield from (f"may({i},{j})." for j in bits(can[i]) if adds and j != i and j not in covers)
        yield from (f"never({i},{j})." for j in range(n) if not can[i] >> j & 1)
    every = any(d.unjoined for d in rules)
    for x, y in combinations(range(n), 2):
        before = given[x] & given[y]
        yield f"pair({x},{y})."
        for z in bits(can[x] & can[y]):
            if before >> z & 1 or is_accepted(rules, nodes[x], nodes[y], nodes[z]):
                yield f"bound({x},{y},{z})."
        if every or before:
            yield f"must_join({x},{y})."


def _repair(broken: System, atoms: frozenset[Atom]) -> Repair:
    """Build the repair of an answer of the solver."""
    of = {m.node: m for m in members(broken)}
    nodes, before = list(of), broken.order
    pairs = {
        what: [(nodes[i], nodes[j]) for name, i, j in sorted(atoms) if name == what]
        for what in ("add", "drop")
    }
    kept = [(a, b) for a in nodes for b in before.covers(a) if (a, b) not in pairs["drop"]]
    order = reduce_order(nodes, _closure(nodes, [*kept, *pairs["add"]]))
    results = ((a, b, join_or_tie(broken, a, b), order.join(a, b)) for a, b in combinations(nodes, 2))
    changed = tuple(result for result in results if result[2] is not result[3])
    title = f"{broken.title[:120] or broken.name}, repaired"
    text = system_file(broken, order, f"{broken.name[:40]}-repaired", title)
    counts = tally(tuple(DEMANDS.values()), order, before, of)
    return Repair(
        tuple(pairs["add"]), tuple(pairs["drop"]), parse(text, "repaired.toml"), text, counts, changed
    )


def join_or_tie(system: System, a: Node, b: Node) -> Node | None:
    """Return the join of two nodes, or the node that a tie names, or None."""
    return system.order.join(a, b) or system.ties.get(frozenset(system.order.minimal_bounds(a, b)))


def _closure(nodes: Sequence[Node], edges: Sequence[Pair]) -> Iterator[Pair]:
    """Return all relations that follow from edges; some edges may follow from others."""
    above: dict[Node, set[Node]] = {a: {b for x, b in edges if x is a} for a in nodes}
    for via in nodes:
        for a in nodes:
            if via in above[a]:
                above[a] |= above[via]
    return ((a, b) for a in nodes for b in nodes if b in above[a])
