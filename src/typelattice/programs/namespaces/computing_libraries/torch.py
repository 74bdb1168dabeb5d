"""PyTorch, with what it lacks: unsigned integers, indices of any dtype, and slices that go backwards.

Unsigned integers wider than a byte are computed in int64, modulo 2**64. uint16 and uint32 keep their values
there. uint64 keeps its bits, so that sums, products and bitwise operations agree. Operations that compare
uint64 first shift it by 2**63, which keeps the order. Quotients, remainders, powers and right shifts of
uint64 have their own functions (`UINT64_FUNCTION_BY_NAME`). Indices become int64: PyTorch takes
uint8 as a mask, and
accepts only int32 and int64 of the other integers.
"""
from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from typelattice.core.operands.adapters import native
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import OPERATIONS, find_operation
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary

COMPARISON_FUNCTIONS = (
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "argmax",
    "argmin",
    "searchsorted",
    "argsort",
)
# functions that compare elements and return some of them
CHOOSING_FUNCTIONS = ("maximum", "minimum", "max", "min", "clip", "sort")
INDEX_RETURNING_FUNCTIONS = ("argmax", "argmin", "argsort", "searchsorted", "nonzero", "count_nonzero")
INDEXED_FUNCTIONS = ("take", "take_along_axis", "repeat")
MISSING_KERNEL_TEXTS = (
    "not implemented",
    "not support",
    "only support",
    "invalid type",
    "unsupported",
)  # words in its errors
SIGNED_BY_UNSIGNED_DTYPE = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
MIN_INT64 = -(2**63)


class Torch(ComputingLibrary):
    """PyTorch.

    Its own kernels come first. Functions without a kernel for unsigned integers compute in int64.
    """

    refusal_messages = ("without overflow", "negative integer powers", "out of bounds")

    def find_function(self, name: str) -> Callable[..., Any]:
        return partial(_call_with_int64, name, torch.clip if name == "clip" else super().find_function(name))

    def asarray(self, obj: Any, **options: Any) -> Any:
        """Make an array. Another library's array is read through NumPy, since PyTorch ignores its dtype."""
        if not isinstance(obj, (torch.Tensor, list, tuple, bool, int, float, complex)):
            obj = _from_buffer(obj)
        return self.xp.asarray(obj, **options)

    def uncast_function(self, op_name: str, zero_d: bool) -> Callable[..., Any]:
        """Return PyTorch's own operator or function, since those in array-api-compat promote differently."""
        function = find_operation(op_name).function
        method = OPERATIONS[function].special_method
        return getattr(operator, method) if method else getattr(torch, function, _raise_not_implemented)

    def convertible_item(self, data: Any) -> Any:
        return data.item()  # PyTorch's own conversion stops at int64

    def to_numpy(self, data: Any, dtype: Any, copy: bool | None) -> Any:
        return super().to_numpy(data.detach().cpu(), dtype, copy)

    def select_elements(self, data: Any, key: Any) -> Any:
        return _call_with_int64("", _read_elements, data, _expand_key(key, data))

    def put_elements(self, data: Any, key: Any, value: Any) -> Any:
        parts = _expand_key(key, data)
        signed_view, is_unsigned = _as_signed(data), data.dtype in SIGNED_BY_UNSIGNED_DTYPE
        backwards = any(_is_backwards(part) for part in parts)
        try:
            if is_unsigned or backwards:
                value = torch.as_tensor(value, device=data.device).to(data.dtype)
            if not backwards:
                signed_view[parts] = _as_signed(value)
                return data
            # Index an array of places to find the elements. `put_` counts places in any memory layout.
            places = _read_elements(torch.arange(data.numel(), device=data.device).reshape(data.shape), parts)
            signed_view.put_(places, _as_signed(value).broadcast_to(places.shape))
        except (RuntimeError, ValueError) as e:  # the number is beyond the dtype, or beyond int64
            raise OverflowError(str(e)) if "overflow" in str(e).lower() else e from e
        return data


def _from_buffer(obj: Any) -> Any:
    """Make a tensor of an object as NumPy reads it. Raises TypeError for anything but numbers."""
    import numpy

    data = numpy.asarray(obj)
    data = numpy.ascontiguousarray(data, data.dtype.newbyteorder("=")).reshape(data.shape)
    known = operand(data.dtype).dtype
    if known is None or known.bits is None:
        raise TypeError(f"PyTorch has no dtype for {data.dtype}")
    if type(data.dtype).__module__ == "numpy.dtypes":
        return torch.tensor(data)
    # PyTorch's bits have the same meaning as those of ml_dtypes.
    same_size = numpy.dtype(f"int{8 * data.dtype.itemsize}")
    return torch.tensor(data.view(same_size)).view(native(known, "torch"))


def _raise_not_implemented(*operands: Any) -> Any:
    raise NotImplementedError


def _call_with_int64(name: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function. If PyTorch has no kernel for an unsigned dtype, compute in int64.

    Raises NotImplementedError if PyTorch has no kernel for another dtype.
    """
    if name in INDEXED_FUNCTIONS:
        args = (args[0], *map(_convert_indices, args[1:]))
    try:
        return function(*args, **options)
    except RuntimeError as e:
        dtypes = [getattr(x, "dtype", None) for x in _flatten_nested((args, *options.values()))]
        wide = [d for d in (*dtypes, options.get("dtype")) if d in SIGNED_BY_UNSIGNED_DTYPE]
        if wide and "not implemented for 'UInt" in str(e):
            return _compute_in_int64(name, function, wide[0], *args, **options)
        if any(word in str(e) for word in MISSING_KERNEL_TEXTS):
            raise NotImplementedError(str(e)) from e
        raise


def _compute_in_int64(name: str, function: Callable[..., Any], to: Any, *args: Any, **options: Any) -> Any:
    """Call a function on unsigned integers in int64, and convert its results back to unsigned."""
    large = to == torch.uint64
    turn = large and name in (*COMPARISON_FUNCTIONS, *CHOOSING_FUNCTIONS)
    if options.get("dtype") in SIGNED_BY_UNSIGNED_DTYPE:
        options["dtype"] = torch.int64

    def view_signed(x: Any) -> Any:
        return (
            _turn_signed(x.to(torch.int64), turn)
            if getattr(x, "dtype", None) in SIGNED_BY_UNSIGNED_DTYPE
            else x
        )

    def view_unsigned(x: Any) -> Any:
        return _turn_signed(x, turn).to(to) if getattr(x, "dtype", None) == torch.int64 else x

    compute = UINT64_FUNCTION_BY_NAME.get(name, function) if large else function
    out = compute(
        *_map_nested(args, view_signed), **{k: _map_nested(v, view_signed) for k, v in options.items()}
    )
    return out if name in INDEX_RETURNING_FUNCTIONS else _map_nested(out, view_unsigned)


def _as_signed(x: Any) -> Any:
    """View unsigned integers as signed: PyTorch cannot write into some unsigned arrays."""
    return (
        x.view(SIGNED_BY_UNSIGNED_DTYPE[x.dtype])
        if getattr(x, "dtype", None) in SIGNED_BY_UNSIGNED_DTYPE
        else x
    )


def _convert_indices(x: Any) -> Any:
    """Convert indices to int64 for PyTorch. Masks, and everything that is not an array, stay unchanged."""
    integers = getattr(x, "dtype", torch.bool) != torch.bool and not x.is_floating_point()
    return x.to(torch.int64) if integers else x


def _expand_key(key: Any, data: Any) -> tuple[Any, ...]:
    """Return the parts of a key, with slices in place of an Ellipsis."""
    parts = [_convert_indices(part) for part in (key if isinstance(key, tuple) else (key,))]
    for at in [i for i, part in enumerate(parts) if part is Ellipsis]:
        left_over = data.ndim - sum(map(_count_axes, parts))
        parts[at : at + 1] = [slice(None)] * left_over
    return tuple(parts)


def _count_axes(part: Any) -> int:
    """Count the axes that a part of a key uses.

    A mask uses as many as it has; None, `...` and a bool none.
    """
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.ndim if getattr(part, "dtype", None) == torch.bool else 1


def _is_backwards(part: Any) -> bool:
    return isinstance(part, slice) and part.step is not None and part.step < 0


def _read_elements(data: Any, parts: tuple[Any, ...]) -> Any:
    """Return the indexed elements. For a backward slice, cut the axis forwards and reverse it first."""
    key, axis = list(parts), 0
    for i, part in enumerate(parts):
        if _is_backwards(part):
            there = range(*part.indices(data.shape[axis]))
            forwards = slice(there[-1], there[0] + 1, -part.step) if there else slice(0, 0)
            data = data[(slice(None),) * axis + (forwards,)].flip(axis)
            key[i] = slice(None)
        axis += _count_axes(part)
    return data[tuple(key)]


def _turn_signed(x: Any, turn: bool) -> Any:
    """Shift signed integers into the order of the unsigned ones with the same bits, if `turn` is True."""
    return x ^ MIN_INT64 if turn else x


def _flatten_nested(x: Any) -> list[Any]:
    return [each for part in x for each in _flatten_nested(part)] if isinstance(x, (tuple, list)) else [x]


def _map_nested(x: Any, change: Callable[[Any], Any]) -> Any:
    return type(x)(_map_nested(part, change) for part in x) if type(x) in (tuple, list) else change(x)


def _unsigned_quotient(x: Any, y: Any, /) -> Any:
    """Divide unsigned numbers in int64: divide half of x, then correct the quotient by the remainder."""
    half = ((x >> 1 & ~MIN_INT64) // y) << 1
    rest = x - half * y
    whole = half + ((rest ^ MIN_INT64) >= (y ^ MIN_INT64))
    return whole.where(y > 0, ((x ^ MIN_INT64) >= (y ^ MIN_INT64)).to(x.dtype))


def _unsigned_remainder(x: Any, y: Any, /) -> Any:
    return x - _unsigned_quotient(x, y) * y


def _right_shift(x: Any, bits: Any, /) -> Any:
    """Shift bits to the right, with zeros coming in from the left."""
    return (((x >> 1) & ~MIN_INT64) >> (bits - 1)).where(bits > 0, x)


def _power_by_squaring(x: Any, y: Any, /) -> Any:
    """Compute a power by squaring, bit by bit of the exponent, which may be 2**63 or more."""
    found, square = torch.ones_like(x * y), x
    for bit in range(64):
        found = torch.where((y >> bit & 1) != 0, found * square, found)
        square = square * square
    return found


# for uint64, since int64 reads its bits as other numbers
UINT64_FUNCTION_BY_NAME: dict[str, Callable[..., Any]] = {
    "floor_divide": _unsigned_quotient,
    "remainder": _unsigned_remainder,
    "pow": _power_by_squaring,
    "bitwise_right_shift": _right_shift,
    "abs": lambda x, /: x,
    "sign": lambda x, /: (x != 0).to(x.dtype),
}


LIBRARY = Torch
