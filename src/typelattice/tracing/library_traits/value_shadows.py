"""Shadows of running sums in NumPy: their values if every step so far had been computed in float64."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple
from weakref import ref

from typelattice.tracing.library_traits.numpy_value_losses import (
    BLOCK_SIZE,
    MIN_LARGE_SIZE,
    FoundLoss,
    are_all_true,
    describe_loss,
    sum_tolerance,
)
from typelattice.tracing.run_data.run import LOST_DIGITS

SUMMING_OPERATIONS = ("add", "subtract")  # in a loop, the losses of these operations add up
MAX_SHADOWS = 4_096
MAX_SHADOW_BYTES = 1 << 28  # bytes of all shadows together


class Shadow(NamedTuple):
    """The values of an array in float64, and its own values at that time.

    Both are None after the first sum: a single rounding loses no digits. `has_lost` is True if a loss of
    digits was reported for the array, or for one that it was computed from.
    """

    array: Callable[[], Any]
    narrow_value: Any
    wide_value: Any
    has_lost: bool


class Shadows:
    """The shadows of the last sums and differences of narrow floats, by their ids.

    Only additions and subtractions carry a shadow on, at little cost. The result of any other operation has
    no shadow, and neither has an array that was written into meanwhile.
    """

    def __init__(self) -> None:
        self.shadows: dict[int, Shadow] = {}
        self.bytes = 0
        self.spare: dict[Any, Any] = {}  # memory of large shadows that were dropped, by shape

    def find_losses(
        self, name: str, operands: Sequence[Any], keywords: Mapping[str, Any], result: Any
    ) -> Iterator[FoundLoss]:
        """Carry shadows through an operation, and yield the digits that a sum of several steps has lost."""
        plain = name.removesuffix("=")
        if plain not in SUMMING_OPERATIONS or keywords:
            return
        dtype = result.dtype
        if dtype.kind == "f" and dtype.itemsize < 8 and result.size:
            if plain == name and (len(operands) != 2 or any(x is result for x in operands)):
                self.drop_shadow(id(result))  # the result is an output argument, so its old values are gone
            else:
                yield from self.find_carried_losses(plain, plain != name, operands, result)

    def find_carried_losses(
        self, operation: str, in_place: bool, operands: Sequence[Any], result: Any
    ) -> Iterator[FoundLoss]:
        """Carry shadows through a sum, in place or not, and yield the digits that are lost."""
        np: Any = sys.modules["numpy"]
        dtype, is_array = result.dtype, isinstance(result, np.ndarray)
        before = self.find_shadow(result, is_written=True) if in_place else None
        found = [*([before] if before else ()), *map(self.find_shadow, operands)]
        if not (before if in_place else any(found)):
            self.keep_shadow(np, result, None, None, False)
            return
        operands = [result, *operands] if in_place else operands
        given = [
            s.wide_value if s and s.wide_value is not None else x
            for s, x in zip(found, operands, strict=True)
        ]
        with np.errstate(all="ignore"):
            function = getattr(np, operation)
            if before and not self.has_computed(before, function, operands[1], result):
                self.keep_shadow(np, result, result.copy(), result.astype(float), False)
                return
            wide, apart = self.compute_wide_sum(np, function, given, result)
            lost, allowed = any(s.has_lost for s in found if s), sum_tolerance(dtype)
            if not lost and apart > allowed * abs(wide.flat[0]):  # skip a check of each value
                bad = abs(wide - result) > allowed * max(_largest_absolute(np.asarray(x)) for x in given)
                lost = bool(bad.any())
                seen = bad, wide, np.asarray(result), " over several steps"
                if lost:
                    yield LOST_DIGITS, partial(describe_loss, np, LOST_DIGITS, *seen)
        if before:
            self.replace_shadow(id(result), before._replace(wide_value=wide, has_lost=lost))
        else:
            self.keep_shadow(np, result, result.copy() if is_array else None, wide, lost)

    def find_shadow(self, array: Any, is_written: bool = False) -> Shadow | None:
        """Return the shadow of an array, or None if it has none or its values have changed.

        If `is_written`, the operation has written into the array: return the shadow from before.
        """
        found = self.shadows.get(id(array))
        if found is None or found.array() is not array:
            return None
        return (
            found
            if is_written or found.narrow_value is None or have_same_values(found.narrow_value, array)
            else None
        )

    def has_computed(self, before: Shadow, function: Any, operand: Any, result: Any) -> bool:
        """Compute an operation in place again from the values before. Return True if it gives its result."""
        if before.narrow_value is None:
            return False
        function(before.narrow_value, operand, out=before.narrow_value, casting="same_kind")
        return have_same_values(before.narrow_value, result)

    def compute_wide_sum(
        self, np: Any, function: Any, operands: Sequence[Any], result: Any
    ) -> tuple[Any, float]:
        """Compute a sum in float64. Return it, and a bound of the differences from the result."""
        if result.size <= BLOCK_SIZE:
            wide = function(*operands, dtype=float)
            apart = (wide - result).ravel()
            # The norm is faster to compute than the largest difference, and never smaller.
            return wide, apart.dot(apart) ** 0.5
        wide = self.spare.pop(result.shape, None)  # reuse memory: allocating new memory is slow
        wide = np.empty(result.shape) if wide is None else wide
        arrays, largest = [*operands, result, wide], 0.0
        access = [["readonly"] for _ in arrays[1:]] + [["writeonly"]]
        types, flags = [float for _ in arrays], ["external_loop", "buffered"]
        with np.nditer(arrays, flags, access, types, casting="same_kind", buffersize=BLOCK_SIZE) as blocks:
            for *xs, own, out in blocks:
                function(*xs, out=out)
                largest = max(largest, _largest_absolute(out - own))
        return wide, largest

    def keep_shadow(self, np: Any, result: Any, narrow_value: Any, wide_value: Any, has_lost: bool) -> None:
        """Keep the shadow of a result, and forget the oldest ones if there are too many."""
        key = id(result)
        if key in self.shadows:
            self.drop_shadow(key)
        is_array = isinstance(result, np.ndarray)  # scalars have no weak references
        if not is_array:
            array = repeat(result).__next__
        else:
            array = ref(result) if wide_value is None else ref(result, lambda _: self.drop_shadow(key))
        self.shadows[key] = Shadow(array, narrow_value, wide_value, has_lost)
        self.bytes += 0 if wide_value is None else 2 * wide_value.nbytes
        if len(self.shadows) > MAX_SHADOWS or self.bytes > MAX_SHADOW_BYTES:
            for oldest in [*self.shadows][: 1 + len(self.shadows) // 2]:
                self.drop_shadow(oldest)

    def replace_shadow(self, key: int, shadow: Shadow) -> None:
        """Replace a shadow by a later one of the same array."""
        old = self.shadows[key].wide_value
        self.shadows[key] = shadow
        if old.size > BLOCK_SIZE:
            self.spare = {old.shape: old}

    def drop_shadow(self, key: int) -> None:
        """Forget a shadow."""
        found = self.shadows.pop(key, None)
        if found is not None and found.wide_value is not None:
            self.bytes -= 2 * found.wide_value.nbytes
            if found.wide_value.size > BLOCK_SIZE:
                self.spare = {found.wide_value.shape: found.wide_value}


def have_same_values(a: Any, b: Any) -> bool:
    """Return True if two arrays of a shape have equal values."""
    return a.tobytes() == b.tobytes() if a.size < MIN_LARGE_SIZE else are_all_true(a == b)


def _largest_absolute(x: Any) -> float:
    """Return the largest absolute value in an array or of a number."""
    return float(abs(x).max())
