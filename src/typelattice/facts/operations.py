"""Operations: the name of each, the other names it goes by, and how it is called. Stated in operations.txt.

What an operation does with dtypes is no fact of this kind: the engine knows what the standard says of it, and
the file of a system where its library departs from that.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.suggest import nearest, short

TABLE = f"{__file__[:-3]}.txt"
FORMS = {
    "promotion": "asks where dtypes meet: result_type(x, y)",
    "elementwise": "element by element; a Python scalar may stand for an array: add(x, y)",
    "whole": "arrays as wholes; other arguments take no part in promotion: matmul(x, y), reshape(x, shape)",
    "reduction": "along axes that go: sum(x)",
    "along": "along an axis that stays: sort(x)",
    "choice": "a condition, which does not promote and may be left out, and two branches: where(c, x, y)",
    "several": "a list of arrays: concat([x, y])",
    "each": "any number of arrays, each by itself: meshgrid(x, y)",
    "parts": "one array, several results: unique_counts(x)",
    "told": "a text that says what to do, and arrays: einsum('i,i', x, y)",
    "cases": "a list of conditions, which do not promote, and a list of arrays: select([c], [x], y)",
    "pair": "two arrays element by element, and several results: divmod(x, y)",
    "made": "numbers of which an array is made, and no arrays but 0-d ones: full(shape, x), arange(x, y)",
    "indexed": "an array, and indices, which do not promote and may be left out: take(x, i)",
}


class OpError(TypelatticeError, ValueError):
    """An operation that no table knows, or one that does not take what it is given."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: its one name, the form of its call, how many operands take part, its other names.

    `of_class` is the class that says what it takes and gives; `form` is one of FORMS; `most` is None where
    there is no limit. `least_dimensions` are those that an operand has to have in every library: one number
    for all operands, or one for each.
    """

    name: str
    of_class: str
    form: str
    least: int
    most: int | None
    least_dimensions: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def dimensions(self) -> int:
        """The dimensions that every operand has to have."""
        return min(self.least_dimensions)

    def dimensions_of(self, position: int) -> int:
        """The dimensions that the operand at a position has to have."""
        return self.least_dimensions[min(position, len(self.least_dimensions) - 1)]

    @property
    def operator(self) -> str | None:
        """Python's operator: `+`, `-x` for a sign, `+=` in place; None if it has none."""
        return next((name for name in self.names if not name.isidentifier()), None)

    @property
    def method(self) -> str | None:
        """The method by which Python's data model calls it: `__add__`; None if there is none."""
        return next((name for name in self.names if name.startswith("__")), None)

    @property
    def functions(self) -> tuple[str, ...]:
        """What libraries call it, its one name first."""
        return self.name, *(name for name in self.names if name.isidentifier() and not name.startswith("__"))

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
            found[name] = Operation(
                name, of_class, form, int(least), limit, least_dimensions, tuple(names)
            )
    return found


OPERATIONS: Mapping[str, Operation] = _table()
NAMES: Mapping[str, Operation] = {name: op for op in OPERATIONS.values() for name in (op.name, *op.names)}


def operation(name: str) -> Operation:
    """The operation that goes by a name: its own, a library's, or Python's operator. Raises OpError.

    >>> operation("concatenate").name, operation("+").name, operation("__add__").name
    ('concat', 'add', 'add')
    """
    if name not in NAMES:
        known = nearest(name, NAMES) or "; `typelattice explain --help` lists those known"
        raise OpError(f"unknown operation {short(name)}{known}")
    return NAMES[name]
