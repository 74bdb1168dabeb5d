"""Shadows of running sums: their values if every step so far had been computed in float64."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple
from weakref import ref

from typelattice.core.dtypes.dtypes import DType
from typelattice.tracing.library_traits.array_values import (
    ReadValues,
    is_real_float,
    read_numpy_values,
    round_to_dtype,
)
from typelattice.tracing.library_traits.checked_call import FoundLoss
from typelattice.tracing.library_traits.value_losses import (
    BLOCK_SIZE,
    MAX_NUMBERS,
    MIN_LARGE_SIZE,
    are_all_true,
    describe_loss,
    find_operation,
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

    def __init__(self, read: ReadValues = read_numpy_values) -> None:
        self.read = read
        self.shadows: dict[int, Shadow] = {}
        self.bytes = 0
        self.spare: dict[Any, Any] = {}  # memory of large shadows that were dropped, by shape

    def find_losses(
        self, name: str, operands: Sequence[Any], keywords: Mapping[str, Any], result: Any
    ) -> Iterator[FoundLoss]:
        """Carry shadows through an operation, and yield the digits that a sum of several steps has lost."""
        plain, _ = find_operation(name.removesuffix("="))
        if plain not in SUMMING_OPERATIONS or keywords:
            return
        numbers, dtype = self.read(result)
        if dtype is None or not is_real_float(dtype) or not 0 < numbers.size <= MAX_NUMBERS:
            return
        if dtype.bits is None or dtype.bits >= 64:
            return
        in_place = name[-1:] == "="
        if not in_place and (len(operands) != 2 or any(x is result for x in operands)):
            self.drop_shadow(id(result))  # the result is an output argument, so its old values are gone
        else:
            yield from self.find_carried_losses(plain, in_place, operands, result, numbers, dtype)

    def find_carried_losses(
        self, operation: str, in_place: bool, operands: Sequence[Any], result: Any, numbers: Any, dtype: DType
    ) -> Iterator[FoundLoss]:
        """Carry shadows through a sum, in place or not, and yield the digits that are lost."""
        np: Any = sys.modules["numpy"]
        before = self.find_shadow(result, is_written=True) if in_place else None
        found = [*([before] if before else ()), *map(self.find_shadow, operands)]
        if not (before if in_place else any(found)):
            self.keep_shadow(np, result, None, None, False)
            return
        operands = [result, *operands] if in_place else operands
        given = [
            s.wide_value if s and s.wide_value is not None else self.read_values(x)
            for s, x in zip(found, operands, strict=True)
        ]
        if not all(isinstance(x, (np.ndarray, np.generic, int, float)) for x in given):
            self.drop_shadow(id(result))
            return
        function = getattr(np, operation)
        if before and not self.has_computed(np, before, function, given[1], numbers, dtype):
            self.keep_shadow(np, result, numbers.copy(), numbers.astype(float), False)
            return
        wide, apart = self.compute_wide_sum(np, function, given, numbers)
        lost, allowed = any(s.has_lost for s in found if s), sum_tolerance(dtype)
        if not lost and apart > allowed * abs(wide.flat[0]):  # skip a check of each value
            bad = abs(wide - numbers) > allowed * max(_largest_absolute(np.asarray(x)) for x in given)
            lost = bool(bad.any())
            seen = bad, wide, np.asarray(numbers), " over several steps"
            if lost:
                yield LOST_DIGITS, partial(describe_loss, np, dtype, LOST_DIGITS, *seen)
        if before:
            self.replace_shadow(id(result), before._replace(wide_value=wide, has_lost=lost))
        else:
            is_scalar = isinstance(result, np.generic)
            self.keep_shadow(np, result, None if is_scalar else numbers.copy(), wide, lost)

    def read_values(self, x: Any) -> Any:
        """Return the values of an array, and a Python number unchanged."""
        return x if type(x) in (int, float, bool) else self.read(x)[0]

    def find_shadow(self, array: Any, is_written: bool = False) -> Shadow | None:
        """Return the shadow of an array, or None if it has none or its values have changed.

        If `is_written`, the operation has written into the array: return the shadow from before.
        """
        found = self.shadows.get(id(array))
        if found is None or found.array() is not array:
            return None
        if is_written or found.narrow_value is None:
            return found
        return found if have_same_values(found.narrow_value, self.read(array)[0]) else None

    def has_computed(
        self, np: Any, before: Shadow, function: Any, operand: Any, numbers: Any, dtype: DType
    ) -> bool:
        """Compute an operation in place again from the values before. Return True if it gives its result."""
        old = before.narrow_value
        if old is None:
            return False
        if numbers.dtype.name == dtype.name and isinstance(operand, (int, float, np.ndarray, np.generic)):
            function(old, operand, out=old, casting="unsafe")
        else:  # NumPy lacks the dtype
            old[...] = round_to_dtype(np, function(old, operand, dtype=float), dtype)
        return have_same_values(old, numbers)

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
        if isinstance(result, np.generic):  # scalars have no weak references
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
