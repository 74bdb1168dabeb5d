"""Values in a comparison: numbers for the operands, the values of a result, and their equality."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from typelattice.conformance.recording.library import (
    Library,
    ParsedOperandString,
    PythonNumber,
    python_answer,
)
from typelattice.conformance.recording.questions import Question
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.operations.operations import OPERATION_BY_NAME

VALUES_BY_KIND: dict[Kind, Sequence[PythonNumber]] = {
    Kind.BOOL: (True, False, True),
    Kind.UNSIGNED: (200, 7, 2),
    Kind.SIGNED: (100, -7, 2),
    Kind.FLOAT: (2.5, -7.25, 0.3),
    Kind.COMPLEX: (1 - 2j, -2.5 + 0j, 0.3 + 0.7j),
}
"""Numbers by which results differ that wrap, round or lose a sign; the nearest that a dtype holds count."""

VALUE_INDEXES_BY_ROUND = ((0, 0), (1, 2), (2, 1))
"""The numbers of the operands in each round: the first two and every other."""

OPERATIONS_WITH_ARBITRARY_VALUES = ("empty_like", "argsort", "nextafter")
CLASSES_WITH_ARBITRARY_VALUES = ("linear", "eigen", "spectrum", "promotion", "distinct")
"""Operations whose values are not defined: what is not filled, the order of equals, the sign of a vector."""

MAX_ROUNDING_UNITS = 4
"""Units in the last place by which floats may differ."""

NUMBER_TEXT_BY_BOOL_TEXT = {"True": "1", "False": "0"}

CONTENT_READING_METHODS = ("tolist", "to_list", "numpy")
"""Methods of arrays that make another array, a list or a number of Python."""

MAX_COMPARED_VALUES = 8
"""Values of a result that are read."""


def fill_with_numbers(questions: Iterable[Question]) -> Iterator[Question]:
    """Yield each question in several rounds, with numbers in its arrays.

    >>> list(fill_with_numbers([("add", ("int8", "300"))]))
    [('add', ('int8=100', '300')), ('add', ('int8=-7', '300')), ('add', ('int8=2', '300'))]
    """
    for op, operands in questions:
        if op not in OPERATIONS_WITH_ARBITRARY_VALUES and (
            op not in OPERATION_BY_NAME
            or OPERATION_BY_NAME[op].operation_class not in CLASSES_WITH_ARBITRARY_VALUES
        ):
            for chosen in VALUE_INDEXES_BY_ROUND:
                yield op, tuple(_fill_with_number(each, chosen[i % 2]) for i, each in enumerate(operands))


def _fill_with_number(operand: str, position: int) -> str:
    known = DTYPES.get(ParsedOperandString.parse(operand).dtype or "")
    if known is None or "=" in operand:
        return operand
    number = VALUES_BY_KIND[known.kind][position]
    if not isinstance(number, (bool, complex)) and known.min is not None and known.max is not None:
        number = max(known.min, min(number, known.max))
    return f"{operand}={number!r}"


def read_first_values(library: Library, result: object) -> str:
    """Return the first values of a result as text, or "" if it has none, such as an array without values.

    A library may have a method `values`; without it, a method such as `tolist` of the result gives them.

    >>> read_first_values(object(), [200, 2.5, float("nan")])
    '200 2.5 nan'
    """
    try:
        tell = getattr(library, "values", lambda result: result)
        return " ".join(islice(_number_texts(tell(result)), MAX_COMPARED_VALUES))
    except Exception:  # a library's code may raise anything
        return ""


def _number_texts(result: Any) -> Iterator[str]:
    """Yield the numbers of an array, a nested list or a number."""
    if python_answer(result):
        yield repr(result).strip("()")
        return
    if not isinstance(result, (list, tuple)):
        conversions = (
            getattr(result, method)() for method in CONTENT_READING_METHODS if hasattr(result, method)
        )
        listed = next((each for each in conversions if type(each) is not type(result)), None)
        result = [float(result)] if listed is None else [listed]  # such as a bfloat16 of another package
    for each in result:
        yield from _number_texts(each)


def have_same_values(expected: str, found: str, dtype: str) -> bool:
    """Return True if values are equal; floats within a few units in the last place, and NaN equals NaN.

    >>> have_same_values("0.1 nan", "0.10000000149011612 nan", "float32")
    True
    >>> have_same_values("44", "-128", "int8"), have_same_values("1.0 2.0", "1.0", "float32")
    (False, False)
    """
    known = DTYPES.get(dtype.rstrip("*"))
    if expected == found or known is None or known.precision is None:
        return expected == found
    expected_numbers, found_numbers = (
        [complex(NUMBER_TEXT_BY_BOOL_TEXT.get(text, text)) for text in values.split()]
        for values in (expected, found)
    )
    return len(expected_numbers) == len(found_numbers) and all(
        _are_near(x, y, MAX_ROUNDING_UNITS * 2.0 ** (1 - known.precision))
        for x, y in zip(expected_numbers, found_numbers, strict=True)
    )


def _are_near(x: complex, y: complex, relative: float) -> bool:
    if x == y or (x != x and y != y):
        return True
    return abs(x - y) <= relative * max(abs(x), abs(y)) < float("inf")
