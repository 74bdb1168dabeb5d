"""A promotion as plain data: dictionaries, lists, strings and numbers, as JSON can hold them."""

from __future__ import annotations

from typelattice.engine.decisions import Decision
from typelattice.engine.promotion import OperandCast, Promotion
from typelattice.engine.scalar_fit import ValueFit
from typelattice.recorded.never_asked import is_never_asked
from typelattice.recorded.recorded_answer import find_recorded_answer


def promotion_data(p: Promotion) -> dict[str, object]:
    """Return a promotion as dictionaries, lists, strings and numbers, for JSON."""
    return {
        "system": p.system.name,
        "operands": [str(o) for o in p.operands],
        "op": p.op,
        "dtype": p.dtype and p.dtype.name,
        "weak": p.weak,
        "number": p.python_number_kind and p.python_number_kind.python_name,
        "compute": p.compute and p.compute.name,
        "accumulator": p.accumulator and p.accumulator.name,
        "node": p.node and str(p.node),
        "bounds": [str(n) for n in p.bounds],
        "steps": [_step_data(s) for s in p.decisions],
        "casts": [_cast_data(c) for c in p.casts],
        "fits": [_fit_data(f) for f in p.fits],
        "rule": {"file": p.rule.file, "key": p.rule.key, "lines": list(p.rule.lines)},
        "reason": p.reason,
        "remedy": p.remedy,
        "observed": _describe_observed(p),
        "never_asked": is_never_asked(p),
    }


def _describe_observed(p: Promotion) -> dict[str, object] | None:
    """Return the library's recorded answer to this call, or null if it is not recorded."""
    o = find_recorded_answer(p)
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


def _step_data(s: Decision) -> dict[str, object]:
    return {
        "key": s.key,
        "entry": s.entry,
        "nodes": [str(n) for n in s.nodes],
        "node": s.node and str(s.node),
    }


def _cast_data(cast: OperandCast) -> dict[str, object]:
    """Return a cast as data. `loss` is null if nothing is lost, or for a Python scalar, which has a fit."""
    lost = {field: getattr(cast.loss, field) for field in cast.loss.__match_args__} if cast.loss else None
    return {"operand": str(cast.operand), "from": str(cast.source), "to": cast.target.name, "loss": lost}


def _fit_data(f: ValueFit) -> dict[str, object]:
    """Return a fit as data. Values that JSON has no number for are text: complex, inf, nan."""
    value, becomes = (
        str(x) if isinstance(x, complex) or (isinstance(x, float) and x - x != 0) else x
        for x in (f.value, f.becomes)
    )
    return {"value": value, "in": f.target.name, "outcome": f.outcome, "becomes": becomes}
