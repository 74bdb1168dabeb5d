"""What is particular to a library in a run: a file for each of which there is something to say.

A file may have a function `system`, of the name of the library's own system where that depends on how the
library was set up, a function `casting`, of what casts operands by itself, and a `COMPILER_SWITCH`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from types import ModuleType

from typelattice.facts.dtypes import DTYPES
from typelattice.facts.libraries import file_of, libraries, recordings
from typelattice.facts.releases import release_of
from typelattice.files.text import systems
from typelattice.operands.operand import Operand
from typelattice.programs.step import Cast, Created, Input, NamedDType, Opaque, Step


def own_system(library: str, steps: Sequence[Step]) -> str:
    """The name of the system whose rules a library has in this process, for the dtypes of some steps."""
    system = getattr(_file(library), "system", None)
    owned = [step for step in steps if step.owner in (library, None)]
    own: str | None = system(dtypes(owned)) if system is not None else None
    if own is None:
        own = next((name for name, entry in recordings().items() if entry.library == library), library)
    if own not in systems():
        own = "array-api"
    installed = version(library)
    return release_of(own, installed) if installed else own


@cache
def has_rules(library: str) -> bool:
    """Whether a system says what a library's operations give, as none does of pandas.

    A library that we do not know has the standard's.
    """
    known = any(entry.library == library for entry in recordings().values()) or library in systems()
    return known or library not in libraries()


def casting(library: str) -> str:
    """What of a library casts operands of its own accord, here and now; nothing where nothing does."""
    found = getattr(_file(library), "casting", None)
    return str(found()) if found is not None else ""


def compiler_switches() -> dict[str, str]:
    """The modules that hold the switches of compilers that read bytecode, and the names of these there."""
    found = (getattr(_file(library), "COMPILER_SWITCH", None) for library in libraries())
    return dict(filter(None, found))


@cache
def _file(library: str) -> ModuleType | None:
    """The file of a library; None where there is none."""
    path = f"{__name__}.{file_of(library)}"
    return import_module(path) if find_spec(path) is not None else None


def version(library: str) -> str:
    """The version of a library that the program has imported; "" where neither it nor pip says."""
    known = libraries().get(library)
    modules = [module for module in (known.modules if known else ()) if module in sys.modules]
    for module in modules:
        found = getattr(sys.modules[module], "__version__", None)
        if isinstance(found, str):
            return found
    for module in modules:  # MLX and tinygrad do not say
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(module)
    return ""


def dtype_text(text: str) -> str:
    """A text that a program gave for a dtype, as the name of that: NumPy has codes of its own for them."""
    if text in DTYPES or "numpy" not in sys.modules:
        return text
    return str(sys.modules["numpy"].dtype(text).name)


def dtypes(steps: Sequence[Step]) -> set[str]:
    """The names of the dtypes that come into a program."""
    found: set[str] = set()
    for step in steps:
        match step:
            case Input(given=Operand(dtype=d)) | Opaque(given=Operand(dtype=d)) if d is not None:
                found.add(d.name)
            case Cast(to=NamedDType(name)) | Created(dtype=NamedDType(name)):
                found.add(name)
    return found
