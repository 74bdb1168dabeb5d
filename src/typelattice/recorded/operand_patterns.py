"""Named classes of operands, and which calls have operands of them: `int:weak, i* beyond i64 + bool`."""
from __future__ import annotations

from collections.abc import Sequence

from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.frozen_classes import frozen
from typelattice.facts.range_checks import Value, is_in_range, overflow_result
from typelattice.operands.operand import Operand
from typelattice.recorded.answers import UNKNOWN

STRONG = "strong"
MARKS = ("array", "0d", "scalar", "weak", STRONG)
"""How an operand that has a dtype stands: as operand strings write it; `strong` is any of these but weak."""


@frozen()
class AskedOperand:
    """An operand of a call as it was asked, and the dtypes of the other operands.

    `mark` says how an operand that has a dtype stands; a Python scalar has none, and a value.
    """

    dtype: DType | None
    kind: Kind
    mark: str
    value: Value | None
    others: frozenset[DType]

    @classmethod
    def of_call(cls, texts: Sequence[str], operands: Sequence[Operand]) -> tuple[AskedOperand, ...]:
        """Return the operands of a call: as a recording writes them, and as they were read."""
        dtypes = [o.dtype if o.tier != "scalar" else None for o in operands]
        asked = []
        for n, (text, o) in enumerate(zip(texts, operands, strict=True)):
            others = frozenset(d for d in (*dtypes[:n], *dtypes[n + 1 :]) if d)
            if o.tier == "scalar":
                value = UNKNOWN[o.kind.word] if o.value is None else o.value
                asked.append(cls(None, o.kind, "", value, others))
            else:
                marks = text.partition("=")[0].split(":")[1:]
                asked.append(cls(o.dtype, o.kind, "weak" if o.weak else (*marks, "array")[0], None, others))
        return tuple(asked)


@frozen()
class Dtypes:
    """Operands of some dtypes and kinds; of one mark alone if there is one."""

    listed: frozenset[DType | Kind]
    mark: str = ""

    def __contains__(self, asked: AskedOperand) -> bool:
        d = asked.dtype
        if d is None or not {d, d.family, asked.kind} & self.listed:
            return False
        return self.mark in ("", asked.mark) or (self.mark == STRONG and asked.mark != "weak")


@frozen()
class Other:
    """Operands of a dtype that no other operand has."""

    def __contains__(self, asked: AskedOperand) -> bool:
        return asked.dtype is not None and asked.dtype not in asked.others


@frozen()
class Scalars:
    """Python scalars of a kind: all; or the negative ones; or those out of the range of a dtype.

    `beyond_other`: only those out of the range of another operand's dtype. `zero`: of these, only those that
    wrap to 0 there.
    """

    kind: Kind
    negative: bool = False
    beyond: DType | None = None
    beyond_other: bool = False
    zero: bool = False

    def __contains__(self, asked: AskedOperand) -> bool:
        v = asked.value
        if v is None or asked.kind is not self.kind:
            return False
        if self.negative and (isinstance(v, complex) or v >= 0):
            return False
        if not self.beyond and not self.beyond_other:
            return True
        dtypes = [self.beyond] if self.beyond else asked.others
        beyond = [d for d in dtypes if not is_in_range(v, d)]
        return any(overflow_result(v, d) == 0 or not self.zero for d in beyond)


@frozen()
class Number:
    """One Python scalar, as Python writes it: 1 is not 1.0, and nan is nan."""

    written: str

    def __contains__(self, asked: AskedOperand) -> bool:
        return asked.value is not None and repr(asked.value) == self.written


Sort = Dtypes | Other | Scalars | Number


@frozen()
class OperandClass:
    """Operands of some sorts, except those of others. Without a sort it is any operand."""

    sorts: tuple[Sort, ...] = ()
    but: tuple[Sort, ...] = ()

    def __contains__(self, asked: AskedOperand) -> bool:
        among = not self.sorts or any(asked in sort for sort in self.sorts)
        return among and not any(asked in sort for sort in self.but)


@frozen()
class OperandPattern:
    """The operands of some calls: one of each class.

    `ordered`: they stand as the classes do; otherwise in any order. `further`: there is one operand of the
    last class or more.
    """

    classes: tuple[OperandClass, ...]
    ordered: bool = False
    further: bool = False

    def covers(self, operands: Sequence[AskedOperand]) -> bool:
        """Return True if the operands of a call match these classes."""
        further = len(operands) - len(self.classes)
        if further < 0 or (further and not self.further):
            return False
        if self.ordered:
            classes = (*self.classes, *self.classes[-1:] * further)
            return all(asked in each for asked, each in zip(operands, classes, strict=True))
        return _can_be_shared_out(operands, self.classes, further)


def _can_be_shared_out(
    operands: Sequence[AskedOperand], classes: Sequence[OperandClass], further: int
) -> bool:
    """Return True if each operand can have a class of its own, and further ones the last class.

    This grows a matching in a bipartite graph, operand by operand. If the classes of an operand are taken, it
    moves another operand out of one, if possible.
    """
    places = [1] * (len(classes) - 1) + [1 + further]
    held: list[list[AskedOperand]] = [[] for _ in classes]

    def place(asked: AskedOperand, tried: set[int]) -> bool:
        for n, each in enumerate(classes):
            if n in tried or asked not in each:
                continue
            tried.add(n)
            if len(held[n]) < places[n]:
                held[n].append(asked)
                return True
            for i, other in enumerate(held[n]):
                if place(other, tried):
                    held[n][i] = asked
                    return True
        return False

    return all(place(asked, set()) for asked in operands)
