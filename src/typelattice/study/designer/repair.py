"""The smallest sets of arrows to add or remove that leave no pair with several lowest bounds."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.core.dtypes.dtypes import Node
from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.writer import node_code, reduce_order, write_system_file
from typelattice.study.designer.clingo_solver import Atom, SearchReporter, solve
from typelattice.study.designer.completion import ConflictError, NodePair, smallest_conflict
from typelattice.study.designer.plan_file import DEFAULT_RULES, read_plan
from typelattice.study.designer.solver_facts import (
    check_constraints,
    check_nodes,
    is_allowed_join,
    is_allowed_relation,
    list_bits,
    make_mask,
    masks_above,
)
from typelattice.study.designer.standard_demands import DEMANDS, Demand, count_violations, list_node_facts

# All rules but the one that a repair restores.
KEPT_RULES = tuple(word for word in DEFAULT_RULES if word != "lattice")


@dataclass(frozen=True, slots=True)
class Repair(NotebookDisplay):
    """A repair: the arrows to add and to remove, the repaired system and its file, and the changed pairs."""

    added_covers: tuple[NodePair, ...]
    dropped_covers: tuple[NodePair, ...]
    system: System
    text: str
    counts: Mapping[str, int]
    # a pair, its result before, its result now
    changed_pairs: tuple[tuple[Node, Node, Node | None, Node | None], ...]

    def __str__(self) -> str:
        dropped = [f"drop {node_code(a)} -> {node_code(b)}" for a, b in self.dropped_covers]
        added = [f"add {node_code(a)} -> {node_code(b)}" for a, b in self.added_covers]
        return ", ".join([*dropped, *added]) or "nothing to repair"

    def data(self) -> dict[str, object]:
        """Return the repair as JSON data."""
        return {
            "add": [[node_code(a), node_code(b)] for a, b in self.added_covers],
            "drop": [[node_code(a), node_code(b)] for a, b in self.dropped_covers],
            "counts": dict(self.counts),
            "changed": [
                {
                    "operands": [node_code(a), node_code(b)],
                    "before": was and node_code(was),
                    "after": now and node_code(now),
                }
                for a, b, was, now in self.changed_pairs
            ],
            "file": self.text,
        }


@dataclass(frozen=True, slots=True)
class Repairs(NotebookDisplay):
    """The smallest repairs, by the answers they change.

    `is_proven`: none is smaller; `is_complete`: these are all.
    """

    system: System
    repairs: tuple[Repair, ...]
    is_proven: bool
    is_complete: bool

    def __iter__(self) -> Iterator[Repair]:
        return iter(self.repairs)

    def data(self) -> dict[str, object]:
        """Return the repairs as JSON data."""
        return {
            "system": self.system.name,
            "proven": self.is_proven,
            "complete": self.is_complete,
            "repairs": [repair.data() for repair in self.repairs],
        }

    def __len__(self) -> int:
        return len(self.repairs)

    def __getitem__(self, i: int) -> Repair:
        return self.repairs[i]


def find_repairs(
    order: str | Path | System,
    limit: int = 10,
    every: bool = False,
    rules: Sequence[str] = KEPT_RULES,
    seconds: float | None = None,
    progress: SearchReporter | None = None,
) -> Repairs:
    """Return the smallest repairs of a system's order; an order without faults has the empty repair.

    The search includes every set of arrows to remove and to add, with reversals. Pairs with a bound keep one.
    Pairs without a bound may stay so, unless `every` pair must have a join. Each added relation, and each
    result at a node that was not above both operands before, must keep the rules. Raises ConflictError if no
    repair keeps the rules, TimeoutError if none was found in `seconds`, BeyondReachError, PlanError,
    MissingSolverError.

    >>> from typelattice.study.designer import find_repairs
    >>> for repair in find_repairs("numpy"):
    ...     print(repair, len(repair.changed_pairs))
    add i32 -> f16 5
    add i64 -> f16 11
    """
    broken = find_system(order)
    chosen = read_plan(["lattice", *rules] if every else rules, (), dtypes=broken.custom_dtypes)
    answer = solve(("repair", "lattice"), _list_facts(broken, chosen.rules), max(1, limit), seconds, progress)
    if not answer.models:
        if not answer.is_complete:
            raise TimeoutError(f"no repair of {broken.name} was found in {seconds:g} seconds; give it more")

        def possible(parts: Sequence[Demand]) -> bool:
            return bool(solve(("repair", "lattice"), _list_facts(broken, parts), 1).models)

        rules_kept = [d for d in chosen.rules if not d.counts_unsettled]
        raise ConflictError(broken, [d.name for d in smallest_conflict(rules_kept, possible)], "repairs")
    found = [_make_repair(broken, atoms) for atoms in answer.models]
    found.sort(key=lambda r: (len(r.changed_pairs), str(r)))
    return Repairs(broken, tuple(found), answer.is_proven, answer.is_complete)


def _list_facts(system: System, rules: Sequence[Demand]) -> Iterator[str]:
    """Yield the order and the allowed changes, in the words of repair.lp and lattice.lp.

    Raises BeyondReachError.
    """
    nodes = list_node_facts(system)
    n = len(nodes)
    check_nodes(system.name, n)
    above_now = masks_above(system, nodes)
    allowed_above = [
        above_now[i] | make_mask(j for j in range(n) if is_allowed_relation(rules, nodes[i], nodes[j]))
        for i in range(n)
    ]
    check_constraints(system.name, allowed_above)
    index = {m.node: i for i, m in enumerate(nodes)}
    adds = not any(d.counts_covers for d in rules)
    for i, m in enumerate(nodes):
        yield f"node({i})."
        covers = {index[b] for b in system.order.covers(m.node)}
        yield from (f"cover({i},{j})." for j in covers)
        yield from (
            f"may({i},{j})." for j in list_bits(allowed_above[i]) if adds and j != i and j not in covers
        )
        yield from (f"never({i},{j})." for j in range(n) if not allowed_above[i] >> j & 1)
    every = any(d.counts_unjoined for d in rules)
    for x, y in combinations(range(n), 2):
        before = above_now[x] & above_now[y]
        yield f"pair({x},{y})."
        for z in list_bits(allowed_above[x] & allowed_above[y]):
            if before >> z & 1 or is_allowed_join(rules, nodes[x], nodes[y], nodes[z]):
                yield f"bound({x},{y},{z})."
        if every or before:
            yield f"must_join({x},{y})."


def _make_repair(system: System, atoms: frozenset[Atom]) -> Repair:
    """Build the repair of an answer of the solver."""
    facts_of_node = {m.node: m for m in list_node_facts(system)}
    nodes, before = list(facts_of_node), system.order
    pairs = {
        what: [(nodes[i], nodes[j]) for name, i, j in sorted(atoms) if name == what]
        for what in ("add", "drop")
    }
    kept = [(a, b) for a in nodes for b in before.covers(a) if (a, b) not in pairs["drop"]]
    order = reduce_order(nodes, _list_closure(nodes, [*kept, *pairs["add"]]))
    results = ((a, b, join_or_tie(system, a, b), order.join(a, b)) for a, b in combinations(nodes, 2))
    changed = tuple(result for result in results if result[2] is not result[3])
    title = f"{system.title[:120] or system.name}, repaired"
    text = write_system_file(system, order, f"{system.name[:40]}-repaired", title)
    counts = count_violations(tuple(DEMANDS.values()), order, before, facts_of_node)
    return Repair(
        tuple(pairs["add"]), tuple(pairs["drop"]), parse(text, "repaired.toml"), text, counts, changed
    )


def join_or_tie(system: System, a: Node, b: Node) -> Node | None:
    """Return the join of two nodes, or the node that a tie names, or None."""
    return system.order.join(a, b) or system.ties.get(frozenset(system.order.minimal_bounds(a, b)))


def _list_closure(nodes: Sequence[Node], edges: Sequence[NodePair]) -> Iterator[NodePair]:
    """Return all relations that follow from edges; some edges may follow from others."""
    above: dict[Node, set[Node]] = {a: {b for x, b in edges if x is a} for a in nodes}
    for via in nodes:
        for a in nodes:
            if via in above[a]:
                above[a] |= above[via]
    return ((a, b) for a in nodes for b in nodes if b in above[a])
