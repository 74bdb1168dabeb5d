"""The examples in comments of the shipped system files: `# sum(int8) is int64, not int8`.

An example stands beside the line that decides it, or above it and ends with a colon. The library must have
given the answer, so it is in a recording. Without the line the system must have the other answer, if it is
given.
"""
from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl
from typelattice.files.reader import build_system
from typelattice.files.system_definition import read_definition
from typelattice.files.system_text import SYSTEMS_FOLDER

FILES = sorted(Path(SYSTEMS_FOLDER).glob("*.toml"))
EXAMPLE = re.compile(
    r"(?P<line>.*\S)?(?:  |^)# (?P<call>\S.*) is (?P<answer>.+), not (?P<other>.+?)(?P<above>:?)"
    r"|(?P<line2>.*\S)?(?:  |^)# (?P<call2>\w+\((?:\w+(?:, )?)+\)) is (?P<answer2>\w+)(?P<above2>:?)"
)
ASSIGNMENT = re.compile(r"x\[0\] = (\S+) with an (\S+) x")
FUNCTION = re.compile(r"(\w+)\((.*)\)")
INFIX = re.compile(r"(.+?) ([^\w\s]+) (.+)")
UNARY = re.compile(r"([+~-])(\w+)")
OPERATION_OF_UNARY = {"+": "+x", "-": "-x", "~": "~"}
Example = tuple[int, str, str, str | None]  # line of the rule, call, answer, answer without the line


def examples(text: str) -> Iterator[Example]:
    for number, line in enumerate(text.splitlines(), 1):
        found = EXAMPLE.fullmatch(line)
        if not found:
            continue
        suffix = "" if found["call"] else "2"
        above = found[f"above{suffix}"]
        if found[f"line{suffix}"] or above:
            yield number + bool(above), found[f"call{suffix}"], found[f"answer{suffix}"], found["other"]


def parse_operand(text: str) -> object:
    """Read `int8`, `weak int8`, `0-d int8`, or a number as Python writes it."""
    prefix, _, name = text.rpartition(" ")
    if re.match(r"[-\d]|True$", text) and prefix != "0-d":
        return literal_eval(text)
    return name + {"": "", "weak": ":weak", "0-d": ":0d"}[prefix]


def parse_call(text: str) -> tuple[str, list[object]]:
    """Read `sum(int8)`, `int8 << int32`, `~bool` or an assignment: the operation and its operands."""
    if found := ASSIGNMENT.fullmatch(text):
        return "setitem", [parse_operand(found[2]), parse_operand(found[1])]
    if found := FUNCTION.fullmatch(text):
        return found[1], [parse_operand(word) for word in found[2].split(", ")]
    if found := UNARY.fullmatch(text):
        return OPERATION_OF_UNARY[found[1]], [parse_operand(found[2])]
    found = INFIX.fullmatch(text)
    assert found, f"{text} is no call"
    return found[2], [parse_operand(found[1]), parse_operand(found[3])]


def answer(promotion: tl.Promotion | tl.Observed) -> str:
    if promotion.dtype is None:
        return "an error"
    return f"weak {promotion.dtype}" if promotion.weak else str(promotion.dtype)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_example_is_an_answer_of_the_library(path: Path) -> None:
    system = tl.system(path.stem)
    for number, call, expected, _ in examples(path.read_text(encoding="utf-8")):
        operation, operands = parse_call(call)
        predicted = system.explain(*operands, op=operation)
        observed = tl.observed(predicted)
        place = f"{path.name}, line {number}: {call}"
        assert answer(predicted) == expected, place
        assert observed is not None and observed.call.op == operation, f"{place} was never asked"
        assert answer(observed) == expected and not observed.departs, place


@pytest.mark.parametrize("path", one_in(6, FILES, 4), ids=lambda path: path.stem)
def test_every_example_has_the_other_answer_without_its_line(path: Path) -> None:
    definition = read_definition(path)
    for number, call, _, other in examples(path.read_text(encoding="utf-8")):
        if other is not None:
            operation, operands = parse_call(call)
            rest = build_system(definition.drop_lines(definition.main.file, [number]))
            place = f"{path.name}, line {number}: {call}"
            assert answer(rest.explain(*operands, op=operation)) == other, place


def test_examples_are_found_beside_and_above_their_line() -> None:
    text = 'a.gives = "b"  # sum(int8) is bool, not int8\n# 1 + int8 is an error, not int8:\nb.fit = {}'
    assert [*examples(text)] == [(1, "sum(int8)", "bool", "int8"), (3, "1 + int8", "an error", "int8")]
    assert [*examples('c.like = "d"  # c(int8, bool) is int8')] == [(1, "c(int8, bool)", "int8", None)]
    assert [*examples("# sum(x) of columns is a HUGEINT")] == []
    assert sum(len([*examples(path.read_text(encoding="utf-8"))]) for path in FILES) > 600
