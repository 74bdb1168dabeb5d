"""Shapes of arrays that are joined, along an axis that is given or that the function has of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from typelattice.programs.axes import ShapeError, counted_axis
from typelattice.programs.step import Argument, Shape

# What becomes of an array of too few axes before it is joined: https://numpy.org/doc/stable/reference, under
# the name of each.
WIDENED: Mapping[str, Callable[[Shape], Shape]] = {
    "hstack": lambda shape: shape or (1,),
    "vstack": lambda shape: (*(1,) * (2 - len(shape)), *shape),
    "dstack": lambda shape: shape if len(shape) > 2 else (*(1,) * (2 - len(shape)), *shape, 1),
    "column_stack": lambda shape: shape if len(shape) > 1 else (*(shape or (1,)), 1),
}
ALONG = {"vstack": 0, "dstack": 2, "column_stack": 1}  # the axis of each; that of hstack is 1, of vectors 0


def joined_shape(name: str, operands: Sequence[Shape | None], axis: Argument) -> Shape | None:
    """The shape of arrays that are joined by an operation; None where it is not known.

    Raises ShapeError where their numbers of axes differ.

    >>> joined_shape("stack", [(3,), (3,)], 0), joined_shape("concat", [(3,), (4,)], 0)
    ((2, 3), (7,))
    >>> joined_shape("vstack", [(3,), (2, 3)], 0), joined_shape("hstack", [(), (2,)], 0)
    ((3, 3), (3,))
    """
    known = [shape for shape in operands if shape is not None]
    if len(known) < len(operands) or not known or not isinstance(axis, int):
        return None
    if name in WIDENED:
        known = [WIDENED[name](shape) for shape in known]
        axis = ALONG.get(name, min(len(known[0]) - 1, 1))
    first = known[0]
    if name == "stack":
        at = counted_axis(axis, len(first) + 1)
        return (*first[:at], len(known), *first[at:])
    if not any(known):
        return (len(known),)  # numbers in a row
    if any(len(shape) != len(first) for shape in known):
        raise ShapeError(f"{name} of arrays of {len(first)} and of other numbers of axes")
    at = counted_axis(axis, len(first))
    lengths = [shape[at] for shape in known]
    total = None if None in lengths else sum(length for length in lengths if length is not None)
    return (*first[:at], total, *first[at + 1 :])
