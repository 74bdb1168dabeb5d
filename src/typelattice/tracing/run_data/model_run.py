"""A run of a model: the log of its operations, and the questions that were asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from typelattice.tracing.run_data.operation_log import OperationLog
from typelattice.tracing.run_data.policy import Policy


@dataclass(frozen=True, slots=True)
class ModelQuestions:
    """The questions of a run: the policy to compare with, or None, and whether the memory is shown."""

    policy: Policy | None = None
    memory: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ModelRun:
    """The log of the operations that ran, and the questions that were asked of it.

    `libraries` are those whose dispatchers report to the log. `departing_lines` takes the place of the log in
    a run that another process has compared with the policy. It has the file and the number of each line that
    departs, and is None if nothing was compared.
    """

    log: OperationLog = field(repr=False)
    questions: ModelQuestions = ModelQuestions()
    libraries: frozenset[str] = frozenset()
    departing_lines: frozenset[tuple[str, int]] | None = None
