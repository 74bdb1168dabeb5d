"""A promotion in English, and as plain data."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from typelattice.dtypes import DType, Kind, Node
from typelattice.fit import Fit
from typelattice.loss import Loss
from typelattice.ops import find
from typelattice.promotion import Cast, Promotion, Step

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
    several = [s for s in p.steps if len(set(s.nodes)) > 1 or s.node is None or s.key not in ("order", "ties")]
    for step in several or p.steps[-1:]:
        yield from _step(p, step)
    if p.op:
        yield "operation", _operation(p)
    if p.weak:
        yield "weak", [f"the result still gives way: beside a strong dtype, only its kind ({p.dtype.kind}) counts"] if p.dtype else []
    for heading, lines in (("values", [fit_words(f) for f in p.fits]), ("casts", [cast_words(c) for c in p.casts if c.loss is not None])):
        if lines:
            yield heading, list(dict.fromkeys(lines))
    if p.dtype is None:
        yield "refused", [str(p.reason)]
        yield "instead", [str(p.remedy)]


def _step(p: Promotion, step: Step) -> Iterator[Section]:
    """One decision, told from what the order holds."""
    order, nodes, node = p.system.order, tuple(dict.fromkeys(step.nodes)), step.node
    names = " and ".join(map(name, nodes))
    if step.key in ("order", "ties", "combine") and all(n in order for n in nodes):
        bounds, lowest = order.bounds(*nodes), order.minimal_bounds(*nodes)
        target = node or (lowest[0] if len(lowest) == 1 else None)
        if target and len(nodes) > 1:
            yield "way up", [_way(p, n, target) for n in nodes]
        if len(nodes) == 1:
            yield "way up", [f"{name(nodes[0])} is alone: it stays"]
            return
        both = "both" if len(nodes) == 2 else "all"
        lines = [f"{' '.join(map(str, bounds))}" if bounds else f"none: nothing lies above {both}"]
        if len(lowest) == 1:
            rest = "the only one" if len(bounds) == 1 else "the least: every other one lies above it"
            lines.append(f"{lowest[0]} is {rest}")
        elif lowest:
            lines.append(f"{_and(lowest)} are the lowest, and {'neither' if len(lowest) == 2 else 'none'} lies below {'the other' if len(lowest) == 2 else 'another'}")
        yield "upper bounds", lines
        if step.key == "ties":
            lost = [n for n in lowest if n is not node]
            yield "tie", [f"the file chooses {node}; {_and(lost)} lost" if lost != list(lowest) else f"the file chooses {node}, above {_and(lowest)}"]
        if step.key == "combine":
            yield "rule", [f"one of the operands must hold all values of the others; {lowest[0]} is none of them"]
    elif step.key == "overrides":
        yield "override", [f"of {names} the file says outright: {node}"]
    elif step.key == "refusals":
        yield "refusal", [f"of {names} the file says outright: {p.reason}"]
    elif step.key == "tiers":
        high, low = step.nodes
        if node is high:
            why = f"{name(low)} counts only by its kind here, and {low.kind} is no higher than {high.kind}: {high} stays"
        else:
            why = f"{name(low)} counts only by its kind here, and {low.kind} is higher than {high.kind}: {node or 'no rule says what then'}"
        yield "tiers", [why]
    elif step.key == "before":
        yield "on entry", [f"{nodes[0]} counts as {name(node) if node else node}"]
    elif step.key == "after":
        yield "on the answer", [f"{nodes[0]} becomes {node}"]
    elif step.key == "defaults" and node:
        yield "default", [f"no dtype takes part, only {name(nodes[0])}: it becomes the default, {node}"]


def _way(p: Promotion, node: Node, target: Node) -> str:
    """The shortest way up the order."""
    path = next(p.system.order.paths(node, target), (node,))
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
    return f"a weak {node.dtype}" if node.dtype else f"a Python {'int' if node.kind.rank == 1 else node.kind}"


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
    value, target = _number(f.value), f.target
    return {
        "fits": f"{value} fits in {target}",
        "raise": f"{value} is out of range for {target}: an error",
        "wrap": f"{value} is out of range for {target}: it wraps to {f.becomes}",
        "inf": f"{value} is out of range for {target}: it becomes {f.becomes}",
        "widen": f"{value} is out of range for {target}: computed without a limit",
        "exact": f"{value} is out of range for {target}: used as it is, exactly",
    }.get(f.outcome, f"{value} is out of range for {target}, and the file does not say what then")


def _number(value: object) -> str:
    """A number as one would say it: powers of two beyond 2**10 as such."""
    if isinstance(value, int) and value > 2**10 and not value & (value - 1):
        return f"2**{value.bit_length() - 1}"
    if isinstance(value, int) and value > 2**31 and not value & (value + 1):
        return f"2**{value.bit_length()} - 1"
    return f"{value:.4g}".removesuffix(".0") if isinstance(value, float) and not value.is_integer() or isinstance(value, float) and abs(value) > 1e7 else (
        f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value))


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
        "steps": [{"key": s.key, "entry": s.entry, "nodes": [str(n) for n in s.nodes], "node": s.node and str(s.node)} for s in p.steps],
        "casts": [{"operand": str(c.operand), "from": str(c.source), "to": c.target.name, "loss": _loss_data(c)} for c in p.casts],
        "fits": [{"value": _jsonable(f.value), "in": f.target.name, "outcome": f.outcome, "becomes": _jsonable(f.becomes)} for f in p.fits],
        "rule": {"file": p.rule.file, "key": p.rule.key, "lines": list(p.rule.lines)},
        "reason": p.reason,
        "remedy": p.remedy,
    }


def _loss_data(cast: Cast) -> dict[str, object] | None:
    return None if cast.loss is None else {field: getattr(cast.loss, field) for field in cast.loss.__slots__} | {"words": cast_words(cast)}


def _jsonable(value: object) -> object:
    """A number as JSON has it; complex and not finite ones as text, for JSON has none."""
    return value if value is None or isinstance(value, (bool, int)) or isinstance(value, float) and value - value == 0 else str(value)
