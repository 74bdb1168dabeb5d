"""Files are read up to a limit, and only regular ones."""
from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG

from typelattice.base.errors.error_texts import clip_text
from typelattice.base.errors.errors import TypelatticeError


class FileError(TypelatticeError, OSError):
    """A file that cannot be read or written."""


def read_bytes(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Read a file, but no more than `max_bytes` bytes. Raises FileError.

    Only regular files are read: a pipe or a device may never end.
    """
    try:
        check_regular_file(path)
        with open(path, "rb") as file:
            return file.read(max_bytes)
    except (OSError, ValueError) as e:
        raise file_error("read", path, e) from None


def check_regular_file(path: str | os.PathLike[str]) -> os.stat_result:
    """Return the status of a regular file. Raises OSError for anything else."""
    found = os.stat(path)
    if S_ISDIR(found.st_mode):
        raise OSError(0, "it is a folder")
    if not S_ISREG(found.st_mode):
        raise OSError(0, "it is a pipe or a device, and no regular file")
    return found


def file_error(verb: str, path: str | os.PathLike[str], error: OSError | ValueError) -> FileError:
    """Return the error for a path that the operating system refuses."""
    # Each Python release has its own message for a path with a null character. Our message is always the
    # same.
    why = (error.strerror or str(error)) if isinstance(error, OSError) else "a path has no null characters"
    why = why if os.fspath(path) else "it is no path"
    return FileError(f"cannot {verb} {clip_text(os.fspath(path), 120)!r}: {why}")
