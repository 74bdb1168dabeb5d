"""Array classes: how to identify, measure and link their objects. A class is inspected once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from types import EllipsisType, GetSetDescriptorType, NoneType
from typing import Any, TypeVar

from typelattice.calls.call_signatures import NameSort, name_meaning
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.libraries import library_of
from typelattice.operands.adapters import adapter
from typelattice.operands.operand import PYTHON_KINDS, Operand
from typelattice.operands.read_objects import NAMESPACE_ATTRIBUTE
from typelattice.tracing.compiled.compilers import compiler

MOST_CLASSES = 4096  # remembered; a program that makes classes without end must not fill the memory
MAX_LIST_ITEMS = 64  # items of a list that are looked at, each; a step of arrays in a longer one is opaque
ASKED = ("dtype", "shape")  # the attributes of every array class
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """An array class of a library, or a subclass that the program derived from one.

    - `mark` gives all that the operand depends on except its value, `size` the bytes of an array.
    - `viewed` gives the array that an array is a view of, or None.
    - `weak`: its objects take weak references. A link holds one (`direct`), or else the object (`kept`).
    - `variable` is set for objects that stand for arrays while a function is compiled. It gives the name of
      the array in the library's graph.
    """

    library: str
    mark: Callable[[Any], Hashable]
    size: Callable[[Any], int]
    weak: bool
    read: Callable[[Any], Operand | None]
    dtype: Callable[[Any], Any]
    dimensions: Callable[[Any], int]
    viewed: Callable[[Any], Any]
    variable: Callable[[Any], Any] | None
    direct: bool
    kept: bool

    def stands_for(self, x: Any) -> Any:
        """Return what `variable` gives; None if there is none."""
        return self.variable(x) if self.variable is not None else None


class Kinds(dict[type, "ArrayKind | None"]):
    """The array kind of each class; None for a class that is not an array class.

    An object is judged by its class alone: to ask an object of the program for its shape would run its code.
    """

    closed = False

    def __missing__(self, cls: type) -> ArrayKind | None:
        if len(self) >= MOST_CLASSES:
            self.clear()
        self[cls] = found = None if self.closed else kind_of(cls)
        return found

    def close(self) -> None:
        """Map every class to None from now on, so that witnesses record nothing."""
        self.closed = True
        self.clear()


def kind_of(cls: type) -> ArrayKind | None:
    """Return the array kind of a class; None for a class that is not derived from a known library's arrays.

    A subclass of the program may have attributes of its own, whose code must not run. So its objects are read
    by the attributes of the library's class.
    """
    base = library_class(cls)
    if base is None or not all(hasattr(base, name) for name in ASKED):
        return None
    own = adapter(_find_root(base))
    general = adapter(NAMESPACE_ATTRIBUTE) if hasattr(base, NAMESPACE_ATTRIBUTE) else None
    known = own or general
    if known is None:
        return None
    read = _first_reader(own.read, general.read) if own is not None and general is not None else known.read
    mark = known.cache_key_of(base) or _read_mark(read)
    attribute: Callable[[str], Callable[[Any], Any]] = attrgetter
    size = _size_reader(base)
    if base is not cls:
        attribute = partial(getattr(known, "own_attribute", own_attribute), base)
        read = _read_subclass(known.read, attribute("dtype"), attribute("ndim"))
        mark = _read_both(attribute("dtype"), attribute("ndim"))
        size = _check_nbytes(attribute("nbytes")) if hasattr(base, "nbytes") else size
    weak = getattr(base, "__weakrefoffset__", 0) > 0 or type.__getattribute__(cls, "__weakrefoffset__") > 0
    compiles = compiler(base)
    variable = compiles.variable if compiles is not None and compiles.is_tracer(base) else None
    plain = variable is None
    return ArrayKind(
        library_of(_find_root(base)) or "",
        mark,
        size,
        weak,
        read,
        attribute("dtype"),
        _count_dimensions if base is cls else attribute("ndim"),
        attribute("base") if hasattr(base, "base") else lambda x: None,
        variable,
        weak and plain,
        plain and not weak,
    )


def library_class(cls: type) -> type | None:
    """Return the first class that a known library made, of a class and its bases."""
    mro: tuple[type, ...] = type.__getattribute__(cls, "__mro__")  # a metaclass may have code of its own
    return next((c for c in mro if library_of(_find_root(c)) is not None), None)


def own_attribute(base: type, name: str) -> Callable[[Any], Any]:
    """Return a getter of an attribute as `base` defines it; a subclass that overrides it is bypassed."""
    read: Callable[[Any], Any] = getattr(base, name).__get__
    return read


def _read_both(dtype: Callable[[Any], Any], ndim: Callable[[Any], Any]) -> Callable[[Any], Hashable]:
    return lambda x: (dtype(x), ndim(x))


def _read_subclass(
    read: Callable[[Any], Any], dtype: Callable[[Any], Any], ndim: Callable[[Any], Any]
) -> Callable[[Any], Operand | None]:
    """Return a function that reads an object by its dtype and its dimensions alone."""

    def operand(x: Any) -> Operand | None:
        found: Operand | None = read(dtype(x))
        return replace(found, tier="0d") if found is not None and ndim(x) == 0 else found

    return operand


def _count_dimensions(x: Any) -> int:
    """Return the number of dimensions, as far as a library's array gives it."""
    shape: Any = getattr(x, "shape", ())
    return len(shape) if isinstance(shape, tuple) else int(getattr(x, "ndim", 1))


def _find_root(cls: type) -> str:
    module: object = type.__getattribute__(cls, "__module__")
    return module.partition(".")[0] if isinstance(module, str) else ""


def _first_reader(own: Callable[[Any], Any], general: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a reader that asks the library's own reader, and then the standard's if that returns None."""

    def read(x: Any) -> Any:
        found = own(x)
        return general(x) if found is None else found

    return read


def _read_mark(read: Callable[[Any], Any]) -> Callable[[Any], Hashable]:
    """Return a function that reads an object as its mark. It returns None if the object holds no numbers."""

    def mark(x: Any) -> Hashable:
        try:
            found: Hashable = read(x)
        except TypelatticeError:  # JAX's keys of random numbers are such arrays
            return None
        return found

    return mark


def _size_reader(cls: type) -> Callable[[Any], int]:
    found = getattr(cls, "nbytes", None)
    if type(found) is GetSetDescriptorType and not hasattr(cls, "is_sparse"):  # written in C: a number
        return attrgetter("nbytes")
    if found is None and hasattr(cls, "_num_elements"):  # TensorFlow's
        return lambda x: x._num_elements() * x.dtype.size
    return _check_nbytes(attrgetter("nbytes")) if found is not None else lambda x: 0


def _check_nbytes(nbytes: Callable[[Any], Any]) -> Callable[[Any], int]:
    """Return the bytes of an array; 0 if it does not say, such as PyTorch's sparse ones."""

    def size(x: Any) -> int:
        with suppress(Exception):  # the program goes on, even if the attribute raises
            n = nbytes(x)
            return n if type(n) is int else 0
        return 0

    return size


class AnswersByClass(dict[type, T]):
    """A cache of the answers to a question about classes. The question is asked once a class."""

    def __init__(self, question: Callable[[type], T]) -> None:
        self.question = question

    def __missing__(self, cls: type) -> T:
        if len(self) >= MOST_CLASSES:
            self.clear()
        self[cls] = found = self.question(cls)
        return found


def of_library(cls: type) -> bool:
    """Return True if a class belongs to an array library."""
    return library_of(_find_root(cls)) is not None


WRAPPERS = ("nanobind", "pybind11_builtins", "_cython", "uarray")  # of functions in C++ and Cython


def is_function(cls: type) -> bool:
    """Return True if the objects of a class may be functions of a library, its own or wrapped for it."""
    return of_library(cls) or _find_root(cls).startswith(WRAPPERS)


def is_dtype(cls: type) -> bool:
    """Return True if the objects of a class are a library's dtypes."""
    return "dtype" in cls.__name__.lower() and library_class(cls) is not None


def joining(cls: type) -> str:
    """Return the operation of a class whose objects join the entries of their index, as `np.r_`; else ""."""
    return name_meaning(NameSort.JOINING_CLASS, cls.__name__, library_of(_find_root(cls))) or ""


def is_many(cls: type) -> bool:
    """Return True if an object of a class holds several results of a call."""
    return cls is list or cls is dict or issubclass(cls, tuple)


VALUE, TEXT, NUMBER, ARRAY, ITEMS, OTHER = range(6)  # the sorts of an argument of a call


def argument_sort(cls: type) -> int:
    """Return the sort of an argument by its class.

    It is a type or the like, a text, a Python number, an array, a sequence of arguments, or another.
    """
    if cls in PYTHON_KINDS:
        return NUMBER
    if cls is str:
        return TEXT
    if cls in (NoneType, EllipsisType) or issubclass(cls, type) or is_dtype(cls):
        return VALUE
    if kind_of(cls) is not None:
        return ARRAY
    return ITEMS if cls is tuple or cls is list else OTHER

