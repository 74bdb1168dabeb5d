"""An answer: the dtype of some operands under a system, and why. Every display of an answer uses it."""
from __future__ import annotations

from collections.abc import Callable

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.display_hooks import NotebookDisplay, show
from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DType, Kind, Node
from typelattice.core.engine.decisions import Decision
from typelattice.core.engine.join_one_tier import dtype_or_default
from typelattice.core.engine.rules import Rules
from typelattice.core.engine.scalar_fit import ValueFit
from typelattice.core.losses.loss import Loss, loss
from typelattice.core.operands.operand import Operand


@frozen()
class DecidingLines:
    """The lines of a file that decided an answer: without them it differs. `quoted` is their text.

    A key that a program has replaced has no line. `entry` is the entry of the key, if the key is a table.
    """

    file: str
    key: str
    lines: tuple[int, ...]
    quoted: tuple[str, ...] = ()
    entry: str | None = None

    def __str__(self) -> str:
        if self.lines:
            return f"{self.file}, line{'s' * (len(self.lines) > 1)} {', '.join(map(str, self.lines))}"
        return f"{self.file}, {f'{self.entry} of ' if self.entry else ''}{self.key}"


@frozen()
class OperandCast:
    """An implicit cast of an operand. A Python scalar is cast from its kind, and `ValueFit` has its value."""

    operand: Operand
    source: DType | Kind
    target: DType
    loss: Loss | None


@frozen(repr=False)
class Promotion(NotebookDisplay):
    """An answer and the decisions behind it.

    For a refusal `dtype` is None, and `reason` and `remedy` say why.

    The operands join at `node` and are cast to `compute`, the dtype computed in. `accumulator` is the dtype
    in which the operation adds up, if the system states one. `dtype` is the dtype of the result: most
    operations give the dtype that they compute in, but `equal` gives a bool. `python_number_kind` is the kind
    of the result if the result is a Python number. `find_rule` finds the lines of the files behind an answer.

    `question` is set if the question is not the promotion of operands, but a new array, a cast, an index or a
    write. `basis` is the promotion that such an answer rests on, if it rests on one.

    >>> from typelattice import system
    >>> p = system("torch").explain("int32", "int8", op="divide")
    >>> p.node, p.compute, p.dtype, [str(cast.source) for cast in p.casts]
    (int32, float32, float32, ['int32', 'int8'])
    """

    system: Rules
    operands: tuple[Operand, ...]
    op: str | None
    decisions: tuple[Decision, ...]
    find_rule: Callable[[Promotion], DecidingLines]
    node: Node | None = None
    compute: DType | None = None
    dtype: DType | None = None
    weak: bool = False
    fits: tuple[ValueFit, ...] = ()
    python_number_kind: Kind | None = None
    accumulator: DType | None = None
    reason: str | None = None
    remedy: str | None = None
    question: str = ""
    basis: Promotion | None = None

    def __repr__(self) -> str:
        given = "refused" if self.dtype is None else f"{self.dtype}{'*' * self.weak}"
        given = f"Python {self.python_number_kind.python_name}" if self.python_number_kind else given
        return f"<{given}: {self._question_text} under {self.system.name}>"

    def __str__(self) -> str:
        """Return the whole explanation, as the command line shows it."""
        return show(self, "text") or repr(self)

    @property
    def _question_text(self) -> str:
        """Write the question: each operand once, and the operation, if the question names one."""
        if self.question:
            return self.question
        operands = " with ".join(dict.fromkeys(map(str, self.operands)))
        return f"{operands} in {self.op}" if self.op else operands

    @property
    def result(self) -> DType:
        """The dtype of the answer. Raises PromotionError if it is a refusal."""
        if self.dtype is None:
            raise PromotionError(self)
        return self.dtype

    @property
    def arithmetic_dtype(self) -> DType:
        """The dtype of sums and products: the accumulator, the compute dtype, or the result's dtype."""
        return self.accumulator or self.compute or self.result

    @property
    def promoting_operands(self) -> tuple[Operand, ...]:
        """The operands that promote: all of them, except the condition of `where`, or indices."""
        return (
            self.operands
            if self.op is None
            else self.operands[self.system.find_operation(self.op).promoting_slice]
        )

    @property
    def joining_places(self) -> slice:
        """The places of the promoting operands that join: all, or one if the operation ignores the other."""
        if self.op is None:
            return slice(None)
        from typelattice.core.engine.evaluate_operation import find_operation_rules
        from typelattice.core.engine.operand_checks import find_joining_places, find_pair_join

        op = find_operation_rules(self.system, self.op)
        return find_joining_places(find_pair_join(op, self.promoting_operands))

    @property
    def decision(self) -> Decision:
        """The decision behind the answer: the last one that had a choice."""
        return next(
            (s for s in reversed(self.decisions) if len(s.nodes) > 1 or s.node is None), self.decisions[-1]
        )

    @property
    def bounds(self) -> tuple[Node, ...]:
        """The minimal bounds of the nodes that decided: one is the join, several are a tie or a refusal."""
        if self.question and self.basis is None:
            return ()
        nodes = [n for n in self.decision.nodes if n in self.system.order]
        return self.system.order.minimal_bounds(*nodes) if nodes else ()

    @property
    def rule(self) -> DecidingLines:
        """The file of the system and the lines in it that decided: without them the answer differs."""
        asked = self.basis or self
        return asked.find_rule(asked)

    @property
    def casts(self) -> tuple[OperandCast, ...]:
        """The implicit casts: one for each operand that does not have the dtype computed in."""
        targets = ((o, self.cast_target(o)) for o in self.promoting_operands[self.joining_places])
        return tuple(_make_cast(o, to) for o, to in targets if to is not None and o.dtype is not to)

    def cast_target(self, operand: Operand) -> DType | None:
        """Return the dtype to which an operand is cast before the operation computes, or None without a cast.

        If the operation keeps different parameters of a dtype, each operand has its own dtype: int32 beside a
        decimal is decimal(10,0).
        """
        if self.compute is None or not self.compute.parameters:
            return self.compute
        return (
            self.system.families[self.compute].find_member(dtype_or_default(self.system, operand))
            or self.compute
        )


def _make_cast(operand: Operand, target: DType) -> OperandCast:
    return OperandCast(
        operand, operand.dtype or operand.kind, target, loss(operand.dtype, target) if operand.dtype else None
    )


class PromotionError(TypelatticeError, TypeError):
    """The refusal of a combination by a system. `promotion` is the whole answer."""

    __module__ = "typelattice"

    def __init__(self, promotion: Promotion) -> None:
        super().__init__(promotion)
        self.promotion = promotion

    def __str__(self) -> str:
        p = self.promotion
        return f"{p.system.name} refuses {p._question_text}\n  {p.reason} ({p.rule}): {p.remedy}"
