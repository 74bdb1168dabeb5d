"""The laws as equations over a closure, judged a row at a time.

An equation is written once and read in three ways. Of numbers it is one case; of numbers and a row, which the
last operand ranges over, it is as many cases as the row is long; of terms it is the text of a counterexample.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product, repeat
from operator import getitem, itemgetter, ne
from typing import Protocol, TypeVar

from typelattice.explain.library_code import result_operand
from typelattice.study.closure import REFUSED, Closure, Key, key
from typelattice.study.scope import TIERS, BeyondReachError

X = TypeVar("X")
Promote = Callable[..., X]  # finds what numbers and rows promote to, or writes down that terms do
MOST_TRIPLES = 64_000  # cases of three operands that no table answers; more take minutes


class Sides(Protocol):
    """The two sides of an equation of operands `x`; None if the law says nothing of these.

    `p` promotes what it is given; `le(a, b)` is whether b absorbs a. Only the last operand is ever a row.
    """

    def __call__(
        self, p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool], /
    ) -> tuple[X, X] | None: ...


def idempotent(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[0]), x[0]


def swapped(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1]), p(x[1], x[0])


def associative(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(p(x[0], x[1]), x[2]), p(x[0], p(x[1], x[2]))


def first_swapped(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1], x[2]), p(x[1], x[0], x[2])


def last_swapped(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1], x[2]), p(x[0], x[2], x[1])


def monotone(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X] | None:
    """A refusal absorbs, so that it counts as above all: where the greater operand is accepted, so is the
    smaller."""
    if not le(x[0], x[1]):
        return None
    above = p(x[1], x[2])
    return p(p(x[0], x[2]), above), above


def identity(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1]), x[1]


def top(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1]), x[0]


# Law -> (how many operands, the equation), all of which have to hold.
EQUATIONS: Mapping[str, Sequence[tuple[int, Sides]]] = {
    "idempotent": [(1, idempotent)],
    "commutative": [(2, swapped)],
    "associative": [(3, associative)],
    "order-free": [(2, swapped), (3, first_swapped), (3, last_swapped)],
    "monotone": [(3, monotone)],
}
# Law -> the equation that holds of one operand, x[0], beside every other.
ELEMENTS: Mapping[str, Sides] = {"identity": identity, "top": top}


@dataclass(frozen=True, slots=True)
class Case:
    """Operands, by number, of which an equation does not hold, and what its two sides come to."""

    sides: Sides
    numbers: tuple[int, ...]
    answers: tuple[Key, Key]


@dataclass(frozen=True, slots=True)
class Count:
    """How many cases an equation was asked of, how many of them break it, and the smallest of these."""

    asked: int
    failing: int = 0
    smallest: Case | None = None


class Row:
    """Numbers, one for each operand that the last place of an equation ranges over."""

    __slots__ = ("_pick", "kept_after", "kept_before", "numbers")

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = tuple(numbers)
        self._pick: Callable[[Sequence[int]], tuple[int, ...]] | None = None
        # number -> what comes of this row after it, where that is asked again
        self.kept_after: dict[int, Row] = {}
        self.kept_before: dict[int, Row] = {}

    def pick(self, line: Sequence[int]) -> tuple[int, ...]:
        """The entries of a line of the table that stand at these numbers: microseconds for hundreds of
        them."""
        if self._pick is None:
            only = self.numbers[0]
            self._pick = itemgetter(*self.numbers) if len(self.numbers) > 1 else lambda line: (line[only],)
        return self._pick(line)


Place = int | Row  # what stands for an operand in an equation: one number, or as many as a row has


class Judge:
    """Counts the cases that break the equations over a closure."""

    def __init__(self, closure: Closure) -> None:
        self.closure, self.system, self.table = closure, closure.system, closure.table
        self.columns = tuple(zip(*closure.table, strict=True))
        # Several operands at once may come to what no two of them do: these three grow by it.
        self.members = list(closure.members)
        self.numbers = {o: i for i, o in enumerate(self.members)}
        self.keys = [key(self.system, o) for o in self.members]
        # no two are equal answers, as int8 and int8:0d are
        self.all_differ = len({*self.keys}) == len(self.keys)
        self.several: dict[tuple[int, ...], int] = {}
        self.by_pairs = self.system.combine in ("fold", "comparable")
        # Whether the table answers for several operands of a tier, too: not if a dtype is mapped before or
        # after them.
        self.folds = self.by_pairs and not self.system.before and not self.system.after

    def count(self, law: str) -> Count:
        """How often a law of EQUATIONS is broken. Raises BeyondReachError."""
        asked, failing = 0, 0
        smallest: Case | None = None
        for arity, sides in EQUATIONS[law]:
            counts = []
            for group in self._groups(law, arity):
                counts.append(self._count(sides, self._row(group), product(group, repeat=arity - 1)))
            asked += sum(count.asked for count in counts)
            failing += sum(count.failing for count in counts)
            broken = [count.smallest for count in counts if count.smallest]
            if broken and smallest is None:  # the equations of fewer operands come first
                smallest = min(broken, key=lambda case: self._rank(case.numbers))
        return Count(asked, failing, smallest)

    def element(self, law: str) -> tuple[int, Count]:
        """The operand for which a law of ELEMENTS holds, or comes nearest to it, and how often it is
        broken."""
        row = self._row(self.closure.asked)
        counts = {e: self._count(ELEMENTS[law], row, [(e,)]) for e in self.closure.asked}
        best = min(counts, key=lambda e: counts[e].failing)
        return best, counts[best]

    def answers(self, sides: Sides, numbers: Sequence[int]) -> tuple[Key, Key]:
        """What the two sides of an equation come to in one case."""
        places: Sequence[Place] = numbers
        two = sides(self._promote, places, self._absorbs)
        assert two is not None
        left, right = two
        assert isinstance(left, int)
        assert isinstance(right, int)
        return self.keys[left], self.keys[right]

    def _groups(self, law: str, arity: int) -> Iterator[Sequence[int]]:
        """The operands among which all combinations are asked; of the law order-free, those whose order can
        matter.

        `join` takes the set. Folded pair by pair, each tier by itself, the order can matter from three
        operands of one tier on; if it does for no three then for no more, since neighbours can be swapped
        after whatever came before.
        """
        asked = self.closure.asked
        if law != "order-free" or arity == 2 or self.system.combine == "value":
            yield asked
        elif self.by_pairs:
            for tier in TIERS:
                group = [i for i in asked if (o := self.members[i]) and o.tier == tier]
                if group:
                    yield group

    def _count(self, sides: Sides, last: Row, others: Iterable[tuple[int, ...]]) -> Count:
        """How often an equation is broken by these operands, the last of them ranging over a row."""
        asked, failing = 0, 0
        smallest: tuple[int, tuple[int, ...]] | None = None
        for numbers in others:
            places: tuple[Place, ...] = (*numbers, last)
            two = sides(self._promote, places, self._absorbs)
            if two is None:
                continue
            asked += len(last.numbers)
            broken, first = self._broken(*two, len(last.numbers))
            failing += broken
            if broken:
                rank = self._rank((*numbers, last.numbers[first]))  # a row begins with the smallest operand
                smallest = rank if smallest is None else min(smallest, rank)
        if smallest is None:
            return Count(asked)
        case = smallest[1]
        return Count(asked, failing, Case(sides, case, self.answers(sides, case)))

    def _row(self, group: Sequence[int]) -> Row:
        """A group as what the last operand ranges over, the smallest first; what comes of it beside each is
        kept."""
        row = Row(sorted(group, key=lambda i: (self.closure.size(i), i)))
        row.kept_after = {i: Row(row.pick(line)) for i, line in enumerate(self.table)}
        row.kept_before = {i: Row(row.pick(line)) for i, line in enumerate(self.columns)}
        return row

    def _rank(self, numbers: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """What makes a case smaller than another: its bits, then its place in the documents' order."""
        return self.closure.size(*numbers), numbers

    def _broken(self, left: Place, right: Place, length: int) -> tuple[int, int]:
        """In how many places of a row two sides are not equal, and the first of these."""
        a = (left,) * length if isinstance(left, int) else left.numbers
        b = (right,) * length if isinstance(right, int) else right.numbers
        if a == b:
            return 0, 0
        if self.all_differ:
            unequal = list(map(ne, a, b))
        else:
            unequal = [self.keys[x] != self.keys[y] for x, y in zip(a, b, strict=True)]
        broken = sum(unequal)
        return broken, unequal.index(True) if broken else 0

    def _absorbs(self, a: Place, b: Place) -> bool:
        """Whether b stays what it is beside a; asked of numbers only, a refusal not among them."""
        assert isinstance(a, int)
        assert isinstance(b, int)
        found = self.table[a][b]
        return found != REFUSED and self.keys[found] == self.keys[b]

    def _promote(self, a: Place, b: Place, *more: Place) -> Place:
        """What numbers and rows promote to; a row beside a number gives a row."""
        if more:
            return self._promote_several(a, b, *more)
        if isinstance(a, int):
            if isinstance(b, int):
                return self.table[a][b]
            return b.kept_after[a] if a in b.kept_after else Row(b.pick(self.table[a]))
        if isinstance(b, int):
            return a.kept_before[b] if b in a.kept_before else Row(a.pick(self.columns[b]))
        return Row(tuple(map(getitem, map(self.table.__getitem__, a.numbers), b.numbers)))

    def _promote_several(self, *places: Place) -> Place:
        """What three or more promote to, all at once."""
        if self.folds:
            return reduce(self._promote, places)
        lengths = {len(place.numbers) for place in places if isinstance(place, Row)}
        if not lengths:
            return self._at_once(tuple(place for place in places if isinstance(place, int)))
        columns = [repeat(place) if isinstance(place, int) else place.numbers for place in places]
        return Row(tuple(map(self._at_once, zip(*columns, strict=False))))

    def _at_once(self, numbers: tuple[int, ...]) -> int:
        """The number of what these promote to, asked of the system."""
        if numbers not in self.several:
            if len(self.several) >= MOST_TRIPLES:
                raise BeyondReachError(f"more than {MOST_TRIPLES:,} cases that have to be asked one by one")
            operands = self.closure.operands(*numbers)
            found = result_operand(self.system, operands, python=self.closure.python)
            if found not in self.numbers:
                self.numbers[found] = len(self.members)
                self.members.append(found)
                new = key(self.system, found)
                self.all_differ &= new not in self.keys
                self.keys.append(new)
            self.several[numbers] = self.numbers[found]
        return self.several[numbers]
