"""Without what the lines say that an explanation names, the answer changes.

A line of the order says what lies above what: its dtypes stay. Where nothing changes, no other line may
change it alone: the answer then rests on several that say the same, or on none, as of operands of one dtype.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.dtypes.dtypes import Node
from typelattice.core.dtypes.order import Order
from typelattice.core.engine.promotion import DecidingLines
from typelattice.core.system_files import system_text as source
from typelattice.core.system_files.reader import build_system
from typelattice.core.system_files.system_definition import read_definition
from typelattice.core.system_files.system_origin import SystemOrigin
from typelattice.core.system_files.system_text import FormatError

FOLDER = Path(source.SYSTEMS_FOLDER)
TABLES = ("standard.txt", "operations.txt")  # of ours, which no system states

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
    """Every third pair of sample operands, some in an operation; some of one and three; some values."""
    operands = [n for n in NAMES if tl.dtype(n) in system.order] + list(LOOSE)
    pairs = list(product(operands, operands))
    every_third = ((a, b) for (i, a), (j, b) in product(enumerate(operands), repeat=2) if (i + j) % 3 == 0)
    yield from product([None], every_third)
    for i, op in enumerate(OPS):
        yield from ((op, pair) for pair in pairs[i :: 6 * len(OPS)])
    yield from product(["sum"], ((a,) for a in operands[::2]))
    yield from product(("add", "equal"), product(operands[:4], ("300", "1e300")))
    yield from product([None], product(operands[1::3], operands[2::3], operands[::4]))


def answer(p: tl.Promotion) -> tuple[object, ...]:
    return (str(p.dtype), p.weak) if p.dtype else ("refused", p.reason, *map(str, p.bounds))


@cache
def texts(name: str) -> dict[str, list[str]]:
    """The lines of a system's file and of those that it is based on."""
    definition, lines = read_definition(FOLDER / f"{name}.toml"), dict[str, list[str]]()
    while definition.base:
        lines[definition.main.file] = definition.main.text.splitlines()
        definition = definition.base
    return lines


@cache
def without(name: str, rule: DecidingLines) -> tl.System | None:
    """The system that is left without the lines of a rule; None where none is."""
    with TemporaryDirectory() as folder:
        for file, lines in texts(name).items():
            kept = [line for n, line in enumerate(lines, 1) if file != rule.file or n not in rule.lines]
            (Path(folder) / file).write_text("\n".join(kept), encoding="utf-8")
        try:  # What has no effect any more is no mistake.
            return build_system(replace(read_definition(Path(folder) / f"{name}.toml"), is_whole=False))
        except FormatError:
            return None


@cache
def without_covers(name: str, rule: DecidingLines) -> tl.System | None:
    """The system with all its dtypes, but without what the lines of a rule say of one above another."""
    system, kept = tl.system(name), dict[Node, list[Node]]()
    assert isinstance(system.origin, SystemOrigin)
    lines = {(rule.file, n) for n in rule.lines}
    if lines.isdisjoint(system.origin.covers):
        return None
    for line, stated in system.origin.covers.items():
        for lower, upper in stated:
            kept.setdefault(lower, []).extend([upper] if upper and line not in lines else [])
    return replace(system, order=Order(kept))


@cache
def with_others(name: str, key: str) -> tuple[tl.System, ...]:
    """The system with other values for a key, if it is one that a file may need to have."""
    system = tl.system(name)
    match key:
        case "ties":
            return (replace(system, ties={}),)
        case "tiers":
            return (replace(system, tiers=("array",)),)
        case "combine":
            return tuple(replace(system, combine=word) for word in ("join", "fold", "comparable"))
        case "defaults":
            kinds = {d: [other for other in system.dtypes if other.kind is d.kind] for d in system.dtypes}
            return tuple(
                replace(system, defaults={**system.defaults, kind: other})
                for kind, default in system.defaults.items()
                for other in kinds.get(default, ())
            )
    return ()


def single(name: str) -> list[DecidingLines]:
    """Each line of a system's files."""
    return [
        DecidingLines(file, "", (n,)) for file, lines in texts(name).items() for n in range(1, len(lines) + 1)
    ]


def changes(
    rule: DecidingLines, name: str, op: str | None, operands: tuple[str, ...], said: tuple[object, ...]
) -> bool:
    """Whether a system without what those lines say, or with another default, answers differently."""
    rest = (without_covers(name, rule) or without(name, rule), *with_others(name, rule.key))
    return any(s is not None and answer(s.explain(*operands, op=op)) != said for s in rest)


def stays(p: tl.Promotion) -> bool:
    """Whether all operands are of one dtype: no line decides where they meet."""
    return len({o.dtype for o in p.promoting_operands}) == 1 and p.promoting_operands[0].dtype is not None


def named(rule: DecidingLines, p: tl.Promotion) -> bool:
    """Whether lines of the order name a dtype that decided; nothing does of one that the system lacks."""
    assert isinstance(p.system, tl.System) and isinstance(p.system.origin, SystemOrigin)
    covers = p.system.origin.covers
    there = {node for n in rule.lines for node, _ in covers.get((rule.file, n), ())}
    wanted = {node for step in p.decisions for node in step.nodes}
    return bool(there & wanted) or (rule.key == "order" and not wanted & {*p.system.order.nodes})


LEAST_SHOWN = 0.8  # of the answers, operands of one dtype aside; of most systems it is all


@pytest.mark.parametrize("name", one_in(12, tl.systems(), 2))
def test_without_what_the_lines_named_say_the_answer_changes(
    name: str, record_property: Callable[[str, str], None]
) -> None:
    system = tl.system(name)
    wrong, nowhere, shown, answers = [], [], 0, 0
    for op, operands in calls(system):
        p = system.explain(*operands, op=op)
        rule, said = p.rule, answer(p)
        asked = f"{op or 'result_type'}({', '.join(operands)}) = {said}: {rule}"
        if not rule.lines or any(line.startswith("[") or line.endswith('"""') for line in rule.quoted):
            nowhere.append(asked)  # the head of a table, or the opening of a string
        if rule.file in TABLES:
            continue
        changed = changes(rule, name, op, operands, said)
        if p.dtype and not stays(p):
            answers += 1
            shown += changed
        if p.dtype is None and rule.key == p.decision.key == "ops" and not changed:
            continue  # the standard refuses the same, but the file's entry is the one that holds
        if not changed and not named(rule, p):
            others = (other for other in single(name) if changes(other, name, op, operands, said))
            wrong += [f"{asked}; {other} does it" for other in others][:1]
    record_property("shown", f"{name}: {shown:,} of {answers:,} answers change without the lines named")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:10])
    assert not nowhere, f"{len(nowhere)} name no line\n" + "\n".join(nowhere[:10])
    assert shown >= LEAST_SHOWN * answers


@pytest.mark.parametrize(("name", "operands", "key"), [
    ("torch", ("int32", "1.5"), "defaults"),
    ("numpy", ("bool", "2"), "defaults"),
    ("jax", ("bool", "2"), "defaults"),
    ("c", ("int8", "int8"), "before"),
    ("numpy1", ("uint8", "300"), "combine"),
    ("numpy", ("float32", "1.5"), "tiers"),
    ("polars", ("uint8", "300"), "fit"),
    ("keras-jax", ("int32", "int64"), "after"),
])  # fmt: skip
def test_what_gave_an_operand_the_dtype_of_the_answer_is_named(
    name: str, operands: tuple[str, ...], key: str
) -> None:
    """The order has that dtype, too, and says nothing of why it is this one."""
    rule = tl.system(name).explain(*operands).rule
    assert (rule.key, [line.split()[0] for line in rule.quoted]) == (key, [key])


@pytest.mark.parametrize("name", ["numpy", "torch", "mlx", "jax"])
def test_where_another_default_gives_another_answer_the_defaults_are_named(name: str) -> None:
    system, asked = tl.system(name), 0
    for operands in product(("bool", "uint8", "int32", "int64", "float16", "float32"), ("2", "1.5")):
        p = system.explain(*operands)
        if any(answer(other.explain(*operands)) != answer(p) for other in with_others(name, "defaults")):
            asked += 1
            assert p.rule.key == "defaults", p
    assert asked >= 3


def test_where_two_keys_say_the_same_both_are_named() -> None:
    rule = tl.system("numpy").explain("int64", 2).rule
    assert [line.split()[0] for line in rule.quoted] == ["tiers", "defaults"]


def test_what_holds_a_value_is_named() -> None:
    tensorflow = tl.system("tensorflow")
    for dtype, value in (("int32", 2**70), ("uint64", -1)):
        p = tensorflow.explain(dtype, value, op="multiply")
        assert p.dtype is None and p.rule.key == "limits", p


@pytest.mark.parametrize(("name", "op", "operands"), [
    ("max", "divide", ("uint16", "float4_e2m1fn")), ("tensorflow-legacy", "+=", ("float8_e8m0fnu", "int4")),
])  # fmt: skip
def test_where_several_entries_refuse_the_same_a_line_is_named(
    name: str, op: str, operands: tuple[str, ...]
) -> None:
    p = tl.system(name).explain(*operands, op=op)
    assert p.dtype is None and p.decision.key == "ops" and p.rule.lines, p


def test_the_standard_operations_are_named_by_their_line() -> None:
    lines = (FOLDER.parent / "core" / "engine" / "standard.txt").read_text(encoding="ascii").splitlines()
    rule = tl.system("jax-2019").explain("bool", "bool", op="add").rule
    assert (rule.file, rule.key) == ("standard.txt", "ops")
    assert {lines[n - 1].split()[0] for n in rule.lines} == {"arithmetic"}


@pytest.mark.parametrize(("op", "operands", "keys"), [
    ("*", ("int8", np.bool_(True)), ["b"]),
    ("*", ("int8", np.float64(2)), ["scalar"]),
    ("mean", ("int8",), ["averages"]),
    ("where", ("float16", 65520.0), ['"where, assignment".fit."f16, bf16, overflowing_f8"']),
    ("where", ("uint8", -1), ['"where, assignment".fit."u8, wide_unsigned"']),
])  # fmt: skip
def test_the_entry_for_an_operand_is_named_before_the_order(
    op: str, operands: tuple[object, ...], keys: list[str]
) -> None:
    """An entry for a NumPy scalar, for a value out of range, or one that says the same as the standard."""
    rule = tl.system("torch").explain(*operands, op=op).rule
    said = [line.partition(" = ")[0].partition("  ")[0] for line in rule.quoted]
    assert all(any(key in line for key in keys) for line in said) and rule.file == "torch.toml", rule


def test_a_foreign_array_of_its_own_dtype_leaves_the_answer_to_the_order() -> None:
    rule = tl.system("jax").explain("int8", np.zeros(1, "uint8")).rule
    assert rule.key == "order"


@pytest.mark.parametrize(
    ("name", "operands", "op", "keys"),
    [
        ("torch", ("float32", "bool:numpy-scalar"), "*", {"scalar", "b"}),  # neither line decides alone
        ("torch", ("float32", "float64:numpy-scalar"), "*", {"scalar"}),
        ("torch", ("int32", "float32"), "+=", {"in-place.gives"}),
        ("numpy", ("int32", "float32"), "*=", {"in-place.gives"}),
    ],
)
def test_a_line_of_the_file_is_named_before_a_general_one(
    name: str, operands: tuple[str, ...], op: str, keys: set[str]
) -> None:
    rule = tl.system(name).explain(*operands, op=op).rule
    assert rule.file == f"{name}.toml" and {line.split()[0] for line in rule.quoted} == keys, rule


def test_the_entry_that_casts_to_an_accumulator_is_named_though_the_result_is_cast_back(
    tmp_path: Path,
) -> None:
    entry = 'matmul = { computes = { bf16 = "f32" }, gives = "joined" }'
    path = tmp_path / "mine.toml"
    path.write_text(f'name = "mine"\norder = "bf16 -> f32"\n[ops]\n{entry}\n', encoding="ascii")
    p = tl.system(path).explain("bfloat16", "bfloat16", op="matmul")
    assert (str(p.compute), str(p.dtype)) == ("float32", "bfloat16")
    assert p.rule.quoted == (entry,)
