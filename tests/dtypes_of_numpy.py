"""Which dtypes NumPy and ml_dtypes have, found without the code under test."""
from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from typelattice.core.dtypes.dtypes import DTYPES, DType

ML = [np.dtype(t) for t in vars(ml_dtypes).values() if isinstance(t, type) and issubclass(t, np.generic)]


@cache
def as_numpy(d: DType) -> np.dtype[Any] | None:
    """NumPy's or ml_dtypes' dtype of that name."""
    return next((n for n in [np.dtype(bool), *ML, *np_numbers()] if n.name == d.name), None)


def np_numbers() -> list[np.dtype[Any]]:
    """Of C's types, some of which are the same."""
    return [np.dtype(c) for c in "BHILbhilefdFD"] + [np.dtype(c) for c in "Qq"]


FOUND = [d for d in DTYPES.values() if as_numpy(d) is not None]
