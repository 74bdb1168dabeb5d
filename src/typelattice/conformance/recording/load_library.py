"""A library by the name of its recording, or by `module:attribute`."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import cast

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.conformance.recording.library import (
    BrokenLibraryError,
    Library,
    MissingLibraryError,
    UnknownLibraryError,
    versions_text,
)
from typelattice.core.registry.libraries import file_of, libraries, library_of, recordings
from typelattice.core.registry.releases import VERSION_SIGN, installed_release


def load_library(name: str) -> Library:
    """Return the library of a recording's name, or the user's `module:attribute`: a library, or its maker.

    Its constructor may set process-wide configuration: make one a process.
    Raises UnknownLibraryError, MissingLibraryError.
    """
    return _load_own_library(name) if ":" in name else _find_library(name)


def _load_own_library(name: str) -> Library:
    module_name, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:  # unlike `python -m`, an installed command does not search it
        sys.path.insert(0, os.getcwd())
    try:
        made = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownLibraryError(f"{name} cannot be made: {error}; write module:attribute") from None
    if is_made(made):
        return cast(Library, made)
    if not callable(made):
        what = f"{name} is no library: it has neither its methods, nor can it be called"
        raise UnknownLibraryError(f"{what}; name an object, a class, or a function that makes one")
    return cast(Library, made())


def is_made(x: object) -> bool:
    """Return True for a library or an implementation, and False for a class or a function that makes one."""
    if isinstance(x, type):
        return False
    return hasattr(x, "ask") or (hasattr(x, "make") and hasattr(x, "operations"))


def _find_library(name: str) -> Library:
    if name not in recordings():
        near = spelling_hint(name, recordings()) or f"; these are {', '.join(recordings())}"
        raise UnknownLibraryError(f"no library is recorded as {quote_short(name)}{near}")
    module_name = f"{__package__}.libraries.{file_of(recordings()[name].library)}"
    plain = name.partition(VERSION_SIGN)[0]
    try:
        found = cast(Library, importlib.import_module(module_name).LIBRARIES[plain]())
    except ImportError as error:
        entry = recordings()[name]
        raise missing_library_error(name, error, entry.library, entry.environment) from error
    if VERSION_SIGN in name and installed_release(plain, found.versions) != name:
        entry = recordings()[name]
        remedy = _install_command(_packages_to_install(entry.library, entry.environment))
        raise MissingLibraryError(
            f"{name} cannot be asked: {versions_text(found.versions)} is installed{remedy}"
        )
    return found


def missing_library_error(
    name: str, error: ImportError, library: str, environment: str
) -> MissingLibraryError:
    """Return the error for `name` that cannot be imported, with the command that installs it.

    The missing package is the library itself in its environment, or another module that it needs, or both.
    """
    module = (error.name or "").partition(".")[0]
    needed = library_of(module)
    packages = _packages_to_install(needed, environment) if needed else [module] * bool(module)
    if needed != library and (not module or find_spec(libraries()[library].modules[0]) is None):
        packages = [*packages, *_packages_to_install(library, environment)]
    is_missing = isinstance(error, (ModuleNotFoundError, MissingLibraryError))
    cause = MissingLibraryError if is_missing else BrokenLibraryError
    return cause(f"{name} cannot be asked: {error}{_install_command(packages)}")


def _packages_to_install(library: str, environment: str) -> list[str]:
    """Return what pip installs for a library in an environment, or nothing if that is not known."""
    return [*libraries()[library].packages.get(environment, ())]


def _install_command(packages: Sequence[str]) -> str:
    """Return the command that installs packages, after a semicolon; nothing for none."""
    return f"; pip install {' '.join(map(repr, packages))}" if packages else ""
