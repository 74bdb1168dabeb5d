"""The examples in comments of the shipped system files: `# jnp.sum(int8) is int64, not int8`.

An example stands beside the line that decides it, or above it and ends with a colon. The library must have
given the answer, so it is in a recording. Without the line the system must have the other answer, if it is
given.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from samples import one_in

import typelattice as tl
from typelattice.core.evidence.spellings import spell_dtype, spelled_words
from typelattice.core.operations.operations import OPERATORS, OpError
from typelattice.core.system_files.reader import build_system
from typelattice.core.system_files.system_definition import read_definition
from typelattice.core.system_files.system_text import SYSTEMS_FOLDER

FILES = sorted(Path(SYSTEMS_FOLDER).glob("*.toml"))
EXAMPLE = re.compile(
    r"(?P<line>.*\S)?(?: {2,}|^)# (?P<call>\S.*) is (?P<answer>.+), not (?P<other>.+?)(?P<above>:?)"
    r"|(?P<line2>.*\S)?(?: {2,}|^)# (?P<call2>[\w.]+\((?:\w+(?:, )?)+\)) is "
    r"(?P<answer2>(?!not\b)\w+)(?P<above2>:?)"
)
ASSIGNMENT = re.compile(r"x\[0\] = (\S+) with an (\S+) x")
INFIX = re.compile(r"(.+?) ([^\w\s]+) (.+)")
OPERAND_GROUP = r"((?:[^,]|,\d)+?)"  # a comma stands in `DECIMAL(4,1)`
UNARY = re.compile(r"([+~-])(\w+)")
OPERATION_OF_UNARY = {"+": "+x", "-": "-x", "~": "~"}
Example = tuple[int, str, str, str | None]  # line of the rule, call, answer, answer without the line
Call = tuple[str, list[object]]  # an operation and its operands


def examples(text: str) -> Iterator[Example]:
    for number, line in enumerate(text.splitlines(), 1):
        found = EXAMPLE.fullmatch(line)
        if not found:
            continue
        suffix = "" if found["call"] else "2"
        above = found[f"above{suffix}"]
        if found[f"line{suffix}"] or above:
            yield number + bool(above), found[f"call{suffix}"], found[f"answer{suffix}"], found["other"]


def parse_operand(text: str, dtype_by_name: Mapping[str, str]) -> object:
    """Read `int8`, `TINYINT`, `weak int8`, `0-d int8`, or a number as Python writes it."""
    prefix, _, name = text.rpartition(" ") if text.startswith(("weak ", "0-d ")) else ("", "", text)
    if re.match(r"[-\d]|True$", text) and prefix != "0-d":
        return literal_eval(text)
    return dtype_by_name.get(name, name) + {"": "", "weak": ":weak", "0-d": ":0d"}[prefix]


def form_pattern(form: str) -> str:
    """Return a pattern of calls of a form: a group for each operand, or for all of a function."""
    if "{}" not in form:
        return rf"{re.escape(form)}\((.*)\)"
    return OPERAND_GROUP.join(map(re.escape, form.split("{}")))


def list_calls(text: str, system: str) -> list[Call]:
    """Return the calls that a text may be: of the library's functions, or of Python's operators."""
    dtype_by_name = {name: dtype for dtype, name in spelled_words(system, of_dtype=True).items()}

    def read(operands: Iterable[str]) -> list[object]:
        return [parse_operand(word, dtype_by_name) for word in operands]

    if found := ASSIGNMENT.fullmatch(text):
        return [("setitem", read([found[2], found[1]]))]
    calls = [
        (op, read(found[1].split(", ") if "{}" not in form else found.groups()))
        for op, form in spelled_words(system, of_dtype=False).items()
        if (found := re.fullmatch(form_pattern(form), text))
    ]
    if found := UNARY.fullmatch(text):
        calls.append((OPERATION_OF_UNARY[found[1]], read([found[2]])))
    elif (found := INFIX.fullmatch(text)) and found[2] in OPERATORS:
        calls.append((found[2], read([found[1], found[3]])))
    assert calls, f"{text} is no call of {system}"
    return calls


def answer(promotion: tl.Promotion | tl.Observed, system: str) -> str:
    if promotion.dtype is None:
        return "an error"
    return f"{'weak ' if promotion.weak else ''}{spell_dtype(system, str(promotion.dtype))}"


def find_calls(system: str, text: str, expected: str, place: str) -> list[Call]:
    """Return the calls of a text to which the system and the library give an answer, at least one."""
    calls, found = [], []
    for operation, operands in list_calls(text, system):
        try:
            predicted = tl.system(system).explain(*operands, op=operation)
        except OpError:  # it takes another number of operands
            continue
        observed = tl.observed(predicted)
        was_asked = observed is not None and observed.call.op == operation
        asked = answer(observed, system) if observed and was_asked else "never asked"
        found.append((answer(predicted, system), asked))
        if found[-1] == (expected, expected) and observed and not observed.departs:
            calls.append((operation, operands))
    assert calls, f"{place}: the system and the library answer {found}"
    return calls


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_example_is_an_answer_of_the_library(path: Path) -> None:
    for number, call, expected, _ in examples(path.read_text(encoding="utf-8")):
        find_calls(path.stem, call, expected, f"{path.name}, line {number}: {call}")


@pytest.mark.parametrize("path", one_in(6, FILES, 4), ids=lambda path: path.stem)
def test_every_example_has_the_other_answer_without_its_line(path: Path) -> None:
    definition = read_definition(path)
    for number, call, expected, other in examples(path.read_text(encoding="utf-8")):
        if other is not None:
            place = f"{path.name}, line {number}: {call}"
            rest = build_system(definition.drop_lines(definition.main.file, [number]))
            answers = {
                answer(rest.explain(*operands, op=operation), path.stem)
                for operation, operands in find_calls(path.stem, call, expected, place)
            }
            assert other in answers, f"{place}: {answers}"


def test_examples_are_found_beside_and_above_their_line() -> None:
    text = 'a.gives = "b"  # sum(int8) is bool, not int8\n# 1 + int8 is an error, not int8:\nb.fit = {}'
    assert [*examples(text)] == [(1, "sum(int8)", "bool", "int8"), (3, "1 + int8", "an error", "int8")]
    assert [*examples('c.like = "d"  # c(int8, bool) is int8')] == [(1, "c(int8, bool)", "int8", None)]
    assert [*examples("# sum(x) of columns is a HUGEINT")] == []
    assert sum(len([*examples(path.read_text(encoding="utf-8"))]) for path in FILES) > 600
