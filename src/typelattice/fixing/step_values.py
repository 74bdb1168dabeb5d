"""The values of each step of a run, and the steps at which those of two runs differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typelattice.facts.dtypes import DType
from typelattice.fixing.comparison import Difference, compare_values
from typelattice.fixing.kept_values import KeptValue, values_of
from typelattice.tracing.record.value_loss_witness import ValueChecks, ValueWitness

MAX_KEPT_NUMBERS = 1 << 14  # of one result that are kept
Steps = Mapping[tuple[str, int, str], KeptValue]  # by file, line and operation


class StepValues(ValueChecks):
    """The last result of each operation, by its file, its line and its name there."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, int, str], KeptValue] = {}

    def check(
        self, witness: ValueWitness, name: str, operands: Sequence[Any], named: Mapping[str, Any], result: Any
    ) -> None:
        """Keep the first numbers of a result. One that holds no data is left out."""
        try:
            first = result.reshape(-1)[:MAX_KEPT_NUMBERS]
        except Exception:  # a library's own, for an object that is no array
            return
        found = values_of({"result": first})
        if found and name != "put":  # whose elements are not written yet
            self.kept[witness.module.file, witness.operation.line, name] = found["result"]


def compare_step_values(before: Steps, after: Steps, to: DType) -> list[tuple[str, int, str, Difference]]:
    """List the steps that both runs have and whose values differ, with the largest error first."""
    found = [
        (*key, compare_values({key[2]: before[key]}, {key[2]: after[key]}, to))
        for key in before.keys() & after.keys()
    ]
    differ = [each for each in found if not each[3].is_none]
    return sorted(differ, key=lambda each: (not each[3].reason, -each[3].relative, each[:3]))
