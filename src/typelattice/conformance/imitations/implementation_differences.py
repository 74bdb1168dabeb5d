"""An implementation against what it imitates: each difference by its sort and its root cause."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from operator import itemgetter

from typelattice.conformance.recording.ask_in_parallel import AnswerSource
from typelattice.conformance.recording.chains import (
    CHAIN_SEPARATOR,
    answer_step_by_step,
    split_off_last_call,
    yield_parts,
)
from typelattice.conformance.recording.compare_with_system import answer_as_recorded
from typelattice.conformance.recording.compared_values import have_same_values
from typelattice.conformance.recording.in_process_library import Catalogue
from typelattice.conformance.recording.library import ParsedOperandString
from typelattice.conformance.recording.questions import Question, plan_calls
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.engine.system import System
from typelattice.core.evidence.answer_notation import (
    EXCEPTION_PREFIX,
    NON_NUMBER_PREFIXES,
    NOT_ASKED_ANSWER,
    REFUSED_SIGN,
    TEXT_BY_BROKEN_ANSWER,
    outline_message,
    split_form,
)
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.evidence.recording_files import open_recording
from typelattice.core.operations.operations import OPERATION_BY_NAME

RANDOM_CALLS_PER_OPERATION = 200
"""Random calls of three operands and more, of each operation that takes them."""

BREAKS_DOWN, REFUSES_ACCEPTED, ACCEPTS_REFUSED, OTHER_DTYPE, ARRAY_OR_SCALAR, OTHER_VALUE, VAGUE_ANSWER = (
    DIFFERENCE_TYPES
) = (
    "breaks down",
    "refuses what is accepted",
    "accepts what is refused",
    "another dtype",
    "array or scalar",
    "another value",
    "vague",
)
AGREES_WORD = "agrees"
VAGUE_PREFIX = "?"
"""The first character of an answer that leaves the dtype open, such as a type: `?floating`."""


PYTHON_NUMBER_TIER = "Python numbers"
VARIABLE_TEXT_PATTERN = re.compile(
    r"""(["'`])[^"'`]*\1|0x[0-9a-f]+|\s*This error occurred in .*|; NodeDef: .*"""
)
"""What a message quotes, such as the name of a kernel, addresses in memory, and the expression or node."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A call that an implementation answers differently from what was expected.

    Of a chain, `chain_step` is the operation that differs, with the operands that it has there.
    `agrees_alone` says that this operation agrees as a call, so that the chain has a cause of its own.
    """

    expected: RecordedCall
    found: RecordedCall
    chain_step: Question | None = None
    agrees_alone: bool = False

    @property
    def call(self) -> Question:
        """The operation that differs, and its operands."""
        return self.chain_step or (self.found.op, self.found.operands)

    @property
    def operation_class(self) -> str:
        """The class of the operation that differs."""
        return class_name_of(self.call[0]) + (" in programs" if self.agrees_alone else "")

    @property
    def difference_type(self) -> str:
        if self.found.answer in TEXT_BY_BROKEN_ANSWER:
            return BREAKS_DOWN
        if split_form(self.expected.answer)[1]:
            return ARRAY_OR_SCALAR
        if self.found.answer.startswith(VAGUE_PREFIX):
            return VAGUE_ANSWER
        if _is_refusal(self.found.answer):
            return REFUSES_ACCEPTED
        if _is_refusal(self.expected.answer):
            return ACCEPTS_REFUSED
        return OTHER_VALUE if self.expected.answer == self.found.answer else OTHER_DTYPE

    @property
    def message(self) -> str:
        """The message of the refusal; "" if both sides accept."""
        refused = (each.message for each in (self.found, self.expected) if _is_refusal(each.answer))
        return next(refused, "")

    @property
    def cause(self) -> str:
        """The root cause as far as calls show it: two differences with the same one are reported once.

        A refusal is identified by its message without dtypes, numbers and names of operations. Another dtype
        is identified by the class of the operation, whether Python numbers take part, and how dtypes differ;
        an array for a scalar so, too; another value by the operation and the kind of number.
        """
        op, operands = self.call
        if self.difference_type == BREAKS_DOWN:
            return f"{self.operation_class}: {TEXT_BY_BROKEN_ANSWER[self.found.answer]}"
        if self.difference_type == VAGUE_ANSWER:
            return self.found.answer[len(VAGUE_PREFIX) :]
        if self.difference_type in (OTHER_DTYPE, ARRAY_OR_SCALAR):
            beside = " with Python numbers" if PYTHON_NUMBER_TIER in map(_tier_words, operands) else ""
            difference = _describe_difference(self.expected.answer, self.found.answer)
            return f"{self.operation_class}{beside}: {difference}"
        if self.difference_type == OTHER_VALUE:
            kind = DTYPES.get(self.found.answer.rstrip("*"))
            function = OPERATION_BY_NAME[op].function if op in OPERATION_BY_NAME else op
            return f"{function}: {kind.kind if kind else self.found.answer}"
        refusal = self.found if self.difference_type == REFUSES_ACCEPTED else self.expected
        message = _blank_names(outline_message(refusal.message), op)
        cause = refusal.answer.strip(EXCEPTION_PREFIX + REFUSED_SIGN) or "by rule"
        return f"{cause}: {message or self.operation_class}"

    def __str__(self) -> str:
        if self.difference_type == OTHER_VALUE:
            return f"{self.found}: {self.found.message}, expected {self.expected.message}"
        return f"{self.found}, expected {self.expected.answer}"


@dataclass(frozen=True, slots=True)
class DifferenceCause:
    """Differences with one root cause, the simplest call first."""

    difference_type: str
    description: str
    differences: tuple[Difference, ...]

    @property
    def name(self) -> str:
        """The line that names it in a report."""
        return f"{self.difference_type}: {self.description}"


def class_name_of(op_name: str) -> str:
    """The class of an operation; of a library's own one the beginning of its name, such as `special`."""
    if CHAIN_SEPARATOR in op_name:
        return "programs"
    return (
        OPERATION_BY_NAME[op_name].operation_class
        if op_name in OPERATION_BY_NAME
        else op_name.partition("_")[0]
    )


def select_askable(calls: Iterable[RecordedCall], catalogue: Catalogue) -> list[RecordedCall]:
    """The calls that an implementation has, but those that nobody answered or that broke the reference."""
    operands, operations, multi_operand_operations = (
        {*catalogue.operands},
        {*catalogue.operations},
        {*catalogue.multi_operand_operations},
    )
    return [
        call
        for call in calls
        if call.op in (operations if len(call.operands) < 3 else multi_operand_operations)
        and operands.issuperset(call.operands)
        and call.answer != NOT_ASKED_ANSWER
        and call.answer not in TEXT_BY_BROKEN_ANSWER
    ]


def find_differences(
    answer_source: AnswerSource, expected: Sequence[RecordedCall]
) -> Iterator[tuple[RecordedCall, Difference | None]]:
    """Ask an implementation each expected call; yield it with its difference, None if it agrees."""
    answers = answer_source.answers([(call.op, call.operands) for call in expected])
    for call, (answer, message) in zip(expected, answers, strict=True):
        if has_values(call) and answer == call.answer and not message:
            answer = f"{VAGUE_PREFIX}no values"
        if answer != NOT_ASKED_ANSWER:
            expected_answer, answer = _drop_common_suffixes(call.answer, answer)
            expected_call = replace(call, answer=expected_answer)
            found = RecordedCall(call.op, call.operands, answer, message)
            yield call, None if _answers_agree(expected_call, found) else Difference(expected_call, found)


def _drop_common_suffixes(expected: str, found: str) -> tuple[str, str]:
    """Leave out of two answers whether they are arrays or scalars, unless that alone differs."""
    (expected_dtype, expected_suffix), (found_dtype, found_suffix) = split_form(expected), split_form(found)
    if (
        expected_suffix
        and found_suffix
        and expected_suffix != found_suffix
        and (expected_dtype == found_dtype or found_dtype.startswith(VAGUE_PREFIX))
    ):
        return expected, found
    return expected_dtype, found_dtype


def group_by_cause(differences: Iterable[Difference]) -> list[DifferenceCause]:
    """Return the differences by root cause: sort by sort, the commonest cause first."""
    groups: dict[tuple[str, str], list[Difference]] = {}
    for each in differences:
        groups.setdefault((each.difference_type, each.cause), []).append(each)
    found_causes, ungrouped = _group_by_wrong_rule(sorted(groups.values(), key=len, reverse=True))
    merged: list[list[list[Difference]]] = []
    for group in ungrouped:
        (groups_of_cause := next((m for m in merged if _have_same_cause(m[0], group)), [])).append(group)
        if len(groups_of_cause) == 1:
            merged.append(groups_of_cause)
    found_causes += [_join_groups_of_cause(parts) for parts in merged]
    return sorted(
        found_causes,
        key=lambda c: (DIFFERENCE_TYPES.index(c.difference_type), -len(c.differences), c.description),
    )


def _group_by_wrong_rule(
    groups: Sequence[list[Difference]],
) -> tuple[list[DifferenceCause], list[list[Difference]]]:
    """Join groups of one class that a wrong rule explains together, such as "the first operand's dtype".

    Returns their causes, and the groups that are left.
    """
    groups_by_rule: dict[tuple[str, str], list[list[Difference]]] = {}
    for group in groups:
        if rule := _find_simplest_rule(group):
            groups_by_rule.setdefault((group[0].operation_class, rule), []).append(group)
    joined = {key: parts for key, parts in groups_by_rule.items() if len(parts) > 1}
    found_causes = [
        DifferenceCause(OTHER_DTYPE, f"{of_class}: {rule}", _sort_differences(parts))
        for (of_class, rule), parts in joined.items()
    ]
    return found_causes, [group for group in groups if not any(group in parts for parts in joined.values())]


def _find_simplest_rule(group: Sequence[Difference]) -> str | None:
    """Return the simplest rule that gives every answer found; None if there is none."""
    if group[0].difference_type != OTHER_DTYPE or len(group[0].call[1]) < 2:
        return None
    for position, word in ((0, "first"), (-1, "last")):
        if all(d.found.answer == ParsedOperandString.parse(d.call[1][position]).dtype for d in group):
            return f"the {word} operand's dtype"
    answers = {each.found.answer for each in group}
    return f"always {answers.pop()}" if len(answers) == 1 else None


def _sort_differences(parts: Iterable[Iterable[Difference]]) -> tuple[Difference, ...]:
    return tuple(sorted((each for part in parts for each in part), key=_simplicity_key))


def _have_same_cause(one: Sequence[Difference], other: Sequence[Difference]) -> bool:
    """Return True if two classes of operations give the same wrong dtypes for the same operands.

    This is so if what decides the dtype is the same for both, such as a wrong entry in a table.
    """
    if one[0].difference_type != other[0].difference_type or one[0].difference_type not in (
        OTHER_DTYPE,
        ARRAY_OR_SCALAR,
    ):
        return False
    first_keys = {_key_without_operation(each) for each in one}
    return len(one[0].call[1]) > 1 and all(_key_without_operation(each) in first_keys for each in other)


def _key_without_operation(difference: Difference) -> tuple[str, ...]:
    return *sorted(difference.call[1]), difference.expected.answer, difference.found.answer


def _join_groups_of_cause(parts: Sequence[Sequence[Difference]]) -> DifferenceCause:
    """Join groups of differences with one cause; its text names their classes, the commonest first."""
    sort, cause = parts[0][0].difference_type, parts[0][0].cause
    others = [part[0].operation_class for part in parts[1:]]
    if others:
        of_class, _, description = cause.partition(":")
        cause = f"{', '.join([of_class, *others])}:{description}"
    return DifferenceCause(sort, cause, _sort_differences(parts))


def calls_of_system(system: System, catalogue: Catalogue) -> Sequence[RecordedCall]:
    """Return the calls to ask, each with the recorded answer; without a recording, with the rule's answer.

    Calls of Python numbers alone are left out: Python answers them, or the library as it likes.
    """
    if recording := open_recording(system.name):
        asked_operations = [
            op
            for op in recording.operations
            if op in catalogue.operations or op in catalogue.multi_operand_operations
        ]
        numbers = {operand for operand in catalogue.operands if _tier_words(operand) == PYTHON_NUMBER_TIER}
        among = frozenset(catalogue.operands)
        calls = (call for op in asked_operations for call in recording.calls_of(op, among=among))
        return [call for call in calls if not numbers.issuperset(call.operands)]
    read_operand = cache(system.operand)
    return [
        RecordedCall(op, operands, answer_as_recorded(system.explain(*map(read_operand, operands), op=op)))
        for op, operands in questions_of_both(catalogue, catalogue)
    ]


def operands_of_system(system: System, catalogue: Catalogue) -> Sequence[str]:
    """Return the operands of which a system has answers; a rule answers for all that there are."""
    if recording := open_recording(system.name):
        return recording.operands
    return [*map(str, system.dtypes), *catalogue.operands]


def answers_of_system(system: System, chains: Iterable[Question]) -> Iterator[RecordedCall]:
    """Yield chains with a system's answers, one operation after the other; see `calls_of_system`."""
    recording = open_recording(system.name)

    def ask(question: Question) -> str:
        op, operands = question
        if recording is None:
            return answer_as_recorded(system.explain(*map(system.operand, operands), op=op))
        call = recording.find_call(op, operands)
        return call.answer if call else NOT_ASKED_ANSWER

    for chain, operands in chains:
        yield RecordedCall(chain, operands, answer_step_by_step(chain, operands, ask))


def chain_differences(
    answer_source: AnswerSource,
    expect: Callable[[Sequence[Question]], Iterable[RecordedCall]],
    chains: Sequence[Question],
    number: int,
) -> Iterator[tuple[RecordedCall, Difference | None]]:
    """Ask so many chains of operations, of those that have an expected answer.

    Yields each with the smallest part of it that differs, None if it agrees.
    """
    expected = [*islice(askable_chains(expect(chains)), number)]
    for call, difference in [*find_differences(answer_source, expected)]:
        if difference and difference.difference_type != VAGUE_ANSWER:
            difference = _find_smallest_part(answer_source, expect, difference)
        yield call, difference


def askable_chains(calls: Iterable[RecordedCall]) -> Iterator[RecordedCall]:
    """Yield the chains that were answered, and did not break the reference."""
    return (
        call for call in calls if call.answer != NOT_ASKED_ANSWER and call.answer not in TEXT_BY_BROKEN_ANSWER
    )


def _find_smallest_part(
    answer_source: AnswerSource,
    expect: Callable[[Sequence[Question]], Iterable[RecordedCall]],
    whole: Difference,
) -> Difference:
    """Return the difference of the smallest part of a chain that has one: often of a single operation.

    If no single operation differs, it has the last step of that part, up to which all agrees.
    """
    operands = {*answer_source.catalogue.operands}
    smallest = whole

    def answer(question: Question) -> str:
        (call,) = expect([question])
        return call.answer

    for question in yield_parts(whole.found.op, whole.found.operands, answer):
        if operands.issuperset(question[1]):
            found = [
                each for _, each in find_differences(answer_source, [*askable_chains(expect([question]))])
            ]
            if found and found[0] and found[0].difference_type != VAGUE_ANSWER:
                smallest = found[0]
                break
    if CHAIN_SEPARATOR not in smallest.found.op:
        return smallest
    step = split_off_last_call(smallest.found.op, smallest.found.operands, answer)
    return replace(smallest, chain_step=step, agrees_alone=operands.issuperset(step[1]))


def questions_of_both(one: Catalogue, other: Catalogue) -> Iterator[Question]:
    """Yield the calls that both sides can answer, except those with only Python numbers.

    Where no array is without dimensions, scalars are asked what such arrays would be.
    """
    operands = [operand for operand in one.operands if operand in other.operands]
    planned_as = operands
    if not any(_tier_words(operand) == "0d operands" for operand in operands):
        planned_as = [operand.replace(":scalar", ":0d") for operand in operands]
    operations = [op for op in one.operations if op in other.operations]
    several = [op for op in one.multi_operand_operations if op in other.multi_operand_operations]
    planned = plan_calls(
        planned_as,
        operations,
        several,
        RANDOM_CALLS_PER_OPERATION,
        0,
        {**one.custom_operations, **other.custom_operations},
    )
    return (question for question in planned.questions(operands) if _has_array(question[1]))


def some_at_random(questions: Sequence[Question], number: int, seed: int) -> list[Question]:
    """Choose questions at random; all of them in their order if there are no more."""
    return random.Random(seed).sample(questions, number) if number < len(questions) else [*questions]


def some_of_each_class(questions: Sequence[Question], number: int, seed: int) -> list[Question]:
    """Choose questions at random, as many of each class of operations and form of call as there are."""
    counts = Counter[tuple[object, ...]]()
    ranks = list[tuple[int, Question]]()
    for question in random.Random(seed).sample(questions, len(questions)):
        form = _question_form(question)
        ranks.append((counts[form], question))
        counts[form] += 1
    return [question for _, question in sorted(ranks, key=itemgetter(0))[:number]]


def _question_form(question: Question) -> tuple[object, ...]:
    """Return what else decides a dtype: function or operator, and which operands are Python numbers.

    An operation that one library alone has is a class by itself.
    """
    op, operands = question
    of_class = class_name_of(op) if op in OPERATION_BY_NAME else op
    return (
        of_class,
        is_operator(op),
        *(_tier_words(operand) == PYTHON_NUMBER_TIER for operand in operands[:2]),
    )


def is_operator(op_name: str) -> bool:
    """Return True if Python's operator asks the operation."""
    return op_name in OPERATION_BY_NAME and OPERATION_BY_NAME[op_name].is_operator


def calls_of_implementation(reference: AnswerSource, questions: Sequence[Question]) -> Iterator[RecordedCall]:
    """Calls with the answers of another implementation, as they come in."""
    for (op, operands), (answer, message) in zip(questions, reference.answers(questions), strict=True):
        yield RecordedCall(op, operands, answer, message)


def has_values(call: RecordedCall) -> bool:
    """Return True if a call's answer has values."""
    return bool(call.message) and not _is_refusal(call.answer)


def _has_array(operands: Sequence[str]) -> bool:
    return any(_tier_words(operand) != PYTHON_NUMBER_TIER for operand in operands)


def _is_refusal(answer: str) -> bool:
    return answer == REFUSED_SIGN or answer.startswith(EXCEPTION_PREFIX)


def _answers_agree(call: RecordedCall, other: RecordedCall) -> bool:
    expected, found = call.answer, other.answer
    if has_values(call) and has_values(other) and expected == found:
        return have_same_values(call.message, other.message, found)
    if expected == REFUSED_SIGN:  # a rule's refusal covers whatever is no dtype of numbers
        return found.startswith(NON_NUMBER_PREFIXES) and found not in TEXT_BY_BROKEN_ANSWER
    return expected == found or (
        _is_refusal(expected) and _is_refusal(found) and found not in TEXT_BY_BROKEN_ANSWER
    )


@cache
def _tier_words(operand: str) -> str:
    read = ParsedOperandString.parse(operand)
    return PYTHON_NUMBER_TIER if read.dtype is None else f"{read.tier} operands"


def _describe_difference(expected: str, found: str) -> str:
    """Say how one answer differs from the other."""
    (expected, expected_suffix), (found, found_suffix) = split_form(expected), split_form(found)
    if expected_suffix:
        return f"{found_suffix[1:]} for {expected_suffix[1:]}"
    if expected.rstrip("*") == found.rstrip("*"):
        return "weak for strong" if found.endswith("*") else "strong for weak"
    expected_dtype, found_dtype = DTYPES.get(expected.rstrip("*")), DTYPES.get(found.rstrip("*"))
    if expected_dtype is None or found_dtype is None:
        return f"{found} for {expected}"
    if expected_dtype.kind is not found_dtype.kind:
        return f"{found_dtype.kind} for {expected_dtype.kind}"
    wider = (found_dtype.bits or 0) > (expected_dtype.bits or 0)
    return f"a {'wider' if wider else 'narrower'} {expected_dtype.kind}"


def _blank_names(message: str, op_name: str) -> str:
    """Replace what is quoted, addresses and the names of the operation, by which causes would differ."""
    names = (
        OPERATION_BY_NAME[OPERATION_BY_NAME[op_name].function].function_names
        if op_name in OPERATION_BY_NAME
        else [op_name.partition("_")[2]]
    )
    words = "|".join(map(re.escape, names))
    return re.sub(rf"\b({words})(?=\b|_)", "…", VARIABLE_TEXT_PATTERN.sub("…", message))


def _simplicity_key(difference: Difference) -> tuple[int, int, int, str]:
    """Sort plain calls first: few operands, arrays, operators, short names."""
    call = difference.found
    non_array_count = sum(_tier_words(operand) != "array operands" for operand in call.operands)
    return len(call.operands), non_array_count, not is_operator(call.op), f"{len(str(call)):04}{call}"
