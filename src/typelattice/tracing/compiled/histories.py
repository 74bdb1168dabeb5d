"""Histories of dispatchers, which begin as soon as the program has imported their libraries.

A library with one has a file here that is named after it: `torch_history.py`. The file names the module whose
import begins the history (`MODULE`), the library (`LIBRARY`), and has the class `DispatchHistory`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from typelattice.core.registry.libraries import file_of, libraries


@cache
def _find_files() -> dict[str, ModuleType]:
    """Map the modules that begin a history to the files of their libraries."""
    package = __name__.rpartition(".")[0]
    paths = [f"{package}.{file_of(library)}_history" for library in libraries()]
    files = [import_module(path) for path in paths if find_spec(path) is not None]
    return {file.MODULE: file for file in files}


class Histories:
    """The histories of a run, by their libraries."""

    def __init__(self, by_library: dict[str, Any]) -> None:
        self.by_library = by_library
        self.files = _find_files()  # now, since finding them imports

    def start(self, module: str) -> None:
        """Begin the history of a module that is imported, unless it runs already."""
        file = self.files[module]
        if file.LIBRARY not in self.by_library:
            history = self.by_library[file.LIBRARY] = file.DispatchHistory()
            history.start()

    def start_imported(self) -> None:
        """Begin the histories of the modules that are imported already."""
        for module in self.files:
            if module in sys.modules:
                self.start(module)

    def stop(self) -> None:
        """End all histories."""
        for history in self.by_library.values():
            history.stop()
        self.by_library.clear()

    def __enter__(self) -> None:
        self.start_imported()

    def __exit__(self, *exception: object) -> None:
        self.stop()
