"""Every tie costs associativity and monotonicity: tried on all orders of up to five nodes."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import pytest

import typelattice as tl
from typelattice.files.reader import parse

NODES = ("i8", "i16", "i32", "i64", "u8")
Relation = frozenset[tuple[int, int]]


def orders(count: int) -> Iterator[Relation]:
    """Each order of so many nodes, in a numbering that goes upwards; all are among them up to their names."""
    pairs = [*combinations(range(count), 2)]
    for chosen in product((False, True), repeat=len(pairs)):
        order = frozenset(pair for pair, is_in in zip(pairs, chosen, strict=True) if is_in)
        if all((a, d) in order for a, b in order for c, d in order if b == c):
            yield order


def minimal_bounds(order: Relation, count: int, a: int, b: int) -> frozenset[int]:
    above = {
        n for n in range(count) if all(n == x or (x, n) in order for x in (a, b))
    }
    return frozenset(n for n in above if not any((m, n) in order for m in above))


def tied(order: Relation, count: int) -> Iterator[str]:
    """The system of each way to settle every pair that has several lowest bounds."""
    pairs = {minimal_bounds(order, count, a, b) for a, b in combinations(range(count), 2)}
    open_to_ties = sorted(sorted(bounds) for bounds in pairs if len(bounds) > 1)
    if not open_to_ties:
        return
    covers = [
        f"{NODES[a]} -> {NODES[b]}"
        for a, b in sorted(order)
        if not any((a, m) in order and (m, b) in order for m in range(count))
    ]
    alone = [NODES[n] for n in range(count) if all(n not in pair for pair in order)]
    choices = [
        [n for n in range(count) if any(n == m or (m, n) in order for m in bounds)] for bounds in open_to_ties
    ]
    for winners in product(*choices):
        ties = ", ".join(
            f'"{", ".join(NODES[n] for n in bounds)}" = "{NODES[winner]}"'
            for bounds, winner in zip(open_to_ties, winners, strict=True)
        )
        yield f'name = "tied"\norder = "{"; ".join([*covers, *alone])}"\nties = {{ {ties} }}'


@pytest.mark.parametrize("count", [4, 5])
def test_every_tie_costs_associativity_and_monotonicity(count: int) -> None:
    seen = 0
    for order in orders(count):
        for text in tied(order, count):
            found = tl.laws(parse(text, "tied.toml"))
            assert not found["associative"], text
            assert not found["monotone"], text
            seen += 1
    assert seen == {4: 2, 5: 79}[count]
