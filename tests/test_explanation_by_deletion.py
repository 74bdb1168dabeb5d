"""Without the lines that an explanation names, the answer changes, or the file can no longer be loaded.

Where it does neither, no other line may do it alone: the answer then rests on several that say the same.
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import typelattice as tl
from typelattice.engine.answer import Rule
from typelattice.files import text as source
from typelattice.files.spec import read
from typelattice.files.text import FormatError

FOLDER = Path(source.FOLDER)

NAMES = (
    "bool",
    "uint8",
    "uint64",
    "int4",
    "int8",
    "int16",
    "float16",
    "bfloat16",
    "float32",
    "float8_e5m2",
    "complex64",
)
LOOSE = ("int", "float", "complex", "True", "int8:0d", "float32:weak")
OPS = ("add", "divide", "logical_and", "power", "equal", "bitwise_left_shift")


def calls(system: tl.System) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """All pairs of sample operands, every fourth in an operation too; some of one and three; some values."""
    operands = [n for n in NAMES if tl.dtype(n) in system.order] + list(LOOSE)
    pairs = list(product(operands, operands))
    yield from product([None], pairs)
    for i, op in enumerate(OPS):
        yield from ((op, pair) for pair in pairs[i :: 4 * len(OPS)])
    yield from product(["sum"], ((a,) for a in operands[::2]))
    yield from product(("add", "equal"), product(operands[:4], ("300", "1e300")))
    yield from product([None], product(operands[1::3], operands[2::3], operands[::4]))


def answer(p: tl.Promotion) -> tuple[object, ...]:
    return (str(p.dtype), p.weak) if p.dtype else ("refused", p.reason, *map(str, p.bounds))


@cache
def without(name: str, rule: Rule) -> tl.System | None:
    """The system that is left without the lines of a rule; None where none is."""
    with TemporaryDirectory() as folder:
        for path in FOLDER.glob("*.toml"):
            lines = path.read_text(encoding="utf-8").splitlines()
            kept = [line for n, line in enumerate(lines, 1) if path.name != rule.file or n not in rule.lines]
            (Path(folder) / path.name).write_text("\n".join(kept), encoding="utf-8")
        try:
            return tl.system(Path(folder) / f"{name}.toml")
        except FormatError:
            return None


def single(name: str) -> list[Rule]:
    """Each line of a system's files."""
    spec, files = read(FOLDER / f"{name}.toml"), list[Rule]()
    while spec.base:
        text, spec = spec.main, spec.base
        files += [Rule(text.file, "", (n,)) for n, _ in enumerate(text.text.splitlines(), 1)]
    return files


def changes(
    rule: Rule, name: str, op: str | None, operands: tuple[str, ...], said: tuple[object, ...]
) -> bool:
    """Whether a system without those lines exists and answers differently."""
    rest = without(name, rule)
    return rest is not None and answer(rest.explain(*operands, op=op)) != said


@pytest.mark.parametrize("name", tl.systems())
def test_without_the_lines_named_the_answer_changes(name: str) -> None:
    system = tl.system(name)
    wrong, nowhere = [], []
    for op, operands in calls(system):
        p = system.explain(*operands, op=op)
        rule = p.rule
        asked = f"{op or 'result_type'}({', '.join(operands)}) = {answer(p)}: {rule}"
        if not rule.lines or any(line.startswith("[") for line in rule.quoted):  # the head of a table
            nowhere.append(asked)
        elif rule.file != "standard.txt":
            rest = without(name, rule)
            if rest and answer(rest.explain(*operands, op=op)) == answer(p):
                others = (other for other in single(name) if changes(other, name, op, operands, answer(p)))
                wrong += [f"{asked}; {other} does it" for other in others][:1]
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:10])
    assert not nowhere, f"{len(nowhere)} name no line\n" + "\n".join(nowhere[:10])


def test_what_holds_a_value_is_named() -> None:
    tensorflow = tl.system("tensorflow")
    for dtype, value in (("int32", 2**70), ("uint64", -1)):
        p = tensorflow.explain(dtype, value, op="multiply")
        assert p.dtype is None and p.rule.key == "holds", p


@pytest.mark.parametrize(("name", "op", "operands"), [
    ("max", "divide", ("uint16", "float4_e2m1fn")), ("tensorflow-legacy", "+=", ("float8_e8m0fnu", "int4")),
])  # fmt: skip
def test_where_several_entries_refuse_the_same_a_line_is_named(
    name: str, op: str, operands: tuple[str, ...]
) -> None:
    p = tl.system(name).explain(*operands, op=op)
    assert p.dtype is None and p.decision.key == "ops" and p.rule.lines, p


def test_the_standard_operations_are_named_by_their_line() -> None:
    lines = (FOLDER.parent / "engine" / "standard.txt").read_text(encoding="ascii").splitlines()
    rule = tl.system("jax-2019").explain("bool", "bool", op="add").rule
    assert (rule.file, rule.key) == ("standard.txt", "ops")
    assert {lines[n - 1].split()[0] for n in rule.lines} == {"arithmetic"}
