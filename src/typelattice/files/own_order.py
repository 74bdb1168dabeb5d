"""The order that an operation has for itself, in an entry of `ops`."""
from __future__ import annotations

from typelattice.engine.operations import Covers
from typelattice.facts.order import Order, collect, statements
from typelattice.files.order_entries import LIMIT_STATEMENTS
from typelattice.files.vocabulary import Words, text


def read_own_order(words: Words, said: object) -> Covers:
    """The covers of the order that an operation has for itself. Raises ValueError."""
    chains = [
        [words.nodes(",".join(part)) for part in statement]
        for line in text(said).split("\n")
        for _, statement in statements(line.partition("#")[0])
    ]
    if not chains:
        raise ValueError("empty; write covers such as `i8 -> i16`")
    if len(chains) > LIMIT_STATEMENTS:
        raise ValueError(f"more than {LIMIT_STATEMENTS:,} statements; a system file states a rule")
    covers = collect(chains)
    Order(covers)  # which says what is wrong with them
    return tuple((a, tuple(above)) for a, above in covers.items())
