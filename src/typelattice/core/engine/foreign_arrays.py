"""Foreign arrays, made by another library: what operand each counts as, or why it is refused."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.decisions import Decision, ForeignArrayCounted, RefusalError
from typelattice.core.engine.operation_rules import OperationRules
from typelattice.core.engine.rule_enums import ForeignCountsAs
from typelattice.core.engine.rules import Rules
from typelattice.core.operands.operand import (
    FOREIGN_LIST_MARK,
    FOREIGN_SCALAR_SUFFIX,
    Operand,
    scalar_operand,
)

FOREIGN_COUNTS_AS_WORDS = tuple(ForeignCountsAs)  # any other text is the reason of a refusal
INDEX_FORMS = ("index", "indices")
"""How a list may stand in an index: it is the whole of it, as in `x[[0, 2]]`, or one of several, as in
`x[:, [0, 2]]`."""
MASK_FORM = "mask"
"""The form of a list of bools in an index."""
ARRAY_INDEX_FORM = "index-array"
"""The form of an array of integers, with axes, in an index."""
FOREIGN_FORMS = ("array", "scalar", "left", "assigned", *INDEX_FORMS, MASK_FORM, ARRAY_INDEX_FORM)
"""The foreign operands that a file tells apart, beside scalars of one dtype: arrays, scalars, the left
operand of an operator, the right side of an assignment, and lists in an index."""

CONVERSION_PREFIX = "made"
"""The dtypes of the arrays that the library makes of another's: `mx.array(np.ones(3))` is a float32."""


def conversion_form(source: DType) -> str:
    """Return the `foreign` form that names the dtype of an array converted from `source`."""
    return f"{CONVERSION_PREFIX} {source}"


def converted_dtype(rules: Rules, library: str, source: DType) -> str | None:
    """Return the dtype of an array converted from another library's array, or None for the same dtype."""
    return rules.foreign.get(library, {}).get(conversion_form(source))


def replace_foreign_arrays(
    rules: Rules,
    operation_rules: OperationRules | None,
    operands: Sequence[Operand],
    decisions: list[Decision],
) -> tuple[Operand, ...]:
    """Replace each foreign array by the operand that it counts as.

    Raises RefusalError if the library refuses it.
    """
    system_dtype = next((o.dtype for o in operands if o.dtype and not o.foreign_library), None)
    return tuple(
        _convert_foreign_operand(rules, o, system_dtype, operation_rules, i, decisions)
        if o.foreign_library
        else o
        for i, o in enumerate(operands)
    )


def check_nonpromoting_foreign(
    rules: Rules, operands: Sequence[Operand], promoting: Sequence[Operand]
) -> None:
    """Raise RefusalError for a condition or indices that the library refuses, such as a list."""
    for o in operands:
        if o.foreign_library and o not in promoting:
            word = _foreign_word(rules, o, "")
            if word and word not in FOREIGN_COUNTS_AS_WORDS:
                raise _make_refusal(o, word)


def _make_refusal(o: Operand, reason: str) -> RefusalError:
    assert o.dtype
    decision = ForeignArrayCounted((o.dtype,), None, o.foreign_library.removesuffix(FOREIGN_SCALAR_SUFFIX))
    return RefusalError(reason, "make it one of the library's own first", decision)


def _convert_foreign_operand(
    rules: Rules,
    operand: Operand,
    system_dtype: DType | None,
    operation_rules: OperationRules | None,
    position: int,
    decisions: list[Decision],
) -> Operand:
    """Return the operand that a foreign array counts as at a place of an operation.

    Raises RefusalError if it is refused.
    """
    assert operand.dtype
    operation = rules.find_operation(operation_rules.name) if operation_rules else None
    form = ""
    if operation and position == 0 and operation.is_operator:
        form = "left"
    elif operation and position > 0 and operation.operation_class == "assignment":
        form = "assigned"
    word = _foreign_word(rules, operand, form)
    if word not in FOREIGN_COUNTS_AS_WORDS:
        raise _make_refusal(
            operand, word or f"nothing is recorded of {_kind_of_foreign(operand)} beside its own"
        )
    # If the operation converts the operand at this place to an array, it converts a foreign array too.
    as_array = operation_rules is not None and operation_rules.counts_as_array(position)
    counted_operand = replace(operand, foreign_library="")
    if (
        word == ForeignCountsAs.NUMBER
        and operand.foreign_library == FOREIGN_LIST_MARK
        and (system_dtype is None or _needs_dimensions(rules, operation_rules))
    ):
        word = ForeignCountsAs.HOST_DTYPE_ARRAY  # this has dimensions, like the list
    if word == ForeignCountsAs.NUMBER:
        counted_operand = scalar_operand(
            Kind.SIGNED if operand.kind is Kind.UNSIGNED else operand.kind, operand.value
        )
    elif word == ForeignCountsAs.FLOAT:
        counted_operand = scalar_operand(Kind.FLOAT)
    elif word == ForeignCountsAs.HOST_DTYPE_ARRAY and system_dtype and not as_array:
        counted_operand = replace(counted_operand, dtype=system_dtype, kind=system_dtype.kind, value=None)
    decisions.append(
        ForeignArrayCounted(
            (operand.dtype,), counted_operand.dtype, _describe_counted(operand, counted_operand)
        )
    )
    return counted_operand


def _foreign_word(rules: Rules, operand: Operand, form: str) -> str:
    """Return the file's most specific word or reason for a foreign array, or "" without one.

    An array of the system's own library counts as an array. So does a list in a system of no library.
    """
    library = operand.foreign_library.removesuffix(FOREIGN_SCALAR_SUFFIX)
    if library == rules.library.partition(" ")[0] or (library == FOREIGN_LIST_MARK and not rules.library):
        return ForeignCountsAs.ARRAY
    word_by_form = rules.foreign.get(library, {})
    if form in word_by_form:
        return word_by_form[form]
    if not operand.foreign_library.endswith(FOREIGN_SCALAR_SUFFIX):
        return word_by_form.get("array", "")
    return word_by_form.get(operand.dtype) or word_by_form.get("scalar", "")


def index_refusal_reason(rules: Rules, library: str, form: str) -> str | None:
    """Return the reason why a library refuses a list or a mask in an index, or None if it accepts it.

    `library` is `python` for lists, and the system's own library for its arrays of bools. An index promotes
    nothing, so a file only states refusals for it.
    """
    word = rules.foreign.get(library, {}).get(form, ForeignCountsAs.ARRAY)
    return None if word in FOREIGN_COUNTS_AS_WORDS else word


def _needs_dimensions(rules: Rules, operation_rules: OperationRules | None) -> bool:
    """Return True if an operation takes only operands with dimensions."""
    return (
        operation_rules is not None
        and max(
            rules.find_operation(operation_rules.name).required_dimensions,
            operation_rules.required_dimensions,
        )
        > 0
    )


def _kind_of_foreign(operand: Operand) -> str:
    """Name the kind of a foreign array for a refusal, e.g. `torch's scalars`."""
    if operand.foreign_library == FOREIGN_LIST_MARK:
        return "Python's lists"
    forms = "scalars" if operand.foreign_library.endswith(FOREIGN_SCALAR_SUFFIX) else "arrays"
    return f"{operand.foreign_library.removesuffix(FOREIGN_SCALAR_SUFFIX)}'s {forms}"


def _describe_counted(o: Operand, counts: Operand) -> str:
    """Describe in words the operand that a foreign array counts as."""
    what = f"a Python {counts.kind.python_name}" if counts.tier == "scalar" else f"an array of {counts.dtype}"
    return f"{o} counts as {what}"
