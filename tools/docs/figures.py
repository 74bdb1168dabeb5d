"""The drawings of JEP 9407, each from a system of ours, and the arrows in which the two differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from gallery import drawing
from printed import GRAPHS, node

import typelattice as tl
from typelattice.core.dtypes.dtypes import DType, Kind, WeakNode
from typelattice.show.drawings.orders import restrict_order


def section() -> Iterator[str]:
    """The drawings of the JEP, each from a system of ours, with the arrows that differ from those drawn."""
    yield "### Its drawings"
    yield (
        "Each is laid out anew, from the system named; where the document draws a step on the way to a "
        "system, from what of its order is drawn so far."
    )
    for n, (graph, (told, ours)) in enumerate(zip(GRAPHS, figures(), strict=True), 1):
        yield f"**{graph['section']}**: {told}. {compared(graph['covers'], ours)}"
        yield drawing(ours, f"drawing {n}, of {graph['section']}")  # a section has several


def figures() -> Iterator[tuple[str, tl.System | tl.Order[str]]]:
    """What the JEP draws, in its order: each from ours, and what it was made of."""
    partial = tl.system("jep9407-0").order
    numpy = tl.system("numpy").order
    jax = tl.system("jax").order
    kinds = ("u", "i", "f", "c")
    chains = {k: [n for n in partial.nodes if isinstance(n, DType) and n.code[0] == k] for k in kinds}
    in_kinds = [(a, b) for a, b in _covers(partial) if _kind(a) is _kind(b)]
    scalars = [(a, b) for a, b in _covers(partial) if isinstance(a, WeakNode)]
    to_complex = [
        (a, b) for a, b in _covers(partial) if (str(_kind(a)), str(_kind(b))) == ("float", "complex")
    ]
    to_floats = [(a, b) for a, b in _covers(numpy) if _kind(a).category == 1 and _kind(b).category == 2]
    widths = [f"{n.code}*" for n in chains["i"]]
    signed = [*widths, *(n.code for n in chains["i"])]
    stars = [(f"{k}*", chain[0].code) for k, chain in chains.items()]

    yield "the system [python](gallery/python.md), whose nodes are Python's types", tl.system("python")
    yield "an order of nodes with any name", tl.Order.parse("A -> B, C")
    yield "another", tl.Order.parse("A, B -> C, D")
    yield "what [jep9407-0](gallery/jep9407-0.md) says within each kind", _system(_inside(in_kinds))
    yield "its signed integers, behind weak ones of their widths", _system(_chain(signed))
    yield "each kind behind its Python scalar", _system([*_inside(in_kinds), *stars])
    yield "all kinds, joined by their Python scalars", _system([*_inside(in_kinds), *scalars])
    yield (
        "the same, with what jep9407-0 says of floats and complex numbers",
        _system([*_inside(in_kinds), *scalars, *_inside(to_complex)]),
    )
    yield "the system jep9407-0", tl.system("jep9407-0")
    yield (
        "jep9407-0 with what [numpy](gallery/numpy.md) says of integers and floats",
        _system([*_covers(partial), *to_floats]),
    )
    for name in ("jep9407-1", "jep9407-2", "jep9407-3", "jep9407-3-bf16"):
        yield f"the system [{name}](gallery/{name}.md)", tl.system(name)
    drawn = {node(code) for code in _nodes(GRAPHS[-1]["covers"])}
    yield (
        "the system [jax](gallery/jax.md), on the nodes of the drawing",
        _system(_covers(restrict_order(jax, [n for n in jax.nodes if n in drawn]))),
    )


def compared(drawn: Mapping[str, Iterable[str]], ours: tl.System | tl.Order[str]) -> str:
    """In a sentence, the arrows of ours that are not as drawn."""
    order = ours.order if isinstance(ours, tl.System) else ours
    words = {"i*": "int", "f*": "float", "c*": "complex"} if "int" in drawn else {}
    printed = {(a, b) for a, bs in drawn.items() for b in bs}
    here = {tuple(words.get(_code(n), _code(n)) for n in arrow) for arrow in _covers(order)}
    if printed == here:
        return f"All {len(printed)} arrows are as drawn."
    parts = [("has besides", here - printed), ("has not", printed - here)]
    told = "; it ".join(
        f"{verb} {', '.join(f'`{a} -> {b}`' for a, b in sorted(found))}" for verb, found in parts if found
    )
    return f"Of {len(printed)} arrows drawn, {len(printed & here)} are the same; it {told}."


Arrow = tuple[object, object]


def _covers(order: tl.Order[Any]) -> list[Arrow]:
    return [(a, b) for a in order.nodes for b in order.covers(a)]


def _inside(arrows: list[Arrow]) -> list[Arrow]:
    return [(a, b) for a, b in arrows if isinstance(a, DType) and isinstance(b, DType)]


def _chain(nodes: Sequence[object]) -> list[Arrow]:
    return list(pairwise(nodes))


def _system(arrows: Iterable[Arrow]) -> tl.System:
    """The arrows as a system, whose drawing has kinds as rows."""
    text = "; ".join(f"{_code(a)} -> {_code(b)}" for a, b in arrows)
    return tl.system("jep9407-0").replace(name="jep9407", title="a step on the way", order=text, defaults={})


def _nodes(covers: Mapping[str, Iterable[str]]) -> set[str]:
    return {*covers, *(b for bs in covers.values() for b in bs)}


def _kind(n: Any) -> Kind:
    kind: Kind = n.kind
    return kind


def _code(n: object) -> str:
    """A node as the JEP writes it."""
    return n.code if isinstance(n, DType) else str(n)
