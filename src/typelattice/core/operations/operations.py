"""Operations: the name of each, its other names, and how it is called. Stated in operations.txt.

A function and Python's operator of the same meaning, `add` and `+`, are two operations, since some libraries
answer them differently. `+=`, which writes into its left operand, is a third. Both operators follow from the
function's row.

The effect of an operation on dtypes is not stated here. The engine has the rules of the standard, and a
system file has the differences of its library.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from keyword import iskeyword

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.frozen_classes import frozen, replace
from typelattice.base.objects.lazy_tables import LazyTable
from typelattice.core.operations.operation_forms import MEANING_BY_CALL_FORM

OPERATIONS_TABLE_PATH = __file__.rpartition(".")[0] + ".txt"
IN_PLACE_CLASS = "in-place"  # the class of operators that write into their left operand
COMPARING_CLASSES = ("comparison", "ordering")  # classes of operations that compare
ADDING_CLASSES = ("accumulate", "cumulative", "products")  # classes of operations that add up many values
ADDING_FEW_TERMS = ("outer", "kron", "cross")  # operations of these classes that add up few values or none
# classes and operations with a parameter `dtype`
CLASSES_AND_OPERATIONS_TAKING_DTYPE = ("accumulate", "cumulative", "like", "cov", "corrcoef")

# Forms of the operations that a custom one may be like.
LIKE_FORMS = ("elementwise", "whole", "reduction", "along")
DEFAULT_OPERAND_NAMES = ("x", "y", "z")  # names of operands, if a file gives none
RESULT_SHAPE_ARGUMENT = "shape"  # the argument of a custom operation that states the shape of its result
# The argument of a custom operation in a typed graph that states the dtype to add up in.
ACCUMULATOR_DTYPE_ARGUMENT = "accumulator"


class OpError(TypelatticeError, ValueError):
    """An operation that no table knows, or one that does not take its operands."""

    __module__ = "typelattice"


@frozen()
class Operation:
    """An operation: its one name, the form of its call, how many operands take part, its other names.

    `operation_class` is the class that states its inputs and results. `call_form` is one of the forms in
    `operation_forms.py`. `max_operands` is None if the number of operands has no limit. `min_dimensions`
    is the least number of dimensions of an operand in every library: one number for all operands, or one for
    each. `operator` is Python's operator of the same meaning, `+`, or `-x` for a sign. `special_method` is
    its method in Python's data model, `__add__`. `function` is the name of the function of the same meaning:
    its own name, unless it is an operator.

    An operation that a system file defines is `like` a known one, and has its class, form and shape.
    `operand_names` and `parameter_names` are the names of its operands and of its other arguments.
    `also_like` are the operations of the file that it is also like. `is_class` marks one that states the
    dtypes of several functions of a library's book, and is none of these.
    """

    name: str
    operation_class: str
    call_form: str
    min_operands: int
    max_operands: int | None
    min_dimensions: tuple[int, ...]
    other_names: tuple[str, ...]
    operator: str | None
    special_method: str | None
    function: str
    like: str = ""
    operand_names: tuple[str, ...] = ()
    parameter_names: tuple[str, ...] = ()
    also_like: tuple[str, ...] = ()
    is_class: bool = False

    @property
    def is_callable(self) -> bool:
        """Return True if users may call it by its name: it is no class of functions, and no part of one."""
        return not self.is_class and self.name.isidentifier() and not self.name.startswith("_")

    @property
    def required_dimensions(self) -> int:
        """The least dimensions of every operand, in all libraries: 1 for `matmul`, 0 for `add`."""
        return min(self.min_dimensions)

    @property
    def is_operator(self) -> bool:
        """Return True if it is written with a sign, not as a function."""
        return self.name != self.function

    @property
    def is_in_place(self) -> bool:
        """Return True if it writes into its left operand, as `+=` does."""
        return self.operation_class == IN_PLACE_CLASS and self.is_operator

    @property
    def function_names(self) -> tuple[str, ...]:
        """The names of its functions in libraries, its own name first."""
        return self.name, *(name for name in self.other_names if not name.startswith("__"))

    @property
    def promoting_slice(self) -> slice:
        """The slice of its operands that promote, without a condition or indices."""
        if self.call_form == "choice":
            return slice(-2, None)
        return slice(1) if self.call_form == "indexed" else slice(None)

    @property
    def has_one_promoting_operand(self) -> bool:
        """Return True if only one operand promotes, so that it joins no other."""
        return self.max_operands == 1 or self.call_form == "indexed"

    @property
    def takes_dtype(self) -> bool:
        """Return True if it gives the requested dtype, whatever it would compute in."""
        return not self.like and (
            self.operation_class in CLASSES_AND_OPERATIONS_TAKING_DTYPE
            or self.name in CLASSES_AND_OPERATIONS_TAKING_DTYPE
        )

    @property
    def adds_up(self) -> bool:
        """Return True if it adds up many values, and so may have an accumulator."""
        function = self.like or self.function
        return OPERATIONS[function].operation_class in ADDING_CLASSES and function not in ADDING_FEW_TERMS

    def check_operand_count(self, count: int) -> None:
        """Raise OpError for a wrong number of operands.

        >>> find_operation("sqrt").check_operand_count(2)
        Traceback (most recent call last):
        typelattice...OpError: sqrt takes 1 operand, not 2; give one operand at a time
        """
        if self.min_operands <= count and (self.max_operands is None or count <= self.max_operands):
            return
        what = f"ask it of {self.max_operands} at a time"
        if count < self.min_operands:
            what = f"give {self.min_operands - count} more"
        elif self.max_operands == 1:
            what = "give one operand at a time"
        raise OpError(f"{self.name} takes {self.operand_count_text}, not {count}; {what}")

    def check_table(self) -> None:
        """Raise OpError if no table can show it: a cell has two operands at most."""
        if self.min_operands > 2:
            instead = "ask explain, or an expression"
            raise OpError(f"{self.name} takes {self.operand_count_text}, and a table has two; {instead}")

    @property
    def operand_count_text(self) -> str:
        """The number of operands in words: `2 operands`, `1 to 3 operands`, `at least 1 operand`."""
        if self.max_operands is None:
            return f"at least {self.min_operands} operand{'s' * (self.min_operands > 1)}"
        between = "or" if self.max_operands == self.min_operands + 1 else "to"
        bounds = (
            str(self.max_operands)
            if self.min_operands == self.max_operands
            else f"{self.min_operands} {between} {self.max_operands}"
        )
        return f"{bounds} operand{'s' * (self.max_operands > 1)}"


def make_custom_operation(
    name: str,
    like: str,
    operands: Sequence[str] = (),
    parameters: Sequence[str] = (),
    *,
    custom_operations: Mapping[str, Operation] = {},
) -> Operation:
    """Make the operation of a system's own that is called as a known one. Raises OpError.

    `custom_operations` has the earlier operations of the system, which the new one may also be like. Without
    names for its operands, it has as many as the operation that it is like, called x, y and so on.

    >>> make_custom_operation("scaled_matmul", "matmul", parameters=["scale"]).operand_names
    ('x', 'y')
    """
    known = custom_operations.get(like) or OPERATIONS.get(like)
    follows: tuple[str, ...] = ()
    if known is not None and like in custom_operations:
        follows, operands, like = (like, *known.also_like), tuple(operands) or known.operand_names, known.like
    if known is None or known.call_form not in LIKE_FORMS:
        alike = [op.name for op in OPERATIONS.values() if op.call_form in LIKE_FORMS]
        near = spelling_hint(like, alike) or "; name one of arrays alone, such as matmul, sum or add"
        raise OpError(f"no operation can be like {quote_short(like)}{near}")
    names = tuple(operands) or DEFAULT_OPERAND_NAMES[: known.min_operands]
    every = (*names, *parameters)
    for word in every:
        is_taken = every.count(word) > 1 or word in (RESULT_SHAPE_ARGUMENT, ACCUMULATOR_DTYPE_ARGUMENT)
        if is_taken or not word.isidentifier() or iskeyword(word):
            raise OpError(
                f"{quote_short(word)} is no name for an argument of {name}; give each a name of its own"
            )
    if known.call_form != "elementwise" and not known.min_operands <= len(names) <= (
        known.max_operands or len(names)
    ):
        raise OpError(f"{like} takes {known.operand_count_text}, and {name} has {len(names)}")
    if not name.isidentifier() or iskeyword(name) or name in OPERATION_BY_NAME:
        raise OpError(
            f"{quote_short(name)} is no name for an operation of one's own; give it one that is free"
        )
    return replace(
        known, name=name, function=name, other_names=(), operator=None, special_method=None, like=like,
        min_operands=len(names), max_operands=len(names), operand_names=names,
        parameter_names=tuple(parameters), also_like=follows,
    )  # fmt: skip


NumberedRow = tuple[int, list[str]]  # the number of a row, and its columns


def _read_rows() -> Mapping[str, NumberedRow]:
    """Read the rows of the table by the operation's name. Raises OpError for a name in two rows."""
    found: dict[str, NumberedRow] = {}
    row_by_other_name: dict[str, int] = {}
    with open(OPERATIONS_TABLE_PATH, encoding="utf-8") as file:
        rows = [(n, row.split()) for n, row in enumerate(file, 1) if not row.startswith("#")]
    for n, columns in rows:
        if len(columns) < 4:
            raise OpError(f"{_row_place(n)}: has {len(columns)} columns; give name, class, form and operands")
        if columns[0] in found:
            raise OpError(
                f"{_row_place(n)}, column 1: {quote_short(columns[0])} has a row already; join the two"
            )
        found[columns[0]] = n, columns
        for column, name in enumerate(columns[4:], 5):
            if name in row_by_other_name:
                where, earlier_row = f"{_row_place(n)}, column {column}", row_by_other_name[name]
                raise OpError(f"{where}: {quote_short(name)} stands in row {earlier_row} already")
            row_by_other_name[name] = n
    for name in row_by_other_name.keys() & found.keys():
        n = row_by_other_name[name]
        of = rows[[row for row, _ in rows].index(n)][1][0]
        cause = f"{quote_short(name)} is another operation's one name, and stands in row {n}"
        raise OpError(f"{OPERATIONS_TABLE_PATH.rpartition('/')[2]}, row of {of}: {cause}")
    return found


def _row_place(n: int) -> str:
    return f"{OPERATIONS_TABLE_PATH.rpartition('/')[2]}, row {n}"


def _read_operation_row(name: str, row: NumberedRow) -> Operation:
    """Read one row of the table. Raises OpError for a bad column."""
    n, (_, of_class, form, operands, *names) = row
    if form not in MEANING_BY_CALL_FORM:
        near = spelling_hint(form, MEANING_BY_CALL_FORM) or f"; these are {', '.join(MEANING_BY_CALL_FORM)}"
        raise OpError(f"{_row_place(n)}, column 3: unknown form {quote_short(form)}{near}")
    least, most, dimensions = _read_operand_numbers(operands) or (0, 0, ())
    if not dimensions:
        cause = f"{quote_short(operands)} is no number of operands; write 2, 1-3, 1- or 2:1"
        raise OpError(f"{_row_place(n)}, column 4: {cause}")
    sign, method = _find_operator_sign(names), _find_data_model_method(names)
    others = tuple(other for other in names if sign is None or other not in (sign, method))
    return Operation(name, of_class, form, least, most, dimensions, others, sign, method, name)


def _find_operator_sign(names: Iterable[str]) -> str | None:
    """Return Python's operator among other names."""
    return next((name for name in names if not name.isidentifier()), None)


def _find_data_model_method(names: Iterable[str]) -> str | None:
    """Return the method of Python's data model among other names."""
    return next((name for name in names if name.startswith("__")), None)


@cache  # most rows share a few texts
def _read_operand_numbers(operands: str) -> tuple[int, int | None, tuple[int, ...]] | None:
    """Read the fewest and the most operands, and their least dimensions, or None for any other text."""
    if not re.fullmatch(r"\d+(-\d*)?(:\d+(,\d+)*)?", operands):
        return None
    number, _, dimensions = operands.partition(":")
    least, _, most = number.partition("-")
    limit = None if number.endswith("-") else int(most or least)
    return int(least), limit, tuple(map(int, (dimensions or "0").split(",")))


def _has_in_place(row: NumberedRow) -> bool:
    """Return True if the operator of a row has one that writes into its left operand: no comparison has."""
    _, of_class, _, operands, *_ = row[1]
    return operands.partition(":")[0] == "2" and of_class not in COMPARING_CLASSES


def _make_operator(sign: str, function: str) -> Operation:
    """Make the operation of an operator: its function under other names."""
    function_operation = OPERATIONS[function]
    assert function_operation.special_method is not None
    if sign == function_operation.operator:
        return replace(function_operation, name=sign, other_names=(function_operation.special_method,))
    names = _names_in_place(function_operation.special_method)
    return replace(
        function_operation,
        name=sign,
        operation_class=IN_PLACE_CLASS,
        other_names=names,
        operator=sign,
        special_method=names[1],
    )


def _names_in_place(method: str) -> tuple[str, str]:
    """Return the names of an operator in place: `iadd` and `__iadd__` for `__add__`."""
    in_place = method.replace("__", "__i", 1)
    return in_place.strip("_"), in_place


def _index_names(rows: Mapping[str, NumberedRow]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the one name of the operation of every name, and the function of every operator."""
    names: dict[str, str] = {}
    operators: dict[str, str] = {}
    for name, row in rows.items():
        others = row[1][4:]
        names |= dict.fromkeys((name, *others), name)
        sign, method = _find_operator_sign(others), _find_data_model_method(others)
        if sign and method:
            operators[sign] = name
            names |= {sign: sign, method: sign}
            if _has_in_place(row):
                operators[f"{sign}="] = name
                names |= dict.fromkeys((f"{sign}=", *_names_in_place(method)), f"{sign}=")
    return names, operators


_ROW_BY_OPERATION = _read_rows()
_ROW_BY_NAME, _ROW_BY_OPERATOR = _index_names(_ROW_BY_OPERATION)
OPERATIONS: Mapping[str, Operation] = LazyTable(_ROW_BY_OPERATION, _read_operation_row)
OPERATORS: Mapping[str, Operation] = LazyTable(_ROW_BY_OPERATOR, _make_operator)
OPERATION_BY_NAME: Mapping[str, Operation] = LazyTable(
    _ROW_BY_NAME, lambda _, name: (OPERATORS if name in _ROW_BY_OPERATOR else OPERATIONS)[name]
)


def find_operation(name: str, custom_operations: Mapping[str, Operation] = {}) -> Operation:
    """Return the operation of a name: its own, a library's, or Python's operator. Raises OpError.

    `custom_operations` has those that a system defines.

    >>> find_operation("concatenate").name, find_operation("__add__").name, find_operation("iadd").name
    ('concat', '+', '+=')
    """
    if type(name) is not str:
        what = f"an object of type {type(name).__name__} is no name of an operation"
        raise OpError(f"{what}; give one such as 'add'")
    try:
        return custom_operations[name] if name in custom_operations else OPERATION_BY_NAME[name]
    except KeyError:
        hint = (
            spelling_hint(name, (*custom_operations, *OPERATION_BY_NAME))
            or "; `typelattice explain --list-ops` lists those known"
        )
    raise OpError(f"unknown operation {quote_short(name)}{hint}")
