"""Formulas of the parameters of dtypes, such as a decimal's `max(p - s) + s`. The terms are a closed set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RealNumber = int | float
ArgumentByParameter = Mapping[str, RealNumber]  # the values of a dtype's parameters, by their names
SAME_FOR_ALL_OPERANDS = "same"
OPERAND_CALL, TERM_CALL = "of each operand", "of its terms"  # how a formula calls a function
MAX_MEMBER = "max_member"
OPERAND_FUNCTIONS: Mapping[str, Callable[[Sequence[RealNumber]], RealNumber]] = {
    "max": max, "min": min, "sum": sum, "prod": prod, "left": lambda each: each[0],
    "right": lambda each: each[-1], MAX_MEMBER: max,
}  # fmt: skip
TERM_FUNCTIONS: Mapping[str, Callable[[Sequence[RealNumber]], RealNumber]] = {
    "+": sum, "*": prod, "-": lambda each: each[0] - each[1], "max": max, "min": min,
    "round_up": lambda each: next((limit for limit in each[1:] if each[0] <= limit), each[-1]),
}  # fmt: skip


@frozen()
class Formula:
    """The value of one parameter of a result.

    `max(p)`, with one term, is the greatest parameter of the operands. `min`, `sum`, `prod`, `left` and
    `right` work in the same way: `left` takes the first operand, `right` the last. `max_member` leaves out
    the operands of other dtypes. Elsewhere, a name is the parameter of the join. With several terms, `max`
    and `min` compare the terms. `round_up(x, 18, 38)` is the first limit not less than x, or else the last.
    `same` requires that the operands agree.

    `tree` is a number, a name, or a function and its terms: a tuple that begins with OPERAND_CALL or
    TERM_CALL.
    """

    text: str
    tree: Any

    @property
    def parameter_names(self) -> frozenset[str]:
        """The parameters that the formula names: of the operands, and of their join."""
        return frozenset(_list_names(self.tree))

    @property
    def names_join(self) -> bool:
        """Return True if the value depends on the parameters of the join."""
        return _names_join(self.tree)

    def evaluate(
        self,
        operands: Sequence[ArgumentByParameter],
        members: Sequence[ArgumentByParameter],
        joined: ArgumentByParameter,
    ) -> RealNumber:
        """Compute the value from the arguments of all operands, of the family's own, and of their join."""
        return _evaluate_tree(self.tree, (operands, members), joined)


def _list_names(tree: Any) -> list[str]:
    if isinstance(tree, tuple):
        return [name for term in tree[2:] for name in _list_names(term)]
    return [tree] if isinstance(tree, str) and tree != SAME_FOR_ALL_OPERANDS else []


def _names_join(tree: Any) -> bool:
    if isinstance(tree, tuple):
        of, _, *terms = tree
        return of != OPERAND_CALL and any(map(_names_join, terms))
    return isinstance(tree, str)


def _evaluate_tree(
    tree: Any, operands: tuple[Sequence[ArgumentByParameter], ...], joined: ArgumentByParameter
) -> RealNumber:
    if isinstance(tree, str):
        return joined[tree]
    if isinstance(tree, tuple):
        of, function, *terms = tree
        if of == TERM_CALL:
            return TERM_FUNCTIONS[function]([_evaluate_tree(term, operands, joined) for term in terms])
        asked = operands[function == MAX_MEMBER] or operands[0]
        return OPERAND_FUNCTIONS[function]([_evaluate_tree(terms[0], operands, each) for each in asked])
    number: RealNumber = tree
    return number


@frozen(eq=False)
class FamilyRules:
    """The rules of a system for a dtype with parameters.

    `joins` has the formula of each parameter of a join, in the order of computation. `members` has the member
    that another dtype counts as when it joins this family: int32 is `decimal(10,0)`.
    """

    dtype: DType
    joins: Mapping[str, Formula]
    members: Mapping[DType, DType]

    def find_member(self, d: DType | None) -> DType | None:
        """Return the member that a dtype is or counts as, or None if it is unknown."""
        return d if d is None or d.family is self.dtype else self.members.get(d)
