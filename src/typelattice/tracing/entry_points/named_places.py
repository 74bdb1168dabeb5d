"""Places such as `file.py:12`, and packages, on a command line, checked before the program runs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import PathFinder
from importlib.util import find_spec
from itertools import islice
from pkgutil import iter_modules

from typelattice.base.errors.error_texts import hint_at_file, quote_short, spelling_hint
from typelattice.tracing.entry_points.script import ScriptError, find_project

PLACE_PATTERN = re.compile(r"(?P<file>.+):\d{1,9}")
MAX_PROJECT_FILES = 10_000  # files of a project; the places of a larger one are not checked


def check_places(places: Iterable[str], script: str, module: str | None, packages: Sequence[str]) -> None:
    """Raise ScriptError if a place names a file that is neither the script nor a module of its project.

    The end of a file's path is enough to name it. With a `module` or `packages` no place is checked, since
    the program finds their files.
    """
    asked = [match["file"] for match in map(PLACE_PATTERN.fullmatch, places) if match]
    if module is not None or packages or not asked:
        return
    files = [os.path.abspath(script), *islice(_yield_sources(find_project(script, False)), MAX_PROJECT_FILES)]
    if len(files) > MAX_PROJECT_FILES:
        return
    for file in asked:
        if not any(known.endswith(file) for known in files):
            near = hint_at_file(file, [*dict.fromkeys(map(os.path.basename, files))])
            what = f"there is no file {quote_short(file)} in the project of {quote_short(script)}{near}"
            raise ScriptError(f"{what}; name a file of it, or follow its package with --package")


def check_packages(packages: Iterable[str], script: str) -> None:
    """Raise ScriptError if a package cannot be found, and its name is near to one that can.

    A program may find packages where we do not look, so any other name is left to it.
    """
    folder = os.path.dirname(os.path.abspath(script))
    for package in packages:
        top = package.partition(".")[0]
        if not top.isidentifier() or top in sys.modules:  # such as __main__, which has no spec
            continue
        if find_spec(top) is not None or PathFinder.find_spec(top, [folder]) is not None:
            continue
        near = spelling_hint(top, {each.name for each in iter_modules([folder, *sys.path])})
        if near:
            what = f"no package {quote_short(package)} was found{near}"
            raise ScriptError(f"{what}; name it as an import does, or add its folder to PYTHONPATH")


def check_packages_of_tests(packages: Iterable[str], folder: str) -> None:
    """Raise ScriptError as `check_packages` does, for tests in a folder.

    pytest adds folders of tests to the path later, so a name that stands in any of them is left to it.
    """
    files = (os.path.relpath(file, folder) for file in islice(_yield_sources(folder), MAX_PROJECT_FILES))
    names = {part.removesuffix(".py") for file in files for part in file.split(os.sep)}
    unknown = [package for package in packages if package.partition(".")[0] not in names]
    check_packages(unknown, os.path.join(folder, "conftest.py"))


def _yield_sources(folder: str) -> Iterator[str]:
    """Yield the Python files of a folder and of those in it, except hidden ones."""
    for inside, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith((".", "__pycache__")))
        yield from (os.path.join(inside, name) for name in sorted(names) if name.endswith(".py"))
