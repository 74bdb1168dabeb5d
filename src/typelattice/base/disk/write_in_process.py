"""Files are written together by a process that no signal to the caller can end halfway."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from typelattice.base.disk.read import FileError
from typelattice.base.disk.write import write_files
from typelattice.base.own_folders import IMPORT_FOLDER

LENGTH_BYTES = 8
MAIN_CODE = (
    "import sys; sys.path.insert(0, {!r}); from typelattice.base.disk.write_in_process import main; main()"
)


def write_files_in_process(contents: Mapping[Path, bytes]) -> None:
    """Write several files in a process of their own: all of them, or none. Raises FileError.

    The process writes nothing before it has all contents, and then goes on if the caller is killed.
    """
    data = pickle.dumps({os.fspath(path): content for path, content in contents.items()})
    with subprocess.Popen(
        [sys.executable, "-I", "-c", MAIN_CODE.format(IMPORT_FOLDER)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        answer, errors = process.communicate(len(data).to_bytes(LENGTH_BYTES) + data)
    if process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines() or [f"status {process.returncode}"]
        raise FileError(f"the files were not written: {lines[-1]}; run the command again")
    if answer:
        raise FileError(answer.decode())


def main() -> None:
    """Read the files from standard input and write them. Print why that fails."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    length = int.from_bytes(sys.stdin.buffer.read(LENGTH_BYTES))
    data = sys.stdin.buffer.read(length)
    if not data or len(data) < length:  # the caller was killed before it had sent all
        return
    try:
        write_files(pickle.loads(data))
    except FileError as e:
        sys.stdout.write(str(e))
