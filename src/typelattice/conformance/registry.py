"""A library found by the name of its recording, or by `module:attribute`, and made."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from typing import cast

from typelattice.conformance.library import Library, MissingLibraryError, UnknownLibraryError
from typelattice.facts.libraries import file_of, libraries, library_of, recordings
from typelattice.facts.releases import SIGN, installed_release


def library(name: str) -> Library:
    """The library that a recording is named after, or `module:attribute`, a callable of your own.

    Its constructor may set process-wide configuration: make one a process.
    Raises UnknownLibraryError, MissingLibraryError.
    """
    return _of_your_own(name) if ":" in name else _known(name)


def _of_your_own(name: str) -> Library:
    module_name, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:  # an installed command does not look beside the user, `python -m` does
        sys.path.insert(0, os.getcwd())
    try:
        make = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownLibraryError(f"{name} cannot be made: {error}; write module:attribute") from None
    if not callable(make):
        what = f"{name} is no library: it cannot be called"
        raise UnknownLibraryError(f"{what}; name a class, or a function that makes one")
    return cast(Library, make())


def _known(name: str) -> Library:
    if name not in recordings():
        near = difflib.get_close_matches(name, recordings(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(recordings())}"
        raise UnknownLibraryError(f"no library is recorded as {name!r}: {hint}")
    module_name = f"{__package__}.libraries.{file_of(recordings()[name].library)}"
    plain = name.partition(SIGN)[0]
    try:
        found = cast(Library, importlib.import_module(module_name).LIBRARIES[plain]())
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        raise MissingLibraryError(f"{name} cannot be asked: {error}{_remedy(name, missing)}") from error
    if SIGN in name and installed_release(plain, found.versions) != name:
        installed = ", ".join(f"{package} {version}" for package, version in found.versions.items())
        raise MissingLibraryError(f"{name} cannot be asked: {installed} is installed{_remedy(name)}")
    return found


def _remedy(name: str, module: str = "") -> str:
    """Return a hint to install the library with pip, or the library of the missing module.

    The latter may be a backend of the former. The hint is empty if no packages are known.
    """
    entry = recordings()[name]
    missing = library_of(module) or entry.library
    packages = libraries()[missing].packages.get(entry.environment, ())
    return f"; pip install {' '.join(repr(package) for package in packages)}" if packages else ""
