"""Mistakes planted into shipped system files: each is found, with its line, its cause, and nothing else.

A mistake is a line that is added to a key, or a word that is changed. So a file that is accepted has one
reading: what a second entry would say is refused, and a broken line causes no errors of other lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.system_files import system_text
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_text import FormatError

FOLDER = Path(system_text.SYSTEMS_FOLDER)
NAMES = ("numpy", "torch", "jax", "mlx", "tinygrad", "max", "keras")
OWN = "vecdot_scaled"  # an operation that no file has


def codes(name: str, dice: Random, count: int) -> list[str]:
    """Choose dtypes of a system's order, as its file spells them."""
    return dice.sample([n.code for n in tl.system(name).order.nodes if isinstance(n, DType)], count)


def below(text: str, head: str, line: str) -> str:
    """Add a line after the line that begins with a head."""
    lines = text.split("\n")
    place = next(i for i, each in enumerate(lines) if each.startswith(head))
    return "\n".join([*lines[: place + 1], line, *lines[place + 1 :]])


def operation(text: str, entry: str) -> str:
    """Add an operation of one's own, as the last of `ops`."""
    return below(text, "[ops]", f'{OWN} = {{ like = "matmul", {entry} }}')


def table(text: str, key: str, *entries: str) -> str:
    """Add an operation of one's own with the entries of a key, each on a line, at the end of the file."""
    whole = operation(text, 'kernels = "all"')
    return below(whole, f"{OWN} =", "\n".join(f"{OWN}.{key}.{entry}" for entry in entries)).replace(
        f'{OWN} = {{ like = "matmul", kernels = "all" }}', f'{OWN}.like = "matmul"\n{OWN}.kernels = "all"'
    )


Planted = tuple[str, str, str]  # the text, the line with the mistake, and part of the cause


def again(key: str, value: str, joined: str = " + ") -> Callable[[str, str, Random], Planted]:
    """Make a planter of an entry whose pair stands in the entry before, the other way round."""

    def plant(text: str, name: str, dice: Random) -> Planted:
        a, b = codes(name, dice, 2)
        first, second = f'"{a}{joined}{b}" = "{value or a}"', f'"{b} + {a}" = "{value or b}"'
        return table(text, key, first, second), f"{OWN}.{key}.{second}", "is said already by"

    return plant


def hidden(key: str, value: str, wide: str) -> Callable[[str, str, Random], Planted]:
    """Make a planter of an entry that an earlier, wider one hides."""

    def plant(text: str, name: str, dice: Random) -> Planted:
        a = codes(name, dice, 1)[0]
        kind = next(d.kind for d in tl.system(name).dtypes if d.code == a)
        first = f'"{wide.format(kind=kind)}" = "{value or a}"'
        second = f'"{a} + {a}" = "{value or a}"'
        return table(text, key, first, second), f"{OWN}.{key}.{second}", "comes first and names its pairs"

    return plant


def twice(key: str) -> Callable[[str, str, Random], Planted]:
    """Make a planter of a dtype that a table maps twice, to two dtypes."""

    def plant(text: str, name: str, dice: Random) -> Planted:
        a, b = codes(name, dice, 2)
        second = f'"{b}, {a}" = "{b}"'
        return table(text, key, f'{a} = "{a}"', second), f"{OWN}.{key}.{second}", "is mapped twice; keep one"

    return plant


def entry_of_operation(entry: str, cause: str) -> Callable[[str, str, Random], Planted]:
    """Make a planter of an operation with a wrong entry; a and b are dtypes of the file."""

    def plant(text: str, name: str, dice: Random) -> Planted:
        a, b = codes(name, dice, 2)
        whole = operation(text, entry.format(a=a, b=b))
        line = next(line for line in whole.split("\n") if line.startswith(OWN))
        return whole, line, cause

    return plant


def line_of_order(
    make: Callable[[tl.System, Random], tuple[str, str]],
) -> Callable[[str, str, Random], Planted]:
    """Make a planter of a line at the end of the order."""

    def plant(text: str, name: str, dice: Random) -> Planted:
        line, cause = make(tl.system(name), dice)
        head, mark, rest = text.partition('order = """\n')
        return head + mark + rest.replace('"""', f'{line}\n"""', 1), line, cause

    return plant


def chain(system: tl.System, dice: Random) -> tuple[str, ...]:
    """Choose three dtypes, each just below the next."""
    order = system.order
    chains = [
        (a, b, c)
        for a in order.nodes
        for b in order.covers(a)
        for c in order.covers(b)
        if all(isinstance(n, DType) for n in (a, b, c))
    ]
    return tuple(n.code for n in dice.choice(chains) if isinstance(n, DType))


def stated_twice(system: tl.System, dice: Random) -> tuple[str, str]:
    a, b, _ = chain(system, dice)
    return f"{a} -> {b}", "is stated twice"


def implied(system: tl.System, dice: Random) -> tuple[str, str]:
    a, _, c = chain(system, dice)
    return f"{a} -> {c}", "follows from"


def cycle(system: tl.System, dice: Random) -> tuple[str, str]:
    a, _, c = chain(system, dice)
    return f"{c} -> {a}", "cycle"


def misspelled(system: tl.System, dice: Random) -> tuple[str, str]:
    a, b, _ = chain(system, dice)
    return f"{a}x -> {b}", f"unknown dtype '{a}x'"


def word(old: str, new: str, cause: str) -> Callable[[str, str, Random], Planted]:
    """Make a planter of a changed key or word at the head of the file."""

    def plant(text: str, name: str, dice: Random) -> Planted:
        found = re.search(old, text, re.MULTILINE)
        assert found
        whole = text[: found.start()] + found.expand(new) + text[found.end() :]
        return whole, whole[: found.start()].count("\n") * "\n", cause

    return plant


def top_key(lines: str, wrong: int, cause: str) -> Callable[[str, str, Random], Planted]:
    """Make a planter of lines with a key of their own, before the first table."""

    def plant(text: str, name: str, dice: Random) -> Planted:
        a, b = codes(name, dice, 2)
        added = [line.format(a=a, b=b) for line in lines.split("\n")]
        header = f"[{added[0].partition('.')[0]}]"
        if f"\n{header}" in text:
            added = [line.partition(".")[2] for line in added]
            return below(text, header, "\n".join(added)), added[wrong], cause
        return below(text, "name", "\n".join(added)), added[wrong], cause

    return plant


PLANTERS: dict[str, Callable[[str, str, Random], Planted]] = {
    "a pair refused twice": again("refusals", "no such kernel"),
    "a pair refused twice, first in order": again("refusals", "no such kernel", " then "),
    "a pair that joins twice": again("joins", ""),
    "a pair that accumulates twice": again("accumulates", ""),
    "a refusal hidden by its kinds": hidden("refusals", "no such kernel", "{kind} + {kind}"),
    "a refusal hidden by any": hidden("refusals", "no such kernel", "any + any"),
    "a join hidden by its kinds": hidden("joins", "", "{kind} + any"),
    "an accumulator hidden by its kinds": hidden("accumulates", "", "{kind} + {kind}"),
    "a dtype that computes in two": twice("computes"),
    "a dtype that accumulates in two": twice("accumulates"),
    "a dtype that gives two": twice("gives"),
    "a dtype that counts as two": twice("counts-as"),
    "an arrow stated twice": line_of_order(stated_twice),
    "an arrow that others imply": line_of_order(implied),
    "a cycle": line_of_order(cycle),
    "a misspelled dtype of the order": line_of_order(misspelled),
    "a misspelled key": word("^defaults", "defualts", "unknown key (did you mean defaults?)"),
    "a default that the file lacks": word(r'(^defaults *= .*\bint = ")\w+', r"\1i99", "unknown dtype 'i99'"),
    "a default of another kind": word(
        r'(^defaults *= .*\bint = ")[^"]+', r"\1c64", "is not a dtype for a Python int"
    ),
    "a misspelled key of an operation": entry_of_operation('kernls = "all"', "unknown key 'kernls'"),
    "a misspelled kind": entry_of_operation('kernels = "flaot"', "unknown kind or dtype 'flaot'"),
    "a misspelled word": entry_of_operation('scalars = "beside an aray"', "not 'beside an aray'"),
    "a misspelled join": entry_of_operation('joins = {{ "{a} + {b}" = "lft" }}', "not 'lft'"),
    "a dtype that is missing": entry_of_operation('gives = "i99"', "unknown"),
    "kernels named twice": entry_of_operation('kernels = "{a}, {b}, {a}"', "stands twice in this list"),
    "a needless exception": entry_of_operation('kernels = "{a} but {b}"', "nothing before `but` includes it"),
    "accumulators without kernels": entry_of_operation(
        'kernels = "none", accumulates = {{ {a} = "{b}" }}', "has no effect: the operation has no kernels"
    ),
    "a result without kernels": entry_of_operation(
        'kernels = "none", gives = "{a}"', "has no effect: the operation has no kernels"
    ),
    "a set used nowhere": top_key('sets.unheard = "{a}, {b}"', 0, "is used nowhere"),
    "a circle of sets": top_key('sets.one = "two"\nsets.two = "one"', 0, "a circle of sets"),
    "an own dtype without width": top_key(
        'dtypes.q = {{ kind = "float", bits = 0, values = "unknown" }}', 0, "bits"
    ),
    "an own dtype of no kind": top_key('dtypes.q = {{ kind = "floaty" }}', 0, "floaty"),
    "a combination of no word": word(r"^name", 'combine = "fald"\nname', "not 'fald'"),
    "contradictory casts": top_key(
        'casts."{a} -> {b}" = "needs clip"\ncasts."{a} -> {b}, {a}" = "refused: it loses"', 1, "say it once"
    ),
    "a cast of a dtype that is missing": top_key('casts."i99 -> {a}" = "wrap"', 0, "unknown"),
    "a cast by an unknown function": top_key(
        'casts."{a} -> {b}" = "needs quantise_all"', 0, "unknown operation"
    ),
}  # fmt: skip


def plants() -> list[tuple[str, str]]:
    """Pair each mistake with the systems whose file has the key that it needs."""
    texts = {name: (FOLDER / f"{name}.toml").read_text(encoding="utf-8") for name in NAMES}
    return [
        (mistake, name)
        for mistake, name in product(PLANTERS, NAMES)
        if 'order = """\n' in texts[name] and "[ops]" in texts[name]
        if ("default" not in mistake and mistake != "a misspelled key") or "\ndefaults" in texts[name]
        if mistake != "a combination of no word" or not re.search("^combine", texts[name], re.MULTILINE)
    ]


@pytest.mark.parametrize(("mistake", "name"), one_in(4, plants()))
def test_a_planted_mistake_is_found_alone_on_its_line(mistake: str, name: str) -> None:
    dice = Random(f"{mistake} {name}")
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    whole, wrong, cause = PLANTERS[mistake](text, name, dice)
    with pytest.raises(FormatError) as caught:
        parse(whole)
    found = caught.value.mistakes
    line = wrong.count("\n") + 1 if not wrong.strip() else whole.split("\n").index(wrong) + 1
    assert [(e.line, cause in e.cause) for e in found] == [(line, True)], [str(e) for e in found]


def test_there_are_more_than_sixty_planted_mistakes() -> None:
    assert len(plants()) > 60 and len(PLANTERS) > 30


@pytest.mark.parametrize("name", NAMES)
def test_the_files_are_accepted_without_the_mistakes(name: str) -> None:
    parse((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
