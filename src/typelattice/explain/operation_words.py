"""What an operation takes, how its operands meet and what it computes, in English."""
from __future__ import annotations

from collections.abc import Sequence

from typelattice.engine.answer import Promotion
from typelattice.engine.operations import Domain, find
from typelattice.engine.taking import PLACES
from typelattice.facts.dtypes import Kind


def operation_words(p: Promotion) -> list[str]:
    """What the operation takes, computes in and gives."""
    assert p.op
    rule = find(p.op, p.system.ops)
    lines = [f"{p.op} takes {_domain(rule.takes)}"]
    if rule.each and _domain(rule.each) != "every kind":
        lines.append(f"each operand by itself has to be of {_domain(rule.each)}")
    if rule.scalars in PLACES and any(o.tier == "scalar" for o in p.promoting):
        lines.append(f"it takes {PLACES[rule.scalars]}")
    if rule.meet == "alike" and len(p.promoting) > 1:
        lines.append("it does not promote: its operands have to be of one dtype")
    if rule.loops and p.node is None:
        lines.append("it computes in the first of its own dtypes to which every operand casts")
    if p.dtype is not None:
        lines.append(f"it computes in {p.compute} and gives {p.dtype}")
    return lines


def _domain(taken: Domain) -> str:
    """The kinds and dtypes that an operation takes, and those that it does not."""
    but = f" but {enumerated(taken.but)}" if taken.but else ""
    return f"{'every kind' if {*Kind} <= {*taken.listed} else enumerated(taken.listed)}{but}"


def enumerated(items: Sequence[object]) -> str:
    """`a, b and c`."""
    texts = [str(x) for x in items]
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
