"""Compilers that read bytecode are off while a run is followed: they cannot read that of followed code.

What they are given then runs as it is. The file of a library in `libraries/` names the switch that it has.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType

from typelattice.tracing.libraries import compiler_switches


class Switches:
    """The switches of libraries' compilers, wherever the modules are imported that hold them."""

    def __init__(self) -> None:
        self.names = compiler_switches()
        self.were_on: set[str] = set()

    def off(self) -> None:
        """Turns off the compilers whose modules are there by now."""
        for module, name in self.names.items():
            settings = sys.modules.get(module)
            if settings is not None and not getattr(settings, name):
                setattr(settings, name, True)
                self.were_on.add(module)

    def back(self) -> None:
        """Turns on again those that were on."""
        for module in self.were_on:
            settings = sys.modules.get(module)
            if settings is not None:
                setattr(settings, self.names[module], False)
        self.were_on.clear()

    def __enter__(self) -> None:
        self.off()

    def __exit__(self, *given: object) -> None:
        self.back()

    def spec(self, found: ModuleSpec | None) -> ModuleSpec | None:
        """The spec of a module that holds a switch, with a loader after which the compiler is off."""
        if found is not None and type(found.loader) is SourceFileLoader:
            loader = _Loader(found.loader.name, found.loader.path)
            loader.switches = self
            found.loader = loader
        return found


class _Loader(SourceFileLoader):
    switches: Switches

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self.switches.off()
