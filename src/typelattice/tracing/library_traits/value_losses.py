"""Checks of the values of one operation: integers that wrap, infinite numbers, fractions, sums, updates.

Every library's file reads its arrays as NumPy arrays first. Nearly all operations lose nothing, so each check
begins with a cheap test for this. An operation that no check understands yields an `Unchecked`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from math import inf
from typing import Any

from typelattice.base.errors.outside_errors import raise_if_from_outside
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION
from typelattice.programs.calls.equivalent_operations import max_arguments_without_cast, operation_of
from typelattice.tracing.library_traits.array_values import (
    ReadValues,
    is_real_float,
    read_numbers,
    read_numpy_values,
)
from typelattice.tracing.library_traits.checked_call import (
    COMPLEX_SUM,
    FINITE_ONLY,
    NO_VALUES,
    OPTIONS,
    OVERWRITTEN,
    TOO_LARGE,
    UNKNOWN_DTYPE,
    UNKNOWN_OPERATION,
    CheckedCall,
    FoundLoss,
    Unchecked,
)
from typelattice.tracing.library_traits.unchanged_numbers import (
    MAX_FEW_DIGITS,
    find_rounded_constants,
    find_unchanged_numbers,
)
from typelattice.tracing.run_data.array_classes import MAX_LIST_ITEMS
from typelattice.tracing.run_data.run import LOST_DIGITS, LOST_FRACTION, NOT_FINITE, WRAPPED, ValueLoss

RECOMPUTED_CLASSES = {
    "arithmetic", "subtraction", "negative", "absolute", "modulo", "power", "shift", "products", "accumulate",
    "cumulative", "difference", "matrix-power",
}  # fmt: skip
"""Classes of operations that may give an integer that does not fit. They are computed again in float64."""
KEEPING_CLASSES = {
    "merge", "extreme", "clip", "sign", "rounding", "conjugate", "real-part", "bitwise", "count", "histogram",
    "arg-extreme", "search", "position", "sort", "distinct", "view", "like", "rank", "binning", "shifted",
    "quantiles", "activation",
}  # fmt: skip
"""Classes of operations that give integers of their operands, or indices and counts, which fit."""
KEEPING_METHODS = {"view", "flatten", "copy", "fill", "contiguous", "clone", "detach", "numpy", "cpu"}
LINEAR_FUNCTIONS = {"add", "subtract", "multiply", "divide"}
"""Functions whose Python numbers are cast to the dtype of the array."""
FILLING_FUNCTIONS = {"full", "full_like"}  # the second argument is the number of which these make an array
UNFILLED_FUNCTIONS = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
"""Nobody has set the numbers of the arrays that these make."""
KEEPING_FUNCTIONS = {"bitwise_right_shift", "right_shift"}
SUMMING_CLASSES = {"products", "accumulate", "cumulative"}
SUMMING_FUNCTIONS = {"mean", "nanmean", "var", "std"}
"""Sums are computed in float64 again, in every narrow float dtype."""
FUNCTIONS_WITH_DTYPE = {
    "add", "subtract", "multiply", "power", "pow", "square", "negative", "abs", "absolute", "floor_divide",
    "remainder", "fmod", "sum", "prod", "cumsum", "cumprod", "mean", "var", "std", "trace", "nansum",
    "nanprod", "nancumsum", "nanmean",
}  # fmt: skip
"""NumPy's functions that compute in float64 with `dtype=float`, so that no operand needs to be copied."""
VERB_BY_LOSS = {WRAPPED: "wrapped", LOST_FRACTION: "lost a fraction", LOST_DIGITS: "lost digits"}
EXACT_INTEGER_FUNCTIONS = {"add", "subtract", "multiply", "negative", "abs", "absolute", "square", "sum"}
"""Operations that never overflow float64 for integers."""
CHECKED_OPTIONS = {
    "axis", "keepdims", "ddof", "n", "mode", "offset", "axis1", "axis2", "prepend", "append", "axes",
}  # fmt: skip
"""Options of functions that are computed again. With another option they are not checked."""
DIVIDING_MAKERS = {"linspace", "logspace", "geomspace"}  # their integers may have lost a fraction
CASTING_OPTIONS = {"dtype", "casting", "out"}
"""Options with which a function that gives integers of its operands may give others."""
IDLE_OPTIONS = {"dtype", "optimize", "order"}  # options that do not change the exact result
MAX_LOST_UNITS = 2**7  # units in the last place that a sum may lose: about two digits
MAX_LOST_SHARE = 1 / 16  # share of a sum that may be lost in a dtype with few digits, such as bfloat16
MIN_LARGE_SIZE = 2_000  # size of an array that makes a search for its extreme values worthwhile
MAX_NUMBERS = 1 << 24  # numbers of a larger array are not checked: that would take much time and memory
MAX_PRECISION = 53  # bits of float64, in which operations are computed again
MAX_INT_BITS, MAX_FLOAT_BITS = 64, 1000
BLOCK_SIZE = 1 << 13  # numbers that are computed at once, so that they stay in the processor's cache


def without_warnings() -> AbstractContextManager[None]:
    """Return a context in which NumPy neither warns nor raises of numbers, whatever the program has set."""
    ignoring: AbstractContextManager[None] = sys.modules["numpy"].errstate(all="ignore")
    return ignoring


def find_value_losses(
    name: str,
    operands: Sequence[Any],
    keywords: Mapping[str, Any],
    result: Any,
    read: ReadValues = read_numpy_values,
    rounds_scalars: bool = True,
) -> Iterator[FoundLoss | Unchecked]:
    """Yield the values of the operands that an operation lost. `put` is an assignment to elements.

    `rounds_scalars`: the library casts a Python number to the dtype of the array beside it.
    """
    np: Any = sys.modules["numpy"]
    own, dtype = read(result)
    if dtype is None:
        name = _name_dtype(result)
        is_unknown = name.isidentifier() and name not in DTYPES
        yield Unchecked(UNKNOWN_DTYPE, name) if is_unknown else Unchecked(NO_VALUES)
        return
    if dtype.kind is Kind.BOOL:
        return
    values = [_read_operand(np, x, read) for x in operands]
    if own.size > MAX_NUMBERS or any(isinstance(x, np.ndarray) and x.size > MAX_NUMBERS for x in values):
        yield Unchecked(TOO_LARGE)
        return
    # without an array among its operands, a function makes a new array
    has_arrays = any(map(_holds_array, operands))
    name = "put" if name == "fill=" else name
    plain, operation_class = find_operation(name.removesuffix("="))
    is_in_place = name[-1:] == "="
    call = CheckedCall(plain, operation_class, is_in_place, values, keywords, own, dtype, name)
    if dtype.kind is Kind.COMPLEX:
        yield from _find_not_finite(np, call)
        if call.operation_class in SUMMING_CLASSES and own.dtype.itemsize < 16:
            yield Unchecked(COMPLEX_SUM, dtype.name)
    elif is_real_float(dtype):
        yield from _find_lost_floats(np, call, rounds_scalars, has_arrays)
    else:
        yield from _find_lost_integers(np, call, has_arrays)


def _find_lost_floats(
    np: Any, call: CheckedCall, rounds_scalars: bool, has_arrays: bool
) -> Iterator[FoundLoss | Unchecked]:
    """Yield the losses of an operation that gives real floats."""
    if call.written_name == "put":
        yield from _find_overflowing_assignment(np, call)
        return
    yield from _find_not_finite(np, call)
    assert call.dtype.precision is not None
    if call.dtype.precision >= MAX_PRECISION:
        return
    if call.operation_class in SUMMING_CLASSES or call.name in SUMMING_FUNCTIONS:
        yield from compute_again(np, call)
        return
    yield from find_unchanged_numbers(np, call)
    is_cast = is_casting_function(call.written_name)
    if call.operation_class == "" and has_arrays and not is_cast and call.written_name not in KEEPING_METHODS:
        yield Unchecked(FINITE_ONLY, call.written_name)
    if is_cast:
        yield from find_rounded_constants(np, call, call.operands[:1])
        yield from _find_rounded_integers(np, call, call.operands[0] if call.operands else None)
    elif call.name == "arange":
        yield from _find_rounded_integers(np, call, _call_or_none(np.arange, call.operands, {}))
    elif call.name in FILLING_FUNCTIONS:
        yield from find_rounded_constants(np, call, call.operands[1:2])
    elif rounds_scalars and call.name in LINEAR_FUNCTIONS:
        yield from find_rounded_constants(np, call, call.operands)


def _find_rounded_integers(np: Any, call: CheckedCall, integers: Any) -> Iterator[FoundLoss]:
    """Yield the loss of integers that a float of few digits rounds, such as positions in bfloat16."""
    precision = call.dtype.precision or 0
    if not isinstance(integers, np.ndarray) or integers.dtype.kind not in "iu" or precision > MAX_FEW_DIGITS:
        return
    if integers.shape != call.result.shape or not integers.size:
        return
    low, high = find_extremes(np, integers)
    if -(2**precision) <= low and high <= 2**precision:
        return
    lost = np.isfinite(call.result) & (integers.astype(float) != call.result.astype(float))
    if is_any_true(lost):
        yield LOST_DIGITS, partial(describe_loss, np, call.dtype, LOST_DIGITS, lost, integers, call.result)


def _find_lost_integers(np: Any, call: CheckedCall, has_arrays: bool) -> Iterator[FoundLoss | Unchecked]:
    """Yield the losses of an operation that gives integers."""
    name = call.written_name
    if name == "put" or is_casting_function(name):
        result = None if name == "put" else call.result
        yield from cast_losses(np, _list_numbers(np, call.operands[:1]), result, call.dtype)
    elif call.name in FILLING_FUNCTIONS:
        filling = [*call.operands, call.keywords.get("fill_value")][1:2]
        yield from cast_losses(np, _list_numbers(np, filling), None, call.dtype)
    elif call.operation_class in KEEPING_CLASSES or call.name in KEEPING_FUNCTIONS:
        if not CASTING_OPTIONS.isdisjoint(call.keywords) and (has_arrays or _takes_float(call)):
            yield Unchecked(OPTIONS, name)
    elif call.operation_class in RECOMPUTED_CLASSES:
        yield from compute_again(np, call)
    elif (has_arrays and name not in KEEPING_METHODS) or name in DIVIDING_MAKERS or _takes_float(call):
        yield Unchecked(UNKNOWN_OPERATION, name)


def _takes_float(call: CheckedCall) -> bool:
    """Return True if an argument is a Python float, of which a function may have made an integer."""
    return any(type(x) is float for x in (*call.operands, *call.keywords.values()))


def _holds_array(x: Any) -> bool:
    """Return True for an array, and for a list with one."""
    if type(x) is list or type(x) is tuple:
        return any(hasattr(type(each), "dtype") for each in x[:MAX_LIST_ITEMS])
    return hasattr(type(x), "dtype")


def _name_dtype(x: Any) -> str:
    """Return the library's name of an array's dtype."""
    return str(x.dtype).rpartition(".")[2]


def _read_operand(np: Any, x: Any, read: ReadValues) -> Any:
    """Return the values of an operand in NumPy, or anything that is no array unchanged."""
    cls = type(x)
    if cls is int and x.bit_length() >= MAX_INT_BITS:  # NumPy has no integer of so many bits
        return float(x) if x.bit_length() < MAX_FLOAT_BITS else None
    if cls is float or cls is int or cls is bool or cls is str:
        return x
    if cls is list or cls is tuple:
        return read_numbers(x)
    if isinstance(x, (np.ndarray, np.generic)):
        return read_numpy_values(x)[0]
    return read(x)[0] if hasattr(cls, "dtype") and hasattr(cls, "shape") else x


@cache
def find_operation(name: str) -> tuple[str, str]:
    """Return NumPy's name of the operation of a function, and its class, or two empty strings."""
    np: Any = sys.modules["numpy"]
    known = OPERATION_BY_FUNCTION.get(name) or OPERATION_BY_FUNCTION.get(operation_of(name, 1, None))
    if known is None:
        return "", ""
    names = name, known.name, *known.other_names
    numpy_name = next((each for each in names if callable(getattr(np, each, None))), known.name)
    return numpy_name, known.operation_class


def compute_again(np: Any, call: CheckedCall) -> Iterator[FoundLoss | Unchecked]:
    """Yield losses found by the same operation in float64, unless a quick check excludes them."""
    own, options = call.result, {key: x for key, x in call.keywords.items() if key not in IDLE_OPTIONS}
    out = options.pop("out", None)
    inputs = call.operands[: getattr(getattr(np, call.name, None), "nin", None)]
    arrays = [x for x in inputs if isinstance(x, (np.ndarray, np.generic))]
    written = out is not None or len(inputs) < len(call.operands) or call.is_in_place
    if (call.is_in_place and call.name not in ("add", "subtract")) or (
        written and (own.dtype.name != call.dtype.name or any(np.may_share_memory(own, x) for x in arrays))
    ):
        yield Unchecked(OVERWRITTEN, call.written_name)
    elif not CHECKED_OPTIONS.issuperset(options) or not _can_compute(np, call.name, inputs):
        yield Unchecked(OPTIONS if call.name else UNKNOWN_OPERATION, call.written_name)
    elif not are_all_true(np.isfinite(own)):
        return
    elif own.dtype.kind == "f" or not surely_wraps_nothing(np, call, inputs, options):
        yield from _compare_with_wide(np, call, inputs, options)


def _can_compute(np: Any, name: str, inputs: Sequence[Any]) -> bool:
    """Return True if NumPy has a function of a name, and reads all its inputs."""
    if name in ("linalg.matrix_power", "matrix_power"):
        return True
    if not callable(getattr(np, name, None)) or not inputs:
        return False
    if name == "cross":  # NumPy warns of vectors of two numbers
        return all(np.shape(x)[-1:] == (3,) for x in inputs[:2])
    first = inputs[1:] if isinstance(inputs[0], str) else inputs
    return isinstance(first[0], (np.ndarray, np.generic, int, float)) and not any(
        isinstance(x, (complex, np.complexfloating)) for x in inputs
    )


def _list_numbers(np: Any, operands: Sequence[Any]) -> list[Any]:
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


def _find_not_finite(np: Any, call: CheckedCall) -> Iterator[FoundLoss]:
    """Yield the loss of numbers that became infinite or NaN, without a description if an operand has some."""
    own = call.result
    if are_all_true(np.isfinite(own)):
        return
    if call.written_name in UNFILLED_FUNCTIONS:
        yield NOT_FINITE, None  # nobody has set its numbers
        return
    numbers = [x for x in _list_numbers(np, call.operands) if np.asarray(x).dtype.kind in "fciu"]
    if not numbers or not all(are_all_true(np.isfinite(x)) for x in numbers):
        yield NOT_FINITE, None
        return
    became = "NaN" if np.isnan(own).any() else "infinite"
    what = f"became {became} in {call.dtype}, of finite operands"
    yield NOT_FINITE, lambda: ValueLoss(NOT_FINITE, int((~np.isfinite(own)).sum()), own.size, what)


def _find_overflowing_assignment(np: Any, call: CheckedCall) -> Iterator[FoundLoss]:
    """Yield the loss of assigned numbers that are too large for the dtype of the elements."""
    for x in _list_numbers(np, call.operands):
        if not are_all_true(np.isfinite(x)):
            yield NOT_FINITE, None
            continue
        lost = abs(np.asarray(x)) > call.dtype.max
        if np.size(x) and is_any_true(lost):
            what = f"became infinite in {call.dtype}, of finite operands"
            yield NOT_FINITE, partial(ValueLoss, NOT_FINITE, int(lost.sum()), lost.size, what)


def cast_losses(np: Any, arrays: Sequence[Any], result: Any, dtype: DType) -> Iterator[FoundLoss]:
    """Yield the losses of a cast to an integer dtype: fractions, and values that do not fit.

    `result` is the result, or None if it is yet to be computed.
    """
    for x in map(np.asarray, arrays):
        if x.dtype.kind not in "iuf" or not x.size or (result is not None and x.shape != result.shape):
            continue
        least, largest, (low, high) = dtype.min, dtype.max, find_extremes(np, x)
        assert least is not None and largest is not None
        whole = np.trunc(x) if x.dtype.kind == "f" else x
        if least - 1 < low and high < largest + 1 and (whole is x or are_all_true(whole == x)):
            continue
        result = x.astype(dtype.name) if result is None else result
        finite = np.isfinite(x)
        wrapped = finite & (whole.astype(float) != result.astype(float))
        lost = finite & (whole != x) & ~wrapped
        if wrapped.any():
            yield WRAPPED, partial(describe_loss, np, dtype, WRAPPED, wrapped, whole, result)
        if lost.any():
            yield LOST_FRACTION, partial(describe_loss, np, dtype, LOST_FRACTION, lost, x, result)


def surely_wraps_nothing(
    np: Any, call: CheckedCall, arrays: Sequence[Any], options: Mapping[str, Any]
) -> bool:
    """Return True if it is easily seen that no integer wraps.

    Few numbers are computed in float64. For many, the extreme values decide.
    """
    name, result = call.name, call.result
    if call.is_in_place:  # undo it: if the old values fit, nothing wrapped
        arrays, name = [result, *arrays], "subtract" if name == "add" else "add"
        result = result if result.size >= MIN_LARGE_SIZE else getattr(np, name)(*arrays)
    if result.size < MIN_LARGE_SIZE and np.size(arrays[0]) < MIN_LARGE_SIZE:
        wide = compute_wide(np, name, arrays, options) if name in EXACT_INTEGER_FUNCTIONS else None
        return wide is not None and wide.shape == result.shape and are_all_true(np.equal(wide, result))
    if not all(map(np.size, arrays)):
        return False
    ranges = [find_extremes(np, x) for x in arrays]
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
    least, largest = call.dtype.min, call.dtype.max
    assert least is not None and largest is not None
    return bool(least <= min(bounds) and max(bounds) <= largest)


def _compare_with_wide(
    np: Any, call: CheckedCall, arrays: Sequence[Any], options: Mapping[str, Any]
) -> Iterator[FoundLoss | Unchecked]:
    """Yield the losses of an operation, compared with the same operation in float64."""
    result, dtype = call.result, call.dtype
    if call.is_in_place:
        inverse = np.subtract if call.name == "add" else np.add  # exact, because integers wrap
        arrays = [inverse(result, np.asarray(arrays[0]).astype(result.dtype)), *arrays]
    wide = compute_wide(np, call.name, arrays, options)
    if wide is None or np.shape(wide) != result.shape:
        yield Unchecked(OPTIONS, call.written_name)
        return
    errors = abs(wide - result)
    if result.dtype.kind == "f":
        rule, is_lost = LOST_DIGITS, errors > abs(wide) * sum_tolerance(dtype)
    else:
        assert dtype.bits is not None
        rule, is_lost = WRAPPED, errors >= 2.0 ** (dtype.bits - 1)
    if call.operation_class == "modulo":  # an integer divided by zero is zero, not infinite
        is_lost &= np.isfinite(wide)
    if is_any_true(is_lost) and is_any_true(is_lost := is_lost & np.isfinite(result)):
        yield rule, partial(describe_loss, np, dtype, rule, is_lost, wide, result)


def compute_wide(np: Any, name: str, arrays: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Compute an operation in float64, or return None if NumPy's function refuses its arguments."""
    if name == "bitwise_left_shift" or name == "left_shift":
        return np.multiply(arrays[0], np.exp2(arrays[1], dtype=float), dtype=float)
    if name in ("sum", "mean"):  # NumPy's own functions of these names are slower
        whole = options if len(arrays) > 1 else {"axis": None, **options}
        total = _call_or_none(partial(np.add.reduce, dtype=float), arrays, whole)
        return total if name == "sum" or total is None else total * (np.size(total) / np.size(arrays[0]))
    if name in FUNCTIONS_WITH_DTYPE:
        return _call_or_none(partial(getattr(np, name), dtype=float), arrays, options)
    function = getattr(np, name, None) or getattr(np.linalg, name)
    is_plain_dot = name in ("dot", "matmul", "inner", "vdot") and all(np.ndim(x) == 1 for x in arrays)
    if is_plain_dot and np.size(arrays[0]) >= MIN_LARGE_SIZE:
        blocks = [slice(i, i + BLOCK_SIZE) for i in range(0, arrays[0].size, BLOCK_SIZE)]
        return sum(function(*(x[block].astype(float) for x in arrays)) for block in blocks)
    return _call_or_none(function, [_widen_array(np, x) for x in arrays], options)


def _widen_array(np: Any, x: Any) -> Any:
    """Return an array in float64, and anything else unchanged, such as an axis."""
    return x.astype(float) if isinstance(x, (np.ndarray, np.generic)) else x


def _call_or_none(function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Call a function, or return None if it refuses its arguments."""
    try:
        return function(*arguments, **options)
    except (TypeError, ValueError) as e:
        raise_if_from_outside(e, partial(function, *arguments, **options))
    return None


@cache
def sum_tolerance(dtype: DType) -> float:
    """Return the relative error that a sum in a dtype may have."""
    assert dtype.precision is not None
    unit = 2.0 ** (1 - dtype.precision)
    return max(min(unit * MAX_LOST_UNITS, MAX_LOST_SHARE), 2 * unit)


def describe_loss(
    np: Any, dtype: DType, rule: str, lost: Any, expected: Any, result: Any, when: str = ""
) -> ValueLoss:
    """Describe a loss by the first number that has it."""
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(lost)))
    before, after = (np.atleast_1d(x)[at].item() for x in (expected, result))
    what = f"{VERB_BY_LOSS[rule]}{when}, such as {before:.9g}, which is {after:.9g} in {dtype}"
    return ValueLoss(rule, int(lost.sum()), result.size, what)
