"""The recorded answer of a library to the call of a promotion, in English."""

from __future__ import annotations

from typelattice.core.engine.decisions import ForeignArrayCounted
from typelattice.core.engine.promotion import Promotion
from typelattice.core.evidence.answer_notation import PYTHON_NUMBER_PREFIX, TAKEN_OVER_ANSWER
from typelattice.core.evidence.never_asked import is_missing_operation, missing_dtype_of
from typelattice.core.evidence.recorded_answer import (
    RecordedAnswer,
    listed_departure,
    recorded_library_version,
    recording_name_of,
)
from typelattice.core.evidence.spellings import spell_call
from typelattice.core.explanations.promotion_in_english import answer_text

UNKNOWN_REASON = "no reason is on record"


def recorded_result_text(recorded: RecordedAnswer) -> str:
    """Return a library's answer in two words, as `answer_text` returns a system's.

    >>> from typelattice import observed, system
    >>> recorded_result_text(observed(system("jax").explain("int8", "float")))
    'float64 (weak)'
    """
    if recorded.error:
        return "refused"
    if recorded.dtype is None:
        return recorded.call.answer.replace(PYTHON_NUMBER_PREFIX, "a Python ")
    return f"{recorded.dtype} (weak)" if recorded.weak else str(recorded.dtype)


def describe_answer(recorded: RecordedAnswer) -> str:
    """Describe the answer of a library: `gives int16`, `raises RuntimeError: …`."""
    if recorded.call.answer == TAKEN_OVER_ANSWER:
        return f"gives {recorded.error}"
    return f"raises {recorded.error}" if recorded.error else f"gives {recorded_result_text(recorded)}"


def describe_recorded_answer(promotion: Promotion, recorded: RecordedAnswer | None) -> list[str]:
    """Describe the library's answer, or say that it is not recorded. A system without a library has no lines.

    If the library departs from the rule, or may depart in a call that is not recorded, add the reason and its
    source.

    >>> from typelattice import observed, system
    >>> p = system("array-api").explain("int8", "uint8")
    >>> describe_recorded_answer(p, observed(p))[0].partition(" ")[0]
    'array-api-strict'
    """
    if recorded is None:
        if is_missing_operation(promotion):
            return [
                f"looked up in {recorded_library_version(promotion.system)}: it has no function of that name"
            ]
        if recording_name_of(promotion.system):
            missing_dtype = missing_dtype_of(promotion)
            why = f"it has no {missing_dtype}" if missing_dtype else "this is what the rule says"
            lines = [f"never asked of {recorded_library_version(promotion.system)}: {why}"]
            if not missing_dtype and (found := listed_departure(promotion)):
                lines += [f"such calls may depart from it: {found.reason}", found.source]
            return lines
        return (
            [f"never asked: there is no recording of {promotion.system.name}"]
            if promotion.system.library
            else []
        )
    call = recorded.call
    same = call.operands == tuple(map(str, promotion.promoting_operands)) and promotion.op in (None, call.op)
    written = spell_call(recorded.recording, call.op, call.operands)
    as_asked = "" if same and call.op in written else f", asked as {written}"
    lines = [f"{recorded.library} {describe_answer(recorded)}{as_asked}"]
    if recorded.departs:
        of_foreign = (
            promotion.reason
            if promotion.decisions and isinstance(promotion.decisions[-1], ForeignArrayCounted)
            else None
        )
        lines.append(
            f"the rule says {answer_text(promotion)}; {recorded.reason or of_foreign or UNKNOWN_REASON}"
        )
    elif caution := recorded.caution:
        lines.append(f"but not always: {caution}")
    return [*lines, recorded.source] if recorded.source else lines
