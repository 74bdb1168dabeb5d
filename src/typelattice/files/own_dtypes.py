"""Dtypes of a file's own: the facts that it states, checked, and what follows from them."""
from __future__ import annotations

from sys import float_info

from typelattice.facts.dtypes import DType, Kind, define
from typelattice.facts.suggest import short
from typelattice.files.text import article
from typelattice.files.vocabulary import Words, items, one_of, text

FACTS: dict[str, str] = {  # what each should be
    "kind": "a string", "code": "a string", "bits": "a whole number", "storage_bits": "a whole number",
    "max": "a number", "precision": "a whole number", "min_exponent": "a whole number", "specials": "a string",
}  # fmt: skip
KNOWN_AS = {str: ["a string"], int: ["a whole number", "a number"], float: ["a number"]}
BETWEEN = {
    "bits": (1, 4096), "storage_bits": (1, 4096), "max": (0, float_info.max), "precision": (1, 1024),
    "min_exponent": (-1074, 1023),
}  # fmt: skip


def own_dtype(words: Words, name: str, facts: object) -> DType:
    """A dtype of the file's own, with the facts that ours have. Raises ValueError."""
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
        cause = "the facts precision and min_exponent make its smallest value less than a Python float can say"
        raise ValueError(cause)
    if bits and storage and storage < bits:
        raise ValueError("the fact storage_bits should be no less than bits")
    specials = text(given.get("specials", "szmin" if precision else "sz" if kind is Kind.SIGNED else "z"))
    if not {*specials} <= {*"szmin"} or len({*specials}) < len(specials):
        raise ValueError("the fact specials should have letters of szmin, each once")
    for word in {name, code}:
        words.new(word, "dtype")
    d = define(name, code, kind, bits, storage, top, precision, exponent, specials)
    words.known[name] = words.known[code] = d
    return d
