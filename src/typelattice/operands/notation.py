"""Operand strings: `int8`, `int8:0d`, `int8:weak`, `int16:0d=300`, `float`, `1.5`, `True`; they survive a shell."""
from __future__ import annotations

import re
from collections.abc import Mapping

from typelattice.facts.dtypes import DType, dtype
from typelattice.facts.range import Value, fitted
from typelattice.facts.suggest import short
from typelattice.operands.operand import READERS, SCALARS, WORDS, Operand, OperandError, Tier, of, scalar

MARKS: dict[str, Tier] = {"": "array", "array": "array", "weak": "array", "0d": "0d", "scalar": "0d"}


def parse(text: str, own: Mapping[str, DType] = {}) -> Operand:
    """The operand that a string describes; `own` are dtypes that a system file defines.

    Raises OperandError for a text that describes none, DTypeError for an unknown dtype.

    >>> parse("int8:0d").tier, parse("2j").kind.value
    ('0d', 'complex')
    """
    if text in WORDS:
        return scalar(WORDS[text])
    if re.match(r"[+-]?\.?\d|([+-]?(inf|nan)([+-].*)?j?|True|False)$", text):
        value = literal(text)
        return scalar(SCALARS[type(value)], value)
    name, _, mark = text.partition("=")[0].partition(":")
    found = own.get(name) or dtype(name)
    if mark not in MARKS:
        raise OperandError(f"cannot read {short(mark)} in {short(text)}; write :0d or :weak, as in int8:0d")
    if "=" not in text:
        return of(found, mark == "weak", MARKS[mark])
    value = literal(text.partition("=")[2])
    if MARKS[mark] == "array":
        raise OperandError(f"an array has many values; write {name}:0d={value}")
    if SCALARS[type(value)].rank > found.kind.rank or not fitted(value, found)[0]:
        raise OperandError(f"{found} cannot hold {str(value)[:40]}; give a value that it holds, or another dtype")
    return of(found, False, MARKS[mark], value)


def literal(text: str) -> Value:
    """The Python number that a text is. Raises OperandError."""
    if text in ("True", "False"):
        return text == "True"
    for number in (int, float, complex) if len(text) <= 400 else ():
        try:
            return number(text)
        except ValueError:
            continue
    raise OperandError(f"cannot read {short(text)} as a Python number")


READERS["builtins"] = lambda x: parse(x) if isinstance(x, str) else None
