"""Files of users, drawn at random."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

import typelattice as tl
from typelattice.core.dtypes.dtypes import KINDS_BY_WORD
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, STANDARD_RULES_BY_CLASS
from typelattice.core.engine.rule_enums import OverflowRule, ScalarPlaces, WeakResult
from typelattice.core.engine.scalar_fit import FIT_OUTCOMES, RAISE_BEYOND_DEFAULT
from typelattice.core.losses.cast_rounding_and_overflow import OVERFLOW_WORDS, ROUNDING_WORDS
from typelattice.core.operations.operations import OPERATIONS
from typelattice.core.system_files.reader import COMBINE_WORDS, parse

ORDER = [  # from low to high
    "b", "i*", "u8", "u16", "i8", "i16", "i32", "i64", "m8", "f*", "f16", "f32", "f64", "c*", "c64", "c128",
]  # fmt: skip
OWN = {"m8": {"kind": "float", "bits": 8, "max": 64.0, "precision": 5, "min_exponent": 0, "specials": "szn"}}
ASKED = [
    op.name for op in OPERATIONS.values()
    if op.call_form in ("elementwise", "choice", "list", "indexed", "reduction", "along")
]  # fmt: skip


def drawn_file(dice: random.Random) -> str:
    """A file with any of the keys, each with values that go together with those of the others."""
    nodes = [n for n in ORDER if dice.random() < 0.85]
    keys: dict[str, object] = {"name": "mine", "title": "Drawn", "order": _order(dice, nodes)}
    if len(nodes) > 2 and dice.random() < 0.5:  # a name for two nodes that stand alone
        keys["sets"] = {"chosen": ", ".join(nodes[:2])}
        keys["order"] = str(keys["order"]).replace("; ".join(nodes[:2]), "chosen", 1)
    extends = dice.random() < 0.2
    if "m8" in nodes and not extends:
        keys["dtypes"] = OWN
    elif extends:
        keys = {"name": "mine", "extends": dice.choice(tl.systems()), "library": "mine 1.0"}
        nodes = [n.code if isinstance(n, tl.DType) else str(n) for n in parse(toml(keys)).order.nodes]
    dtypes = [n for n in nodes if "*" not in n] or ["b", "i32"]

    def some(most: int = 3) -> str:
        return ", ".join(dice.sample(dtypes, min(most, len(dtypes))))

    def outcome() -> str:
        return dice.choice(FIT_OUTCOMES)

    def pair(low: Sequence[str]) -> str:
        return f"{dice.choice(dtypes)} + {dice.choice([*dtypes, *low])}"

    draws: dict[str, Callable[[], object]] = {
        "tiers": lambda: dice.choice([["array", "scalar"], ["array", "0d", "scalar"], ["array", "0d"]]),
        "combine": lambda: dice.choice([*COMBINE_WORDS]),
        "weak-join": lambda: dice.choice(["width", "kind"]),
        "defaults": lambda: {
            "int": dice.choice(["i32", "i64", "i32, i64"]),
            "float": dice.choice(["f32", "f64"]),
            "complex": "c128",
        },
        "limits": lambda: {"int": dice.choice(["i32", "u64"]), "float": "f64"},
        "ties": lambda: _tie(dice, parse(toml(keys))),
        "overrides": lambda: {pair(["i*", "f*", "c*"]): dice.choice(dtypes)},
        "refusals": lambda: {pair(["i*", "f*", "c*"]): "because the file says so"},
        "before": lambda: {dice.choice(["u32", "u64", "bf16"]): dice.choice(dtypes)},
        "after": lambda: {dice.choice(nodes): dice.choice(dtypes)},
        "fit": lambda: {
            "int": dice.choice(FIT_OUTCOMES) + dice.choice(["", f", {RAISE_BEYOND_DEFAULT}"]),
            "float": outcome(),
        },
        "ops": lambda: {_entry(dice): _departure(dice, some, dtypes)},
        "first-is-array": lambda: True,
        "both-ways": lambda: [some(2)],  # of use beside loops, as the next one is
        "stand-in": lambda: {
            "beside": some(2),
            "int": _of_kind(dice, "iu", dtypes),
            "float": _of_kind(dice, "f", dtypes),
        },
        "requested": lambda: {dice.choice(["u32", "u64", "bf16", "float"]): dice.choice(dtypes)},
        "casts": lambda: {
            f"{dice.choice(dtypes)} -> {dice.choice(dtypes)}": dice.choice(
                [*ROUNDING_WORDS, *OVERFLOW_WORDS]
            ),
        },
        "foreign": lambda: {"numpy": dice.choice(["array", "other", "a reason of its own"])},
    }  # fmt: skip
    for key, draw in draws.items():
        for _ in range(8 if dice.random() < 0.7 else 0):
            drawn = draw()
            if isinstance(drawn, Mapping):  # one entry more
                drawn = {**keys.get(key, {}), **drawn}  # type: ignore[dict-item]
            if _loads(toml({**keys, key: drawn})):
                keys[key] = drawn
                if key not in ("ops", "ties"):
                    break
    entries = keys.get("ops", {})
    if isinstance(entries, dict) and entries:  # a set of operations means the same as its members
        named = dice.choice([*entries])
        keys["operation-sets"] = {"drawn_set": named}
        keys["ops"] = {"drawn_set" if entry == named else entry: said for entry, said in entries.items()}
    return toml(keys)


def _tie(dice: random.Random, system: tl.System) -> Mapping[str, object]:
    """A choice among the minimal bounds of two operands, where there are several."""
    nodes = [n for n in system.order.nodes if isinstance(n, tl.DType)]
    for _ in range(50 if nodes else 0):
        bounds = system.order.minimal_bounds(*dice.choices(nodes, k=2))
        if len(bounds) > 1:
            codes = [n.code if isinstance(n, tl.DType) else str(n) for n in bounds]
            return {", ".join(codes): dice.choice(codes)}
    return {}


def _order(dice: random.Random, nodes: Sequence[str]) -> str:
    """Covers between some nodes, of which none follows from others."""
    above: dict[str, set[str]] = {n: set() for n in nodes}
    covers = []
    for i in reversed(range(len(nodes))):
        for high in nodes[i + 1 :]:
            if dice.random() < 0.3 and not any(high in above[n] for n in above[nodes[i]]):
                followed = {n for _, n in covers if (nodes[i], n) in covers and n in above[high]}
                covers = [c for c in covers if c[0] != nodes[i] or c[1] not in followed]
                covers.append((nodes[i], high))
                above[nodes[i]] |= {high, *above[high]}
    return "; ".join([*nodes, *(f"{a} -> {b}" for a, b in covers)])


def _entry(dice: random.Random) -> str:
    return dice.choice([*STANDARD_RULES_BY_CLASS, *ASKED, *GROUP_BY_CLASS.values()])


def _of_kind(dice: random.Random, letters: str, dtypes: Sequence[str]) -> str:
    """A dtype whose code begins with one of these letters, if there is one."""
    return dice.choice([d for d in dtypes if d[0] in letters] or [*dtypes])


def _domain(dice: random.Random, dtypes: Sequence[str]) -> str:
    """Kinds, at times with a dtype that is left out."""
    return dice.choice([*KINDS_BY_WORD, f"all but {dice.choice(dtypes)}"])


def _departure(dice: random.Random, some: Callable[..., str], dtypes: Sequence[str]) -> Mapping[str, object]:
    """What a file may say of an operation."""
    draws: dict[str, Callable[[], object]] = {
        "kernels": lambda: _domain(dice, dtypes),
        "accepts": lambda: _domain(dice, dtypes),
        "scalars": lambda: dice.choice([*ScalarPlaces]),
        "exponent": lambda: {dice.choice(["not-negative", "ignored"]): dice.choice(["scalar", "0d, scalar"])},
        "counts-as": lambda: dice.choice(["array", "array if first", {dice.choice(dtypes): "i32"}]),
        "computes": lambda: {dice.choice(dtypes): dice.choice(dtypes), "bool": dice.choice(dtypes)},
        "gives": lambda: dice.choice(["real", "complex", "joined", "b", *dtypes, {dice.choice(dtypes): "b"}]),
        "weak-result": lambda: dice.choice([*WeakResult]),
        "joins": lambda: "same dtype",
        "loops": lambda: some(6),
        "fit": lambda: dice.choice([{}, {"int": dice.choice(FIT_OUTCOMES)}]),
        "overflow": lambda: dice.choice([*OverflowRule]),
    }
    return {key: draws[key]() for key in dice.sample([*draws], dice.randint(1, 3))}


def _loads(text: str) -> bool:
    try:
        parse(text)
    except tl.FormatError:
        return False
    return True


def toml(keys: Mapping[str, object]) -> str:
    """Keys and values as TOML."""
    return "\n".join(f"{_word(key)} = {_value(value)}" for key, value in keys.items()) + "\n"


def _value(x: object) -> str:
    if isinstance(x, Mapping):
        return "{ " + ", ".join(f"{_word(k)} = {_value(v)}" for k, v in x.items()) + " }" if x else "{}"
    return json.dumps(x)


def _word(key: str) -> str:
    return json.dumps(key)
