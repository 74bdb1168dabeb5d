"""The folder of a search, and a process that outlives the search to remove it.

This file also runs as a script, in that process. So it imports only the standard library.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER_PREFIX = "typelattice-fix-"
TEMPORARY_FOLDER_NAME = "tmp"  # the temporary folder of the runs; by its path in TMPDIR they are recognized
SCAN_SECONDS = 0.02
SCAN_COUNT = 250  # a process that a signal cannot end is left after so many scans


@contextmanager
def open_search_folder() -> Iterator[Path]:
    """Make a folder. At the end of the block, or of this process, its runs end and it is removed.

    A process of its own waits for that end. It notices it by a pipe that this process alone holds open, so
    that no signal to this process can prevent it. Raises OSError.
    """
    parent = Path(os.path.realpath(tempfile.gettempdir()))
    folder = parent / f"{FOLDER_PREFIX}{os.urandom(6).hex()}"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
        start_new_session=True,
    ) as watcher:  # fmt: skip
        try:
            folder.mkdir(mode=0o700)
            (folder / TEMPORARY_FOLDER_NAME).mkdir()
            yield folder
        finally:
            assert watcher.stdin is not None
            watcher.stdin.close()
            watcher.wait()
            remove_folder(folder)  # if somebody killed the other process


def end_processes(folder: str) -> None:
    """End all processes of the runs in a folder, also those that they left behind."""
    for _ in range(SCAN_COUNT):
        found = list_processes(folder)
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(SCAN_SECONDS)


def list_processes(folder: str) -> list[int]:
    """List the processes that have the temporary folder of the runs in their environment."""
    mark = f"TMPDIR={os.path.join(folder, TEMPORARY_FOLDER_NAME)}".encode()
    if os.path.exists("/proc/self/environ"):
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [pid for pid in pids if pid != os.getpid() and mark in _read_environment(pid)]
    shown = subprocess.run(["ps", "axeww", "-o", "pid=,command="], capture_output=True, check=False).stdout
    return [int(line.split()[0]) for line in shown.splitlines() if mark in line]


def _read_environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:  # it has ended, or is another user's
        return []


def remove_folder(folder: Path) -> None:
    """Remove a folder, and the folders in it that a program made read-only."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        os.chmod(folder, 0o700)
        for parent, names, _ in os.walk(folder):  # a folder is listed after its permissions are set
            for name in names:
                if not os.path.islink(os.path.join(parent, name)):
                    with suppress(OSError):
                        os.chmod(os.path.join(parent, name), 0o700)
        shutil.rmtree(folder, ignore_errors=True)


def watch(folder: str) -> None:
    """Wait until standard input ends, then end the runs in a folder and remove it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    end_processes(folder)
    remove_folder(Path(folder))


if __name__ == "__main__":
    watch(sys.argv[1])
