"""PyTorch's compiler is off while a run is followed: it cannot read the bytecode of followed code.

What `torch.compile` is given then runs as it is. PyTorch itself has the switch; TORCH_COMPILE_DISABLE=1 sets
it, too.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any

SETTINGS = "torch._dynamo.config"  # the module that holds the switch, which PyTorch imports when it compiles


class Switch:
    """The switch of PyTorch's compiler, wherever its settings are imported."""

    def __init__(self) -> None:
        self.was_on = False

    def off(self) -> None:
        """Turns the compiler off, if its settings are there by now."""
        settings: Any = sys.modules.get(SETTINGS)
        if settings is not None and not settings.disable:
            settings.disable = self.was_on = True

    def back(self) -> None:
        """Turns the compiler on again, if it was on."""
        settings: Any = sys.modules.get(SETTINGS)
        if settings is not None and self.was_on:
            settings.disable = self.was_on = False

    def __enter__(self) -> None:
        self.off()

    def __exit__(self, *given: object) -> None:
        self.back()

    def spec(self, found: ModuleSpec | None) -> ModuleSpec | None:
        """The spec of the settings, with a loader after which the compiler is off."""
        if found is not None and type(found.loader) is SourceFileLoader:
            loader = _Loader(found.loader.name, found.loader.path)
            loader.switch = self
            found.loader = loader
        return found


class _Loader(SourceFileLoader):
    switch: Switch

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self.switch.off()
