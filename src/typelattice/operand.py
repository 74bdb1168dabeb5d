"""What takes part in a promotion: a dtype or a kind, its standing, and a value where one is known."""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from typelattice.dtypes import DTYPES, DType, Kind, dtype
from typelattice.loss import fitted

Tier = Literal["array", "0d", "scalar"]
SCALARS: dict[type, Kind] = {bool: Kind.BOOL, int: Kind.SIGNED, float: Kind.FLOAT, complex: Kind.COMPLEX}
WORDS = {"int": int, "float": float, "complex": complex}
BOOL = DTYPES["bool"]
Value = bool | int | float | complex
Reader = Callable[[object], "Operand | None"]


class OperandError(TypeError):
    """An object that cannot take part in a promotion, or a text that describes none."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand. A Python scalar has a kind and no dtype of its own; a weak array has both.

    `tier` is its standing: an array, a 0-d array (a library's own scalar too), or a Python scalar.
    """

    dtype: DType | None
    kind: Kind
    weak: bool = False
    tier: Tier = "array"
    value: Value | None = None

    def __str__(self) -> str:
        """The operand string that reads back as this operand."""
        if self.tier == "scalar":
            word = "int" if self.kind is Kind.SIGNED else self.kind.value
            return word if self.value is None else str(self.value).strip("()")
        marks = ":0d" * (self.tier == "0d") + ":weak" * self.weak
        return f"{self.dtype}{marks}" + (f"={self.value}".replace("(", "").replace(")", "") if self.value is not None else "")


def of(dtype: DType, weak: bool = False, tier: Tier = "array", value: Value | None = None) -> Operand:
    """An operand that has a dtype."""
    return Operand(dtype, dtype.kind, weak, tier, value)


def scalar(kind: Kind, value: Value | None = None) -> Operand:
    """A Python scalar; a bool has a dtype and is not weak."""
    return Operand(BOOL if kind is Kind.BOOL else None, kind, kind is not Kind.BOOL, "scalar", value)


READERS: dict[str, Reader] = {}  # root module of a type -> what reads its objects; the adapters fill it
PLAIN: set[type] = set()  # array classes of which dtype and ndim say all; the adapters fill it


def operand(x: object, own: Mapping[str, DType] = {}) -> Operand:
    """The operand that an object is: an Operand, a DType, a type, a Python scalar, an operand string, or anything that
    an adapter reads. `own` are dtypes that a system file defines. Raises OperandError or DTypeError.

    >>> print(operand("int16:0d=300"), operand(2.5), operand(float), operand(True).dtype)
    int16:0d=300 2.5 float bool
    """
    if isinstance(x, Operand):
        return x
    if isinstance(x, DType):
        return of(x)
    cls = type(x)
    if cls in SCALARS:
        return scalar(SCALARS[cls], x)  # type: ignore[arg-type]
    if isinstance(x, type) and x in SCALARS:
        return scalar(SCALARS[x])
    if cls is str:
        return parse(x, own)  # type: ignore[arg-type]
    for ancestor in (x if isinstance(x, type) else cls).__mro__:
        reader = READERS.get(ancestor.__module__.partition(".")[0])
        if reader and (found := reader(x)):
            return found
    if hasattr(x, "__array_namespace__") and (found := READERS["__array_namespace__"](x)):
        return found
    for ancestor, kind in reversed(SCALARS.items()):  # an IntEnum member, a subclass of int
        if isinstance(x, ancestor):
            return scalar(kind, ancestor(x))  # type: ignore[call-overload]
    if isinstance(x, str):
        return parse(str(x), own)
    raise OperandError(f"a {cls.__module__}.{cls.__qualname__} takes no part in promotion; give an array, a dtype, a number or a string such as 'int8'")


def parse(text: str, own: Mapping[str, DType] = {}) -> Operand:
    """The operand that a string describes; the grammar stands in `operand strings` of the documentation.

    >>> parse("int8:0d"), parse("2j").kind.value
    (Operand(dtype=int8, kind=<Kind.SIGNED: 'signed'>, weak=False, tier='0d', value=None), 'complex')
    """
    if text in WORDS:
        return scalar(SCALARS[WORDS[text]])
    if re.match(r"[+-]?\.?\d|[+-]?(inf|nan)|True$|False$", text):
        value = literal(text)
        return scalar(SCALARS[type(value)], value)
    name, _, given = text.partition("=")
    name, _, mark = name.partition(":")
    found = own.get(name) or dtype(name)
    if mark not in ("", "weak", "scalar", *get_args(Tier)):
        raise OperandError(f"cannot read {mark!r} in {text!r}; an operand is a dtype with :0d, :scalar or :weak, such as int8:0d")
    tier: Tier = "array" if mark in ("", "array", "weak") else "0d"
    if not given and "=" not in text:
        return of(found, mark == "weak", tier)
    value = literal(given)
    if tier == "array":
        raise OperandError(f"an array has many values; write {name}:0d={given}")
    if SCALARS[type(value)].rank > found.kind.rank or not fitted(value, found)[0]:
        raise OperandError(f"{found} cannot hold {given}; give a value that it holds, or another dtype")
    return of(found, False, tier, value)


def literal(text: str) -> Value:
    """The Python number that a text is. Raises OperandError."""
    if text in ("True", "False"):
        return text == "True"
    for number in (int, float, complex):
        if len(text) <= 400:
            try:
                return number(text)
            except ValueError:
                pass
    raise OperandError(f"cannot read {text[:40]!r} as a Python number")
