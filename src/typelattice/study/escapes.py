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

from typelattice.engine.answer import Promotion
from typelattice.engine.operations import GROUPS, class_of, merge_entries
from typelattice.engine.system import System
from typelattice.explanations.sections import Section
from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.operations import OPERATIONS, Operation
from typelattice.files.reader import system as find_system
from typelattice.operands.operand import Operand, OperandError, operand_of
from typelattice.recorded.observed import observed
from typelattice.study.study_scope import domain

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = 6
FEWEST_BITS = {Kind.UNSIGNED: 32, Kind.SIGNED: 32, Kind.FLOAT: 16, Kind.COMPLEX: 32}  # at least, of sums


@dataclass(frozen=True, slots=True)
class Escape:
    """A question, and a part of its answer whose dtype no operand of the system may have."""

    question: str
    part: str
    dtype: DType

    def __str__(self) -> str:
        return f"{self.question}: {self.part} {self.dtype}"


@dataclass(frozen=True, slots=True)
class Closed:
    """The answers that leave a system's dtypes; without any, the system is closed.

    `operations` is the number of operations, `asked` that of calls of those with different rules. No
    operation computes in the dtypes of `stored`. `narrow` has the operations that add up values in a dtype of
    few bits, with that dtype.
    """

    system: System
    operations: int
    asked: int
    escapes: tuple[Escape, ...]
    stored: tuple[DType, ...]
    narrow: tuple[tuple[str, DType], ...]

    def __bool__(self) -> bool:
        return not self.escapes

    def sections(self) -> Iterator[Section]:
        """Yield the verdict, and the other doubts."""
        about = f"{self.operations:,} operations with all operands, {self.asked:,} questions"
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
        if self.stored:
            yield "never", [f"no operation computes with {', '.join(map(str, self.stored))}"]
        if self.narrow:
            dtypes = dict.fromkeys(d for _, d in self.narrow)
            added = {d: [op for op, of in self.narrow if of is d] for d in dtypes}
            yield "narrow", [f"results accumulate in {d}: {_few(ops)}" for d, ops in added.items()]

    def data(self) -> dict[str, object]:
        """Return the result as data for JSON."""
        return {
            "operations": self.operations,
            "asked": self.asked,
            "escapes": [
                {"question": e.question, "part": e.part, "dtype": e.dtype.name} for e in self.escapes
            ],
            "stored": [d.name for d in self.stored],
            "narrow": [[op, d.name] for op, d in self.narrow],
        }


def closed(system: str | Path | System) -> Closed:
    """Try every operation of a system's library, and find the answers outside the system's dtypes.

    >>> found = closed("arrow")
    >>> bool(found), found.escapes
    (True, ())
    """
    found = find_system(system)
    inside, every = {*found.dtypes}, (*OPERATIONS.values(), *found.operations.values())
    operations = [o for o in every if o.name not in found.absent]
    alike: dict[str, list[Operation]] = {}
    for operation in operations:
        alike.setdefault(_rule(found, operation), []).append(operation)
    escapes = [*_stated(found, inside)]
    asked, computed, narrow = 0, set[DType | None](), dict[tuple[str, DType], None]()
    groups: list[list[Operation]] = [[], *alike.values()]
    for group in groups:
        op = group[0] if group else None
        computes = op is not None and GROUPS[class_of(op)] == "computing"
        for operands in _questions(found, op):
            try:
                p = found.explain(*operands, op=op.name if op else None)
            except OperandError:
                continue
            asked += 1
            if computes and p.dtype:
                computed |= {o.dtype for o in operands}
            if p.dtype and not {p.dtype, p.compute or p.dtype, p.accumulator or p.dtype} <= inside:
                escapes += _outside(p, inside)
            if p.dtype and _is_narrow(p.arithmetic, operands):
                narrow |= dict.fromkeys((o.name, p.arithmetic) for o in group if o.adds_up)
    stored = tuple(d for d in found.dtypes if d not in computed)
    return Closed(found, len(operations), asked, tuple(dict.fromkeys(escapes)), stored, tuple(narrow))


def _outside(p: Promotion, inside: set[DType]) -> Iterator[Escape]:
    """Yield the parts of an answer outside the dtypes, or nothing if the library itself refused the call."""
    recorded = observed(p)
    if recorded and recorded.dtype is None:
        return
    question = f"{p.op or 'promotion'} of {' and '.join(map(str, p.operands))}"
    parts = {"the result is": p.dtype, "it computes in": p.compute, "it accumulates in": p.accumulator}
    for part, d in parts.items():
        if d and d not in inside:
            yield Escape(question, part, d)


def _rule(system: System, operation: Operation) -> str:
    """Return all that an answer to an operation depends on, apart from its name."""
    rule = merge_entries(operation, system.ops)
    facts = [getattr(rule, name) for name in rule.__match_args__ if name != "name"]
    shape = operation.form, operation.least, operation.most, operation.least_dimensions, operation.in_place
    return repr((facts, shape, operation.is_operator))


def _stated(system: System, inside: set[DType]) -> Iterator[Escape]:
    """Yield the defaults and the dtypes of new arrays that no operand may have."""
    for kind, d in system.defaults.items():
        if d not in inside:
            yield Escape(f"a Python {kind.word} alone", "the default is", d)
    for asked, d in system.requested.items():
        if d not in inside:
            yield Escape(f"an array of {asked}", "the dtype is", d)


def _questions(system: System, op: Operation | None) -> Iterator[Sequence[Operand]]:
    arrays = [operand_of(d) for d in system.dtypes]
    every = [*arrays, *(o for o in domain(system, "scalar") if o.tier == "scalar" or o.weak)]
    if "0d" in system.tiers:
        every += [operand_of(d, tier="0d") for d in system.dtypes]
    least, most = (2, 2) if op is None else (op.least, op.most or 2)
    if op and op.form == "indexed":
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
    return arrays and d.bits is not None and d.bits < FEWEST_BITS.get(d.kind, 0)


def _few(names: Sequence[str]) -> str:
    return ", ".join([*names[:SHOWN], *(["..."] if len(names) > SHOWN else [])])
