"""Element types: one row of facts each, names and codes to call them by.

Sources: IEEE 754-2019, the OCP formats FP8 and MX, `ml_dtypes.finfo` and `iinfo`, Modular's DType.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Kind(StrEnum):
    """What sort of number a dtype holds. `rank` compares kinds: both sorts of integer are one step."""

    BOOL, UNSIGNED, SIGNED, FLOAT, COMPLEX = "bool", "unsigned", "signed", "float", "complex"

    @property
    def rank(self) -> int:
        return (0, 1, 1, 2, 3)["buifc".index(LETTER[self])]


LETTER = {Kind.BOOL: "b", Kind.UNSIGNED: "u", Kind.SIGNED: "i", Kind.FLOAT: "f", Kind.COMPLEX: "c"}


class DTypeError(ValueError):
    """A text or an object that names no dtype, or more than one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DType:
    """An element type and its facts; equal facts are the same object.

    `bits` are those used, `storage_bits` those occupied; None where the platform decides. The facts of a complex dtype
    are those of its parts. For floats: `max` is the largest finite value, `precision` counts the bits of the
    significand (integers up to 2**precision are exact), `min_exponent` is the smallest exponent of a normal value.
    `specials` has a letter for each of: s(ign), z(ero), m(inus zero), i(nf), n(an).

    >>> from typelattice import dtype
    >>> bf16 = dtype("bfloat16")
    >>> bf16.kind.value, bf16.bits, bf16.precision, bf16.max
    ('float', 16, 8, 3.3895313892515355e+38)
    """

    name: str
    code: str
    kind: Kind
    bits: int | None
    storage_bits: int | None
    max: int | float | None
    precision: int | None = None
    min_exponent: int | None = None
    specials: str = "sz"

    @property
    def min(self) -> int | float | None:
        """The most negative finite value; zero or, where there is no zero, the smallest value if there is no sign."""
        if "s" not in self.specials:
            return 0 if "z" in self.specials else self.smallest
        return None if self.max is None else -self.max - (self.kind is Kind.SIGNED)

    @property
    def smallest(self) -> float | int:
        """The smallest value above zero; a subnormal one where the format has them."""
        return 1 if self.min_exponent is None or self.precision is None else 2.0 ** (self.min_exponent - self.precision + 1)

    @property
    def finite_only(self) -> bool:
        """Whether every bit pattern is a finite number."""
        return not {"i", "n"} & set(self.specials)

    @property
    def __numpy_dtype__(self) -> object:
        """The dtype as NumPy's, for `np.zeros(3, dtype=...)` and `x.astype(...)`; needs NumPy, or TypeError."""
        return NATIVE["numpy"](self)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return define, tuple(getattr(self, f) for f in self.__slots__)


@cache
def define(name: str, code: str, kind: Kind, *facts: object) -> DType:
    """The DType with these facts, always the same object: a system file may define dtypes of its own."""
    return DType(name, code, Kind(kind), *facts)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weak:
    """A node of an order for operands that count by kind: `i*`; or by kind and width: `i32*`. `weak` makes it."""

    kind: Kind
    dtype: DType | None = None

    def __repr__(self) -> str:
        return f"{self.dtype.code if self.dtype else LETTER[self.kind]}*"


_weak = cache(Weak)


def weak(kind: Kind, dtype: DType | None = None) -> Weak:
    """The weak node of a kind, or of a dtype of that kind; always the same object."""
    return _weak(kind, dtype)


Node = DType | Weak
NATIVE: dict[str, Callable[[DType], object]] = {}  # framework -> DType to its own dtype; the adapters fill it

FLOATS = """
float4_e2m1fn       4   8  0x1.8p+2                2    0  szm
float4_e2m1fn_x2    8   8  0x1.8p+2                2    0  szm
float6_e2m3fn       6   8  0x1.ep+2                4    0  szm
float6_e3m2fn       6   8  0x1.cp+4                3   -2  szm
float8_e3m4         8   8  0x1.fp+3                5   -2  szmin
float8_e4m3         8   8  0x1.ep+7                4   -6  szmin
float8_e4m3fn       8   8  0x1.cp+8                4   -6  szmn
float8_e4m3fnuz     8   8  0x1.ep+7                4   -7  szn
float8_e4m3b11fnuz  8   8  0x1.ep+4                4  -10  szn
float8_e5m2         8   8  0x1.cp+15               3  -14  szmin
float8_e5m2fnuz     8   8  0x1.cp+15               3  -15  szn
float8_e8m0fnu      8   8  0x1p+127                1 -127  n
float16            16  16  0x1.ffcp+15            11  -14  szmin
bfloat16           16  16  0x1.fep+127             8 -126  szmin
tensor_float32     19  32  0x1.ffcp+127           11 -126  szmin
float32            32  32  0x1.fffffep+127        24 -126  szmin
float64            64  64  0x1.fffffffffffffp+1023 53 -1022 szmin
"""


def _rows() -> dict[str, DType]:
    """Every dtype by name: integers of each width, the floats above, complex types made of them."""
    rows = [define("bool", "b", Kind.BOOL, 1, 8, 1, None, None, "z")]
    for kind, letter, name, specials in ((Kind.UNSIGNED, "u", "uint", "z"), (Kind.SIGNED, "i", "int", "sz")):
        for n in (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128):
            top = 2 ** (n - (kind is Kind.SIGNED)) - 1
            rows.append(define(f"{name}{n}", f"{letter}{n}", kind, n, max(n, 8), top, None, None, specials))
    rows += [define(name, name, Kind.UNSIGNED, None, None, None, None, None, "z") for name in ("index", "address")]
    floats = [row.split() for row in FLOATS.strip().splitlines()]
    for name, bits, storage, top, precision, exponent, specials in floats:
        code = re.sub("tensor_float|bfloat|float", lambda m: {"t": "tf", "b": "bf", "f": "f"}[m[0][0]], name)
        facts = float.fromhex(top), int(precision), int(exponent), specials
        rows.append(define(name, code, Kind.FLOAT, int(bits), int(storage), *facts))
        whole = {"float16": "complex32", "bfloat16": "bcomplex32", "float32": "complex64", "float64": "complex128"}.get(name)
        if whole:
            code = whole.replace("omplex", "")
            rows.append(define(whole, code, Kind.COMPLEX, 2 * int(bits), 2 * int(storage), *facts))
    return {row.name: row for row in rows}


DTYPES = _rows()
CODES = {row.code: row for row in DTYPES.values()}
BYTES = {**dict.fromkeys("iu", (1, 2, 4, 8)), "f": (2, 4, 8), "c": (8, 16)}
NUMPY_CODES = {f"{c}{n}": d for c, widths in BYTES.items() for n in widths for d in DTYPES.values() if d.code == f"{c}{8 * n}"}
NUMPY_CODES["b"] = DTYPES["int8"]


def real(d: DType) -> DType:
    """The dtype of the parts of a complex dtype; any other is its own.

    >>> real(DTYPES["complex64"])
    float32
    """
    parts = (x for x in DTYPES.values() if x.kind is Kind.FLOAT and (x.max, x.precision) == (d.max, d.precision))
    return next(parts, d) if d.kind is Kind.COMPLEX else d


def numpy_code(d: DType) -> str | None:
    """NumPy's code of a dtype, which counts bytes: u4 is uint32; None where it has none of two characters."""
    return next((code for code, named in NUMPY_CODES.items() if named is d and code != "b"), None)


def dtype(name: object) -> DType:
    """The dtype of that name or code. Raises DTypeError for one unknown, and for a code with two readings.

    >>> dtype("bfloat16"), dtype("i32")
    (bfloat16, int32)
    >>> dtype("i4")
    Traceback (most recent call last):
        ...
    typelattice.dtypes.DTypeError: 'i4' reads as int4 (4 bits) or as NumPy's code for int32 (4 bytes): write one of these names
    """
    if isinstance(name, DType):
        return name
    if not isinstance(name, str):
        raise DTypeError(f"a {type(name).__name__} is no name of a dtype; give one such as 'int8'")
    if name in DTYPES:
        return DTYPES[name]
    if name in NUMPY_CODES:
        raise DTypeError(_two_readings(name))
    if name in CODES:
        return CODES[name]
    raise DTypeError(f"unknown dtype {_short(name)}{nearest(name, DTYPES)}")


def _two_readings(code: str) -> str:
    letter, width = code[0], code[1:]
    bits = CODES[code].name if code in CODES else f"{'float' if letter == 'f' else 'complex'} numbers of"
    how = (f" ({width} bits)", f" ({width} bytes)") if width else ("", "")
    return f"{code!r} reads as {bits}{how[0]} or as NumPy's code for {NUMPY_CODES[code]}{how[1]}: write one of these names"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def nearest(name: str, known: object) -> str:
    """`; did you mean …?`, or nothing where no known name is near."""
    from difflib import get_close_matches

    near = get_close_matches(name[:80], list(known), 2, 0.6)  # type: ignore[call-overload]
    return f"; did you mean {' or '.join(near)}?" if near else ""
