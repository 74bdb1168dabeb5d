"""The tables of a system: its answers to all pairs of operands, by operation, as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from typelattice.core.dtypes.dtypes import DType, WeakNode
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.operations.operations import find_operation
from typelattice.show.explorer.answer_encoding import AnswerEncoder
from typelattice.study.tables.study_scope import PYTHON_SCALARS, check_size, weak_widths
from typelattice.study.tables.tables import is_small

MAX_EXPLAINED_OPERANDS = 100  # operands; the reasons for the answers to more take minutes to find


def list_all_operands(system: System, small: bool) -> tuple[Operand, ...]:
    """Return all operands of a system: arrays, weak ones, arrays without dimensions, Python scalars.

    Small dtypes appear only as arrays, not in the other tiers. Raises BeyondReachError if there are too many
    operands.
    """
    all_arrays = tuple(map(operand_of_dtype, system.dtypes))
    check_size(len(all_arrays), system.name)
    everyday_arrays = tuple(operand_of_dtype(d) for d in system.dtypes if not is_small(d)) or all_arrays
    weak = tuple(operand_of_dtype(d, weak=True) for d in _weak_dtypes(system))
    zero_d = (
        tuple(operand_of_dtype(o.dtype, tier="0d") for o in everyday_arrays if o.dtype)
        if "0d" in system.tiers
        else ()
    )
    scalars = tuple(map(system.operand, ("True", *PYTHON_SCALARS)))
    return (*(all_arrays if small else everyday_arrays), *weak, *zero_d, *scalars)


def _weak_dtypes(system: System) -> Iterator[DType]:
    """Return the dtypes that a weak array may have: those with a weak node, or the defaults."""
    yield from weak_widths(system)
    kinds = {n.kind for n in system.order.nodes if isinstance(n, WeakNode) and not n.dtype}
    yield from (d for kind, d in system.defaults.items() if kind in kinds)


def encode_table(encoder: AnswerEncoder, op_name: str | None) -> dict[str, object]:
    """Return the table of a system for an operation, or for plain promotion: its rows, columns and cells.

    Each part of the cells is one column of the pools, row by row. NO_CELL stands for a call that was left
    out, and for the reasons of a system with too many operands.
    """
    rows = list_all_operands(encoder.system, small=op_name is None)
    is_unary = op_name is not None and find_operation(op_name).has_one_promoting_operand
    asked = [(row,) for row in rows] if is_unary else [*product(rows, repeat=2)]
    answers = [None if _are_python_scalars(pair) else encoder.ask(pair, op_name) for pair in asked]
    numbers = [*map(encoder.pools.operand_number, rows)]
    found: dict[str, object] = {"rows": numbers, "columns": None if is_unary else numbers}
    return found | encoder.column_numbers(op_name, answers, with_reasons=len(rows) <= MAX_EXPLAINED_OPERANDS)


def _are_python_scalars(operands: Sequence[Operand]) -> bool:
    """Return True if Python itself decides the answer."""
    return len(operands) > 1 and all(o.tier == "scalar" for o in operands)
