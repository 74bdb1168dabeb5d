"""Words of a report: counts, sizes, and the shortest distinct names of files."""

from __future__ import annotations

import os
from pathlib import PurePath

from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.report.notebook_cells import cell_number

PACKAGE_FOLDERS = ("site-packages", "dist-packages")
SIZE_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def count_text(count: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun, in the singular or plural.

    >>> count_text(1, "step"), count_text(2129, "step"), count_text(2, "byte more", "bytes more")
    ('1 step', '2,129 steps', '2 bytes more')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def size_text(count: int) -> str:
    """Return a number of bytes with three digits at least.

    >>> size_text(24), size_text(48_000_024), size_text(1)
    ('24 bytes', '48.0 MB', '1 byte')
    """
    if count < 1000:
        return count_text(count, "byte")
    amount, unit = float(count), 0
    while amount >= 999.95 and unit < len(SIZE_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.1f} {SIZE_UNITS[unit]}"


def shown_path(file: str) -> str:
    """Name a file as a report does: from the package on if it is installed, else from the current folder.

    >>> shown_path("/opt/lib/python3.13/site-packages/skimage/color/colorconv.py")
    'skimage/color/colorconv.py'
    """
    path = PurePath(file)
    if (installed := package_path(file)) is not None:
        return installed.as_posix()
    try:
        here = PurePath(os.getcwd())
    except FileNotFoundError:  # the program's current folder was removed
        return file
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else file


def package_path(file: str) -> PurePath | None:
    """Cut a path to the part from an installed package on, or return None if pip did not install the file.

    >>> print(package_path("/opt/lib/python3.13/site-packages/skimage/color/colorconv.py"))
    skimage/color/colorconv.py
    """
    parts = PurePath(file).parts
    installed = (
        PurePath(*parts[i + 1 :]) for i in reversed(range(len(parts))) if parts[i] in PACKAGE_FOLDERS
    )
    return next(installed, None)


def location_text(location: SourceLocation | None) -> str:
    """Write a source location, such as `file.py:12`, or `cell 3, line 12` in a notebook."""
    if location is None:
        return "somewhere"
    cell = cell_number(location.file)
    if cell is not None:
        return f"cell {cell}, line {location.line}"
    return f"{shown_path(location.file)}:{location.line}"


def describe_how_to_follow(package: str) -> str:
    """Say how to see the lines of a package that decide a dtype, or nothing if there is no package."""
    return f"; follow it with --package {package}" if package else ""
