"""Two typed graphs, before and after a pass of a compiler: the dtypes and accumulators that it changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import ACCUMULATOR_DTYPE_ARGUMENT
from typelattice.programs.calls.steps import (
    Call,
    Cast,
    DTypeOf,
    Input,
    Item,
    NamedDType,
    Number,
    Opaque,
    Ref,
    Step,
)

IGNORED_KEYWORDS = ("dtype", ACCUMULATOR_DTYPE_ARGUMENT)


class _Graph:
    """A graph with a key and a dtype for each step. Steps that compute the same have the same key.

    A cast has the key of its operand, so a pass may add and remove casts. `keys_seen` is shared by the graphs
    that are compared.
    """

    def __init__(self, steps: Sequence[Step], keys_seen: dict[object, int]) -> None:
        self.steps = steps
        self.keys: list[int] = []
        self.dtypes: list[str] = []
        for step in steps:
            self.keys.append(
                self.keys[step.operand]
                if isinstance(step, Cast)
                else keys_seen.setdefault(self._structure(step), len(keys_seen))
            )
            self.dtypes.append(self._dtype(step))

    def _structure(self, step: Step) -> object:
        """Return what a step computes, without any dtype."""
        match step:
            case Input(text=name):
                return "input", name
            case Number(value=value):
                return "number", repr(value)
            case Call(args=args, keywords=keywords):
                kept = tuple((key, self._argument(x)) for key, x in keywords if key not in IGNORED_KEYWORDS)
                return step.operation.function, self._argument(args), kept
        parts = tuple(getattr(step, name, None) for name in (*step.STEP_FIELDS, *step.ARGUMENT_FIELDS))
        places = tuple(self.keys[x] if isinstance(x, int) else self._argument(x) for x in parts)
        return type(step).__name__, getattr(step, "name", ""), places

    def _argument(self, x: Any) -> object:
        match x:
            case Ref(step):
                return "step", self.keys[step]
            case NamedDType() | DTypeOf():
                return "dtype"
            case tuple():
                return tuple(map(self._argument, x))
        return repr(x)

    def _dtype(self, step: Step) -> str:
        if isinstance(step, (Input, Opaque)):
            given = step.fixed_result
            return str(given.dtype) if isinstance(given, Operand) else str(given).partition("[")[0]
        if isinstance(step, (Number, Item)):
            return "a Python number"
        stated = step.requested_dtype
        if isinstance(stated, NamedDType):
            return stated.name
        source = getattr(step, "operand", None)
        return self.dtypes[source] if isinstance(source, int) else "no stated dtype"

    def calls(self) -> dict[int, list[tuple[str, Step]]]:
        """Return the dtypes of each call by its key: of its operands, its accumulator and its result."""
        found: dict[int, list[tuple[str, Step]]] = {}
        for i, step in enumerate(self.steps):
            if isinstance(step, Call):
                operands = ", ".join(self.dtypes[part] for part in step.operands)
                named = dict(step.keywords).get(ACCUMULATOR_DTYPE_ARGUMENT)
                adds = f" adding up in {named.name}" if isinstance(named, NamedDType) else ""
                found.setdefault(self.keys[i], []).append((f"({operands}){adds} -> {self.dtypes[i]}", step))
        return found


def list_changed_dtypes(
    before: tuple[Sequence[Step], Sequence[int]], after: tuple[Sequence[Step], Sequence[int]]
) -> list[str]:
    """List each call and each result whose dtypes differ. Calls that only one graph has are left out.

    Each graph is its steps and the numbers of its results.
    """
    keys_seen: dict[object, int] = {}
    first, second = _Graph(before[0], keys_seen), _Graph(after[0], keys_seen)
    found, calls_after = [], second.calls()
    for key, old in first.calls().items():
        kept = [text for text, _ in old]
        for text, step in calls_after.get(key, []):
            if text not in kept:
                where = f" ({step.location})" if step.location else ""
                found.append(f"{step.text!r}{where}: {kept[0]} before, {text} after")
    if len(before[1]) != len(after[1]):
        found.append(f"{len(before[1])} results before, {len(after[1])} after")
    for number, (a, b) in enumerate(zip(before[1], after[1], strict=False)):
        if first.dtypes[a] != second.dtypes[b]:
            found.append(f"result {number}: {first.dtypes[a]} before, {second.dtypes[b]} after")
    return found
