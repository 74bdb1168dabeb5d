"""Axes of a shape, counted from either end."""

from __future__ import annotations


class ShapeError(ValueError):
    """Shapes that do not go together."""


def counted_axis(axis: int, ndim: int) -> int:
    """An axis of an array of `ndim` axes, counted from the front. Raises ShapeError if there is no such axis.

    >>> counted_axis(1, 3), counted_axis(-1, 3)
    (1, 2)
    """
    if not -ndim <= axis < ndim:
        raise ShapeError(f"axis {axis} of an array of {ndim} axes")
    return axis % ndim
