"""Operations: the name of each, the other names it goes by, and how it is called. Stated in operations.txt.

A function and Python's operator of the same meaning, `add` and `+`, are two operations, since some libraries
answer them differently; so is `+=`, which writes into its left operand. They follow from the function's row.

What an operation does with dtypes is no fact of this kind: the engine knows what the standard says of it, and
the file of a system where its library departs from that.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.suggest import nearest, short

TABLE = f"{__file__[:-3]}.txt"
IN_PLACE = "in-place"  # the class of operators that write into their left operand
COMPARING = ("comparison", "ordering")  # classes of operations that compare


class OpError(TypelatticeError, ValueError):
    """An operation that no table knows, or one that does not take what it is given."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: its one name, the form of its call, how many operands take part, its other names.

    `of_class` is the class that says what it takes and gives; `form` is one of those in facts/forms.py;
    `most` is None where there is no limit. `least_dimensions` are those that an operand has to have in every
    library: one number for all operands, or one for each. `operator` is Python's of the same meaning, `+`,
    or `-x` for a sign; `method` is that by which Python's data model calls it, `__add__`. `function` is the
    name of the function of the same meaning: its own, unless it is an operator.
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
        """Whether it is written with a sign, and is no function."""
        return self.name != self.function

    @property
    def in_place(self) -> bool:
        """Whether it writes into its left operand, as `+=` does."""
        return self.of_class == IN_PLACE and self.is_operator

    @property
    def functions(self) -> tuple[str, ...]:
        """What libraries call it, its one name first."""
        return self.name, *(name for name in self.names if not name.startswith("__"))

    @property
    def promoting(self) -> slice:
        """Which of its operands promote: not a condition, nor indices."""
        if self.form == "choice":
            return slice(-2, None)
        return slice(1) if self.form == "indexed" else slice(None)

    @property
    def alone(self) -> bool:
        """Whether only one operand promotes, so that there is nothing for it to meet."""
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
        """Raises OpError if a table, whose cells have two operands at most, cannot show it."""
        if self.least > 2:
            instead = "ask explain, or an expression"
            raise OpError(f"{self.name} takes {self.how_many}, and a table has two; {instead}")

    @property
    def how_many(self) -> str:
        """How many operands it takes: `2 operands`, `1 to 3 operands`, `at least 1 operand`."""
        if self.most is None:
            return f"at least {self.least} operand{'s' * (self.least > 1)}"
        between = "or" if self.most == self.least + 1 else "to"
        bounds = str(self.most) if self.least == self.most else f"{self.least} {between} {self.most}"
        return f"{bounds} operand{'s' * (self.most > 1)}"


def _table() -> dict[str, Operation]:
    """The rows of the table, by the operation's one name."""
    found = {}
    with open(TABLE, encoding="ascii") as rows:
        for row in (row for row in rows if not row.startswith("#")):
            name, of_class, form, operands, *names = row.split()
            number, _, dimensions = operands.partition(":")
            least, _, most = number.partition("-")
            least_dimensions = tuple(map(int, (dimensions or "0").split(",")))
            limit = None if number.endswith("-") else int(most or least)
            sign = next((other for other in names if not other.isidentifier()), None)
            method = next((other for other in names if other.startswith("__")), None)
            others = tuple(other for other in names if sign is None or other not in (sign, method))
            found[name] = Operation(
                name, of_class, form, int(least), limit, least_dimensions, others, sign, method, name
            )
    return found


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
    """The operation that goes by a name: its own, a library's, or Python's operator. Raises OpError.

    >>> operation("concatenate").name, operation("__add__").name, operation("iadd").name
    ('concat', '+', '+=')
    """
    if name not in NAMES:
        known = nearest(name, NAMES) or "; `typelattice explain --help` lists those known"
        raise OpError(f"unknown operation {short(name)}{known}")
    return NAMES[name]
