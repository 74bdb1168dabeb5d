"""What an operation does once its operands have met, or instead: the dtype it computes in and that of its result.

NumPy's ufuncs do not let operands meet: they take the first loop to which every operand casts, an operand's own loop
before all, so `add` may answer where promotion refuses. Sources: NumPy's linear search over the loops of a ufunc, the
casts that ml_dtypes registers (github.com/jax-ml/ml_dtypes, issue 189).
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from typelattice.engine.answer import Refused, Step
from typelattice.engine.fit import Fit, fits
from typelattice.engine.numpy1 import loop
from typelattice.engine.operations import Op, Target, find
from typelattice.facts.dtypes import DTYPES, DType, Kind, Node
from typelattice.facts.operations import operation
from typelattice.operands.operand import BOOL, Operand

if TYPE_CHECKING:
    from typelattice.engine.system import System


Answer = tuple[Node | None, DType, DType, bool, tuple[Fit, ...]]  # node, computed in, result, weak, values


def operate(system: System, op: str | None, operands: Sequence[Operand], trail: list[Step]) -> Answer:
    """What becomes of operands in an operation, or by promotion alone. Raises OpError, and Refused."""
    if op is None:
        node, dtype, is_weak = system.meet(operands, trail)
        return node, dtype, dtype, is_weak, tuple(fits(system, operands, dtype, None))
    rule = find(op, system.ops)
    met: Node | None = None
    is_weak = beside = False
    dtypes = casting(system, rule, operands)
    if not dtypes:
        beside = aside(rule, operands)
        met, dtype, is_weak = system.meet(operands[:1] if beside else operands, trail, rule.first)
        if rule.alike and any(o.dtype not in (None, dtype) for o in operands):
            step = Step("ops", entry(system, rule), tuple(o.dtype or dtype for o in operands), None)
            raise Refused(f"{rule.name} does not promote: operands have to be of one dtype", f"cast all, e.g. to {dtype}", step)
        dtypes = (dtype,)
    compute, result = apply(system, rule, dtypes, trail)
    if rule.gives == "left":
        result = write(system, rule, compute, operands[0], trail)
    static = beside and "array" not in rule.left  # such an exponent is no operand
    values = tuple(fits(system, operands[:1] if static else operands, compute, rule))
    for off in (f for f in values if f.outcome == "raise"):
        step = Step("fit", off.kind.word, (off.target,), None)
        raise Refused(f"{off.value} is out of range for {off.target}", "use a value within it, or a wider dtype", step)
    if is_weak:
        result, is_weak = weakness(system, rule, result, static or not beside or operands[1].weak)
    return met, compute, result, is_weak, values


def casting(system: System, rule: Op, operands: Sequence[Operand]) -> tuple[DType, ...]:
    """The operands' dtypes, a Python scalar's stand-in among them, where each casts by itself; none where they meet."""
    if system.combine == "value":
        return loop(system, operands, rule.loops)
    stands = any(o.dtype in system.beside for o in operands)
    found = [(system.stand_in.get(o.kind) if stands else None) if o.weak else o.dtype for o in operands]
    return tuple(d for d in found if d) if rule.loops and all(d in system.order for d in found) else ()


def apply(system: System, rule: Op, dtypes: tuple[DType, ...], trail: list[Step]) -> tuple[DType, DType]:
    """(the dtype computed in, the dtype of the result), from where the operands met or from what each is."""
    step = partial(Step, "ops", entry(system, rule), dtypes)
    highest = max((d.kind for d in dtypes), key=lambda kind: kind.rank)
    mapped = {rule.to.get(d) or rule.to.get(d.kind) for d in dtypes}
    to = mapped.pop() if len(mapped) == 1 else None
    compute = default(system, to) if to else _search(system, rule, dtypes) if rule.loops else dtypes[0]
    if compute is None or (highest if rule.loops else compute.kind) not in rule.takes:
        what = highest if compute else " with ".join(map(str, dtypes))
        raise Refused(f"{rule.name} takes no {what}", "cast the operands first", step(None))
    match rule.gives:
        case None | "left":
            result = compute
        case "real" | "complex" as part:
            result = (real if part == "real" else whole)(compute)
        case target:
            result = default(system, target)
    if not trail or dtypes != (compute,) or result is not compute:
        trail.append(step(result))
    return compute, result


def entry(system: System, rule: Op) -> str:
    """What the file calls an operation: by its name, or by its class."""
    return rule.name if rule.name in system.ops else operation(rule.name).of_class


def write(system: System, rule: Op, d: DType, left: Operand, trail: list[Step]) -> DType:
    """The dtype of the left operand after what was computed is written into it, or takes its place."""
    into = left.dtype if left.tier != "scalar" else None
    if into is None or into is d or rule.into == "rebind":
        return d
    kinds = [*Kind]
    held = {"kind": kinds.index(d.kind) <= kinds.index(into.kind), "category": d.kind.rank <= into.kind.rank}
    step = Step("ops", entry(system, rule), (d, into), into if held.get(rule.into) else None)
    if step.node is None:
        raise Refused(f"{d} cannot be written into {into}", "give the result a name of its own, or cast it", step)
    trail.append(step)
    return into


def default(system: System, target: Target) -> DType:
    """A dtype, or the default dtype of a kind. Raises Refused where the system has none."""
    found = target if isinstance(target, DType) else BOOL if target is Kind.BOOL else system.defaults.get(target)
    if found is None:
        step = Step("defaults", str(target), (), None)
        raise Refused(f"{system.name} has no default dtype for {target}", "name the dtype of the result", step)
    return found


def real(d: DType) -> DType:
    """The dtype of the parts of a complex dtype; any other is its own."""
    parts = (x for x in DTYPES.values() if x.kind is Kind.FLOAT and (x.max, x.precision) == (d.max, d.precision))
    return next(parts, d) if d.kind is Kind.COMPLEX else d


def whole(d: DType) -> DType:
    """The complex dtype with parts of a float dtype; any other is its own."""
    return next((x for x in DTYPES.values() if x.kind is Kind.COMPLEX and real(x) is d), d) if d.kind is Kind.FLOAT else d


def aside(rule: Op, operands: Sequence[Operand]) -> bool:
    """Whether the right operand is an integer that leaves the left one its dtype, as an exponent does."""
    return len(operands) == 2 and operands[1].kind.rank == 1 and operands[1].tier in rule.left


def weakness(system: System, rule: Op, result: DType, kept: bool) -> tuple[DType, bool]:
    """A weak result after an operation, and whether it stays weak: `kept` if its operands are all weak."""
    if rule.weak == "default":
        return system.defaults.get(result.kind, result), True
    return result, kept and rule.weak == "keep"


def _search(system: System, rule: Op, dtypes: Sequence[DType]) -> DType | None:
    """The dtype whose loop is taken; None where there is no loop for these."""
    choices = (*(d for d in dtypes if d in rule.own), *rule.loops)
    return next((to for to in choices if all(_casts(system, d, to) for d in dtypes)), None)


def _casts(system: System, a: DType, b: DType) -> bool:
    """Whether a loop of b takes a: b lies above and the pair is not refused, or each casts to the other."""
    pair = frozenset((a, b))
    above = a in system.order and b in system.order and system.order.le(a, b)
    return (above or pair in system.both_ways) and pair not in system.refusals
