"""A promotion in English, and as plain data."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from typelattice.engine.answer import Cast, Promotion, Step
from typelattice.engine.fit import Fit
from typelattice.engine.numpy1 import UNKNOWN, intervals
from typelattice.engine.operations import find
from typelattice.facts.dtypes import DType, Kind, Node
from typelattice.facts.loss import Loss
from typelattice.facts.paths import paths

MANY = 12  # upper bounds spelled out
Section = tuple[str, list[str]]  # a heading of one or two words, and the lines that stand under it


def answer(p: Promotion) -> str:
    """The result in two words.

    >>> from typelattice import system
    >>> answer(system("jax").explain("int8", "float"))
    'float64 (weak)'
    """
    return "refused" if p.dtype is None else f"{p.dtype} (weak)" if p.weak else str(p.dtype)


def question(p: Promotion) -> str:
    """The operands, and the operation if there is one: `add of int8 and uint8`."""
    return asked([str(o) for o in p.operands], p.op)


def asked(operands: Sequence[str], op: str | None) -> str:
    return f"{op} of {' and '.join(operands)}" if op else " with ".join(operands)


def sections(p: Promotion) -> Iterator[Section]:
    """All there is to say of a promotion, in the order in which it happens."""
    steps = [s for s in p.steps if len(set(s.nodes)) > 1 or s.node is None or s.key not in ("order", "ties")] or p.steps[-1:]
    entered = _entered(p, steps)
    if entered:
        yield "on entry", entered
    for i, step in enumerate(steps, 1):
        if len(steps) > 1 and step.key in ("order", "ties") and len(step.nodes) > 1:
            yield f"step {i}", [f"{' with '.join(map(name, step.nodes))}: {step.node or 'refused'}"]
        yield from _step(p, step)
    unknown = [o for o in p.promoting if o.tier != "array" and o.kind.rank == 1 and o.value is None]
    if p.system.combine == "value" and len(unknown) == 1:
        spans = intervals(p.system, *p.promoting, op=p.op)
        yield "by value", [f"{_number(low)} to {_number(high)}: {d or 'refused'}" for low, high, d in spans]
    if p.op:
        yield "operation", _operation(p)
    if p.weak and p.dtype:
        yield "weak", [f"the result gives way to a dtype beside it, as a Python {_word(p.dtype.kind)} does"]
    if p.fits:
        yield "values", [fit_words(f) for f in p.fits]
    casts = dict.fromkeys(cast_words(c) for c in p.casts if c.loss is not None)
    if casts:
        yield "casts", list(casts)
    if p.dtype is None:
        yield "refused", [str(p.reason)]
        yield "instead", [str(p.remedy)]


def _step(p: Promotion, step: Step) -> Iterator[Section]:
    """One decision, told from what the order holds."""
    order, nodes, node = p.system.order, tuple(dict.fromkeys(step.nodes)), step.node
    names = " and ".join(map(name, nodes))
    if step.key == "combine" and node:
        known = all(o.value is not None for o in p.promoting if o.tier != "array")
        why = "the smallest dtype that holds its value" if known else f"a value that is unknown is taken to be {UNKNOWN}"
        yield "on entry", [f"{names} counts as {node}, {why}"]
    elif step.key in ("order", "ties", "combine") and all(n in order for n in nodes):
        bounds, lowest = order.bounds(*nodes), order.minimal_bounds(*nodes)
        target = node or (lowest[0] if len(lowest) == 1 else None)
        if target and len(nodes) > 1:
            yield "way up", [_way(p, n, target) for n in nodes]
        if len(nodes) == 1:
            if any(o.dtype for o in p.promoting):
                yield "way up", [f"{nodes[0]} is alone: it stays"]
            return
        both = "both" if len(nodes) == 2 else "all"
        shown = sorted(bounds, key=place)
        more = f" and {len(bounds) - MANY} more" if len(bounds) > MANY + 1 else ""
        lines = [" ".join(map(str, shown[:MANY] if more else shown)) + more if bounds else f"none: nothing lies above {both}"]
        if len(lowest) == 1:
            rest = "the only one" if len(bounds) == 1 else "the least: every other one lies above it"
            lines.append(f"{lowest[0]} is {rest}")
        elif lowest:
            none = "neither lies below the other" if len(lowest) == 2 else "none lies below another"
            lines.append(f"{_and(lowest)} are the lowest, and {none}")
        yield "upper bounds", lines
        if step.key == "ties":
            lost = [n for n in lowest if n is not node]
            yield "tie", [f"the file chooses {node}{f'; {_and(lost)} lost' if node in lowest else f', above {_and(lowest)}'}"]
        if step.key == "combine":
            yield "rule", [f"one of the operands must hold all values of the others; {lowest[0]} is none of them"]
    elif step.key == "overrides":
        yield "override", [f"of {names} the file says outright: {node}"]
    elif step.key == "tiers":
        high, low = step.nodes
        then = f"no higher than {high}'s: it adds nothing" if node is high else f"higher than {high}'s: {node or 'no rule'}"
        yield "tiers", [f"{_lower(p, low)} counts only by its kind here, which is {then}"]
    elif step.key == "before":
        yield "on entry", [f"{nodes[0]} counts as {name(node) if node else node}"]
    elif step.key == "after":
        yield "on the answer", [f"{nodes[0]} becomes {node}"]
    elif step.key == "defaults" and node:
        yield "default", [f"{nodes[0]} has no width of its own: it becomes the default, {node}"]


def _entered(p: Promotion, steps: Sequence[Step]) -> list[str]:
    """The Python scalars that stand as their default dtypes among the nodes of the order."""
    nodes = {n for s in steps for n in s.nodes if s.key != "tiers"}
    kinds = {o.kind: p.system.defaults.get(o.kind) for o in p.promoting if o.dtype is None}
    return [f"a Python {_word(kind)} counts as its default, {d}" for kind, d in kinds.items() if d in nodes]


def _lower(p: Promotion, node: Node) -> str:
    """What a node of a lower tier stands for: a Python scalar stands there as its default dtype."""
    if any(o.dtype is None and o.kind.rank == node.kind.rank for o in p.promoting):
        return f"a Python {_word(node.kind)}"
    return f"the 0-d {node}" if isinstance(node, DType) else name(node)


def place(node: Node) -> tuple[int, int, int, str]:
    """Where a node stands in a list: kind by kind from narrow to wide, weak ones last; the order of the documents."""
    d = node if isinstance(node, DType) else node.dtype
    return not isinstance(node, DType), list(Kind).index(node.kind), (d.bits if d else 0) or 65, str(node)


def _way(p: Promotion, node: Node, target: Node) -> str:
    """The shortest way up the order."""
    path = next(paths(p.system.order, node, target), (node,))
    return " -> ".join(map(str, path)) + (" is there already" if len(path) == 1 else "")


def _operation(p: Promotion) -> list[str]:
    """What the operation takes, computes in and gives."""
    assert p.op
    rule = find(p.op, p.system.ops)
    takes = "every kind" if set(rule.takes) == set(Kind) else _and(rule.takes)
    lines = [f"{p.op} takes {takes}"]
    if rule.loops and p.node is None:
        lines.append("it computes in the first of its own dtypes to which every operand casts")
    if p.dtype is not None:
        lines.append(f"it computes in {p.compute} and gives {p.dtype}")
    return lines


def name(node: Node) -> str:
    """What a node of an order stands for."""
    if isinstance(node, DType):
        return node.name
    return f"a weak {node.dtype}" if node.dtype else f"a Python {_word(node.kind)}"


def _word(kind: Kind) -> str:
    return "int" if kind.rank == 1 else kind.value


def cast_words(cast: Cast) -> str:
    """A cast and what it can lose."""
    lost = loss_words(cast.loss, cast.source, cast.target) if cast.loss and isinstance(cast.source, DType) else []
    return f"{cast.source} to {cast.target}: {'; '.join(lost) or 'loses nothing'}"


def loss_words(loss: Loss, source: DType, target: DType) -> list[str]:
    """What a cast can lose, a phrase for each way.

    >>> from typelattice import dtype, loss
    >>> a, b = dtype("int64"), dtype("float64")
    >>> loss_words(loss(a, b), a, b)
    ['integers above 2**53 are no longer exact']
    """
    lost = []
    if loss.imaginary:
        lost.append("the imaginary part is dropped")
    if loss.sign:
        lost.append("negative values have no place" if source.precision else "negative values wrap")
    if loss.magnitude and target.max is not None:
        into = "become inf" if "i" in target.specials else "become nan" if "n" in target.specials else "have no place"
        beyond = f"beyond {_number(target.max)}" if target.precision or not loss.sign else f"above {_number(target.max)}"
        lost.append(f"values {beyond} {into if target.precision else 'wrap' if source.precision is None else 'have no place'}")
    elif loss.magnitude:
        lost.append(f"values beyond the platform's {target} wrap")
    if loss.precision and source.precision and target.precision is None:
        lost.append("fractions are cut off")
    elif loss.precision and source.precision and target.precision and source.precision > target.precision:
        lost.append(f"{source.precision} significant bits are rounded to {target.precision}")
    elif loss.first_inexact:
        lost.append(f"integers above {_number(loss.first_inexact - 1)} are no longer exact")
    if loss.underflow:
        lost.append(f"values near {_number(source.smallest)} become zero")
    elif loss.precision and target.precision and source.precision and source.precision <= target.precision:
        lost.append(f"values near {_number(source.smallest)} are rounded")
    if loss.special:
        lost.append(f"{_and(loss.special)} {'has' if len(loss.special) == 1 else 'have'} no counterpart")
    return lost


def fit_words(f: Fit) -> str:
    """What becomes of a Python scalar's value."""
    value = _number(f.value)
    return f"{value} fits in {f.target}" if f.outcome == "fits" else f"{value} is out of range for {f.target}: {fate(f)}"


def fate(f: Fit) -> str:
    """What a system does with a value out of range."""
    fates = {
        "raise": "an error", "wrap": f"it wraps to {f.becomes}", "inf": f"it becomes {f.becomes}",
        "widen": "computed without a limit", "exact": "used as it is, exactly",
    }  # fmt: skip
    return fates.get(f.outcome, "no rule says what then")


def _number(value: object) -> str:
    """A number as one would say it: a large power of two as such, a float in few digits."""
    if isinstance(value, int) and value > 2**10:
        off = 1 if value & (value + 1) == 0 else 0
        if (value + off) & (value + off - 1) == 0:
            return f"2**{(value + off).bit_length() - 1}" + " - 1" * off
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) < 1e7 and value.is_integer() else f"{value:.4g}"
    return str(value)


def _and(items: Sequence[object]) -> str:
    """`a, b and c`."""
    texts = [str(x) for x in items]
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def data(p: Promotion) -> dict[str, object]:
    """A promotion as dictionaries, lists, strings, numbers: what JSON can hold."""
    return {
        "system": p.system.name,
        "operands": [str(o) for o in p.operands],
        "op": p.op,
        "dtype": p.dtype and p.dtype.name,
        "weak": p.weak,
        "compute": p.compute and p.compute.name,
        "node": p.node and str(p.node),
        "bounds": [str(n) for n in p.bounds],
        "steps": [_step_data(s) for s in p.steps],
        "casts": [_cast_data(c) for c in p.casts],
        "fits": [_fit_data(f) for f in p.fits],
        "rule": {"file": p.rule.file, "key": p.rule.key, "lines": list(p.rule.lines)},
        "reason": p.reason,
        "remedy": p.remedy,
    }


def _step_data(s: Step) -> dict[str, object]:
    return {"key": s.key, "entry": s.entry, "nodes": [str(n) for n in s.nodes], "node": s.node and str(s.node)}


def _cast_data(cast: Cast) -> dict[str, object]:
    """A cast; its loss is null where nothing is lost, and for a Python scalar, whose fate is its fit."""
    lost = {field: getattr(cast.loss, field) for field in cast.loss.__slots__} if cast.loss else None
    return {"operand": str(cast.operand), "from": str(cast.source), "to": cast.target.name, "loss": lost}


def _fit_data(f: Fit) -> dict[str, object]:
    """A fit; what JSON has no number for is text: complex, inf, nan."""
    value, becomes = (
        str(x) if isinstance(x, complex) or (isinstance(x, float) and x - x != 0) else x for x in (f.value, f.becomes)
    )
    return {"value": value, "in": f.target.name, "outcome": f.outcome, "becomes": becomes}
