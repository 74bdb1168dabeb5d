"""Checks for numbers that stay the same because a dtype has few digits, and for constants that it rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import isfinite
from typing import Any

from typelattice.tracing.library_traits.array_values import round_to_dtype
from typelattice.tracing.library_traits.checked_call import CheckedCall, FoundLoss
from typelattice.tracing.run_data.run import NO_CHANGE, ROUNDED_CONSTANT, ValueLoss

SIGN_BY_FUNCTION = {"add": "+", "subtract": "-", "multiply": "*"}
MIN_UNCHANGED_SHARE = 0.5  # share of the numbers that should change, and do not
MAX_FEW_DIGITS = 11  # bits of a significand: bfloat16 and float16 cannot count far
MAX_CONSTANT = 2.0**1000  # a larger number, or infinity, is meant to be out of reach


def find_unchanged_numbers(np: Any, call: CheckedCall) -> Iterator[FoundLoss]:
    """Yield the loss of updates that change nothing, such as 256 + 1 in bfloat16, or x * 0.999.

    Of `x + eps` nothing is said, where `eps` is a Python number: it may only keep a divisor from being zero.
    """
    if call.name not in ("add", "subtract", "multiply") or call.keywords or not call.result.size:
        return
    if len(call.operands) != 2 - call.is_in_place:
        return
    if call.is_in_place:
        yield from _find_unchanged_in_place(np, call)
        return
    left, right = call.operands
    is_product = call.name == "multiply"
    for old, other in ((left, right), (right, left))[: 1 if call.name == "subtract" else 2]:
        if not isinstance(old, (np.ndarray, np.generic)) or old.dtype != call.result.dtype:
            continue
        is_array = isinstance(other, np.ndarray) and other.ndim > 0
        if old.shape != call.result.shape or not (is_product or (is_array and old.ndim > 0)):
            continue
        neutral = 1 if is_product else 0
        same = (call.result == old) & (other != neutral) & np.isfinite(other)
        should = (other != neutral) & np.isfinite(old)
        if is_product:
            same, should = same & (old != 0) & (other != 0), should & (old != 0) & (other != 0)
        if same.any():
            yield from _report_unchanged(np, call, same & np.isfinite(old), should, other)
            return


def _find_unchanged_in_place(np: Any, call: CheckedCall) -> Iterator[FoundLoss]:
    """Yield the loss of an update in place that changed nothing. The old numbers are gone.

    A number cannot have changed if the update is below a quarter of the distance to the number's neighbours.
    """
    (other,), new = call.operands, call.result
    assert call.dtype.precision is not None
    if not isinstance(other, (np.ndarray, np.generic, int, float)) or np.may_share_memory(new, other):
        return
    is_array = isinstance(other, np.ndarray) and other.ndim > 0
    is_product = call.name == "multiply"
    is_total = new.ndim == 0 and call.dtype.precision <= MAX_FEW_DIGITS
    if not (is_product or is_array or is_total):  # a small number may only keep a divisor from being zero
        return
    wide, change = np.asarray(new).astype(float), np.asarray(other).astype(float)
    if is_product:
        change = wide * (change - 1)
    quarter = np.ldexp(0.25, np.frexp(wide)[1] - call.dtype.precision)
    should = (change != 0) & (wide != 0) & np.isfinite(wide)
    same = should & (abs(change) < quarter)
    if same.any():
        yield from _report_unchanged(np, call, same, np.broadcast_to(should, same.shape), other)


def _report_unchanged(np: Any, call: CheckedCall, same: Any, should: Any, other: Any) -> Iterator[FoundLoss]:
    """Yield a loss if at least half of the numbers that should change stay the same."""
    expected = int(np.broadcast_to(should, same.shape).sum())
    if same.sum() >= MIN_UNCHANGED_SHARE * expected:
        yield NO_CHANGE, partial(_describe_unchanged, np, call, same, expected, other)


def _describe_unchanged(np: Any, call: CheckedCall, same: Any, expected: int, other: Any) -> ValueLoss:
    """Describe the first number that stayed the same."""
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(same)))
    shape = np.atleast_1d(same).shape
    number, update = (np.broadcast_to(x, shape)[at].item() for x in (call.result, other))
    sign = SIGN_BY_FUNCTION[call.name]
    what = f"stayed the same, such as {number:.9g} {sign} {update:.9g} in {call.dtype}"
    return ValueLoss(NO_CHANGE, int(same.sum()), expected, what)


def find_rounded_constants(np: Any, call: CheckedCall, operands: Sequence[Any]) -> Iterator[FoundLoss]:
    """Yield the loss of a Python number that is 0, 1 or infinite in a dtype, or another integer."""
    for x in operands:
        if type(x) not in (int, float) or abs(x) >= MAX_CONSTANT:
            continue
        became = float(round_to_dtype(np, float(x), call.dtype))
        if became == x or x != x or (type(x) is float and became not in (0, 1, -1) and isfinite(became)):
            continue
        what = f"in the code is another one in {call.dtype}: {x:.9g} is {became:.9g}"
        yield ROUNDED_CONSTANT, partial(ValueLoss, ROUNDED_CONSTANT, 1, 1, what)
