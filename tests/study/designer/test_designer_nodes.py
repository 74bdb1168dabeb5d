"""The nodes that an order lacks: all bounds in common that no node is the least of, and no others."""
from __future__ import annotations

from functools import reduce
from itertools import combinations
from operator import and_
from pathlib import Path

import pytest
from command_line import refused, said
from hypothesis import given, settings
from random_orders import Covers, dags, reachable

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.system_files.reader import parse
from typelattice.study.designer.missing_nodes import find_missing_nodes

CODES = ("b", "u8", "i8", "u16", "i16", "u32", "i32", "f16", "bf16", "f32")


@settings(max_examples=150, deadline=None)
@given(dags())
def test_each_set_of_bounds_in_common_without_a_least_one_is_a_node(covers: Covers) -> None:
    above = {a: frozenset(reachable(covers, a)) for a in covers}
    common = {reduce(and_, (above[a] for a in some)) for n in range(1, len(covers) + 1)
              for some in combinations(covers, n)}  # fmt: skip
    wanted = {bounds for bounds in common if bounds} - {*above.values()}
    covered = {b for bs in covers.values() for b in bs}
    order = "; ".join(
        f"{CODES[a]} -> {', '.join(CODES[b] for b in bs)}" if bs else CODES[a]
        for a, bs in covers.items()
        if bs or a not in covered
    )
    system = parse(f'name = "drawn"\norder = "{order}"')
    found = find_missing_nodes(system)
    after = found.system.order
    names = {d.code: d for d in after.nodes}
    made = [names[node.name] for node in found]
    assert {frozenset(CODES.index(x.code) for x in after.bounds(m) if x not in made) for m in made} == wanted
    for a, b in combinations(system.order.nodes, 2):
        assert system.order.le(a, b) == after.le(a, b)
        assert system.order.le(b, a) == after.le(b, a)
        assert bool(after.bounds(a, b)) == bool(system.order.bounds(a, b))
        assert after.join(a, b) is (system.order.join(a, b) or after.join(a, b))
    assert tl.laws(found.system)["unique bounds"]


@pytest.mark.parametrize(("name", "count"), [("numpy", 2), ("jax-2019", 1), ("jax", 0), ("torch", 2)])
def test_numpy_lacks_two_nodes_and_jax_without_weak_nodes_one(name: str, count: int) -> None:
    found = find_missing_nodes(name)
    assert len(found) == count
    assert all(tl.laws(found.system)[law] for law in ("unique bounds", "associative", "monotone"))


def test_the_command_names_the_nodes_and_writes_the_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = said(capsys, "design", "numpy", "--nodes", "-o", str(tmp_path))
    assert "u8, i8 -> node1 -> i16, f16" in shown
    assert tl.system(str(tmp_path / "numpy-nodes.toml")).explain("int8", "uint8").dtype.name == "node1"
    assert said(capsys, "design", "jax", "--nodes").startswith("jax: no node is missing")
    assert "--nodes takes no rules" in refused(capsys, "design", "numpy", "--nodes", "--costs", "width")


def test_an_order_with_too_many_cuts_is_beyond_reach() -> None:
    below = [f"{kind}{bits}" for kind in "ui" for bits in range(1, 8)]
    above = [d.code for d in DTYPES.values() if d.kind is Kind.FLOAT][: len(below)]
    lines = [
        f"{a} -> {', '.join(t for t in above if t != b)}" for a, b in zip(below, above, strict=True)
    ]
    order = "; ".join(lines)
    with pytest.raises(tl.BeyondReachError, match="more than 2,000 nodes"):
        find_missing_nodes(parse(f'name = "crown"\norder = "{order}"'))
