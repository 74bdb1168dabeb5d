"""Words of a report: counts, sizes, and files by the shortest name that tells them apart."""

from __future__ import annotations

import os
from pathlib import PurePath

from typelattice.programs.step import Place

PACKAGES = ("site-packages", "dist-packages")
SIZES = ("bytes", "kB", "MB", "GB", "TB")


def counted(count: int, what: str, many: str = "") -> str:
    """How many of something there are.

    >>> counted(1, "step"), counted(2129, "step"), counted(2, "byte more", "bytes more")
    ('1 step', '2,129 steps', '2 bytes more')
    """
    return f"{count:,} {what if count == 1 else many or f'{what}s'}"


def size(count: int) -> str:
    """A number of bytes with three digits at least.

    >>> size(24), size(48_000_024), size(1)
    ('24 bytes', '48.0 MB', '1 byte')
    """
    if count < 1000:
        return counted(count, "byte")
    amount, unit = float(count), 0
    while amount >= 999.95 and unit < len(SIZES) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.1f} {SIZES[unit]}"


def shown(file: str) -> str:
    """A file as a report names it: from the package on where it is installed, else from the current folder.

    >>> shown("/opt/lib/python3.13/site-packages/skimage/color/colorconv.py")
    'skimage/color/colorconv.py'
    """
    parts = PurePath(file).parts
    for i in reversed(range(len(parts))):
        if parts[i] in PACKAGES:
            return PurePath(*parts[i + 1 :]).as_posix()
    path = PurePath(file)
    try:
        here = PurePath(os.getcwd())
    except FileNotFoundError:  # the program went into a folder, and removed it
        return file
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else file


def place(at: Place | None) -> str:
    """Where a step stands: `file.py:12`."""
    return f"{shown(at.file)}:{at.line}" if at else "somewhere"
