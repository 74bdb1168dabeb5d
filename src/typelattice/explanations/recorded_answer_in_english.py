"""The recorded answer of a library to the call of a promotion, in English."""

from __future__ import annotations

from typelattice.engine.decisions import CountedForeign
from typelattice.engine.promotion import Promotion
from typelattice.explanations.promotion_in_english import answer_text
from typelattice.recorded.answers import OF_PYTHON, TAKEN_OVER
from typelattice.recorded.never_asked import is_missing_operation, missing_dtype_of
from typelattice.recorded.recorded_answer import (
    RecordedAnswer,
    asked_library,
    find_recorded_answer,
    listed_departure,
    recording_of,
)

UNKNOWN_REASON = "no reason is on record"


def result_words(o: RecordedAnswer) -> str:
    """Return a library's answer in two words, as `english.answer` has a system's.

    >>> from typelattice import system
    >>> result_words(find_recorded_answer(system("jax").explain("int8", "float")))
    'float64 (weak)'
    """
    if o.error:
        return "refused"
    if o.dtype is None:
        return o.call.answer.replace(OF_PYTHON, "a Python ")
    return f"{o.dtype} (weak)" if o.weak else str(o.dtype)


def describe_answer(o: RecordedAnswer) -> str:
    """Describe the answer of a library: `gives int16`, `raises RuntimeError: …`."""
    if o.call.answer == TAKEN_OVER:
        return f"gives {o.error}"
    return f"raises {o.error}" if o.error else f"gives {result_words(o)}"


def list_evidence(p: Promotion) -> list[str]:
    """Describe the library's answer, or say that it is not recorded. A system without a library has no lines.

    If the library departs from the rule, or may depart in a call that is not recorded, add the reason and its
    source.

    >>> from typelattice import system
    >>> list_evidence(system("array-api").explain("int8", "uint8"))[0].partition(" ")[0]
    'array-api-strict'
    """
    return recorded_words(p, find_recorded_answer(p))


def recorded_words(p: Promotion, o: RecordedAnswer | None) -> list[str]:
    """Describe a recorded answer that was looked up already, or say why it is missing."""
    if o is None:
        if is_missing_operation(p):
            return [f"looked up in {asked_library(p.system)}: it has no function of that name"]
        if recording_of(p.system):
            lacking = missing_dtype_of(p)
            why = f"it has no {lacking}" if lacking else "this is what the rule says"
            lines = [f"never asked of {asked_library(p.system)}: {why}"]
            if not lacking and (found := listed_departure(p)):
                lines += [f"such calls may depart from it: {found.reason}", found.source]
            return lines
        return [f"never asked: there is no recording of {p.system.name}"] if p.system.library else []
    same = o.call.operands == tuple(map(str, p.promoting_operands)) and p.op in (None, o.call.op)
    as_asked = "" if same else f", asked as {o.call.question}"
    lines = [f"{o.library} {describe_answer(o)}{as_asked}"]
    if o.departs:
        of_foreign = p.reason if p.decisions and isinstance(p.decisions[-1], CountedForeign) else None
        lines.append(f"the rule says {answer_text(p)}; {o.reason or of_foreign or UNKNOWN_REASON}")
    elif caution := o.caution:
        lines.append(f"but not always: {caution}")
    return [*lines, o.source] if o.source else lines
