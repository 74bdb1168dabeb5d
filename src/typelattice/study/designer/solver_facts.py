"""A partial order and a plan as facts for the solver.

They say what may be added, where each pair may be joined, and what counts.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from typelattice.core.engine.system import System
from typelattice.study.designer.plan_file import Plan
from typelattice.study.designer.standard_demands import Demand, NodeFacts, list_node_facts
from typelattice.study.tables.study_scope import BeyondReachError

MAX_CONSTRAINTS = 3_000_000  # more constraints take more than a minute to write
MAX_NODES = 200  # writing the possible relations of more nodes takes as long


@dataclass(frozen=True, slots=True)
class Problem:
    """Nodes by number, and bit masks of them.

    Above node i lie those of `above_now[i]`. Those of `addable[i]` can be put there, alone or with others.
    """

    nodes: tuple[NodeFacts, ...]
    above_now: tuple[int, ...]
    addable: tuple[int, ...]
    plan: Plan
    # possible joins of a pair of unrelated nodes
    bounds: Mapping[tuple[int, int], int] = field(default_factory=dict)
    ties: Sequence[Sequence[int]] = ()  # the lowest bounds that a tie of the system settles

    @property
    def addable_count(self) -> int:
        """Count the relations that may be added."""
        return sum(mask.bit_count() for mask in self.addable)

    def list_facts(self) -> Iterator[str]:
        """Yield the problem in the words of complete.lp."""
        for i, mask in enumerate(self.above_now):
            yield from (f"given({i},{j})." for j in list_bits(mask))
        for i, mask in enumerate(self.addable):
            yield from (f"may({i},{j})." for j in list_bits(mask))
        for (a, b), mask in self.bounds.items():
            yield f"pair({a},{b})."
            yield from (f"bound({a},{b},{c})." for c in list_bits(mask))
        for number, tie in enumerate(self.ties):
            yield from (f"tie({number},{m})." for m in tie)

    def demand_facts(self, number: int, demand: Demand, is_rule: bool = False) -> Iterator[str]:
        """Yield the solver's facts for counting a demand.

        For a rule, these are only the cases that `addable` and `bounds` have not ruled out already.
        """
        m = self.nodes
        if demand.breaks_result and not is_rule:
            for (a, b), mask in self.bounds.items():
                yield from (
                    f"result({number},{a},{b},{c})."
                    for c in list_bits(mask)
                    if demand.breaks_result(m[a], m[b], m[c])
                )
        if demand.breaks_relation and not is_rule:
            yield from (
                f"relation({number},{a},{b})."
                for a, b in self.list_addable()
                if demand.breaks_relation(m[a], m[b])
            )
        index = {x.node: i for i, x in enumerate(m)}
        yield from (
            f"wanted({number},{index[a]},{index[b]})."
            for a, b in demand.required_relations
            if a in index and b in index
        )
        if demand.counts_unjoined:
            yield f"unjoined({number})."
        if demand.counts_unsettled:
            yield f"single({number})."
        if demand.counts_covers:
            yield f"uncovered({number})."

    def count_violations_of_given_order(self, demand: Demand) -> int:
        """Count how often the given order violates a demand, over the pairs that it relates."""
        m, related = (
            self.nodes,
            ((i, j) for i, mask in enumerate(self.above_now) for j in list_bits(mask) if i != j),
        )
        return sum(demand.breaks_result(m[i], m[j], m[j]) for i, j in related) if demand.breaks_result else 0

    def list_addable(self) -> Iterator[tuple[int, int]]:
        """Yield all relations that may be added."""
        return ((i, j) for i, mask in enumerate(self.addable) for j in list_bits(mask))


def build_problem(system: System, plan: Plan) -> Problem:
    """Build the problem of completing a system's order. Raises BeyondReachError.

    A rule applies only to additions: to an added relation, and to a result at a node that was not above both
    operands before.
    """
    nodes = list_node_facts(system)
    n = len(nodes)
    check_nodes(system.name, n)
    above_now = masks_above(system, nodes)
    below = tuple(make_mask(i for i in range(n) if above_now[i] >> j & 1) for j in range(n))
    fixed = [
        make_mask(
            j for j in range(n) if any({nodes[i].node, nodes[j].node} <= region for region in plan.regions)
        )
        for i in range(n)
    ]
    allowed_above = [
        above_now[i]
        | make_mask(
            j for j in range(n)
            if not (below[i] | fixed[i]) >> j & 1 and is_allowed_relation(plan.rules, nodes[i], nodes[j])
        )
        for i in range(n)
    ]  # fmt: skip
    # Adding i -> j also puts everything above j above everything below i.
    addable = tuple(
        make_mask(
            j
            for j in list_bits(allowed_above[i] & ~above_now[i])
            if all(above_now[j] & ~allowed_above[a] == 0 for a in list_bits(below[i]))
        )
        for i in range(n)
    )
    allowed_above = [g | m for g, m in zip(above_now, addable, strict=True)]
    bounds, constraints = {}, 0
    for a, b in combinations(range(n), 2):
        if not above_now[a] >> b & 1 and not above_now[b] >> a & 1:
            before = above_now[a] & above_now[b]
            higher = make_mask(
                c for c in list_bits(allowed_above[a] & allowed_above[b]) if before & below[c] & ~(1 << c)
            )
            bounds[a, b] = make_mask(
                c  # a node above a bound is not the lowest
                for c in list_bits(allowed_above[a] & allowed_above[b] & ~higher)
                if before >> c & 1 or is_allowed_join(plan.rules, nodes[a], nodes[b], nodes[c])
            )  # fmt: skip
            constraints += bounds[a, b].bit_count() * (allowed_above[a] & allowed_above[b]).bit_count()
            if constraints > MAX_CONSTRAINTS:  # also counts bounds that are ruled out
                check_constraints(system.name, allowed_above)
    index = {m.node: i for i, m in enumerate(nodes)}
    ties = [[index[bound] for bound in tie] for tie in system.ties]
    return Problem(nodes, above_now, addable, plan, bounds, ties)


def masks_above(system: System, nodes: Sequence[NodeFacts]) -> tuple[int, ...]:
    """Return, for each node by number, the mask of the nodes above it, itself included."""
    return tuple(make_mask(j for j, b in enumerate(nodes) if system.order.le(a.node, b.node)) for a in nodes)


def is_allowed_relation(rules: Sequence[Demand], a: NodeFacts, b: NodeFacts) -> bool:
    """Return True if the rules allow the relation a -> b, and b as the join of both."""
    return is_allowed_join(rules, a, b, b) and not any(
        d.breaks_relation and d.breaks_relation(a, b) for d in rules
    )


def is_allowed_join(rules: Sequence[Demand], a: NodeFacts, b: NodeFacts, c: NodeFacts) -> bool:
    """Return True if the rules allow c as the join of a and b."""
    return not any(d.breaks_result and d.breaks_result(a, b, c) for d in rules)


def check_nodes(name: str, nodes: int) -> None:
    """Raise BeyondReachError for more nodes than can be written down."""
    if nodes > MAX_NODES:
        raise BeyondReachError(_too_large_text(name, nodes, nodes**4 // 8, f"of more than {MAX_NODES} nodes"))


def check_constraints(name: str, addable: Sequence[int]) -> None:
    """Raise BeyondReachError for more constraints than can be written down.

    `addable` holds, for each node, the nodes that may lie above it.
    """
    pairs = sum((addable[a] & addable[b]).bit_count() ** 2 for a, b in combinations(range(len(addable)), 2))
    constraints = pairs + sum(
        addable[b].bit_count() for a in range(len(addable)) for b in list_bits(addable[a])
    )
    if constraints > MAX_CONSTRAINTS:
        raise BeyondReachError(
            _too_large_text(name, len(addable), constraints, f"of more than {MAX_CONSTRAINTS:,} constraints")
        )


def list_bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def make_mask(numbers: Iterable[int]) -> int:
    return sum(1 << i for i in numbers)


def _too_large_text(name: str, nodes: int, size: int, limit: str) -> str:
    return (
        f"{name} is beyond reach: {nodes} nodes with about {size:,} constraints, and no order {limit} "
        "is tried; "
        "leave out dtypes, fix regions of the order by a plan, or add rules"
    )
