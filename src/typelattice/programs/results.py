"""What a call gives: its operation's result, one of several results, or a dtype of a kind."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.namespaces.inspection import at_least
from typelattice.operands.operand import Operand, Tier, of
from typelattice.programs.several import COMPUTED, ITSELF, OF_OPERAND, dtype_from
from typelattice.programs.step import Call


def result_of(
    system: System, p: Promotion, step: Call, operands: Sequence[Operand], tier: Tier
) -> tuple[Operand | None, str | None]:
    """The operand that a call gives whose operation came to `p`; None and the reason where it is refused."""
    assert p.dtype is not None
    made, named = of(p.dtype, p.weak, tier), dict(step.keywords)
    if step.name == "result_type" and named:
        found = at_least(system, p.dtype, named["kind"], system.defaults.get)
        return (of(found, tier=tier), None) if found else (None, f"has no dtype of kind {named['kind']}")
    source = dtype_from(step.name, named) if named else ITSELF
    if source == COMPUTED and p.compute is not None:
        return of(p.compute, p.weak, tier), None
    if source == ITSELF:
        return made, None
    of_which = operands[0] if source.endswith(OF_OPERAND) else made
    other = system.explain(of_which, op=source.removesuffix(OF_OPERAND))
    return (None, other.reason) if other.dtype is None else (of(other.dtype, other.weak, tier), None)
