"""Explanations and tables: they need nothing but the system."""

from __future__ import annotations

from collections.abc import Sequence

from typelattice.conformance.agreement.way import (
    REFUSED,
    Answers,
    AskedProgram,
    no_answers,
    without_value,
    words_of,
)
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.explanations.promotion_as_data import promotion_data
from typelattice.programs.calls.steps import Cast
from typelattice.study.tables.tables import Table, table


class Explanation:
    """The explanation of each step as data for programs, asked with operand strings."""

    name, missing = "explanation", ""
    leaves_out = "elements, created arrays, steps after a refused one"

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        known: dict[tuple[str | None, ...], str] = {}
        return [self._ask_program(system, asked, known) for asked in programs]

    def _ask_program(
        self, system: System, asked: AskedProgram, known: dict[tuple[str | None, ...], str]
    ) -> Answers:
        found = no_answers(asked)
        for i, p in asked.promotions().items():
            question = (p.op, *map(str, p.operands))
            if question not in known:
                data = promotion_data(system.explain(*question[1:], op=p.op))
                given = words_of(data["dtype"], bool(data["weak"]))
                known[question] = REFUSED if data["dtype"] is None else given
            found[i] = known[question]
        for i, step in enumerate(asked.program.steps):
            source = asked.replay[step.operand].operand if isinstance(step, Cast) else None
            target = cast.target if (cast := asked.replay[i].cast) else asked.replay[i].dtype
            if source is not None and target is not None:
                data = promotion_data(system.cast(str(without_value(source)), str(target)))
                found[i] = REFUSED if data["dtype"] is None else words_of(data["dtype"], bool(data["weak"]))
        return found


class TableOfSystem:
    """The cell of the table of an operation, for steps of arrays that are not weak."""

    name, missing = "table", ""
    leaves_out = "steps that no table has: more than two operands, weak ones, numbers"

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        tables: dict[str, Table] = {}
        return [self._ask_program(system, asked, tables) for asked in programs]

    def _ask_program(self, system: System, asked: AskedProgram, tables: dict[str, Table]) -> Answers:
        found = no_answers(asked)
        for i, p in asked.promotions().items():
            operands = p.promoting_operands
            if p.op is None or len(p.operands) > 2 or not all(_is_plain_array(p, x) for x in p.operands):
                continue
            if p.op not in tables:
                tables[p.op] = table(system, p.op, dtypes=system.dtypes)
            column = str(operands[1]) if len(operands) > 1 else p.op
            if len(operands) == 1 and tables[p.op].columns != (p.op,):
                continue
            known = tables[p.op]
            if str(operands[0]) not in known.rows or column not in known.columns:
                continue  # an operation may give a dtype that the system does not have
            cell = known[str(operands[0]), column]
            found[i] = REFUSED if cell.dtype is None else words_of(cell.dtype, cell.weak)
        return found


def _is_plain_array(promotion: Promotion, operand: object) -> bool:
    return getattr(operand, "tier", "") == "array" and not getattr(operand, "weak", True)
