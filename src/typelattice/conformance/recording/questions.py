"""The calls of a recording: the possible operands, and their combinations."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from typelattice.conformance.recording.library import ParsedOperandString
from typelattice.core.operations.operations import OPERATIONS, Operation, find_operation

OPERAND_SUFFIXES = ("", ":0d", ":scalar", ":weak")
"""How an operand string writes the tier of an operand, or that it is weak."""

PYTHON_SCALAR_OPERANDS = ("True", "int", "float", "complex")
"""Python scalars whose value does not matter."""

BOUNDARY_SCALARS = (
    *("-129", "-1", "127", "128", "255", "256", "300", "32767", "32768", "65535", "65536"),
    *("-32769", "2147483647", "2147483648", "4294967295", "4294967296"),
    *("9223372036854775807", "9223372036854775808"),
    *("18446744073709551615", "18446744073709551616"),
    *("65504.0", "65520.0", "1e39", "1e300", "inf", "1e39j"),
)
"""Python scalars about the limits of the dtypes."""

SMALL_EXPONENTS = ("2", "2.0")
"""Exponents that some libraries compute by a function of their own; only those libraries are asked."""

ASKED_OF_EVERY_OPERAND = ("result_type", "add", "divide", "pow", "equal", "bitwise_and", "where")
"""Operations of two operands that are asked of every operand, and their operators that write nothing. The
others are asked of arrays and of `KINDS`; those that compute element by element, such as `hypot`, also of
arrays without dimensions."""

ASKED_OF_EVERY_DTYPE = (
    *ASKED_OF_EVERY_OPERAND,
    *("promote_types", "subtract", "multiply", "floor_divide", "remainder", "less", "bitwise_left_shift"),
    *("logical_and", "maximum", "atan2", "concat", "matmul"),
    *("positive", "negative", "abs", "sign", "sqrt", "exp", "sin", "floor", "bitwise_invert", "logical_not"),
    *("sum", "prod", "mean", "cumulative_sum", "max", "argmax"),
)
"""Operations that are asked of every dtype, a choice from most classes, and their operators that write
nothing; the others are asked of the dtypes of `COMMON_DTYPE_PATTERN`."""

MAX_OPERANDS_FOR_OPERATORS = 110
"""Operands beyond which operators, which double the calls, are asked of the usual dtypes only. PyTorch has
102, and is asked all: its `*` differs from `multiply` in float8, as its list of departures says."""

COMMON_DTYPE_PATTERN = re.compile(
    r"bool|u?int(8|16|32|64)?|b?float(16|32|64)?|complex(64|128)?|c?longdouble|\w+\(.*\)"
)
"""The dtypes that most libraries have kernels for, those of Python and C, and those with parameters."""

MULTI_OPERAND_OPERATIONS = tuple(
    name for name, op in OPERATIONS.items() if op.call_form != "choice" and (op.max_operands or 3) > 2
)
"""Operations that three operands and more may take part in; a condition does not."""

MAX_RANDOM_OPERANDS = 5
"""Operands of a call at random."""

PROMOTION_CALL_SHARE, SCALAR_OPERAND_SHARE = 0.5, 0.2
"""How often a call at random asks result_type, and how often its operand is a Python scalar."""

Question = tuple[str, tuple[str, ...]]
"""An operation, and the operand strings."""


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """The calls of a recording, by the index of their operands."""

    unary: dict[str, tuple[int, ...]]
    binary: dict[str, tuple[int, ...]]
    nary: tuple[tuple[str, tuple[int, ...]], ...]

    def questions(self, operands: Sequence[str]) -> Iterator[Question]:
        """Yield the calls, in the order of a recording."""
        for op, chosen in self.unary.items():
            for only in chosen:
                yield op, (operands[only],)
        for op, chosen in self.binary.items():
            for first in chosen:
                for second in chosen:
                    yield op, (operands[first], operands[second])
        for op, several in self.nary:
            yield op, tuple(operands[i] for i in several)


def candidate_operands(dtypes: Sequence[str], extra: Sequence[str]) -> tuple[str, ...]:
    """Return the operand strings that a library with these dtypes may have objects for."""
    return (
        *(dtype + tier for tier in OPERAND_SUFFIXES for dtype in dtypes),
        *PYTHON_SCALAR_OPERANDS,
        *BOUNDARY_SCALARS,
        *extra,
    )


def plan_calls(
    operands: Sequence[str],
    operations: Sequence[str],
    multi_operand_operations: Sequence[str],
    random_calls_per_operation: int,
    seed: int,
    custom_operations: Mapping[str, Operation] = {},
) -> PlannedCalls:
    """Return the calls to make: all with one and two operands, and random ones with more for some.

    Each operation of `ASKED_OF_EVERY_OPERAND` gets this number of random calls, and each other operation a
    tenth of it. Calls of plain promotion with three operands are made in two orders, because a library may
    answer these differently. `custom_operations` has the operations that no other library has.
    """
    rng = random.Random(seed)
    operation_by_name = {op: find_operation(op, custom_operations) for op in operations}
    multi_operand_calls = [
        (
            op,
            tuple(
                rng.choices(
                    pool,
                    k=rng.randint(
                        max(3, operation_by_name[op].min_operands),
                        _max_random_operands(operation_by_name[op]),
                    ),
                )
            ),
        )
        for op in multi_operand_operations
        for pool in (
            _array_operands(operation_by_name[op], operands),
            _operand_indices(operation_by_name[op], operands),
        )
        for _ in range(
            random_calls_per_operation // (2 if operation_by_name[op].name in ASKED_OF_EVERY_OPERAND else 20)
        )
    ]
    reversed_calls = [
        (op, of[::-1]) for op, of in multi_operand_calls if op == "result_type" and len(of) == 3
    ]
    return PlannedCalls(
        unary={
            op: _operand_indices(operation_by_name[op], operands)
            for op in operations
            if _is_asked(operation_by_name[op], 1, multi_operand_operations)
        },
        binary={
            op: _operand_indices(operation_by_name[op], operands)
            for op in operations
            if _is_asked(operation_by_name[op], 2, multi_operand_operations)
        },
        nary=(*multi_operand_calls, *reversed_calls),
    )


def operand_indices(op_name: str, operands: Sequence[str]) -> tuple[int, ...]:
    """Return the operands for calls of an operation, by their index.

    >>> operands = ("int8", "int4", "int8:0d", "300", "int")
    >>> [operand_indices(op, operands) for op in ("add", "multiply", "hypot")]
    [(0, 1, 2, 3, 4), (0, 1, 2, 4), (0, 2, 4)]
    >>> operand_indices("matmul", ("int8", "int8:weak", "int8:0d", "int"))
    (0,)
    """
    return _operand_indices(find_operation(op_name), operands)


def _operand_indices(operation: Operation, operands: Sequence[str]) -> tuple[int, ...]:
    """Return the operands for calls of an operation, by their index."""
    only_common_dtypes = operation.is_in_place or (
        operation.is_operator and len(operands) > MAX_OPERANDS_FOR_OPERATORS
    )
    takes_every_dtype = operation.function in ASKED_OF_EVERY_DTYPE and not only_common_dtypes
    if (operation.function in ASKED_OF_EVERY_OPERAND and not only_common_dtypes) or (
        takes_every_dtype and operation.has_one_promoting_operand
    ):
        return tuple(range(len(operands)))
    tiers = _tiers_of_calls(operation)
    scalars = (
        PYTHON_SCALAR_OPERANDS
        if operation.call_form == "creation"
        or not (operation.has_one_promoting_operand or _takes_arrays_only(operation))
        else ()
    )
    parsed = [ParsedOperandString.parse(name) for name in operands]
    return tuple(
        i
        for i, operand in enumerate(parsed)
        if operands[i] in scalars
        or (operands[i] in SMALL_EXPONENTS and operation.function == "pow")
        or (
            operand.dtype
            and ("array" if operand.tier == "list" else operand.tier) in tiers
            and (
                COMMON_DTYPE_PATTERN.fullmatch(operand.dtype) or (takes_every_dtype and operand.tier != "0d")
            )
        )
        if "=" not in operands[i]  # only promotion needs a value; in other calls it is a length
    )


def _tiers_of_calls(operation: Operation) -> tuple[str, ...]:
    """Return the tiers with a dtype for calls of an operation that does not get every operand."""
    if _takes_arrays_only(operation):
        return ("array",)
    if operation.call_form == "creation":
        return ("0d",)
    return ("array", "0d", "weak") if operation.call_form in ("elementwise", "pair") else ("array", "weak")


def _array_operands(operation: Operation, operands: Sequence[str]) -> tuple[int, ...]:
    """Return the arrays among the operands of an operation's calls, or all operands."""
    asked = _operand_indices(operation, operands)
    arrays = tuple(i for i in asked if ParsedOperandString.parse(operands[i]).tier == "array")
    return arrays or asked


def random_questions(
    operands: Sequence[str],
    operations: Sequence[str],
    multi_operand_operations: Sequence[str],
    calls: int,
    seed: int,
    custom_operations: Mapping[str, Operation] = {},
) -> Iterator[Question]:
    """Return random calls of two operands, and of more for `multi_operand_operations`; half are promotion."""
    rng = random.Random(seed)
    operation_by_name = {op: find_operation(op, custom_operations) for op in operations}
    promoting = [op for op in operations if not operation_by_name[op].has_one_promoting_operand]
    asked_first = [op for op in ("result_type",) if op in promoting] or promoting
    pools = {op: _operand_pool(operation_by_name[op], operands) for op in promoting}
    scalars = [name for name in operands if name in (*PYTHON_SCALAR_OPERANDS, *BOUNDARY_SCALARS)]
    for _ in range(calls if promoting else 0):
        op = rng.choice(asked_first if rng.random() < PROMOTION_CALL_SHARE else promoting)
        count = (
            rng.randint(
                max(2, operation_by_name[op].min_operands), _max_random_operands(operation_by_name[op])
            )
            if op in multi_operand_operations
            else 2
        )
        chosen = rng.choices(pools[op], k=count)
        if scalars and _uses_every_tier(operation_by_name[op]):
            chosen = [rng.choice(scalars) if rng.random() < SCALAR_OPERAND_SHARE else name for name in chosen]
        yield op, tuple(chosen)


def _operand_pool(operation: Operation, operands: Sequence[str]) -> list[str]:
    """Return the operands for random calls of an operation: of every tier if it gets every dtype."""
    if not _uses_every_tier(operation):
        return [operands[i] for i in _operand_indices(operation, operands)]
    return [name for name in operands if ParsedOperandString.parse(name).dtype and "=" not in name]


def _uses_every_tier(operation: Operation) -> bool:
    """Return True if random calls of an operation use every tier.

    An operation that writes into an operand does not: it needs an array.
    """
    return (
        operation.function in ASKED_OF_EVERY_DTYPE
        and not operation.is_in_place
        and not _takes_arrays_only(operation)
    )


def _is_asked(operation: Operation, count: int, several: Sequence[str]) -> bool:
    """Return True if a recording has calls of an operation with `count` operands, one or two.

    One operand: if the operation promotes a single one, or if it is in `multi_operand_operations` and takes a
    single one. Two operands: they promote together, and the operation needs no more.
    """
    if count == 1:
        return operation.has_one_promoting_operand or (
            operation.name in several and operation.min_operands == 1
        )
    return not operation.has_one_promoting_operand and operation.min_operands <= 2


def _max_random_operands(operation: Operation) -> int:
    return min(MAX_RANDOM_OPERANDS, operation.max_operands or MAX_RANDOM_OPERANDS)


def _takes_arrays_only(operation: Operation) -> bool:
    """Return True if an operation takes neither Python scalars nor 0-d arrays."""
    return operation.name == "promote_types" or (
        operation.call_form in ("whole", "list", "subscripts", "cases")
        and not operation.has_one_promoting_operand
    )
