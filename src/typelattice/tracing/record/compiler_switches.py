"""Switches of compilers that read bytecode. They are off during a run: they cannot read rewritten bytecode.

The functions that they would compile then run uncompiled. A library's file in `library_traits/` names its
switch.
"""

from __future__ import annotations

import sys

from typelattice.tracing.library_traits import compiler_switches


class CompilerSwitches:
    """The switches of libraries' compilers, for all of their modules that are imported."""

    def __init__(self) -> None:
        self.names = compiler_switches()
        self.turned_off: set[str] = set()

    def turn_off(self) -> None:
        """Turn off the compilers of the modules that are loaded."""
        for module, name in self.names.items():
            settings = sys.modules.get(module)
            if settings is not None and not getattr(settings, name):
                setattr(settings, name, True)
                self.turned_off.add(module)

    def restore(self) -> None:
        """Turn on the compilers that were on before."""
        for module in self.turned_off:
            settings = sys.modules.get(module)
            if settings is not None:
                setattr(settings, self.names[module], False)
        self.turned_off.clear()

    def __enter__(self) -> None:
        self.turn_off()

    def __exit__(self, *exception: object) -> None:
        self.restore()
