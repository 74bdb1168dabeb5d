"""The demands on a completion, as data: rules, costs in order of weight, custom demands."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise, product
from pathlib import Path

from typelattice.base.disk.read import read_bytes
from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DType, Node
from typelattice.core.dtypes.order import OrderError, split_statements
from typelattice.core.system_files.system_text import (
    MAX_SYSTEM_FILE_BYTES,
    FormatError,
    SystemText,
    toml_type_name,
)
from typelattice.core.system_files.value_reader import Vocabulary, require_phrase, require_text, table_items
from typelattice.study.designer.standard_demands import DEMANDS, Demand, NodeFacts

DEFAULT_RULES = ("lattice", "component", "overflow", "subset", "weak")
IMPLIED_RULE = "single"  # this rule holds unless the plan makes it a cost or drops it
DROP_IMPLIED_RULE = f"-{IMPLIED_RULE}"  # the word among the rules that drops it
DEFAULT_COSTS = ("deference", "width64", "width", "precision", "relations")
PLAN_KEYS = {"rules": list, "costs": list, "demands": dict, "regions": list}
DEMAND_KEYS = ("avoid", "want", "results", "weight", "counts")  # the keys of a user's demand
REFUSED_WORD = "refused"  # the result of a pair that must have no join


class PlanError(TypelatticeError, ValueError):
    """Rules or costs that cannot be read."""

    __module__ = "typelattice"


@dataclass(frozen=True, slots=True)
class Plan:
    """Rules for every relation that a completion adds, and costs, the most important first.

    A completion adds nothing between two nodes of a region.
    """

    rules: tuple[Demand, ...]
    costs: tuple[Demand, ...]
    regions: tuple[frozenset[Node], ...] = ()

    @property
    def demands(self) -> tuple[Demand, ...]:
        return tuple({d.name: d for d in (*self.rules, *self.costs)}.values())


def read_plan(
    rules: Sequence[str] | None = None,
    costs: Sequence[str] | None = None,
    file: str | Path | Mapping[str, object] | None = None,
    dtypes: Mapping[str, DType] = {},
) -> Plan:
    """The plan of a file, with other rules or costs where they are given; a bare one has the default rules
    and costs.

    Raises PlanError; `dtypes` are the new dtypes of the order's file.
    """
    where, values = (
        ("plan", file) if isinstance(file, Mapping) else _read_plan_file(Path(file)) if file else ("plan", {})
    )
    for key, value in values.items():
        if key not in PLAN_KEYS:
            raise PlanError(
                f"{where}: unknown key {quote_short(key)}{spelling_hint(key, PLAN_KEYS)}; "
                f"the keys are {', '.join(PLAN_KEYS)}"
            )
        if not isinstance(value, PLAN_KEYS[key]):
            raise PlanError(
                f"{where}: {key} should be {toml_type_name(PLAN_KEYS[key])}, is {toml_type_name(type(value))}"
            )
    words, regions = Vocabulary(dtypes), []
    listed = values.get("regions", [])
    assert isinstance(listed, list)
    for number, nodes in enumerate(listed, 1):
        try:
            regions.append(frozenset(words.read_nodes(nodes)))
        except ValueError as e:
            raise PlanError(f"{where}, region {number}: {e}") from None
    known = dict(DEMANDS)
    for name, given in table_items(values.get("demands", {})):
        try:
            if name in DEMANDS:
                raise ValueError("this is a word of ours; give another name")
            known[name] = _read_custom_demand(name, dict(table_items(given)), dtypes)
        except (ValueError, OrderError) as e:
            raise PlanError(f"{where}, demand {quote_short(name)}: {e}") from None
    chosen = {"rules": rules, "costs": costs}
    default = {"rules": DEFAULT_RULES, "costs": DEFAULT_COSTS}
    found: dict[str, tuple[Demand, ...]] = {}
    is_dropped = False
    for key, said in chosen.items():
        names = values.get(key, default[key]) if said is None else said
        assert isinstance(names, Sequence)
        kept = [name for name in names if key != "rules" or name != DROP_IMPLIED_RULE]
        found[key] = tuple(_find_demand(name, known, where, key) for name in kept)
        is_dropped |= len(kept) < len(names)
        if len(set(found[key])) < len(found[key]):
            raise PlanError(f"{where}: a word stands twice among the {key}")
    named = any(d.counts_unsettled for d in chain(*found.values())) or any(
        d.counts_unjoined for d in found["rules"]
    )
    if not (is_dropped or named):
        found["rules"] = (known[IMPLIED_RULE], *found["rules"])
    return Plan(found["rules"], found["costs"], tuple(regions))


def _read_plan_file(path: Path) -> tuple[str, Mapping[str, object]]:
    """Return the name and the contents of a plan's file. Raises FileError, PlanError."""
    data = read_bytes(path, MAX_SYSTEM_FILE_BYTES + 1)
    if len(data) > MAX_SYSTEM_FILE_BYTES:
        raise PlanError(f"{path.name}: larger than {MAX_SYSTEM_FILE_BYTES:,} bytes")
    try:
        return path.name, SystemText(path.name, data.decode("utf-8-sig")).values()
    except FormatError as e:
        raise PlanError(str(e)) from None
    except UnicodeDecodeError as e:
        raise PlanError(f"{path.name}: not UTF-8 text (byte {e.start}); save it as UTF-8") from None


def _find_demand(name: object, known_demands: Mapping[str, Demand], location: str, key: str) -> Demand:
    if not isinstance(name, str) or name not in known_demands:
        what = quote_short(name) if isinstance(name, str) else toml_type_name(type(name))
        near = spelling_hint(name, known_demands) if isinstance(name, str) else ""
        raise PlanError(
            f"{location}: unknown word {what} among the {key}"
            f"{near or '; these are ' + ', '.join(known_demands)}"
        )
    return known_demands[name]


def _read_custom_demand(name: str, entry: Mapping[str, object], dtypes: Mapping[str, DType]) -> Demand:
    """Return a demand of the plan: relations to avoid or to have, results to have, pairs to refuse."""
    for field in entry:
        if field not in DEMAND_KEYS:
            raise ValueError(
                f"unknown key {quote_short(field)}{spelling_hint(field, DEMAND_KEYS)}; "
                f"the keys are {', '.join(DEMAND_KEYS)}"
            )
    if not {"avoid", "want", "results"} & entry.keys():
        raise ValueError("says nothing; give avoid, want or results")
    words = Vocabulary(dtypes)
    weight = entry.get("weight", 1)
    if type(weight) is not int or not 0 < weight <= 1_000_000:
        raise ValueError("weight should be a whole number from 1 to 1000000")
    avoid = _read_relations(require_text(entry.get("avoid", "")), words)
    results, refused = dict[frozenset[Node], Node](), set[frozenset[Node]]()
    for pairs, to in table_items(entry.get("results", {})):
        for pair in map(frozenset, words.read_pairs(pairs)):
            if pair in results or pair in refused:
                raise ValueError(f"{' + '.join(map(str, pair))} has two results")
            if to == REFUSED_WORD:
                refused.add(pair)
            else:
                results[pair] = words.read_node(to)
    return Demand(
        require_phrase(name),
        require_phrase(entry.get("counts", f"what {name} speaks against")),
        _differs_maker(results, refused) if results or refused else None,
        (lambda a, b: (a.node, b.node) in avoid) if avoid else None,
        _read_relations(require_text(entry.get("want", "")), words),
        weight=weight,
    )


def _differs_maker(
    results: Mapping[frozenset[Node], Node], refused: Set[frozenset[Node]]
) -> Callable[[NodeFacts, NodeFacts, NodeFacts], bool]:
    """Return a test for wrong results c of a and b.

    The test is True if `results` names another result, or if the pair should be refused.
    """

    def differs(a: NodeFacts, b: NodeFacts, c: NodeFacts) -> bool:
        pair = frozenset((a.node, b.node))
        return pair in refused or results.get(pair, c.node) is not c.node

    return differs


def _read_relations(arrows: str, words: Vocabulary) -> frozenset[tuple[Node, Node]]:
    """`a, b -> c`: each of the left below each of the right."""
    chains = [[words.read_nodes(",".join(part)) for part in chain] for _, chain in split_statements(arrows)]
    if lone := next((chain for chain in chains if len(chain) == 1), None):
        raise ValueError(f"{lone[0][0]} stands alone; write a -> b")
    return frozenset(
        pair for chain in chains for lower, upper in pairwise(chain) for pair in product(lower, upper)
    )
