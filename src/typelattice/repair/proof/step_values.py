"""Values of each step of a run, and the steps with the largest differences between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typelattice.core.dtypes.dtypes import DType
from typelattice.repair.copies.kept_values import KeptValue, list_bound_values
from typelattice.repair.proof.value_comparison import ValueDifference, compare_values
from typelattice.tracing.record.value_loss_witness import ValueChecks, ValueWitness

MAX_KEPT_NUMBERS = 1 << 14  # numbers of one result that are kept
ValuesByStep = Mapping[tuple[str, int, str], KeptValue]  # the key has the file, the line and the operation


class StepValues(ValueChecks):
    """The last result of each operation, by its file, its line and its name there."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[tuple[str, int, str], KeptValue] = {}

    def observe_operation(
        self,
        witness: ValueWitness,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Keep the first numbers of a result. A result without data is left out."""
        try:
            first = result.reshape(-1)[:MAX_KEPT_NUMBERS]
        except Exception:  # an error of a library, for an object that is not an array
            return
        found = list_bound_values({"result": first})
        if found and name != "put":  # the elements of `put` are not written yet
            self.values[witness.module.file, witness.operation.line, name] = found["result"]


def compare_step_values(
    old_steps: ValuesByStep, new_steps: ValuesByStep, widest_dtype: DType
) -> list[tuple[str, int, str, ValueDifference]]:
    """List the steps with different values in both runs, with the largest error first."""
    found = [
        (*key, compare_values({key[2]: old_steps[key]}, {key[2]: new_steps[key]}, widest_dtype))
        for key in old_steps.keys() & new_steps.keys()
    ]
    differ = [each for each in found if not each[3].is_equal]
    return sorted(differ, key=lambda each: (not each[3].reason, -each[3].relative_error, each[:3]))
