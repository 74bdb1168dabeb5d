"""Frameworks: their arrays, scalars and dtypes read as operands, and DTypes as theirs.

No framework is imported here. An adapter is loaded for an object, so the program has imported its framework
already.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import NATIVE_DTYPE_MAKERS, DType, DTypeError, dtype
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.operands.read_objects import (
    NAMESPACE_ATTRIBUTE,
    READER_FINDERS,
    ObjectReader,
    clear_reader_cache,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NotImportedError(TypelatticeError, TypeError):
    """A framework that the program names but has not imported."""


def register_adapters() -> None:
    """Register the adapters. Each is loaded when its first object is read."""
    NATIVE_DTYPE_MAKERS["numpy"] = lambda d: native(d, "numpy")
    READER_FINDERS.append(reader_of)
    clear_reader_cache()


def reader_of(root: str) -> ObjectReader | None:
    """Return the reader for objects from a root module, or None if no adapter knows their library."""
    found = find_adapter(root)
    if found is None:
        return None
    from typelattice.core.registry.libraries import library_of  # not needed as long as operands are strings

    own_scalars = getattr(found, "OWN_SCALARS", ())
    return ObjectReader(found.read, found.cache_key_of, library_of(root) or "", own_scalars)


@lru_cache(maxsize=256)
def find_adapter(root: str) -> ModuleType | None:
    """Return the adapter for a root module, the file named after its library, or None without one."""
    from importlib.util import find_spec  # operands as strings need neither

    from typelattice.core.registry.libraries import file_of, library_of

    library = "array-api" if root == NAMESPACE_ATTRIBUTE else library_of(root)
    path = f"{__name__}.{file_of(library)}" if library else ""
    return import_module(path) if path and find_spec(path) else None


def native(d: object, namespace: ModuleType | str) -> object:
    """Return the dtype as a framework's own: `native("bfloat16", torch)` is torch.bfloat16.

    Raises DTypeError if the framework lacks the dtype. Raises NotImportedError, a TypeError, if the object is
    no array namespace, or if the program has not imported the framework that a string names.

    >>> import numpy
    >>> native("int8", numpy)
    dtype('int8')
    """
    found = dtype(d)
    try:
        name = namespace if type(namespace) is str else str(getattr(namespace, "__name__", ""))
        has_dtypes = hasattr(namespace, "float32")
    except Exception:  # an object may raise anything; no array namespace does
        name, has_dtypes = "", False
    root = name.partition(".")[0]
    own = find_adapter(root)
    if own is not None:
        theirs: object = own.native(found)
        return theirs
    module = sys.modules.get(name) if type(namespace) is str else namespace
    if module is None or not (has_dtypes if module is namespace else hasattr(module, "float32")):
        from typelattice.core.registry.libraries import libraries

        what = f"{name or f'an object of type {type(namespace).__name__}'} is no array namespace known here"
        known = [module for library in libraries().values() for module in library.modules]
        raise NotImportedError(f"{what}{spelling_hint(name, known)}; give a module such as numpy")
    return dtype_attribute(found, module)


def native_like(d: DType, given: Sequence[object], preferred: str = "") -> object:
    """Return the dtype as the framework's own that the objects belong to.

    `preferred` is the root module of the framework that counts if the objects belong to several. Without one,
    and if no object belongs to a framework, the DType is returned. Raises DTypeError if the framework lacks
    the dtype.

    >>> import numpy
    >>> native_like(dtype("int8"), [numpy.dtype("bool"), "int8"]), native_like(dtype("int8"), [1, "int8"])
    (dtype('int8'), int8)
    """
    owners = [(adapter, x) for x in given if (adapter := _adapter_of(x))]
    own = find_adapter(preferred) if preferred else None
    chosen = [(adapter, x) for adapter, x in owners if adapter is own] or owners
    if not chosen or any(adapter is not chosen[0][0] for adapter, _ in chosen):
        return d
    adapter, x = chosen[0]
    found: object = adapter.native_like(d, x) if hasattr(adapter, "native_like") else adapter.native(d)
    return found


def _adapter_of(obj: object) -> ModuleType | None:
    """Return the adapter of an object's framework, or None without one."""
    cls = obj if isinstance(obj, type) else type(obj)
    roots = [ancestor.__module__.partition(".")[0] for ancestor in cls.__mro__]
    if hasattr(cls, NAMESPACE_ATTRIBUTE):
        roots.append(NAMESPACE_ATTRIBUTE)
    return next((adapter for root in roots if (adapter := find_adapter(root))), None)


def find_module(module: str) -> Any:
    """Return a framework's module, if the program has imported it. Raises NotImportedError if it has not."""
    if module not in sys.modules:
        raise NotImportedError(f"{module} is not imported: import it, or give a module that is")
    return sys.modules[module]


def dtype_attribute(wanted_dtype: DType, module: object) -> object:
    """Return the dtype as the attribute of that name."""
    try:
        return getattr(module, wanted_dtype.name)
    except AttributeError:
        raise DTypeError(
            f"{getattr(module, '__name__', module)} has no dtype {wanted_dtype}; cast to one that it has"
        ) from None


def read_by_dtype(obj: Any, framework: str) -> Operand | None:
    """Read an array by its dtype and dimensions, never by its values, or return None without a dtype."""
    d = getattr(obj, "dtype", None)
    if d is None:
        return None
    return operand_of_dtype(dtype_named(d.name, framework), tier="0d" if obj.ndim == 0 else "array")


def dtype_named(name: str, framework: str) -> DType:
    """Return the DType of a framework's dtype of that name."""
    try:
        return dtype(name)
    except DTypeError:
        what = f"{framework}'s dtype {name[:60]!r} is in no promotion table"
        raise DTypeError(f"{what}; tables are of numbers: convert it first") from None


__all__ = [
    "NotImportedError",
    "Operand",
    "dtype_attribute",
    "dtype_named",
    "find_adapter",
    "find_module",
    "native",
    "native_like",
    "read_by_dtype",
    "register_adapters",
]
