"""Texts of strangers end in a program or in one typed error, whatever they hold."""

from __future__ import annotations

import random
import re
from pathlib import Path
from time import perf_counter

import pytest
from everyday_programs import list_programs

import typelattice as tl

HOSTILE = (Path(__file__).parent / "hostile.txt").read_text().split("\n====\n")
MUTATIONS = 300
TOKEN = re.compile(r"\n *|[A-Za-z_]\w*|\d[\w.]*|\"[^\"\n]*\"|'[^'\n]*'| +|\*\*|//|[<>=!]=|.")
# Values of every sort, and names of what Python keeps inside its objects.
ODD = (
    "None", "True", "0", "-1", "1.5", "2j", "'a'", "''", "[]", "{}", "set()", "{1}", "x",
    "lambda:x", "10**9", "1e400", "(x,)", "{1:x}", "range(3)", "iter([1])", "int", "str", "list",
    "dict", "type(x)", "object", "Exception", "super()", "...", "-'a'", "f'{x}'", "x.dtype",
    "x.shape", "len", "sum", "max", "zip", "map", "sorted", "__class__", "__dict__", "__init__",
    "round(1,-10**9)", "'a'*10**9",
)  # fmt: skip


@pytest.fixture(autouse=True)
def few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPELATTICE_ASK", "no")
    monkeypatch.setattr("typelattice.programs.readers.source.syntax_reader.MAX_LOOP_PASSES", 10_000)


def read(text: str, **inputs: str) -> str:
    """Return the dtype of a program, or its error. Any other error than a typed one goes on."""
    began = perf_counter()
    try:
        said = str(tl.program(text, **inputs).under("numpy").result)
    except tl.TypelatticeError as error:
        said = str(error)
    assert perf_counter() - began < 10, text
    return said


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_read_or_refused_in_time(text: str) -> None:
    said = read(text, x="int8[3]", **({"y": "2"} if "y." in text else {}))
    assert "0x7f" not in said and "<class" not in said and "<built-in" not in said


def mutate(text: str, pool: list[str], rng: random.Random) -> str:
    """Delete, repeat, swap and replace tokens and lines of a program."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        words = [n for n, x in enumerate(tokens) if re.match(r"[\w'\"]", x)]
        i, j = rng.choice(words), rng.randrange(len(tokens))
        match rng.randrange(6):
            case 0:
                del tokens[j]
            case 1:
                tokens.insert(j, tokens[i])
            case 2:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case 3:
                tokens[i] = rng.choice(pool)
            case 4:
                tokens[i] = rng.choice(ODD)
            case 5:
                lines = "".join(tokens).split("\n")
                lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
                tokens = TOKEN.findall("\n".join(lines))
    return "".join(tokens)


def test_mutated_programs_are_read_or_refused() -> None:
    rng = random.Random(0)
    programs = [text for name in ("python", "numpy") for text in list_programs(name)]
    pool = [token for text in programs for token in TOKEN.findall(text)]
    for _ in range(MUTATIONS):
        text = mutate(rng.choice(programs), pool, rng)
        operand = rng.choice(("float32[3,4]", "int8[3,4]", "bool[3]"))
        read(f"{text}\n\ndef main(x):\n    return f(x)\n", x=operand)
