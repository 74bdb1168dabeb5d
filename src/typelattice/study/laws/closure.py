"""The closure of operands under promotion: the results of all pairs, then of those results, and so on."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.system import System
from typelattice.core.explanations.expression_terms import result_operand
from typelattice.core.operands.operand import Operand

# Answers are equal if their dtype and weakness are; a dtype of None is a refusal.
AnswerKey = tuple[DType | None, bool]
REFUSED_NUMBER = 0  # the number of a refusal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Closure:
    """Operands by number, and a table of the results of all pairs.

    `members[0]` is a refusal, and every promotion with it is a refusal. The given operands come next, and
    then the results that are not among them. `table[i][k]` is the number of the result of i and k. If
    `has_python_scalars` is True, the set also has arrays, and Python itself adds two Python scalars.
    """

    system: System
    members: tuple[Operand | None, ...]
    start_numbers: range
    table: tuple[tuple[int, ...], ...]
    has_python_scalars: bool

    def operands(self, *numbers: int) -> tuple[Operand, ...]:
        """Return the operands of these numbers."""
        return tuple(o for i in numbers if (o := self.members[i]))

    def size(self, *numbers: int) -> int:
        """Add up the bits of some operands; a dtype without a width of its own counts as 64."""
        return sum(o.dtype.bits or 64 for o in self.operands(*numbers) if o.dtype)


def compute_closure(system: System, operands: Sequence[Operand]) -> Closure:
    """Compute all operands that promotion can reach from some operands, and the table of their promotions."""
    has_python_scalars = len({o.tier for o in operands}) > 1
    members: list[Operand | None] = [None, *operands]
    number = {o: i for i, o in enumerate(members)}
    table: list[list[int]] = [[REFUSED_NUMBER] * len(members)]

    def number_of(i: int, k: int) -> int:
        a, b = members[i], members[k]
        found = result_operand(system, (a, b), python_adds_scalars=has_python_scalars) if a and b else None
        if found not in number:
            number[found] = len(members)
            members.append(found)
        return number[found]

    i = 1
    while i < len(members):  # `members` grows while there are new results
        table.append([REFUSED_NUMBER])
        for k in range(1, i):
            table[i].append(number_of(i, k))
            table[k].append(number_of(k, i))
        table[i].append(number_of(i, i))
        i += 1
    table[REFUSED_NUMBER] = [REFUSED_NUMBER] * len(members)
    return Closure(
        system, tuple(members), range(1, len(operands) + 1), tuple(map(tuple, table)), has_python_scalars
    )


def answer_key(system: System, operand: Operand | None) -> AnswerKey:
    """Return the dtype and weakness that make operands equal; only the result of a Python scalar counts."""
    if operand is None:
        return None, False
    if operand.dtype:
        return operand.dtype, operand.weak
    alone = system.explain(operand)
    return alone.dtype, alone.weak


def answer_words(key: AnswerKey) -> str:
    """Describe an answer in one or two words."""
    dtype, weak = key
    return "refused" if dtype is None else f"{dtype} (weak)" if weak else str(dtype)
