"""Files: read whole up to a limit, written whole or not at all."""
from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.suggest import clipped

LONGEST = 120  # characters of a path in an error message


class FileError(TypelatticeError, OSError):
    """A file that cannot be read or written."""


def read_bytes(path: str | PathLike[str], most: int) -> bytes:
    """What a file holds, but no more than `most` bytes. Raises FileError.

    Only regular files are read: a pipe may never end, and a device either.
    """
    with _told("read", path):
        _stat(path)
        with open(path, "rb") as file:
            return file.read(most)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Writes a file: whole, or not at all. Raises FileError.

    The text goes into a file beside it, which then takes its place and keeps its permissions.
    """
    with _told("write", path):
        target = os.path.realpath(path)
        old = _stat(target, missing=True)
        spare = _spare(target)
        try:
            with open(spare, "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if old is not None:
                os.chmod(spare, stat.S_IMODE(old.st_mode))
            os.replace(spare, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(spare)
            raise


def check_writable(path: str | PathLike[str]) -> None:
    """Raises FileError if nothing could be written to a path: what takes long asks this before it starts."""
    with _told("write", path):
        target = os.path.realpath(path)
        _stat(target, missing=True)
        spare = _spare(target)
        with open(spare, "x"):
            os.unlink(spare)


def _spare(target: str) -> str:
    """A new name in the folder of a file."""
    return os.path.join(os.path.dirname(target), f".typelattice-{os.urandom(8).hex()}")


def _stat(path: str | PathLike[str], missing: bool = False) -> os.stat_result | None:
    """What is known of a regular file; None if it may be missing and is. Raises OSError for anything else."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if missing:
            return None
        raise
    if stat.S_ISDIR(found.st_mode):
        raise OSError(0, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "it is a pipe or a device, and no regular file")
    return found


@contextmanager
def _told(verb: str, path: str | PathLike[str]) -> Iterator[None]:
    """Turns what the system says of a path into a FileError."""
    try:
        yield
    except (OSError, ValueError) as e:  # ValueError: a path with a null character
        why = (e.strerror if isinstance(e, OSError) else None) or str(e)
        raise FileError(f"cannot {verb} {clipped(os.fspath(path), LONGEST)!r}: {why}") from None
