"""Noise in a program: each narrow float is moved by one unit in its last place.

So the program shows how exact its results are without any patch, as its narrow floats are rounded anyway.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, real_part_dtype
from typelattice.tracing.record.value_loss_witness import ValueChecks, ValueWitness
from typelattice.tracing.run_data.float_widths import dtype_width

SIGN_COUNT = 61  # elements with signs of their own; those after them repeat the signs


class OperationNoise(ValueChecks):
    """Multiplies each narrow float of a result by 1 + u or 1 - u at random, where u is the unit of its dtype.

    Wide results stay: their rounding would be that of the patch. Results that cannot be written stay, too,
    such as scalars and arrays of JAX.
    """

    def __init__(self, dtype: DType) -> None:
        super().__init__()
        self.width = dtype_width(dtype) or 0
        self.random = random.Random(0)

    def observe_operation(
        self,
        witness: ValueWitness,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Move the numbers of a result."""
        known = DTYPES.get(str(getattr(result, "dtype", "")).rpartition(".")[2])
        if known is None or not 0 < (dtype_width(known) or 0) <= self.width or name == "put":
            return
        unit = 2.0 ** (1 - (real_part_dtype(known).precision or 1))
        with suppress(Exception):  # of a library, for an array that cannot be written
            flat = result.reshape(-1)
            for i in range(min(SIGN_COUNT, len(flat))):
                flat[i::SIGN_COUNT] *= 1 + self.random.choice((-unit, unit))
