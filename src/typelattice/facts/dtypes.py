"""Element types: their facts, stated in dtypes.txt, and the names and codes to call them by."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.suggest import nearest, short


class Kind(StrEnum):
    """What sort of number a dtype holds."""

    BOOL, UNSIGNED, SIGNED, FLOAT, COMPLEX = "bool", "unsigned", "signed", "float", "complex"

    @property
    def rank(self) -> int:
        """Kinds in steps: bool 0, integers of both sorts 1, float 2, complex 3."""
        return {"bool": 0, "float": 2, "complex": 3}.get(self.value, 1)

    @property
    def letter(self) -> str:
        """The letter of the kind in codes: b, u, i, f, c."""
        return "i" if self is Kind.SIGNED else self.value[0]

    @property
    def word(self) -> str:
        """What Python calls a number of the kind: bool, int, float, complex."""
        return "int" if self.rank == 1 else self.value


class DTypeError(TypelatticeError, ValueError):
    """A text or an object that names no dtype, or more than one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DType:
    """An element type and its facts; equal facts are the same object.

    `bits` are those used, `storage_bits` those occupied; None where the platform decides. The facts of a complex dtype
    are those of its parts. Of a float, `max` is the largest finite value, `precision` counts the bits of the
    significand (integers up to 2**precision are exact), `min_exponent` is the smallest exponent of a normal value.
    `specials` has a letter for each that it has: s(ign), z(ero), m(inus zero), i(nf), n(an).
    """

    name: str
    code: str
    kind: Kind
    bits: int | None
    storage_bits: int | None
    max: int | float | None
    precision: int | None
    min_exponent: int | None
    specials: str

    @property
    def min(self) -> int | float | None:
        """The most negative finite value; of a dtype without sign zero, or the smallest where there is no zero."""
        if "s" in self.specials:
            return None if self.max is None else -self.max - (self.kind is Kind.SIGNED)
        return 0 if "z" in self.specials else self.smallest

    @property
    def smallest(self) -> int | float:
        """The smallest value above zero; a subnormal one where the format has them."""
        return 1 if self.precision is None else 2.0 ** ((self.min_exponent or 0) - self.precision + 1)

    @property
    def finite_only(self) -> bool:
        """Whether every bit pattern is a finite number."""
        return not {*"in"} & {*self.specials}

    @property
    def __numpy_dtype__(self) -> Any:  # NumPy's stubs ask for a numpy.dtype, which is not to be imported here
        """The dtype as NumPy's own, for `np.zeros(3, dtype=...)` and `x.astype(...)` from NumPy 2.4 on."""
        return NATIVE["numpy"](self)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return define, tuple(getattr(self, fact) for fact in self.__slots__)


@cache
def define(*facts: Any) -> DType:
    """The DType with these facts, always the same object."""
    return DType(*facts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weak:
    """A node of an order for operands that count by kind, `i*`, or by kind and width, `i32*`; `weak` makes it."""

    kind: Kind
    dtype: DType | None

    def __repr__(self) -> str:
        return f"{self.dtype.code if self.dtype else self.kind.letter}*"

    def __reduce__(self) -> tuple[object, ...]:
        return weak, (self.kind, self.dtype)


_weak = cache(Weak)


def weak(kind: Kind, dtype: DType | None = None) -> Weak:
    """The weak node of a kind, or of a dtype of that kind; always the same object."""
    return _weak(kind, dtype)


Node = DType | Weak
NATIVE: dict[str, Callable[[DType], object]] = {}  # framework -> DType to its own dtype; the adapters fill it


def _row(line: str) -> DType:
    """The DType that a row of dtypes.txt states."""
    name, code, kind, *numbers, specials = [None if word == "-" else word for word in line.split()]
    bits, storage, top, precision, exponent = [n and (float.fromhex(n) if "p" in n else int(n)) for n in numbers]
    return define(name, code, Kind(str(kind)), bits, storage, top, precision, exponent, specials)


with open(f"{__file__[:-3]}.txt", encoding="ascii") as rows:  # pathlib would cost as much as all else here
    DTYPES = {d.name: d for d in map(_row, (line for line in rows if line[0] != "#"))}
CODES = {d.code: d for d in DTYPES.values()}


def numpy_reading(code: str) -> DType | None:
    """What NumPy reads in a code of one letter and bytes: u4 is uint32."""
    found = re.fullmatch(r"([iu])([1248])|(f)([248])|(c)(8|16)", code)
    letter, width = [part for part in found.groups() if part] if found else ("i", "1")
    return CODES[f"{letter}{8 * int(width)}"] if found or code == "b" else None


def dtype(name: object) -> DType:
    """The dtype of that name or code. Raises DTypeError for one unknown, and for a code with two readings.

    >>> dtype("bfloat16").precision, dtype("i32")
    (8, int32)
    >>> dtype("i4")
    Traceback (most recent call last):
        ...
    typelattice.facts.dtypes.DTypeError: 'i4' reads as int4 (in bits) or as int32 (in bytes, as NumPy counts): write the name
    """
    if isinstance(name, DType):
        return name
    if not isinstance(name, str):
        raise DTypeError(f"a {type(name).__name__} is no name of a dtype; give one such as 'int8'")
    if name in DTYPES:
        return DTYPES[name]
    if as_numpy := numpy_reading(name):
        ours = CODES.get(name) or f"a {name[1:]}-bit {as_numpy.kind}"
        raise DTypeError(f"{name!r} reads as {ours} (in bits) or as {as_numpy} (in bytes, as NumPy counts): write the name")
    if name in CODES:
        return CODES[name]
    raise DTypeError(f"unknown dtype {short(name)}{nearest(name, DTYPES)}")


def place(node: Node) -> tuple[int, int, int, str]:
    """A sort key: kind by kind from narrow to wide, weak nodes last; the order in which documents list dtypes."""
    d = node if isinstance(node, DType) else node.dtype
    return not isinstance(node, DType), list(Kind).index(node.kind), (d.bits if d else 0) or 65, str(node)


def part_of(d: DType) -> DType:
    """The dtype of the parts of a complex dtype; any other is its own.

    >>> part_of(dtype("complex64")), part_of(dtype("int8"))
    (float32, int8)
    """
    floats = (x for x in DTYPES.values() if x.kind is Kind.FLOAT)
    return next((x for x in floats if (x.max, x.precision) == (d.max, d.precision)), d) if d.kind is Kind.COMPLEX else d


def complex_of(d: DType) -> DType:
    """The complex dtype with parts of a float dtype; any other, and a float without one, is its own.

    >>> complex_of(dtype("float32")), complex_of(dtype("int8"))
    (complex64, int8)
    """
    wholes = (x for x in DTYPES.values() if x.kind is Kind.COMPLEX and part_of(x) is d)
    return next(wholes, d) if d.kind is Kind.FLOAT else d
