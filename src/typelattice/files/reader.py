"""System files: TOML to a System, every mistake named by file, line, key and cause."""
from __future__ import annotations

import copyreg
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cache, partial
from itertools import combinations, pairwise, product
from os import PathLike
from types import MappingProxyType as Frozen
from typing import TypeVar

from typelattice.engine.numpy1 import BELOW, SIGNED, UNSIGNED
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, Node
from typelattice.facts.order import Order, OrderError, collect
from typelattice.facts.suggest import nearest, short
from typelattice.files.operation_entries import TIERS, Departures
from typelattice.files.provenance import Where
from typelattice.files.text import FOLDER, FormatError, Line, Spec, Text, UnknownSystemError, check_keys, read, spec, systems
from typelattice.files.vocabulary import LIMIT_COVERS, LIMIT_NODES, Words, items, one_of, phrase, text
from typelattice.operands.operand import WORDS

COMBINE = ("join", "fold", "comparable", "value")
VALUES = {*UNSIGNED, *SIGNED, *BELOW}  # what NumPy 1 takes values for
T = TypeVar("T")
Pair = frozenset[Node]


def system(which: str | PathLike[str] | System) -> System:
    """A system by its name, by the path of a .toml file of your own, or as it is.

    Raises UnknownSystemError, or FormatError for a file that cannot be right.
    """
    if isinstance(which, System):
        return which
    if not isinstance(which, (str, PathLike)):
        what = f"a {type(which).__name__} is no system"
        raise UnknownSystemError(f"{what}; give a name such as 'jax' or the path of a .toml file")
    if not isinstance(which, str) or which.endswith(".toml") or "/" in which or "\\" in which:
        return build(read(which))
    return _shipped(which)


@cache
def _shipped(name: str) -> System:
    if name not in systems():
        near = nearest(name, systems())
        raise UnknownSystemError(f"unknown system {short(name)}{near}; `typelattice systems` lists them; a path ends in .toml")
    return build(read(f"{FOLDER}/{name}.toml"))


def parse(text: str, file: str = "text") -> System:
    """The system that a text describes; it may extend those that come with typelattice. Raises FormatError."""
    return build(spec(Text(file, text)))


def build(spec: Spec) -> System:
    """The System that a spec describes, everything in it checked."""
    reader = _Reader(spec)
    try:
        return reader.system()
    except (ValueError, LookupError) as e:
        source = spec.texts.get(reader.key, spec.main)
        line = reader.line or (source.file, source.line(reader.key, reader.entry))
        inherited = "" if line[0] == spec.main.file else f" ({spec.main.file} extends it)"
        raise FormatError(*line, reader.key, f"{e.args[0]}{inherited}") from None


def replace(spec: Spec, **keys: object) -> System:
    """A variant with other values for keys of the file; of a table, for the entries given, and an empty one empties it."""
    text = Text(f"{spec.main.file} with {', '.join(keys)} replaced", str(keys.get("order", "")))
    if "extends" in keys:
        raise text.error("extends", "is read from files only; replace other keys, or write a file that extends this one")
    check_keys(keys, text)
    given = {key: value for key, value in keys.items() if isinstance(value, dict) and value}
    tables = {key: {**spec.values.get(key, {}), **value} for key, value in given.items()}  # type: ignore[dict-item]
    return build(spec.with_keys(deepcopy(keys | tables), text))


copyreg.pickle(System, lambda system: (build, system.replace.args))  # type: ignore[attr-defined]


class _Reader:
    """Reads the keys one after another; `key`, `entry` and `line` are those at hand, for errors."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.key = spec, "name"
        self.entry: str | None = None
        self.line: Line | None = None  # of a statement of the order
        self.words = Words()
        self.covers: dict[Line, list[tuple[Node, Node | None]]] = {}
        self.ties: dict[Pair, Node] = {}
        self.told: dict[Pair, str] = {}  # by overrides and refusals, in which entry
        self.names: dict[tuple[str, Pair], str] = {}

    def system(self) -> System:
        """The System: the keys in the order in which they build on one another."""
        title, source, library = (phrase(self.get(key, "")) for key in ("title", "source", "library"))
        name = self.get("name", "")
        if not re.fullmatch(r"\w[\w.+-]{0,59}", name):
            raise ValueError("should be a word of at most 60 letters, digits and . _ - +" if name else "missing; name it")
        words, dtypes = self.words, dict[str, DType]()
        for word, facts in self.table("dtypes"):
            d = words.define(word, facts)
            dtypes |= {word: d, d.code: d}
        words.sets = {words.new(word, "set"): text(members) for word, members in self.table("sets")}
        for _, members in self.table("sets"):
            words.nodes(members)
        self.order = self.read_order()
        self.combine = one_of(self.get("combine", "join"), COMBINE)
        width = one_of(self.get("weak", "kind"), ("kind", "width"))
        self.tiers = tuple(self.get("tiers", TIERS[:1]))
        if self.tiers not in [("array", *more) for n in range(3) for more in combinations(TIERS[1:], n)]:
            raise ValueError(f"should list some of {', '.join(TIERS)}, in that order, array first")
        if (first := self.get("first", False)) and len(self.tiers) == 1:
            raise ValueError("says nothing where `tiers` tells none apart")
        for entry, winner in self.table("ties"):
            self.tie(entry, words.nodes(entry), words.node(winner))
        overrides = {pair: words.node(said) for pair, said in self.pairs("overrides")}
        refusals = {pair: phrase(why) for pair, why in self.pairs("refusals")}
        defaults = words.by_kind(dict(self.table("defaults")))
        if self.combine == "value" and not {*VALUES, *(defaults.get(kind) for kind in WORDS.values())} <= {*self.order.nodes}:
            self.key, self.entry = "combine", None
            raise ValueError('"value" needs NumPy\'s numbers in the order, and defaults among them')
        before, after = dict(self.maps("before")), dict(self.maps("after"))
        stand_in, beside = dict(self.table("stand-in")), list[Node]()
        if stand_in:
            if "beside" not in stand_in:
                raise ValueError("`beside` is missing: the dtypes beside which a scalar counts as one of its kind")
            beside = [self.present(n) for n in words.nodes(stand_in.pop("beside"))]
        stands = {kind: d for kind, d in words.by_kind(stand_in).items() if self.present(d)}
        entries = self.get("both-ways", list[object]())
        both_ways = [frozenset(map(self.present, pair)) for entry in entries for pair in words.pairs(entry)]
        departures = Departures(words, self.present)
        return System(
            name=name, title=title, source=source, library=library,
            order=self.order, ties=Frozen(self.ties), overrides=Frozen(overrides), refusals=Frozen(refusals),
            combine=self.combine, tiers=self.tiers, first=first, weak=width, defaults=Frozen(defaults),
            before=Frozen(before), after=Frozen(after), fit=Frozen(departures.fit(dict(self.table("fit")))),
            beside=frozenset(beside), stand_in=Frozen(stands), both_ways=frozenset(both_ways),
            ops=Frozen({op: Frozen(departures.op(op, dict(items(given)))) for op, given in self.table("ops")}),
            dtypes=Frozen(dtypes), entries=Frozen(self.names),
            where=Where(self.spec, self.covers, build), replace=partial(replace, self.spec),
        )  # fmt: skip

    def get(self, key: str, default: T) -> T:
        """The value of a key, whose type is checked already; the key is the one at hand from now on."""
        self.key, self.entry = key, None
        value = self.spec.values.get(key, default)
        assert isinstance(value, type(default))
        return value

    def table(self, key: str) -> Iterator[tuple[str, object]]:
        """The entries of a table, each the one at hand in its turn."""
        for entry, value in self.get(key, dict[str, object]()).items():
            self.key, self.entry = key, entry
            yield entry, value

    def read_order(self) -> Order[Node]:
        """The order of the statements; `covers` keeps what each line states."""
        self.get("order", "")
        if not self.spec.order:
            raise ValueError("missing or empty; write covers such as `i8 -> i16`")
        chains, count = [], 0
        for line, chain in self.spec.order:
            self.line = line
            read = [self.words.nodes(",".join(part)) for part in chain]
            count += sum(len(lower) * len(upper) for lower, upper in pairwise(read))
            if count > LIMIT_COVERS:
                raise ValueError(f"more than {LIMIT_COVERS:,} covers; a system file states a rule")
            stated = self.covers.setdefault(line, [])
            stated += [(a, None) for part in read for a in part]
            stated += [pair for lower, upper in pairwise(read) for pair in product(lower, upper)]
            chains.append(read)
        self.line = None
        if len({a for stated in self.covers.values() for a, _ in stated}) > LIMIT_NODES:
            raise ValueError(f"more than {LIMIT_NODES:,} nodes; a system file states a rule")
        try:
            return Order(collect(chains))
        except OrderError:
            last = bisect_left(range(len(chains)), True, key=lambda n: bool(fault(chains[: n + 1])))
        at, cause = self.spec.order[last][0], fault(chains[: last + 1])
        implied = {line: [f"the cover {a} -> {b} is implied" for a, b in stated] for line, stated in self.covers.items()}
        self.line = next((x for x in implied if x[0] == at[0] and cause.startswith(tuple(implied[x]))), at)
        raise ValueError(cause)

    def present(self, node: Node, bare: bool = False) -> Node:
        """A node that is in the order; `bare`: or is the weak one of a kind, which stands for scalars of a lower tier."""
        if node not in self.order and not (bare and not isinstance(node, DType) and not node.dtype):
            raise ValueError(f"{node} is not in the order")
        return node

    def maps(self, key: str) -> Iterator[tuple[Node, Node]]:
        """What `before` and `after` map: what can come in, and what can come out."""
        seen: set[Node] = set()
        for code, target in self.table(key):
            node, to = self.words.node(code), self.words.node(target)
            if node in seen or node is to:
                raise ValueError(f"{node} is mapped {'twice' if node in seen else 'to itself'}")
            if key == "before" and not isinstance(node, DType) and not node.dtype:
                raise ValueError(f"{node} has no width, and never comes in as such")
            self.present(to if key == "before" else node, bare=key == "after")
            seen.add(node)
            yield node, to

    def tie(self, entry: str, bounds: Sequence[Node], winner: Node) -> None:
        """Records a tie: minimal bounds of some nodes (of two, where pairs are folded), a winner above one of them."""
        order, tie = self.order, frozenset(map(self.present, bounds))
        if len(tie) < 2 or tie in self.ties:
            raise ValueError("this tie is stated twice" if tie in self.ties else "a tie is among two nodes or more")
        below = {*order.lower_bounds(*bounds)}
        highest = [a for a in order.nodes if a in below and below.isdisjoint(order.covers(a))]
        groups = combinations(highest, len(highest) or 1 if self.combine == "join" else 2)
        if not any(frozenset(order.minimal_bounds(*group)) == tie for group in groups):
            named = ", ".join(map(str, bounds))
            raise ValueError(f"{named} are never the minimal bounds of anything, so this tie cannot occur")
        if not any(order.le(a, self.present(winner)) for a in bounds):
            raise ValueError(f"{winner} lies above none of them; the winner is one of the bounds or lies above one")
        self.ties[tie], self.names["ties", tie] = winner, entry

    def pairs(self, key: str) -> Iterator[tuple[Pair, object]]:
        """The pairs of a table of overrides or refusals; what the order says already is refused."""
        for entry, said in self.table(key):
            node = self.present(self.words.node(said)) if key == "overrides" else None
            for a, b in self.words.pairs(entry):
                pair, words = frozenset((a, b)), f"{a} + {b}"
                there = [n for n in (a, b) if self.present(n, bare=len(self.tiers) > 1) in self.order]
                if pair in self.told:
                    raise ValueError(f"{words} is said already by {short(self.told[pair])}")
                if len(there) == 2:
                    given = self.order.join(a, b) or self.ties.get(frozenset(self.order.minimal_bounds(a, b)))
                    given = None if self.combine == "comparable" and given not in pair else given
                    if given is node:
                        what = f"gives {given}" if given else "is refused"
                        raise ValueError(f"{words} {what} by the order already; leave it out")
                    if node and self.combine == "join" and all(isinstance(n, DType) or n.dtype for n in pair):
                        raise ValueError('overrides go pair by pair, and this system joins sets; say combine = "fold"')
                elif not there:
                    raise ValueError(f"{words} never meet: neither is in the order")
                elif node and node is there[0] and all(n.kind.rank <= node.kind.rank for n in pair):
                    raise ValueError(f"{words} gives {node} already: the kind is no higher; leave it out")
                self.told[pair] = self.names[key, pair] = entry
                yield pair, said


def fault(chains: list[list[list[Node]]]) -> str:
    """What keeps statements from being an order; empty if nothing does."""
    try:
        Order(collect(chains))
    except OrderError as e:
        return str(e)
    return ""
