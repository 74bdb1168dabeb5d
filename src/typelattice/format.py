"""System files: TOML to a System, every mistake named by file, line, key and cause."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import combinations, pairwise, product
from pathlib import Path

from typelattice import ops
from typelattice.dtypes import CODES, DTYPES, DType, Kind, Node, define, nearest, short, weak
from typelattice.fit import DEFAULT, OUTCOMES
from typelattice.operand import SCALARS
from typelattice.order import Order, OrderError, collect
from typelattice.source import FOLDER, KEYS, FormatError, Line, Spec, Text, UnknownSystem, article, read, spec, systems, where
from typelattice.system import System

COMBINE = ("join", "fold", "comparable")
TIERS = ["array", "0d", "scalar"]
LETTERS = {kind.letter: kind for kind in Kind}
KINDS = {**{cls.__name__: kind for cls, kind in SCALARS.items()}, "uint": Kind.UNSIGNED}
FACTS: dict[str, type | tuple[type, ...]] = {
    "kind": str, "code": str, "bits": int, "storage_bits": int, "max": (int, float), "precision": int, "min_exponent": int, "specials": str,
}  # fmt: skip
LIMIT_NODES, LIMIT_COVERS = 5_000, 100_000


def system(which: str | Path | System) -> System:
    """A system by its name, by the path of a .toml file of your own, or as it is.

    Raises UnknownSystem, or FormatError for a file that cannot be right.
    """
    if isinstance(which, System):
        return which
    if not isinstance(which, (str, Path)):
        raise UnknownSystem(f"a {type(which).__name__} is no system; give a name such as 'jax' or the path of a .toml file")
    if isinstance(which, Path) or which.endswith(".toml") or "/" in which or "\\" in which:
        return build(read(Path(which)))
    return _shipped(which)


@cache
def _shipped(name: str) -> System:
    if name not in systems():
        raise UnknownSystem(f"unknown system {short(name)}{nearest(name, systems())}; `typelattice systems` lists them, or give a path ending in .toml")
    return build(read(FOLDER / f"{name}.toml"))


def parse(text: str, file: str = "text") -> System:
    """The system that a text describes; it may extend those that come with typelattice. Raises FormatError."""
    return build(spec(Text(file, text)))


def build(spec: Spec) -> System:
    """The System that a spec describes, everything in it checked."""
    reader = _Reader(spec)
    try:
        return reader.system()
    except FormatError:
        raise
    except (ValueError, KeyError) as e:
        raise spec.texts.get(reader.key, spec.main).error(reader.key, str(e.args[0]), reader.entry) from None


def replace(spec: Spec, **keys: object) -> System:
    """A variant of a system with other values for keys of its file: `replace(defaults={"float": "float64"})`."""
    text = Text(f"{spec.main.file} with {', '.join(keys)} replaced", "")
    for key, value in keys.items():
        if key not in KEYS or key == "extends":
            raise text.error(key, f"unknown key{nearest(key, KEYS)}; the keys are {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise text.error(key, f"should be {article(KEYS[key])}, is {article(type(value))}")
    return build(spec.with_keys(keys, text))


class _Reader:
    """Reads the keys one after another; `key` and `entry` are those at hand, for errors."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.key, self.entry = spec, "name", ""
        self.dtypes: dict[str, DType] = {}
        self.covers: dict[Line, list[tuple[Node, Node | None]]] = {}
        self.ties: dict[frozenset[Node], Node] = {}
        self.names: dict[frozenset[Node], str] = {}

    def system(self) -> System:
        if not self.get("name", ""):
            raise ValueError("missing; every system has a name")
        for name, facts in self.table("dtypes"):
            self.dtypes[name] = _own_dtype(name, facts)
        self.order = self.read_order()
        self.combine = one_of(self.get("combine", "join"), COMBINE)
        width = one_of(self.get("weak", "kind"), ("kind", "width"))
        tiers = self.get("tiers", ["array"])
        if tiers not in ([t for t in TIERS if t == "array" or t in more] for more in (["0d"], ["scalar"], TIERS, [])):
            raise ValueError(f"should list some of {', '.join(TIERS)}, in that order, array first")
        for entry, winner in self.table("ties"):
            bounds = frozenset(self.nodes(entry))
            self.ties[bounds], self.names[bounds] = self.tie(bounds, self.node(winner)), entry
        overrides = {pair: self.node(said) for pair, said in self.pairs("overrides")}
        refusals = {pair: text(why) for pair, why in self.pairs("refusals")}
        both_ways = frozenset(pair for entry in self.get("both-ways", []) for pair in self.read_pairs(text(entry)))
        stand_in = dict(self.table("stand-in"))
        beside = frozenset(self.nodes(text(stand_in.pop("beside")))) if "beside" in stand_in else frozenset()
        return System(
            name=self.get("name", ""),
            title=self.get("title", ""),
            source=self.get("source", ""),
            library=self.get("library", ""),
            order=self.order,
            ties=self.ties,
            overrides=overrides,
            refusals=refusals,
            combine=self.combine,
            tiers=tuple(tiers),
            first=self.get("first", False),
            weak=width,
            defaults={self.kind(k): self.dtype(v) for k, v in self.table("defaults")},
            before={self.node(k): self.node(v) for k, v in self.table("before")},
            after={self.node(k): self.node(v) for k, v in self.table("after")},
            fit={self.kind(k).word: policy(v) for k, v in self.table("fit")},
            beside=beside,
            stand_in={self.kind(k): self.dtype(v) for k, v in stand_in.items()},
            both_ways=both_ways,
            ops={op: self.op(op, given) for op, given in self.table("ops")},
            dtypes=self.dtypes,
            entries=self.names,
            where=partial(where, self.spec, self.covers, self.order),
            replace=partial(replace, self.spec),
        )

    def get(self, key: str, default):  # type: ignore[no-untyped-def]
        """The value of a key, whose type is checked already."""
        self.key, self.entry = key, ""
        return self.spec.values.get(key, default)

    def table(self, key: str) -> Iterator[tuple[str, object]]:
        """The entries of a table, each noted as the one at hand."""
        for entry, value in self.get(key, {}).items():
            self.key, self.entry = key, entry
            yield entry, value

    def read_order(self) -> Order[Node]:
        self.key, self.entry = "order", ""
        if not self.spec.order:
            raise ValueError("missing or empty; write covers such as `i8 -> i16`")
        chains, count = [], 0
        for line, chain in self.spec.order:
            try:
                read = [self.nodes(",".join(part)) for part in chain]
            except ValueError as e:
                raise FormatError(*line, "order", str(e)) from None
            chains.append(read)
            stated = self.covers.setdefault(line, [])
            stated += [(a, None) for part in read for a in part]
            stated += [pair for lower, upper in pairwise(read) for pair in product(lower, upper)]
            count += len(stated)
            if count > LIMIT_COVERS:
                raise ValueError(f"more than {LIMIT_COVERS:,} covers; a system file states a rule")
        covers = collect(chains)
        if len(covers) > LIMIT_NODES:
            raise ValueError(f"more than {LIMIT_NODES:,} nodes; a system file states a rule")
        return Order(covers)

    def nodes(self, names: str, within: tuple[str, ...] = ()) -> list[Node]:
        """`u8, small`: a list of nodes and of named sets of them."""
        sets, found = self.spec.values.get("sets", {}), []
        for word in (part.strip() for part in names.split(",")):
            if not isinstance(sets, dict) or word not in sets:
                found.append(self.node(word))
            elif word in within:
                raise ValueError(f"a circle of sets: {' -> '.join((*within, word))}")
            else:
                found += self.nodes(text(sets[word], f"the set {word}"), (*within, word))
        return found

    def node(self, code: object) -> Node:
        """The node of a code: u8, uint8, i*, i32*, or a dtype of the file's own."""
        stem, star = text(code).removesuffix("*"), text(code).endswith("*")
        if star and stem in LETTERS:
            return weak(LETTERS[stem])
        d = self.dtypes.get(stem) or CODES.get(stem) or DTYPES.get(stem)
        if d is None:
            raise ValueError(f"unknown dtype {short(text(code))}{nearest(stem, [*CODES, *DTYPES, *self.dtypes])}")
        return weak(d.kind, d) if star else d

    def dtype(self, code: object) -> DType:
        node = self.node(code)
        if not isinstance(node, DType):
            raise ValueError(f"{node} has no width; name a dtype such as \"i32\"")
        return node

    def kind(self, word: str) -> Kind:
        if word not in KINDS:
            raise ValueError(f"unknown kind of scalar {short(word)}; these are {', '.join(KINDS)}")
        return KINDS[word]

    def tie(self, bounds: frozenset[Node], winner: Node) -> Node:
        """The winner of a tie: minimal bounds of some set of nodes, and the winner above one of them."""
        below = self.order.lower_bounds(*bounds)
        if len(bounds) < 2 or not below or frozenset(self.order.minimal_bounds(*below)) != bounds:
            raise ValueError(f"{', '.join(map(str, bounds))} are never the minimal bounds of anything, so this tie cannot occur")
        if not any(self.order.le(a, winner) for a in bounds):
            raise ValueError(f"{winner} lies above none of them; the winner is one of the bounds or lies above one")
        return winner

    def pairs(self, key: str) -> Iterator[tuple[frozenset[Node], object]]:
        """The pairs of a table of overrides or refusals; what the order says already is refused."""
        for entry, said in self.table(key):
            node = self.node(said) if key == "overrides" else None
            if node and node not in self.order:
                raise ValueError(f"{node} is not in the order")
            for pair in self.read_pairs(entry):
                missing = [n for n in pair if n not in self.order and (isinstance(n, DType) or n.dtype)]
                if missing:
                    raise ValueError(f"{missing[0]} is not in the order")
                if all(n in self.order for n in pair):
                    given = self.order.join(*pair) or self.ties.get(frozenset(self.order.minimal_bounds(*pair)))
                    given = None if self.combine == "comparable" and given not in pair else given
                    if given is node:
                        what = f"gives {given}" if given else "is refused"
                        raise ValueError(f"{' + '.join(map(str, pair))} {what} by the order already; leave it out")
                    if node and self.combine == "join":
                        raise ValueError('overrides go pair by pair, and this system joins sets; say combine = "fold"')
                self.names[pair] = entry
                yield pair, said

    def read_pairs(self, entry: str) -> list[frozenset[Node]]:
        """`a, b + c` is each left with each right, `a, b, c` every two of them."""
        sides = [self.nodes(side) for side in entry.split("+")]
        if len(sides) > 2 or len(sides) == len(sides[0]) == 1:
            raise ValueError("names no pairs; write \"a, b + c\" or \"a, b, c\"")
        return [frozenset(pair) for pair in (product(*sides) if len(sides) == 2 else combinations(sides[0], 2))]

    def op(self, op: str, given: object) -> dict[str, object]:
        """What the file says of an operation or of a class of them."""
        if op not in ops.CLASS and op not in ops.STANDARD:
            raise ValueError(f"unknown operation or class {short(op)}{nearest(op, [*ops.STANDARD, *ops.CLASS])}")
        readers: dict[str, Callable[[object], object]] = {
            "takes": kinds, "gives": self.gives, "to": self.to, "loops": self.loops, "own": self.loops, "weak": lambda value: one_of(value, ops.WEAK),
            "left": lambda value: tuple(one_of(tier.strip(), tuple(TIERS)) for tier in text(value).split(",")),
            "fit": lambda table: {self.kind(k).word: policy(v) for k, v in items(table)},
        }  # fmt: skip
        for key, _ in items(given):
            if key not in readers:
                raise ValueError(f"unknown key {short(key)} of an operation; these are {', '.join(readers)}")
        return {key: readers[key](value) for key, value in items(given)}

    def target(self, code: object) -> DType | Kind:
        """A dtype, or `i*` for the default dtype of a kind."""
        node = self.node(code)
        return node if isinstance(node, DType) else node.dtype or node.kind

    def gives(self, code: object) -> DType | Kind | str:
        return "real" if code == "real" else self.target(code)

    def loops(self, names: object) -> tuple[DType, ...]:
        return tuple(self.dtype(repr(n) if not isinstance(n, DType) else n.name) for n in self.nodes(text(names)))

    def to(self, table: object) -> dict[DType | Kind, DType | Kind]:
        """`"bool, i8" = "i32"`: dtypes or kinds → a dtype, or the default dtype of a kind."""
        found: dict[DType | Kind, DType | Kind] = {}
        for names, code in items(table):
            for word in (part.strip() for part in names.split(",")):
                keys = ops.KINDS[word] if word in ops.KINDS else [self.target(str(n)) for n in self.nodes(word)]
                found |= dict.fromkeys(keys, self.target(code))
        return found


def _own_dtype(name: str, facts: object) -> DType:
    """A dtype that a file defines, with the facts that ours have."""
    given = dict(items(facts))
    for key, value in given.items():
        if key not in FACTS:
            raise ValueError(f"unknown fact {short(key)}; these are {', '.join(FACTS)}")
        if not isinstance(value, FACTS[key]) or isinstance(value, bool):
            raise ValueError(f"the fact {key} should be another type than {article(type(value))}")
    if not re.fullmatch(r"[a-z]\w{0,39}", name) or name in DTYPES or name in CODES:
        raise ValueError("the name of a dtype is a new one, of lower-case letters, digits and _")
    kind = Kind(one_of(given.get("kind", ""), tuple(Kind)))
    bits, inexact = given.get("bits"), kind.rank >= Kind.FLOAT.rank
    if isinstance(bits, int) and not 0 < bits <= 4096:
        raise ValueError("bits should lie between 1 and 4096")
    if inexact and not {"max", "precision", "min_exponent"} <= given.keys():
        raise ValueError("a float needs the facts max, precision and min_exponent")
    top = 2 ** (bits - (kind is Kind.SIGNED)) - 1 if isinstance(bits, int) and not inexact else None
    specials = given.get("specials", "szmin" if inexact else "sz" if kind is Kind.SIGNED else "z")
    shape = given.get("code", name), kind, bits, given.get("storage_bits", bits)
    return define(name, *shape, given.get("max", top), given.get("precision"), given.get("min_exponent"), specials)


def text(value: object, what: str = "this") -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} should be a string, is {article(type(value))}")
    return value


def items(table: object) -> list[tuple[str, object]]:
    if not isinstance(table, Mapping):
        raise ValueError(f"this should be a table, is {article(type(table))}")
    return list(table.items())


def one_of(value: object, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"should be one of {', '.join(allowed)}, is {short(str(value))}")
    return str(value)


def policy(value: object) -> str:
    """What becomes of a value out of range."""
    one_of(text(value).removeprefix(DEFAULT), OUTCOMES)
    return text(value)


def kinds(value: object) -> tuple[Kind, ...]:
    for word in (part.strip() for part in text(value).split(",")):
        one_of(word, tuple(ops.KINDS))
    return ops.kinds(text(value))
