"""The public functions of a package, each by its shortest public name."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from typelattice.base.errors.error_texts import quote_short
from typelattice.base.errors.errors import TypelatticeError
from typelattice.tracing.entry_points.script import hint_at_module

NOT_PUBLIC_PATTERN = re.compile(
    r"_.*|tests?|testing|test_.*|.*_tests?|.*_checks?|conftest|setup|examples?|benchmarks?|bench|tutorials?"
    r"|gui|cli|f2py|cython_.*|src|sandbox|contrib|datasets?|data|io"
    r"|extern|externals?|vendor|vendored|third_party|compat"
)
"""Modules that hold nothing to compute with, such as data and files, or packages of others."""


class SurveyError(TypelatticeError, ValueError):
    """A survey that cannot be made: a missing package, or a file of another survey."""


def check_system() -> None:
    """Raise SurveyError if no survey can be made: without NumPy, or if processes cannot fork."""
    if not hasattr(os, "fork"):
        raise SurveyError("a survey forks processes, which this system cannot do; use Linux or macOS")
    if find_spec("numpy") is None:
        raise SurveyError("a survey needs NumPy; install it with pip install numpy")


def check_package_exists(package: str) -> None:
    """Raise SurveyError if a name is not a package, installed or in the current folder. Nothing is
    imported.
    """
    if not all(part.isidentifier() for part in package.split(".")):
        raise SurveyError(f"{quote_short(package)} is no name of a package; write it as an import does")
    root = package.partition(".")[0]
    if PathFinder.find_spec(root, [*sys.path, os.getcwd()]) is None:
        what = f"there is no package {quote_short(package)}{hint_at_module(root)}"
        raise SurveyError(f"{what}; install it in this Python")


def import_package(package: str) -> ModuleType:
    """Import a package. Raises SurveyError if that fails."""
    try:
        return importlib.import_module(package)
    except BaseException as e:  # the code of a package, which may raise anything, or exit
        why = f"{type(e).__name__}: {quote_short(str(e))}"
        raise SurveyError(f"{package} cannot be imported ({why}); Python cannot import it either") from None


def public_functions(package: str) -> Mapping[str, Callable[..., Any]]:
    """Find the public functions of a package by their full names. Raises SurveyError.

    A function that several modules offer has its shortest name. Classes are left out.

    >>> [*public_functions("textwrap")]
    ['textwrap.dedent', 'textwrap.fill', 'textwrap.indent', 'textwrap.shorten', 'textwrap.wrap']
    """
    root = import_package(package)
    names: dict[int, tuple[str, Callable[..., Any]]] = {}
    for module in _public_modules(root):
        for name, function in _yield_functions(module, package.partition(".")[0]):
            full = f"{module.__name__}.{name}"
            known = names.get(id(function))
            if known is None or _name_rank(full) < _name_rank(known[0]):
                names[id(function)] = full, function
    return dict(sorted(names.values(), key=lambda found: found[0]))


def _name_rank(name: str) -> tuple[int, str]:
    return name.count("."), name


def _public_modules(root: ModuleType) -> Iterator[ModuleType]:
    """Yield a package, and its public modules as far as they can be imported."""
    yield root
    for found in pkgutil.iter_modules(getattr(root, "__path__", ()), f"{root.__name__}."):
        if not NOT_PUBLIC_PATTERN.fullmatch(found.name.rpartition(".")[2]):
            with suppress(SurveyError):
                yield from _public_modules(import_package(found.name))


def _yield_functions(module: ModuleType, root: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions of a module.

    Without `__all__`, these are the functions that the module defines, and those that a package offers from
    its own modules.
    """
    listed = getattr(module, "__all__", None)
    for name in [*(dir(module) if listed is None else listed)]:
        if not isinstance(name, str) or name.startswith("_"):
            continue
        found: Any = None
        with suppress(Exception):  # a module may compute its attributes
            found = getattr(module, name)
        if not callable(found) or isinstance(found, (type, ModuleType)) or not hasattr(found, "__name__"):
            continue
        home = getattr(found, "__module__", None)
        if listed is None and not hasattr(module, "__path__") and home != module.__name__:
            continue
        is_own = not isinstance(home, str) or home.partition(".")[0].lstrip("_") == root
        if is_own and not inspect.iscoroutinefunction(found):
            yield name, found
