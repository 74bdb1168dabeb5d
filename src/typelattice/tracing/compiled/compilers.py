"""The libraries that compile functions, each a file of this folder, and which of them a class belongs to."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from typelattice.facts.libraries import file_of, library_of
from typelattice.tracing.compiled.graph import Graph


class Compiler(Protocol):
    """What the file of a library says of its compiled functions and of what stands for arrays in them."""

    LIBRARY: str

    def is_compiled(self, cls: type) -> bool:
        """Whether the objects of a class are compiled functions."""

    def is_own(self, function: Any) -> bool:
        """Whether a compiled function is the library's own."""

    def takes_apart(self, function: Any) -> bool:
        """Whether a plain function of the library's that no operation is can be read as a compiled one."""

    def state(self, function: Any) -> Hashable:
        """What the graph of a function depends on beside its arguments."""

    def is_tracer(self, cls: type) -> bool:
        """Whether the objects of a class stand for arrays while a function is compiled."""

    def variable(self, x: Any) -> Any:
        """The variable that such an object stands for."""

    def raw(self, variable: Any) -> Any:
        """What `variable` gives for a variable of a graph."""

    def leaves(self, x: Any) -> list[Any]:
        """The leaves of nested arguments or results, in the order of a graph's inputs and outputs."""

    def graph(self, function: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Graph | None:
        """What a function computes of arguments with which it was called; None where that is not known."""


def compiler(cls: type) -> Any:
    """What the library of a class says of compiled functions, a Compiler; None of a library that has none."""
    module: object = type.__getattribute__(cls, "__module__")
    return _compiler_in(module) if isinstance(module, str) else None


def _compiler_in(module: str) -> Any:
    library = library_of(module.partition(".")[0])
    return _compiler_of(library) if library is not None else None


@cache
def _compiler_of(library: str) -> Any:
    """What a library says of compiled functions; the file is looked for once, which takes long."""
    path = f"{__package__}.{file_of(library)}"
    return import_module(path) if find_spec(path) is not None else None


def compiler_by_module(function: Any) -> Any:
    """What the library of a plain function says of it, if that can take it apart; else None."""
    module = getattr(function, "__module__", None)
    found = _compiler_in(module) if isinstance(module, str) else None
    return found if found is not None and found.takes_apart(function) else None


def compiler_of_functions(cls: type) -> Any:
    """What the library of a class of compiled functions says of them; None of any other class."""
    found = compiler(cls)
    return found if found is not None and found.is_compiled(cls) else None
