"""Another library's arrays among a system's own: what each counts as there, or why it is refused."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from typelattice.engine.operations import find
from typelattice.engine.rules import Rules
from typelattice.engine.steps import Hosted, RefusalError, Step
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.operations import operation
from typelattice.operands.operand import LISTS, SCALAR, Operand, scalar

ARRAY, NUMBER, FLOAT, OTHER = "array", "number", "float", "other"
WORDS = (ARRAY, NUMBER, FLOAT, OTHER)
"""What a guest counts as: an array of its dtype, a Python number of its kind, a Python float, or an array of
the dtype of the first operand that is no guest. Any other text is the reason of a refusal. A list that counts
as a number is an array of such a dtype where it stands alone, or where an operation wants dimensions."""
INDICES = ("index", "indices")
"""How a list may stand in an index: it is the whole of it, as in `x[[0, 2]]`, or one of several, as in
`x[:, [0, 2]]`."""
FORMS = ("array", "scalar", "left", "assigned", *INDICES)
"""The guests that a file tells apart, beside scalars of one dtype: arrays, scalars, whichever stands at the
left of an operator, whichever is assigned to elements, and lists in an index."""


def hosted(
    rules: Rules, op: str | None, operands: Sequence[Operand], trail: list[Step]
) -> tuple[Operand, ...]:
    """Operands in which each guest is what it counts as. Raises RefusalError."""
    own = next((o.dtype for o in operands if o.dtype and not o.guest), None)
    return tuple(
        _counted(rules, o, own, op, i, trail) if o.guest else o for i, o in enumerate(operands)
    )


def _counted(
    rules: Rules, o: Operand, own: DType | None, op: str | None, place: int, trail: list[Step]
) -> Operand:
    """What one guest counts as, the operand of an operation at a place. Raises RefusalError."""
    assert o.dtype
    library = o.guest.removesuffix(SCALAR)
    first_of = op if place == 0 else None
    is_operator = first_of is not None and operation(first_of).is_operator
    assigned = op is not None and place > 0 and operation(op).of_class == "assignment"
    word = _said(rules, o, "left" if is_operator else "assigned" if assigned else "")
    if word not in WORDS:
        reason = word or f"nothing is recorded of {_kind_of_guest(o)} beside its own"
        step = Hosted((o.dtype,), None, library)
        raise RefusalError(reason, "make it one of the library's own first", step)
    # An operation that makes an array of what stands there does so with a guest, too.
    as_array = op is not None and find(op, rules.ops).makes_array(place)
    counts = replace(o, guest="")
    if word == NUMBER and o.guest == LISTS and (own is None or _needs_dimensions(rules, op)):
        word = OTHER  # which has dimensions, as the list has
    if word == NUMBER:
        counts = scalar(Kind.SIGNED if o.kind is Kind.UNSIGNED else o.kind, o.value)
    elif word == FLOAT:
        counts = scalar(Kind.FLOAT)
    elif word == OTHER and own and not as_array:
        counts = replace(counts, dtype=own, kind=own.kind, value=None)
    trail.append(Hosted((o.dtype,), counts.dtype, _words(o, counts)))
    return counts


def _said(rules: Rules, o: Operand, form: str) -> str:
    """What the file says of a guest, the most particular that holds; nothing if it says nothing.

    A system that is no library's has no say in what becomes of lists: they are arrays.
    """
    library = o.guest.removesuffix(SCALAR)
    if library == rules.library.partition(" ")[0] or (library == LISTS and not rules.library):
        return ARRAY
    said = rules.guests.get(library, {})
    if form in said:
        return said[form]
    if not o.guest.endswith(SCALAR):
        return said.get("array", "")
    return said.get(o.dtype) or said.get("scalar", "")


def index_refusal(rules: Rules, form: str) -> str | None:
    """Why a library takes no list where it stands in an index; None where it takes one, as an array.

    There nothing is promoted, and so a file states refusals alone.
    """
    word = rules.guests.get(LISTS, {}).get(form, ARRAY)
    return None if word in WORDS else word


def _needs_dimensions(rules: Rules, op: str | None) -> bool:
    """Whether an operation takes nothing without dimensions."""
    return op is not None and max(operation(op).dimensions, find(op, rules.ops).dimensions) > 0


def _kind_of_guest(o: Operand) -> str:
    """What a guest is, as a refusal names it."""
    if o.guest == LISTS:
        return "Python's lists"
    forms = "scalars" if o.guest.endswith(SCALAR) else "arrays"
    return f"{o.guest.removesuffix(SCALAR)}'s {forms}"


def _words(o: Operand, counts: Operand) -> str:
    """What a guest counts as, in words."""
    what = f"a Python {counts.kind.word}" if counts.tier == "scalar" else f"an array of {counts.dtype}"
    return f"{o} counts as {what}"
