"""Another library's arrays among a system's own: what each counts as there, or why it is refused."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from typelattice.engine.operations import find
from typelattice.engine.rules import Rules
from typelattice.engine.steps import Hosted, RefusalError, Step
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.operations import operation
from typelattice.operands.operand import SCALAR, Operand, scalar

ARRAY, NUMBER, FLOAT, OTHER = "array", "number", "float", "other"
WORDS = (ARRAY, NUMBER, FLOAT, OTHER)
"""What a guest counts as: an array of its dtype, a Python number of its kind, a Python float, or an array of
the dtype of the first operand that is no guest. Any other text is the reason of a refusal."""
FORMS = ("array", "scalar", "left")
"""The guests that a file tells apart, beside scalars of one dtype: arrays, scalars, and whichever stands at
the left of an operator."""


def hosted(
    rules: Rules, op: str | None, operands: Sequence[Operand], trail: list[Step]
) -> tuple[Operand, ...]:
    """Operands in which each guest is what it counts as. Raises RefusalError."""
    own = next((o.dtype for o in operands if o.dtype and not o.guest), None)
    return tuple(
        _counted(rules, o, own, op if i == 0 else None, trail) if o.guest else o
        for i, o in enumerate(operands)
    )


def _counted(rules: Rules, o: Operand, own: DType | None, first_of: str | None, trail: list[Step]) -> Operand:
    """What one guest counts as; `first_of`: the operation in which it comes first. Raises RefusalError."""
    assert o.dtype
    library = o.guest.removesuffix(SCALAR)
    is_operator = first_of is not None and operation(first_of).is_operator
    word = _said(rules, o, is_operator)
    if word not in WORDS:
        forms = "scalars" if o.guest.endswith(SCALAR) else "arrays"
        reason = word or f"nothing is recorded of {library}'s {forms} beside its own"
        step = Hosted((o.dtype,), None, library)
        raise RefusalError(reason, "make it one of the library's own first", step)
    # An operation that takes whatever comes first for an array does so with a guest, too.
    as_array = first_of is not None and not is_operator and find(first_of, rules.ops).first
    counts = replace(o, guest="")
    if word == NUMBER:
        counts = scalar(Kind.SIGNED if o.kind is Kind.UNSIGNED else o.kind, o.value)
    elif word == FLOAT:
        counts = scalar(Kind.FLOAT)
    elif word == OTHER and own and not as_array:
        counts = replace(counts, dtype=own, kind=own.kind, value=None)
    trail.append(Hosted((o.dtype,), counts.dtype, _words(o, counts)))
    return counts


def _said(rules: Rules, o: Operand, left: bool) -> str:
    """What the file says of a guest, the most particular that holds; nothing if it says nothing."""
    library = o.guest.removesuffix(SCALAR)
    if library == rules.library.partition(" ")[0]:
        return ARRAY
    said = rules.guests.get(library, {})
    if left and "left" in said:
        return said["left"]
    if not o.guest.endswith(SCALAR):
        return said.get("array", "")
    return said.get(o.dtype) or said.get("scalar", "")


def _words(o: Operand, counts: Operand) -> str:
    """What a guest counts as, in words."""
    what = f"a Python {counts.kind.word}" if counts.tier == "scalar" else f"an array of {counts.dtype}"
    return f"{o} counts as {what}"
