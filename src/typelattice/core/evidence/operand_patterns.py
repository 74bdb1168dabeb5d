"""Named classes of operands, and patterns of calls with them: `int:weak, i* beyond i64 + bool`."""
from __future__ import annotations

from collections.abc import Sequence

from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.evidence.answer_notation import SCALAR_VALUE_BY_KIND
from typelattice.core.losses.range_and_overflow import PythonNumber, is_in_range, overflow_result
from typelattice.core.operands.operand import Operand

STRONG_MARK = "strong"
OPERAND_MARKS = ("array", "0d", "scalar", "weak", STRONG_MARK)
"""How an operand that has a dtype stands: as operand strings write it; `strong` is any of these but weak."""


@frozen()
class RecordedOperand:
    """An operand of a call as it was recorded, and the dtypes of the other operands.

    `mark` says how an operand with a dtype was given, e.g. "weak". A Python scalar has a value instead.
    """

    dtype: DType | None
    kind: Kind
    mark: str
    value: PythonNumber | None
    others: frozenset[DType]

    @classmethod
    def read_call(cls, texts: Sequence[str], operands: Sequence[Operand]) -> tuple[RecordedOperand, ...]:
        """Return the operands of a call: as a recording writes them, and as they were read."""
        dtypes = [o.dtype if o.tier != "scalar" else None for o in operands]
        asked = []
        for n, (text, o) in enumerate(zip(texts, operands, strict=True)):
            others = frozenset(d for d in (*dtypes[:n], *dtypes[n + 1 :]) if d)
            if o.tier == "scalar":
                value = SCALAR_VALUE_BY_KIND[o.kind.python_name] if o.value is None else o.value
                asked.append(cls(None, o.kind, "", value, others))
            else:
                marks = text.partition("=")[0].split(":")[1:]
                asked.append(cls(o.dtype, o.kind, "weak" if o.weak else (*marks, "array")[0], None, others))
        return tuple(asked)


@frozen()
class DTypeSort:
    """Operands of some dtypes and kinds, or only those of them with one mark."""

    listed: frozenset[DType | Kind]
    mark: str = ""

    def __contains__(self, operand: RecordedOperand) -> bool:
        d = operand.dtype
        if d is None or not {d, d.family, operand.kind} & self.listed:
            return False
        return self.mark in ("", operand.mark) or (self.mark == STRONG_MARK and operand.mark != "weak")


@frozen()
class UniqueDTypeSort:
    """Operands of a dtype that no other operand has."""

    def __contains__(self, operand: RecordedOperand) -> bool:
        return operand.dtype is not None and operand.dtype not in operand.others


@frozen()
class ScalarSort:
    """Python scalars of a kind: all, the negative ones, or those out of the range of a dtype.

    `is_beyond_other`: only scalars out of the range of another operand's dtype. `wraps_to_zero`: of these,
    only scalars that wrap to 0 there.
    """

    kind: Kind
    is_negative: bool = False
    beyond_dtype: DType | None = None
    is_beyond_other: bool = False
    wraps_to_zero: bool = False

    def __contains__(self, operand: RecordedOperand) -> bool:
        v = operand.value
        if v is None or operand.kind is not self.kind:
            return False
        if self.is_negative and (isinstance(v, complex) or v >= 0):
            return False
        if not self.beyond_dtype and not self.is_beyond_other:
            return True
        dtypes = [self.beyond_dtype] if self.beyond_dtype else operand.others
        beyond = [d for d in dtypes if not is_in_range(v, d)]
        return any(overflow_result(v, d) == 0 or not self.wraps_to_zero for d in beyond)


@frozen()
class WrittenNumber:
    """One Python scalar, as Python writes it: 1 is not 1.0, and nan is nan."""

    text: str

    def __contains__(self, operand: RecordedOperand) -> bool:
        return operand.value is not None and repr(operand.value) == self.text


OperandSort = DTypeSort | UniqueDTypeSort | ScalarSort | WrittenNumber


@frozen()
class OperandClass:
    """Operands of some sorts, except excluded sorts. Without a sort it contains any operand."""

    sorts: tuple[OperandSort, ...] = ()
    excluded: tuple[OperandSort, ...] = ()

    def __contains__(self, operand: RecordedOperand) -> bool:
        among = not self.sorts or any(operand in sort for sort in self.sorts)
        return among and not any(operand in sort for sort in self.excluded)


@frozen()
class OperandPattern:
    """The operands of some calls: one of each class.

    `is_ordered`: they are in the order of the classes, not in any order. `allows_further`: one or more
    operands are of the last class.
    """

    classes: tuple[OperandClass, ...]
    is_ordered: bool = False
    allows_further: bool = False

    def covers(self, operands: Sequence[RecordedOperand]) -> bool:
        """Return True if the operands of a call match these classes."""
        further = len(operands) - len(self.classes)
        if further < 0 or (further and not self.allows_further):
            return False
        if self.is_ordered:
            classes = (*self.classes, *self.classes[-1:] * further)
            return all(asked in each for asked, each in zip(operands, classes, strict=True))
        return _can_be_shared_out(operands, self.classes, further)


def _can_be_shared_out(
    operands: Sequence[RecordedOperand], classes: Sequence[OperandClass], further: int
) -> bool:
    """Return True if each operand fits its own class, and further operands the last class.

    This grows a matching in a bipartite graph, operand by operand. If the classes of an operand are taken, it
    moves another operand out of one, if possible.
    """
    places = [1] * (len(classes) - 1) + [1 + further]
    held: list[list[RecordedOperand]] = [[] for _ in classes]

    def place(operand: RecordedOperand, tried: set[int]) -> bool:
        for n, each in enumerate(classes):
            if n in tried or operand not in each:
                continue
            tried.add(n)
            if len(held[n]) < places[n]:
                held[n].append(operand)
                return True
            for i, other in enumerate(held[n]):
                if place(other, tried):
                    held[n][i] = operand
                    return True
        return False

    return all(place(asked, set()) for asked in operands)
