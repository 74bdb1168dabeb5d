"""Array classes: how objects of a class are told apart, measured and linked. A class is looked at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from types import EllipsisType, GetSetDescriptorType, NoneType
from typing import Any, TypeVar

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.libraries import library_of
from typelattice.operands.adapters import adapter
from typelattice.operands.objects import STANDARD
from typelattice.operands.operand import SCALARS, Operand
from typelattice.tracing.compiled.compilers import compiler

MOST_CLASSES = 4096  # remembered; a program that makes classes without end must not fill the memory
LONG = 64  # items of a list that are looked at, each; a step of arrays in a longer one is opaque
ASKED = ("dtype", "shape")  # what every array class has
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """An array class of a library's.

    `mark` gives all that the operand depends on, but its value; `size` the bytes of an array; `weak` says
    whether its objects take weak references. `variable` is there of what stands for arrays while a function
    is compiled: it gives what the library's graph of that function knows them by. Of other objects a link
    holds no more than a weak reference, if `direct`, or the object itself, which takes none, if `kept`.
    """

    library: str
    mark: Callable[[Any], Hashable]
    size: Callable[[Any], int]
    weak: bool
    read: Callable[[Any], Operand | None]
    variable: Callable[[Any], Any] | None
    direct: bool
    kept: bool

    def stands_for(self, x: Any) -> Any:
        """What `variable` gives; None where there is none."""
        return self.variable(x) if self.variable is not None else None


class Kinds(dict[type, "ArrayKind | None"]):
    """The array kind of each class; None of a class that is no array's.

    An object is judged by its class alone: to ask an object of the program for its shape would run its code.
    """

    closed = False

    def __missing__(self, cls: type) -> ArrayKind | None:
        if len(self) >= MOST_CLASSES:
            self.clear()
        self[cls] = found = None if self.closed else kind_of(cls)
        return found

    def close(self) -> None:
        """From now on every class is none, so that witnesses say nothing."""
        self.closed = True
        self.clear()


def kind_of(cls: type) -> ArrayKind | None:
    """The array kind of a class."""
    if not all(hasattr(cls, name) for name in ASKED):
        return None
    library = next((name for c in cls.__mro__ if (name := library_of(_root(c)))), None)
    own = adapter(next((_root(c) for c in cls.__mro__ if library_of(_root(c))), ""))
    general = adapter(STANDARD) if hasattr(cls, STANDARD) else None
    known = own or general
    if known is None:
        return None
    read = _first(own.read, general.read) if own is not None and general is not None else known.read
    mark = known.mark_of(cls) or _read_mark(read)
    base = next((c for c in cls.__mro__ if library_of(_root(c))), cls)
    if base is not cls and hasattr(base, "nbytes"):  # a subclass of the program's, whose code must not run
        mark = _plain_mark(base) or mark
    weak = getattr(cls, "__weakrefoffset__", 0) > 0
    compiles = compiler(base)
    variable = compiles.variable if compiles is not None and compiles.is_tracer(cls) else None
    plain = variable is None
    return ArrayKind(
        library or _root(cls), mark, _size(cls), weak, read, variable, weak and plain, plain and not weak
    )


def _root(cls: type) -> str:
    module: object = type.__getattribute__(cls, "__module__")
    return module.partition(".")[0] if isinstance(module, str) else ""


def _first(own: Callable[[Any], Any], general: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a library's own reader says; of what it leaves to that of the standard, what this says."""

    def read(x: Any) -> Any:
        found = own(x)
        return general(x) if found is None else found

    return read


def _read_mark(read: Callable[[Any], Any]) -> Callable[[Any], Hashable]:
    """The mark of a class whose objects are read each time; None for one that holds no numbers."""

    def mark(x: Any) -> Hashable:
        try:
            found: Hashable = read(x)
        except TypelatticeError:  # JAX's keys of random numbers are such arrays
            return None
        return found

    return mark


def _plain_mark(base: Any) -> Callable[[Any], Hashable] | None:
    """The mark of a library's own class, read past what a subclass says."""
    try:
        dtype, ndim = base.dtype.__get__, base.ndim.__get__
    except AttributeError:
        return None
    return lambda x: (dtype(x), ndim(x))


def _size(cls: type) -> Callable[[Any], int]:
    found = getattr(cls, "nbytes", None)
    if type(found) is GetSetDescriptorType and not hasattr(cls, "is_sparse"):  # written in C: a number
        return attrgetter("nbytes")
    if found is None and hasattr(cls, "_num_elements"):  # TensorFlow's
        return lambda x: x._num_elements() * x.dtype.size
    return _checked if found is not None else lambda x: 0


def _checked(x: Any) -> int:
    """The bytes of an array; 0 where it does not say, as one of unknown lengths, or PyTorch's sparse ones."""
    with suppress(Exception):  # the program goes on, whatever a library makes of the question
        n = x.nbytes
        return n if type(n) is int else 0
    return 0


class Asked(dict[type, T]):
    """What a question about a class was answered; each class is asked once."""

    def __init__(self, question: Callable[[type], T]) -> None:
        self.question = question

    def __missing__(self, cls: type) -> T:
        if len(self) >= MOST_CLASSES:
            self.clear()
        self[cls] = found = self.question(cls)
        return found


def of_library(cls: type) -> bool:
    """Whether a class is an array library's."""
    return library_of(_root(cls)) is not None


WRAPPERS = ("nanobind", "pybind11_builtins", "_cython")  # what wraps functions in C++ and Cython


def is_function(cls: type) -> bool:
    """Whether the objects of a class may be functions of a library, its own or wrapped for it."""
    return of_library(cls) or _root(cls).startswith(WRAPPERS)


def is_dtype(cls: type) -> bool:
    """Whether the objects of a class are a library's dtypes."""
    return "dtype" in cls.__name__.lower() and any(of_library(c) for c in cls.__mro__)


JOINING = {"RClass": "hstack", "CClass": "column_stack"}  # the classes of NumPy's `r_` and `c_`


def joining(cls: type) -> str:
    """The operation that an object of a class is which joins the entries of its index; "" of any other."""
    return JOINING.get(cls.__name__, "") if of_library(cls) else ""


def is_many(cls: type) -> bool:
    """Whether the objects of a class are several results of a call."""
    return cls is list or cls is dict or issubclass(cls, tuple)


VALUE, TEXT, NUMBER, ARRAY, ITEMS, OTHER = range(6)  # what an argument of a call is


def argument_sort(cls: type) -> int:
    """What an argument of a class is: a type or the like, a text, a Python number, an array, a sequence of
    arguments, or another.
    """
    if cls in SCALARS:
        return NUMBER
    if cls is str:
        return TEXT
    if cls in (NoneType, EllipsisType) or issubclass(cls, type) or is_dtype(cls):
        return VALUE
    if kind_of(cls) is not None:
        return ARRAY
    return ITEMS if cls is tuple or cls is list else OTHER

