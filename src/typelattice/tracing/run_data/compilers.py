"""Lookup of the library that compiles a function. Each library that compiles functions has a file here."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from typelattice.core.registry.libraries import file_of, library_of
from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.run_data.graph import Graph
from typelattice.tracing.run_data.operation_log import OperationLog


class CompilerAdapter:
    """The file of a library that compiles functions: its compiled functions, and the tracers in them.

    A file has `LIBRARY`, `is_compiled`, `leaves` and `graph`. This class has defaults for all else.
    """

    LIBRARY: str
    is_compiled: Callable[[type], bool]
    """Returns True if the objects of a class are compiled functions."""
    leaves: Callable[[Any], list[Any]]
    """Returns the leaves of nested arguments or results, in the order of a graph's inputs and outputs."""
    graph: Callable[[Any, Sequence[Any], Mapping[str, Any]], Graph | None]
    """Returns the graph of a function for arguments of an earlier call, or None if it is not known."""

    def __init__(self, file: ModuleType) -> None:
        vars(self).update(vars(file))

    def is_own(self, function: Any) -> bool:
        """Return True if a compiled function is the library's own."""
        return False

    def reads_plain_function(self, function: Any) -> bool:
        """Return True if a plain library function can be read like a compiled one. Operations cannot."""
        return False

    def graph_of_history(self, history: Any, function: Any, arguments_and_results: Any) -> Graph | None:
        """Return the graph of a call that has just returned, from the history of a dispatcher, or None."""
        return None

    def log_call(
        self, log: OperationLog, function: Any, args: Sequence[Any], keywords: Mapping[str, Any],
        call: SourceLocation | None,
    ) -> None:  # fmt: skip
        """Log the operations of a function for arguments of an earlier call, if the library keeps them."""

    def state(self, function: Any) -> Hashable:
        """Return the state that the graph of a function depends on, besides its arguments."""
        return None

    def is_tracer(self, cls: type) -> bool:
        """Return True if the objects of a class are tracers, which replace arrays during compilation."""
        return False

    def variable(self, tracer: Any) -> Any:
        """Return the variable that a tracer stands for."""
        return None

    def is_loop(self, function: Any) -> bool:
        """Return True if a plain function of the library compiles its function arguments."""
        return False

    def weak_type(self, argument: Any) -> tuple[Any, bool]:
        """Return the type of an argument that a function is compiled for, and whether that type is weak."""
        return type(argument), False

    def leaf_name(
        self, function: Any, args: Sequence[Any], keywords: Mapping[str, Any], leaf_number: int
    ) -> str:
        """Return the name of a leaf of the arguments, such as `x` or `state[0]`."""
        return f"argument {leaf_number + 1}"

    def tracer_object(self, variable: Any) -> Any:
        """Return the object that `variable` gives for a variable of a graph."""
        return variable


def find_compiler(cls: type) -> Any:
    """Return the Compiler of the library that a class belongs to, or None if the library has none."""
    module: object = type.__getattribute__(cls, "__module__")
    return _find_compiler_of_module(module) if isinstance(module, str) else None


def _find_compiler_of_module(module: str) -> Any:
    library = library_of(module.partition(".")[0])
    return _find_compiler_of_library(library) if library is not None else None


@cache
def _find_compiler_of_library(library: str) -> Any:
    """Return the Compiler of a library, or None. The search for its file is slow, so it happens once."""
    path = f"typelattice.tracing.compiled.{file_of(library)}"
    return CompilerAdapter(import_module(path)) if find_spec(path) is not None else None


def compiler_by_module(function: Any) -> Any:
    """Return the Compiler of a plain function's library if it can read the function, or None."""
    module = getattr(function, "__module__", None)
    found = _find_compiler_of_module(module) if isinstance(module, str) else None
    return found if found is not None and found.reads_plain_function(function) else None


def compiler_of_loop(function: Any) -> Any:
    """Return the Compiler of a plain function's library if the function compiles its function arguments."""
    module = getattr(function, "__module__", None)
    found = _find_compiler_of_module(module) if isinstance(module, str) else None
    return found if found is not None and found.is_loop(function) else None


def compiler_of_functions(cls: type) -> Any:
    """Return the Compiler of a class of compiled functions, or None for any other class."""
    found = find_compiler(cls)
    return found if found is not None and found.is_compiled(cls) else None
