"""Calls in the words of each recorded library: `tf.math.truediv(int8, 1)`, and not `divide(int8, 1)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import takewhile
from os import path

from typelattice.core.registry.libraries import recordings
from typelattice.core.registry.releases import VERSION_SIGN

SPELLINGS_FILE = "spellings.txt"
NAME_PLACE, OPERAND_PLACE = "*", "{}"  # in a form: the library's name of an operation, and an operand
DTYPES_FORM = "dtypes"  # the rows under this form list dtypes
LITERAL_BY_PYTHON_TYPE = {"int": "1", "float": "1.0", "complex": "1j"}  # a recorded number of any value


def find_call_form(recording: str, op_name: str) -> str | None:
    """Return how the library of a recording writes an operation, or None if that is not known.

    `{}` stands for an operand. A form without it is a function.

    >>> find_call_form("tensorflow", "divide"), find_call_form("go", "sqrt"), find_call_form("go", "fft")
    ('tf.math.truediv', 'math.Sqrt({})', None)
    """
    return spelled_words(recording, of_dtype=False).get(op_name)


def spell_dtype(recording: str, dtype: str) -> str:
    """Return what the library of a recording calls a dtype.

    >>> spell_dtype("duckdb", "int8"), spell_dtype("jax@0.10", "int8")
    ('TINYINT', 'int8')
    """
    return spelled_words(recording, of_dtype=True).get(dtype, dtype)


def spell_call(recording: str, op_name: str, operands: Sequence[str]) -> str:
    """Return a call of operand texts as the library of a recording writes it.

    If its form is not known, or is one for another number of operands, the operation's own name is written.

    >>> spell_call("tensorflow", "divide", ["int8", "int"]), spell_call("duckdb", "add", ["int8", "int16"])
    ('tf.math.truediv(int8, 1)', 'TINYINT + SMALLINT')
    """
    form = find_call_form(recording, op_name) or op_name
    words = [_spell_operand(recording, operand) for operand in operands]
    if OPERAND_PLACE not in form:
        return f"{form}({', '.join(words)})"
    if form.count(OPERAND_PLACE) != len(words):
        return f"{op_name}({', '.join(words)})"
    return form.format(*words)


def _spell_operand(recording: str, operand: str) -> str:
    """Return an operand text with the library's name of its dtype. A number of any value is written as 1."""
    dtype, mark, rest = operand.partition(":")
    return LITERAL_BY_PYTHON_TYPE.get(operand) or spell_dtype(recording, dtype) + mark + rest


@cache
def spelled_words(recording: str, of_dtype: bool) -> Mapping[str, str]:
    """Return the forms of operations of a recording's library, or its names of dtypes.

    A recording's own words count before those of its library.

    >>> spelled_words("duckdb", of_dtype=True)["int128"]
    'HUGEINT'
    """
    plain = recording.partition(VERSION_SIGN)[0]
    owners = [recordings()[plain].library] if plain in recordings() else []
    words: dict[str, str] = {}
    for form, listed in [row for owner in dict.fromkeys([*owners, plain]) for row in _rows_of(owner)]:
        if of_dtype == (form == DTYPES_FORM):
            for entry in listed.split(", "):
                name, _, own = entry.partition("=")
                words[name] = own if of_dtype else form.replace(NAME_PLACE, own or name, 1)
    return words


def _rows_of(owner: str) -> list[tuple[str, str]]:
    """Return the forms of a library or a recording in the table, each with the entries that it lists."""
    found = []
    for part in _read_table().split(f"\n{owner}  ")[1:]:
        form, *rows = part.split("\n")
        listed = [row.strip() for row in takewhile(lambda row: row.startswith(" "), rows)]
        found.append((form, " ".join(listed)))
    return found


@cache
def _read_table() -> str:
    with open(path.join(path.dirname(__file__), SPELLINGS_FILE), encoding="utf-8") as table:
        return table.read()
