"""Objects read as operands: arrays, dtypes, scalars. Their class is looked up once, so that this is fast."""
from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence

from typelattice.facts.dtypes import DType
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.frozen_classes import frozen, replace
from typelattice.facts.range_checks import Value
from typelattice.operands.notation import number, parse
from typelattice.operands.operand import SCALAR, SCALARS, Operand, OperandError, operand_of, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Classes remembered. A program has a few; one that makes classes without end must not fill the memory.
MOST_CLASSES = 512


@frozen()
class ObjectReader:
    """A reader of one framework's objects, such as its arrays, dtypes and scalars.

    `read` returns the operand, or None for an object that is not an operand. `cache_key_of` takes a class. It
    returns a function that gives each object's cache key, or None if there is none. Objects with equal keys
    have operands of the same dtype, and a key is faster to get than an operand. `library` is the framework;
    `scalars` are the classes of its scalars, which are not arrays.
    """

    read: Callable[[Any], Operand | None]
    cache_key_of: Callable[[type], Callable[[Any], Hashable] | None] = lambda cls: None
    library: str = ""
    scalars: tuple[type, ...] = ()


# Each finds the reader for the root module of a class; the adapters add theirs.
FINDERS: list[Callable[[str], ObjectReader | None]] = []
STANDARD = "__array_namespace__"  # an object with this attribute is an array of the array API standard
# Array classes whose dtype and number of dimensions are all that counts; the adapters add theirs.
PLAIN: set[type] = set()
CACHE_KEYS: dict[type, Callable[[Any], Hashable]] = {}  # how the classes met so far mark their objects
_OF_CLASS: dict[type, tuple[ObjectReader, ...]] = {}


def operand(x: object) -> Operand:
    """Read an object as an operand. Raises OperandError for any other object, DTypeError for an unknown
    dtype.

    >>> print(operand("int16:0d=300"), operand(2.5), operand(float), operand(True).dtype)
    int16:0d=300 2.5 float bool
    """
    try:
        found = _read(x)
    except TypelatticeError:
        raise
    except Exception as e:  # an object may raise anything when it is read
        raise _no_operand(x, f"cannot be read as an operand ({type(e).__name__})") from e
    if found is None:
        raise _no_operand(x, "takes no part in promotion")
    return found


def _read(x: object) -> Operand | None:
    """Return the operand that the first reader of an object's class finds; None if none does."""
    for reader in _readers(type(x)):
        found = reader.read(x)
        if found is not None:
            return found
    for reader in _of_frameworks(x) if isinstance(x, type) else ():  # a class of scalars, such as numpy.int8
        found = reader.read(x)
        if found is not None:
            return found
    return None


def with_foreign(
    objects: Sequence[object], operands: Sequence[Operand], host: str, known: Container[str]
) -> tuple[Operand, ...]:
    """Return the operands, with arrays of other libraries than the host marked as foreign.

    If no array belongs to the host, none is marked: then only the dtypes and values count. So one may ask
    about tensors with arrays of NumPy. But a string or a DType stands for an array of the host: beside these
    alone, a scalar of a library in `known` is foreign.
    """
    owners = [_owner(x) for x in objects]
    others = [owner for owner in owners if owner and owner.removesuffix(SCALAR) != host]
    if not others:
        return tuple(operands)
    if len(others) == len([*filter(None, owners)]):
        described = any(isinstance(x, (str, DType)) for x in objects)
        alone = described and all(owner.endswith(SCALAR) for owner in others)
        others = [owner for owner in others if alone and owner.removesuffix(SCALAR) in known]
    both = zip(operands, owners, strict=True)
    return tuple(replace(o, foreign=owner) if owner in others else o for o, owner in both)


def _owner(x: object) -> str:
    """Return the library of an array or scalar, written as in `Operand.foreign`; empty for another object."""
    if type(x) in _OWN or isinstance(x, type) or not (hasattr(x, "dtype") and hasattr(x, "shape")):
        return ""
    reader = next((reader for reader in _readers(type(x)) if reader.library), None)
    return f"{reader.library}{SCALAR * isinstance(x, reader.scalars)}" if reader else ""


def _no_operand(x: object, why: str) -> OperandError:
    what = f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
    return OperandError(f"a {what} {why}; give an array, a dtype, a number or a string such as 'int8'")


def forget() -> None:
    """Forget the classes met so far: their readers are looked up anew."""
    _OF_CLASS.clear()
    CACHE_KEYS.clear()
    CACHE_KEYS[str] = _itself  # a system reads a string without us, by its own dtypes too


def _readers(cls: type) -> tuple[ObjectReader, ...]:
    """List the readers of a class: ours, those of its ancestors' frameworks, and the standard's."""
    if cls in _OF_CLASS:
        return _OF_CLASS[cls]
    found = [_OWN[str]] if issubclass(cls, str) else [_OWN[cls]] if cls in _OWN else []
    found += _of_frameworks(cls)
    if hasattr(cls, STANDARD):
        found += _find_readers([STANDARD])
    if issubclass(cls, (int, float, complex)) and cls not in SCALARS:
        found.append(ObjectReader(_read_number_subclass))
    if len(_OF_CLASS) >= MOST_CLASSES:
        forget()
    mark = found[0].cache_key_of(cls) if found else None
    if mark:
        CACHE_KEYS[cls] = mark
    _OF_CLASS[cls] = tuple(found)
    return _OF_CLASS[cls]


def _of_frameworks(cls: type) -> list[ObjectReader]:
    """Return the readers of the frameworks that a class, or one of its ancestors, comes from."""
    roots = dict.fromkeys(ancestor.__module__.partition(".")[0] for ancestor in cls.__mro__)
    return _find_readers(root for root in roots if root != "builtins")


def _find_readers(roots: Iterable[str]) -> list[ObjectReader]:
    readers = (find(root) for root in roots for find in FINDERS)
    return [reader for reader in readers if reader is not None]


def _read_number_subclass(x: Value) -> Operand:
    """Read an object of a subclass of int, float or complex, such as an IntEnum's member, as a number."""
    return number(int(x) if isinstance(x, int) else float(x) if isinstance(x, float) else complex(x))


def _type(x: type) -> Operand | None:
    return scalar(SCALARS[x]) if x in SCALARS else None


def _itself(x: Hashable) -> Hashable:
    return x


_OWN: dict[type, ObjectReader] = {
    Operand: ObjectReader(lambda x: x),
    DType: ObjectReader(operand_of, lambda cls: _itself),
    str: ObjectReader(parse, lambda cls: _itself),
    type: ObjectReader(_type, lambda cls: _itself),
    **{cls: ObjectReader(number, lambda cls: type) for cls in SCALARS},
}
forget()
