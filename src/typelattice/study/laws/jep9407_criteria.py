"""The five criteria of JEP 9407 for promotion, as counts and lists of the pairs that break each.

A complex dtype is as wide as its parts: complex64 is as wide as float32. A dtype whose width depends on the
platform counts as 64 bits. Source: https://docs.jax.dev/en/latest/jep/9407-type-promotion.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import TYPE_CHECKING

from typelattice.base.objects.display_hooks import NotebookDisplay
from typelattice.base.rendering import Cell, Grid
from typelattice.core.dtypes.dtypes import DType, DTypeError, Node, real_part_dtype
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.explanations.promotion_in_english import TitledLines
from typelattice.core.losses.finite_values import PLATFORM_INTEGER_BITS
from typelattice.core.losses.loss import Loss, loss
from typelattice.core.operands.operand import Operand
from typelattice.core.system_files.reader import system as find_system
from typelattice.study.tables.study_scope import TierChoice, list_operands

if TYPE_CHECKING:
    from pathlib import Path

WIDE_BITS = 64  # bits of dtypes that accelerators avoid
MAX_SHOWN_PAIRS = 4  # examples shown of the pairs that break a criterion


@dataclass(frozen=True, slots=True)
class PairCost:
    """The cost of a pair of operands: the minimal bounds, the dtypes that are cast, and the loss of each
    cast."""

    promotion: Promotion
    bounds: tuple[Node, ...]
    sources: tuple[DType, ...]
    losses: tuple[Loss, ...]

    @property
    def is_wider(self) -> bool:
        """Return True if the result is wider than both operands."""
        to = self.promotion.dtype
        return to is not None and part_width(to) > max(map(part_width, self.sources))

    @property
    def is_64_bits(self) -> bool:
        """Return True if the result has parts of 64 bits or more, and no operand has."""
        to = self.promotion.dtype
        return to is not None and part_width(to) >= WIDE_BITS > max(map(part_width, self.sources))

    @property
    def casts_to_integer(self) -> bool:
        """Return True if the casts are to an integer: values that are too large wrap, and do not become
        inf.
        """
        to = self.promotion.compute
        return to is not None and to.precision is None


@dataclass(frozen=True, slots=True)
class Criterion:
    """A fault that a pair must not have: its number in the JEP, a column head, a phrase, and a test of a
    pair."""

    number: int
    column_heading: str
    description: str
    is_broken_by: Callable[[PairCost], bool]


CRITERIA = {
    "several bounds": Criterion(
        1, "sev", "no join: several dtypes lie lowest above both",
        lambda pair: len(pair.bounds) > 1,
    ),
    "no bound": Criterion(
        1, "none", "no join: nothing lies above both",
        lambda pair: not pair.bounds,
    ),
    "refused": Criterion(
        1, "ref", "no answer: cast one operand first",
        lambda pair: pair.promotion.dtype is None,
    ),
    "dropped": Criterion(
        2, "drop", "a part is dropped: complex becomes real",
        lambda pair: any(lost.imaginary for lost in pair.losses),
    ),
    "overflow": Criterion(
        3, "wrap", "unhandled overflow: an integer wraps",
        lambda pair: pair.casts_to_integer and any(lost.magnitude or lost.sign for lost in pair.losses),
    ),
    "magnitude": Criterion(
        3, "inf", "loss of magnitude: a value beyond the range of a float becomes inf or nan",
        lambda pair: not pair.casts_to_integer and any(lost.magnitude for lost in pair.losses),
    ),
    "precision": Criterion(
        4, "prec", "loss of precision: a value within the range is rounded",
        lambda pair: any(lost.precision for lost in pair.losses),
    ),
    "wider": Criterion(
        5, "wide", "the result is wider than both operands",
        lambda pair: pair.is_wider,
    ),
    "64 bits": Criterion(
        5, "64b", "the result has parts of 64 bits, no operand has",
        lambda pair: pair.is_64_bits,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Criteria(Mapping[str, tuple[Promotion, ...]], NotebookDisplay):
    """The pairs that break each criterion, by its name.

    >>> import typelattice as tl
    >>> tl.criteria("numpy", dtypes=["int32", "float32"])["wider"]
    (<float64: int32 with float32 under numpy>,)
    """

    system: System
    tier: TierChoice
    pair_count: int
    breaking_pairs: Mapping[str, tuple[Promotion, ...]]

    @property
    def counts(self) -> dict[str, int]:
        """The number of pairs that break each criterion."""
        return {name: len(pairs) for name, pairs in self.breaking_pairs.items()}

    def __getitem__(self, criterion: str) -> tuple[Promotion, ...]:
        return self.breaking_pairs[criterion]

    def __iter__(self) -> Iterator[str]:
        return iter(self.breaking_pairs)

    def __len__(self) -> int:
        return len(self.breaking_pairs)

    def __repr__(self) -> str:
        return f"<criteria of {self.system.name}: {self.summary}>"

    def __str__(self) -> str:
        lines = (f"{name:{max(map(len, self))}}  {'; '.join(said)}" for name, said in self.sections())
        return "\n".join([self.title, "", *lines])

    @property
    def title(self) -> str:
        """One line on the operands and the tier."""
        tier = "" if self.tier == "array" else f", tier {self.tier}"
        return f"Criteria of {self.system.name}, {self.pair_count} pairs of operands{tier}"

    @property
    def summary(self) -> str:
        """The number of pairs for each criterion that any pair breaks, in a line."""
        broken = [f"{name} {count}" for name, count in self.counts.items() if count]
        return f"of {self.pair_count} pairs: {', '.join(broken) or 'none falls short'}"

    def sections(self, limit: int = MAX_SHOWN_PAIRS) -> Iterator[TitledLines]:
        """Yield each criterion with the number of pairs that break it, and some of them."""
        for name, pairs in self.breaking_pairs.items():
            counted = f"{len(pairs)} of {self.pair_count}: {CRITERIA[name].description}"
            yield name, [counted, list_pairs(pairs, limit)] if pairs else [counted]

    def grid(self) -> Grid:
        """Lay out the criteria (rows), the number of pairs that break each, and some of them."""
        heads = tuple(map(Cell, ("pairs", "asked", "such as")))
        cells = tuple(
            (Cell(str(len(pairs))), Cell(str(self.pair_count)), Cell(list_pairs(pairs)))
            for pairs in self.breaking_pairs.values()
        )
        return Grid(
            self.title, heads, tuple(Cell(name, (), CRITERIA[name].description) for name in self), cells
        )

    def data(self) -> dict[str, object]:
        """Return the criteria as data for JSON: for each, all pairs that break it, with their results."""
        return {
            "system": self.system.name,
            "tier": self.tier,
            "asked": self.pair_count,
            "criteria": {
                name.replace(" ", "_"): {
                    "says": CRITERIA[name].description,
                    "failing": len(pairs),
                    "pairs": [[*map(str, p.operands), p.dtype and p.dtype.name] for p in pairs],
                }
                for name, pairs in self.breaking_pairs.items()
            },
        }


def criteria(
    system: str | Path | System, tier: TierChoice = "array", dtypes: Iterable[object] | None = None
) -> Criteria:
    """Judge the pairs of a system's operands by the criteria of JEP 9407, in one tier or in all its tiers.

    `dtypes`: only these, as far as the system has them. Tier `all` also pairs each array with a Python int,
    float and complex. These lose what their default dtypes would, and are as wide. Together with arrays,
    pairs of two Python scalars are left out, because Python adds them. Raises UnknownSystemError,
    FormatError; DTypeError if no dtype is left.

    >>> import typelattice as tl
    >>> option = tl.criteria("jep9407-1")
    >>> option
    <criteria of jep9407-1: of 78 pairs: no bound 19, refused 19, wider 14, 64 bits 9>
    >>> option.counts["precision"], [tuple(map(str, p.operands)) for p in option["64 bits"]][:2]
    (0, [('uint16', 'float16'), ('uint16', 'float32')])
    """
    found = find_system(system)
    operands = list_operands(found, tier, dtypes)
    if any(o.tier != "scalar" for o in operands):
        operands = tuple(o for o in operands if o.dtype or o.kind in found.defaults)
    return _judge_operands(found, tier, operands)


@lru_cache(maxsize=128)  # a system never changes
def _judge_operands(system: System, tier: TierChoice, operands: tuple[Operand, ...]) -> Criteria:
    costs = [pair_cost(system.explain(a, b)) for a, b in _yield_operand_pairs(operands)]
    broken = {name: tuple(x.promotion for x in costs if c.is_broken_by(x)) for name, c in CRITERIA.items()}
    return Criteria(system, tier, len(costs), broken)


def _yield_operand_pairs(operands: Sequence[Operand]) -> Iterator[tuple[Operand, Operand]]:
    """Yield pairs of operands: arrays with each other, then arrays with Python scalars. Without arrays, yield
    pairs of Python scalars."""
    arrays = [o for o in operands if o.tier != "scalar"]
    scalars = [o for o in operands if o.tier == "scalar"]
    yield from combinations(arrays or scalars, 2)
    yield from product(arrays, scalars)


def pair_cost(p: Promotion) -> PairCost:
    """Compute the cost of a promotion."""
    sources = _source_dtypes(p)
    return PairCost(p, p.bounds, sources, tuple(loss(d, p.compute) for d in sources) if p.compute else ())


def part_width(d: DType) -> int:
    """Return the bits of a dtype, or of one part of a complex dtype."""
    return real_part_dtype(d).bits or PLATFORM_INTEGER_BITS[1]


def _source_dtypes(promotion: Promotion) -> tuple[DType, ...]:
    """Return the operands' dtypes; for a Python scalar, its default dtype."""
    found = [o.dtype or promotion.system.defaults.get(o.kind) for o in promotion.operands]
    if None in found:
        raise DTypeError(
            f"{promotion.system.name} has no default dtype for a Python scalar; leave scalars out"
        )
    return tuple(d for d in found if d)


def list_pairs(pairs: Sequence[Promotion], limit: int = MAX_SHOWN_PAIRS) -> str:
    """List pairs and their results: `int8 + uint8: int16, ...`."""
    said = [f"{' + '.join(map(str, p.operands))}{f': {p.dtype}' if p.dtype else ''}" for p in pairs[:limit]]
    return ", ".join(said) + ", ..." * (len(pairs) > limit)
