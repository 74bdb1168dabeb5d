"""The five criteria that JEP 9407 sets for promotion, as counts and lists of the pairs that break each.

A width is that of a part: complex64 is as wide as float32. What a library may choose by platform counts as 64 bits.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, product
from typing import TYPE_CHECKING

from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, DTypeError, part_of
from typelattice.facts.loss import PLATFORM, Loss, loss
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand
from typelattice.study.closure import domain

if TYPE_CHECKING:
    from pathlib import Path

WIDE = 64  # bits, which accelerators do without


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a pair must not do: its number in the JEP, a head for a column, a phrase, and whether a promotion does it."""

    number: int
    head: str
    about: str
    broken: Callable[[Promotion], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Criteria(Mapping[str, tuple[Promotion, ...]]):
    """The pairs that break each criterion, by its name, of all unordered pairs of different operands that were asked."""

    system: System
    asked: int
    broken: Mapping[str, tuple[Promotion, ...]]

    @property
    def counts(self) -> dict[str, int]:
        """How many pairs break each."""
        return {name: len(pairs) for name, pairs in self.broken.items()}

    def __getitem__(self, criterion: str) -> tuple[Promotion, ...]:
        return self.broken[criterion]

    def __iter__(self) -> Iterator[str]:
        return iter(self.broken)

    def __len__(self) -> int:
        return len(self.broken)


def criteria(system: str | Path | System, dtypes: Iterable[object] | None = None, scalars: bool = False) -> Criteria:
    """What the pairs of a system's arrays cost by the criteria of JEP 9407; of these dtypes, as far as it has them.

    `scalars`: also each array with a Python int, float and complex, which lose what their default dtypes would, and are
    as wide. Raises UnknownSystemError, FormatError; DTypeError where no dtype is left.

    >>> import typelattice as tl
    >>> option = tl.criteria("jep9407-1")
    >>> option.counts["precision"], [tuple(map(str, p.operands)) for p in option["64 bits"]][:2]
    (0, [('uint16', 'float16'), ('uint16', 'float32')])
    """
    found = find_system(system)
    arrays = domain(found, "array", dtypes)
    weak = domain(found, "scalar") if scalars else ()
    beside = tuple(o for o in weak if o.dtype is None and o.kind in found.defaults and o not in arrays)
    return _criteria(found, arrays, beside)


@lru_cache(maxsize=128)  # a system never changes
def _criteria(system: System, arrays: tuple[Operand, ...], beside: tuple[Operand, ...]) -> Criteria:
    answers = [system.explain(a, b) for a, b in chain(combinations(arrays, 2), product(arrays, beside))]
    broken = {name: tuple(p for p in answers if c.broken(p)) for name, c in CRITERIA.items()}
    return Criteria(system, len(answers), broken)


def widen(p: Promotion) -> bool:
    """Whether the result is wider than both operands."""
    return p.dtype is not None and width(p.dtype) > max(width(d) for d in sources(p))


def to_wide(p: Promotion) -> bool:
    """Whether the result has parts of 64 bits or more, and no operand has."""
    return p.dtype is not None and width(p.dtype) >= WIDE > max(width(d) for d in sources(p))


def width(d: DType) -> int:
    """The bits of a dtype, or of a part of it."""
    return part_of(d).bits or PLATFORM[1]


def sources(p: Promotion) -> tuple[DType, ...]:
    """The operands' dtypes, of a Python scalar its default dtype."""
    found = [o.dtype or p.system.defaults.get(o.kind) for o in p.operands]
    if None in found:
        raise DTypeError(f"{p.system.name} has no default dtype for a Python scalar; leave scalars out")
    return tuple(d for d in found if d)


def losses(p: Promotion) -> list[tuple[DType, Loss]]:
    """(where to, what it can lose) of each cast, a Python scalar's included."""
    return [(p.compute, loss(d, p.compute)) for d in sources(p)] if p.compute else []


def _several(p: Promotion) -> bool:
    return len(p.bounds) > 1


def _unbounded(p: Promotion) -> bool:
    return not p.bounds


def _refused(p: Promotion) -> bool:
    return p.dtype is None


def _dropped(p: Promotion) -> bool:
    return any(lost.imaginary for _, lost in losses(p))


def _wraps(p: Promotion) -> bool:
    return any((lost.magnitude or lost.sign) and to.precision is None for to, lost in losses(p))


def _magnitude(p: Promotion) -> bool:
    return any(lost.magnitude and to.precision is not None for to, lost in losses(p))


def _precision(p: Promotion) -> bool:
    return any(lost.precision for _, lost in losses(p))


CRITERIA = {
    "several bounds": Criterion(1, "sev", "no join: several dtypes lie lowest above both", _several),
    "no bound": Criterion(1, "none", "no join: nothing lies above both", _unbounded),
    "refused": Criterion(1, "ref", "no answer: cast one operand first", _refused),
    "dropped": Criterion(2, "drop", "a part is dropped: complex becomes real", _dropped),
    "overflow": Criterion(3, "wrap", "unhandled overflow: an integer wraps", _wraps),
    "magnitude": Criterion(3, "inf", "loss of magnitude: a value beyond the range of a float becomes inf or nan", _magnitude),
    "precision": Criterion(4, "prec", "loss of precision: a value within the range is rounded", _precision),
    "wider": Criterion(5, "wide", "the result is wider than both operands", widen),
    "64 bits": Criterion(5, "64b", "the result has parts of 64 bits, no operand has", to_wide),
}
