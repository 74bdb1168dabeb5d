"""Orders against brute force, on random acyclic graphs."""
from __future__ import annotations

import copy
import pickle
import re
import tracemalloc
from functools import reduce
from itertools import pairwise, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_orders import Covers, dags, dags_and_nodes, reachable

from typelattice import Order, OrderError
from typelattice.core.dtypes.order_paths import find_paths


def common(covers: Covers, nodes: list[int]) -> set[int]:
    return reduce(set.intersection, (reachable(covers, a) for a in nodes))


def turned(covers: Covers) -> Covers:
    """The dual: everything upside down."""
    return {b: [a for a, bs in covers.items() if b in bs] for b in covers}


@given(dags())
def test_le_is_reachability(covers: Covers) -> None:
    order = Order(covers)
    assert all(order.le(a, b) == (b in reachable(covers, a)) for a, b in product(covers, repeat=2))


@given(dags_and_nodes())
def test_join_is_the_least_of_the_upper_bounds(drawn: tuple[Covers, list[int]]) -> None:
    covers, nodes = drawn
    bounds = common(covers, nodes)
    least = [c for c in bounds if bounds <= reachable(covers, c)]
    assert Order(covers).join(*nodes) == (least[0] if least else None)


@given(dags_and_nodes())
def test_bounds_and_minimal_bounds_by_definition(drawn: tuple[Covers, list[int]]) -> None:
    covers, nodes = drawn
    order, above = Order(covers), common(covers, nodes)
    assert set(order.bounds(*nodes)) == above
    assert set(order.minimal_bounds(*nodes)) == {
        c for c in above if not any(c != d and c in reachable(covers, d) for d in above)
    }
    assert set(order.lower_bounds(*nodes)) == {a for a in covers if set(nodes) <= reachable(covers, a)}
    for found in (order.bounds(*nodes), order.minimal_bounds(*nodes), order.lower_bounds(*nodes)):
        assert list(found) == [a for a in order.nodes if a in found], "given in the order of the nodes"


@given(dags_and_nodes())
def test_one_minimal_bound_is_the_join(drawn: tuple[Covers, list[int]]) -> None:
    covers, nodes = drawn
    order = Order(covers)
    bounds = order.minimal_bounds(*nodes)
    assert order.join(*nodes) == (bounds[0] if len(bounds) == 1 else None)


@given(dags_and_nodes())
def test_join_is_idempotent_and_order_independent(drawn: tuple[Covers, list[int]]) -> None:
    covers, nodes = drawn
    order = Order(covers)
    assert {order.join(*mixed) for mixed in permutations(nodes[:4])} == {order.join(*set(nodes[:4]))}
    assert order.join(*nodes, *reversed(nodes)) == order.join(*nodes)
    assert order.join(nodes[0]) == nodes[0]


@given(dags())
def test_join_is_associative_where_defined(covers: Covers) -> None:
    """Pair by pair, where every step is defined, gives what the set gives; and only the set may give more."""
    order = Order(covers)
    for a, b, c in product(order.nodes, repeat=3):
        left, right = order.join(a, b), order.join(b, c)
        one = order.join(left, c) if left is not None else None
        other = order.join(a, right) if right is not None else None
        if left is not None and right is not None:
            assert one == other
        for found in (one, other):
            assert found is None or found == order.join(a, b, c)


@given(dags_and_nodes())
def test_meet_is_the_join_upside_down(drawn: tuple[Covers, list[int]]) -> None:
    covers, nodes = drawn
    order, dual = Order(covers), Order(turned(covers))
    assert order.meet(*nodes) == dual.join(*nodes)
    assert set(order.lower_bounds(*nodes)) == set(dual.bounds(*nodes))
    assert (order.top, order.bottom) == (dual.bottom, dual.top)


@given(dags())
def test_joins_do_not_depend_on_how_the_covers_are_listed(covers: Covers) -> None:
    order = Order(covers)
    again = Order({a: covers[a][::-1] for a in reversed(list(covers))})
    for a, b in product(covers, repeat=2):
        assert order.join(a, b) == again.join(a, b)
        assert order.meet(a, b) == again.meet(a, b)
        assert set(order.minimal_bounds(a, b)) == set(again.minimal_bounds(a, b))


@given(dags(), st.data())
def test_an_order_without_some_covers_is_the_order_of_the_others(covers: Covers, data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from(sorted(covers)), max_size=3))
    stated = [(a, b) for a, bs in covers.items() for b in bs]
    dropped = [pair for pair in stated if gone & {*pair} or data.draw(st.booleans())]
    kept = {a: [b for b in bs if (a, b) not in dropped] for a, bs in covers.items() if a not in gone}
    whole, made = Order(covers), Order(kept)
    before = [whole.join(a, b) for a, b in product(covers, repeat=2)]
    part = whole.without(dropped, gone)
    assert part.nodes == tuple(a for a in whole.nodes if a in kept)
    assert not any(a in part for a in gone)
    assert [part.covers(a) for a in kept] == [made.covers(a) for a in kept]
    assert (part.top, part.bottom) == (made.top, made.bottom)
    for a, b in product(kept, repeat=2):
        assert part.le(a, b) == made.le(a, b)
        assert (part.join(a, b), part.meet(a, b)) == (made.join(a, b), made.meet(a, b))
        assert set(part.minimal_bounds(a, b)) == set(made.minimal_bounds(a, b))
        assert set(part.lower_bounds(a, b)) == set(made.lower_bounds(a, b))
    assert [whole.join(a, b) for a, b in product(covers, repeat=2)] == before
    less = part.without([(a, b) for a, bs in kept.items() for b in bs])
    assert less.nodes == part.nodes and not any(less.covers(a) for a in kept)
    assert all(less.le(a, b) == (a == b) for a, b in product(kept, repeat=2))


@given(dags())
def test_top_and_bottom_by_definition(covers: Covers) -> None:
    order = Order(covers)
    tops = [c for c in covers if all(c in reachable(covers, a) for a in covers)]
    bottoms = [a for a in covers if reachable(covers, a) == set(covers)]
    assert [order.top, order.bottom] == [tops[0] if tops else None, bottoms[0] if bottoms else None]


@given(dags())
def test_covers_are_the_immediate_successors(covers: Covers) -> None:
    order = Order(covers)
    for a in covers:
        above = reachable(covers, a) - {a}
        assert set(order.covers(a)) == {
            b for b in above if not any(b in reachable(covers, c) - {c} for c in above)
        }


@given(dags())
def test_paths_are_all_chains_of_covers_a_shortest_first(covers: Covers) -> None:
    def chains(a: int, b: int) -> list[tuple[int, ...]]:
        return [(a,)] if a == b else [(a, *rest) for c in covers[a] for rest in chains(c, b)]

    order = Order(covers)
    for a, b in product(covers, repeat=2):
        found = list(find_paths(order, a, b))
        assert sorted(found) == sorted(chains(a, b))
        assert not found or len(found[0]) == min(map(len, found))


def test_paths_are_made_as_they_are_asked_for() -> None:
    """16 diamonds, one above another, have 2**16 paths; the first one takes no room for the others."""
    covers = {f"{side}{i}": [f"{s}{i + 1}" for s in "ab"] for i in range(16) for side in "ab"}
    found = find_paths(Order(covers), "a0", "a16")
    tracemalloc.start()
    try:
        assert len(next(found)) == 17
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_path_may_be_longer_than_python_is_deep() -> None:
    chain = range(5_000)
    assert list(find_paths(Order({a: [a + 1] for a in chain}), 0, 5_000)) == [tuple(range(5_001))]


@given(dags(), st.data())
def test_an_implied_cover_is_refused_and_named(covers: Covers, data: st.DataObject) -> None:
    implied = [(a, b) for a in covers for b in reachable(covers, a) - {a, *covers[a]}]
    if implied:
        a, b = data.draw(st.sampled_from(implied))
        with pytest.raises(
            OrderError, match=rf"^the arrow {a} -> {b} follows from {a} -> \d+ -> {b}; remove it$"
        ) as e:
            Order({**covers, a: [*covers[a], b]})
        via = int(str(e.value).split(" -> ")[-2])
        assert via in covers[a]
        assert b in reachable(covers, via)


@given(dags(), st.data())
def test_a_cycle_is_refused_and_spelled_out(covers: Covers, data: st.DataObject) -> None:
    pairs = [(a, b) for a in covers for b in reachable(covers, a)]
    low, high = data.draw(st.sampled_from(pairs))
    closed = {**covers, high: [*covers[high], low]}
    with pytest.raises(OrderError, match=r"^a cycle: .*; leave out one of these arrows$") as e:
        Order(closed)
    walk = [int(word) for word in str(e.value).removeprefix("a cycle: ").split(";")[0].split(" -> ")]
    assert walk[0] == walk[-1]
    assert all(b in closed[a] for a, b in pairwise(walk))
    assert (high, low) in pairwise(walk)


def test_a_long_cycle_is_spelled_out_at_its_ends() -> None:
    order = {n: [(n + 1) % 5000] for n in range(5000)}
    with pytest.raises(OrderError) as e:
        Order(order)
    cycle = r"a cycle: (\d+ -> ){10}\(4981 more\)( -> \d+){10}; leave out one of these arrows"
    assert re.fullmatch(cycle, str(e.value))
    with pytest.raises(OrderError, match=r"^a cycle: (\d+ -> ){19}\d+; leave out one of these arrows$"):
        Order({n: [(n + 1) % 19] for n in range(19)})


@given(dags(), st.data())
def test_a_cover_that_others_imply_is_refused_and_named(covers: Covers, data: st.DataObject) -> None:
    longer = [(a, c, b) for a in covers for c in covers[a] for b in reachable(covers, c) - {c}]
    if longer:
        a, _, b = data.draw(st.sampled_from(longer))
        ways = {c for c in covers[a] if b in reachable(covers, c)}
        with pytest.raises(OrderError) as e:
            Order({**covers, a: data.draw(st.permutations([*covers[a], b]))})
        arrow = f"the arrow {a} -> {b} follows from"
        assert str(e.value) in {f"{arrow} {a} -> {c} -> {b}; remove it" for c in ways}


def test_orders_of_thousands_of_nodes() -> None:
    """A chain is no deeper than the stack, and of many covers of a node none is compared with each other."""
    chain_of_many = Order({n: [n + 1] for n in range(5000)})
    assert (chain_of_many.join(0, 5000), chain_of_many.meet(0, 5000)) == (5000, 0)
    assert len(next(find_paths(chain_of_many, 0, 5000))) == 5001
    wide = Order({n: list(range(300, 600)) for n in range(300)})
    assert len(wide.minimal_bounds(0, 1)) == 300


def test_a_cover_stated_twice_is_refused() -> None:
    with pytest.raises(OrderError, match=r"^the arrow a -> b is stated twice; remove one$"):
        Order({"a": ["b", "b"]})
    with pytest.raises(OrderError, match=r"^the arrow a -> b is stated twice; remove one$"):
        Order.parse("a -> b; a -> b")


@pytest.mark.parametrize("method", ["join", "meet", "bounds", "minimal_bounds", "lower_bounds"])
def test_an_unknown_node_is_refused_and_the_known_are_named(method: str) -> None:
    order = Order.parse("a -> b")
    for nodes in (("x",), ("a", "x"), ("x", "a")):
        with pytest.raises(OrderError, match=r"^no node x in this order; it has a, b$"):
            getattr(order, method)(*nodes)
    with pytest.raises(OrderError, match=r"^a bound of no nodes at all; name at least one$"):
        getattr(order, method)()


def test_le_covers_and_paths_of_an_unknown_node_are_refused() -> None:
    order = Order.parse("a -> b")
    for ask in (
        lambda: order.le("a", "x"),
        lambda: order.le("x", "a"),
        lambda: order.covers("x"),
        lambda: list(find_paths(order, "a", "x")),
    ):
        with pytest.raises(OrderError, match="no node x"):
            ask()


def test_the_empty_order() -> None:
    empty: Order[str] = Order({})
    assert (empty.nodes, empty.top, empty.bottom) == ((), None, None)
    assert "a" not in empty
    with pytest.raises(OrderError):
        empty.join("a")
    assert Order.parse("").nodes == ()


def test_an_order_of_one_node() -> None:
    one = Order.parse("a")
    assert (one.top, one.bottom, one.join("a"), one.join("a", "a")) == ("a", "a", "a", "a")
    assert list(find_paths(one, "a", "a")) == [("a",)]


def test_nodes_of_any_hashable_kind() -> None:
    order = Order({None: [0], 0: [frozenset({1})], (1, 2): [0]})
    assert order.join(None, (1, 2)) == 0
    assert order.top == frozenset({1})
    assert None in order


def test_falsy_nodes_count_as_nodes() -> None:
    order = Order({"": [0], 0: []})
    assert order.join("", "") == ""
    assert order.join("", 0) == 0


@given(dags())
def test_copies_answer_alike(covers: Covers) -> None:
    order = Order(covers)
    for again in (copy.copy(order), copy.deepcopy(order), pickle.loads(pickle.dumps(order))):
        assert again.nodes == order.nodes
        assert all(again.join(a, b) == order.join(a, b) for a, b in product(covers, repeat=2))
