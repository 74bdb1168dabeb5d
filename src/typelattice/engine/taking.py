"""Which operands an operation takes: their standing, the dtypes of each by itself, and their values."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from typelattice.engine.operations import Domain, Op, entries
from typelattice.engine.rules import Rules
from typelattice.engine.steps import Operated, RefusalError, Shaped, Unheld
from typelattice.facts.dtypes import DType, Kind, weak
from typelattice.facts.operations import operation
from typelattice.facts.range import fitted
from typelattice.operands.operand import Operand

PLACES = {
    "beside": "a Python scalar only beside an array",
    "right": "a Python scalar only on the right of an array",
    "none": "no Python scalar",
}


def check_held(rules: Rules, operands: Iterable[Operand]) -> None:
    """Raises RefusalError for a Python scalar whose value the system does not read, whatever it meets."""
    for o in operands:
        widest = rules.holds.get(o.kind) if o.tier == "scalar" else None
        if widest and o.value is not None and not fitted(o.value, widest)[0]:
            step = Unheld((widest,), None, o.kind.word)
            reason = f"a Python {o.kind.word} has to lie within {widest}, and {o.value} does not"
            raise RefusalError(reason, "use a value within it", step)


def check_operands(rules: Rules, op: Op, operands: Sequence[Operand]) -> None:
    """Raises RefusalError for the first operand that an operation does not take, whatever it would meet."""
    _check_standing(op, operands)
    _check_scalars(rules, op, operands)
    for o in operands:
        own = o.dtype or rules.defaults.get(o.kind) or o.kind
        if op.each is not None and own not in op.each:
            step = Operated((o.dtype or weak(o.kind),), None, entry(rules, op, "each"))
            raise RefusalError(f"{op.name} takes no {_named(o, op.each)}", "cast it first", step)


def _check_standing(op: Op, operands: Sequence[Operand]) -> None:
    """Raises RefusalError for what has no dimensions, where no library takes that."""
    needed = operation(op.name).dimensions
    lacking = [o for o in operands if o.tier != "array"] if needed else []
    if lacking:
        what = "0-d array" if lacking[0].tier == "0d" else f"Python {lacking[0].kind.word}"
        step = Shaped((lacking[0].dtype or weak(lacking[0].kind),), None, op.name)
        many = f"{needed} dimension{'s' * (needed > 1)}"
        reason = f"{op.name} takes no {what}: every operand has at least {many}"
        raise RefusalError(reason, "reshape it first", step)


def _check_scalars(rules: Rules, op: Op, operands: Sequence[Operand]) -> None:
    """Raises RefusalError for a Python scalar in a place where the operation takes none."""
    standing = [o.tier == "scalar" for o in operands]
    taken = {
        "any": True,
        "beside": not all(standing),
        "right": not standing[0],
        "none": not any(standing),
    }
    if not taken[op.scalars]:
        scalar = operands[standing.index(True)]
        step = Operated((scalar.dtype or weak(scalar.kind),), None, entry(rules, op, "scalars"))
        raise RefusalError(f"{op.name} takes {PLACES[op.scalars]}", "make it an array of a dtype", step)


def _named(o: Operand, taken: Domain) -> str:
    """What is not taken: a kind where no dtype of it is, else the dtype."""
    return str(o.dtype if o.dtype and o.kind in taken else o.kind)


def check_alike(rules: Rules, op: Op, operands: Sequence[Operand], dtype: DType) -> None:
    """Raises RefusalError unless every operand that has a dtype has this one."""
    if any(o.dtype not in (None, dtype) for o in operands):
        step = Operated(tuple(o.dtype or dtype for o in operands), None, entry(rules, op, "meet"))
        reason = f"{op.name} does not promote: operands have to be of one dtype"
        raise RefusalError(reason, f"cast all, e.g. to {dtype}", step)


def check_natural(rules: Rules, op: Op, operands: Sequence[Operand], compute: DType) -> None:
    """Raises RefusalError for a negative integer on the right, where the operation takes none."""
    last = operands[-1]
    negative = last.tier == "scalar" and isinstance(last.value, int) and last.value < 0
    if op.natural and negative and compute.kind.rank == Kind.SIGNED.rank:
        step = Operated((weak(last.kind), compute), None, entry(rules, op, "natural"))
        reason = f"{op.name} of integers takes no negative integer on the right"
        raise RefusalError(reason, "cast the left operand to a float", step)


def entry(rules: Rules, op: Op, key: str | None = None) -> str:
    """The entry of `ops` that says a key of an operation, or anything of it; its class if there is none."""
    known = entries(op.name)
    return next((name for name in known if _says(rules, name, key)), known[1])


def _says(rules: Rules, name: str, key: str | None) -> bool:
    """Whether the file says a key of an operation, of a class or of a group."""
    said = rules.ops.get(name, {})
    return bool(said) if key is None else key in said
