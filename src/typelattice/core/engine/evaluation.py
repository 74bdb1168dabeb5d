"""The outcome of a promotion or an operation, before it becomes an answer."""
from __future__ import annotations

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, Kind, Node
from typelattice.core.engine.scalar_fit import ValueFit


@frozen()
class Evaluation:
    """The outcome for some operands: the node of their join, the dtype computed in and the result's dtype.

    `node` is None if the operands need not join. `compute` is None if the operation handles each operand by
    itself.
    """

    node: Node | None
    compute: DType | None
    dtype: DType
    weak: bool
    fits: tuple[ValueFit, ...]
    python_number_kind: Kind | None = None  # the kind of the result, if it is a Python number
    accumulator: DType | None = None  # the dtype in which the operation adds up, if the system states it
