"""Shadows of running sums in NumPy: their values if every step so far had been computed in float64."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any
from weakref import ref

from typelattice.tracing.libraries.value_checks import KEPT, describe_loss
from typelattice.tracing.run_data.run import LOST_DIGITS, ValueLoss

SUMMING = ("add", "subtract")  # operations in which a loss builds up step by step
MOST_SHADOWS = 4_096
MOST_BYTES = 1 << 28  # of all shadows


@dataclass(frozen=True, slots=True)
class Shadow:
    """The values in float64 of an array, and its own values at that time; None for a scalar.

    `lost` is True if a loss of digits was reported of it, or of an array that it was computed from.
    """

    array: Callable[[], Any]
    own: Any
    wide: Any
    lost: bool


class Shadows:
    """The shadows of the last sums and differences of narrow floats, by their ids.

    Only additions and subtractions carry a shadow on, which costs little. The result of any other operation
    has none, nor has an array into which something else was written meanwhile.
    """

    def __init__(self) -> None:
        self.kept: dict[int, Shadow] = {}
        self.bytes = 0

    def losses(
        self, name: str, operands: Sequence[Any], named: Mapping[str, Any], result: Any
    ) -> Iterator[ValueLoss]:
        """Carry shadows through an operation; yield the digits that a sum of several steps has lost."""
        np: Any = sys.modules["numpy"]
        dtype = getattr(result, "dtype", None)
        plain = name.removesuffix("=")
        if plain not in SUMMING or named or dtype is None or dtype.kind != "f" or dtype.itemsize >= 8:
            return
        with np.errstate(all="ignore"):
            function, found = getattr(np, plain), [self.of(x) for x in operands]
            wides = [s.wide if s else np.asarray(x, float) for s, x in zip(found, operands, strict=True)]
            if plain != name:
                left = self.overwritten(function, operands[0], result)
                found, wides = [left, *found], [left.wide if left else None, *wides]
            wide, lost = np.asarray(result, float), False
            if any(found) and wides[0] is not None and result.size:
                wide, lost = function(*wides), any(s is not None and s.lost for s in found)
                apart, allowed = wide - result, np.finfo(dtype).eps * KEPT
                if not lost and _largest(apart) > allowed * abs(wide.flat[0]):  # else the rest is spared
                    bad = np.abs(apart) > allowed * max(map(_largest, wides))
                    lost = bool(bad.any())
                    if lost:
                        own = np.asarray(result)
                        yield describe_loss(np, LOST_DIGITS, bad, wide, own, " over several steps")
            self.keep(np, result, wide, lost)

    def of(self, x: Any) -> Shadow | None:
        """Return the shadow of an array; None if it has none, or has other values by now."""
        found = self.kept.get(id(x))
        if found is None or found.array() is not x:
            return None
        return found if found.own is None or (found.own == x).all() else None

    def overwritten(self, function: Any, operand: Any, result: Any) -> Shadow | None:
        """Return the shadow that an array had before `result += operand`; None if it is not known."""
        found = self.kept.get(id(result))
        if found is None or found.array() is not result or found.own is None:
            return None
        again = function(found.own, operand, out=found.own, casting="same_kind")
        return found if (again == result).all() else None

    def keep(self, np: Any, result: Any, wide: Any, lost: bool) -> None:
        """Keep the shadow of a result, and forget the oldest ones if there are too many."""
        key = id(result)
        self.drop(key)
        is_array = isinstance(result, np.ndarray)  # a scalar takes no weak reference
        array = ref(result, lambda _: self.drop(key)) if is_array else repeat(result).__next__
        own = result.copy() if is_array else None
        self.kept[key] = Shadow(array, own, wide, lost)
        self.bytes += 2 * wide.nbytes
        if len(self.kept) > MOST_SHADOWS or self.bytes > MOST_BYTES:
            for oldest in [*self.kept][: 1 + len(self.kept) // 2]:
                self.drop(oldest)

    def drop(self, key: int) -> None:
        """Forget a shadow."""
        found = self.kept.pop(key, None)
        self.bytes -= 2 * found.wide.nbytes if found else 0


def _largest(x: Any) -> float:
    """Return the largest absolute value in an array."""
    return float(max(x.max(initial=0), -x.min(initial=0)))
