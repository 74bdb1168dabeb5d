"""Array classes: how to identify, measure and link their objects. A class is inspected once."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from types import EllipsisType, GetSetDescriptorType, NoneType, WrapperDescriptorType
from typing import Any, TypeVar

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.errors.outside_errors import raise_if_from_outside
from typelattice.core.operands.adapters import find_adapter
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand
from typelattice.core.operands.read_objects import NAMESPACE_ATTRIBUTE
from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.tracing.run_data.compilers import find_compiler
from typelattice.tracing.run_data.producing_steps import SameObject

globals()["__builtins__"] = {**vars(builtins)}  # copied, because a program may replace some of them
MAX_CLASSES = 4096  # remembered classes, limited because a program may make classes without end
MAX_LIST_ITEMS = 64  # items of a list that are examined (a step with arrays in a longer list is opaque)
REQUIRED_ATTRIBUTES = ("dtype", "shape")  # the attributes of every array class
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArrayClass:
    """An array class of a library, or a subclass that the program derived from one.

    - `cache_key` gives everything that decides the operand except its value. `size` gives the bytes of an
      array.
    - `base_of` gives the array that an array is a view of, or None.
    - `takes_weak_references`: its objects can be weakly referenced. A link holds a weak reference
      (`is_linked_weakly`), or else a mark (`mark_of`) that tells the object from a later one with its id.
    - `dtype_of_link`: the dtype to compare with at each use, or None if the dtype of an object cannot change.
    - `keeps_dtype`: the dtype stays until the object itself changes. Keras computes that of a variable.
    - `variable` is set for objects that stand for arrays while a function is compiled. It gives the name of
      the array in the library's graph.
    """

    library: str
    cache_key: Callable[[Any], Hashable]
    size: Callable[[Any], int]
    takes_weak_references: bool
    read: Callable[[Any], Operand | None]
    dtype: Callable[[Any], Any]
    dimensions: Callable[[Any], int]
    base_of: Callable[[Any], Any]
    variable: Callable[[Any], Any] | None
    is_linked_weakly: bool
    mark_of: Callable[[Any], Any] | None
    dtype_of_link: Callable[[Any], Any]
    keeps_dtype: bool

    def variable_of(self, x: Any) -> Any:
        """Return the result of `variable`, or None if the kind has no such function."""
        return self.variable(x) if self.variable is not None else None


class ArrayClasses(dict[type, "ArrayClass | None"]):
    """The array kind of each class, or None for a class that is not an array class.

    Only the class of an object decides: reading the shape of a program's object would run its code.
    """

    is_closed = False
    leaves_out_resizable = False
    """True if the objects of classes with a method `resize` must have no link."""

    def __missing__(self, cls: type) -> ArrayClass | None:
        if len(self) >= MAX_CLASSES:
            self.clear()
        if self.is_closed:
            return None
        found = array_kind(cls)
        if found is not None and self.leaves_out_resizable and hasattr(cls, "resize"):
            found = replace(found, is_linked_weakly=False)
        self[cls] = found
        return found

    def close(self) -> None:
        """Map every class to None from now on, so that witnesses record nothing. Keep no class alive."""
        self.is_closed = True
        self.clear()


def array_kind(cls: type) -> ArrayClass | None:
    """Return the array kind of a class, or None if it does not derive from a known library's arrays.

    A subclass of the program may have attributes of its own, and their code must not run. So its objects are
    read by the attributes of the library's class.
    """
    base = library_class(cls)
    if base is None or _is_without_shape(base, cls):
        return None
    library_adapter = find_adapter(_find_root(base))
    standard_adapter = find_adapter(NAMESPACE_ATTRIBUTE) if hasattr(base, NAMESPACE_ATTRIBUTE) else None
    any_adapter = library_adapter or standard_adapter
    if any_adapter is None:
        return None
    read = (
        _first_reader(library_adapter.read, standard_adapter.read)
        if library_adapter is not None and standard_adapter is not None
        else any_adapter.read
    )
    cache_key = any_adapter.cache_key_of(base) or _cache_key_reader(read)
    attribute: Callable[[str], Callable[[Any], Any]] = attrgetter
    dtype: Callable[[Any], Any] = attrgetter("dtype")
    size = _size_reader(base)
    if base is not cls:
        attribute = partial(getattr(any_adapter, "own_attribute", attribute_getter), base)
        dtype = _dtype_reader(base, attribute("dtype"))
        read = _subclass_reader(any_adapter.read, dtype, attribute("ndim"))
        cache_key = _dtype_and_ndim_reader(dtype, attribute("ndim"))
        size = _nbytes_reader(attribute("nbytes")) if hasattr(base, "nbytes") else size
    takes_weak_references = (
        getattr(base, "__weakrefoffset__", 0) > 0 or type.__getattribute__(cls, "__weakrefoffset__") > 0
    )
    variable = _variable_reader(base)
    is_array = variable is None
    dtypes_change = not getattr(any_adapter, "HAS_FIXED_DTYPES", False)
    base_name: str = getattr(any_adapter, "BASE_ATTRIBUTE", "base")
    return ArrayClass(
        library_of(_find_root(base)) or "",
        cache_key,
        size,
        takes_weak_references,
        read,
        dtype,
        _count_dimensions if base is cls else attribute("ndim"),
        attribute(base_name) if hasattr(base, base_name) else lambda x: None,
        variable,
        takes_weak_references and is_array,
        _mark_of_scalar(base) if is_array and not takes_weak_references else None,
        dtype if base is cls and is_array and dtypes_change else lambda x: None,
        type(getattr(base, "dtype", None)) is not property,
    )


def _is_without_shape(base: type, cls: type) -> bool:
    """Return True if the objects of a class have no dtype and shape, or not yet, as those of lazy modules."""
    if not all(hasattr(base, name) for name in REQUIRED_ATTRIBUTES):
        return True
    return bool(getattr(find_adapter(_find_root(base)), "is_without_shape", lambda cls: False)(cls))


def _variable_reader(cls: type) -> Callable[[Any], Any] | None:
    """Return a function that reads what an object stands for while a function is compiled, or None."""
    compiler_of_class = find_compiler(cls)
    if compiler_of_class is None or not compiler_of_class.is_tracer(cls):
        return None
    variable: Callable[[Any], Any] = compiler_of_class.variable
    return variable


def _mark_of_scalar(cls: type) -> Callable[[Any], Any]:
    """Return a function that marks an object: by the hash of its value, or by the object itself."""
    return hash if type(cls.__hash__) is WrapperDescriptorType else SameObject


def library_class(cls: type) -> type | None:
    """Return the first class that a known library made, of a class and its bases."""
    mro: tuple[type, ...] = type.__getattribute__(cls, "__mro__")  # a metaclass may have code of its own
    return next((c for c in mro if library_of(_find_root(c)) is not None), None)


def attribute_getter(base: type, name: str) -> Callable[[Any], Any]:
    """Return a getter of an attribute as `base` defines it. A subclass that overrides it is bypassed."""
    read: Callable[[Any], Any] = getattr(base, name).__get__
    return read


def _dtype_reader(base: type, dtype: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that reads a dtype, or None if the library leaves the attribute to subclasses.

    Then only code of the program knows the dtype: pandas' `ExtensionArray.dtype` raises.
    """
    if type(getattr(base, "dtype", None)) is not property:
        return dtype

    def read(x: Any) -> Any:
        try:
            return dtype(x)
        except Exception as e:
            raise_if_from_outside(e, lambda: dtype(x))
            return None

    return read


def _dtype_and_ndim_reader(
    dtype: Callable[[Any], Any], ndim: Callable[[Any], Any]
) -> Callable[[Any], Hashable]:
    return lambda x: (dtype(x), ndim(x))


def _subclass_reader(
    read: Callable[[Any], Any], dtype: Callable[[Any], Any], ndim: Callable[[Any], Any]
) -> Callable[[Any], Operand | None]:
    """Return a function that reads only the dtype and the dimensions of an object."""

    def operand(x: Any) -> Operand | None:
        seen = dtype(x)
        found: Operand | None = read(seen) if seen is not None else None
        return replace(found, tier="0d") if found is not None and ndim(x) == 0 else found

    return operand


def _count_dimensions(x: Any) -> int:
    """Return the number of dimensions, if a library's array states it."""
    shape: Any = getattr(x, "shape", ())
    return len(shape) if isinstance(shape, tuple) else int(getattr(x, "ndim", 1))


def _find_root(cls: type) -> str:
    module: object = type.__getattribute__(cls, "__module__")
    return module.partition(".")[0] if isinstance(module, str) else ""


def _first_reader(
    read_own: Callable[[Any], Any], read_standard: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Return a reader that tries the library's own reader, and then the standard's if that returns None."""

    def read(x: Any) -> Any:
        found = read_own(x)
        return read_standard(x) if found is None else found

    return read


def _cache_key_reader(read: Callable[[Any], Any]) -> Callable[[Any], Hashable]:
    """Return a function that gives an object its cache key, or None if the object holds no numbers."""

    def cache_key(x: Any) -> Hashable:
        try:
            found: Hashable = read(x)
        except TypelatticeError:  # JAX's keys of random numbers have a dtype that is not read
            return None
        return found

    return cache_key


def _size_reader(cls: type) -> Callable[[Any], int]:
    found = getattr(cls, "nbytes", None)
    # An attribute written in C holds the number itself; a Python one may compute it.
    if type(found) is GetSetDescriptorType and not hasattr(cls, "is_sparse"):
        return attrgetter("nbytes")
    if found is None and hasattr(cls, "_num_elements"):  # TensorFlow counts elements in this way
        return lambda x: x._num_elements() * x.dtype.size
    return _nbytes_reader(attrgetter("nbytes")) if found is not None else lambda x: 0


def _nbytes_reader(nbytes: Callable[[Any], Any]) -> Callable[[Any], int]:
    """Return the bytes of an array, or 0 if it does not state them, such as PyTorch's sparse ones."""

    def size(x: Any) -> int:
        try:
            n = nbytes(x)
        except Exception as e:  # the program goes on, even if the attribute raises
            raise_if_from_outside(e, lambda: nbytes(x))
            return 0
        return n if type(n) is int else 0

    return size


class CachePerClass(dict[type, T]):
    """A cache of a function of classes. The function is called once for each class."""

    is_closed = False

    def __init__(self, compute_value: Callable[[type], T]) -> None:
        self.function = compute_value

    def __missing__(self, cls: type) -> T:
        if len(self) >= MAX_CLASSES:
            self.clear()
        found = self.function(cls)
        if not self.is_closed:
            self[cls] = found
        return found

    def close(self) -> None:
        """Keep no class alive from now on."""
        self.is_closed = True
        self.clear()


def is_of_library(cls: type) -> bool:
    """Return True if a class belongs to an array library."""
    return library_of(_find_root(cls)) is not None


# modules whose classes wrap C++ or Cython
WRAPPER_MODULES = ("nanobind", "pybind11_builtins", "_cython", "uarray")


def is_lasting_class(cls: type) -> bool:
    """Return True if a class belongs to Python or to an array library, and lives as long as the process."""
    return is_of_library(cls) or _find_root(cls) in sys.stdlib_module_names


def is_function(cls: type) -> bool:
    """Return True if the objects of a class may be functions of a library, its own or wrapped for it."""
    return is_of_library(cls) or _find_root(cls).startswith(WRAPPER_MODULES)


def is_dtype(cls: type) -> bool:
    """Return True if the objects of a class are a library's dtypes."""
    return "dtype" in cls.__name__.lower() and library_class(cls) is not None


def joining_operation(cls: type) -> str:
    """Return the operation of a class that joins the entries of its index, such as `np.r_`, or ""."""
    return name_meaning(NameSort.JOINING_CLASS, cls.__name__, library_of(_find_root(cls))) or ""


def holds_results(cls: type) -> bool:
    """Return True if an object of a class holds several results of a call."""
    return cls is list or cls is dict or issubclass(cls, tuple)


VALUE, TEXT, NUMBER, ARRAY, ITEMS, OTHER = range(6)  # the sorts of an argument of a call


def argument_sort(cls: type) -> int:
    """Return the sort of an argument by its class.

    It is a type or similar, a text, a Python number, an array, a sequence of arguments, or another.
    """
    if cls in KIND_BY_PYTHON_TYPE:
        return NUMBER
    if cls is str:
        return TEXT
    if cls in (NoneType, EllipsisType) or issubclass(cls, type) or is_dtype(cls):
        return VALUE
    if array_kind(cls) is not None:
        return ARRAY
    return ITEMS if cls is tuple or cls is list else OTHER
