"""PyTorch."""
from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from typelattice.facts.dtypes import DType
from typelattice.operands.adapters import attribute, imported, known
from typelattice.operands.objects import PLAIN
from typelattice.operands.operand import Operand, of


def read(x: Any) -> Operand | None:
    """A tensor or a torch.dtype."""
    torch = sys.modules["torch"]
    if isinstance(x, torch.dtype):
        return of(known(str(x).removeprefix("torch."), "PyTorch"))
    if isinstance(x, torch.Tensor):
        PLAIN.add(torch.Tensor)
        return of(
            known(str(x.dtype).removeprefix("torch."), "PyTorch"), tier="0d" if x.ndim == 0 else "array"
        )
    return None


def mark_of(cls: type) -> Any:
    """A dtype as it is; of a tensor the dtype and the number of dimensions."""
    return attrgetter("dtype", "ndim") if issubclass(cls, sys.modules["torch"].Tensor) else lambda d: d


def native(d: DType) -> Any:
    """The torch.dtype."""
    return attribute(d, imported("torch"))
