"""What becomes of a Python scalar's value in the dtype it adopts: it fits, or the system's policy says."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typelattice.engine.operations import Op
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.range import Value, fitted
from typelattice.operands.operand import Operand

if TYPE_CHECKING:
    from typelattice.engine.system import System

OUTCOMES = ("raise", "wrap", "inf", "widen", "exact")
DEFAULT = "default "  # before an outcome: raise, unless the default dtype of the value's kind holds it


@dataclass(frozen=True, slots=True)
class Fit:
    """A value that meets a dtype: `outcome` is `fits`, what the system does with it, or `unsaid`.

    `becomes` is the value after wrapping or overflow, None where it stays what it is.
    """

    kind: Kind
    value: Value
    target: DType
    outcome: str
    becomes: Value | None


def fits(system: System, operands: Sequence[Operand], to: DType, rule: Op | None) -> Iterator[Fit]:
    """What becomes of each Python scalar of known value that is cast to a dtype, in an operation or without."""
    stands = rule is not None and bool(rule.loops) and any(o.dtype in system.beside for o in operands)
    policy = system.fit if rule is None or rule.fit is None or (stands and not rule.fit) else rule.fit
    for o in operands:
        if not o.weak or o.tier != "scalar" or o.value is None:
            continue
        how = policy.get((o.kind if to.kind.rank <= o.kind.rank else to.kind).word, "").removeprefix(DEFAULT)
        default, bound = system.defaults.get(o.kind), policy.get(o.kind.word, "").startswith(DEFAULT)
        if default and (bound or (stands and to in system.beside)) and not fitted(o.value, default)[0]:
            yield Fit(o.kind, o.value, default, "raise", None)
            continue
        held, becomes = fitted(o.value, to)
        changed = not held and how in ("wrap", "inf")
        yield Fit(o.kind, o.value, to, "fits" if held else how or "unsaid", becomes if changed else None)
