"""What becomes of a Python scalar's value in the dtype it adopts: it fits, or the system's policy says."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typelattice.dtypes import DType, Kind
from typelattice.loss import rounds_within, scaled
from typelattice.operand import Operand, Value
from typelattice.ops import Op

if TYPE_CHECKING:
    from typelattice.system import System

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


def fitted(value: Value, target: DType) -> tuple[bool, Value | None]:
    """Whether a value lies within the range of a dtype, once rounded; and what it wraps to, or overflows to, if not.

    >>> from typelattice import dtype
    >>> fitted(300, dtype("uint8")), fitted(1e39, dtype("float32")), fitted(7, dtype("int4"))
    ((False, 44), (False, inf), (True, None))
    """
    parts = [value.real, value.imag] if isinstance(value, complex) else [value]
    if target.max is None or all(v != v for v in parts):
        return True, None
    if target.precision is None:
        low, span = target.min or 0, 1 << (target.bits or 0)
        held = all(low <= v <= target.max for v in parts)
        return held, None if held or not isinstance(value, int) else int((value - low) % span + low)
    beyond = [not _has(target, v) for v in parts]
    held = not any(beyond)
    most = float("inf" if "i" in target.specials else "nan" if "n" in target.specials else target.max)
    becomes = [(most if v > 0 else -most) if out else v for v, out in zip(parts, beyond, strict=True)]
    return held, None if held else complex(*becomes) if len(parts) == 2 else becomes[0]


def _has(d: DType, v: float) -> bool:
    """Whether a float dtype has a value for a real number, once rounded; any has one for NaN."""
    if v != v or v == 0:
        return True
    if v < 0 and "s" not in d.specials:
        return False
    return rounds_within(abs(scaled(v)), d) if v - v == 0 else "i" in d.specials
