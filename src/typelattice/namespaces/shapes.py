"""The function of a namespace that needs only shapes, no arrays and no dtypes."""
from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from typelattice.namespaces.signatures import named

Shape = tuple[int | None, ...]  # None: a length that is not known yet


def broadcast_shapes(*given: Shape) -> Shape:
    """Broadcast shapes to one shape. Raises ValueError where they do not go together.

    >>> broadcast_shapes((2, 1), (3,), (None, 1, 1))
    (None, 2, 3)
    """
    columns = [*zip_longest(*(reversed(shape) for shape in given), fillvalue=1)]
    return tuple(_length(column, given) for column in reversed(columns))


def _length(column: tuple[int | None, ...], given: tuple[Shape, ...]) -> int | None:
    """The one length beside 1 that an axis has; unknown if any is, and no other is known."""
    lengths = {length for length in column if length != 1}
    known = lengths - {None}
    if len(known) > 1:
        what = f"shapes {' and '.join(map(str, given))} do not go together"
        raise ValueError(f"{what}; each axis has one length, or 1")
    return known.pop() if known else None if lengths else 1


def shapes() -> dict[str, Callable[..., Any]]:
    """The function by its name."""
    return {"broadcast_shapes": named(broadcast_shapes, "broadcast_shapes")}
