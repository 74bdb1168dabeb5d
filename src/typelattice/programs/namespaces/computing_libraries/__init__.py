"""Array libraries that namespaces compute with: each file has all that is particular to one of them.

A file has the name of its library in the registry, core/registry/libraries.txt. Its class is LIBRARY. A
library without a file is used according to the standard.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import cast

from typelattice.core.registry.libraries import file_of, library_of
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary
from typelattice.programs.namespaces.namespace_error import NamespaceError

KNOWN_LIBRARIES_ADVICE = "give a module such as numpy, torch, jax.numpy, dask.array or cupy"


def check_library(module: object) -> None:
    """Raise NamespaceError for an object that is no key of a table, as modules and namespaces are."""
    try:
        hash(module)
    except Exception as e:
        what = f"an object of {type(module).__name__} cannot be an array library ({type(e).__name__})"
        raise NamespaceError(f"{what}; {KNOWN_LIBRARIES_ADVICE}") from None


def find_library(module: ModuleType) -> ComputingLibrary:
    """The array library of a module. Raises NamespaceError for an object that is not a library, and without
    array-api-compat."""
    array_api_compat = _array_api_compat()
    try:
        sample = module.ones(1)
        xp = array_api_compat.array_namespace(sample)
    except Exception:  # an object that is no module may raise anything
        name = vars(module)["__name__"] if type(module) is ModuleType else type(module).__name__
        what = f"{name} is no array library with the array API standard"
        raise NamespaceError(f"{what}; {KNOWN_LIBRARIES_ADVICE}") from None
    package = type(sample).__module__.partition(".")[0]
    mutable = bool(array_api_compat.is_writeable_array(sample))
    return _find_library_class(package)(module, xp, package, mutable)


def array_api_module(module: ModuleType) -> ModuleType:
    """Return the functions of a library under the standard's names."""
    found: ModuleType = _array_api_compat().array_namespace(module.ones(1))
    return found


def _find_library_class(package: str) -> type[ComputingLibrary]:
    """Return the class for a library: its own, in the file of its name, or the common class."""
    path = f"{__name__}.{file_of(library_of(package) or package)}"
    if find_spec(path) is None:
        return ComputingLibrary
    return cast("type[ComputingLibrary]", import_module(path).LIBRARY)  # the file may import its library


def find_graph_library(values: Sequence[object]) -> ComputingLibrary | None:
    """Return the library whose graph has one of these values, or None if all are arrays."""
    for value in values:
        root = type(value).__module__.partition(".")[0]
        found = _find_library_class(root) if library_of(root) else ComputingLibrary
        if found.builds_graphs:
            return found(sys.modules[root], None, root, False)
    return None


def module_of(arrays: Sequence[object]) -> ModuleType:
    """Return the module with the functions for some arrays. Raises NamespaceError for several libraries."""
    try:
        found: ModuleType = _array_api_compat().array_namespace(*arrays)
    except (TypeError, AttributeError) as e:  # for an object that only claims to be an array
        what = f"these arrays belong to different libraries ({e})"
        raise NamespaceError(f"{what}; take all over to one, as with from_dlpack") from None
    return found


def _array_api_compat() -> ModuleType:
    try:
        return import_module("array_api_compat")
    except ImportError:
        why = "array-api-compat gives array libraries one form"
        raise NamespaceError(f"{why}: pip install array-api-compat") from None
