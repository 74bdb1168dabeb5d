"""What takes part in a promotion: a dtype or a kind, its standing, and a value where one is known."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from typelattice.facts.dtypes import DTYPES, DType, Kind
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.range import Value

Tier = Literal["array", "0d", "scalar"]
SCALARS: dict[type, Kind] = {bool: Kind.BOOL, int: Kind.SIGNED, float: Kind.FLOAT, complex: Kind.COMPLEX}
WORDS = {"int": Kind.SIGNED, "float": Kind.FLOAT, "complex": Kind.COMPLEX}
BOOL = DTYPES["bool"]


class OperandError(TypelatticeError, TypeError):
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
        value = str(self.value).strip("()")
        if self.tier == "scalar":
            return value if self.value is not None else next((w for w, k in WORDS.items() if k is self.kind), "bool:scalar")
        return f"{self.dtype}{':0d' * (self.tier == '0d')}{':weak' * self.weak}{f'={value}' * (self.value is not None)}"


def of(dtype: DType, weak: bool = False, tier: Tier = "array", value: Value | None = None) -> Operand:
    """An operand that has a dtype."""
    return Operand(dtype, dtype.kind, weak, tier, value)


def scalar(kind: Kind, value: Value | None = None) -> Operand:
    """A Python scalar; a bool has a dtype and is not weak."""
    return Operand(BOOL if kind is Kind.BOOL else None, kind, kind is not Kind.BOOL, "scalar", value)


READERS: dict[str, Callable[[object], Operand | None]] = {}  # root module of a type -> its reader; the adapters fill it
PLAIN: set[type] = set()  # array classes of which dtype and ndim say all; the adapters fill it


def operand(x: object) -> Operand:
    """The operand that an object is, if anything here or an adapter reads it. Raises OperandError or DTypeError.

    >>> print(operand("int16:0d=300"), operand(2.5), operand(float), operand(True).dtype)
    int16:0d=300 2.5 float bool
    """
    if isinstance(x, Operand):
        return x
    if isinstance(x, DType):
        return of(x)
    cls = type(x)
    if cls in SCALARS and isinstance(x, Value):
        return scalar(SCALARS[cls], x)
    if isinstance(x, type) and x in SCALARS:
        return scalar(SCALARS[x])
    for ancestor in (x if isinstance(x, type) else cls).__mro__:
        reader = READERS.get(ancestor.__module__.partition(".")[0])
        if reader and (found := reader(x)):
            return found
    if hasattr(cls, "__array_namespace__") and (found := READERS["__array_namespace__"](x)):
        return found
    if isinstance(x, (int, float, complex)):  # an IntEnum member, a subclass of float
        value = int(x) if isinstance(x, int) else float(x) if isinstance(x, float) else complex(x)
        return scalar(SCALARS[type(value)], value)
    what = f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins.")
    raise OperandError(f"a {what} takes no part in promotion; give an array, a dtype, a number or a string such as 'int8'")
