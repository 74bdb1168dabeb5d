"""NumPy: NumPy 1 promotes by value, and the dtypes of ml_dtypes have rules of their own."""

from __future__ import annotations

import sys
from collections.abc import Set

from typelattice.core.system_files.reader import system as find_system
from typelattice.tracing.library_traits.array_values import read_numpy_values as read_values

__all__ = [
    "HAS_SCALARS",
    "IN_RANGE_TEXTS",
    "MAY_BE_FORKED",
    "PLAIN_ARRAY_CLASSES",
    "RELEASE_COMPARISON",
    "ROUNDS_SCALARS",
    "read_values",
    "system",
]

ROUNDS_SCALARS = True
RELEASE_COMPARISON = "numpy_releases"
IN_RANGE_TEXTS = "numpy_in_range"
HAS_SCALARS = True
MAY_BE_FORKED = True
"""Its threads end before a fork, and begin again after it."""

PLAIN_ARRAY_CLASSES = (
    "numpy.ndarray",
    "numpy.generic",
    "numpy.memmap",
    "numpy.recarray",
    "numpy.rec.recarray",
)
"""Masked arrays and matrices are none of these. Memory maps and record arrays only store in another way."""


def system(dtypes: Set[str]) -> str | None:
    """Return the system's name."""
    # a program may remove modules from sys.modules
    version = getattr(sys.modules.get("numpy"), "__version__", "")
    if version.startswith("1."):
        return "numpy1"
    native = {d.name for d in find_system("numpy").dtypes}
    return "numpy" if dtypes <= {*native, "float", "int", "complex", "bool"} else "numpy-ml-dtypes"
