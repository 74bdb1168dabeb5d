"""The `holds` of a system file: dtypes that have to hold the value of a Python scalar."""
from __future__ import annotations

from typelattice.facts.dtypes import DType, Kind
from typelattice.files.vocabulary import Words, items
from typelattice.operands.operand import WORDS


def read_holds(words: Words, table: object) -> dict[DType | Kind, tuple[DType, ...]]:
    """Kind of scalar → dtypes, one of which has to hold it; dtypes → the one that has to hold an int."""
    found: dict[DType | Kind, tuple[DType, ...]] = {}
    for word, codes in items(table):
        if word in WORDS:
            found[WORDS[word]] = words.several(word, codes)
            continue
        bounds = words.several(Kind.SIGNED.word, codes)
        for d in map(words.dtype, words.nodes(word)):
            if d in found:
                raise ValueError(f"{d} is mapped twice")
            found[d] = bounds
    return found
