"""Checks of the values of NumPy arrays; other libraries' files convert theirs first."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from typelattice.tracing.run_data.run import LOST_DIGITS, LOST_FRACTION, NOT_FINITE, WRAPPED, ValueLoss
from typelattice.tracing.steps.equivalent_operations import casts_from

NAMES = {"pow": "power", "abs": "absolute", "add=": "add", "subtract=": "subtract"}
"""Names of operations that NumPy calls otherwise; those with a `=` write into their left operand."""
SUMS = {"sum", "mean", "cumsum", "dot", "matmul", "var", "std", "nansum", "nanmean", "inner", "vdot", "trace"}
WRAPPING = {*SUMS, "add", "subtract", "multiply", "power", "square", "negative", "absolute", "prod"}
DEEDS = {WRAPPED: "wrapped", LOST_FRACTION: "lost a fraction", LOST_DIGITS: "lost digits"}
OPTIONS = {"axis", "keepdims", "ddof"}  # of sums, with which the wide one is computed
KEPT = 2**7  # units in the last place that a sum may lose: about two digits


def value_losses(
    name: str, operands: Sequence[Any], named: Mapping[str, Any], result: Any
) -> Iterator[ValueLoss]:
    """Yield what an operation of a name lost of the values of its operands."""
    np: Any = sys.modules["numpy"]
    with np.errstate(all="ignore"):
        arrays = [x for x in operands if isinstance(x, (np.ndarray, np.generic, int, float))]
        known = len(arrays) == len(operands)
        own = np.asarray(result)
        if name == "put":
            yield from cast_losses(np, arrays, np.asarray(arrays[0]).astype(own.dtype) if arrays else own)
            return
        if name in ("add=", "subtract=") and own.dtype.kind in "iu" and arrays:
            back = np.subtract if name == "add=" else np.add  # integers wrap exactly: these were there
            arrays = [back(own, np.asarray(arrays[0]).astype(own.dtype)), *arrays]
        name = NAMES.get(name, name)
        if own.dtype.kind in "fc":
            yield from _not_finite(np, arrays, own)
        if casts_from(name) < inf or name in np.sctypeDict:
            yield from cast_losses(np, arrays[:1], own)
        named = {key: x for key, x in named.items() if key != "dtype"}
        if name in WRAPPING and {*named} <= OPTIONS and known:
            yield from _against_wide(np, name, arrays, named, own)


def _not_finite(np: Any, arrays: Sequence[Any], own: Any) -> Iterator[ValueLoss]:
    """Yield the loss of numbers that became infinite or NaN, though all operands are finite."""
    bad = ~np.isfinite(own)
    numbers = [x for x in arrays if np.asarray(x).dtype.kind in "fciu"]
    if bad.any() and numbers and all(np.isfinite(x).all() for x in numbers):
        became = "NaN" if np.isnan(own).any() else "infinite"
        what = f"became {became} in {own.dtype}, of finite operands"
        yield ValueLoss(NOT_FINITE, int(bad.sum()), own.size, what)


def cast_losses(np: Any, arrays: Sequence[Any], own: Any) -> Iterator[ValueLoss]:
    """Yield what a cast to integers lost: fractions, and values that do not fit."""
    for x in map(np.asarray, arrays):
        if own.dtype.kind not in "iu" or x.shape != own.shape or x.dtype.kind not in "iuf":
            continue
        whole = np.trunc(x) if x.dtype.kind == "f" else x
        wrapped = np.isfinite(x) & (whole.astype(float) != own.astype(float))
        lost = (whole != x) & ~wrapped & np.isfinite(x)
        if wrapped.any():
            yield describe_loss(np, WRAPPED, wrapped, whole, own)
        if lost.any():
            yield describe_loss(np, LOST_FRACTION, lost, x, own)


def _against_wide(
    np: Any, name: str, arrays: Sequence[Any], named: Mapping[str, Any], own: Any
) -> Iterator[ValueLoss]:
    """Yield what the operation lost beside the same one in float64."""
    narrow = own.dtype.kind == "f" and own.dtype.itemsize < 8 and name in SUMS
    if own.dtype.kind not in "iu" and not narrow:
        return
    try:
        wide = np.asarray(getattr(np, name)(*(np.asarray(x).astype(float) for x in arrays), **named))
    except (TypeError, ValueError):
        return
    if wide.shape != own.shape:
        return
    apart = np.abs(wide - own.astype(float))
    if not narrow:
        wrapped = apart >= 2.0 ** (8 * own.dtype.itemsize - 1)
        if wrapped.any():
            yield describe_loss(np, WRAPPED, wrapped, wide, own)
        return
    lost = apart > np.abs(wide) * np.finfo(own.dtype).eps * KEPT
    lost &= np.isfinite(own)
    if lost.any():
        yield describe_loss(np, LOST_DIGITS, lost, wide, own)


def describe_loss(np: Any, rule: str, bad: Any, expected: Any, own: Any, when: str = "") -> ValueLoss:
    """Describe a loss by the first number that has it."""
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(bad)))
    before, after = (np.atleast_1d(x)[at].item() for x in (expected, own))
    what = f"{DEEDS[rule]}{when}, such as {before:.9g}, which is {after:.9g} in {own.dtype}"
    return ValueLoss(rule, int(bad.sum()), own.size, what)
