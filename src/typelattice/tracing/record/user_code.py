"""The user's own code: packages by their names, and all modules of a project that are not installed."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from typelattice.base.own_folders import REAL_PACKAGE_FOLDER
from typelattice.core.registry.libraries import library_of

PROJECT_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")
"""Files and folders at the top of a project."""
INSTALLED_FOLDERS = ("site-packages", "dist-packages")
EDITABLE_FINDER_PREFIX = "__editable__"  # of the modules by which setuptools finds editable packages
MAX_PTH_FILES = 200  # files of packages that name folders of modules
PYTHON_FOLDER = os.path.dirname(os.path.realpath(os.__file__))


def find_project_folder(folder: str) -> str:
    """Find the top folder of the project around a folder: the nearest with a marker, or the folder itself.

    The home folder and the root are no projects, even if they have a marker.
    """
    start = Path(os.path.realpath(folder))
    home = Path(os.path.realpath(os.path.expanduser("~")))
    for each in (start, *start.parents):
        if each == home or each == each.parent:
            break
        if any((each / marker).exists() for marker in PROJECT_MARKERS):
            return str(each)
    return str(start)


@dataclass(frozen=True, eq=False)
class UserCode:
    """The modules to follow: those of some packages, and those in the folder of a project, if it has one.

    Of a project, nothing is followed that is installed, or that belongs to Python or to a library with rules.
    """

    packages: tuple[str, ...] = ()
    project: str = ""
    known_folders: dict[str, bool] = field(default_factory=dict, repr=False)

    def names_module(self, name: str) -> bool:
        """Return True if a module belongs to one of the packages."""
        return any(is_within(name, package) for package in self.packages)

    def may_hold_module(self, name: str, path: Sequence[str] | None) -> bool:
        """Return True if a folder of the user's code has a module of this name. This costs little.

        `path` has the folders of the package around the module, or is None.
        """
        if not self.project or library_of(name.partition(".")[0]) is not None:
            return False
        tail = name.rpartition(".")[2]
        for entry in path if path is not None else sys.path:
            if type(entry) is not str:
                continue
            if entry not in self.known_folders:
                self.known_folders[entry] = self.owns_file(os.path.join(os.path.abspath(entry), ""))
            whole = os.path.join(entry, tail)
            if self.known_folders[entry] and (os.path.isfile(f"{whole}.py") or os.path.isdir(whole)):
                return True
        return path is None and name in self.editable_packages

    def owns_file(self, file: str) -> bool:
        """Return True if a file is the user's own."""
        whole = os.path.realpath(file)
        parts = whole.split(os.sep)
        if any(folder in parts for folder in INSTALLED_FOLDERS) or _is_in(whole, REAL_PACKAGE_FOLDER):
            return False
        if _is_in(whole, PYTHON_FOLDER):
            return False
        return any(_is_in(whole, folder) for folder in (self.project, *self.editable_folders))

    @cached_property
    def editable_folders(self) -> tuple[str, ...]:
        """The folders of packages that are installed in editable mode, as the files of `site` name them."""
        found = [*_list_folders_of_pth_files()]
        for mapping in _list_editable_mappings():
            found += [os.path.realpath(folder) for folder in mapping.values()]
        return tuple(dict.fromkeys(found))

    @cached_property
    def editable_packages(self) -> frozenset[str]:
        """The names of the packages that a finder of setuptools finds in their own folders."""
        return frozenset(name for mapping in _list_editable_mappings() for name in mapping)


def _list_editable_mappings() -> Iterator[dict[str, str]]:
    """Yield the packages that setuptools installed in editable mode, each with its folder."""
    for finder in sys.meta_path:
        module = getattr(finder, "__module__", None)
        if isinstance(module, str) and module.startswith(EDITABLE_FINDER_PREFIX):
            mapping = getattr(sys.modules.get(module), "MAPPING", None)
            if type(mapping) is dict:
                yield {name: at for name, at in mapping.items() if type(name) is type(at) is str}


def _list_folders_of_pth_files() -> Iterator[str]:
    """Yield the folders that the `.pth` files of installed packages name."""
    for folder in (*site.getsitepackages(), site.getusersitepackages()):
        for file in sorted(Path(folder).glob("*.pth"))[:MAX_PTH_FILES]:
            try:
                lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                continue
            for line in lines:
                if line and not line.startswith(("#", "import ", "import\t")):
                    named = os.path.realpath(os.path.join(folder, line.strip()))
                    if os.path.isdir(named):
                        yield named


def is_within(name: str, package: str) -> bool:
    """Return True if a module is a package or within it."""
    return name == package or name.startswith(f"{package}.")


def _is_in(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(os.path.join(folder, "")))
