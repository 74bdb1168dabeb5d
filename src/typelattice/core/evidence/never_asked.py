"""Calls that were never recorded from a library, and the mark that shows them."""

from __future__ import annotations

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.decisions import MissingOperation
from typelattice.core.engine.promotion import Promotion
from typelattice.core.evidence.recorded_answer import find_recorded_answer

NEVER_ASKED_MARK = "?"  # behind an answer, or behind the name of its system
NEVER_ASKED_NOTE = f"{NEVER_ASKED_MARK} predicted by the rule; the library was never asked"


def is_never_asked(promotion: Promotion) -> bool:
    """Return True if only a rule gives the answer, though the system's library could have been recorded."""
    return (
        find_recorded_answer(promotion) is None
        and bool(promotion.system.library)
        and not is_missing_operation(promotion)
        and not missing_dtype_of(promotion)
    )


def is_missing_operation(p: Promotion) -> bool:
    """Return True if the library lacks the operation, by a look-up, so its calls cannot be recorded."""
    return p.dtype is None and isinstance(p.decision, MissingOperation)


def missing_dtype_of(promotion: Promotion) -> DType | None:
    """Return the first dtype of a refused promotion that the system lacks, so no call can use it."""
    if promotion.dtype is not None:
        return None
    have = promotion.system.dtypes
    return next((o.dtype for o in promotion.promoting_operands if o.dtype and o.dtype not in have), None)
