"""New arrays: the dtype of an array that a function makes of a shape, of numbers or of a requested dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from typelattice.base.errors.error_texts import clip_text, spelling_hint
from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.decisions import Decision, RefusalError
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.promotion import DecidingLines, Promotion
from typelattice.core.engine.question import Question
from typelattice.core.engine.requested_dtypes import (
    RequestedDType,
    check_numbers_in_array,
    find_requested_dtype,
)
from typelattice.core.engine.rules import Rules
from typelattice.core.losses.range_and_overflow import PythonNumber, exceeds_int32
from typelattice.core.operands.operand import Operand, OperandError, Tier, operand_of_dtype, scalar_operand
from typelattice.core.operations.operations import OPERATIONS, OpError

RuleFinder = Callable[[Promotion], DecidingLines]
FUNCTION_OF_NUMBERS = "asarray"
FUNCTION_OF_ONE_VALUE = "full"
FUNCTION_OF_BOUNDS = "linspace"
SHAPE_FUNCTIONS = ("zeros", "ones", "empty", "eye")  # they take a shape alone, and make floats by default
MAX_NUMBERS_CHARS = 48  # a question shows more numbers in short


@frozen()
class NewArray:
    """A question about a new array.

    - `function` makes it: `asarray`, `full`, `arange`, `zeros`.
    - `source` decides its dtype if none is requested: the number that fills it, the number of a list that
      counts most, or a float for a shape alone.
    - `numbers` are the numbers in it, or its bounds.
    - `requested` is the requested dtype.
    - `tier` says whether it has dimensions.
    """

    function: str
    source: Operand
    numbers: tuple[Operand, ...] = ()
    requested: RequestedDType | None = None
    tier: Tier = "array"

    def __str__(self) -> str:
        """Return the question in words."""
        made = self.function
        if made not in SHAPE_FUNCTIONS:
            numbers = " and ".join(map(str, self.numbers)) or str(self.source)
            made += f" of {clip_text(numbers, MAX_NUMBERS_CHARS)}"
        return made if self.requested is None else f"{made} as {self.requested}"


def describe_new_array(
    function: str,
    values: Sequence[object],
    read_operand: Callable[[object], Operand],
    requested: RequestedDType | None,
    shape: Sequence[int] | None,
) -> NewArray:
    """Describe a new array of values: numbers, nested lists of them, or one array.

    Raises OpError for a function that makes no array of such values, OperandError for several arrays.
    """
    makers = (*SHAPE_FUNCTIONS, *(op.name for op in OPERATIONS.values() if op.call_form == "creation"))
    if function not in makers:
        hint = spelling_hint(function, makers)
        raise OpError(f"{function} is no function that makes an array{hint}; name one of {', '.join(makers)}")
    numbers = tuple(map(read_operand, yield_items(values)))
    if bool(numbers) == (function in SHAPE_FUNCTIONS):
        takes = "takes no numbers here; leave them out" if numbers else "makes an array of numbers; give one"
        if numbers or function != FUNCTION_OF_NUMBERS:
            raise OpError(f"{function} {takes}")
    arrays = [x for x in numbers if x.tier != "scalar"]
    if arrays and len(numbers) > 1:
        raise OperandError(f"{function} of several arrays; ask explain(..., op='stack') for their dtype")
    source = numbers[0] if len(numbers) == 1 and not isinstance(values[0], (list, tuple)) else None
    source = source or find_deciding_number(numbers)
    is_lone = len(values) == 1 and not isinstance(values[0], (list, tuple)) and not arrays
    is_0d = tuple(shape) == () if shape is not None else is_lone and function == FUNCTION_OF_NUMBERS
    return NewArray(function, source, numbers, requested, "0d" if is_0d else "array")


def yield_items(values: Iterable[object]) -> Iterator[object]:
    """Yield the items of nested lists."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from yield_items(value)
        else:
            yield value


def create_array(rules: Rules, new: NewArray, find_rule: RuleFinder) -> Promotion:
    """Answer the dtype of a new array, or the reason why the library does not make it.

    Without a requested dtype, `full` and `asarray` of a lone Python number keep the weakness of the number.
    """
    if new.requested is None:
        p = _promote_numbers(rules, new, find_rule)
        keeps = new.function == FUNCTION_OF_ONE_VALUE or (
            new.function == FUNCTION_OF_NUMBERS and new.tier == "0d"  # a list's array is not weak
        )
        return Question(rules, p.operands, find_rule, p.op, str(new)).rest_on(p, p.weak and keeps)
    question = Question(rules, (new.source,), find_rule, None, str(new))
    decisions: list[Decision] = []
    try:
        target = find_requested_dtype(question, new.requested, decisions)
        listed = new.numbers if new.function == FUNCTION_OF_NUMBERS else ()
        check_numbers_in_array(rules, new.function, (new.source, *listed), target)
    except RefusalError as e:
        return question.refuse(decisions, e)
    return question.answer(decisions, target)


def _promote_numbers(rules: Rules, new: NewArray, find_rule: RuleFinder) -> Promotion:
    """Return the promotion of a new array without a requested dtype: by its operation's rule, if any.

    A library's linspace between whole numbers may have a different dtype than between other numbers. The
    value that fills an array may count only by its kind. In the standard a Python number has no dtype by
    itself, and an array of it has one. If a lone large int is wider, each number of a list counts by
    itself: NumPy makes `[1, 2**63]` a float64 array, because int64 and uint64 join at float64.
    """
    if new.function == FUNCTION_OF_BOUNDS and len(new.numbers) == 2:
        return promote_operands(rules, new.numbers, new.function, find_rule)
    if new.function == FUNCTION_OF_NUMBERS and _counts_each_number(rules, new.numbers):
        each = [promote_operands(rules, (x,), new.function, find_rule) for x in new.numbers]
        refused = next((p for p in each if p.dtype is None), None)
        dtypes = dict.fromkeys(p.dtype for p in each if p.dtype is not None)
        return refused or promote_operands(rules, tuple(map(operand_of_dtype, dtypes)), "stack", find_rule)
    source = new.source
    fills = new.function == FUNCTION_OF_ONE_VALUE or (
        source.tier == "scalar" and source.kind not in rules.defaults
    )
    large = exceeds_int32(source.value)
    name = FUNCTION_OF_ONE_VALUE if fills else new.function if large else None
    return promote_operands(rules, (source,), name, find_rule)


def _counts_each_number(rules: Rules, numbers: Sequence[Operand]) -> bool:
    """Return True if each number of a list counts by itself."""
    return Kind.SIGNED in rules.kinds_widening_alone and any(exceeds_int32(x.value) for x in numbers)


def find_deciding_number(numbers: Sequence[Operand]) -> Operand:
    """Return the Python number that decides the dtype of an array of several: one of the highest kind.

    It has a value if it is an int beyond int32. Such an int may have another dtype, or be refused. For no
    numbers it is a float.
    """
    kind = max((x.kind for x in numbers), key=lambda k: k.category, default=Kind.FLOAT)
    large = [x for x in numbers if kind is Kind.SIGNED and exceeds_int32(x.value)]
    return max(large, key=lambda x: size_of_int(x.value), default=scalar_operand(kind))


def size_of_int(value: PythonNumber | None) -> tuple[int, int]:
    """Return the size by which ints are compared: -2**63 is an int64, and 2**63 is none."""
    assert isinstance(value, int)
    return abs(value), value
