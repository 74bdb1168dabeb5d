"""A pure join is associative exactly if it is monotone, exactly if bounds are unique: ties cost both laws."""
from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, product

import pytest

import typelattice as tl
from typelattice.core.dtypes.order import Order
from typelattice.core.system_files.reader import parse
from typelattice.study.laws.distributivity import find_uneven

NODES = ("i8", "i16", "i32", "i64", "u8", "u16")
Relation = frozenset[tuple[int, int]]


def is_transitive(order: Relation) -> bool:
    return all((a, d) in order for a, b in order for c, d in order if b == c)


def orders(count: int) -> Iterator[Relation]:
    """Each order of so many nodes, in a numbering that goes upwards; all are among them up to their names."""
    pairs = [*combinations(range(count), 2)]
    for chosen in product((False, True), repeat=len(pairs)):
        order = frozenset(pair for pair, is_in in zip(pairs, chosen, strict=True) if is_in)
        if is_transitive(order):
            yield order


def drawn(count: int, dice: random.Random) -> Relation:
    pairs = [*combinations(range(count), 2)]
    while not is_transitive(order := frozenset(pair for pair in pairs if dice.random() < 0.5)):
        pass
    return order


def minimal_bounds(order: Relation, count: int, a: int, b: int) -> frozenset[int]:
    above = {
        n for n in range(count) if all(n == x or (x, n) in order for x in (a, b))
    }
    return frozenset(n for n in above if not any((m, n) in order for m in above))


def settled(order: Relation, count: int) -> Iterator[tuple[bool, str]]:
    """Each way to settle the pairs with several lowest bounds, by a tie or a refusal, as a system.

    The first result is True if no pair has several.
    """
    covers = [
        f"{NODES[a]} -> {NODES[b]}"
        for a, b in sorted(order)
        if not any((a, m) in order and (m, b) in order for m in range(count))
    ]
    alone = [NODES[n] for n in range(count) if all(n not in pair for pair in order)]
    pairs = {minimal_bounds(order, count, a, b) for a, b in combinations(range(count), 2)}
    several = sorted(sorted(bounds) for bounds in pairs if len(bounds) > 1)
    choices: list[list[int | None]] = [
        [None, *(n for n in range(count) if any(n == m or (m, n) in order for m in bounds))]
        for bounds in several
    ]
    for winners in product(*choices):
        ties = ", ".join(
            f'"{", ".join(NODES[n] for n in bounds)}" = "{NODES[winner]}"'
            for bounds, winner in zip(several, winners, strict=True)
            if winner is not None
        )
        text = f'name = "tied"\norder = "{"; ".join([*covers, *alone])}"\n'
        yield not several, text + (f"ties = {{ {ties} }}" if ties else "")


def check(order: Relation, count: int) -> int:
    """Compare the three laws in every way to settle an order; return the number of ways."""
    ways = [*settled(order, count)]
    for unique, text in ways:
        found = tl.laws(parse(text, "tied.toml"))
        assert found["unique bounds"].holds == unique, text
        assert found["associative"].holds == unique, text
        assert found["monotone"].holds == unique, text
    return len(ways)


@pytest.mark.parametrize(("count", "ways"), [(1, 1), (2, 2), (3, 7), (4, 42), (5, 436)])
def test_associative_and_monotone_and_unique_bounds_are_one_law_of_joins(count: int, ways: int) -> None:
    assert sum(check(order, count) for order in orders(count)) == ways


def test_associative_and_monotone_and_unique_bounds_are_one_law_of_six_nodes() -> None:
    dice = random.Random(9407)
    assert sum(check(drawn(6, dice), 6) for _ in range(60)) > 90


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_in_a_lattice_distributive_is_the_law_of_meets(count: int) -> None:
    """The law `a ∧ (b ∨ c) = (a ∧ b) ∨ (a ∧ c)`, where every two nodes have a join and a meet."""
    lattices = broken = 0
    for relation in orders(count):
        above = {a: [b for x, b in relation if x == a] for a in range(count)}
        order = Order({a: [b for b in bs if not any(b in above[x] for x in bs)] for a, bs in above.items()})
        pairs = combinations(range(count), 2)
        if any(order.join(a, b) is None or order.meet(a, b) is None for a, b in pairs):
            continue
        lattices += 1
        law = all(
            order.meet(a, order.join(b, c)) == order.join(order.meet(a, b), order.meet(a, c))
            for a, b, c in product(range(count), repeat=3)
        )
        found, _ = find_uneven(order, range(count))
        assert law == (not found), relation
        broken += not law
    assert (lattices > 0, broken > 0) == (True, count == 5)
