"""Functions with several results. Each result in use is its own step, with its index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.call_tables import (
    DTYPE_OF_FUNCTION_ITSELF,
    NameSort,
    dtype_origin_by_result,
    name_meaning,
)
from typelattice.programs.calls.program_builder import RESULT_KEYWORD
from typelattice.programs.calls.steps import Argument, Call, Ref

# The keyword for a call with the dtype, but not the values, of the function in the source.
STANDS_FOR_KEYWORD = "stands_for"
# STANDS_FOR_KEYWORD of the inner calls of a composition, which are not its results
INNER_CALL_STANDS_FOR = ""
MAX_RESULTS = 10_000  # of one call; of more nobody counts them


@dataclass(frozen=True, slots=True)
class MultipleResults:
    """The results of a call. Each becomes a step at its first use. `fields` are their names."""

    name: str
    count: int | None
    fields: tuple[str, ...]
    make_step: Callable[[int], Ref]
    made_steps: dict[int, Ref]

    def __getitem__(self, i: int) -> Ref:
        """Return the result of a number, from 0. Raises IndexError."""
        number = i
        if self.count is not None and i < 0:
            i += self.count
        if i < 0 or (self.count is not None and i >= self.count):
            many = "an unknown number of" if self.count is None else f"{self.count}"
            raise IndexError(f"{self.name} returns {many} arrays; index {number} is out of range")
        if i not in self.made_steps:
            self.made_steps[i] = self.make_step(i)
        return self.made_steps[i]

    def take_slice(self, numbers: slice) -> tuple[Ref, ...]:
        """Return the results of a slice of numbers. Raises IndexError if the numbers are unknown."""
        stop = numbers.stop if self.count is None else self.count
        if stop is None or stop < 0 or (self.count is None and (numbers.start or 0) < 0):
            raise IndexError(f"it is not known how many arrays {self.name} gives")
        return tuple(self[i] for i in range(stop)[numbers])


def count_results(
    operation: Operation,
    operand_count: int,
    shape: Shape | None,
    other_arguments: Sequence[Argument],
    library: str | None,
) -> int | None:
    """Return the number of arrays that an operation gives, or None if it is unknown.

    `shape` is the shape of the first operand, and `other_arguments` are the arguments after the operands. A
    number beyond MAX_RESULTS is unknown, too.
    """
    if operation.name == "split":
        count = _count_parts(name_meaning(NameSort.SPLIT_PARTS, "split", library), shape, other_arguments)
    else:
        count = _count_any_results(operation, operand_count, shape, other_arguments)
    return None if count is None or count > MAX_RESULTS else count


def _count_any_results(
    operation: Operation, operand_count: int, shape: Shape | None, other_arguments: Sequence[Argument]
) -> int | None:
    match operation.name:
        case "meshgrid" | "broadcast_arrays":
            return operand_count
        case "nonzero":
            return None if shape is None else len(shape)
        case "unstack":
            at = other_arguments[0] if other_arguments else 0
            if shape is None or not isinstance(at, int) or not -len(shape) <= at < len(shape):
                return None
            return shape[at]
    return len(dtype_origin_by_result(operation.name))


def _count_parts(word: str | None, shape: Shape | None, arguments: Sequence[Argument]) -> int | None:
    """Return the number of parts into which `split` divides an axis, as names.txt says of a library."""
    division, axis = (*arguments, None, None)[:2]
    if word is None or (isinstance(division, tuple) and not all(type(x) is int for x in division)):
        return None
    if isinstance(division, tuple):
        return len(division) + (word == "bounds")
    if type(division) is not int or word != "sizes":
        return division if type(division) is int else None
    at = 0 if axis is None else axis
    if shape is None or type(at) is not int or not -len(shape) <= at < len(shape) or division < 1:
        return None
    length = shape[at]
    return None if length is None else max(-(-length // division), 1)


def has_multiple_results(operation: Operation) -> bool:
    """Return True if an operation gives several arrays, as far as its results are known."""
    return (
        operation.call_form == "separate"
        or bool(dtype_origin_by_result(operation.name))
        or operation.name in ("nonzero", "unstack", "split")
    )


def result_dtype_origin(op_name: str, keywords: Mapping[str, Argument]) -> str:
    """Return the origin of the dtype of the requested result.

    It is DTYPE_OF_FUNCTION_ITSELF, DTYPE_OF_COMPUTED_RESULT, or the name of an operation.
    """
    number = keywords.get(RESULT_KEYWORD)
    fields = [*dtype_origin_by_result(op_name).values()]
    return fields[number] if isinstance(number, int) and number < len(fields) else DTYPE_OF_FUNCTION_ITSELF


def source_arguments(step: Call) -> tuple[tuple[Argument, ...], dict[str, Argument], int | None]:
    """Return the arguments of a call, those by name, and the number of the requested result."""
    named = dict(step.keywords)
    number = named.pop(RESULT_KEYWORD, None)
    args, own = step.args, len(step.operands)
    # einsum's operands come after the text of subscripts.
    if step.name in OPERATIONS and step.operation.call_form == "subscripts":
        args = (*args[own:], *args[:own])
    if not isinstance(number, int):
        return args, named, None
    if step.name in ("meshgrid", "broadcast_arrays"):  # the step has the operand of the chosen result first
        first, *others = args
        args = (*others[:number], first, *others[number:])
    return args, named, number
