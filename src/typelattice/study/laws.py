"""The laws of algebra that promotion may keep: each holds of a system, or fails with its smallest counterexample."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import TYPE_CHECKING, Protocol, TypeVar

from typelattice.engine.system import System
from typelattice.explain.library_code import Term, leaves, plain, written
from typelattice.facts.dtypes import DTypeError
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.study.closure import Joins, Key, Standing, answered, domain

if TYPE_CHECKING:
    from pathlib import Path

X = TypeVar("X")


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two terms that the law says are equal, and what the system makes of each; or one, and what is wrong with it.

    `expressions` are the terms in the code of the system's library, after `setup`; `note` is what else is to be known.
    """

    terms: tuple[Term, ...]
    answers: tuple[Key, ...]
    expressions: tuple[str, ...]
    setup: str
    note: str = ""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands that take part, each once."""
        return tuple(dict.fromkeys(leaves(self.terms[0])))

    def __str__(self) -> str:
        said = [f"{plain(t)} is {answered(key)}" for t, key in zip(self.terms, self.answers, strict=True)]
        if isinstance(self.terms[-1], Operand):
            said[1:] = [f"not {self.terms[-1]}"]
        return ", ".join([*said, *filter(None, [self.note])])


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a law holds; how many of the combinations asked break it, the smallest of them, or the element that proves it."""

    law: str
    holds: bool
    failing: int
    asked: int
    counterexample: Counterexample | None = None
    witness: Operand | None = None

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True, eq=False)
class Laws(Mapping[str, Verdict]):
    """The verdicts on a system, by the name of the law, over the operands that were asked."""

    system: System
    standing: Standing
    operands: tuple[Operand, ...]
    verdicts: Mapping[str, Verdict]

    def __getitem__(self, law: str) -> Verdict:
        return self.verdicts[law]

    def __iter__(self) -> Iterator[str]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)


def laws(system: str | Path | System, tier: Standing = "array", dtypes: Iterable[object] | None = None) -> Laws:
    """Which laws hold of a system's arrays, 0-d arrays, Python scalars, or all; of these dtypes, as far as it has them.

    A refusal equals a refusal. The smallest counterexample has the fewest operands, then the fewest bits. Two Python
    scalars among `all` are Python's to add. Raises UnknownSystemError, FormatError; DTypeError where no operand is left.

    >>> import typelattice as tl
    >>> numpy = tl.laws("numpy")
    >>> numpy["commutative"].holds, numpy["associative"].holds
    (True, False)
    >>> print(*numpy["associative"].counterexample.operands)
    uint8 int8 float16
    >>> print(numpy["associative"].counterexample)
    (uint8 + int8) + float16 is float32, uint8 + (int8 + float16) is float16
    >>> all(tl.laws("jax", dtypes=["bool", "uint64", "int64", "float16", "bfloat16", "float64"]).values())
    True
    """
    found = find_system(system)
    asked = domain(found, tier, dtypes)
    if not asked:
        raise DTypeError(f"{found.name} takes no Python scalars; ask of its arrays")
    return _laws(found, tier, asked)


@lru_cache(maxsize=128)  # a system never changes
def _laws(system: System, tier: Standing, asked: tuple[Operand, ...]) -> Laws:
    joins = Joins(system, asked)
    verdicts = {name: _equation(name, equations, joins) for name, equations in EQUATIONS.items()}
    verdicts["unique bounds"] = _unique(joins)
    verdicts |= {name: _element(name, equation, joins) for name, equation in ELEMENTS.items()}
    return Laws(system, tier, asked, {name: verdicts[name] for name in LAWS})


Join = Callable[..., X]  # of numbers, it finds where they meet; of terms, it writes down that they do


class Sides(Protocol):
    """The two sides of an equation, of numbers or of terms; None where the law says nothing of these."""

    def __call__(self, j: Join[X], x: Sequence[X], le: Callable[[X, X], bool], /) -> tuple[X, X] | None: ...


def _idempotent(j: Join[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return j(x[0], x[0]), x[0]


def _swapped(j: Join[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return j(x[0], x[1]), j(x[1], x[0])


def _associative(j: Join[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return j(j(x[0], x[1]), x[2]), j(x[0], j(x[1], x[2]))


def _first_swapped(j: Join[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return j(x[0], x[1], x[2]), j(x[1], x[0], x[2])


def _last_swapped(j: Join[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return j(x[0], x[1], x[2]), j(x[0], x[2], x[1])


def _monotone(j: Join[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X] | None:
    """A refusal absorbs, so that it counts as above all: what the greater operand may meet, the smaller may."""
    above = j(x[1], x[2])
    return (j(j(x[0], x[2]), above), above) if le(x[0], x[1]) else None


def _identity(j: Join[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return j(x[0], x[1]), x[1]


def _top(j: Join[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return j(x[0], x[1]), x[0]


LAWS = {  # what each says
    "idempotent": "x + x is x",
    "commutative": "a + b is b + a",
    "associative": "(a + b) + c is a + (b + c)",
    "unique bounds": "where anything lies above two operands, one dtype lies lowest",
    "order-free": "several operands together give the same in whatever order they stand",
    "monotone": "where b is above a, b + c is above a + c",
    "identity": "one operand e leaves all others what they are: e + x is x",
    "top": "one operand t absorbs all others: t + x is t",
}
EQUATIONS: Mapping[str, Sequence[tuple[int, Sides]]] = {  # (how many operands, the equation)
    "idempotent": [(1, _idempotent)],
    "commutative": [(2, _swapped)],
    "associative": [(3, _associative)],
    "order-free": [(2, _swapped), (3, _first_swapped), (3, _last_swapped)],
    "monotone": [(3, _monotone)],
}
ELEMENTS: Mapping[str, Sides] = {"identity": _identity, "top": _top}


def _equation(law: str, equations: Sequence[tuple[int, Sides]], joins: Joins) -> Verdict:
    """A law of all combinations of operands."""
    asked, failing, first = 0, 0, None

    def le(a: int, b: int) -> bool:
        met = joins(a, b)
        return met != 0 and joins.equal(met, b)

    for arity, sides in equations:
        broken = []
        for x in joins.at_once(arity) if law == "order-free" else product(joins.asked, repeat=arity):
            two = sides(joins, x, le)
            if two:
                asked += 1
                if not joins.equal(*two):
                    broken.append(x)
        failing += len(broken)
        if broken and first is None:
            first = _counterexample(joins, sides, min(broken, key=joins.size))
    return Verdict(law, not failing, failing, asked, first)


def _element(law: str, sides: Sides, joins: Joins) -> Verdict:
    """A law that asks for one operand of a certain sort; where there is none, the one that comes nearest."""
    broken = {e: [x for x in joins.asked if not joins.equal(*_two(sides, joins, (e, x)))] for e in joins.asked}
    best = min(broken, key=lambda e: len(broken[e]))
    if not broken[best]:
        return Verdict(law, True, 0, len(broken), None, joins.members[best])
    pair = best, min(broken[best], key=lambda x: joins.size((x,)))
    return Verdict(law, False, len(broken[best]), len(broken), _counterexample(joins, sides, pair))


def _unique(joins: Joins) -> Verdict:
    """The law of the order itself: which pairs have several lowest upper bounds."""
    pairs = list(combinations(joins.asked, 2))
    bounds = {pair: joins.system.explain(*joins.operands(*pair)).bounds for pair in pairs}
    split = [pair for pair in pairs if len(bounds[pair]) > 1]
    if not split:
        return Verdict("unique bounds", True, 0, len(pairs))
    pair = min(split, key=joins.size)
    *others, last = map(str, bounds[pair])
    note = f"{', '.join(others)} and {last} lie lowest above both"
    answers, terms = (joins.keys[joins(*pair)],), (joins.operands(*pair),)
    setup, expressions = written(joins.system, terms, joins.mixed)
    return Verdict("unique bounds", False, len(split), len(pairs), Counterexample(terms, answers, expressions, setup, note))


def _counterexample(joins: Joins, sides: Sides, x: tuple[int, ...]) -> Counterexample:
    """The equation written out in operands, and the two answers."""
    operands: tuple[Term, ...] = joins.operands(*x)
    note = f"though {operands[1]} is above {operands[0]}" if sides is _monotone else ""
    terms = _two(sides, _together, operands)
    answers = tuple(joins.keys[i] for i in _two(sides, joins, x))
    setup, expressions = written(joins.system, terms, joins.mixed)
    return Counterexample(terms, answers, expressions, setup, note)


def _together(*terms: Term) -> Term:
    return terms


def _two(sides: Sides, j: Join[X], x: Sequence[X]) -> tuple[X, X]:
    two = sides(j, x, lambda a, b: True)
    assert two
    return two
