"""Operations: the name of each, its other names, and how it is called. Stated in operations.txt.

A function and Python's operator of the same meaning, `add` and `+`, are two operations, since some libraries
answer them differently; so is `+=`, which writes into its left operand. They follow from the function's row.

The effect of an operation on dtypes is not stated here. The engine knows what the standard says about it, and
the file of a system says where its library departs from that.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from typelattice.facts.call_forms import FORMS
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.frozen import frozen, replace
from typelattice.facts.suggestions import nearest, short

TABLE = f"{__file__[:-3]}.txt"
IN_PLACE = "in-place"  # the class of operators that write into their left operand
COMPARING = ("comparison", "ordering")  # classes of operations that compare


class OpError(TypelatticeError, ValueError):
    """An operation that no table knows, or one that does not take its operands."""


@frozen()
class Operation:
    """An operation: its one name, the form of its call, how many operands take part, its other names.

    `of_class` is the class that states its inputs and results; `form` is one of those in facts/call_forms.py;
    `most` is None if there is no limit. `least_dimensions` is the least number of dimensions of an operand in
    every library: one number for all operands, or one for each. `operator` is Python's operator of the same
    meaning, `+`, or `-x` for a sign; `method` is its method in Python's data model, `__add__`. `function` is
    the name of the function of the same meaning: its own name, unless it is an operator.
    """

    name: str
    of_class: str
    form: str
    least: int
    most: int | None
    least_dimensions: tuple[int, ...]
    names: tuple[str, ...]
    operator: str | None
    method: str | None
    function: str

    @property
    def dimensions(self) -> int:
        """The dimensions that every operand has to have."""
        return min(self.least_dimensions)

    def dimensions_of(self, position: int) -> int:
        """The dimensions that the operand at a position has to have."""
        return self.least_dimensions[min(position, len(self.least_dimensions) - 1)]

    @property
    def is_operator(self) -> bool:
        """Return True if it is written with a sign, not as a function."""
        return self.name != self.function

    @property
    def in_place(self) -> bool:
        """Return True if it writes into its left operand, as `+=` does."""
        return self.of_class == IN_PLACE and self.is_operator

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of its functions in libraries, its own name first."""
        return self.name, *(name for name in self.names if not name.startswith("__"))

    @property
    def promoting(self) -> slice:
        """The slice of its operands that promote: not a condition, nor indices."""
        if self.form == "choice":
            return slice(-2, None)
        return slice(1) if self.form == "indexed" else slice(None)

    @property
    def alone(self) -> bool:
        """Return True if only one operand promotes, so that it meets no other."""
        return self.most == 1 or self.form == "indexed"

    def check(self, count: int) -> None:
        """Raises OpError if it does not take so many operands.

        >>> operation("sqrt").check(2)
        Traceback (most recent call last):
        typelattice.facts.operations.OpError: sqrt takes 1 operand, not 2; ask it of each
        """
        if self.least <= count and (self.most is None or count <= self.most):
            return
        what = f"ask it of {self.most} at a time"
        if count < self.least:
            what = f"give {self.least - count} more"
        elif self.most == 1:
            what = "ask it of each"
        raise OpError(f"{self.name} takes {self.how_many}, not {count}; {what}")

    def check_table(self) -> None:
        """Raise OpError if no table can show it: a cell has two operands at most."""
        if self.least > 2:
            instead = "ask explain, or an expression"
            raise OpError(f"{self.name} takes {self.how_many}, and a table has two; {instead}")

    @property
    def how_many(self) -> str:
        """The number of operands in words: `2 operands`, `1 to 3 operands`, `at least 1 operand`."""
        if self.most is None:
            return f"at least {self.least} operand{'s' * (self.least > 1)}"
        between = "or" if self.most == self.least + 1 else "to"
        bounds = str(self.most) if self.least == self.most else f"{self.least} {between} {self.most}"
        return f"{bounds} operand{'s' * (self.most > 1)}"


def _table() -> dict[str, Operation]:
    """Read the table: each operation by its one name. Raises OpError for a bad row and its column."""
    found: dict[str, Operation] = {}
    named: dict[str, int] = {}  # the row of each name
    with open(TABLE, encoding="ascii") as file:
        rows = [(n, row) for n, row in enumerate(file, 1) if not row.startswith("#")]
    for n, row in rows:
        operation = _row(n, row)
        if operation.name in found:
            raise OpError(f"{_at(n)}, column 1: {short(operation.name)} has a row already; join the two")
        found[operation.name] = operation
        for column, name in enumerate(row.split()[4:], 5):
            if name in named:
                raise OpError(f"{_at(n)}, column {column}: {short(name)} stands in row {named[name]} already")
            named[name] = n
    for operation in found.values():
        for name in operation.names:
            if name in found:
                cause = f"{short(name)} is another operation's one name, and stands in row {named[name]}"
                raise OpError(f"{TABLE.rpartition('/')[2]}, row of {operation.name}: {cause}")
    return found


def _at(n: int) -> str:
    return f"{TABLE.rpartition('/')[2]}, row {n}"


def _row(n: int, row: str) -> Operation:
    """Read one row of the table."""
    columns = row.split()
    if len(columns) < 4:
        raise OpError(f"{_at(n)}: has {len(columns)} columns; give name, class, form and operands")
    name, of_class, form, operands, *names = columns
    if form not in FORMS:
        near = nearest(form, FORMS) or f"; these are {', '.join(FORMS)}"
        raise OpError(f"{_at(n)}, column 3: unknown form {short(form)}{near}")
    least, most, dimensions = _numbers(operands) or (0, 0, ())
    if not dimensions:
        cause = f"{short(operands)} is no number of operands; write 2, 1-3, 1- or 2:1"
        raise OpError(f"{_at(n)}, column 4: {cause}")
    sign = next((other for other in names if not other.isidentifier()), None)
    method = next((other for other in names if other.startswith("__")), None)
    others = tuple(other for other in names if sign is None or other not in (sign, method))
    return Operation(name, of_class, form, least, most, dimensions, others, sign, method, name)


@cache  # a handful of texts, which most rows share
def _numbers(operands: str) -> tuple[int, int | None, tuple[int, ...]] | None:
    """Read the fewest and the most operands, and their least dimensions; None for any other text."""
    if not re.fullmatch(r"\d+(-\d*)?(:\d+(,\d+)*)?", operands):
        return None
    number, _, dimensions = operands.partition(":")
    least, _, most = number.partition("-")
    limit = None if number.endswith("-") else int(most or least)
    return int(least), limit, tuple(map(int, (dimensions or "0").split(",")))


def _operators(functions: Iterable[Operation]) -> Iterator[Operation]:
    """The operators of the functions that have one, and those that write the result into the left operand."""
    for of in functions:
        if of.operator is None or of.method is None:
            continue
        yield replace(of, name=of.operator, names=(of.method,))
        if of.most == 2 and of.of_class not in COMPARING:
            sign, method = f"{of.operator}=", of.method.replace("__", "__i", 1)
            names = method.strip("_"), method
            yield replace(of, name=sign, of_class=IN_PLACE, names=names, operator=sign, method=method)


OPERATIONS: Mapping[str, Operation] = _table()
OPERATORS: Mapping[str, Operation] = {op.name: op for op in _operators(OPERATIONS.values())}
NAMES: Mapping[str, Operation] = {
    name: op for op in (*OPERATIONS.values(), *OPERATORS.values()) for name in (op.name, *op.names)
}


def operation(name: str) -> Operation:
    """Return the operation of a name: its own, a library's, or Python's operator. Raises OpError.

    >>> operation("concatenate").name, operation("__add__").name, operation("iadd").name
    ('concat', '+', '+=')
    """
    if name not in NAMES:
        known = nearest(name, NAMES) or "; `typelattice explain --help` lists those known"
        raise OpError(f"unknown operation {short(name)}{known}")
    return NAMES[name]
