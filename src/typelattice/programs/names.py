"""What names mean in array libraries' code, beside operations: casts, constants. Stated in names.txt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from typelattice.facts.dtypes import DTYPES
from typelattice.programs.step import NamedDType

TABLE = f"{__file__[:-3]}.txt"


@cache
def names(what: str) -> Mapping[tuple[str, str], str]:
    """What names.txt says of names that are a cast, a function or the like: by library and name."""
    with open(TABLE, encoding="ascii") as rows:
        stated = [row.split() for row in rows if not row.startswith("#")]
    return {(library, name): meaning for library, name, is_a, meaning in stated if is_a == what}


def meaning(what: str, name: str, library: str | None) -> str | None:
    """What a name means in a library's code; None if it is nothing of that sort."""
    stated = names(what)
    return stated.get((library or "*", name), stated.get(("*", name)))


def dtype_named(name: str, library: str | None) -> NamedDType | None:
    """The dtype that an attribute of a library is, `np.float32` or `torch.half`; None if it is none."""
    found = meaning("cast", name, library)
    if found is None and name in DTYPES:
        found = name
    return NamedDType(found) if found else None


def constant(name: str) -> float | None:
    """The number that an attribute of a library is, `np.pi`; None if it is none."""
    found = meaning("constant", name, None)
    return None if found is None else float(found)
