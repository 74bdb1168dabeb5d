"""Comparison of NumPy 1 and NumPy 2: the values that each computes from the same operands.

The systems of both releases say in which dtype each computes. The installed NumPy then computes the values in
that dtype. So one run has the numbers of both releases.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DTYPES, DType
from typelattice.core.engine.promotion import Promotion
from typelattice.core.operands.adapters import native
from typelattice.core.system_files.reader import system as find_system
from typelattice.tracing.library_traits.numpy_in_range import CONSTRUCTORS
from typelattice.tracing.run_data.release_difference import DTYPE_ALONE, LOSES, RAISES

np: Any = sys.modules["numpy"]  # nothing imports this file before the program has imported NumPy
OLDER, OLDER_ON_WINDOWS, NEWER = "numpy1", "numpy1-windows", "numpy"
"""The systems of the two releases. The older one has another default integer on Windows."""
TITLE_BY_SYSTEM = {
    OLDER: "NumPy 1", OLDER_ON_WINDOWS: "NumPy 1 on Windows", NEWER: "NumPy 2",
}  # fmt: skip
UFUNC_BY_OPERATION = {
    "pow": "power", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "bitwise_invert": "invert",
}  # fmt: skip
"""NumPy's names of operations in both releases, if ours are others."""
MAX_COMPARED_ELEMENTS = 4_096
COPYING_FUNCTIONS = ("array",)  # functions that take `copy=False`
MAX_ROUNDING_RATIO = 0.25  # of two rounding errors, below which the other release loses
Found = tuple[str, str, str, float]
"""An effect, the system that loses, a sentence, and the severity."""


def own_release(on_windows: bool = False) -> str:
    """Name the system of the installed release."""
    return older_release(on_windows) if np.__version__.startswith("1.") else NEWER


def other_release(own: str, on_windows: bool = False) -> str:
    """Name the system of the other release."""
    return older_release(on_windows) if own == NEWER else NEWER


def older_release(on_windows: bool = False) -> str:
    """Name the system of the older release, here or on Windows."""
    return OLDER_ON_WINDOWS if on_windows or sys.platform == "win32" else OLDER


def compare_releases(
    name: str, operands: Sequence[Any], keywords: Mapping[str, Any], result: Any, on_windows: bool = False
) -> Found | None:
    """Compare an operation of a run with what the other release computes, or return None if they agree."""
    own, here = own_release(on_windows), own_release()
    other = other_release(own, on_windows)
    if name in COPYING_FUNCTIONS and keywords.get("copy", True) is False:
        return _compare_copies(operands, result)
    if name in DTYPES or name in CONSTRUCTORS:
        return _compare_constructors(name, operands, keywords)
    try:
        operation = name.removesuffix("=")
        taken = (result, *operands) if name.endswith("=") else operands
        promotion = find_system(other).explain(*taken, op=operation)
    except (TypelatticeError, TypeError):
        return None  # no operand, or an operation that no rule describes
    if promotion.dtype is None:
        return RAISES, other, f"{TITLE_BY_SYSTEM[other]} raises an error: {promotion.reason}", 1.0
    if name.endswith("=") or keywords:
        return None  # the old values are gone
    own_result = result if own == here else _compute_in(own, operation, operands)
    other_dtype: Any = native(promotion.dtype, np)
    if own_result is None or own_result.dtype == other_dtype:
        return None
    dtypes = {own: str(own_result.dtype), other: str(other_dtype)}
    sentence = _describe_dtypes(dtypes, operation, operands)
    other_result = _compute(operation, operands, promotion)
    if other_result is None or other_result.shape != np.shape(result):
        return DTYPE_ALONE, "", sentence, 0.0
    return _compare_values(operation, operands, {own: np.asarray(own_result), other: other_result}, sentence)


def _describe_dtypes(dtypes: Mapping[str, str], operation: str, operands: Sequence[Any]) -> str:
    """Say which dtype each release gives, and that of the older one on Windows if it is another."""
    older = next(x for x in dtypes if x != NEWER)
    sentence = f"{dtypes[older]} in {TITLE_BY_SYSTEM[older]} and {dtypes[NEWER]} in {TITLE_BY_SYSTEM[NEWER]}"
    if older == OLDER:
        elsewhere = _explain(OLDER_ON_WINDOWS, operation, operands)
        if elsewhere is not None and str(elsewhere.dtype) != dtypes[older]:
            sentence += f", and {elsewhere.dtype} in {TITLE_BY_SYSTEM[OLDER_ON_WINDOWS]}"
    return sentence


def _explain(system: str, operation: str, operands: Sequence[Any]) -> Promotion | None:
    """Ask a system for an operation. Return None if it refuses, or has no rule."""
    try:
        promotion = find_system(system).explain(*operands, op=operation)
    except (TypelatticeError, TypeError):
        return None
    return promotion if promotion.dtype is not None else None


def _compute_in(system: str, operation: str, operands: Sequence[Any]) -> Any:
    """Compute an operation as a release does that does not run here, or return None if that is unknown."""
    promotion = _explain(system, operation, operands)
    return _compute(operation, operands, promotion) if promotion is not None else None


def _compute(operation: str, operands: Sequence[Any], promotion: Promotion) -> Any:
    """Compute an operation in the dtype of another release, or return None if it is no plain ufunc."""
    function = getattr(np, UFUNC_BY_OPERATION.get(operation, operation), None)
    if not isinstance(function, np.ufunc) or promotion.compute is None or promotion.dtype is None:
        return None
    if max((np.size(x) for x in operands), default=0) > MAX_COMPARED_ELEMENTS:
        return None
    compute: Any = native(promotion.compute, np)
    given: Any = native(promotion.dtype, np)
    try:
        with np.errstate(all="ignore"):
            return np.asarray(function(*(np.asarray(x).astype(compute) for x in operands))).astype(given)
    except (TypeError, ValueError, OverflowError):
        return None


def _compare_values(
    operation: str, operands: Sequence[Any], results: Mapping[str, Any], sentence: str
) -> Found:
    """Compare the values of both releases with those that no dtype limits."""
    exact = _compute_exactly(operation, operands)
    if exact is None:
        return DTYPE_ALONE, "", sentence, 0.0
    errors = {x: _measure_errors(values, exact) for x, values in results.items()}
    worst = {x: float(np.max(each, initial=0.0)) for x, each in errors.items()}
    loser = max(worst, key=lambda x: worst[x])
    winner = other_release(loser)
    if worst[loser] == 0 or worst[winner] > MAX_ROUNDING_RATIO * worst[loser]:
        return DTYPE_ALONE, "", sentence, 0.0
    at = int(np.argmax(errors[loser]))
    values = {x: np.ravel(each)[at] for x, each in results.items()}
    lost = _name_lost_number(operation, operands, results[loser])
    says = f"{TITLE_BY_SYSTEM[loser]} loses{f' {lost} here' if lost else ''}: {_write(values[loser])}"
    gives = f"{TITLE_BY_SYSTEM[winner]} gives {_write(values[winner])}"
    return LOSES, loser, f"{says}; {gives} ({sentence})", worst[loser]


def _name_lost_number(operation: str, operands: Sequence[Any], result: Any) -> str:
    """Write a Python number that was added or subtracted and changed nothing, or return ""."""
    if operation not in ("add", "subtract") or len(operands) != 2:
        return ""
    for number, array in (operands, operands[::-1]):
        is_plain = type(number) in (int, float) and number != 0
        if is_plain and np.array_equal(np.asarray(array, result.dtype), result):
            return repr(number)
    return ""


def _compute_exactly(operation: str, operands: Sequence[Any]) -> Any:
    """Compute integers as Python does, and floats in the widest float. Return None if that is impossible."""
    function = getattr(np, UFUNC_BY_OPERATION.get(operation, operation))
    arrays = [np.asarray(x) for x in operands]
    is_whole = all(x.dtype.kind in "biuO" for x in arrays) and operation not in ("divide", "pow")
    wide: Any = object if is_whole else np.longdouble
    if any(x.dtype.kind == "c" for x in arrays):
        return None
    try:
        with np.errstate(all="ignore"):
            return np.asarray(function(*(x.astype(wide) for x in arrays)))
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return None


def _measure_errors(values: Any, exact: Any) -> Any:
    """Return the relative error of each value."""
    found, wanted = np.ravel(values), np.ravel(exact)
    if wanted.dtype == object:
        pairs = zip(found.tolist(), wanted.tolist(), strict=True)
        return np.array([float(a != b and abs(a - b) / max(abs(b), 1)) for a, b in pairs])
    with np.errstate(all="ignore"):
        wide = found.astype(np.longdouble)
        errors = np.abs(wide - wanted) / np.where(wanted == 0, 1, np.abs(wanted))
    same = (wide == wanted) | (np.isnan(wide) & np.isnan(wanted))
    return np.where(same, 0, np.nan_to_num(errors, nan=1.0, posinf=1.0)).astype(np.float64)


def _write(value: Any) -> str:
    """Write a value of an array with the digits that its dtype has."""
    return repr(value.item()) if value.dtype.kind in "biu" else str(value)


def _compare_copies(operands: Sequence[Any], result: Any) -> Found | None:
    """Return the error of `copy=False` in NumPy 2 if a copy was needed."""
    if operands and result is operands[0]:
        return None
    title = TITLE_BY_SYSTEM[NEWER]
    return RAISES, NEWER, f"{title} raises an error: copy=False, and a copy is needed here", 1.0


def _compare_constructors(name: str, operands: Sequence[Any], keywords: Mapping[str, Any]) -> Found | None:
    """Return the error of NumPy 2 for Python numbers that a dtype does not hold."""
    asked = name if name in DTYPES else keywords.get("dtype")
    try:
        dtype = DTYPES.get(np.dtype(asked).name) if asked is not None else None
    except TypeError:
        return None
    taken = operands[1:] if name == "full" else operands[:1]
    return _refuse_numbers(dtype, taken) if dtype is not None else None


def _refuse_numbers(dtype: DType, values: Any) -> Found | None:
    """Return the error of NumPy 2 for the first Python int that an integer dtype does not hold."""
    if isinstance(values, (list, tuple)):
        found = (_refuse_numbers(dtype, each) for each in values[:MAX_COMPARED_ELEMENTS])
        return next((each for each in found if each is not None), None)
    if type(values) is not int or type(dtype.max) is not int or type(dtype.min) is not int:
        return None
    if dtype.min <= values <= dtype.max:
        return None
    title = TITLE_BY_SYSTEM[NEWER]
    return RAISES, NEWER, f"{title} raises an error: {values} is out of range for {dtype}", 1.0


def list_constants_out_of_range(text: str) -> Iterator[tuple[ast.Call, Found]]:
    """Yield the calls in a source that make an array of constants which its dtype does not hold.

    >>> import numpy
    >>> [found[2] for _, found in list_constants_out_of_range("a = np.uint32(-1)")]
    ['NumPy 2 raises an error: -1 is out of range for uint32']
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        keywords = {k.arg: _name_dtype(k.value) for k in node.keywords if k.arg == "dtype"}
        try:
            operands = [ast.literal_eval(x) for x in node.args]
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        if node.func.attr in DTYPES or (node.func.attr in CONSTRUCTORS and keywords.get("dtype")):
            found = _compare_constructors(node.func.attr, operands, keywords)
            if found is not None:
                yield node, found


def _name_dtype(node: ast.expr) -> str | None:
    """Return the name of a dtype in a source, or None if it is not written out."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return node.attr if isinstance(node, ast.Attribute) and node.attr in DTYPES else None
