"""A namespace of the array API standard that computes with one library and promotes by one system."""
from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.system import System
from typelattice.core.operations.operations import COMPARING_CLASSES, OPERATIONS, OPERATORS
from typelattice.core.system_files.reader import system as find_system
from typelattice.core.system_files.system_text import systems
from typelattice.programs.namespaces.array import STANDARD_VERSIONS, Array
from typelattice.programs.namespaces.assignment import element_methods, in_place_maker
from typelattice.programs.namespaces.computing_libraries import check_library
from typelattice.programs.namespaces.computing_libraries import find_library as find_library
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary
from typelattice.programs.namespaces.creation import make_creation_functions
from typelattice.programs.namespaces.function_makers import find_maker, make_promoting_functions
from typelattice.programs.namespaces.inspection import NamespaceInfo, make_inspection_functions
from typelattice.programs.namespaces.namespace_context import NamespaceContext
from typelattice.programs.namespaces.own_operations import make_own_operations
from typelattice.programs.namespaces.recipe import RecipeMaker
from typelattice.programs.namespaces.standard_signatures import name_function, read_standard
from typelattice.programs.namespaces.system_key import system_content

if TYPE_CHECKING:
    from typelattice.programs.namespaces.standard import FFT, Functions, Linalg

    Members = Functions[Array]
else:
    Members = object  # a namespace sets the members that its library has, each as an attribute

CONSTANT_BY_NAME = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}


class Namespace(Members):
    """An array-API namespace: the members that the standard names and the library has, and `system`.

    Made by `typelattice.namespace`. Write dtypes beyond the standard by name:
    `xp.zeros(2, dtype="bfloat16")`. All dtypes of the system that the library has are members too, and so are
    operations that the standard does not name, though `dir` does not show them. Source: https://data-apis.org/array-api/2025.12/

    >>> import numpy, typelattice
    >>> xp = typelattice.namespace("torch", numpy)
    >>> xp.mean(xp.asarray([1.0, 2.0])), xp.system
    (<float32 under torch over numpy: 1.5>, <system torch>)
    """

    def __init__(
        self,
        system: System,
        library: ComputingLibrary,
        to_numpy: bool,
        operations: Mapping[str, Callable[..., Any]] = {},
    ) -> None:
        self.__name__ = f"typelattice.namespace({system.name!r}, {library.name})"
        arrays = type("Array", (Array,), {
            "__slots__": (), "__module__": __name__, "__reduce__": _reduce_array,
            "_space": self, "_recipes": RecipeMaker(system, library), "_to_numpy": to_numpy,
            "_operations": operations,
        })  # fmt: skip
        self._context = context = NamespaceContext(system, library, arrays)
        functions = make_promoting_functions(context)
        for name, method in (*make_operators(context, functions).items(), *element_methods(context).items()):
            setattr(arrays, name, method)
        library.register_array_class(arrays, _flatten_array, context.rebuild_array)
        found = {
            **functions,
            **(own := make_own_operations(context, operations)),
            **make_creation_functions(context),
            **make_inspection_functions(context),
            **context.dtypes,
            **{d.name: d for d in system.requested if isinstance(d, DType) and library.has_dtype(d)},
            **CONSTANT_BY_NAME,
        }
        further = {*functions, *own, *context.dtypes} - {*read_standard().linalg, *read_standard().fft}
        shown = {*read_standard().main, *further}
        vars(self).update({name: x for name, x in found.items() if name in shown})
        self.linalg = cast("Linalg[Array]", Extension(found, read_standard().linalg))
        self.fft = cast("FFT[Array]", Extension(found, read_standard().fft))
        self.system, self.__array_api_version__ = system, STANDARD_VERSIONS[-1]

    def __dir__(self) -> list[str]:
        """List the members that the standard names, and `system`."""
        return [name for name in read_standard().main if hasattr(self, name)]

    def __repr__(self) -> str:
        return repr(self._context)

    def __reduce__(self) -> tuple[Any, ...]:
        system = self.system
        named = system.name in systems(versions=True) and find_system(system.name) is system
        arrays, library = self._context.Array, self._context.library.name
        how = arrays._to_numpy, dict(arrays._operations)
        return _rebuild_namespace, (system.name if named else system, library, *how)

    def __deepcopy__(self, memo: object) -> Namespace:
        return self

    def __array_namespace_info__(self) -> NamespaceInfo:
        """Return the inspection object of the namespace: its dtypes, default dtypes and devices."""
        return NamespaceInfo(self._context)


class Extension:
    """`linalg` or `fft`: the functions of these names that the library has."""

    def __init__(self, members: Mapping[str, object], names: Iterable[str]) -> None:
        vars(self).update({name: members[name] for name in names if name in members})

    def __dir__(self) -> list[str]:
        return [*vars(self)]


def make_operators(
    context: NamespaceContext, functions: dict[str, Callable[..., Any]]
) -> dict[str, Callable[..., Any]]:
    """Build the methods of operators: `__add__`, `__radd__` and `__iadd__` for `+`, and so on."""
    named_there = [op for op in OPERATIONS.values() if op.name in functions]
    found = {op.special_method: functions[op.name] for op in named_there if op.special_method}
    for op in OPERATORS.values():
        build = find_maker(op)
        if op.special_method is None or build is None or op.function not in functions:
            continue
        if op.is_in_place:
            # A file may say that `x += y` computes in another dtype than `x + y`. A library does not.
            value = found[op.special_method.replace("__i", "__", 1)]
            value = value if context.recipes.is_own_system else build(context, op.name)
            found[op.special_method] = in_place_maker(context, op.name, value)
            continue
        found[op.special_method] = function = name_function(build(context, op.name), op.function)
        if op.max_operands == 2 and op.operation_class not in COMPARING_CLASSES:
            found[op.special_method.replace("__", "__r", 1)] = _reflected_maker(function)
    return found


def _reflected_maker(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)


def namespace(
    system: str | os.PathLike[str] | System,
    library: ModuleType,
    *,
    to_numpy: bool = False,
    operations: Mapping[str, Callable[..., Any]] = {},
) -> Namespace:
    """Return an array-API namespace that computes with a library and promotes by a system.

    `library`: numpy, torch, jax.numpy, dask.array, cupy, or another with the standard's functions. The same
    two give the same namespace, and only arrays of one namespace can be combined. Two systems are the same if
    their files have the same content, even if a file was read twice, or in another process. A namespace that
    the program no longer holds is forgotten, except the last few.

    `np.asarray(x)` raises an error for an array. Otherwise code for NumPy would accept arrays that it does
    not know, and continue under NumPy's rules. The error names the function. `np.asarray(x.bare)` converts
    one array. `to_numpy=True` allows this for all.

    `operations` has functions of the library's arrays for operations that the system's file defines. The file
    says their dtypes, and these functions compute the values: `{"quantize": my_quantize}`.

    Raises UnknownSystemError or FormatError for the system, NamespaceError for the library or an operation.

    >>> import numpy
    >>> xp = namespace("jax", numpy)
    >>> xp.result_type(xp.int32, xp.float32), xp is namespace("jax", numpy)
    (float32, True)
    """
    found = find_system(system)
    check_library(library)
    key = system_content(found), library, to_numpy, frozenset(operations.items())
    with NAMESPACE_LOCK:
        made = NAMESPACE_BY_KEY.get(key)
        if made is None:
            made = NAMESPACE_BY_KEY[key] = Namespace(
                found, find_library(library), to_numpy, dict(operations)
            )
        if made not in RECENT_NAMESPACES:
            RECENT_NAMESPACES.append(made)
    return made


NAMESPACE_BY_KEY: WeakValueDictionary[tuple[Hashable, ...], Namespace] = WeakValueDictionary()
RECENT_NAMESPACES: deque[Namespace] = deque(
    maxlen=64
)  # kept, so that a repeated request does not make it again
NAMESPACE_LOCK = Lock()  # two threads at the same moment must get the same namespace


def _rebuild_namespace(
    system: System | str, library: str, to_numpy: bool, operations: Mapping[str, Callable[..., Any]]
) -> Namespace:
    """Restore a pickled namespace, or return the existing one if its system is built in."""
    return namespace(system, import_module(library), to_numpy=to_numpy, operations=operations)


def _flatten_array(x: Array) -> tuple[Any, tuple[DType, bool]]:
    """Split an array of a namespace into the library's array and its other facts: dtype and weakness."""
    return x._data, (x.dtype, x.weak)


def _reduce_array(x: Array) -> tuple[Any, ...]:
    """Return the function and arguments that copy and pickle an array."""
    return _rebuild_array, (x._space, x._data, x.dtype, x.weak)


def _rebuild_array(space: Namespace, data: Any, dtype: DType, weak: bool) -> Array:
    """Restore a copied or pickled array. Raises NamespaceError if the library changed its dtype."""
    library = space._context.library
    return space._context.wrap(library.check_dtype(data, library.native_dtype(dtype)), dtype, weak)
