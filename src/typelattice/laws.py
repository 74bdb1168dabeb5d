"""The laws of algebra that promotion may keep: each holds of a system, or fails with its smallest counterexample."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations, product
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from typelattice.dtypes import DType, DTypeError, Weak
from typelattice.explanation import place
from typelattice.expression import Term, leaves, plain, value, written
from typelattice.format import system as find_system
from typelattice.operand import Operand, of, operand
from typelattice.strings import parse
from typelattice.system import System

Standing = Literal["array", "0d", "scalar", "all"]  # which operands a law is asked of
Key = tuple[DType | None, bool]  # what makes answers equal: the dtype and whether it is weak; no dtype is a refusal
X = TypeVar("X")
SCALARS = ("True", "int", "float", "complex")


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
        return ", ".join([*said[: 1 if isinstance(self.terms[-1], Operand) else None], *filter(None, [self.note])])


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

    A refusal equals a refusal. Of counterexamples the smallest is the one of fewest operands, then of fewest bits.

    >>> import typelattice as tl
    >>> numpy = tl.laws("numpy")
    >>> numpy["commutative"].holds, numpy["associative"].holds
    (True, False)
    >>> print(*numpy["associative"].counterexample.operands)
    uint8 int8 float16
    >>> all(tl.laws("jax", dtypes=["int8", "uint8", "float16"]).values())
    False
    """
    found = find_system(system)
    asked = domain(found, tier, dtypes)
    joins = Joins(found, asked)
    verdicts = {name: _equation(name, equations, joins) for name, equations in EQUATIONS.items()}
    verdicts["unique bounds"] = _unique(joins)
    verdicts |= {name: _element(name, equation, joins) for name, equation in ELEMENTS.items()}
    return Laws(found, tier, asked, {name: verdicts[name] for name in LAWS})


def domain(system: System, tier: Standing = "array", dtypes: Iterable[object] | None = None) -> tuple[Operand, ...]:
    """The operands of a standing that a system takes, kind by kind from narrow to wide; without dtypes, Python's scalars.

    Raises DTypeError where it has none of the dtypes asked for.
    """
    have = sorted({n for n in (*system.order.nodes, *system.before) if isinstance(n, DType)}, key=place)
    if dtypes is not None:
        wanted = {(parse(x, system.dtypes) if isinstance(x, str) else operand(x)).dtype for x in dtypes}
        have = [d for d in have if d in wanted]
        if not have:
            raise DTypeError(f"{system.name} has none of these dtypes; see `typelattice check {system.name}`")
    widths = sorted((n.dtype for n in system.order.nodes if isinstance(n, Weak) and n.dtype), key=place)
    scalars = [*(of(d, weak=True) for d in widths), *map(parse, SCALARS)]
    arrays = [of(d) for d in have]
    taken = tuple(o for o in scalars if any(system.explain(o, x).dtype for x in (*arrays, o)))
    if tier == "scalar" or not any(isinstance(n, DType) for n in system.order.nodes):
        return taken
    zero_d = [of(d, tier="0d") for d in have] if tier == "0d" or "0d" in system.tiers else []
    return {"array": (*arrays,), "0d": (*zero_d,), "all": (*arrays, *zero_d, *taken)}[tier]


class Joins:
    """Where each two of some operands meet, and where those meet again: all numbered, 0 a refusal, which absorbs."""

    def __init__(self, system: System, asked: Sequence[Operand]) -> None:
        self.system, self.asked = system, range(1, len(asked) + 1)
        self.mixed = len({o.tier for o in asked}) > 1
        self.members: list[Operand | None] = [None, *asked]
        self._number = {o: i for i, o in enumerate(self.members)}
        self._pairs: list[list[int]] = [[0] * len(self.members)]
        self._sets: dict[tuple[int, ...], int] = {}
        i = 1
        while i < len(self.members):  # grows while there are new answers
            self._pairs.append([0])
            for k in range(1, i):
                self._pairs[i].append(self._find(i, k))
                self._pairs[k].append(self._find(k, i))
            self._pairs[i].append(self._find(i, i))
            i += 1
        self._pairs[0] = [0] * len(self.members)
        self.keys = [key(system, o) for o in self.members]
        self.folds = system.combine in ("fold", "comparable")

    def __call__(self, *xs: int) -> int:
        """The number of where these meet, all at once."""
        if len(xs) == 2:
            return self._pairs[xs[0]][xs[1]]
        if self.folds and not self.system.before and not self.system.after:
            return reduce(self, xs)  # of one tier; see _equation
        if xs not in self._sets:
            self._sets[xs] = self._find(*xs)
        return self._sets[xs]

    def equal(self, i: int, k: int) -> bool:
        return i == k or self.keys[i] == self.keys[k]

    def _find(self, *xs: int) -> int:
        met = value(self.system, _terms(self, xs), python=self.mixed)
        if met not in self._number:
            self._number[met] = len(self.members)
            self.members.append(met)
        return self._number[met]


def key(system: System, o: Operand | None) -> Key:
    """What an operand is equal by; a Python scalar by what it comes to alone."""
    p = system.explain(o) if o and not o.dtype else None
    return (p.dtype, p.weak) if p else (o.dtype, o.weak) if o else (None, False)


def answered(key: Key) -> str:
    """An answer in two words."""
    return f"{key[0]}{' (weak)' * key[1]}" if key[0] else "refused"


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
    """A law of all combinations of operands.

    `join` takes the set, whose order cannot matter. Folded pair by pair, an order may matter from three operands on; if it
    matters for no three, then for no more: neighbours can be swapped after whatever went before.
    """
    by_set = law == "order-free" and joins.system.combine == "join"
    asked, failing, first = 0, 0, None

    def le(a: int, b: int) -> bool:
        met = joins(a, b)
        return met != 0 and joins.equal(met, b)

    for arity, sides in equations[: 1 if by_set else None]:
        broken = []
        for x in product(joins.asked, repeat=arity):
            two = sides(joins, x, le)
            if two:
                asked += 1
                if not joins.equal(*two):
                    broken.append(x)
        failing += len(broken)
        if broken and first is None:
            first = _counterexample(joins, sides, min(broken, key=partial(_size, joins)))
    return Verdict(law, not failing, failing, asked, first)


def _element(law: str, sides: Sides, joins: Joins) -> Verdict:
    """A law that asks for one operand of a certain sort; where there is none, the one that comes nearest."""
    broken = {e: [x for x in joins.asked if not joins.equal(*_two(sides, joins, (e, x)))] for e in joins.asked}
    best = min(broken, key=lambda e: len(broken[e]), default=0)
    if not best or not broken[best]:
        return Verdict(law, bool(best), 0, len(broken), None, joins.members[best])
    pair = best, min(broken[best], key=lambda x: _size(joins, (x,)))
    return Verdict(law, False, len(broken[best]), len(broken), _counterexample(joins, sides, pair))


def _unique(joins: Joins) -> Verdict:
    """The law of the order itself: what pairs have several lowest upper bounds."""
    pairs = list(combinations(joins.asked, 2))
    split = [pair for pair in pairs if len(_bounds(joins, pair)) > 1]
    if not split:
        return Verdict("unique bounds", True, 0, len(pairs))
    i, k = pair = min(split, key=partial(_size, joins))
    *others, last = map(str, _bounds(joins, pair))
    note = f"{', '.join(others)} and {last} lie lowest above {'both' if i != k else 'it'}"
    answer = joins.keys[joins(i, k)]
    return Verdict("unique bounds", False, len(split), len(pairs), Counterexample(_terms(joins, pair), None, (answer,), note))


def _bounds(joins: Joins, pair: tuple[int, ...]) -> tuple[object, ...]:
    return joins.system.explain(*_terms(joins, pair)).bounds


def _counterexample(joins: Joins, sides: Sides, x: tuple[int, ...]) -> Counterexample:
    """The equation written out in operands, and the two answers."""
    left, right = _two(sides, lambda *terms: terms, _terms(joins, x))
    note = "" if sides is not _monotone else "{1} is above {0}".format(*_terms(joins, x))
    return Counterexample(left, right, tuple(joins.keys[i] for i in _two(sides, joins, x)), note)


def _two(sides: Sides, j: Join[X], x: Sequence[X]) -> tuple[X, X]:
    two = sides(j, x, lambda a, b: True)
    assert two
    return two


def _terms(joins: Joins, x: Sequence[int]) -> tuple[Operand, ...]:
    return tuple(o for i in x if (o := joins.members[i]))


def _size(joins: Joins, x: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """How large a combination of operands is: its bits, then its place in the documents' order."""
    return sum(o.dtype.bits or 64 for o in _terms(joins, x) if o.dtype), x
