"""Systems as text: a file that states the order in the fewest chains."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from json import dumps
from re import findall

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import Node, WeakNode
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.system import System
from typelattice.core.system_files.entry_followers import find_mapping
from typelattice.core.system_files.system_origin import SystemOrigin
from typelattice.core.system_files.system_text import OPERATION_SETS_KEY
from typelattice.core.system_files.unused_keys import find_unused_entries, find_unused_keys

REPLACED_KEYS = (
    "name", "title", "source", "library", "extends", "order", "combine", "ties", "overrides", "refusals",
    "both-ways", OPERATION_SETS_KEY,
)  # fmt: skip


def write_system_file(system: System, order: Order[Node], name: str, title: str) -> str:
    """Return a system with another order as the text of a file, without its entries for single pairs.

    Entries without effect under the new order are also left out, since the reader would refuse them.
    """
    kept = _keys_to_keep(system, order)
    head = [f"name  = {dumps(name)}", f"title = {dumps(title, ensure_ascii=False)}"]
    head += [
        f"{key} = {_write_value(value)}" for key, value in kept.items() if not isinstance(value, Mapping)
    ]
    body = ['order = """', *write_chains(order), '"""', *_list_settling_ties(system, order)]
    tables = [f"{key} = {_write_value(value)}" for key, value in kept.items() if isinstance(value, Mapping)]
    return "\n".join([*head, *tables, *body]) + "\n"


def _list_settling_ties(system: System, order: Order[Node]) -> list[str]:
    """Return the ties that still decide the lowest bounds of some pair without a join."""
    settled = {frozenset(order.minimal_bounds(a, b)) for a, b in combinations(order.nodes, 2)}
    kept = {tie: winner for tie, winner in system.ties.items() if tie in settled}
    said = (
        f'"{", ".join(sorted(map(node_code, tie)))}" = "{node_code(winner)}"' for tie, winner in kept.items()
    )
    return [f"ties = {{ {', '.join(said)} }}"] if kept else []


def _keys_to_keep(system: System, order: Order[Node]) -> dict[str, object]:
    """Return the keys that still have an effect with another order."""
    assert isinstance(system.origin, SystemOrigin)
    kept = {key: value for key, value in system.origin.definition.values.items() if key not in REPLACED_KEYS}
    plain = replace(
        system, order=order, combine="join", ties={}, overrides={}, refusals={}, both_ways=frozenset()
    )
    for key, entry, _ in find_unused_keys(plain):
        table = kept.get(key)
        if entry is not None and isinstance(table, Mapping):
            kept[key] = {
                rest: value for words, value in table.items() if (rest := _remove_word(words, entry))
            }
        else:
            kept.pop(key, None)
    ops = kept.pop("ops", {})
    assert isinstance(ops, Mapping)
    unused_keys = [(entry, key) for entry, key, _ in find_unused_entries(plain)]
    kept_ops = {
        entry: used_keys
        for entry, said in ops.items()
        if (entry, None) not in unused_keys
        if (
            used_keys := {
                key: used
                for key, value in said.items()
                if (used := _used_value(plain, entry, key, value, (entry, key) in unused_keys)) is not None
            }
        )
    }
    sets = kept.pop("sets", {})
    assert isinstance(sets, Mapping)
    kept |= {"ops": _share_entries(kept_ops)} if kept_ops else {}
    used = {word for value in kept.values() for word in _list_words(value)} & sets.keys()
    while further := {word for name in used for word in _list_words(sets[name])} & sets.keys() - used:
        used |= further
    kept_sets = {name: sets[name] for name in sets if name in used}
    return kept | ({"sets": kept_sets} if kept_sets else {})


def _used_value(plain: System, entry: str, key: str, value: object, is_unused: bool) -> object:
    """Return what has an effect of a key of an entry of `ops`, or None if nothing has.

    A policy for values out of range may name dtypes that the order lacks, and others.
    """
    if not is_unused:
        return value
    policy = find_mapping(plain.ops.get(entry, {}), key) if key == "fit" else {}
    names = {str(node) for node in plain.order.nodes} | {kind.python_name for kind in plain.defaults}
    return {word: outcome for word, outcome in policy.items() if word in names} or None


def _share_entries(ops: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    """Return entries of `ops` in which operations share the keys that say the same."""
    sharing: dict[str, tuple[str, object, list[str]]] = {}
    for op, said in ops.items():
        for key, value in said.items():
            sharing.setdefault(_write_value({key: value}), (key, value, []))[2].append(op)
    found: dict[str, dict[str, object]] = {op: {} for op, said in ops.items() if "like" in said}
    for key, value, sharers in sharing.values():
        found.setdefault(", ".join(sharers), {})[key] = value
    return found


def _remove_word(words: str, entry: str) -> str:
    """Return the list of words of an entry, such as `mean, divide`, without one word."""
    return ", ".join(word for word in map(str.strip, words.split(",")) if word != entry)


def _list_words(value: object) -> list[str]:
    """Return the words in a value of a file, and in all within it."""
    if isinstance(value, Mapping):
        # The reasons of refusals are words for people.
        named = {k: dict.fromkeys(v, "") if k == "refusals" else v for k, v in value.items()}
        return [word for pair in named.items() for part in pair for word in _list_words(part)]
    if isinstance(value, list):
        return [word for part in value for word in _list_words(part)]
    return findall(r"\w+", value) if isinstance(value, str) else []


def reduce_order(nodes: Iterable[Node], relations: Iterable[tuple[Node, Node]]) -> Order[Node]:
    """Return the smallest order of nodes with exactly these relations."""
    above: dict[Node, list[Node]] = {a: [] for a in nodes}
    for a, b in relations:
        if a is not b:
            above[a].append(b)
    beyond = {a: {c for b in bs for c in above[b]} for a, bs in above.items()}
    return Order({a: [b for b in bs if b not in beyond[a]] for a, bs in above.items()})


def write_chains(order: Order[Node]) -> list[str]:
    """Write the covers of an order as lines of arrow text: long chains, and nodes without covers."""
    remaining_covers = {a: list(order.covers(a)) for a in order.nodes}
    below = {b for bs in remaining_covers.values() for b in bs}
    lines = []
    for start in sorted(remaining_covers, key=lambda a: a in below):
        while remaining_covers[start]:
            chain = [start]
            while remaining_covers[chain[-1]]:
                chain.append(remaining_covers[chain[-1]].pop(0))
            lines.append(" -> ".join(map(node_code, chain)))
        if start not in below and not order.covers(start):
            lines.append(node_code(start))
    return lines


def node_code(node: Node) -> str:
    """Return a node as a system file calls it."""
    return repr(node) if isinstance(node, WeakNode) else node.code


def _write_value(value: object) -> str:
    """Return a value in TOML. Strings are written as in JSON, since TOML reads them in the same way."""
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{dumps(str(k), ensure_ascii=False)} = {_write_value(v)}" for k, v in value.items())
            + " }"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_write_value, value)) + "]"
    return dumps(value, ensure_ascii=False)
