"""array-api-strict, whose dtypes are objects of its own."""
from __future__ import annotations

import sys
from typing import Any

from typelattice.facts.dtypes import DType
from typelattice.operands.adapters import array_api, attribute, imported
from typelattice.operands.operand import Operand, of


def read(x: Any) -> Operand | None:
    """A dtype; an array is read as any array of the standard."""
    xp = sys.modules["array_api_strict"]
    return of(array_api.named(xp, x)) if isinstance(x, type(xp.bool)) else None


def mark_of(cls: type) -> Any:
    """The class, the dtype, and of an array the number of dimensions.

    The class keeps it from being compared with a mark of NumPy's: a dtype here has the hash of NumPy's, and
    warns where it is compared with that.
    """
    xp = sys.modules["array_api_strict"]
    return (lambda d: (cls, d)) if issubclass(cls, type(xp.bool)) else lambda x: (cls, x.dtype, x.ndim)


def native(d: DType) -> Any:
    """The dtype of that name."""
    return attribute(d, imported("array_api_strict"))
