"""Frameworks: their arrays, scalars and dtypes read as operands, and DTypes as theirs.

Nothing here imports a framework: a reader is called with an object of one, which the program has imported by then.
"""
from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType

from typelattice.facts.dtypes import NATIVE, DType, DTypeError, dtype
from typelattice.facts.suggest import nearest
from typelattice.operands.operand import Operand
from typelattice.operands.reading import READERS, Reader, forget

ROOTS = {  # root module of a type -> the adapter that knows it
    "numpy": "numpy", "ml_dtypes": "numpy", "dask": "dask", "jax": "jax", "jaxlib": "jax",
    "torch": "torch", "tensorflow": "tensorflow", "__array_namespace__": "array_api",
}


def register() -> None:
    """Makes the adapters known; each is loaded when its first object comes by."""
    for root, name in ROOTS.items():
        READERS[root] = lambda name=name: reader(name)  # type: ignore[misc]
        NATIVE[root] = lambda d, name=name: adapter(name).native(d)  # type: ignore[misc]
    forget()


def reader(name: str) -> Reader:
    """The reader of an adapter: its functions `read` and `mark_of`."""
    found = adapter(name)
    return Reader(found.read, found.mark_of)


@cache
def adapter(name: str) -> ModuleType:
    return import_module(f"typelattice.operands.adapters.{name}")


def native(d: object, namespace: ModuleType | str) -> object:
    """The dtype as a framework's own: `native("bfloat16", torch)` is torch.bfloat16.

    Raises DTypeError where the framework has no such dtype, TypeError where it is no array namespace.
    """
    found = dtype(d)
    name = namespace if isinstance(namespace, str) else getattr(namespace, "__name__", "")
    root = name.partition(".")[0]
    if root in ROOTS and root != "__array_namespace__":
        return NATIVE[root](found)
    module = sys.modules.get(name) if isinstance(namespace, str) else namespace
    if module is None or not hasattr(module, "float32"):
        what = f"{name or namespace!r} is no array namespace known here"
        raise TypeError(f"{what}{nearest(name, ROOTS)}; give a module such as numpy")
    return attribute(found, module)


def attribute(d: DType, module: object) -> object:
    """The dtype as the attribute of that name."""
    try:
        return getattr(module, d.name)
    except AttributeError:
        raise DTypeError(f"{getattr(module, '__name__', module)} has no dtype {d}; cast to one that it has") from None


def known(name: str, framework: str) -> DType:
    """The DType of a framework's dtype of that name."""
    try:
        return dtype(name)
    except DTypeError:
        what = f"{framework}'s dtype {name[:60]!r} is in no promotion table"
        raise DTypeError(f"{what}; tables are of numbers: convert it first") from None


__all__ = ["Operand", "adapter", "attribute", "known", "native", "register"]
