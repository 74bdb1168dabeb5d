"""Files are written whole, or not at all."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from stat import S_IMODE

from typelattice.base.disk.read import check_regular_file, file_error


@contextmanager
def explain_failure(verb: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the operating system about a path into a FileError."""
    try:
        if not os.fspath(path):
            raise OSError  # `file_error` words the message
        yield
    except (OSError, ValueError) as e:
        raise file_error(verb, path, e) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text to a file: whole, or not at all. Raises FileError."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file: whole, or not at all. Raises FileError.

    The content goes into a new file in the same folder. That file then replaces the old one and keeps its
    permissions.
    """
    write_files({path: content})


def write_files(contents: Mapping[str | os.PathLike[str], bytes]) -> None:
    """Write several files: all of them, or none. Raises FileError.

    All new files are written before the first one replaces an old one. If a replacement fails, those before
    it are undone.
    """
    spares: list[tuple[str, str, str | os.PathLike[str]]] = []
    old_contents: dict[str, bytes | None] = {}
    try:
        for path, content in contents.items():
            with explain_failure("write", path):
                target = os.path.realpath(path)
                old = _status_of_replaced(target)
                spare = _temporary_path(target)
                spares.append((spare, target, path))
                _write_spare(spare, content, None if old is None else S_IMODE(old.st_mode))
        for spare, target, path in spares:
            with explain_failure("write", path):
                old_contents[target] = _read_if_there(target) if len(spares) > 1 else None
                os.replace(spare, target)
    except BaseException:
        for spare, target, _ in spares:
            if os.path.lexists(spare):
                with suppress(OSError):
                    os.unlink(spare)
            elif (content_before := old_contents.get(target)) is not None:
                with suppress(OSError):
                    write_files({target: content_before})
        raise


def _write_spare(spare: str, content: bytes, mode: int | None) -> None:
    """Write a new file to the disk, with the permissions of the file that it replaces."""
    with open(spare, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if mode is not None:
        os.chmod(spare, mode)


def _read_if_there(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def check_writable(path: str | os.PathLike[str], needed_bytes: int = 1) -> None:
    """Raise FileError if `needed_bytes` bytes cannot be written to a path. Call it before long work."""
    with explain_failure("write", path):
        target = os.path.realpath(path)
        _status_of_replaced(target)
        spare = _temporary_path(target)
        with open(spare, "xb") as file:
            try:
                file.write(bytes(needed_bytes))
                file.flush()
            finally:
                os.unlink(spare)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise FileError if a folder cannot be created or written into. It need not exist yet."""
    with explain_failure("write into", path):
        found = os.path.realpath(path)
        while not _path_exists(found):
            found = os.path.dirname(found)
        spare = _temporary_path(os.path.join(found, "any"))
        os.mkdir(spare)
        os.rmdir(spare)


def _path_exists(path: str) -> bool:
    """Return True if a path exists. Raises OSError for an impossible name, such as one that is too long."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _temporary_path(target: str) -> str:
    """Return a new name in the folder of a file."""
    return os.path.join(os.path.dirname(target), f".typelattice-{os.urandom(8).hex()}")


def _status_of_replaced(target: str) -> os.stat_result | None:
    """Return the status of the file to be replaced, or None if it does not exist.

    Raises OSError if the file may not be replaced.
    """
    try:
        old = check_regular_file(target)
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise OSError(0, "it is write-protected")
    return old
