"""Places such as `file.py:12` on a command line, checked before the program runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from typelattice.base.errors.error_texts import quote_short
from typelattice.tracing.entry_points.script import ScriptError, find_project, hint_at_file

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


def _yield_sources(folder: str) -> Iterator[str]:
    """Yield the Python files of a folder and of those in it, except hidden ones."""
    for inside, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith((".", "__pycache__")))
        yield from (os.path.join(inside, name) for name in sorted(names) if name.endswith(".py"))
