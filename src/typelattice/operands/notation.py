"""Operand strings such as `int8`, `int8:0d`, `int8:weak`, `int16:0d=300`, `float`, `1.5`: safe in a shell."""
from __future__ import annotations

import re
from collections.abc import Mapping

from typelattice.facts.dtypes import DType, dtype
from typelattice.facts.frozen_classes import replace
from typelattice.facts.range_checks import Value, represent
from typelattice.facts.suggestions import short
from typelattice.operands.operand import (
    SCALAR,
    SCALARS,
    WORDS,
    Operand,
    OperandError,
    Tier,
    operand_of,
    scalar,
)

NUMBER = re.compile(r"[+-]?\.?\d|([+-]?(inf|nan)([+-].*)?j?|True|False)$")
# A library's own scalars count as 0-d arrays; recordings tell them apart, and write `int8:scalar`.
TIERS: dict[str, Tier] = {"array": "array", "0d": "0d", "scalar": "0d"}
MAX_INT_BITS = (
    4096  # bits of an int: far beyond every dtype, and few enough to be computed with and written down
)
MAX_NUMBER_CHARS = 1300  # characters of a number: as many as such an int has digits, and a few more


def parse(text: str, own: Mapping[str, DType] = {}) -> Operand:
    """Return the operand that a string describes; `own` are dtypes that a system file defines.

    Raises OperandError for a text that describes none, DTypeError for an unknown dtype.

    >>> parse("int8:0d").tier, parse("2j").kind.value
    ('0d', 'complex')
    """
    if text in WORDS:
        return scalar(WORDS[text])
    if NUMBER.match(text):
        return number(literal(text))
    described, _, value = text.partition("=")
    name, *marks = described.split(":")
    found = read_dtype(name, own)
    tiers = [TIERS[mark] for mark in marks if mark in TIERS]
    further = [mark for mark in marks if mark not in TIERS and mark != "weak"]
    foreign = further.pop() if further and _is_foreign(further[-1]) else ""
    if further or len(tiers) > 1 or marks.count("weak") > 1:
        what = short(":".join(marks))
        raise OperandError(f"cannot read {what} in {short(text)}; write :0d or :weak, as in int8:0d")
    tier, weak = (tiers or ["0d" if foreign.endswith(SCALAR) else "array"])[0], "weak" in marks
    if "=" not in text:
        return replace(operand_of(found, weak, tier), foreign=foreign)
    held = literal(value)
    if tier == "array":
        raise OperandError(f"an array has many values; write {name}:0d={short_number(held)}")
    if SCALARS[type(held)].category > found.kind.category or not represent(held, found)[0]:
        cannot = f"{found} cannot hold {short_number(held)}"
        raise OperandError(f"{cannot}; give a value that it holds, or another dtype")
    return replace(operand_of(found, weak, tier, held), foreign=foreign)


def read_dtype(name: str, own: Mapping[str, DType] = {}) -> DType:
    """Return the dtype that a name means; `own` are dtypes that a system file defines. Raise DTypeError.

    >>> read_dtype("int8")
    int8
    """
    if name in own:
        return own[name]
    if "(" in name:
        from typelattice.facts.dtype_members import read_member  # few dtypes have parameters

        return read_member(name, own)
    return dtype(name)


def _is_foreign(mark: str) -> bool:
    """Return True if a mark names the library of a foreign array or scalar: `numpy-scalar`."""
    from typelattice.facts.libraries import libraries  # few strings have such a mark

    return mark.removesuffix(SCALAR) in libraries()


def number(value: Value) -> Operand:
    """Return the operand of a Python number. Raises OperandError for an int beyond MAX_INT_BITS bits."""
    if isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
        raise OperandError(
            f"an int of {value.bit_length():,} bits; no dtype holds more than {MAX_INT_BITS:,}"
        )
    return scalar(SCALARS[type(value)], value)


def literal(text: str) -> Value:
    """Return the Python number that a text denotes. Raises OperandError."""
    if text in ("True", "False"):
        return text == "True"
    for read in (int, float, complex) if len(text) <= MAX_NUMBER_CHARS else ():
        try:
            return read(text)
        except ValueError:
            continue
    raise OperandError(f"cannot read {short(text)} as a Python number")


def short_number(value: Value) -> str:
    """Return a number for an error message, cut at 40 characters."""
    return str(value)[:40]
