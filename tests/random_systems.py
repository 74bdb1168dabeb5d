"""System files with random rules, for the generators of code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

import typelattice as tl
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.system_files.reader import parse

DTYPES = (
    *("b", "u4", "u8", "u16", "u64", "i4", "i8", "i16", "i32", "i64"),
    *("f4_e2m1fn", "f8_e4m3fn", "f8_e5m2", "bf16", "f16", "f32", "f64", "c64", "c128"),
)
MOST_DTYPES = 7
KINDS = ("bool", "unsigned", "signed", "float", "complex", "integer", "numeric", "all")
OPS = (
    *("add", "divide", "equal", "matmul", "sum", "negative", "pow", "where", "abs", "mean", "+=", "<<"),
    "fused",
)
"""Operations of one or two operands of most classes; `fused` is the file's own, if it defines it."""


def random_system(seed: int) -> tl.System:
    """Return a system whose order, tiers, ties, refusals and operations are random.

    Entries that the reader refuses, such as a tie that cannot occur, are left out.
    """
    dice = Random(seed)
    codes = dice.sample(DTYPES, dice.randint(3, MOST_DTYPES))
    tiers = _tiers(dice, codes)
    lines = [f'name = "s{seed}"', _order(dice, codes), *tiers]
    if dice.random() < 0.4:
        with_weak = [f'name = "s{seed}"', _order(dice, _insert_weak_nodes(dice, codes)), *tiers]
        with_weak += dice.choice([[], ['weak-join = "width"']])
        try:
            parse("\n".join(with_weak))
        except TypelatticeError:
            with_weak = lines
        lines = with_weak
    lines += dice.choices(["", 'combine = "fold"', 'combine = "comparable"'], [3, 3, 1])
    system = parse("\n".join(lines))
    for table, entries in (
        ("ties", _ties(system, dice)),
        ("overrides", [f'"{_pair(dice, codes)}" = "{dice.choice(codes)}"' for _ in range(3)]),
        ("refusals", [f'"{_pair(dice, codes)}" = "it is refused"' for _ in range(3)]),
        ("after", [f'{dice.choice(codes)} = "{dice.choice(codes)}"']),
        ("ops", [_entry(dice, codes) for _ in range(8)]),
    ):
        kept: list[str] = []
        for entry in entries:
            head = [f"[{table}]"] if table not in lines else []
            try:
                system = parse("\n".join([*lines, *head, *kept, entry]))
            except TypelatticeError:
                continue
            kept.append(entry)
        lines += [f"[{table}]", *kept] if kept else []
    return system


def _insert_weak_nodes(dice: Random, codes: Sequence[str]) -> list[str]:
    """Insert the weak nodes of ints and floats at random places: some orders of them are refused."""
    found = list(codes)
    for node in ("i*", "f*"):
        found.insert(dice.randrange(len(found)), node)
    return found


def _order(dice: Random, codes: Sequence[str]) -> str:
    """Write the covers of a random order, without those that others imply."""
    density = dice.choice((0.2, 0.4, 0.6))
    chosen = [pair for pair in combinations(codes, 2) if dice.random() < density]
    above: dict[str, set[str]] = {code: set() for code in codes}
    for a, b in reversed(chosen):  # the codes stand in an order that all pairs keep
        above[a] |= {b} | above[b]
    covers = [(a, b) for a, b in chosen if not any(b in above[c] for d, c in chosen if d == a and c != b)]
    alone = [code for code in codes if all(code not in cover for cover in covers)]
    return f'order = "{"; ".join([*(f"{a} -> {b}" for a, b in covers), *alone])}"'


def _tiers(dice: Random, codes: Sequence[str]) -> list[str]:
    """Write the tiers and the default dtypes that the order has."""
    tiers = dice.choice([["array"], ["array", "scalar"], ["array", "0d", "scalar"]])
    defaults = [
        f'{word} = "{dice.choice(found)}"'
        for word, letters in (("bool", "b"), ("int", "i"), ("float", "fb"), ("complex", "c"))
        if (found := [c for c in codes if c[0] in letters and (c == "b") == (word == "bool")])
    ]
    return [f"tiers = {tiers}", f"defaults = {{ {', '.join(defaults)} }}"]


def _ties(system: tl.System, dice: Random) -> list[str]:
    """Write a winner for most of the pairs of dtypes that have several minimal bounds."""
    bounds = {system.explain(a, b).bounds for a, b in combinations(system.dtypes, 2)}
    several = sorted({tuple(sorted(str(node) for node in found)) for found in bounds if len(found) > 1})
    return [f'"{", ".join(found)}" = "{dice.choice(found)}"' for found in several if dice.random() < 0.8]


def _pair(dice: Random, codes: Sequence[str]) -> str:
    return " + ".join(dice.sample(codes, 2))


def _entry(dice: Random, codes: Sequence[str]) -> str:
    """Write an entry of `ops` for an operation, a class or a group."""
    what = dice.choice([*OPS[:-1], "arithmetic", "matmul", "computing", "moving"])
    some, other = (", ".join(dice.sample(codes, 2)) for _ in range(2))
    kind, one = dice.choice(KINDS), dice.choice(codes)
    key = dice.choice([
        f'kernels = "{kind}"', f'accepts = "{some}"', f'kernels = "all but {one}"',
        f'computes = {{ "{some}" = "{one}" }}', f'computes = {{ {kind} = "{one}" }}',
        f'accumulates = {{ "{some}" = "{one}", "{_pair(dice, codes)}" = "{other[:other.index(",")]}" }}',
        f'gives = "{one}"', f'gives = {{ "{some}" = "{one}", {kind} = "joined" }}', 'gives = "real"',
        f'counts-as = {{ "{some}" = "{one}" }}', 'counts-as = "array"', 'joins = "same dtype"',
        f'loops = "{some}"', f'refusals = {{ "{kind} + {one}" = "no kernel does it" }}',
        f'joins = {{ "{one} + any" = "{one}", rest = "same dtype" }}', 'scalars = "beside an array"',
    ])  # fmt: skip
    own = f'fused = {{ like = "{dice.choice(["matmul", "add", "sum"])}", {key} }}'
    return own if dice.random() < 0.2 else f'"{what}".{key}'
