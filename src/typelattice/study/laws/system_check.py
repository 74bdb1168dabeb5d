"""The check of a system: its contents, pairs without a join, failing laws, and the cost of its casts."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from typelattice.core.dtypes.dtypes import DType, Kind, Node, WeakNode, sort_key
from typelattice.core.engine.system import System
from typelattice.core.explanations.promotion_in_english import TitledLines
from typelattice.core.system_files.reader import system as find_system
from typelattice.study.laws.jep9407_criteria import MAX_SHOWN_PAIRS, Criteria, criteria
from typelattice.study.laws.laws import Laws, laws
from typelattice.study.tables.study_scope import PYTHON_SCALARS

if TYPE_CHECKING:
    from pathlib import Path

NodePair = tuple[Node, Node]
OUTCOME_OVERRIDE, OUTCOME_TIE = "by an override", "by a tie"
OUTCOME_NO_TIE, OUTCOME_UNBOUNDED = (
    "refused, with several minimal bounds and no tie",
    "refused, nothing lies above both",
)
DATA_KEYS = {
    OUTCOME_OVERRIDE: "override",
    OUTCOME_TIE: "tie",
    OUTCOME_NO_TIE: "split",
    OUTCOME_UNBOUNDED: "unbounded",
}


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """The contents and the costs of a system.

    `unjoined_pairs` has the pairs of nodes that have no join, by their outcome, such as "by a tie".
    `has_several_bounds` is True if any pair has several lowest bounds, which a repair of the order would end.
    """

    system: System
    unjoined_pairs: Mapping[str, tuple[NodePair, ...]]
    has_several_bounds: bool
    laws: Laws
    criteria: Criteria

    @property
    def weak_nodes(self) -> tuple[WeakNode, ...]:
        """The weak nodes of the order."""
        return tuple(sorted((n for n in self.system.order.nodes if isinstance(n, WeakNode)), key=sort_key))

    @property
    def defaults(self) -> dict[str, DType]:
        """The dtype of a Python scalar without other operands, by the name of its kind in a system file."""
        names = {Kind.UNSIGNED: "uint", Kind.SIGNED: "int"}
        return {names.get(kind, kind.value): d for kind, d in self.system.defaults.items()}

    def sections(self) -> Iterator[TitledLines]:
        """Yield the parts of the check, each a heading and lines."""
        s, dtypes = self.system, self.system.dtypes
        yield "name", [s.name]
        yield "title", [s.title or "none; give one, it heads tables"]
        yield "dtypes", [f"{len(dtypes)}: {' '.join(map(str, dtypes))}"]
        yield (
            "weak",
            [
                f"{len(self.weak_nodes)}: {' '.join(map(str, self.weak_nodes))}"
                if self.weak_nodes
                else "none in the order"
            ],
        )
        yield "tiers", [", ".join(s.tiers)]
        yield "no join", self._describe_unjoined_pairs()
        yield "ties", [f"{', '.join(bounds)}: {winner}" for bounds, winner in self._list_ties()] or ["none"]
        if s.overrides or s.refusals:
            yield "said outright", [f"{len(s.overrides)} pairs in overrides, {len(s.refusals)} in refusals"]
        missing = [kind for kind in PYTHON_SCALARS if kind not in self.defaults]
        none = [f"none for {', '.join(missing)}: alone it is refused"] if missing else []
        yield "defaults", [*(f"{kind}: {d}" for kind, d in self.defaults.items()), *none]
        yield from self._judgement_sections()

    def data(self) -> dict[str, object]:
        """Return the whole check as data for JSON."""
        return {
            "system": self.system.name,
            "title": self.system.title,
            "dtypes": [d.name for d in self.system.dtypes],
            "weak": [str(n) for n in self.weak_nodes],
            "tiers": list(self.system.tiers),
            "pairs": self._pair_count,
            "without_join": {
                DATA_KEYS[outcome]: [[str(a), str(b)] for a, b in of]
                for outcome, of in self.unjoined_pairs.items()
            },
            "ties": [{"bounds": bounds, "winner": str(winner)} for bounds, winner in self._list_ties()],
            "overrides": len(self.system.overrides),
            "refusals": len(self.system.refusals),
            "defaults": {kind: d.name for kind, d in self.defaults.items()},
            "laws": self.laws.data()["laws"],
            "criteria": self.criteria.data()["criteria"],
        }

    @property
    def _pair_count(self) -> int:
        nodes = len(self.system.order.nodes)
        return nodes * (nodes - 1) // 2

    def _describe_unjoined_pairs(self) -> list[str]:
        """Count the pairs that have no join, and list the outcomes with examples."""
        counted = [f"{sum(map(len, self.unjoined_pairs.values()))} of {self._pair_count} pairs"]
        for outcome, pairs in self.unjoined_pairs.items():
            some = ", ".join(f"{a} + {b}" for a, b in pairs[:MAX_SHOWN_PAIRS])
            counted.append(f"{len(pairs)} {outcome}: {some}{', ...' * (len(pairs) > MAX_SHOWN_PAIRS)}")
        return counted

    def _list_ties(self) -> Iterator[tuple[list[str], Node]]:
        """Yield the bounds and the winner of each tie."""
        return (
            ([str(n) for n in sorted(bounds, key=sort_key)], winner)
            for bounds, winner in self.system.ties.items()
        )

    def _judgement_sections(self) -> Iterator[TitledLines]:
        """Yield the laws that hold or fail and the criteria that pairs break, in few lines."""
        failing = [f"not {law}: {v.counterexample}" for law, v in self.laws.items() if v.holds is False]
        unknown = [f"{law} {v}" for law, v in self.laws.items() if v.holds is None]
        kept = ", ".join(law for law, v in self.laws.items() if v) or "none"
        yield "laws", [f"kept: {kept}", *failing, *unknown]
        yield "criteria", [self.criteria.summary]

    def __repr__(self) -> str:
        return f"<check of {self.system.name}>"

    def __str__(self) -> str:
        return "\n".join(f"{heading:14}{'; '.join(lines)}" for heading, lines in self.sections())


def check(system: str | Path | System) -> Check:
    """Check a system.

    Raises UnknownSystemError, FormatError.

    >>> from typelattice.study.laws.system_check import check
    >>> check("numpy").unjoined_pairs
    {'by a tie': ((uint8, int8), (uint16, int8), (uint16, int16))}
    """
    found = find_system(system)
    nodes = sorted(found.order.nodes, key=sort_key)
    pairs_by_outcome: dict[str, list[NodePair]] = {}
    split = False
    for a, b in combinations(nodes, 2):
        if found.order.join(a, b) is None:
            bounds = found.order.minimal_bounds(a, b)
            split |= len(bounds) > 1
            pairs_by_outcome.setdefault(_outcome_without_join(found, (a, b), bounds), []).append((a, b))
    without_join = {fate: tuple(pairs) for fate, pairs in pairs_by_outcome.items()}
    return Check(found, without_join, split, laws(found), criteria(found))


def _outcome_without_join(system: System, pair: NodePair, bounds: tuple[Node, ...]) -> str:
    """Name the outcome of a pair that has no join."""
    if frozenset(pair) in system.overrides:
        return OUTCOME_OVERRIDE
    if frozenset(bounds) in system.ties:
        return OUTCOME_TIE
    return OUTCOME_NO_TIE if bounds else OUTCOME_UNBOUNDED
