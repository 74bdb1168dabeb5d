"""Answers that leave a system's dtypes, found by a search over every operation and operand.

Operations with equal rules are tried once. Calls of one and two operands have operands of all tiers, calls of
three only arrays. Operations of any number of operands are tried with one and two. A call that the recorded
library refused has no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, class_of, merge_entries
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.core.explanations.promotion_in_english import TitledLines
from typelattice.core.losses.loss import loss
from typelattice.core.operands.operand import Operand, OperandError, operand_of_dtype
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.core.system_files.reader import system as find_system
from typelattice.study.tables.study_scope import list_operands

if TYPE_CHECKING:
    from pathlib import Path

MAX_SHOWN = 6
MIN_ACCUMULATOR_BITS = {Kind.UNSIGNED: 32, Kind.SIGNED: 32, Kind.FLOAT: 16, Kind.COMPLEX: 32}


@dataclass(frozen=True, slots=True)
class Escape:
    """A question, and a part of its answer whose dtype no operand of the system may have."""

    question: str
    part: str
    dtype: DType

    def __str__(self) -> str:
        return f"{self.question}: {self.part} {self.dtype}"


@dataclass(frozen=True, slots=True)
class Closedness:
    """The answers that leave a system's dtypes. Without any, the system is closed.

    `operation_count` is the number of operations, `question_count` that of questions to those with different
    rules. `storage_dtypes` are the dtypes with which no operation computes. `narrow_accumulators` has the
    operations that add up values in a dtype of few bits, with that dtype. `lossy_accumulators` has the
    operations that add up values in a dtype of a lower kind, or without some values, with both dtypes.
    """

    system: System
    operation_count: int
    question_count: int
    escapes: tuple[Escape, ...]
    storage_dtypes: tuple[DType, ...]
    narrow_accumulators: tuple[tuple[str, DType], ...]
    lossy_accumulators: tuple[tuple[str, DType, DType], ...]

    def __bool__(self) -> bool:
        return not self.escapes

    def sections(self) -> Iterator[TitledLines]:
        """Yield the verdict, and the other doubts."""
        about = f"{self.operation_count:,} operations with all operands, {self.question_count:,} questions"
        if self:
            yield "closed", [f"✓ no result, accumulator, default or literal leaves the dtypes: {about}"]
        else:
            count = len(self.escapes)
            leave = "answers leave" if count != 1 else "answer leaves"
            head = f"✗ {count:,} {leave} the dtypes: {about}"
            dtypes = dict.fromkeys(e.dtype for e in self.escapes)
            found = {d: [e for e in self.escapes if e.dtype is d] for d in dtypes}
            shown = (f"{d} in {len(which):,}, first {which[0]}" for d, which in found.items())
            yield "closed", [head, *shown]
        if self.lossy_accumulators:
            added: dict[tuple[DType, DType], list[str]] = {}
            for op, given, accumulator in self.lossy_accumulators:
                added.setdefault((given, accumulator), []).append(op)
            count = len(added)
            yield (
                "accumulators",
                [
                    f"✗ {count:,} {'lose' if count != 1 else 'loses'} values",
                    *(f"{d} in {accumulator}: {_list_few(ops)}" for (d, accumulator), ops in added.items()),
                ],
            )
        if self.storage_dtypes:
            yield "never", [f"no operation computes with {', '.join(map(str, self.storage_dtypes))}"]
        if self.narrow_accumulators:
            dtypes = dict.fromkeys(d for _, d in self.narrow_accumulators)
            narrow = {d: [op for op, of in self.narrow_accumulators if of is d] for d in dtypes}
            yield "narrow", [f"results accumulate in {d}: {_list_few(ops)}" for d, ops in narrow.items()]

    def data(self) -> dict[str, object]:
        """Return the result as data for JSON."""
        return {
            "operations": self.operation_count,
            "asked": self.question_count,
            "escapes": [
                {"question": e.question, "part": e.part, "dtype": e.dtype.name} for e in self.escapes
            ],
            "stored": [d.name for d in self.storage_dtypes],
            "narrow": [[op, d.name] for op, d in self.narrow_accumulators],
            "lossy": [[op, d.name, accumulator.name] for op, d, accumulator in self.lossy_accumulators],
        }


def find_escapes(system: str | Path | System) -> Closedness:
    """Try every operation of a system's library, and find the answers outside the system's dtypes.

    >>> found = find_escapes("arrow")
    >>> bool(found), found.escapes
    (True, ())
    """
    found = find_system(system)
    inside, every = {*found.dtypes}, (*OPERATIONS.values(), *found.custom_operations.values())
    operations = [o for o in every if o.name not in found.missing_operations]
    operations_by_rules: dict[str, list[Operation]] = {}
    for operation in operations:
        operations_by_rules.setdefault(_rule_of_answer(found, operation), []).append(operation)
    escapes = [*_yield_stated_dtypes(found, inside)]
    question_count, computed, narrow = 0, set[DType | None](), dict[tuple[str, DType], None]()
    lossy: dict[tuple[str, DType, DType], None] = {}
    groups: list[list[Operation]] = [[], *operations_by_rules.values()]
    for group in groups:
        op = group[0] if group else None
        computes = op is not None and GROUP_BY_CLASS[class_of(op)] == "computing"
        for operands in _yield_questions(found, op):
            try:
                p = found.explain(*operands, op=op.name if op else None)
            except OperandError:
                continue
            question_count += 1
            if computes and p.dtype:
                computed |= {o.dtype for o in operands}
            if p.dtype and not {p.dtype, p.compute or p.dtype, p.accumulator or p.dtype} <= inside:
                escapes += _yield_outside_parts(p, inside)
            if p.dtype and _is_narrow(p.arithmetic_dtype, operands):
                narrow |= dict.fromkeys((o.name, p.arithmetic_dtype) for o in group if o.adds_up)
            if p.dtype and p.accumulator:
                added = [p.compute] if p.compute else [o.dtype for o in operands if o.tier != "scalar"]
                lossy |= dict.fromkeys(
                    (o.name, d, p.accumulator)
                    for d in added
                    if d and _loses(d, p.accumulator)
                    for o in group
                )
    storage_dtypes = tuple(d for d in found.dtypes if d not in computed)
    return Closedness(
        found, len(operations), question_count, tuple(dict.fromkeys(escapes)), storage_dtypes, tuple(narrow),
        tuple(lossy),
    )  # fmt: skip


def _yield_outside_parts(promotion: Promotion, inside: set[DType]) -> Iterator[Escape]:
    """Yield the parts of an answer outside the dtypes, or nothing if the library refused the call."""
    recorded = find_recorded_answer(promotion)
    if recorded and recorded.dtype is None:
        return
    question = f"{promotion.op or 'promotion'} of {' and '.join(map(str, promotion.operands))}"
    parts = {
        "the result is": promotion.dtype,
        "it computes in": promotion.compute,
        "it accumulates in": promotion.accumulator,
    }
    for part, d in parts.items():
        if d and d not in inside:
            yield Escape(question, part, d)


def _rule_of_answer(system: System, operation: Operation) -> str:
    """Return all that an answer to an operation depends on, apart from its name."""
    rule = merge_entries(operation, system.ops)
    facts = [getattr(rule, name) for name in rule.__match_args__ if name != "name"]
    shape = (
        operation.call_form,
        operation.min_operands,
        operation.max_operands,
        operation.min_dimensions,
        operation.is_in_place,
    )
    return repr((facts, shape, operation.is_operator))


def _yield_stated_dtypes(system: System, inside: set[DType]) -> Iterator[Escape]:
    """Yield the defaults and the dtypes of new arrays that no operand may have."""
    for kind, d in system.defaults.items():
        if d not in inside:
            yield Escape(f"a Python {kind.python_name} alone", "the default is", d)
    for asked, d in system.requested.items():
        if d not in inside:
            yield Escape(f"an array of {asked}", "the dtype is", d)


def _yield_questions(system: System, operation: Operation | None) -> Iterator[Sequence[Operand]]:
    arrays = [operand_of_dtype(d) for d in system.dtypes]
    every = [*arrays, *(o for o in list_operands(system, "scalar") if o.tier == "scalar" or o.weak)]
    if "0d" in system.tiers:
        every += [operand_of_dtype(d, tier="0d") for d in system.dtypes]
    least, most = (2, 2) if operation is None else (operation.min_operands, operation.max_operands or 2)
    if operation and operation.call_form == "indexed":
        integers = next((o for o in arrays if o.kind in (Kind.SIGNED, Kind.UNSIGNED)), None)
        yield from ((o, *[integers] * (least - 1)) for o in every if integers)
        return
    if least <= 1:
        yield from ((o,) for o in every)
    if least <= 2 <= most:
        yield from product(every, repeat=2)
    if least <= 3 <= most:
        yield from product(arrays, repeat=3)


def _is_narrow(d: DType, operands: Sequence[Operand]) -> bool:
    arrays = all(o.tier == "array" and not o.weak for o in operands)
    return arrays and d.bits is not None and d.bits < MIN_ACCUMULATOR_BITS.get(d.kind, 0)


def _loses(d: DType, accumulator: DType) -> bool:
    """Return True if an accumulator is of a lower kind than the values, or does not hold each of them."""
    if accumulator.kind.category is not d.kind.category:
        return accumulator.kind.position < d.kind.position
    return bool(loss(d, accumulator))


def _list_few(names: Sequence[str]) -> str:
    return ", ".join([*names[:MAX_SHOWN], *(["..."] if len(names) > MAX_SHOWN else [])])
