"""The laws as equations over a closure, judged a row at a time.

An equation is written once and used in three ways. Applied to numbers, it is one case. Applied to numbers and
a row for the last operand, it is one case for each entry of the row. Applied to terms, it is the text of a
counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product, repeat
from operator import getitem, itemgetter, ne
from typing import Protocol, TypeVar

from typelattice.core.explanations.expression_terms import result_operand
from typelattice.core.operands.operand import OPERAND_TIERS
from typelattice.study.laws.closure import REFUSED_NUMBER, AnswerKey, Closure, answer_key
from typelattice.study.tables.study_scope import BeyondReachError

X = TypeVar("X")
Promote = Callable[..., X]  # promotes numbers and rows, or writes the promotion of terms
MAX_TRIPLES = 64_000  # limit of three-operand cases that no table answers; more take minutes


class Equation(Protocol):
    """The two sides of an equation of operands `x`, or None if the law does not apply to these.

    `p` promotes its arguments; `le(a, b)` is True if b absorbs a. Only the last operand is ever a row.
    """

    def __call__(
        self, p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool], /
    ) -> tuple[X, X] | None: ...


def idempotent(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[0]), x[0]


def commutative(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1]), p(x[1], x[0])


def associative(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(p(x[0], x[1]), x[2]), p(x[0], p(x[1], x[2]))


def first_swapped(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1], x[2]), p(x[1], x[0], x[2])


def last_swapped(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1], x[2]), p(x[0], x[2], x[1])


def monotone(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X] | None:
    """Return the sides of the law: a refusal is above all, so if the greater operand is accepted, the smaller
    one is too.
    """
    if not le(x[0], x[1]):
        return None
    above = p(x[1], x[2])
    return p(p(x[0], x[2]), above), above


def identity(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1]), x[1]


def top(p: Promote[X], x: Sequence[X], le: Callable[[X, X], bool]) -> tuple[X, X]:
    return p(x[0], x[1]), x[0]


# Law -> (number of operands, equation). All equations of a law must hold.
EQUATIONS_BY_LAW: Mapping[str, Sequence[tuple[int, Equation]]] = {
    "idempotent": [(1, idempotent)],
    "commutative": [(2, commutative)],
    "associative": [(3, associative)],
    "order-free": [(2, commutative), (3, first_swapped), (3, last_swapped)],
    "monotone": [(3, monotone)],
}
# Law -> the equation for one operand, x[0], with every other operand.
EQUATION_BY_ELEMENT: Mapping[str, Equation] = {"identity": identity, "top": top}


@dataclass(frozen=True, slots=True)
class FailingCase:
    """Operands, by number, that break an equation, and the answers on its two sides."""

    sides: Equation
    numbers: tuple[int, ...]
    answers: tuple[AnswerKey, AnswerKey]


@dataclass(frozen=True, slots=True)
class CaseCount:
    """The number of cases of an equation, the number that break it, and the smallest of these."""

    case_count: int
    failing_count: int = 0
    smallest: FailingCase | None = None


class OperandRow:
    """The numbers of the operands for the last place of an equation, all checked at once."""

    __slots__ = ("_pick", "kept_after", "kept_before", "numbers")

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = tuple(numbers)
        self._pick: Callable[[Sequence[int]], tuple[int, ...]] | None = None
        # number -> the promotion of that number and this row, in either order, kept for further cases
        self.kept_after: dict[int, OperandRow] = {}
        self.kept_before: dict[int, OperandRow] = {}

    def pick(self, line: Sequence[int]) -> tuple[int, ...]:
        """Pick the entries of a table's line at these numbers; hundreds of them take microseconds."""
        if self._pick is None:
            only = self.numbers[0]
            self._pick = itemgetter(*self.numbers) if len(self.numbers) > 1 else lambda line: (line[only],)
        return self._pick(line)


EquationOperand = int | OperandRow  # an operand in an equation: one number, or all numbers of a row


class EquationChecker:
    """Counts the cases that break the equations over a closure."""

    def __init__(self, closure: Closure) -> None:
        self.closure, self.system, self.table = closure, closure.system, closure.table
        self.columns = tuple(zip(*closure.table, strict=True))
        # Members, numbers and keys grow: three or more operands may have a result that no pair has.
        self.members = list(closure.members)
        self.numbers = {o: i for i, o in enumerate(self.members)}
        self.keys = [answer_key(self.system, o) for o in self.members]
        # True if no two answers are equal, unlike int8 and int8:0d
        self.all_differ = len({*self.keys}) == len(self.keys)
        self.joint_results: dict[tuple[int, ...], int] = {}
        self.by_pairs = self.system.combine in ("fold", "comparable")
        # True if the table also answers for several operands of a tier: the system maps no dtype before or
        # after promotion.
        self.folds = self.by_pairs and not self.system.before and not self.system.after

    def count_failing_cases(self, law: str) -> CaseCount:
        """Count the cases that break a law of EQUATIONS_BY_LAW. Raises BeyondReachError."""
        case_count, failing = 0, 0
        smallest: FailingCase | None = None
        for arity, sides in EQUATIONS_BY_LAW[law]:
            counts = []
            for group in self._operand_groups(law, arity):
                counts.append(
                    self._count_cases(sides, self._make_row(group), product(group, repeat=arity - 1))
                )
            case_count += sum(count.case_count for count in counts)
            failing += sum(count.failing_count for count in counts)
            broken = [count.smallest for count in counts if count.smallest]
            # equations of fewer operands come first, so their counterexample is the smallest
            if broken and smallest is None:
                smallest = min(broken, key=lambda case: self._case_rank(case.numbers))
        return CaseCount(case_count, failing, smallest)

    def find_element(self, law: str) -> tuple[int, CaseCount]:
        """Find the operand that breaks a law of an element least often, and the count of its cases."""
        row = self._make_row(self.closure.start_numbers)
        counts = {
            e: self._count_cases(EQUATION_BY_ELEMENT[law], row, [(e,)]) for e in self.closure.start_numbers
        }
        best = min(counts, key=lambda e: counts[e].failing_count)
        return best, counts[best]

    def answers_of_sides(self, sides: Equation, numbers: Sequence[int]) -> tuple[AnswerKey, AnswerKey]:
        """Return the answers on the two sides of an equation in one case."""
        places: Sequence[EquationOperand] = numbers
        both_sides = sides(self._promote, places, self._absorbs)
        assert both_sides is not None
        left, right = both_sides
        assert isinstance(left, int)
        assert isinstance(right, int)
        return self.keys[left], self.keys[right]

    def _operand_groups(self, law: str, arity: int) -> Iterator[Sequence[int]]:
        """Yield the groups of operands to combine. For order-free, these are operands whose order can matter.

        `join` takes the operands as a set. A fold takes each tier by itself, pair by pair, so the order can
        matter from three operands of one tier on. If it matters for no three, it matters for no more:
        neighbours can be swapped after whatever came before.
        """
        asked = self.closure.start_numbers
        if law != "order-free" or arity == 2 or self.system.combine == "value":
            yield asked
        elif self.by_pairs:
            for tier in OPERAND_TIERS:
                group = [i for i in asked if (o := self.members[i]) and o.tier == tier]
                if group:
                    yield group

    def _count_cases(
        self, sides: Equation, last_row: OperandRow, leading_operands: Iterable[tuple[int, ...]]
    ) -> CaseCount:
        """Count the cases that break an equation for these operands; the last operand ranges over a row."""
        case_count, failing = 0, 0
        smallest: tuple[int, tuple[int, ...]] | None = None
        for numbers in leading_operands:
            places: tuple[EquationOperand, ...] = (*numbers, last_row)
            both_sides = sides(self._promote, places, self._absorbs)
            if both_sides is None:
                continue
            case_count += len(last_row.numbers)
            broken, first = self._count_unequal(*both_sides, len(last_row.numbers))
            failing += broken
            if broken:
                rank = self._case_rank(
                    (*numbers, last_row.numbers[first])
                )  # a row begins with the smallest operand
                smallest = rank if smallest is None else min(smallest, rank)
        if smallest is None:
            return CaseCount(case_count)
        case = smallest[1]
        return CaseCount(case_count, failing, FailingCase(sides, case, self.answers_of_sides(sides, case)))

    def _make_row(self, group: Sequence[int]) -> OperandRow:
        """Make the row of a group for the last operand, the smallest first; keep its promotions with each
        operand."""
        row = OperandRow(sorted(group, key=lambda i: (self.closure.size(i), i)))
        row.kept_after = {i: OperandRow(row.pick(line)) for i, line in enumerate(self.table)}
        row.kept_before = {i: OperandRow(row.pick(line)) for i, line in enumerate(self.columns)}
        return row

    def _case_rank(self, numbers: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Return the sort key of a case: its bits, then its place in the documents' order."""
        return self.closure.size(*numbers), numbers

    def _count_unequal(self, left: EquationOperand, right: EquationOperand, length: int) -> tuple[int, int]:
        """Return the number of places in a row where two sides differ, and the first of these places."""
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

    def _absorbs(self, a: EquationOperand, b: EquationOperand) -> bool:
        """Return True if a and b promote to b; both are numbers, and neither is a refusal."""
        assert isinstance(a, int)
        assert isinstance(b, int)
        found = self.table[a][b]
        return found != REFUSED_NUMBER and self.keys[found] == self.keys[b]

    def _promote(self, a: EquationOperand, b: EquationOperand, *more: EquationOperand) -> EquationOperand:
        """Promote numbers and rows; a row with a number gives a row."""
        if more:
            return self._promote_several(a, b, *more)
        if isinstance(a, int):
            if isinstance(b, int):
                return self.table[a][b]
            return b.kept_after[a] if a in b.kept_after else OperandRow(b.pick(self.table[a]))
        if isinstance(b, int):
            return a.kept_before[b] if b in a.kept_before else OperandRow(a.pick(self.columns[b]))
        return OperandRow(tuple(map(getitem, map(self.table.__getitem__, a.numbers), b.numbers)))

    def _promote_several(self, *places: EquationOperand) -> EquationOperand:
        """Promote three or more numbers and rows at once."""
        if self.folds:
            return reduce(self._promote, places)
        lengths = {len(place.numbers) for place in places if isinstance(place, OperandRow)}
        if not lengths:
            return self._promote_at_once(tuple(place for place in places if isinstance(place, int)))
        columns = [repeat(place) if isinstance(place, int) else place.numbers for place in places]
        return OperandRow(tuple(map(self._promote_at_once, zip(*columns, strict=False))))

    def _promote_at_once(self, numbers: tuple[int, ...]) -> int:
        """Promote operands at once under the system, and return the number of the result."""
        if numbers not in self.joint_results:
            if len(self.joint_results) >= MAX_TRIPLES:
                raise BeyondReachError(f"more than {MAX_TRIPLES:,} cases that have to be asked one by one")
            operands = self.closure.operands(*numbers)
            found = result_operand(self.system, operands, python_adds_scalars=self.closure.has_python_scalars)
            if found not in self.numbers:
                self.numbers[found] = len(self.members)
                self.members.append(found)
                new = answer_key(self.system, found)
                self.all_differ &= new not in self.keys
                self.keys.append(new)
            self.joint_results[numbers] = self.numbers[found]
        return self.joint_results[numbers]
