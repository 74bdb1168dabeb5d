"""Lookup of the library that compiles a function. Each library that compiles functions has a file here."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from typelattice.facts.libraries import file_of, library_of
from typelattice.tracing.compiled.graph import Graph


class Compiler(Protocol):
    """The interface of a library's file: its compiled functions and the tracers in them."""

    LIBRARY: str

    def is_compiled(self, cls: type) -> bool:
        """Return True if the objects of a class are compiled functions."""

    def is_own(self, function: Any) -> bool:
        """Return True if a compiled function is the library's own."""

    def takes_apart(self, function: Any) -> bool:
        """Return True if a plain library function that is no operation can be read as a compiled one."""

    def state(self, function: Any) -> Hashable:
        """Return the state that the graph of a function depends on, besides its arguments."""

    def is_tracer(self, cls: type) -> bool:
        """Return True if the objects of a class are tracers: they stand for arrays during compilation."""

    def variable(self, x: Any) -> Any:
        """Return the variable that a tracer stands for."""

    def raw(self, variable: Any) -> Any:
        """Return the object that `variable` gives for a variable of a graph."""

    def leaves(self, x: Any) -> list[Any]:
        """Return the leaves of nested arguments or results, in the order of a graph's inputs and outputs."""

    def graph(self, function: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Graph | None:
        """Return the graph of a function for arguments of an earlier call; None if the graph is not known."""


def compiler(cls: type) -> Any:
    """Return the Compiler of the library that a class belongs to; None if the library has none."""
    module: object = type.__getattribute__(cls, "__module__")
    return _compiler_in(module) if isinstance(module, str) else None


def _compiler_in(module: str) -> Any:
    library = library_of(module.partition(".")[0])
    return _compiler_of(library) if library is not None else None


@cache
def _compiler_of(library: str) -> Any:
    """Return the Compiler of a library, or None. The search for its file is slow, so it happens once."""
    path = f"{__package__}.{file_of(library)}"
    return import_module(path) if find_spec(path) is not None else None


def compiler_by_module(function: Any) -> Any:
    """Return the Compiler of a plain function's library if it can read the function; else None."""
    module = getattr(function, "__module__", None)
    found = _compiler_in(module) if isinstance(module, str) else None
    return found if found is not None and found.takes_apart(function) else None


def compiler_of_functions(cls: type) -> Any:
    """Return the Compiler of a class of compiled functions; None for any other class."""
    found = compiler(cls)
    return found if found is not None and found.is_compiled(cls) else None
