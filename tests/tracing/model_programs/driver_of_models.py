"""Traces model programs in one process, since each import of PyTorch takes seconds. Prints JSON."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.models.memory_table import make_memory_table
from typelattice.tracing.report.report_entries import make_report
from typelattice.tracing.run_data.model_run import ModelQuestions
from typelattice.tracing.run_data.policy import read_policy

GOAL = re.compile(r"^# (goal|policy): (\S+)$", re.M)


class Counter(TorchDispatchMode):  # type: ignore[misc]
    """The dispatch mode that anybody would write: it lists the operations and their dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, tuple[str, ...]]] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        leaves = torch.utils._pytree.tree_leaves((args, kwargs, made))
        tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
        if tensors:
            self.seen.append((str(function), tuple(str(x.dtype) for x in tensors)))
        return made


def count_by_hand(file: Path) -> int:
    """The number of operations that such a mode sees in a program."""
    mode = Counter()
    with mode, contextlib.suppress(RuntimeError), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(file.read_text(), str(file), "exec"), {"__name__": "__main__"})
    return len(mode.seen)


def kept_by_hand(names: Any) -> dict[str, int]:
    """The bytes of the parameters and the buffers of the program's modules, by sort and dtype."""
    modules = [x for x in names.values() if isinstance(x, torch.nn.Module)]
    found: dict[str, int] = {}
    for model in modules:
        if any(model is not other and model in {*other.modules()} for other in modules):
            continue
        for sort, tensors in (("parameters", model.named_parameters()), ("buffers", model.named_buffers())):
            for _, x in tensors:
                key = f"{sort} {str(x.dtype).removeprefix('torch.')}"
                found[key] = found.get(key, 0) + x.numel() * x.element_size()
    return found


def look(file: Path) -> dict[str, Any]:
    kind, text = GOAL.findall(file.read_text())[0]
    policy = read_policy(text if kind == "policy" else "", text if kind == "goal" else None)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        ended = run_script(str(file), [], [], models=ModelQuestions(policy, True), project=str(file.parent))
    model = ended.run.model
    assert model is not None
    table = make_memory_table(model.log)
    kept: dict[str, int] = {}
    for row in table.kept:
        if row.category in ("parameters", "buffers"):
            kept[f"{row.category} {row.dtype}"] = kept.get(f"{row.category} {row.dtype}", 0) + row.bytes
    findings = collect_findings(ended.run)
    assert findings.departures is not None
    entries = [*make_report(findings).entries]
    return {
        "failure": model.log.failure,
        "status": ended.status,
        "findings": [[e.location.line if e.location else 0, e.message] for e in entries if e.rule == "TL007"],
        "others": [e.message for e in entries if e.rule != "TL007"],
        "islands": [i.place.location.line for i in findings.departures.islands if i.place.location],
        "operations": model.log.operation_count,
        "by_hand": count_by_hand(file),
        "kept": kept,
        "kept_by_hand": kept_by_hand(ended.names),
        "peak": sum(row.bytes for row in table.peak) == table.peak_bytes,
        "compiler": "torch._dynamo" in sys.modules,
    }


if __name__ == "__main__":
    answers = {}
    for name in sys.argv[1:]:
        answers[Path(name).stem] = look(Path(name))
    print(json.dumps(answers))
