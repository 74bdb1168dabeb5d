"""Which operands an operation takes: their standing, the dtypes of each by itself, and their values."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from typelattice.engine.operations import Domain, Op, Target, entries
from typelattice.engine.rules import Rules
from typelattice.engine.steps import Defaulted, Operated, RefusalError, Shaped, Step, Unheld
from typelattice.facts.dtypes import DType, Kind, weak
from typelattice.facts.operations import IN_PLACE, operation
from typelattice.facts.range import fitted
from typelattice.operands.operand import BOOL, Operand

PLACES = {
    "beside": "a Python scalar only beside an array",
    "strong": "a Python scalar, and a weak array, only beside an array that is not weak",
    "right": "a Python scalar only on the right of an array",
    "last": "a Python scalar only as the last operand",
    "none": "no Python scalar",
}


def check_held(holds: Mapping[Target, Sequence[DType]], operands: Iterable[Operand]) -> None:
    """Raises RefusalError for a Python scalar whose value the system does not read, whatever it meets."""
    for o in operands:
        held = holds.get(o.kind) if o.tier == "scalar" else None
        if held and o.value is not None and not any(fitted(o.value, d)[0] for d in held):
            step = Unheld(tuple(held), None, o.kind.word)
            within = " or ".join(map(str, held))
            reason = f"a Python {o.kind.word} has to lie within {within}, and {o.value} does not"
            raise RefusalError(reason, "use a value within it", step)


def check_operands(rules: Rules, op: Op, operands: Sequence[Operand]) -> None:
    """Raises RefusalError for the first operand that an operation does not take, whatever it would meet."""
    check_held(rules.holds if op.holds is None else op.holds, operands)
    _check_standing(rules, op, operands)
    _check_scalars(rules, op, operands)
    for o in operands:
        own = o.dtype or rules.defaults.get(o.kind) or o.kind
        if op.each is not None and own not in op.each:
            step = Operated((o.dtype or weak(o.kind),), None, entry(rules, op, "each"))
            raise RefusalError(f"{op.name} takes no {_named(o, op.each)}", "cast it first", step)


def _check_standing(rules: Rules, op: Op, operands: Sequence[Operand]) -> None:
    """Raises RefusalError for what has no dimensions, where no library takes that or this one does not."""
    everywhere = operation(op.name).dimensions
    needed = max(everywhere, op.dimensions)
    lacking = [o for o in operands if o.tier != "array"] if needed else []
    if lacking:
        what = "0-d array" if lacking[0].tier == "0d" else f"Python {lacking[0].kind.word}"
        found = (lacking[0].dtype or weak(lacking[0].kind),)
        says = entry(rules, op, "dimensions")
        step: Step = Shaped(found, None, op.name) if everywhere else Operated(found, None, says)
        many = f"{needed} dimension{'s' * (needed > 1)}"
        reason = f"{op.name} takes no {what}: every operand has at least {many}"
        raise RefusalError(reason, "reshape it first", step)


def _check_scalars(rules: Rules, op: Op, operands: Sequence[Operand]) -> None:
    """Raises RefusalError for a Python scalar, or a weak array, in a place where the operation takes none."""
    if op.scalars == "any":  # as of most operations
        return
    standing = [o.tier == "scalar" for o in operands]
    taken = {
        "beside": not all(standing),
        "strong": not all(o.tier == "scalar" or o.weak for o in operands),
        "right": not standing[0],
        "last": not any(standing[:-1]),
        "none": not any(standing),
    }
    if not taken[op.scalars]:
        found = operands[standing.index(True) if any(standing) else 0]
        step = Operated((found.dtype or weak(found.kind),), None, entry(rules, op, "scalars"))
        raise RefusalError(f"{op.name} takes {PLACES[op.scalars]}", "make it an array of a dtype", step)


def _named(o: Operand, taken: Domain) -> str:
    """What is not taken: a kind where no dtype of it is, else the dtype."""
    return str(o.dtype if o.dtype and o.kind in taken else o.kind)


def check_alike(rules: Rules, op: Op, operands: Sequence[Operand], dtype: DType) -> None:
    """Raises RefusalError unless every operand that has a dtype has this one."""
    if any(o.tier != "scalar" and o.dtype not in (None, dtype) for o in operands):
        step = Operated(tuple(o.dtype or dtype for o in operands), None, entry(rules, op, "meet"))
        reason = f"{op.name} does not promote: operands have to be of one dtype"
        raise RefusalError(reason, f"cast all, e.g. to {dtype}", step)


def check_natural(rules: Rules, op: Op, last: Operand, value: object, compute: DType) -> None:
    """Raises RefusalError for a Python int on the right that is, once wrapped, negative or too great."""
    holding = op.natural if isinstance(op.natural, DType) else None
    tiers = ("scalar",) if isinstance(op.natural, DType) else op.natural
    if last.tier not in tiers or not isinstance(value, int):
        return
    beyond = not fitted(value, holding)[0] if holding else value < 0
    if beyond and compute.kind.rank == Kind.SIGNED.rank:
        step = Operated((weak(last.kind), compute), None, entry(rules, op, "natural"))
        reason = f"{op.name} of integers takes no negative integer on the right"
        if value >= 0:
            reason = f"{op.name} of integers takes no integer beyond {op.natural} on the right"
        if value != last.value:
            reason += f": {last.value} wraps to {value}"
        raise RefusalError(reason, "cast the left operand to a float", step)


def entry(rules: Rules, op: Op, key: str | None = None) -> str:
    """The entry of `ops` that says a key of an operation, or anything of it; its class if there is none."""
    known = entries(op.name)
    of_class = IN_PLACE if key == "into" and IN_PLACE in known else known[-2]
    return next((name for name in known if _says(rules, name, key)), of_class)


def _says(rules: Rules, name: str, key: str | None) -> bool:
    """Whether the file says a key of an operation, of a class or of a group."""
    said = rules.ops.get(name, {})
    return bool(said) if key is None else key in said or f"{key}_of" in said


def default_of(rules: Rules, target: Target) -> DType:
    """A dtype, or the default dtype of a kind. Raises RefusalError where the system has none."""
    if isinstance(target, DType):
        return target
    found = BOOL if target is Kind.BOOL else rules.defaults.get(target)
    if found is None:
        step = Defaulted((), None, str(target))
        reason = f"{rules.name} has no default dtype for {target}"
        raise RefusalError(reason, "name the dtype of the result", step)
    return found
