"""Repairs of orders are the smallest that brute force finds, and break no rule."""
from __future__ import annotations

from itertools import combinations, permutations

import pytest
from small_orders import KEPT, SMALL, partial, split

from typelattice.core.dtypes.dtypes import Node
from typelattice.core.engine.system import System
from typelattice.core.system_files.writer import reduce_order
from typelattice.study.designer import DEMANDS, ConflictError, Demand, find_repairs
from typelattice.study.designer.standard_demands import list_node_facts

BROKEN = [
    SMALL[-1],
    "i8, u8 -> i16, f16; i16 -> f32; f16 -> f32",
    "u8, i8 -> f16, bf16 -> f32",
    "i8, i16 -> f32, f64",
]
TURNED = ["u64 -> u8, f16; u8 -> i16; f32 -> i16", "i8 -> f64, bf16; f64 -> u16; i16 -> u16, bf16"]


def closed(edges: set[tuple[Node, Node]]) -> set[tuple[Node, Node]]:
    """All relations that follow from some."""
    found = {*edges}
    while more := {(a, d) for a, b in found for c, d in found if b is c} - found:
        found |= more
    return found


def smallest_repairs(system: System, every: bool, rules: list[Demand]) -> set[frozenset[tuple[Node, Node]]]:
    """By trying every set of covers to drop and relations to add, reversals too, the smallest sets first."""
    given, of = system.order, {m.node: m for m in list_node_facts(system)}
    covers = {(a, b) for a in given.nodes for b in given.covers(a)}

    def works(changed: tuple[tuple[Node, Node], ...]) -> bool:
        found = closed({(a, a) for a in given.nodes} | (covers ^ {*changed}))
        if any(a is not b and (b, a) in found for a, b in found):
            return False
        repaired = reduce_order(given.nodes, found)
        if any(
            d.breaks_relation and d.breaks_relation(of[a], of[b])
            for d in rules
            for a, b in found
            if not given.le(a, b)
        ):
            return False
        for a, b in combinations(repaired.nodes, 2):
            bounds = repaired.minimal_bounds(a, b)
            if len(bounds) > 1 or (not bounds and (every or given.bounds(a, b))):
                return False
            before = bounds and given.le(a, bounds[0]) and given.le(b, bounds[0])
            is_new = bounds and not before
            if is_new and any(
                d.breaks_result and d.breaks_result(of[a], of[b], of[bounds[0]]) for d in rules
            ):
                return False
        return True

    for size in range(5):
        works_now = {frozenset(s) for s in combinations(permutations(given.nodes, 2), size) if works(s)}
        if works_now:
            return works_now
    raise AssertionError("more than four edits")


@pytest.mark.parametrize(
    ("order", "every", "rules"),
    [
        *((order, False, ()) for order in BROKEN),
        (BROKEN[0], True, ["kind"]),
        ("i64 -> f64; bf16", True, ["overflow", "kind"]),
        ("u16 -> u8, i16; i8 -> i16; f16", True, ["overflow", "kind"]),
        *((order, True, KEPT) for order in TURNED),
        (TURNED[1], True, ["precision"]),
    ],
)
def test_repairs_are_the_smallest_of_brute_force(order: str, every: bool, rules: list[str]) -> None:
    """Covers turned round and repairs of three and four edits included; the rules hold in results as in
    relations."""
    system = partial(order)
    found = find_repairs(system, limit=1000, every=every, rules=rules)
    assert {frozenset((*r.added_covers, *r.dropped_covers)) for r in found} == smallest_repairs(
        system, every, [DEMANDS[r] for r in rules]
    )
    assert found.is_proven
    assert found.is_complete


def test_a_repair_adds_no_result_that_a_rule_forbids() -> None:
    """`bf16 -> f64` would join int64 with bfloat16 at float64, which loses precision."""
    lone = partial("i64 -> f64; bf16")
    with pytest.raises(
        ConflictError, match=r"no order that repairs small keeps lattice with precision; .*: drop one$"
    ):
        find_repairs(lone, every=True, rules=["precision"])
    for order in (*BROKEN, *TURNED):
        for repair in find_repairs(partial(order), every=True, rules=KEPT):
            before = partial(order).order
            for a, b, _, now in repair.changed_pairs:
                if now and not (before.le(a, now) and before.le(b, now)):
                    of = {m.node: m for m in list_node_facts(repair.system)}
                    assert not any(
                        d.breaks_result and d.breaks_result(of[a], of[b], of[now])
                        for d in map(DEMANDS.get, KEPT)
                        if d
                    )


def test_repairs_drop_only_where_no_cover_may_be_added() -> None:
    assert [
        (r.added_covers, len(r.dropped_covers)) for r in find_repairs(partial(BROKEN[2]), rules=["covers"])
    ] == [((), 1)] * 4


@pytest.mark.parametrize("name", ["numpy", "tinygrad"])
def test_repairs_of_libraries_are_of_one_size_and_leave_no_pair_with_several_lowest_bounds(name: str) -> None:
    found = find_repairs(name, limit=100)
    assert found.is_proven
    assert split(found.system.order)
    assert len({len(r.added_covers) + len(r.dropped_covers) for r in found}) == 1
    for r in found:
        assert not split(r.system.order)
        assert r.changed_pairs


def test_rules_that_leave_no_repair_conflict_with_the_lattice() -> None:
    with pytest.raises(ConflictError) as caught:
        find_repairs("jep9407-0", every=True, rules=["precision", "relations"])
    assert "lattice" in caught.value.rules
