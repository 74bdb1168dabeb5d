"""A copy of a project: its files, and what its links lead to."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG, S_IXUSR

from typelattice.repair.copies.kept_values import is_left_out
from typelattice.repair.copies.search_folder import FOLDER_PREFIX
from typelattice.repair.copies.source import FixError

MAX_COPIED_FILES = 20_000
MAX_COPIED_BYTES = 500_000_000
MAX_LINKED_BYTES = 100_000_000  # of what one link leads to; more of it is data, which a run may only read


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """A folder, a file or a link of a project."""

    path: str
    status: os.stat_result


@dataclass
class ProjectCopy:
    """The copy of one project in the making.

    `places` maps folders to their copies: the project, and each folder outside it to which a link leads. So
    no folder is copied twice, and links that lead in circles become links in the copy.
    """

    original: str
    root: str
    places: dict[str, str] = field(default_factory=dict)
    file_count: int = 0
    byte_count: int = 0

    def copy(self) -> None:
        """Copy the project. Raises FixError if it is too large, or if a file cannot be written."""
        try:
            links = self._copy_folder(self.original, self.root, MAX_COPIED_BYTES)
            while links:  # a folder that a link leads to may have links itself
                links = [more for target, path in links for more in self._copy_link(target, path)]
        except OSError as e:
            raise explain_unwritable(e) from None

    def _copy_folder(self, original: str, copy: str, max_bytes: int) -> list[tuple[str, str]]:
        """Copy the files of a folder. Return its links: the path of each in the copy, and in the project."""
        found = []
        for entry in list_entries(original):
            found.append(entry)
            if S_ISREG(entry.status.st_mode):
                self._count(entry.status.st_size, max_bytes)
        self.places[original] = copy
        os.makedirs(copy)
        links = []
        for entry in found:
            target = os.path.join(copy, os.path.relpath(entry.path, original))
            if S_ISDIR(entry.status.st_mode):
                os.mkdir(target)
            elif S_ISLNK(entry.status.st_mode):
                links.append((target, entry.path))
            else:
                copy_file(entry.path, target)
        return links

    def _count(self, size: int, max_bytes: int) -> None:
        """Count a file. Raises FixError if it is one too many."""
        self.file_count, self.byte_count = self.file_count + 1, self.byte_count + size
        if self.file_count > MAX_COPIED_FILES or self.byte_count > max_bytes:
            limits = f"{MAX_COPIED_FILES:,} files or {MAX_COPIED_BYTES // 10**6} MB"
            raise FixError(
                f"{self.original} holds more than {limits}, too much to copy for each try; "
                "run it from a folder that holds less"
            )

    def _copy_link(self, target: str, path: str) -> list[tuple[str, str]]:
        """Copy a link of the project, or what it leads to. Return the links of a folder copied for it.

        A link to something too large leads to the original, where the guard of the runs stops writes.
        """
        try:
            text, real = os.readlink(path), os.path.realpath(path)
        except OSError:  # it has vanished
            return []
        inside = self.path_in_copy(real)
        if inside is not None:
            same = os.path.realpath(os.path.join(os.path.dirname(target), text)) == os.path.realpath(inside)
            os.symlink(text if same else inside, target)
            return []
        counts = self.file_count, self.byte_count
        max_bytes = min(MAX_COPIED_BYTES, self.byte_count + MAX_LINKED_BYTES)
        try:
            if os.path.isdir(real) and not _is_above(real, self.original):
                return self._copy_folder(real, target, max_bytes)
            if os.path.isfile(real):
                self._count(os.path.getsize(real), max_bytes)
                copy_file(real, target)
                return []
        except FixError:
            self.file_count, self.byte_count = counts
        os.symlink(real, target)
        return []

    def path_in_copy(self, real: str) -> str | None:
        """Return the path in the copy of a path without links, or None if it is not copied."""
        for original, copy in self.places.items():
            if real == original:
                return copy
            if real.startswith(original.rstrip(os.sep) + os.sep):
                found = os.path.join(copy, os.path.relpath(real, original))
                if os.path.lexists(found) or not os.path.exists(real):
                    return found
        return None


def list_entries(folder: str) -> Iterator[FoundEntry]:
    """List what is to be copied of a folder. What vanishes, is unreadable or is no file is left out."""
    folders = [folder]
    while folders:
        try:
            entries = sorted(os.scandir(folders.pop()), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if S_ISDIR(status.st_mode):
                if not entry.name.startswith(FOLDER_PREFIX) and not is_left_out(Path(entry.path)):
                    folders.append(entry.path)
                    yield FoundEntry(entry.path, status)
            elif S_ISLNK(status.st_mode) or (S_ISREG(status.st_mode) and os.access(entry.path, os.R_OK)):
                yield FoundEntry(entry.path, status)


def copy_file(source: str, target: str) -> None:
    """Copy a file, unless it has vanished or is unreadable. The copy can be written. Raises OSError."""
    try:
        status = os.stat(source)
        copyfile(source, target)
    except (FileNotFoundError, PermissionError):
        if os.path.lexists(target):
            os.unlink(target)
        return
    if status.st_mode & S_IXUSR:
        os.chmod(target, S_IMODE(status.st_mode) | 0o600)


def explain_unwritable(error: OSError) -> FixError:
    """Return the error for a copy that the operating system cannot write."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    advice = "on a disk with more room" if full else "that can be written"
    return FixError(
        f"the copy of the project cannot be written: {error.strerror or error}; "
        f"set TMPDIR to a folder {advice}"
    )


def _is_above(folder: str, other: str) -> bool:
    """Return True if a folder contains another."""
    return other.startswith(folder.rstrip(os.sep) + os.sep)
