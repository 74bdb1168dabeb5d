"""What five documents claim, computed: a module a document, a function a claim.

The docstring of such a function is the claim, in words of our own; it returns a verdict, and what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from inspect import isfunction
from itertools import combinations, product

import typelattice as tl
from typelattice.core.dtypes.dtypes import DType

HOLDS, NO_LONGER, NOT, COUNTED = "holds", "no longer", "does not hold", "counted"
Found = tuple[str, str]  # one of these, and what was found
Claim = Callable[[], Found]
JEP = ("jep9407", "jep9407_options", "jep9407_libraries")  # whose claims are many
DOCUMENTS = (*JEP, "jax_2019", "jax_docs", "array_api_2020", "max_2024")
SHOWN = 4  # examples of a list


def claims(document: str) -> tuple[Claim, ...]:
    """The claims of a document, in its order."""
    module = import_module(f"claims.{document}")
    own = (f for f in vars(module).values() if isfunction(f) and f.__module__ == module.__name__)
    return tuple(f for f in own if not f.__name__.startswith("_"))


def verdict(holds: bool, once: bool = False) -> str:
    """Whether a claim holds; `once`: if not today, it did for the release that the document speaks of."""
    return HOLDS if holds else NO_LONGER if once else NOT


def words(claim: Claim) -> str:
    """What is claimed, in a sentence or two."""
    return " ".join((claim.__doc__ or "").split())


def answer(system: str | tl.System, *operands: object, op: str | None = None) -> str:
    """What a system answers: `float16`, `float64*` if it is weak, `refused`."""
    p = tl.system(system).explain(*operands, op=op)
    return "refused" if p.dtype is None else f"{p.dtype}{'*' * p.weak}"


def listed(found: Mapping[str, object]) -> str:
    """What was found under each name: `numpy: float64, jax: float16`."""
    return ", ".join(f"{name}: {what}" for name, what in found.items())


def some(things: Iterable[object]) -> str:
    """How many there are, and the first few: `12: a, b, c, d, …`."""
    found = [str(x) for x in things]
    return f"{len(found)}: {', '.join(found[:SHOWN])}{', …' * (len(found) > SHOWN)}" if found else "none"


def pairs(*systems: str) -> Iterator[tuple[DType, DType]]:
    """Unordered pairs of different dtypes that all the systems have."""
    first, *others = (tl.system(name).dtypes for name in systems)
    return combinations([d for d in first if all(d in dtypes for dtypes in others)], 2)


def ordered(*systems: str) -> Iterator[tuple[DType, DType]]:
    """Ordered pairs of dtypes that all the systems have, those of one dtype with itself too."""
    first, *others = (tl.system(name).dtypes for name in systems)
    return product([d for d in first if all(d in dtypes for dtypes in others)], repeat=2)


def alike(a: str, b: str) -> tuple[int, int, list[str]]:
    """Of the ordered pairs of dtypes that both systems have: how many they answer alike, of how many; and the
    others, with both answers."""
    asked = list(ordered(a, b))
    differing = [
        f"{x} + {y}: {answer(a, x, y)}, {answer(b, x, y)}"
        for x, y in asked
        if answer(a, x, y).strip("*") != answer(b, x, y).strip("*")
    ]
    return len(asked) - len(differing), len(asked), differing
