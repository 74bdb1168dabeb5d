"""The front: an order's best completions for each trade of precision for width, and the place of systems."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from typelattice.core.dtypes.dtypes import Node, WeakNode
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import system as find_system
from typelattice.study.designer.completion import Completion, best_completion
from typelattice.study.designer.plan_file import DEFAULT_RULES
from typelattice.study.designer.standard_demands import DEMANDS, NodeFacts, list_node_facts

# the counts that compare systems: refused pairs, lossy results, results that are too wide
COMPARED_COSTS = ("lattice", "precision", "width")


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a system among the completions of an order, compared by the counts of COMPARED_COSTS.

    - `dominating_completion` is a completion that is worse in no count and better in one, or None.
    - `is_on_front` says that the system is on the front: a completion has the same counts, and none is
      better.
    - With neither, every completion is worse than the system in some count.
    """

    system: System
    counts: Mapping[str, int]
    is_on_front: bool = False
    dominating_completion: Completion | None = None


def walk_front(
    order: str | Path | System, rules: Sequence[str] = DEFAULT_RULES, at_most: Mapping[str, int] = {}
) -> Iterator[Completion]:
    """The completions with no better one in both precision and width, from the fewest wide results on."""
    most = dict(at_most)
    while found := best_completion(order, rules, ["width", "precision", "kind", "relations"], most):
        yield found
        most["precision"] = found.counts["precision"] - 1


def place_on_front(
    system: str | Path | System, order: str | Path | System, rules: Sequence[str] = DEFAULT_RULES
) -> Placement:
    """Place a system among the completions of an order, even those that leave pairs without a join."""
    found = find_system(system)
    counts = count_axes(found, find_system(order))
    kept = [word for word in rules if word != "lattice"]
    better = best_completion(
        order, kept, [*COMPARED_COSTS, "kind", "relations"], {word: counts[word] for word in COMPARED_COSTS}
    )
    if better is None:
        return Placement(found, counts)
    same = all(better.counts[word] == counts[word] for word in COMPARED_COSTS)
    return Placement(found, counts, same, None if same else better)


def count_axes(system: System, partial: System) -> dict[str, int]:
    """Count the violations of a system's answers for pairs of an order's nodes.

    A weak node stands for a Python scalar. Each pair is tried in both orders of its operands; a violation in
    either counts once. Pairs of two scalars are left out, because no library decides them.
    """
    counts = dict.fromkeys((name for name, d in DEMANDS.items() if d.breaks_result or d.counts_unjoined), 0)
    for a, b in combinations(list_node_facts(partial), 2):
        if not (isinstance(a.node, WeakNode) and isinstance(b.node, WeakNode)):
            answers = [
                system.explain(*map(_operand_of, pair)) for pair in ((a.node, b.node), (b.node, a.node))
            ]
            for word in {word for p in answers for word in _list_violations(p, a, b)}:
                counts[word] += 1
    return counts


def _operand_of(node: Node) -> object:
    return node.kind.python_name if isinstance(node, WeakNode) else node


def _list_violations(promotion: Promotion, a: NodeFacts, b: NodeFacts) -> Iterator[str]:
    if promotion.dtype is None:
        yield "lattice"
        return
    c = NodeFacts(
        promotion.node if promotion.weak and isinstance(promotion.node, WeakNode) else promotion.dtype,
        promotion.dtype,
    )
    yield from (name for name, d in DEMANDS.items() if d.breaks_result and d.breaks_result(a, b, c))
