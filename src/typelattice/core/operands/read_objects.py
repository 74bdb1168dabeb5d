"""Objects read as operands: arrays, dtypes, scalars. Each class is looked up once, for speed."""
from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.errors.outside_errors import raise_if_from_outside
from typelattice.base.objects.frozen_classes import frozen, replace
from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.notation import number_operand, parse_operand
from typelattice.core.operands.operand import (
    FOREIGN_SCALAR_SUFFIX,
    KIND_BY_PYTHON_TYPE,
    Operand,
    OperandError,
    operand_of_dtype,
    scalar_operand,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# How many classes are remembered. A program uses few. A program that keeps making classes must not fill the
# memory.
MAX_CLASSES = 512


@frozen()
class ObjectReader:
    """A reader of one framework's objects, such as its arrays, dtypes and scalars.

    `read` returns the operand, or None for an object that is not an operand. `cache_key_of` takes a class and
    returns a function that gives the cache key of each object, or None if the class has no such function.
    Objects with equal keys have operands of the same dtype, and a key is faster to get than an operand.
    `library` is the framework. `scalar_classes` are the classes of its scalars, which are not arrays.
    """

    read: Callable[[Any], Operand | None]
    cache_key_of: Callable[[type], Callable[[Any], Hashable] | None] = lambda cls: None
    library: str = ""
    scalar_classes: tuple[type, ...] = ()


# Each finds the reader for the root module of a class. The adapters add their readers.
READER_FINDERS: list[Callable[[str], ObjectReader | None]] = []
NAMESPACE_ATTRIBUTE = (
    "__array_namespace__"  # an object with this attribute is an array of the array API standard
)
# Array classes that need only a dtype and a number of dimensions. The adapters add their classes.
PLAIN_ARRAY_CLASSES: set[type] = set()
# Class seen so far -> function for the cache key of its objects.
CACHE_KEY_BY_CLASS: dict[type, Callable[[Any], Hashable]] = {}
_READERS_BY_OBJECT_CLASS: dict[type, tuple[ObjectReader, ...]] = {}


def operand(x: object) -> Operand:
    """Read an object as an operand. Raises OperandError for any other object, DTypeError for an unknown
    dtype.

    >>> print(operand("int16:0d=300"), operand(2.5), operand(float), operand(True).dtype)
    int16:0d=300 2.5 float bool
    """
    refuse_strange(x, OperandError, "give an array, a dtype, a number or an operand string")
    try:
        found = _read_object(x)
    except TypelatticeError:
        raise
    except Exception as e:  # an object may raise anything when it is read
        raise_if_from_outside(e, lambda: _read_object(x))
        raise _operand_error(x, f"cannot be read as an operand ({type(e).__name__})") from e
    if found is None:
        raise _operand_error(x, "takes no part in promotion")
    return found


def _read_object(obj: object) -> Operand | None:
    """Return the operand that the first successful reader of an object's class finds, or None."""
    for reader in _readers_of_class(type(obj)):
        found = reader.read(obj)
        if found is not None:
            return found
    for reader in (
        _find_framework_readers(obj) if isinstance(obj, type) else ()
    ):  # a class of scalars, such as numpy.int8
        found = reader.read(obj)
        if found is not None:
            return found
    return None


def mark_foreign(
    objects: Sequence[object], operands: Sequence[Operand], host: str, known_libraries: Container[str]
) -> tuple[Operand, ...]:
    """Return the operands, with arrays of other libraries than the host marked as foreign.

    If no array belongs to the host, none is marked, and only the dtypes and values count. So NumPy arrays can
    be used as if they were tensors. But a string or a DType represents an array of the host. If all other
    objects are strings or DTypes, a scalar of a library in `known_libraries` is foreign.
    """
    owners = [_owner_library(x) for x in objects]
    others = [owner for owner in owners if owner and owner.removesuffix(FOREIGN_SCALAR_SUFFIX) != host]
    if not others:
        return tuple(operands)
    if len(others) == len([*filter(None, owners)]):
        described = any(isinstance(x, (str, DType)) for x in objects)
        alone = described and all(owner.endswith(FOREIGN_SCALAR_SUFFIX) for owner in others)
        others = [
            owner
            for owner in others
            if alone and owner.removesuffix(FOREIGN_SCALAR_SUFFIX) in known_libraries
        ]
    pairs = zip(operands, owners, strict=True)
    return tuple(replace(o, foreign_library=owner) if owner in others else o for o, owner in pairs)


def _owner_library(obj: object) -> str:
    """Return the library of an array or scalar, written as in `Operand.foreign`, or "" for another object."""
    if (
        type(obj) in _READER_BY_BUILTIN_CLASS
        or isinstance(obj, type)
        or not (hasattr(obj, "dtype") and hasattr(obj, "shape"))
    ):
        return ""
    reader = next((reader for reader in _readers_of_class(type(obj)) if reader.library), None)
    return (
        f"{reader.library}{FOREIGN_SCALAR_SUFFIX * isinstance(obj, reader.scalar_classes)}" if reader else ""
    )


def _operand_error(obj: object, reason: str) -> OperandError:
    what = f"{type(obj).__module__}.{type(obj).__qualname__}".removeprefix("builtins.")
    described = f"an object of type {what} {reason}"
    return OperandError(f"{described}; give an array, a dtype, a number or a string such as 'int8'")


def clear_reader_cache() -> None:
    """Forget the classes seen so far, so that their readers are looked up again."""
    _READERS_BY_OBJECT_CLASS.clear()
    CACHE_KEY_BY_CLASS.clear()
    CACHE_KEY_BY_CLASS[str] = _return_itself  # a system reads a string without us, by its own dtypes too


def _readers_of_class(cls: type) -> tuple[ObjectReader, ...]:
    """List the readers of a class: ours, the readers of its ancestors' frameworks, and the standard's."""
    if cls in _READERS_BY_OBJECT_CLASS:
        return _READERS_BY_OBJECT_CLASS[cls]
    found = (
        [_READER_BY_BUILTIN_CLASS[str]]
        if issubclass(cls, str)
        else [_READER_BY_BUILTIN_CLASS[cls]]
        if cls in _READER_BY_BUILTIN_CLASS
        else []
    )
    found += _find_framework_readers(cls)
    if hasattr(cls, NAMESPACE_ATTRIBUTE):
        found += _find_readers([NAMESPACE_ATTRIBUTE])
    if issubclass(cls, (int, float, complex)) and cls not in KIND_BY_PYTHON_TYPE:
        found.append(ObjectReader(_read_number_subclass))
    if len(_READERS_BY_OBJECT_CLASS) >= MAX_CLASSES:
        clear_reader_cache()
    cache_key = found[0].cache_key_of(cls) if found else None
    if cache_key:
        CACHE_KEY_BY_CLASS[cls] = cache_key
    _READERS_BY_OBJECT_CLASS[cls] = tuple(found)
    return _READERS_BY_OBJECT_CLASS[cls]


def _find_framework_readers(cls: type) -> list[ObjectReader]:
    """Return the readers of the frameworks that define a class or one of its ancestors."""
    roots = dict.fromkeys(ancestor.__module__.partition(".")[0] for ancestor in cls.__mro__)
    return _find_readers(root for root in roots if root != "builtins")


def _find_readers(roots: Iterable[str]) -> list[ObjectReader]:
    readers = (find(root) for root in roots for find in READER_FINDERS)
    return [reader for reader in readers if reader is not None]


def _read_number_subclass(x: PythonNumber) -> Operand:
    """Read an object of a subclass of int, float or complex, such as a member of an IntEnum, as a number."""
    return number_operand(int(x) if isinstance(x, int) else float(x) if isinstance(x, float) else complex(x))


def _read_type(x: type) -> Operand | None:
    return scalar_operand(KIND_BY_PYTHON_TYPE[x]) if x in KIND_BY_PYTHON_TYPE else None


def _return_itself(x: Hashable) -> Hashable:
    return x


_READER_BY_BUILTIN_CLASS: dict[type, ObjectReader] = {
    Operand: ObjectReader(lambda x: x),
    DType: ObjectReader(operand_of_dtype, lambda cls: _return_itself),
    str: ObjectReader(parse_operand, lambda cls: _return_itself),
    type: ObjectReader(_read_type, lambda cls: _return_itself),
    **{cls: ObjectReader(number_operand, lambda cls: type) for cls in KIND_BY_PYTHON_TYPE},
}
clear_reader_cache()
