"""Without the lines that an explanation names, the answer changes, or the file can no longer be loaded."""
from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import typelattice as tl
from typelattice.promotion import Rule
from typelattice.source import FOLDER, FormatError

NAMES = ("bool", "uint8", "uint16", "uint64", "int4", "int8", "int16", "int64", "float16", "bfloat16", "float32", "float64")
MORE = ("float8_e4m3fn", "float8_e5m2", "complex32", "complex64", "complex128", "index")
LOOSE = ("int", "float", "complex", "True", "int8:0d", "float32:0d", "int8:weak", "float32:weak", "uint8:weak")
OPS = (None, "add", "divide", "logical_and", "sum", "power")


def calls(system: tl.System) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """Every two of a sample of operands, alone and in operations; some values; some of three."""
    operands = [n for n in (*NAMES, *MORE) if tl.dtype(n) in system.order] + list(LOOSE)
    for op, a, b in product(OPS, operands, operands):
        yield (op, (a,)) if op == "sum" else (op, (a, b))
    yield from product(("add", "equal", "divide"), product(operands[:8], ("300", "-1", "1e300", "1e39j")))
    yield from product((None,), product(operands[1:9:2], operands[2:14:3], operands[::4]))


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


@pytest.mark.parametrize("name", tl.systems())
def test_without_the_lines_named_the_answer_changes(name: str) -> None:
    system = tl.system(name)
    wrong, nowhere, tried = [], [], 0
    for op, operands in calls(system):
        p = system.explain(*operands, op=op)
        if not p.rule.lines:
            nowhere.append(f"{op} {operands}: {p.rule}, {p.decision}")
            continue
        if p.rule.file == "ops.txt":
            continue
        rest = without(name, p.rule)
        tried += 1
        if rest and answer(rest.explain(*operands, op=op)) == answer(p):
            wrong.append(f"{op} {operands} = {answer(p)}: {p.rule} ({p.decision.key} {p.decision.entry}, {p.decision.nodes})")
    assert not wrong, f"{len(wrong)} of {tried}\n" + "\n".join(wrong[:10])
    assert not nowhere, f"{len(nowhere)} name no line\n" + "\n".join(nowhere[:10])
    assert tried > 100
