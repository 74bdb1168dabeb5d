"""One answer as numbers: the positions of its parts in a pool."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.decisions import Decision
from typelattice.core.engine.promote_operands import promote_operands
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.core.explanations.operation_description import describe_operation
from typelattice.core.explanations.promotion_in_english import answer_text, explain_in_sections
from typelattice.core.explanations.recorded_answer_in_english import (
    describe_recorded_answer,
    recorded_result_text,
)
from typelattice.core.operands.operand import OPERAND_TIERS, Operand, Tier, operand_of_dtype
from typelattice.show.explorer.rules_key import rules_key
from typelattice.show.explorer.value_pool import ValuePool
from typelattice.study.tables.table_labels import answer_marks, dtype_code, operand_label
from typelattice.study.tables.tables import is_small

NO_CELL_NUMBER = -1  # a cell of two Python scalars: Python itself decides their dtype


@dataclass(frozen=True, slots=True)
class Pools:
    """The pools of values that cells refer to.

    - operands: the string, the code, the kind, the tier, whether it is weak, whether its dtype is
      a small one.
    - answers: the code, the words, the kind (or refused), whether it is weak, whether a cast loses something,
      and the operand that the result is in a further step; -1 for a refusal.
    - trails: the numbers of the sections of an explanation, without the section on the operation.
    - sections: a heading and lines.
    - rules: the place of the rule, then the lines as `number: text`.
    - evidence: whether the library departs from its rule, its answer, and the lines that say so.
    - ways: the joined nodes, their join, and the bounds that lost.
    - columns: one part of all cells of a table, row by row.
    """

    operands: ValuePool = field(default_factory=ValuePool)
    answers: ValuePool = field(default_factory=ValuePool)
    trails: ValuePool = field(default_factory=ValuePool)
    sections: ValuePool = field(default_factory=ValuePool)
    rules: ValuePool = field(default_factory=ValuePool)
    evidence: ValuePool = field(default_factory=ValuePool)
    ways: ValuePool = field(default_factory=ValuePool)
    columns: ValuePool = field(default_factory=ValuePool)

    def operand_number(self, operand: Operand) -> int:
        """Return the number of an operand."""
        shown = operand_label(operand, "bits")
        small = operand.dtype is not None and is_small(operand.dtype)
        return self.operands.number_of(
            (str(operand), shown.text, operand.kind.value, operand.tier, operand.weak, small)
        )

    def data(self) -> dict[str, object]:
        """Return the contents of the pools, by name."""
        return {name: getattr(self, name).values for name in self.__slots__}


# The parts of a cell, each a column, as `AnswerEncoder` has them. The reasons for an answer take longest to
# find, so a system of many operands is shown without them.
REASON_COLUMNS = ("trail", "rule")
COLUMN_NAMES = ("answer", "operation", "evidence", "way", *REASON_COLUMNS)
ColumnNumbers = dict[Hashable, dict[str, int]]  # key of a table -> the number of each column, by its part


class AnswerEncoder:
    """The cells of one system. Parts that several cells share are computed once.

    Most operations give the dtype that their operands promote to, for the same reasons.
    """

    def __init__(self, system: System, pools: Pools, columns: ColumnNumbers) -> None:
        self.system, self.pools, self._columns = system, pools, columns
        self._promotions: dict[tuple[Operand, ...], Promotion] = {}
        self._trails: dict[object, int] = {}
        self._rules: dict[object, int] = {}
        self._ways: dict[object, int] = {}
        self._results: dict[object, int] = {}

    def ask(self, operands: tuple[Operand, ...], op_name: str | None) -> Promotion:
        """Return the answer to operands, with or without an operation."""
        if op_name is not None:
            return promote_operands(self.system, operands, op_name, self.system.origin.rule_of_answer)
        if operands not in self._promotions:
            self._promotions[operands] = promote_operands(
                self.system, operands, None, self.system.origin.rule_of_answer
            )
        return self._promotions[operands]

    def column_numbers(
        self, op_name: str | None, answers: Sequence[Promotion | None], with_reasons: bool
    ) -> dict[str, int]:
        """Return the numbers of the columns of a table, with NO_CELL_NUMBER for calls that were left out.

        Most releases of a library have the same rules. For such systems everything is computed once, except
        the library's answers. The reasons of refusals are compared, because they may name the system.
        """
        reasons = tuple(p and (p.reason, p.remedy) for p in answers)
        known = self._columns.setdefault((op_name, rules_key(self.system, op_name), reasons), {})
        found = {}
        for name in COLUMN_NAMES:
            if name == "evidence" or name not in known:
                known[name] = self._column_number(
                    name, answers if with_reasons or name not in REASON_COLUMNS else ()
                )
            found[name] = known[name]
        return found

    def _column_number(self, name: str, answers: Sequence[Promotion | None]) -> int:
        """Return the number of a column: one part of all answers of a table."""
        part = getattr(self, name)
        return self.pools.columns.number_of(tuple(NO_CELL_NUMBER if p is None else part(p) for p in answers))

    def answer(self, promotion: Promotion) -> int:
        """Return the number of the answer itself."""
        stands_out = answer_marks(promotion)
        result = (
            -1
            if promotion.dtype is None
            else self._result_number(promotion.dtype, promotion.weak, _result_tier(promotion))
        )
        values = (
            dtype_code(promotion),
            answer_text(promotion),
            stands_out[0],
            promotion.weak,
            "lossy" in stands_out,
            result,
        )
        return self.pools.answers.number_of(values)

    def _result_number(self, dtype: DType, weak: bool, tier: Tier) -> int:
        """Return the number of a result as an operand."""
        key = dtype, weak, tier
        if key not in self._results:
            self._results[key] = self.pools.operand_number(operand_of_dtype(dtype, weak, tier))
        return self._results[key]

    def trail(self, promotion: Promotion) -> int:
        """Return the number of the explanation's sections, except the one on the operation."""
        key = _equality_key(promotion)
        if key not in self._trails:
            sections = explain_in_sections(promotion, with_operation=False)
            numbers = tuple(self.pools.sections.number_of((heading, *lines)) for heading, lines in sections)
            self._trails[key] = self.pools.trails.number_of(numbers)
        return self._trails[key]

    def operation(self, p: Promotion) -> int:
        """Return the number of the section on what the operation does."""
        return (
            self.pools.sections.number_of(("operation", *describe_operation(p))) if p.op else NO_CELL_NUMBER
        )

    def evidence(self, promotion: Promotion) -> int:
        """Return the number of the entry with the library's own answer."""
        o = find_recorded_answer(promotion)
        departs = o is not None and o.departs
        return self.pools.evidence.number_of(
            (departs, recorded_result_text(o) if o else "", *describe_recorded_answer(promotion, o))
        )

    def way(self, promotion: Promotion) -> int:
        """Return the number of the joined nodes, their join, and the minimal bounds that lost."""
        step = _join_decision(promotion)
        key = step.nodes, step.node
        if key not in self._ways:
            order = promotion.system.order
            nodes = [n for n in dict.fromkeys(step.nodes) if n in order]
            lowest = order.minimal_bounds(*nodes) if nodes else ()
            to = step.node if step.node in order else None
            lost = tuple(str(n) for n in lowest if n is not to) if len(nodes) > 1 else ()
            self._ways[key] = self.pools.ways.number_of(
                (tuple(map(str, nodes)), str(to) if to else None, lost)
            )
        return self._ways[key]

    def rule(self, promotion: Promotion) -> int:
        """Return the number of the entry with the lines of the file behind it.

        The same answer in both orders of operands has the same lines. If an operation returns the promoted
        dtype of two different operands, the lines are those of the promotion.
        """
        explained = self._deciding_promotion(promotion)
        key = (
            frozenset(explained.operands), explained.op, explained.dtype, explained.weak, explained.reason,
            explained.decision.key, explained.decision.entry,
        )  # fmt: skip
        if key not in self._rules:
            found = explained.rule
            quoted = (f"{n}: {line}" for n, line in zip(found.lines, found.quoted, strict=False))
            self._rules[key] = self.pools.rules.number_of((str(found), *quoted))
        return self._rules[key]

    def _deciding_promotion(self, promotion: Promotion) -> Promotion:
        """Return the promotion of the operands if it decides the operation's answer, or else this answer.
        """
        if promotion.op is None or len(set(promotion.operands)) < 2:
            return promotion
        alone = self.ask(promotion.operands, None)
        same = (alone.dtype, alone.weak, alone.node, alone.decision, alone.reason) == (
            promotion.dtype,
            promotion.weak,
            promotion.node,
            promotion.decision,
            promotion.reason,
        )
        return alone if same else promotion


def _equality_key(promotion: Promotion) -> object:
    """Return a key for the sections of an explanation, except the section on what the operation does.

    Promotions with equal keys share these sections. If values count, the key includes the operation, since it
    may treat each value of a number differently.
    """
    steps = tuple((type(step), step.nodes, step.node) for step in promotion.decisions)
    by_value = (
        promotion.op
        if promotion.system.combine == "value"
        and any(o.tier != "array" for o in promotion.promoting_operands)
        else None
    )
    weak = promotion.dtype.kind if promotion.dtype and promotion.weak else None
    return (
        promotion.promoting_operands,
        steps,
        promotion.compute,
        weak,
        promotion.fits,
        promotion.dtype is None,
        promotion.reason,
        promotion.remedy,
        by_value,
    )


def _result_tier(p: Promotion) -> Tier:
    """Return the tier of a result: the highest of the operands, or `0d` if all are Python scalars."""
    tiers = {o.tier for o in p.promoting_operands}
    return next(tier for tier in OPERAND_TIERS if tier in tiers or tier == OPERAND_TIERS[-2])


def _join_decision(p: Promotion) -> Decision:
    """Return the step in which nodes joined: the last with several nodes, or else the first."""
    return next((s for s in reversed(p.decisions) if len(set(s.nodes)) > 1), p.decisions[0])
