"""What an operation takes, how its operands meet and what it computes, in English."""
from __future__ import annotations

from collections.abc import Sequence

from typelattice.engine.answer import Promotion
from typelattice.engine.operate import ignores_right, op_of
from typelattice.engine.operations import Domain
from typelattice.engine.own_meeting import as_arrays, counts_as
from typelattice.engine.taking import PLACES
from typelattice.facts.dtypes import DType, Kind

FEW = 3  # dtypes left out that are named, whether or not they are of concern


def operation_words(p: Promotion) -> list[str]:
    """What the operation takes, computes in and gives."""
    assert p.op
    rule = op_of(p.system, p.op)
    of_concern = [n for n in (p.node, p.compute, *(o.dtype for o in p.promoting)) if isinstance(n, DType)]
    of_concern += [n for step in p.steps for n in step.nodes if isinstance(n, DType)]
    lines = [f"{p.op} takes {_domain(rule.takes, of_concern)}"]
    if rule.each and any(o.dtype and o.dtype not in rule.each for o in p.promoting):
        lines.append(f"it takes for an operand {_domain(rule.each, of_concern)}")
    if rule.scalars in PLACES and any(o.tier == "scalar" for o in p.promoting):
        lines.append(f"it takes {PLACES[rule.scalars]}")
    if rule.meet == "alike" and len(p.promoting) > 1:
        lines.append("it does not promote: its operands have to be of one dtype")
    if p.node is not None and ignores_right(rule, p.promoting):
        lines.append(f"{p.promoting[1]} on its right is an integer, which takes no part in the promotion")
    if p.compute is not None:  # so that each of them is one
        made = zip(p.promoting, as_arrays(p.system, rule, p.promoting, []), strict=True)
        arrays = {o: a.dtype for o, a in made if a is not o and o.tier in p.system.tiers}
        lines += [f"{o} is made an array of {d} before its operands meet" for o, d in arrays.items()]
    counted = {o.dtype or o.kind: counts_as(p.system, rule, o) for o in p.promoting} if rule.before else {}
    lines += [f"{o} counts as {d} before its operands meet" for o, d in counted.items() if d]
    if rule.order and p.node is not None:
        lines.append("its operands meet in an order of its own")
    if rule.loops and p.node is None:
        lines.append("it computes in the first of its own dtypes to which every operand casts")
    if p.dtype is not None and p.compute is None:
        lines.append(f"its operands stay apart, none is cast; it gives {p.dtype}")
    elif p.dtype is not None:
        lines.append(f"it computes in {p.compute} and gives {p.dtype}")
    return lines


def _domain(taken: Domain, of_concern: Sequence[DType]) -> str:
    """The kinds and dtypes that an operation takes; of those left out, the ones of concern by name."""
    listed = "every kind" if {*Kind} <= {*taken.listed} else enumerated(taken.listed)
    if not taken.but:
        return listed
    named = [x for x in taken.but if len(taken.but) <= FEW or x in of_concern]
    rest = len(taken.but) - len(named)
    others = [f"{rest} {'other ' * bool(named)}dtype{'s' * (rest > 1)}"] if rest else []
    return f"{listed} but {enumerated([*named, *others])}"


def enumerated(items: Sequence[object]) -> str:
    """`a, b and c`."""
    texts = [str(x) for x in items]
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
