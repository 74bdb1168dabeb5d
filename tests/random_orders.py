"""Random orders without implied covers, and what lies above a node: the definition, by walking."""
from __future__ import annotations

from itertools import combinations

from hypothesis import strategies as st

Covers = dict[int, list[int]]
MANY = 10  # nodes of a random order, at most


def reachable(covers: Covers, a: int) -> set[int]:
    """All that lies above a, a included: the definition, by walking."""
    found, todo = {a}, [a]
    while todo:
        for b in covers[todo.pop()]:
            if b not in found:
                found.add(b)
                todo.append(b)
    return found


def reduced(covers: Covers) -> Covers:
    """Without the covers that others imply."""
    return {
        a: [b for b in bs if not any(c != b and b in reachable(covers, c) for c in bs)]
        for a, bs in covers.items()
    }


@st.composite
def dags(draw: st.DrawFn) -> Covers:
    """The covers of a random order: pairs a < b of a random sequence, without the implied ones."""
    names = draw(st.permutations(range(draw(st.integers(1, MANY)))))
    pairs = list(combinations(names, 2))
    kept = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * len(names))) if pairs else []
    full: Covers = {a: [] for a in draw(st.permutations(names))}
    for a, b in kept:
        full[a].append(b)
    return reduced(full)


@st.composite
def dags_and_nodes(draw: st.DrawFn) -> tuple[Covers, list[int]]:
    """An order and some of its nodes, perhaps repeated."""
    covers = draw(dags())
    return covers, draw(st.lists(st.sampled_from(sorted(covers)), min_size=1, max_size=5))
