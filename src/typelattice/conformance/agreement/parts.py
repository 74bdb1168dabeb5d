"""Parts of a program: the steps that a way computes, with inputs in place of those that it does not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from typelattice.conformance.agreement.way import AskedProgram, without_value
from typelattice.programs.calls.steps import Argument, DTypeOf, Input, NamedDType, Ref, Step
from typelattice.programs.program.program import Program


def whole_part(asked: AskedProgram) -> tuple[Program, list[int]]:
    """Return the program without refused steps, and the steps that its results are.

    The results of the system's own operations are inputs.
    """
    steps = asked.program.steps
    given = {i for i in range(len(steps)) if asked.is_custom(i)}
    results = [i for i in asked.arrays if not _needs_unknown_shape(steps, i, given)]
    return _part_of(asked, steps, results, given), results


def single_part(asked: AskedProgram, step: int) -> Program | None:
    """Return one step of inputs, or None if the shape of an operand is not known.

    A dtype that it takes from an earlier step is named.
    """

    def name_dtype(argument: Argument) -> Any:
        dtype = asked.replay[argument.step].dtype if isinstance(argument, DTypeOf) else None
        return argument if dtype is None else NamedDType(str(dtype))

    steps = [each.map_refs(lambda i: i, name_dtype) for each in asked.program.steps]
    operands = [o.operand for o in asked.replay]
    given = {i for i, o in enumerate(operands[:step]) if o is not None and o.tier != "scalar"}
    if _needs_unknown_shape(steps, step, given):
        return None
    return _part_of(asked, steps, [step], given)


def key_of_part(part: Program) -> str:
    """Return a text that equal parts of programs share."""
    steps = (s if isinstance(s, Input) else replace(s, text="", location=None) for s in part.steps)
    return repr([*steps])


def _part_of(
    asked: AskedProgram, steps: Sequence[Step], results: Sequence[int], given: Collection[int]
) -> Program:
    """Return the steps that some results need, with inputs in place of given ones."""
    needed = _find_needed(steps, results, given)
    numbers = {old: new for new, old in enumerate(needed)}

    def renumber(argument: Argument) -> Any:
        if isinstance(argument, (Ref, DTypeOf)):
            return replace(argument, step=numbers[argument.step])
        return argument

    found: list[Step] = []
    for i in needed:
        step, operand = steps[i], asked.replay[i].operand
        if i in given and operand is not None:
            found.append(Input(without_value(operand), text=f"x{len(found)}", shape=step.shape))
        else:
            found.append(step.map_refs(numbers.__getitem__, renumber))
    return Program(tuple(found), tuple(numbers[i] for i in results), asked.program.source)


def _needs_unknown_shape(steps: Sequence[Step], step: int, given: Collection[int]) -> bool:
    return any(steps[i].shape is None for i in _find_needed(steps, [step], given) if i in given)


def _find_needed(steps: Sequence[Step], results: Sequence[int], given: Collection[int]) -> list[int]:
    """Return the steps that results need, in order. Those that only given steps need are left out."""
    found: set[int] = set()
    left = [*results]
    while left:
        i = left.pop()
        if i not in found:
            found.add(i)
            if i not in given:
                left.extend(steps[i].inputs)
    return sorted(found)
