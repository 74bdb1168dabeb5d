"""A journal: results as lines of JSON, so that interrupted work can continue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from typelattice.base.disk.read import check_regular_file
from typelattice.base.disk.write import explain_failure
from typelattice.base.errors.errors import TypelatticeError

KIND_KEY = "typelattice"
"""The key of the head that says what the rows are."""


class JournalError(TypelatticeError, ValueError):
    """A file that is not a journal, or the journal of other work."""


class Journal:
    """A file with a row of JSON on each line. The first line is the head, which describes the rows.

    `rows` has the rows that the file had already. A line that was not written whole is left out. Nothing is
    written before it is opened. Raises FileError, and JournalError for a file with another head.
    """

    def __init__(self, path: Path, head: Mapping[str, object]) -> None:
        self.path, self._head = path, json.dumps(head).encode() + b"\n"
        self._file: BinaryIO | None = None
        lines = self._read_lines(head)
        self._whole = sum(map(len, lines))
        self.rows: list[Any] = []
        for line in lines[1:]:
            with suppress(ValueError):
                self.rows.append(json.loads(line))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_lines(self, head: Mapping[str, object]) -> list[bytes]:
        """Return the lines that were written completely. Return none if the file does not exist."""
        with explain_failure("read", self.path):
            try:
                check_regular_file(self.path)
                lines = self.path.read_bytes().splitlines(keepends=True)
            except FileNotFoundError:
                return []
        if lines and not lines[-1].endswith(b"\n") and (len(lines) > 1 or self._head.startswith(lines[0])):
            lines.pop()
        if lines and lines[0] != self._head:
            raise JournalError(f"{self.path} {_describe_other_head(lines[0], head)}")
        return lines

    def open(self) -> None:
        """Open the file for rows, and write the head if it is missing. Raises FileError."""
        if self._file is None:
            with explain_failure("write", self.path):
                self._file = self.path.open("ab", buffering=0)
                self._file.truncate(self._whole)
                if not self._whole:
                    self._file.write(self._head)

    def append(self, row: object) -> None:
        """Write a row. It is in the file when this returns. Raises FileError."""
        self.open()
        assert self._file is not None
        with explain_failure("write", self.path):
            self._file.write(json.dumps(row).encode() + b"\n")

    def close(self) -> None:
        """Close the file, without removing it."""
        if self._file is not None:
            self._whole = self._file.tell()
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Delete the file: the work is done. Raises FileError."""
        self.close()
        with explain_failure("delete", self.path):
            self.path.unlink(missing_ok=True)


def _describe_other_head(line: bytes, head: Mapping[str, object]) -> str:
    """Say how the first line of a file differs from the head that was expected."""
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get(KIND_KEY) != head[KIND_KEY]:
        return f"is no file of {head[KIND_KEY]}; name another one"
    key = next((key for key in head if found.get(key) != head[key]), "other entries")
    was, now = found.get(key, "not there"), head.get(key, "not there")
    return f"is of other work: its {key} was {was}, and is now {now}; delete it to begin again"
