"""A command of a followed program that starts Python again: it runs as given, and leaves its run."""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from collections.abc import Sequence
from typing import NoReturn

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.registry.libraries import library_of
from typelattice.tracing.entry_points.script import run_script_to_exit
from typelattice.tracing.record.child_runs import ChildSettings
from typelattice.tracing.report.formatting import package_path


def run_child(settings: bytes, kind: str, target: str, argv: Sequence[str], words: Sequence[str]) -> NoReturn:
    """Run a script, a module or code with its parent's settings, then end this process as Python would.

    A script is followed, and so is a module's package if it is not installed. Otherwise only what the parent
    follows is followed.
    """
    given: ChildSettings = pickle.loads(settings)
    sys.orig_argv[:] = words
    root = target.partition(".")[0]
    own = kind == "-m" and not given.packages and library_of(root) is None and not _is_installed(root)
    packages = (root,) if own else given.packages

    def run_untraced(error: TypelatticeError) -> NoReturn:
        """Let Python run the command, since its own error is what the program expects."""
        os.execv(sys.executable, [*words])

    try:
        run_script_to_exit(
            target, argv, packages, lambda ended: None, run_untraced, kind == "-m", given.cache,
            given.replaced_contents, given.checks_values, given.folder, kind == "-c", given.project,
        )  # fmt: skip
    except TypelatticeError as e:
        run_untraced(e)


def _is_installed(package: str) -> bool:
    """Return True if a package is installed, or part of Python."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    origin = spec.origin if spec is not None else None
    return package in sys.stdlib_module_names or (origin is not None and package_path(origin) is not None)
