"""The demands on a completion, as data: rules, costs in order of weight, custom demands."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise, product
from pathlib import Path

from typelattice.designer.demands import DEMANDS, Demand, Member
from typelattice.disk.read import read_bytes
from typelattice.facts.dtypes import DType, Node
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.order import OrderError, statements
from typelattice.facts.suggestions import nearest, short
from typelattice.files.text import LIMIT_BYTES, FormatError, Text, article
from typelattice.files.vocabulary import Words, items, phrase, text

RULES = ("lattice", "component", "overflow", "subset", "weak")
ALWAYS = "single"  # a rule, unless it is a cost or dropped
DROPPED = f"-{ALWAYS}"  # the word among the rules that drops it
COSTS = ("deference", "width64", "width", "precision", "relations")
KEYS = {"rules": list, "costs": list, "demands": dict, "regions": list}
FIELDS = ("avoid", "want", "results", "weight", "counts")  # the keys of a user's demand
REFUSED = "refused"  # the result of a pair that must have no join


class PlanError(TypelatticeError, ValueError):
    """Rules or costs that cannot be read."""


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


def plan(
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
        ("plan", file) if isinstance(file, Mapping) else _read(Path(file)) if file else ("plan", {})
    )
    for key, value in values.items():
        if key not in KEYS:
            raise PlanError(
                f"{where}: unknown key {short(key)}{nearest(key, KEYS)}; the keys are {', '.join(KEYS)}"
            )
        if not isinstance(value, KEYS[key]):
            raise PlanError(f"{where}: {key} should be {article(KEYS[key])}, is {article(type(value))}")
    words, regions = Words(dtypes), []
    listed = values.get("regions", [])
    assert isinstance(listed, list)
    for number, nodes in enumerate(listed, 1):
        try:
            regions.append(frozenset(words.nodes(nodes)))
        except ValueError as e:
            raise PlanError(f"{where}, region {number}: {e}") from None
    known = dict(DEMANDS)
    for name, given in items(values.get("demands", {})):
        try:
            if name in DEMANDS:
                raise ValueError("this is a word of ours; give another name")
            known[name] = _read_own_demand(name, dict(items(given)), dtypes)
        except (ValueError, OrderError) as e:
            raise PlanError(f"{where}, demand {short(name)}: {e}") from None
    chosen = {"rules": rules, "costs": costs}
    default = {"rules": RULES, "costs": COSTS}
    found: dict[str, tuple[Demand, ...]] = {}
    is_dropped = False
    for key, said in chosen.items():
        names = values.get(key, default[key]) if said is None else said
        assert isinstance(names, Sequence)
        kept = [name for name in names if key != "rules" or name != DROPPED]
        found[key] = tuple(_find(name, known, where, key) for name in kept)
        is_dropped |= len(kept) < len(names)
        if len(set(found[key])) < len(found[key]):
            raise PlanError(f"{where}: a word stands twice among the {key}")
    named = any(d.several for d in chain(*found.values())) or any(d.unjoined for d in found["rules"])
    if not (is_dropped or named):
        found["rules"] = (known[ALWAYS], *found["rules"])
    return Plan(found["rules"], found["costs"], tuple(regions))


def _read(path: Path) -> tuple[str, Mapping[str, object]]:
    """Return the name and the contents of a plan's file. Raises FileError, PlanError."""
    data = read_bytes(path, LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise PlanError(f"{path.name}: larger than {LIMIT_BYTES:,} bytes")
    try:
        return path.name, Text(path.name, data.decode("utf-8-sig")).values()
    except FormatError as e:
        raise PlanError(str(e)) from None
    except UnicodeDecodeError as e:
        raise PlanError(f"{path.name}: not UTF-8 text (byte {e.start}); save it as UTF-8") from None


def _find(name: object, known: Mapping[str, Demand], where: str, key: str) -> Demand:
    if not isinstance(name, str) or name not in known:
        what = short(name) if isinstance(name, str) else article(type(name))
        near = nearest(name, known) if isinstance(name, str) else ""
        raise PlanError(
            f"{where}: unknown word {what} among the {key}{near or '; these are ' + ', '.join(known)}"
        )
    return known[name]


def _read_own_demand(name: str, given: Mapping[str, object], dtypes: Mapping[str, DType]) -> Demand:
    """Return a demand of the plan: relations to avoid or to have, results to have, pairs to refuse."""
    for field in given:
        if field not in FIELDS:
            raise ValueError(
                f"unknown key {short(field)}{nearest(field, FIELDS)}; the keys are {', '.join(FIELDS)}"
            )
    if not {"avoid", "want", "results"} & given.keys():
        raise ValueError("says nothing; give avoid, want or results")
    words = Words(dtypes)
    weight = given.get("weight", 1)
    if type(weight) is not int or not 0 < weight <= 1_000_000:
        raise ValueError("weight should be a whole number from 1 to 1000000")
    avoid = _relations(text(given.get("avoid", "")), words)
    results, refused = dict[frozenset[Node], Node](), set[frozenset[Node]]()
    for pairs, to in items(given.get("results", {})):
        for pair in map(frozenset, words.pairs(pairs)):
            if pair in results or pair in refused:
                raise ValueError(f"{' + '.join(map(str, pair))} has two results")
            if to == REFUSED:
                refused.add(pair)
            else:
                results[pair] = words.node(to)
    return Demand(
        phrase(name),
        phrase(given.get("counts", f"what {name} speaks against")),
        _other(results, refused) if results or refused else None,
        (lambda a, b: (a.node, b.node) in avoid) if avoid else None,
        _relations(text(given.get("want", "")), words),
        weight=weight,
    )


def _other(
    results: Mapping[frozenset[Node], Node], refused: Set[frozenset[Node]]
) -> Callable[[Member, Member, Member], bool]:
    """Return a test for wrong results c of a and b.

    The test is True if `results` names another result, or if the pair should be refused.
    """

    def differs(a: Member, b: Member, c: Member) -> bool:
        pair = frozenset((a.node, b.node))
        return pair in refused or results.get(pair, c.node) is not c.node

    return differs


def _relations(arrows: str, words: Words) -> frozenset[tuple[Node, Node]]:
    """`a, b -> c`: each of the left below each of the right."""
    chains = [[words.nodes(",".join(part)) for part in chain] for _, chain in statements(arrows)]
    if lone := next((chain for chain in chains if len(chain) == 1), None):
        raise ValueError(f"{lone[0][0]} stands alone; write a -> b")
    return frozenset(
        pair for chain in chains for lower, upper in pairwise(chain) for pair in product(lower, upper)
    )
