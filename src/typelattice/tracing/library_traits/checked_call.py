"""An operation whose values are checked, and the results of a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.tracing.run_data.run import ValueLoss


@dataclass(frozen=True, slots=True)
class Unchecked:
    """The reason why a result was not checked, and what it is about, such as the name of a function."""

    reason: str
    subject: str = ""


FoundLoss = tuple[str, Callable[[], ValueLoss] | None]
"""A rule that a result broke, and a function that describes the loss (None if the operands also broke it)."""
UNKNOWN_DTYPE, COMPLEX_SUM, UNKNOWN_OPERATION, OPTIONS, OVERWRITTEN, TOO_LARGE, NO_VALUES, FINITE_ONLY = (
    "dtype", "complex sum", "operation", "options", "overwritten", "size", "values", "finite",
)  # fmt: skip
NO_CHECKS, WHILE_COMPILING, OWN_CLASS, OTHER_PACKAGE, SEVERAL_RESULTS, NO_RESULT, IN_DISPATCHER = (
    "library", "compiled", "class", "package", "several results", "no result", "dispatched",
)  # fmt: skip
"""Reasons why a result was not checked."""


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """An operation that ran: NumPy's name of it, its class, and its operands and result as NumPy arrays.

    `is_in_place`: it wrote into the result, and `operands` are only the others. `written_name` is the name in
    the program.
    """

    name: str
    operation_class: str
    is_in_place: bool
    operands: Sequence[Any]
    keywords: Mapping[str, Any]
    result: Any
    dtype: DType
    written_name: str
