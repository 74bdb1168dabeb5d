"""Keras: symbolic tensors and variables; its dtypes are names."""
from __future__ import annotations

import sys
from typing import Any

from typelattice.facts.dtypes import DType, DTypeError
from typelattice.operands.adapters import imported, known
from typelattice.operands.operand import Operand, of


def read(x: Any) -> Operand | None:
    """A KerasTensor or a Variable. What Keras computes is a tensor of its backend's, and read as that."""
    keras = sys.modules["keras"]
    if not isinstance(x, (keras.KerasTensor, keras.Variable)):
        return None
    return of(known(x.dtype, "Keras"), tier="0d" if len(x.shape) == 0 else "array")


def mark_of(cls: type) -> Any:
    """The dtype, and whether there are no dimensions."""
    return lambda x: (x.dtype, len(x.shape) == 0)


def native(d: DType) -> Any:
    """The name that Keras takes. Raises DTypeError for one that it does not."""
    keras = imported("keras")
    try:
        return keras.backend.standardize_dtype(d.name)
    except ValueError:
        raise DTypeError(f"Keras has no dtype {d}; cast to one that it has") from None
