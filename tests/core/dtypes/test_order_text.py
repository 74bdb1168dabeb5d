"""Orders as text with arrows, and what cannot be read as one."""
from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from random_orders import Covers, dags

from typelattice import Order, OrderError
from typelattice.core.dtypes.order import collect_covers, split_statements


@given(dags())
def test_parse_reads_what_the_covers_say(covers: Covers) -> None:
    upper = {*chain.from_iterable(covers.values())}
    text = "; ".join(
        " -> ".join([str(a), *[", ".join(map(str, bs))] * bool(bs)])
        for a, bs in covers.items()
        if bs or a not in upper
    )
    order = Order.parse(text)
    assert {a: set(order.covers(a)) for a in order.nodes} == {
        str(a): set(map(str, bs)) for a, bs in covers.items()
    }


def test_lists_lines_and_lone_nodes_in_arrow_text() -> None:
    order = Order.parse("a, b -> c, d\n\n  d -> e ;; f")
    assert order.nodes == ("a", "b", "c", "d", "e", "f")
    assert {n: order.covers(n) for n in order.nodes} == {
        "a": ("c", "d"), "b": ("c", "d"), "c": (), "d": ("e",), "e": (), "f": (),
    }  # fmt: skip
    assert [number for number, _ in split_statements("a\n\nb; c")] == [0, 2, 2]


@pytest.mark.parametrize(
    "text", ["a ->", "-> a", "a -> -> b", "a,, b", "a b", "a -> b c -> d", ",", "a - > b"]
)
def test_arrow_text_that_cannot_be_read(text: str) -> None:
    with pytest.raises(OrderError, match=r"^cannot read .*; write a, b -> c$"):
        Order.parse(text)


def test_of_a_long_statement_the_beginning_is_shown() -> None:
    with pytest.raises(OrderError, match=f"^cannot read 'a {'b' * 58}'; write"):
        Order.parse(f"a {'b' * 59}")


@pytest.mark.parametrize("text", ["a, a -> b", "c, a, a -> b", "a -> b; a", "a; a"])
def test_a_node_named_twice(text: str) -> None:
    with pytest.raises(OrderError, match=r"^a is named twice; name it once$"):
        Order.parse(text)


def test_a_node_is_no_cover_of_itself() -> None:
    with pytest.raises(OrderError, match=r"^a cycle: a -> a; leave out one of these arrows$"):
        Order.parse("a -> a")
    with pytest.raises(OrderError, match=r"^a cycle: "):
        Order(collect_covers([[["a"], ["b"], ["a"]]]))
