"""Checks of the values of NumPy arrays. Other libraries' files convert their arrays first.

Nearly all operations lose nothing. So each check begins with a cheap test for this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from math import inf
from typing import Any

from typelattice.tracing.run_data.run import LOST_DIGITS, LOST_FRACTION, NOT_FINITE, WRAPPED, ValueLoss
from typelattice.tracing.steps.equivalent_operations import max_arguments_without_cast

NUMPY_NAME_BY_OPERATION = {"pow": "power", "abs": "absolute", "add=": "add", "subtract=": "subtract"}
"""NumPy's names of operations. Operations with a `=` write into their left operand."""
PRODUCT_FUNCTIONS = {"dot", "matmul", "inner", "vdot"}
SUMMING_FUNCTIONS = {"sum", "mean", "cumsum", "var", "std", "nansum", "nanmean", "trace", *PRODUCT_FUNCTIONS}
WRAPPING_FUNCTIONS = {
    *SUMMING_FUNCTIONS,
    "add",
    "subtract",
    "multiply",
    "power",
    "square",
    "negative",
    "absolute",
    "prod",
}
VERB_BY_LOSS = {WRAPPED: "wrapped", LOST_FRACTION: "lost a fraction", LOST_DIGITS: "lost digits"}
EXACT_INTEGER_FUNCTIONS = {"add", "subtract", "multiply", "negative", "absolute", "square", "sum"}
"""Operations that never overflow float64 for integers."""
CHECKED_SUM_OPTIONS = {"axis", "keepdims", "ddof"}  # sums with other options are not computed in a wide dtype
MAX_LOST_UNITS = 2**7  # units in the last place that a sum may lose: about two digits
MIN_LARGE_SIZE = 2_000  # size of an array that makes a search for its extreme values worthwhile
BLOCK_SIZE = 1 << 13  # numbers that are computed at once, so that they stay in the processor's cache
FoundLoss = tuple[str, Callable[[], ValueLoss] | None]
"""A rule that a result broke, and a function that describes the loss (None if the operands also broke it)."""


def value_losses(
    name: str,
    operands: Sequence[Any],
    keywords: Mapping[str, Any],
    result: Any,
    to_numpy: Callable[[Any], Any] = lambda x: x,
) -> Iterator[FoundLoss]:
    """Yield the values of the operands that an operation lost. The operands are converted if needed."""
    np: Any = sys.modules["numpy"]
    own = result if isinstance(result, np.generic) else np.asarray(result)  # a scalar is faster than an array
    dtype = own.dtype
    kind = dtype.kind
    if kind == "f" or kind == "c":
        if name == "put":
            if not all(are_all_true(np.isfinite(x)) for x in _numeric_operands(np, map(to_numpy, operands))):
                yield NOT_FINITE, None
            return
        if not are_all_true(np.isfinite(own)):
            yield _find_not_finite(np, _numeric_operands(np, map(to_numpy, operands)), own)
        if kind == "c" or name not in SUMMING_FUNCTIONS or dtype.itemsize >= 8:
            return
    elif kind != "i" and kind != "u":
        return
    elif name == "put" or is_casting_function(name):
        arrays = _numeric_operands(np, map(to_numpy, operands[:1]))
        yield from cast_losses(np, arrays, None if name == "put" else own, dtype)
        return
    if NUMPY_NAME_BY_OPERATION.get(name, name) in WRAPPING_FUNCTIONS:
        yield from _compute_again(np, name, operands, keywords, result, to_numpy)


def _compute_again(
    np: Any,
    name: str,
    operands: Sequence[Any],
    keywords: Mapping[str, Any],
    result: Any,
    converted: Callable[[Any], Any],
) -> Iterator[FoundLoss]:
    """Yield losses found by the same operation in float64, unless a quick check excludes them."""
    own = result if isinstance(result, np.generic) else np.asarray(result)
    plain = NUMPY_NAME_BY_OPERATION.get(name, name)
    inputs = operands[: getattr(getattr(np, plain), "nin", None)]  # arguments after the inputs are outputs
    arrays = _numeric_operands(np, map(converted, inputs))
    if len(arrays) == len(inputs) and not any(x is result for x in inputs):
        keywords = {key: x for key, x in keywords.items() if key != "dtype"} if keywords else keywords
        if CHECKED_SUM_OPTIONS.issuperset(keywords) and not (
            own.dtype.kind != "f" and surely_wraps_nothing(np, name, arrays, keywords, own)
        ):
            yield from _compare_with_wide(np, name, arrays, keywords, own)


def _numeric_operands(np: Any, operands: Iterable[Any]) -> list[Any]:
    """Return the operands that are arrays or real numbers."""
    return [x for x in operands if isinstance(x, (np.ndarray, np.generic, int, float))]


@cache
def is_casting_function(name: str) -> bool:
    """Return True if a function of a name casts its first operand."""
    return max_arguments_without_cast(name) < inf or name in sys.modules["numpy"].sctypeDict


def are_all_true(booleans: Any) -> bool:
    """Return True if all booleans are true. It equals `found.all()`, but is faster for few booleans."""
    return 0 not in booleans.tobytes() if booleans.size < MIN_LARGE_SIZE else bool(booleans.all())


def is_any_true(booleans: Any) -> bool:
    """Return True if any boolean is true, in the same way."""
    return 1 in booleans.tobytes() if booleans.size < MIN_LARGE_SIZE else bool(booleans.any())


def find_extremes(np: Any, x: Any) -> tuple[Any, Any]:
    """Return the least and the largest number of an array or a number, as Python's numbers."""
    if getattr(x, "ndim", 0) == 0:
        x = getattr(x, "item", lambda: x)()
        return x, x
    return np.minimum.reduce(x, axis=None).item(), np.maximum.reduce(x, axis=None).item()


def _find_not_finite(np: Any, arrays: Sequence[Any], result: Any) -> FoundLoss:
    """Return the loss of numbers that became infinite or NaN, or none if an operand is not finite."""
    numbers = [x for x in arrays if np.asarray(x).dtype.kind in "fciu"]
    if not numbers or not all(are_all_true(np.isfinite(x)) for x in numbers):
        return NOT_FINITE, None
    became = "NaN" if np.isnan(result).any() else "infinite"
    what = f"became {became} in {result.dtype}, of finite operands"
    return NOT_FINITE, lambda: ValueLoss(NOT_FINITE, int((~np.isfinite(result)).sum()), result.size, what)


def cast_losses(np: Any, arrays: Sequence[Any], result: Any, dtype: Any) -> Iterator[FoundLoss]:
    """Yield the losses of a cast to an integer dtype: fractions, and values that do not fit.

    `result` is the result, or None if it is yet to be computed.
    """
    for x in map(np.asarray, arrays):
        if x.dtype.kind not in "iuf" or not x.size or (result is not None and x.shape != result.shape):
            continue
        limits, (low, high) = np.iinfo(dtype), find_extremes(np, x)
        whole = np.trunc(x) if x.dtype.kind == "f" else x
        if limits.min - 1 < low and high < limits.max + 1 and (whole is x or are_all_true(whole == x)):
            continue
        with np.errstate(all="ignore"):
            result = x.astype(dtype) if result is None else result
            finite = np.isfinite(x)
            wrapped = finite & (whole.astype(float) != result.astype(float))
            lost = finite & (whole != x) & ~wrapped
        if wrapped.any():
            yield WRAPPED, partial(describe_loss, np, WRAPPED, wrapped, whole, result)
        if lost.any():
            yield LOST_FRACTION, partial(describe_loss, np, LOST_FRACTION, lost, x, result)


def surely_wraps_nothing(
    np: Any, name: str, arrays: Sequence[Any], keywords: Mapping[str, Any], result: Any
) -> bool:
    """Return True if it is easily seen that no integer wraps.

    Few numbers are computed in float64. For many, the extreme values decide.
    """
    if name == "add=" or name == "subtract=":  # undo it: if the old values fit, nothing wrapped
        arrays, name = [result, *arrays], "subtract" if name == "add=" else "add"
        result = result if result.size >= MIN_LARGE_SIZE else getattr(np, name)(*arrays)
    if result.size < MIN_LARGE_SIZE and np.size(arrays[0]) < MIN_LARGE_SIZE:
        wide = compute_wide(np, name, arrays, keywords) if name in EXACT_INTEGER_FUNCTIONS else None
        return wide is not None and wide.shape == result.shape and are_all_true(np.equal(wide, result))
    if not all(map(np.size, arrays)):
        return False
    limits, ranges = np.iinfo(result.dtype), [find_extremes(np, x) for x in arrays]
    bounds: tuple[Any, ...]
    match name, ranges:
        case "add", ((a, b), (c, d)):
            bounds = a + c, b + d
        case "subtract", ((a, b), (c, d)):
            bounds = a - d, b - c
        case "multiply", ((a, b), (c, d)):
            bounds = a * c, a * d, b * c, b * d
        case "sum" | "cumsum", ((a, b),):
            bounds = a * arrays[0].size, b * arrays[0].size, a, b
        case _:
            return False
    return bool(limits.min <= min(bounds) and max(bounds) <= limits.max)


def _compare_with_wide(
    np: Any, name: str, arrays: Sequence[Any], keywords: Mapping[str, Any], result: Any
) -> Iterator[FoundLoss]:
    """Yield the losses of an operation, compared with the same operation in float64."""
    with np.errstate(all="ignore"):
        if name in ("add=", "subtract="):
            inverse = np.subtract if name == "add=" else np.add  # exact, because integers wrap
            arrays = [inverse(result, np.asarray(arrays[0]).astype(result.dtype)), *arrays]
        wide = compute_wide(np, NUMPY_NAME_BY_OPERATION.get(name, name), arrays, keywords)
        if wide is None or wide.shape != result.shape:
            return
        errors = abs(wide - result)
        if result.dtype.kind == "f":
            rule, is_lost = LOST_DIGITS, errors > abs(wide) * sum_tolerance(result.dtype)
        else:
            rule, is_lost = WRAPPED, errors >= 2.0 ** (8 * result.dtype.itemsize - 1)
        if is_any_true(is_lost) and is_any_true(is_lost := is_lost & np.isfinite(result)):
            yield rule, partial(describe_loss, np, rule, is_lost, wide, result)


def compute_wide(np: Any, name: str, arrays: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Compute an operation in float64, or return None if NumPy's function refuses its arguments."""
    with suppress(TypeError, ValueError):
        if name in ("sum", "mean"):  # NumPy's own functions of these names are slower
            whole = keywords if len(arrays) > 1 else {"axis": None, **keywords}
            total = np.add.reduce(*arrays, dtype=float, **whole)
            return total if name == "sum" else total * (np.size(total) / np.size(arrays[0]))
        function = getattr(np, name)
        if name not in PRODUCT_FUNCTIONS:
            return function(*arrays, dtype=float, **keywords)
        if np.size(arrays[0]) < MIN_LARGE_SIZE or any(np.ndim(x) != 1 for x in arrays):
            return function(*(np.asarray(x).astype(float) for x in arrays))
        blocks = [slice(i, i + BLOCK_SIZE) for i in range(0, arrays[0].size, BLOCK_SIZE)]
        return sum(function(*(x[block].astype(float) for x in arrays)) for block in blocks)
    return None


@cache
def sum_tolerance(dtype: Any) -> float:
    """Return the relative error that a sum in a dtype may have."""
    return float(sys.modules["numpy"].finfo(dtype).eps) * MAX_LOST_UNITS


def describe_loss(np: Any, rule: str, lost: Any, expected: Any, result: Any, when: str = "") -> ValueLoss:
    """Describe a loss by the first number that has it."""
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(lost)))
    before, after = (np.atleast_1d(x)[at].item() for x in (expected, result))
    what = f"{VERB_BY_LOSS[rule]}{when}, such as {before:.9g}, which is {after:.9g} in {result.dtype}"
    return ValueLoss(rule, int(lost.sum()), result.size, what)
