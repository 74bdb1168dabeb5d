"""A run, and the outcomes of its steps under systems, as dictionaries, lists, strings and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typelattice.core.operands.operand import Operand
from typelattice.programs.program.program import AnySystem
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.findings.predicted_run import PredictedRun
from typelattice.tracing.models.departures import Departures
from typelattice.tracing.models.memory_table import make_memory_table, table_data
from typelattice.tracing.report.report_entries import make_report
from typelattice.tracing.report.tool_formats import entry_data
from typelattice.tracing.run_data.model_run import ModelRun
from typelattice.tracing.run_data.run import Run

RUN_FORMAT_VERSION = 1  # version of the document that docs/runs.md describes


def run_data(run: Run, systems: Sequence[AnySystem] = ()) -> dict[str, Any]:
    """Return a run as plain data: each step with its observed result and its result under each system.

    The data also lists the steps that contradict the library's own system, and the findings of the report.

    The dtype of a system is None if it refuses the step, or an earlier step. `never_asked` of a step names
    the systems that only predict it by a rule.
    """
    found = collect_findings(run, systems)
    checked, replays = found.predicted_run, found.replays
    steps = [
        {
            "file": step.location.file if step.location else None,
            "line": step.location.line if step.location else None,
            "code": step.text,
            "op": step.op,
            "operands": list(step.inputs),
            "observed": dtype_text(seen.operand) if seen.count or step.op is None else None,
            "count": seen.count,
            "bytes": seen.bytes,
            "systems": {name: dtype_text(replay[i].operand) for name, replay in replays.items()},
            "never_asked": [name for name, replay in replays.items() if replay[i].is_unrecorded],
        }
        for i, (step, seen) in enumerate(run)
    ]
    report = make_report(found, everything=True)
    return {
        "typelattice": "run",
        "version": RUN_FORMAT_VERSION,
        "steps": steps,
        "findings": [entry_data(entry) for entry in report.entries],
        "mismatches": [_contradiction_data(checked, i) for i in checked.mismatches],
        "departures": [
            _contradiction_data(checked, i) | {"reason": reason} for i, reason in checked.departures.items()
        ],
        "libraries": dict(run.systems),
        "opaque": run.opaque,
        "not_followed": {left.name: left.reason for left in run.unfollowed_code},
        "child_processes": run.unfollowed_process_count,
        "followed_processes": run.followed_process_count,
        "summarised": list(run.summaries),
        **({"model": model_data(run.model, found.departures)} if run.model is not None else {}),
    }


def model_data(model: ModelRun, departures: Departures | None) -> dict[str, Any]:
    """Return the memory of a model, the policy, and the islands that are meant, as plain data."""
    return {
        "operations": model.log.operation_count,
        "memory": table_data(make_memory_table(model.log)),
        "policy": str(departures.policy) if departures is not None else None,
        "autocast": departures.autocast or None if departures is not None else None,
        "islands": [
            {
                "file": each.place.location.file if each.place.location else None,
                "line": each.place.location.line if each.place.location else None,
                "dtype": each.dtype,
                "modules": list(each.modules),
                "bytes": each.bytes,
            }
            for each in (departures.islands if departures is not None else ())
        ],
    }


def dtype_text(operand: Operand | None) -> str | None:
    """Return the dtype of an operand, with a star if it is weak, or the kind of a Python number."""
    if operand is None:
        return None
    return (
        operand.kind.python_name
        if operand.tier == "scalar"
        else f"{operand.dtype}{'*' if operand.weak else ''}"
    )


def _contradiction_data(checked: PredictedRun, i: int) -> dict[str, Any]:
    """Return the observed dtype of a step, and the one that the library's own system predicts."""
    return {
        "step": i,
        "observed": dtype_text(checked.run.observations[i].operand),
        "system": dtype_text(checked.predictions[i].operand),
    }
