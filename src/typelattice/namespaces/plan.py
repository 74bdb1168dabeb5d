"""How an operation on operands is carried out: what each is cast to, what computes, what the result is.

A plan depends on dtypes, weakness and tiers, and on values only under a system that looks at them: it is
made once, from the answer of the system, and kept.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.engine.answer import Promotion
from typelattice.engine.operations import find
from typelattice.engine.system import System
from typelattice.facts.dtypes import DType, Kind, Weak
from typelattice.facts.operations import OPERATIONS
from typelattice.facts.range import Value, fitted
from typelattice.namespaces.errors import NamespaceError
from typelattice.namespaces.libraries.library import Library
from typelattice.operands.operand import SCALARS, Operand, of, scalar

RAW = ("exact", "unsaid", "widen")  # what becomes of a value that the library is to see as it is


class Standing:
    """What an array is to the system: its operand. `native` is the library's dtype. One object for each."""

    __slots__ = ("native", "operand")

    def __init__(self, operand: Operand, native: Any) -> None:
        self.operand = operand
        self.native = native


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How an operation on operands is carried out.

    `compute` casts its operands and calls the library; `finish` casts what it gave, if that has to be. `low`
    to `high` are the values of a Python scalar for which the plan holds.
    """

    promotion: Promotion
    compute: Callable[..., Any]
    finish: Callable[[Any], Any] | None
    standing: Standing
    low: float
    high: float

    def holds(self, value: Value | None) -> bool:
        """Whether the plan is that of a Python scalar, too, or of none."""
        return value is None or (not isinstance(value, complex) and self.low <= value <= self.high)


class Planner:
    """The plans of one system over one library."""

    def __init__(self, system: System, library: Library) -> None:
        self.system, self.library = system, library
        self.by_value = system.combine == "value"
        weak_nodes = any(isinstance(node, Weak) for node in system.order.nodes)
        self.weak_arrays = weak_nodes or "scalar" not in system.tiers
        self._standings: dict[tuple[DType, bool, bool], Standing] = {}

    def standing(self, dtype: DType, weak: bool, zero_d: bool) -> Standing:
        """The one standing of these."""
        key = dtype, weak, zero_d
        found = self._standings.get(key)
        if found is None:
            operand = of(dtype, weak=weak, tier="0d" if zero_d else "array")
            found = self._standings.setdefault(key, Standing(operand, self.library.native(dtype)))
        return found

    def of(self, data: Any, dtype: DType | None = None, weak: bool = False) -> Standing:
        """The standing of an array of the library's."""
        return self.standing(dtype or self.library.dtype(data), weak, data.ndim == 0)

    def weak_alone(self, kind: Kind) -> bool:
        """Whether a Python scalar of a kind is weak by itself, as an array of it is then."""
        return self.system.explain(scalar(kind)).weak

    def operand(self, standing: Standing, data: Any) -> Operand:
        """The operand that an array is; with its value where the system looks at values."""
        o = standing.operand
        if not self.by_value or o.tier != "0d" or o.dtype is None:
            return o
        return of(o.dtype, tier="0d", value=self.library.value(data))

    def promote(self, op: str, operands: Sequence[Operand]) -> Promotion:
        """The system's answer. Raises PromotionError of a refusal, in an unknown operation OpError."""
        return self.system.promote(*operands, op=op)

    def elementwise(self, op: str, operands: Sequence[Operand]) -> Plan:
        """The plan of an operation of arrays alone, carried out by the library's function of that name."""
        p = self.promote(op, operands)
        compute, result = self.library.native(p.compute or p.result), self.library.native(p.result)
        zero_d = all(o.tier != "array" for o in operands)
        as_is = self.exact(op, operands, p)
        sources = [
            compute if as_is or not o.dtype or o.tier == "scalar" else self.library.native(o.dtype)
            for o in operands
        ]
        function = self.library.casting(op, compute, sources, zero_d)
        low, high = self.range(operands, p)
        return Plan(p, function, self.finish(result), self.standing(p.result, p.weak, zero_d), low, high)

    def exact(self, op: str, operands: Sequence[Operand], p: Promotion) -> bool:
        """Whether integers of two signs are compared exactly, by the library and by the system."""
        exact = self.by_value or find(op, self.system.ops).fit == {}
        comparison = OPERATIONS[op].of_class in ("comparison", "ordering")
        if not (self.library.exact_comparisons and exact and comparison and p.compute is not None):
            return False
        return p.compute.kind is Kind.FLOAT and all(o.dtype and o.kind.rank == 1 for o in operands)

    def finish(self, result: Any) -> Callable[[Any], Any]:
        """A cast to the result, where the library gave another."""
        cast = self.library.cast
        return lambda out: out if out.dtype == result else cast(out, result)

    def range(self, operands: Sequence[Operand], p: Promotion) -> tuple[float, float]:
        """The values of a Python scalar for which the plan surely holds; none if low is above high."""
        none = 1, 0
        scalars = [o for o in operands if o.tier == "scalar"]
        if not scalars or self.by_value or scalars[0].kind is Kind.COMPLEX or p.compute is None:
            return none
        if scalars[0].kind is Kind.BOOL:
            return 0, 1
        defaults = self.system.defaults.get(scalars[0].kind)
        bounds = [d for d in (p.compute, defaults) if d and d.kind is not Kind.BOOL]
        if any(d.max is None or d.min is None for d in bounds) or p.compute.kind is Kind.BOOL:
            return none
        return max(d.min or 0 for d in bounds), min(d.max or 0 for d in bounds)

    def number(self, value: Value, p: Promotion, like: Any) -> Any:
        """A Python scalar as the library is to see it, wrapped or infinite if it has to be.

        Raises NamespaceError where the system refuses the value.
        """
        to = p.compute or p.result
        fit = next((f for f in p.fits if f.kind is SCALARS[type(value)] and f.value == value), None)
        if fit and fit.outcome == "raise":
            what = f"{value} is out of range for {to} under {self.system.name}"
            raise NamespaceError(f"{what}; use a value within it, or cast first")
        if fit and fit.outcome in RAW and not fitted(value, to)[0]:
            return self.library.beyond(value)
        shown = value if fit is None or fit.becomes is None else fit.becomes
        try:
            return self.library.number(shown, self.library.native(to), like)
        except (OverflowError, TypeError) as e:
            why = f"{self.library.name} makes no {to} of {value} ({e})"
            raise NamespaceError(f"{why}; use a value within its range") from e


def number(x: object) -> Value | None:
    """A Python number, an IntEnum's or a subclass's as its plain value; None if it is none.

    A scalar of a library, which has a dtype, is none, even if its class derives from float.
    """
    if type(x) in SCALARS:
        return x  # type: ignore[return-value]
    if not isinstance(x, (int, float, complex)) or hasattr(x, "dtype"):
        return None
    return int(x) if isinstance(x, int) else float(x) if isinstance(x, float) else complex(x)


def scalar_of(value: Value) -> Operand:
    """The operand that a Python number is."""
    return scalar(SCALARS[type(value)], value)
