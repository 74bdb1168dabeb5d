"""The casts of a system that may be folded: pairs of casts that equal the direct cast."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.system import System
from typelattice.core.explanations.promotion_in_english import TitledLines, describe_explicit_cast
from typelattice.core.losses.cast_chains import (
    PLAIN_RULE_FOR_EACH_CAST,
    CastChain,
    ChainRules,
    cast_chain,
    may_be_folded,
)
from typelattice.core.losses.loss import loss
from typelattice.core.system_files.reader import system as find_system
from typelattice.study.tables.study_scope import list_operands

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class CastChains(Sequence[CastChain]):
    """Every chain `a -> b -> c` of a system's dtypes, a and c different from b, and if it is exact.

    >>> print(cast_chains("numpy", dtypes=["float16", "float32", "float64"]).rounded_twice[0])
    float64 -> float32 -> float16: 2.980232238769532e-08 becomes 0.0, directly 5.960464477539063e-08
    """

    system: System
    chains: tuple[CastChain, ...]

    def __len__(self) -> int:
        return len(self.chains)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]  # as a tuple does
        return self.chains[i]

    @cached_property
    def exact_chains(self) -> tuple[CastChain, ...]:
        """The chains that may be folded."""
        return tuple(chain for chain in self.chains if chain.exact)

    @cached_property
    def rounded_twice(self) -> tuple[CastChain, ...]:
        """Chains that end in two roundings, and differ although b holds every value of c; fewest bits
        first.
        """
        floats = (
            c for c in self.chains if c.target.kind.category >= Kind.FLOAT.category <= c.through.kind.category
        )
        found = [c for c in floats if c.exact is False and not c.obstacle and not loss(c.target, c.through)]
        return tuple(sorted(found, key=lambda c: sum(d.bits or 0 for d in (c.source, c.through, c.target))))

    @cached_property
    def rule_descriptions(self) -> tuple[str, ...]:
        """The rules of the file for casts: a line for each entry, with the number of casts that follow it."""
        counts = Counter((rule.entry, rule) for rule in self.system.casts.values())
        by_entry: dict[str, list[str]] = {}
        for (source, target), rule in self.system.casts.items():
            by_entry.setdefault(rule.entry, []).append(describe_explicit_cast(source, target, rule))
        more = {entry: f", and {n - 1} like it" if n > 1 else "" for (entry, _), n in counts.items()}
        return tuple(f"{first}{more[entry]}" for entry, (first, *_) in by_entry.items())

    def __repr__(self) -> str:
        return f"<casts of {self.system.name}: {len(self.exact_chains)} of {len(self)} chains may be folded>"

    def section(self, limit: int) -> TitledLines:
        """Count the chains, and show some that round twice."""
        unknown = sum(chain.exact is None for chain in self.chains)
        lines = [
            *self.rule_descriptions,
            f"{len(self.exact_chains):,} of {len(self):,} chains a -> b -> c may be folded to a -> c",
            *([f"{unknown:,} are not known, as the values of a dtype are not"] if unknown else []),
            f"{len(self.rounded_twice):,} round twice: b holds every value of c, and yet they differ",
            *map(str, self.rounded_twice[:limit]),
        ]
        return "casts", [*lines, *(["..."] if limit < len(self.rounded_twice) else [])]

    def data(self) -> list[dict[str, object]]:
        """Return each chain as data for JSON; `exact` is null if it is not known."""
        return [
            {
                "casts": [c.source.name, c.through.name, c.target.name],
                "exact": c.exact,
                **(
                    {"first": c.first_difference, "chained": c.chained, "direct": c.direct}
                    if c.first_difference
                    else {}
                ),
                **({"obstacle": c.obstacle} if c.obstacle else {}),
            }
            for c in self.chains
        ]


def cast_chains(system: str | Path | System, dtypes: Iterable[object] | None = None) -> CastChains:
    """Compare all two casts in a row of a system's dtypes with the direct cast.

    `dtypes`: only these, as far as the system has them. Raises UnknownSystemError, FormatError, DTypeError.

    >>> cast_chains("numpy")
    <casts of numpy: 938 of 2366 chains may be folded>
    """
    found = find_system(system)
    asked = [o.dtype for o in list_operands(found, "array", dtypes) if o.dtype and o.tier == "array"]
    triples = product(asked, repeat=3)
    return CastChains(found, tuple(chain_of(found, a, b, c) for a, b, c in triples if a is not b is not c))


def chain_of(system: System, a: DType, b: DType, c: DType) -> CastChain:
    """Compare two casts in a row with the direct cast, by the system's rules for casts."""
    return cast_chain(a, b, c, _rules_of(system, a, b, c))


def is_foldable(system: System, source: DType, middle: DType, target: DType) -> bool:
    """Return True if two casts in a row may be folded by the system's rules: the `exact` of `chain_of`."""
    return may_be_folded(source, middle, target, _rules_of(system, source, middle, target))


def _rules_of(system: System, a: DType, b: DType, c: DType) -> ChainRules:
    if not system.casts:
        return PLAIN_RULE_FOR_EACH_CAST
    return system.cast_rule(a, b), system.cast_rule(b, c), system.cast_rule(a, c)
