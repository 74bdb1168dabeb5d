"""The words of a system file: dtypes and kinds, those of its own included, and lists of them."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import combinations, product
from sys import float_info

from typelattice.engine import operations as ops
from typelattice.facts.dtypes import CODES, DTYPES, DType, Kind, Node, define, weak
from typelattice.facts.suggest import nearest, short
from typelattice.files.text import LIMIT_DEEP, article
from typelattice.operands.operand import SCALARS

LETTERS = {kind.letter: kind for kind in Kind if kind is not Kind.BOOL}
KINDS = {**{cls.__name__: kind for cls, kind in SCALARS.items()}, "uint": Kind.UNSIGNED}
FACTS: dict[str, str] = {  # what each should be
    "kind": "a string", "code": "a string", "bits": "a whole number", "storage_bits": "a whole number", "max": "a number",
    "precision": "a whole number", "min_exponent": "a whole number", "specials": "a string",
}  # fmt: skip
KNOWN_AS = {str: ["a string"], int: ["a whole number", "a number"], float: ["a number"]}
BETWEEN = {
    "bits": (1, 4096), "storage_bits": (1, 4096), "max": (0, float_info.max), "precision": (1, 1024),
    "min_exponent": (-1074, 1023),
}  # fmt: skip
TAKEN = {*DTYPES, *CODES, *LETTERS, *KINDS, *ops.KINDS}  # words with a meaning of their own
LIMIT_NODES, LIMIT_COVERS = 5_000, 100_000


class Words:
    """What the words of one file mean."""

    def __init__(self) -> None:
        self.known = {**CODES, **DTYPES}
        self.sets: dict[str, str] = {}

    def new(self, word: str, what: str) -> str:
        """The name that a file gives to something of its own."""
        if not re.fullmatch(r"(?!inf|nan)[a-z][a-z0-9_]{0,39}", word) or word in self.known or word in TAKEN:
            raise ValueError(f"{short(word)} is no name for a {what}: a new word of lower-case letters, digits and _")
        return word

    def define(self, name: str, facts: object) -> DType:
        """A dtype of the file's own, with the facts that ours have."""
        given, numbers = dict(items(facts)), dict[str, float]()
        for fact, value in given.items():
            if fact not in FACTS:
                raise ValueError(f"unknown fact {short(fact)}; these are {', '.join(FACTS)}")
            if FACTS[fact] not in KNOWN_AS.get(type(value), ()):
                raise ValueError(f"the fact {fact} should be {FACTS[fact]}, is {article(type(value))}")
            if isinstance(value, int | float):
                least, greatest = BETWEEN[fact]
                if not least <= value <= greatest:
                    raise ValueError(f"the fact {fact} should lie between {least:g} and {greatest:g}")
                numbers[fact] = value
        if "kind" not in given:
            raise ValueError("a dtype needs the fact kind")
        kind, code = Kind(one_of(given["kind"], Kind)), text(given.get("code", name))
        top, precision, exponent = (numbers.get(fact) for fact in ("max", "precision", "min_exponent"))
        bits = numbers.get("bits")
        storage = numbers.get("storage_bits", bits)
        if kind.rank < Kind.FLOAT.rank:
            top = 2 ** (bits - (kind is Kind.SIGNED)) - 1 if bits and top is None else top
            if precision is not None or exponent is not None:
                raise ValueError("the facts precision and min_exponent are those of a float")
        elif top is None or precision is None or exponent is None:
            raise ValueError("a float needs the facts max, precision and min_exponent")
        elif exponent - precision < -1075:
            raise ValueError("the facts precision and min_exponent make its smallest value less than a Python float can say")
        if bits and storage and storage < bits:
            raise ValueError("the fact storage_bits should be no less than bits")
        specials = text(given.get("specials", "szmin" if precision else "sz" if kind is Kind.SIGNED else "z"))
        if not {*specials} <= {*"szmin"} or len({*specials}) < len(specials):
            raise ValueError("the fact specials should have letters of szmin, each once")
        for word in {name, code}:
            self.new(word, "dtype")
        self.known[name] = self.known[code] = d = define(name, code, kind, bits, storage, top, precision, exponent, specials)
        return d

    def nodes(self, names: object, within: tuple[str, ...] = ()) -> list[Node]:
        """`u8, small`: a list of nodes and of named sets of them."""
        found: list[Node] = []
        for word in map(str.strip, text(names).split(",")):
            if word in within:
                raise ValueError(f"a circle of sets: {' -> '.join((*within[within.index(word):], word))}")
            if len(within) > LIMIT_DEEP:
                raise ValueError(f"sets in sets, more than {LIMIT_DEEP} deep")
            found += self.nodes(self.sets[word], (*within, word)) if word in self.sets else [self.node(word)]
            if len(found) > LIMIT_NODES:
                raise ValueError(f"a list of more than {LIMIT_NODES:,}; a system file states a rule")
        return found

    def pairs(self, entry: object) -> list[tuple[Node, Node]]:
        """`a, b + c` is each left with each right, `a, b, c` every two of them."""
        sides = [self.nodes(side) for side in text(entry).split("+")]
        if len(sides) > 2 or len(sides[0]) * len(sides[-1]) > LIMIT_COVERS:
            raise ValueError(f'write "a, b + c" or "a, b, c", of at most {LIMIT_COVERS:,} pairs')
        found = [(a, b) for a, b in (product(*sides) if len(sides) == 2 else combinations(sides[0], 2)) if a is not b]
        if not found:
            raise ValueError('names no pairs; write "a, b + c" or "a, b, c"')
        return found

    def node(self, code: object) -> Node:
        """The node of a code: u8, uint8, i*, i32*, or a dtype of the file's own."""
        stem, star = text(code).removesuffix("*"), text(code).endswith("*")
        if star and stem in LETTERS:
            return weak(LETTERS[stem])
        d = self.known.get(stem)
        if d is None or (star and d.kind is Kind.BOOL):
            raise ValueError(f"unknown dtype {short(text(code))}{nearest(stem, self.known)}" if code else "a dtype is missing")
        return weak(d.kind, d) if star else d

    def dtype(self, node: Node, kind: Kind | None = None) -> DType:
        """A node that is a dtype, of a kind that Python calls the same."""
        if not isinstance(node, DType):
            raise ValueError(f'{node} has no width; name a dtype such as "i32"')
        if kind and node.kind.word != kind.word:
            raise ValueError(f"{node} is no dtype for {kind.word}")
        return node

    def by_kind(self, table: Mapping[str, object]) -> dict[Kind, DType]:
        """Kinds of scalars, each with a dtype of that kind."""
        return {kind_of(word): self.dtype(self.node(code), kind_of(word)) for word, code in table.items()}


def kind_of(word: str, known: Iterable[str] = KINDS) -> Kind:
    """The kind of a Python scalar."""
    if word not in known:
        raise ValueError(f"unknown kind of scalar {short(word)}; these are {', '.join(known)}")
    return KINDS[word]


def text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"this should be a string, is {article(type(value))}")
    return value


def phrase(value: object) -> str:
    """A text for people."""
    if not text(value).isprintable() or len(text(value)) > 200:
        raise ValueError("should be one line of at most 200 characters that can be printed")
    return text(value)


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"this should be true or false, is {article(type(value))}")
    return value


def items(table: object) -> Iterable[tuple[str, object]]:
    if not isinstance(table, Mapping):
        raise ValueError(f"this should be a table, is {article(type(table))}")
    return table.items()


def one_of(value: object, allowed: Iterable[str]) -> str:
    if value not in (words := tuple(allowed)):
        raise ValueError(f"should be one of {', '.join(words)}, is {short(str(value))}")
    return str(value)


def each_of(words: object, allowed: Iterable[str]) -> tuple[str, ...]:
    return tuple(one_of(word.strip(), allowed) for word in text(words).split(","))
