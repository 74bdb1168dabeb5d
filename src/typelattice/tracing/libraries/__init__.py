"""Which system is a library's own: a file for each library of which that depends on how it was set up."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from typelattice.facts.dtypes import DTYPES
from typelattice.facts.libraries import file_of, libraries, recordings
from typelattice.facts.releases import release_of
from typelattice.files.text import systems
from typelattice.operands.operand import Operand
from typelattice.programs.step import Cast, Created, Input, NamedDType, Opaque, Step


def own_system(library: str, steps: Sequence[Step]) -> str:
    """The name of the system whose rules a library has in this process, for the dtypes of some steps."""
    path = f"{__name__}.{file_of(library)}"
    own: str | None = None
    if find_spec(path) is not None:
        own = import_module(path).system(dtypes(steps))
    if own is None:
        own = next((name for name, entry in recordings().items() if entry.library == library), library)
    if own not in systems():
        own = "array-api"
    return release_of(own, version(library))


def version(library: str) -> str:
    """The version of a library that the program has imported."""
    known = libraries().get(library)
    for module in known.modules if known else ():
        found = getattr(sys.modules.get(module), "__version__", None)
        if isinstance(found, str):
            return found
    return "0"


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
