"""A promotion as plain data: dictionaries, lists, strings and numbers, as JSON can hold them."""

from __future__ import annotations

from typelattice.core.engine.decisions import Decision
from typelattice.core.engine.promotion import OperandCast, Promotion
from typelattice.core.engine.scalar_fit import ValueFit
from typelattice.core.evidence.never_asked import is_never_asked
from typelattice.core.evidence.recorded_answer import find_recorded_answer


def promotion_data(promotion: Promotion) -> dict[str, object]:
    """Return a promotion as dictionaries, lists, strings and numbers, for JSON."""
    return {
        "system": promotion.system.name,
        "operands": [str(o) for o in promotion.operands],
        "op": promotion.op,
        "dtype": promotion.dtype and promotion.dtype.name,
        "weak": promotion.weak,
        "number": promotion.python_number_kind and promotion.python_number_kind.python_name,
        "compute": promotion.compute and promotion.compute.name,
        "accumulator": promotion.accumulator and promotion.accumulator.name,
        "node": promotion.node and str(promotion.node),
        "bounds": [str(n) for n in promotion.bounds],
        "steps": [_decision_data(s) for s in promotion.decisions],
        "casts": [_cast_data(c) for c in promotion.casts],
        "fits": [_fit_data(f) for f in promotion.fits],
        "rule": {"file": promotion.rule.file, "key": promotion.rule.key, "lines": list(promotion.rule.lines)},
        "reason": promotion.reason,
        "remedy": promotion.remedy,
        "observed": _describe_observed(promotion),
        "never_asked": is_never_asked(promotion),
    }


def _describe_observed(promotion: Promotion) -> dict[str, object] | None:
    """Return the library's recorded answer to this call, or null if it is not recorded."""
    o = find_recorded_answer(promotion)
    return (
        None
        if o is None
        else {
            "asked": o.call.question,
            "versions": dict(o.versions),
            "dtype": o.dtype and o.dtype.name,
            "weak": o.weak,
            "error": o.error,
            "departs": o.departs,
            "reason": o.reason,
            "source": o.source,
            "caution": o.caution,
        }
    )


def _decision_data(decision: Decision) -> dict[str, object]:
    return {
        "key": decision.key,
        "entry": decision.entry,
        "nodes": [str(n) for n in decision.nodes],
        "node": decision.node and str(decision.node),
    }


def _cast_data(cast: OperandCast) -> dict[str, object]:
    """Return a cast as data. `loss` is null if nothing is lost, or for a Python scalar, which has a fit."""
    lost = {field: getattr(cast.loss, field) for field in cast.loss.__match_args__} if cast.loss else None
    return {"operand": str(cast.operand), "from": str(cast.source), "to": cast.target.name, "loss": lost}


def _fit_data(fit: ValueFit) -> dict[str, object]:
    """Return a fit as data. Values that JSON has no number for are text: complex, inf, nan."""
    value, becomes = (
        str(x) if isinstance(x, complex) or (isinstance(x, float) and x - x != 0) else x
        for x in (fit.value, fit.becomes)
    )
    return {"value": value, "in": fit.target.name, "outcome": fit.outcome, "becomes": becomes}
