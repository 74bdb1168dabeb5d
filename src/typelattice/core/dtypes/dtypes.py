"""Element types: their facts, stated in dtypes.txt, and the names and codes to call them by."""
from __future__ import annotations

from _thread import allocate_lock  # `threading` costs a process as much as the table of dtypes
from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from warnings import warn
from weakref import WeakValueDictionary

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.frozen_classes import frozen
from typelattice.base.objects.strange_objects import refuse_strange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Kind(StrEnum):
    """The kind of number that a dtype holds.

    >>> dtype("uint8").kind is Kind.UNSIGNED
    True
    """

    BOOL, UNSIGNED, SIGNED, FLOAT, COMPLEX = "bool", "unsigned", "signed", "float", "complex"

    @cached_property  # the engine reads this for every answer
    def category(self) -> int:
        """The place in bool, integer, float, complex: 0, 1, 2 or 3. Both kinds of integers are 1."""
        return {"bool": 0, "float": 2, "complex": 3}.get(self.value, 1)

    @cached_property
    def position(self) -> int:
        """The place in bool, unsigned, signed, float, complex: 0 to 4. Signed is above unsigned."""
        return list(Kind).index(self)

    @property
    def letter(self) -> str:
        """The letter of the kind in codes: b, u, i, f, c."""
        return "i" if self is Kind.SIGNED else self.value[0]

    @property
    def python_name(self) -> str:
        """The name of Python's type for numbers of the kind: bool, int, float, complex."""
        return "int" if self.category == 1 else self.value


KINDS_BY_WORD: dict[str, tuple[Kind, ...]] = {
    **{kind.value: (kind,) for kind in Kind},
    "integer": (Kind.UNSIGNED, Kind.SIGNED),
    "real": (Kind.UNSIGNED, Kind.SIGNED, Kind.FLOAT),
    "inexact": (Kind.FLOAT, Kind.COMPLEX),
    "numeric": tuple(Kind)[1:],
    "all": tuple(Kind),
    "none": (),
}


class DTypeError(TypelatticeError, ValueError):
    """A text or an object that names no dtype, or more than one."""

    __module__ = "typelattice"


@frozen()
class DTypeParameter:
    """A parameter of a dtype, such as the digits of a decimal, and its limits, or None without a limit.

    `most` may be the name of an earlier parameter: a decimal has at most as many digits after the point as in
    total. `counts` is "digits" for the decimal digits of a value, "decimals" for the digits after the point,
    or "".
    """

    name: str
    is_whole: bool
    least: int | None
    most: int | str | None
    counts: str = ""


@frozen(eq=False, repr=False, weakref_slot=True)
class DType:
    """An element type and its facts. DTypes with equal facts are the same object.

    `bits` are the bits used, `storage_bits` the bits occupied, or None if the platform decides. `min` and
    `max` are the most negative and the largest finite value. One of three fields says which values lie
    between them. Without any of them, the values are unknown:

    - `precision` counts the bits of a binary float's significand, so integers up to 2**precision are exact.
      `min_exponent` is the smallest exponent of a normal value.
    - `step` is the distance of neighbours: 1 for integers, a power of two for fixed point.
    - `values` lists them all, from the least to the greatest.

    `specials` has a letter for each special value: s(ign), z(ero), m(inus zero), i(nf), n(an). The facts of a
    complex dtype, except its bits, describe its parts.

    A dtype with `parameters` is a family, such as `decimal`. `decimal(10,2)` is a member: `family` is that
    dtype, and `arguments` are the values of its parameters.

    A DType equals only itself, so it can be in a set or a dict with any other objects. A comparison with a
    name or a library's class, such as `x.dtype == np.float32`, is False and warns.
    """

    name: str
    code: str
    kind: Kind
    bits: int | None
    storage_bits: int | None
    min: int | float | None
    max: int | float | None
    precision: int | None
    min_exponent: int | None
    step: int | float | None
    values: tuple[int | float, ...]
    specials: str
    parameters: tuple[DTypeParameter, ...]
    family: DType | None
    arguments: tuple[int | float, ...]

    def __new__(cls, *facts: object, **named: object) -> DType:
        """Refuse a name alone. Raises DTypeError."""
        if len(facts) == 1 and not named:
            found = dtype(facts[0])
            raise DTypeError(f"DType makes a dtype of all its facts; write typelattice.dtype({found.name!r})")
        return object.__new__(cls)

    @property
    def smallest(self) -> int | float | None:
        """The smallest value above zero, which may be subnormal, or None if it is unknown."""
        if self.precision is not None and self.min_exponent is not None:
            return 2.0 ** (self.min_exponent - self.precision + 1)
        return next((v for v in self.values if v > 0), self.step)

    @property
    def finite_only(self) -> bool:
        """Return True if every bit pattern is a finite number."""
        return not {*"in"} & {*self.specials}

    @property
    # NumPy's stubs require a numpy.dtype, but NumPy must not be imported here.
    def __numpy_dtype__(self) -> Any:
        """The dtype as NumPy's own, for `np.zeros(3, dtype=...)` and `x.astype(...)` from NumPy 2.4 on."""
        return NATIVE_DTYPE_MAKERS["numpy"](self)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, (DType, WeakNode)) and _seems_equal(self, other):
            how = "typelattice.dtype(...)" if isinstance(other, str) else "typelattice.operand(...).dtype"
            warn(
                f"{self} is compared with {quote_short(str(other))}, "
                "which is no DType, and so never equal to one; "
                f"compare with {how}, a namespace's own dtype, or compare names: str(d)",
                stacklevel=2,
            )
        return NotImplemented

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return intern_dtype, tuple(getattr(self, fact) for fact in self.__match_args__)


@frozen(eq=False, repr=False, weakref_slot=True)
class WeakNode:
    """A weak node of an order: of a kind, written `i*`, or of a dtype, written `i32*`. Made by `weak`."""

    kind: Kind
    dtype: DType | None

    def __repr__(self) -> str:
        return f"{self.dtype.code if self.dtype else self.kind.letter}*"

    def __reduce__(self) -> tuple[object, ...]:
        return weak_node, (self.kind, self.dtype)


# Each DType and Weak in use, by its facts. The references are weak, so the dtypes of files that are read
# repeatedly do not pile up. A lock ensures that two threads never make two objects of one dtype.
_DTYPE_BY_FACTS: WeakValueDictionary[tuple[object, ...], DType] = WeakValueDictionary()
_WEAK_BY_KIND_AND_DTYPE: WeakValueDictionary[tuple[object, ...], WeakNode] = WeakValueDictionary()
_WEAK_BY_KIND: dict[Kind, WeakNode] = {}
_INTERNING_LOCK = allocate_lock()


def intern_dtype(*facts: Any) -> DType:
    """Return the DType with these facts, in the order of its fields. The same facts give the same object.

    The last three are left out for a dtype that is neither a family nor a member of one.
    """
    if len(facts) < len(DType.__match_args__):
        facts = (*facts, (), None, ())
    # 1 == 1.0, but they are different facts. So compare types, too.
    key = (*facts, *map(type, facts))
    with _INTERNING_LOCK:
        found = _DTYPE_BY_FACTS.get(key)
        if found is None:
            found = _DTYPE_BY_FACTS[key] = DType(*facts)
        return found


def weak_node(kind: Kind, dtype: DType | None = None) -> WeakNode:
    """Return the weak node of a kind, or of a dtype of that kind. It is always the same object."""
    if dtype is None and kind in _WEAK_BY_KIND:  # nearly every answer with a Python scalar needs these nodes
        return _WEAK_BY_KIND[kind]
    with _INTERNING_LOCK:
        found = _WEAK_BY_KIND_AND_DTYPE.get((kind, dtype))
        if found is None:
            found = _WEAK_BY_KIND_AND_DTYPE[kind, dtype] = WeakNode(kind, dtype)
        return found


_WEAK_BY_KIND |= {kind: weak_node(kind) for kind in Kind}
Node = DType | WeakNode
NATIVE_DTYPE_MAKERS: dict[
    str, Callable[[DType], object]
] = {}  # framework -> DType to its own dtype. The adapters fill it


def _seems_equal(dtype: DType, obj: object) -> bool:
    """Return True if a reader may take an object for this dtype.

    Examples are the dtype's name, np.float32 and an old NumPy's np.dtype. Python's types do not count, since
    sets and dicts may hold them with dtypes. An object that equals the dtype does not count either, such as a
    `np.dtype` from NumPy 2.4 on.
    """
    if isinstance(obj, str):
        return not isinstance(obj, Kind) and (
            obj in DTYPES or obj in DTYPE_BY_CODE
        )  # the kind bool is not the dtype bool
    cls = obj if isinstance(obj, type) else type(obj)
    if not any(str(ancestor.__module__).partition(".")[0] in NATIVE_DTYPE_MAKERS for ancestor in cls.__mro__):
        return False
    return cls is obj or (
        getattr(obj, "name", None) == dtype.name and type(obj).__eq__(obj, dtype) is not True
    )


def _read_dtype_row(line: str) -> DType:
    """Return the DType of a row of dtypes.txt. Its least value and its step follow from its kind."""
    name, code, word, *numbers, specials, others = line.split()
    kind = Kind(word)
    bits, storage, top, precision, exponent = (
        None if n == "-" else float.fromhex(n) if "p" in n else int(n) for n in numbers
    )
    least: float | None = 0
    if precision is not None and exponent is not None and top is not None:
        least = least_of_float(top, int(precision), int(exponent), specials)
    elif kind is Kind.SIGNED:
        least = None if top is None else -top - 1
    step = None if precision is not None else 1
    found = intern_dtype(name, code, kind, bits, storage, least, top, precision, exponent, step, (), specials)
    DTYPE_BY_OTHER_NAME.update(dict.fromkeys(others.split(",") if others != "-" else (), found))
    return found


def least_of_float(top: float, precision: int, exponent: int, specials: str) -> float:
    """Return the most negative value of a binary float format.

    Without a sign it is zero, or the smallest positive value if the format has no zero.
    """
    return -top if "s" in specials else 0.0 if "z" in specials else 2.0 ** (exponent - precision + 1)


DTYPE_BY_OTHER_NAME: dict[str, DType] = {}  # the words of array libraries: half is float16
DTYPES_TABLE_PATH = __file__.rpartition(".")[0] + ".txt"
with open(DTYPES_TABLE_PATH, encoding="utf-8") as rows:  # pathlib would cost as much as all else here
    DTYPES = {d.name: d for d in map(_read_dtype_row, (line for line in rows if line[0] != "#"))}
DTYPE_BY_CODE = {d.code: d for d in DTYPES.values()}


NUMPY_WIDTHS_BY_LETTER = {  # bytes
    "i": ("1", "2", "4", "8"), "u": ("1", "2", "4", "8"), "f": ("2", "4", "8"), "c": ("8", "16"),
}  # fmt: skip


def numpy_reading(code: str) -> DType | None:
    """Return the dtype that NumPy reads in a code of one letter and bytes: u4 is uint32."""
    letter, width = ("i", "1") if code == "b" else (code[:1], code[1:])
    if width not in NUMPY_WIDTHS_BY_LETTER.get(letter, ()):
        return None
    return DTYPE_BY_CODE[f"{letter}{8 * int(width)}"]


def dtype(name: object) -> DType:
    """Find the dtype of a name or code. Raises DTypeError if it is unknown, or has two likely readings.

    Codes count bits, as tables and system files do: i8 is int8, though NumPy counts bytes and reads int64.

    >>> dtype("bfloat16").precision, dtype("i32"), dtype("i8"), dtype("u8")
    (8, int32, int8, uint8)
    >>> dtype("i4")
    Traceback (most recent call last):
        ...
    typelattice.DTypeError: 'i4' reads as int4 (in bits) or as int32 (in bytes, ...
    """
    refuse_strange(name, DTypeError, "give the name of a dtype, such as 'int8'")
    if isinstance(name, DType):
        return name
    if not isinstance(name, str):
        what = f"an object of type {type(name).__name__}"
        raise DTypeError(f"{what} is no name of a dtype; give one such as 'int8'")
    if name in DTYPES:
        return DTYPES[name]
    in_bits = DTYPE_BY_CODE.get(name)
    if in_bits and in_bits.bits == 8 and in_bits.kind in (Kind.UNSIGNED, Kind.SIGNED):
        return in_bits
    if as_numpy := numpy_reading(name):
        ours = in_bits or f"a {name[1:]}-bit {as_numpy.kind}"
        raise DTypeError(
            f"{name!r} reads as {ours} (in bits) or as {as_numpy} (in bytes, as NumPy counts): write the name"
        )
    if in_bits:
        return in_bits
    raise DTypeError(f"unknown dtype {quote_short(name)}{_spelling_advice(name)}")


def _spelling_advice(name: str) -> str:
    """Say how to write a dtype, for a name that is not one."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and all(part in DTYPES or part in DTYPE_BY_CODE for part in parts):
        return f"; separate operands by spaces: {' '.join(parts)}"
    module, _, stem = name.rpartition(".")
    if module and stem in DTYPES:
        return f"; write {stem}, without the module"
    other = DTYPE_BY_OTHER_NAME.get(name) or DTYPE_BY_CODE.get(name.replace("fp", "f", 1))
    if other:
        return f"; write {other}"
    return spelling_hint(name, DTYPES) or "; dtypes have names such as int8, float16 and bfloat16"


def sort_key(node: Node) -> tuple[int, int, int, str]:
    """Return a sort key, as documents list dtypes: kind by kind from narrow to wide, weak nodes last."""
    d = node if isinstance(node, DType) else node.dtype
    return not isinstance(node, DType), node.kind.position, (d.bits if d else 0) or 65, str(node)


def real_part_dtype(dtype: DType) -> DType:
    """Return the dtype of the parts of a complex dtype, or any other dtype unchanged.

    >>> real_part_dtype(dtype("complex64")), real_part_dtype(dtype("int8"))
    (float32, int8)
    """
    if dtype.kind is not Kind.COMPLEX:
        return dtype
    floats = (x for x in DTYPES.values() if x.kind is Kind.FLOAT)
    return next((x for x in floats if (x.max, x.precision) == (dtype.max, dtype.precision)), dtype)


def complex_of(dtype: DType) -> DType:
    """Return the complex dtype with parts of a float dtype, or any other dtype unchanged.

    A float without a complex dtype, such as float8_e5m2, is also returned unchanged.

    >>> complex_of(dtype("float32")), complex_of(dtype("int8"))
    (complex64, int8)
    """
    wholes = (x for x in DTYPES.values() if x.kind is Kind.COMPLEX and real_part_dtype(x) is dtype)
    return next(wholes, dtype) if dtype.kind is Kind.FLOAT else dtype
