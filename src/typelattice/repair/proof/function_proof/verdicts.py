"""The proof of a change in words, from the verdicts on its functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typelattice.repair.proof.function_proof.proof_process import FunctionVerdict
from typelattice.tracing.report.formatting import count_text


@dataclass(frozen=True, slots=True)
class FunctionProof:
    """The proof of the functions that a change touches.

    `difference` says what the patched function gives otherwise. `is_whole` is True if every function was
    called with other kinds of arguments, and nothing differed. `has_callers` is True if other callers may
    pass floats to one of the functions. With `is_wrong_here`, the program's own call differs.
    """

    difference: str
    is_whole: bool
    has_callers: bool
    text: str
    is_wrong_here: bool = False


def read_verdicts(verdicts: Sequence[FunctionVerdict]) -> FunctionProof:
    """Read the verdicts on all functions of a change. A change outside of functions has none."""
    difference = next((verdict.difference for verdict in verdicts if verdict.difference), "")
    if not verdicts:
        return FunctionProof("", False, False, "")
    lines = [
        f"{v.name}: proved through this program alone, as {v.unproved_reason}"
        if v.unproved_reason
        else f"{v.name}: as before in {count_text(v.call_count, 'call')} with other kinds of arguments"
        for v in verdicts
    ]
    is_whole = not any(v.unproved_reason for v in verdicts)
    return FunctionProof(
        difference, is_whole, any(v.takes_floats for v in verdicts), "\n".join(lines),
        any(v.is_wrong_here for v in verdicts),
    )  # fmt: skip
