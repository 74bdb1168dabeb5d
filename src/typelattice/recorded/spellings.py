"""Calls in the words of each recorded library: `tf.math.truediv(int8, 1)`, and not `divide(int8, 1)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from os import path

from typelattice.facts.libraries import recordings
from typelattice.facts.releases import VERSION_SIGN

SPELLINGS_FILE = "spellings.txt"
NAME_PLACE, OPERAND_PLACE = "*", "{}"  # in a form: the library's name of an operation, and an operand
DTYPES_FORM = "dtypes"  # the rows under this form list dtypes
LITERAL_BY_PYTHON_TYPE = {"int": "1", "float": "1.0", "complex": "1j"}  # a recorded number of any value


def find_form(recording: str, op_name: str) -> str | None:
    """Return how the library of a recording writes an operation, or None if that is not known.

    `{}` stands for an operand. A form without it is a function.

    >>> find_form("tensorflow", "divide"), find_form("go", "sqrt"), find_form("go", "fft")
    ('tf.math.truediv', 'math.Sqrt({})', None)
    """
    return _find_word(recording, op_name, of_dtype=False)


def spell_dtype(recording: str, dtype: str) -> str:
    """Return what the library of a recording calls a dtype.

    >>> spell_dtype("duckdb", "int8"), spell_dtype("jax@0.10", "int8")
    ('TINYINT', 'int8')
    """
    return _find_word(recording, dtype, of_dtype=True) or dtype


def spell_call(recording: str, op_name: str, operands: Sequence[str]) -> str:
    """Return a call of operand texts as the library of a recording writes it.

    If its form is not known, or is one for another number of operands, the operation's own name is written.

    >>> spell_call("tensorflow", "divide", ["int8", "int"]), spell_call("duckdb", "add", ["int8", "int16"])
    ('tf.math.truediv(int8, 1)', 'TINYINT + SMALLINT')
    """
    form = find_form(recording, op_name) or op_name
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


def _find_word(recording: str, name: str, of_dtype: bool) -> str | None:
    return spelled_words(recording, of_dtype).get(name)


def spelled_words(recording: str, of_dtype: bool) -> Mapping[str, str]:
    """Return the forms of operations of a recording's library, or its names of dtypes.

    A recording's own words count before those of its library.

    >>> spelled_words("duckdb", of_dtype=True)["int128"]
    'HUGEINT'
    """
    plain = recording.partition(VERSION_SIGN)[0]
    own = _read_spellings().get((plain, of_dtype), {})
    if plain not in recordings():
        return own
    return {**_read_spellings().get((recordings()[plain].library, of_dtype), {}), **own}


@cache
def _read_spellings() -> Mapping[tuple[str, bool], Mapping[str, str]]:
    """Read the words of each library and recording: its forms of operations, and its names of dtypes."""
    found: dict[tuple[str, bool], dict[str, str]] = {}
    owner, form, listed = "", "", ""
    with open(path.join(path.dirname(__file__), SPELLINGS_FILE), encoding="utf-8") as table:
        rows = table.read().splitlines()
    for row in [*rows, ""]:
        if row.startswith(" "):
            listed += f" {row.strip()}"
            continue
        for entry in listed.strip().split(", ") if listed else ():
            name, _, own = entry.partition("=")
            word = own if form == DTYPES_FORM else form.replace(NAME_PLACE, own or name, 1)
            found.setdefault((owner, form == DTYPES_FORM), {})[name] = word
        listed = ""
        if row and not row.startswith("#"):
            owner, _, form = row.partition("  ")
    return found
