"""Watches of dispatchers, which begin as soon as the program has imported their libraries.

A file in this folder that has a class `DispatchWatch` also names its library (`LIBRARY`) and the module whose
import begins the watch (`MODULE`). Its function `is_model` says which objects are models.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol

from typelattice.core.registry.libraries import file_of, libraries
from typelattice.tracing.run_data.operation_log import OperationLog


@cache
def _find_files() -> dict[str, ModuleType]:
    """Map the modules that begin a watch to the files of their libraries."""
    package = __name__.rpartition(".")[0]
    paths = [f"{package}.{file_of(library)}" for library in libraries()]
    files = [import_module(path) for path in paths if find_spec(path) is not None]
    return {file.MODULE: file for file in files if hasattr(file, "DispatchWatch")}


class Watches(Protocol):
    """Watches of several libraries. `files` has the modules whose import begins a watch."""

    files: dict[str, ModuleType]

    def start(self, module: str) -> None:
        """Begin the watch of a module that is imported."""

    def start_imported(self) -> None:
        """Begin the watches of the modules that are imported already."""

    def stop(self) -> None:
        """End all watches."""


class WatchGroup:
    """Several sorts of watches that begin and end together."""

    def __init__(self, watches: Sequence[Watches]) -> None:
        self.watches = watches
        self.files = {name: file for each in watches for name, file in each.files.items()}

    def start(self, module: str) -> None:
        """Begin the watches of a module that is imported."""
        for each in self.watches:
            if module in each.files:
                each.start(module)

    def start_imported(self) -> None:
        """Begin the watches of the modules that are imported already."""
        for each in self.watches:
            each.start_imported()

    def stop(self) -> None:
        """End all watches, the last one first."""
        for each in reversed(self.watches):
            each.stop()


class ModelWatches:
    """The watches of a run, and the log that they report to."""

    def __init__(self, is_user_file: Callable[[str], bool], checks_values: bool = False) -> None:
        self.log = OperationLog()
        self.is_user_file, self.checks_values = is_user_file, checks_values
        self.files = _find_files()  # now, since finding them imports
        self.libraries = frozenset(file.LIBRARY for file in self.files.values())
        self.running: dict[str, Any] = {}

    def start(self, module: str) -> None:
        """Begin the watch of a module that is imported, unless it runs already."""
        if module not in self.running:
            watch = self.files[module].DispatchWatch(self.log, self.is_user_file, self.checks_values)
            self.running[module] = watch
            watch.start()

    def open(self, model: object) -> Any:
        """Return a watch of the library that a model belongs to, or None. It has not begun."""
        for module, file in self.files.items():
            if module in sys.modules and file.is_model(model):
                return file.DispatchWatch(self.log, self.is_user_file)
        return None

    def start_imported(self) -> None:
        """Begin the watches of the modules that are imported already."""
        for module in self.files:
            if module in sys.modules:
                self.start(module)

    def stop(self) -> None:
        """End all watches."""
        for watch in self.running.values():
            watch.stop()
        self.running.clear()
