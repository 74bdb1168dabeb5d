"""The tables of a system: what it answers to each operand with each other, by operation, as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typelattice.engine.answer import Promotion
from typelattice.engine.system import System
from typelattice.explorer.cells import PARTS, Pools, is_small, rule
from typelattice.facts.dtypes import DType, Weak
from typelattice.facts.operations import operation
from typelattice.operands.operand import Operand, of
from typelattice.study.scope import SCALARS, check_size, weak_widths

NO_CELL = -1  # where two Python scalars would meet, which is Python's to answer
MOST_EXPLAINED = 100  # operands; the reasons for the answers to more take minutes to find


def operands(system: System, small: bool) -> tuple[Operand, ...]:
    """All operands of a system: arrays, weak ones, arrays without dimensions, Python scalars.

    Those of other tiers are not asked for small dtypes. Raises BeyondReachError for too many.
    """
    every = tuple(map(of, system.dtypes))
    check_size(len(every), system.name)
    usual = tuple(o for o in every if not is_small(o)) or every
    weak = tuple(of(d, weak=True) for d in _weak_dtypes(system))
    zero_d = tuple(of(o.dtype, tier="0d") for o in usual if o.dtype) if "0d" in system.tiers else ()
    scalars = tuple(map(system.operand, ("True", *SCALARS)))
    return (*(every if small else usual), *weak, *zero_d, *scalars)


def _weak_dtypes(system: System) -> Iterator[DType]:
    """The dtypes that an array may have weakly: those with a weak node of their own, or the defaults."""
    yield from weak_widths(system)
    kinds = {n.kind for n in system.order.nodes if isinstance(n, Weak) and not n.dtype}
    yield from (d for kind, d in system.defaults.items() if kind in kinds)


def table(system: System, op: str | None, pools: Pools) -> dict[str, object]:
    """The table of a system in an operation, or of promotion alone: its rows, its columns, and its cells.

    Each part of the cells is one column of the pools, row by row; NO_CELL stands where nothing was asked, and
    for the reasons of a system of too many operands.
    """
    rows = operands(system, small=op is None)
    alone = op is not None and operation(op).alone
    answers = [_ask(system, row, column, op) for row in rows for column in ((None,) if alone else rows)]
    numbers = [*map(pools.operand, rows)]
    parts = {
        name: tuple(NO_CELL if p is None else part(pools, p) for p in answers)
        for name, part in PARTS.items()
        if name != "trail" or len(rows) <= MOST_EXPLAINED
    }
    if len(rows) <= MOST_EXPLAINED:
        parts["rule"] = tuple(_rules(system, pools, answers))
    return {
        "rows": numbers,
        "columns": None if alone else numbers,
        **{name: pools.columns.number(parts.get(name, ())) for name in (*PARTS, "rule")},
    }


def _ask(system: System, row: Operand, column: Operand | None, op: str | None) -> Promotion | None:
    """The answer to a row's operand with a column's; None where Python alone answers."""
    if column is None:
        return system.explain(row, op=op)
    if row.tier == column.tier == "scalar":
        return None
    return system.explain(row, column, op=op)


def _rules(system: System, pools: Pools, answers: Sequence[Promotion | None]) -> Iterator[int]:
    """The lines behind each answer, which take longest to find.

    They are the same whichever operand comes first, if the answer is. And where an operation gives what two
    different operands promote to, they are the lines of the promotion.
    """
    known: dict[object, int] = {}
    for p in answers:
        if p is None:
            yield NO_CELL
            continue
        asked = _promotion_alone(system, p)
        mirrored = (
            frozenset(asked.operands), asked.op, asked.dtype, asked.weak, asked.reason,
            asked.decision.key, asked.decision.entry,
        )  # fmt: skip
        if mirrored not in known:
            known[mirrored] = rule(pools, asked)
        yield known[mirrored]


def _promotion_alone(system: System, p: Promotion) -> Promotion:
    """The promotion of the operands of an operation, if that decides the answer; else the answer itself."""
    if p.op is None or p.dtype is None or len(set(p.operands)) < 2:
        return p
    alone = system.explain(*p.operands)
    same = (alone.dtype, alone.weak, alone.node, alone.decision) == (p.dtype, p.weak, p.node, p.decision)
    return alone if same else p
