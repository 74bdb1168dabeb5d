"""How a recording writes what a library was asked, and an answer that is no dtype."""
from __future__ import annotations

from collections.abc import Mapping

UNKNOWN: Mapping[str, int | float | complex] = {"int": 1, "float": 1.0, "complex": 1j}
"""Python scalars whose value does not matter, and the value that a library is asked."""

EXCEPTION = "!"
"""How an exception begins: `!TypeError`."""

NOT_ASKED = "!NotAsked"
"""What stands in place of an answer for a call that was not made."""

LACKED = NOT_ASKED, "not in this release"
"""What stands for a call of an operand or operation that an older release does not have."""

BROKEN: Mapping[str, str] = {"!hang": "no answer within the time limit", "!crash": "the process died"}
"""Answers of a library that broke down, and what they mean."""

TAKEN_OVER = "!guest"
"""What stands for a call that another library took over, whose array was among the library's own."""

OF_PYTHON = "py:"
"""How an answer begins that is one of Python's own numbers: `py:int`."""

OF_OBJECTS = "object"
"""The dtype of an array of Python objects, as NumPy makes of an int beyond uint64: none of numbers."""

NO_NUMBERS = (EXCEPTION, OF_PYTHON, OF_OBJECTS)
"""How answers begin that are no dtype of an array of numbers; a system, which has no such dtypes, refuses."""
