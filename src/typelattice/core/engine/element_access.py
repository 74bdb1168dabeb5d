"""Access to elements: indices, and writes into an array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.decisions import (
    Decision,
    DTypeByOperation,
    ForeignArrayCounted,
    NodesJoined,
    RefusalError,
)
from typelattice.core.engine.evaluate_operation import find_operation_rules, left_dtype_after_write
from typelattice.core.engine.foreign_arrays import (
    ARRAY_INDEX_FORM,
    INDEX_FORMS,
    MASK_FORM,
    index_refusal_reason,
)
from typelattice.core.engine.new_arrays import yield_items
from typelattice.core.engine.operation_question import OperationQuestion
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.question import Question
from typelattice.core.engine.rule_enums import InPlaceRule
from typelattice.core.engine.rules import Rules
from typelattice.core.operands.operand import FOREIGN_LIST_MARK, Operand, OperandError
from typelattice.core.operations.operations import OpError

ASSIGNMENT = "setitem"
OUTPUT = "out="
"""The word for a finished result that a function writes into the array of its argument `out`."""
OPERATOR_OF_OUTPUT = "+="  # a write into `out` follows the rules of this operator


def describe_index(
    keys: Sequence[object], read_operand: Callable[[object], Operand]
) -> tuple[str, Sequence[Operand]]:
    """Return how lists stand in an index, one of INDEX_FORMS or "", and the operands in it.

    Raises OperandError or DTypeError for a key that is no index.
    """
    lists = [key for key in keys if isinstance(key, list)]
    others = [key for key in keys if key is not None and not isinstance(key, (list, slice, type(...)))]
    operands = [*map(read_operand, (*others, *yield_items(lists)))]
    if any(map(_is_no_index, operands)):
        raise OperandError("an index of floats; give integers, bools, slices or lists of integers")
    form = INDEX_FORMS[len(keys) > 1] if lists else ""
    return form, operands


def index_array(question: Question, list_form: str, keys: Sequence[Operand]) -> Promotion:
    """Answer the dtype of elements of an array, or the reason why the library refuses the index.

    `list_form` says how lists stand in the index, one of INDEX_FORMS, or is empty without a list. `keys` are
    the operands in the index. No library takes an array of floats there.
    """
    rules, operand = question.rules, question.operands[0]
    library = rules.library.partition(" ")[0]
    of_floats = next(filter(_is_no_index, keys), None)
    if of_floats is not None:
        error = RefusalError(
            f"{of_floats} is no index", "cast it to an integer dtype", NodesJoined((of_floats.node,), None)
        )
        return question.refuse((), error)
    for of, form in _list_index_forms(list_form, keys, library):
        if reason := index_refusal_reason(rules, of, form):
            decision = ForeignArrayCounted((operand.node,), None, of)
            remedy = "index with integers or slices, or call a function"
            return question.refuse((), RefusalError(reason, remedy, decision))
    return question.answer((NodesJoined((operand.node,), operand.node),), operand.dtype, operand.weak)


def _is_no_index(key: Operand) -> bool:
    return key.kind.category > Kind.SIGNED.category


def _list_index_forms(
    list_form: str, keys: Sequence[Operand], library: str
) -> Iterator[tuple[str, str]]:
    """Yield each form that an index has, with the library, or Python for a list, that may refuse it."""
    if list_form:
        yield FOREIGN_LIST_MARK, list_form
    if any(key.kind is Kind.BOOL for key in keys):
        yield FOREIGN_LIST_MARK if list_form else library, MASK_FORM
    if any(key.tier == "array" and key.kind is not Kind.BOOL for key in keys):
        yield library, ARRAY_INDEX_FORM


def write_into_array(question: Question, name: str) -> Promotion:
    """Answer the dtype of an array after a write into it, or the reason why the library refuses the write.

    `name` is `setitem` for an assignment to elements, an operator such as `+=`, or `out=` for a finished
    result. The operands are the array and what is written. If the library's arrays do not change, the answer
    is the dtype of the new array that takes the name, and an assignment to elements is refused.
    """
    rules, (into, value) = question.rules, question.operands
    _check_word(rules, name)
    decisions: list[Decision] = []
    try:
        if name == OUTPUT:
            p = promote_operands(rules, (value,), None, question.find_rule)
            if p.dtype is None:
                return question.rest_on(p, False)
            written = find_operation_rules(rules, OPERATOR_OF_OUTPUT)
            decisions.append(NodesJoined((p.dtype,), p.dtype))
            write = OperationQuestion(rules, written, (into,), decisions)
            return question.answer(decisions, left_dtype_after_write(write, p.dtype))
        if name == ASSIGNMENT:
            _check_assignment(question)
    except RefusalError as e:
        return question.refuse(decisions, e)
    p = promote_operands(rules, question.operands, name, question.find_rule)
    return question.rest_on(p, p.weak)


def _check_word(rules: Rules, name: str) -> None:
    """Raise OpError for a word that names no write."""
    if name not in (ASSIGNMENT, OUTPUT):
        with suppress(OpError):
            if rules.find_operation(name).is_in_place:
                return
        raise OpError(f"{name} writes into no array; name {ASSIGNMENT}, {OUTPUT} or an operator such as +=")


def _check_assignment(question: Question) -> None:
    """Raise RefusalError for an assignment to elements of arrays that do not change."""
    rules = question.rules
    if find_operation_rules(rules, ASSIGNMENT).gives_into is InPlaceRule.COPY_ANY_CAST:
        decision = DTypeByOperation(tuple(o.node for o in question.operands), None, ASSIGNMENT)
        reason = f"{rules.name} has no assignment to elements: its arrays do not change"
        raise RefusalError(reason, "write x = x.at[key].set(value)", decision)
