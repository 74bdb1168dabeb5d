"""What a system file states and nothing uses, or what goes against the rest of it, is refused.

A file is asked for what it says itself, not for what it inherits: a variant may leave a set of the other
unused.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

from typelattice.engine.operations import Domain, Op, entries, find
from typelattice.engine.rules import Rules
from typelattice.facts.dtypes import DType, Kind, Node, weak
from typelattice.facts.operations import OPERATIONS, OPERATORS, Operation
from typelattice.files.cursor import Cursor
from typelattice.files.vocabulary import Words

Finding = tuple[str, str | None, str]  # key, entry, what is wrong with it


def check_effects(cursor: Cursor, words: Words, rules: Rules) -> None:
    """Raises ValueError for the first key or entry that has no effect; the cursor is then there."""
    if not cursor.spec.whole:
        return
    found = [_words(cursor, words, rules), idle_keys(rules)]
    if cursor.spec.says("ops"):
        found.append(_ops(rules))
    for key, entry, cause in chain.from_iterable(found):
        if cursor.spec.says(key, entry):
            cursor.at(key, entry)
            raise ValueError(cause)


def idle_keys(rules: Rules) -> Iterator[Finding]:
    """Keys and entries without effect, but for words, `after` and `ops`."""
    return chain(_defaults(rules), _scalars(rules), _loops(rules))


def _words(cursor: Cursor, words: Words, rules: Rules) -> Iterator[Finding]:
    """Dtypes and sets that are used nowhere, and answers that could not be operands."""
    for word in cursor.spec.entries("dtypes"):
        if not _enters(words.known[word], rules):
            yield "dtypes", word, f"{word} is neither in the order nor in `before`, so no operand can have it"
    for word in words.sets:
        if word not in words.used:
            yield "sets", word, f"{word} is used nowhere"
    for word, target in cursor.spec.entries("after").items():
        node = words.node(target)
        if not _named(node, rules):
            yield "after", word, f"{node} is neither in the order nor in `before`, so no operand can have it"


def _enters(node: Node, rules: Rules) -> bool:
    """Whether operands may have a dtype, or be of a weak node."""
    return node in rules.order or node in rules.before


def _named(node: Node, rules: Rules) -> bool:
    """Whether an answer may have a dtype: operands may, be they weak.

    Where the order has weak nodes alone, as Python's has, dtypes are but names for its numbers.
    """
    weak_alone = not any(isinstance(n, DType) for n in rules.order.nodes)
    return (
        weak_alone
        or _enters(node, rules)
        or (isinstance(node, DType) and weak(node.kind, node) in rules.order)
    )


def _defaults(rules: Rules) -> Iterator[Finding]:
    """Default dtypes that no operand could have, or that nothing asks for."""
    for kind, d in rules.defaults.items():
        if not _named(d, rules):
            yield "defaults", "uint" if kind is Kind.UNSIGNED else kind.word, f"{d} is not in the order"
    for kind, several in rules.wider.items():
        if weak(kind) in rules.order:
            cause = f"more than one dtype says nothing where the order has {weak(kind)}, whatever the value"
            yield "defaults", kind.word, cause
        for d in several:
            if not _named(d, rules):
                yield "defaults", kind.word, f"{d} is not in the order"
    asked = [target for said in rules.ops.values() for target in _targets(said)]
    if Kind.UNSIGNED in rules.defaults and not any(target is Kind.UNSIGNED for target in asked):
        yield "defaults", "uint", "no operation of `ops` asks for it, and no Python scalar is unsigned"


def _scalars(rules: Rules) -> Iterator[Finding]:
    """What is said of Python scalars that never come in, or that are told apart nowhere."""
    kinds = {node.kind.word for node in rules.order.nodes}
    for word in rules.fit:
        if word not in kinds:
            yield "fit", word, f"the order has no {word} that a Python {word} could become"
    for d in rules.joins:
        if d not in rules.order:
            yield "fit", "int", f"{d} is not in the order"
    for held in rules.holds:
        if isinstance(held, Kind) and held.word not in kinds:
            yield "holds", held.word, f"the order has no {held.word} that a Python {held.word} could become"
        if isinstance(held, DType) and not _enters(held, rules):
            yield "holds", None, f"{held} is not in the order"
    if rules.first and "scalar" not in rules.tiers:
        yield "first", None, 'says nothing where `tiers` does not tell "scalar" apart'
    if rules.first and rules.combine == "value":
        yield "first", None, 'says nothing where `combine` is "value"'
    if rules.overrides and rules.combine == "value":
        yield "overrides", None, 'says nothing where `combine` is "value"'


def _loops(rules: Rules) -> Iterator[Finding]:
    """What is of use to operations with loops, where there are none."""
    if any(said.get("loops") for said in rules.ops.values()):
        return
    for key, said in (("stand-in", rules.beside), ("both-ways", rules.both_ways)):
        if said:
            yield key, None, "says nothing where no operation of `ops` has `loops`"
    if rules.refusals and rules.combine == "value":
        yield (
            "refusals",
            None,
            'says nothing where `combine` is "value" and no operation of `ops` has `loops`',
        )


def _ops(rules: Rules) -> Iterator[Finding]:
    """Entries of `ops` without effect, or with dtypes that the system does not have."""
    for entry, said in rules.ops.items():
        if not said:
            yield "ops", entry, f"{entry} is said to do nothing else than the standard; leave it out"
        for target in _targets(said):
            if isinstance(target, DType) and not _named(target, rules):
                yield "ops", entry, f"{target} is not in the order"
            elif isinstance(target, Kind) and target not in rules.defaults and target is not Kind.BOOL:
                yield "ops", entry, f"{target} has no dtype in `defaults`"
        for source in _sources(said):
            if isinstance(source, DType) and not _enters(source, rules):
                yield "ops", entry, f"{source} is not in the order"
        for o in _told(entry, "meet", rules) if said.get("meet") == "apart" else ():
            if not isinstance(find(o.name, rules.ops).gives, (DType, Kind)):
                cause = 'meet = "apart" needs a dtype in `gives`, since the operands have none in common'
                yield "ops", entry, cause
        for key, value in said.items():
            is_emptied = key.endswith("_of") and not value  # by a word that is said of all dtypes
            if key in _NEEDS and not is_emptied and not _matters(entry, key, rules):
                yield "ops", entry, _NEEDS[key][0]


def _targets(said: Mapping[str, object]) -> list[object]:
    """The dtypes and kinds that an entry of `ops` computes in or gives."""
    tables = (_mapping(said, key).values() for key in ("before", "computes", "gives_of"))
    return [*chain.from_iterable(tables), said.get("gives")]


def _sources(said: Mapping[str, object]) -> list[object]:
    """The dtypes and kinds of which an entry of `ops` says something, but for those that it leaves out.

    A variant with fewer dtypes leaves out the same ones.
    """
    domains = [d for d in map(said.get, ("takes", "each", "absorbs")) if isinstance(d, Domain)]
    named = chain.from_iterable(d.listed for d in domains)
    refused = said.get("refuses")
    sides = (side for pair in refused for side in pair[:2]) if isinstance(refused, tuple) else ()
    tables = (_mapping(said, key) for key in ("ignores_of", "before", "computes", "gives_of", "weak_of"))
    order = said.get("order")
    own = (a for a, _ in order) if isinstance(order, tuple) else ()
    return [*named, *own, *chain.from_iterable(sides), *chain.from_iterable(tables), *_mapping(said, "holds")]


def _mapping(said: Mapping[str, object], key: str) -> Mapping[object, object]:
    found = said.get(key)
    return found if isinstance(found, Mapping) else {}


def _matters(entry: str, key: str, rules: Rules) -> bool:
    """Whether what an entry says by a key has an effect in one of the operations that it is about."""
    inherited = {name: said for name, said in rules.ops.items() if name != entry}
    return any(
        _NEEDS[key][1](o, find(o.name, rules.ops), find(o.name, inherited), rules)
        for o in _told(entry, key, rules)
    )


def _told(entry: str, key: str, rules: Rules) -> Iterator[Operation]:
    """The operations that do what an entry says by a key, since no entry says more nearly what they do."""
    for o, nearer in _operations_of().get(entry, ()):
        if not any(key in rules.ops.get(name, {}) for name in nearer):
            yield o


@cache
def _operations_of() -> Mapping[str, Sequence[tuple[Operation, Sequence[str]]]]:
    """Entry -> the operations of which it may speak, each with the entries that count more."""
    found: dict[str, list[tuple[Operation, Sequence[str]]]] = {}
    for o in (*OPERATIONS.values(), *OPERATORS.values()):
        named = entries(o.name)
        for place, name in enumerate(named):
            if name not in named[:place]:
                found.setdefault(name, []).append((o, named[:place]))
    return found


# Of an operation, what it does, and what it would do without the entry.
_Needs = Callable[[Operation, Op, Op, Rules], bool]
_Need = tuple[str, _Needs]
_IGNORES: _Need = ("ignores says nothing of one operand", lambda o, op, without, rules: o.most != 1)
_WEAK: _Need = (
    "weak says nothing of operands that stay apart",
    lambda o, op, without, rules: op.meet != "apart",
)
# Of a key of an operation: what to say where it has no effect, and when it has one.
_NEEDS: dict[str, _Need] = {
    "before": (
        "before says nothing of one operand, or beside `loops`: name what it computes in by `computes`",
        lambda o, op, without, rules: o.most != 1 and not op.loops,
    ),
    "order": (
        "order says nothing of one operand, or beside `loops`",
        lambda o, op, without, rules: o.most != 1 and not op.loops,
    ),
    "own": ("own says nothing without `loops`", lambda o, op, without, rules: bool(op.loops)),
    "into": (
        'into says nothing without gives = "left", but for operators that write in place',
        lambda o, op, without, rules: op.writes or "left" in (op.gives, *op.gives_of.values()),
    ),
    "ignores": _IGNORES,
    "ignores_of": _IGNORES,
    "meet": (
        "meet says nothing of one operand, beside `loops`, or of what is so already",
        lambda o, op, without, rules: o.most != 1 and not op.loops and op.meet != without.meet,
    ),
    "absorbs": (
        "absorbs says nothing of one operand",
        lambda o, op, without, rules: o.most != 1,
    ),
    "each": (
        "each says nothing that does not hold already",
        lambda o, op, without, rules: op.each != without.each,
    ),
    "scalars": (
        "scalars says nothing that does not hold already",
        lambda o, op, without, rules: op.scalars != without.scalars and not o.dimensions,
    ),
    "weak": _WEAK,
    "weak_of": _WEAK,
    "refuses": (
        "refuses says nothing of one operand, or of what is so already",
        lambda o, op, without, rules: o.most != 1 and op.refuses != without.refuses,
    ),
    "dimensions": (
        "dimensions says nothing that does not hold already",
        lambda o, op, without, rules: op.dimensions > max(o.dimensions, without.dimensions),
    ),
    "adopts": (
        'adopts = "joined" says nothing where nothing else is computed in',
        lambda o, op, without, rules: op.adopts != without.adopts and bool(op.computes or op.loops),
    ),
    "natural": (
        "natural says nothing of one operand, or of what is so already",
        lambda o, op, without, rules: o.most != 1 and op.natural != without.natural,
    ),
    "gives": (
        'gives = "joined" says nothing where nothing else is computed in: name it in `computes` or `loops`',
        lambda o, op, without, rules: op.gives != "joined" or bool(op.computes or op.loops),
    ),
    "gives_of": (
        'gives says nothing of single dtypes beside into = "cast", by which none is computed in',
        lambda o, op, without, rules: op.into != "cast",
    ),
    "arrays": (
        'arrays says nothing of one operand, of what is so already, or where `tiers` tells nothing apart',
        lambda o, op, without, rules: (
            o.most != 1 and op.arrays != without.arrays and {*rules.tiers} > {"array"}
        ),
    ),
    "computes": (
        "an empty `computes` empties nothing here; leave it out",
        lambda o, op, without, rules: bool(op.computes or without.computes),
    ),
    "loops": (
        "an empty `loops` empties nothing here; leave it out",
        lambda o, op, without, rules: bool(op.loops or without.loops),
    ),
    "holds": (
        "an empty `holds` empties nothing here; leave it out",
        lambda o, op, without, rules: bool(op.holds or without.holds or rules.holds),
    ),
    "fit": (
        "an empty `fit` empties nothing here; leave it out",
        lambda o, op, without, rules: bool(op.fit or (rules.fit if without.fit is None else without.fit)),
    ),
}
