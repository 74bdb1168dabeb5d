"""Shapes of arrays, and the shape of an elementwise result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Shape: TypeAlias = tuple[int | None, ...]  # the lengths of the axes, None if unknown


class ShapeError(ValueError):
    """Shapes that do not go together."""


def find_broadcast_shape(shapes: Sequence[Shape | None]) -> Shape | None:
    """Return the shape of an elementwise result. Raises ShapeError if axes have different lengths.

    >>> find_broadcast_shape([(3, 1), (4,)]), find_broadcast_shape([(None,), (2, 1)])
    ((3, 4), (2, None))
    """
    if any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape]
    if not known or (known.count(known[0]) == len(known)):
        return known[0] if known else ()
    found: list[int | None] = []
    for axis in range(1, max(map(len, known), default=0) + 1):
        lengths = {shape[-axis] for shape in known if len(shape) >= axis} - {1}
        sure = lengths - {None}
        if len(sure) > 1:
            shown = " and ".join(str(shape) for shape in dict.fromkeys(known))
            raise ShapeError(f"shapes {shown} do not go together; each axis has one length, or 1")
        found.append(sure.pop() if sure else None if lengths else 1)
    return tuple(reversed(found))
