"""Modules of a text that are followed, and what was seen of them."""
from __future__ import annotations

import sys
import textwrap
import traceback
from pathlib import Path
from typing import Any

from typelattice.tracing.record.trace_imports import Tracing
from typelattice.tracing.run_data.run import Run


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def followed(folder: Path, text: str, call: str = "run()") -> tuple[Any, Run]:
    """What a module's function gives, and the run."""
    write(folder, "traced_one", text)
    sys.modules.pop("traced_one", None)
    with Tracing(("traced_one",)) as tracing:
        import traced_one

        result = eval(call, vars(traced_one))
    return result, tracing.run()


def texts(run: Run) -> dict[str, tuple[str | None, str, int]]:
    """The operations that were seen, by their text: name, observed dtype, count."""
    return {
        step.text: (step.op, str(seen.operand.dtype), seen.count)
        for step, seen in run
        if step.op and seen.count
    }


def ended(function: Any, *args: Any) -> str:
    """What a function gives, or its traceback."""
    try:
        return repr(function(*args))
    except Exception as e:
        assert e.__traceback__
        return "".join(traceback.format_exception(type(e), e, e.__traceback__.tb_next))
