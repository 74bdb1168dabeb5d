"""Functions that ONNX or StableHLO lacks, written with functions of the standard that it has.

Each takes the functions of a library as `xp`, and arrays that are cast already. Their values are those of
NumPy's functions of that name, apart from the last bits.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.programs.namespaces.computing_libraries.computing_library import ComputingLibrary

Axis = int | tuple[int, ...] | None


class LibraryFunctions:
    """The functions of a library as attributes, and arrays of numbers that composed functions need."""

    def __init__(self, library: ComputingLibrary) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self._library.find_function(name)

    def number_like(self, value: float, like: Any) -> Any:
        """Make a number an array of another array's dtype."""
        own = self._library.dtype_of(like)
        number = value if own.kind is Kind.FLOAT else int(value)
        return self._library.number_to_array(number, like.dtype, like)

    def integers(self, values: Sequence[int]) -> Any:
        """Make an array of integers, for places."""
        native = self._library.native_dtype(DTYPES["int64"])
        return self._library.asarray([*values], dtype=native)

    def is_float(self, x: Any) -> bool:
        """Return True for an array of floats."""
        return self._library.dtype_of(x).kind is Kind.FLOAT

    def limits_of(self, x: Any) -> tuple[float, float]:
        """Return the least and the largest finite number of an array's dtype."""
        own = self._library.dtype_of(x)
        return own.min or 0, own.max or 0


def _number(xp: Any, value: float, like: Any) -> Any:
    return xp.number_like(value, like)


def _flat(xp: Any, x: Any) -> Any:
    return xp.reshape(x, (-1,))


def _whole_or_axis(xp: Any, x: Any, axis: int | None) -> tuple[Any, int]:
    """Return the flattened array if no axis is given, as NumPy's functions do."""
    return (_flat(xp, x), 0) if axis is None else (x, axis)


def cumsum(xp: Any, x: Any, axis: int | None = None, **options: Any) -> Any:
    x, axis = _whole_or_axis(xp, x, axis)
    return xp.cumulative_sum(x, axis=axis, **options)


def cumprod(xp: Any, x: Any, axis: int | None = None, **options: Any) -> Any:
    x, axis = _whole_or_axis(xp, x, axis)
    return xp.cumulative_prod(x, axis=axis, **options)


def cumulative_prod(
    xp: Any, x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Multiply step by step along an axis of known length. ndonnx adds logarithms, which -1 has none of."""
    axis = 0 if axis is None else axis
    if not isinstance(x.shape[axis], int):
        raise NotImplementedError("a cumulative product needs the length of its axis")
    parts = [_column(xp, x, i, axis) for i in range(x.shape[axis])]
    for i in range(1, len(parts)):
        parts[i] = xp.multiply(parts[i - 1], parts[i])
    if include_initial:
        parts.insert(0, xp.ones_like(parts[0]))
    return xp.concat(parts, axis=axis) if parts else x


def signbit(xp: Any, x: Any) -> Any:
    zero = _number(xp, 0, x)
    below = xp.less(xp.divide(_number(xp, 1, x), x), zero)
    return xp.logical_or(xp.less(x, zero), xp.logical_and(xp.equal(x, zero), below))


def copysign(xp: Any, x: Any, y: Any) -> Any:
    size = xp.abs(x)
    return xp.where(signbit(xp, y), xp.negative(size), size)


def hypot(xp: Any, x: Any, y: Any) -> Any:
    a, b = xp.abs(x), xp.abs(y)
    most, least = xp.maximum(a, b), xp.minimum(a, b)
    zero, inf = _number(xp, 0, x), _number(xp, math.inf, x)
    part = xp.divide(least, xp.where(xp.greater(most, zero), most, _number(xp, 1, x)))
    found = xp.multiply(most, xp.sqrt(xp.add(xp.multiply(part, part), _number(xp, 1, x))))
    return xp.where(xp.logical_or(xp.equal(a, inf), xp.equal(b, inf)), inf, found)


def atan2(xp: Any, y: Any, x: Any) -> Any:
    """Return the angle of a point, in the quadrant of both signs."""
    zero, pi = _number(xp, 0, x), _number(xp, math.pi, x)
    both_infinite = xp.logical_and(xp.isinf(x), xp.isinf(y))
    one = _number(xp, 1, x)
    slope = xp.where(both_infinite, one, xp.abs(xp.divide(y, xp.where(xp.equal(x, zero), one, x))))
    right = xp.where(
        xp.equal(x, zero),
        xp.where(xp.equal(y, zero), zero, xp.divide(pi, _number(xp, 2, x))),
        xp.atan(slope),
    )
    found = copysign(xp, xp.where(signbit(xp, x), xp.subtract(pi, right), right), y)
    return xp.where(xp.logical_or(xp.isnan(x), xp.isnan(y)), xp.add(x, y), found)


def real(xp: Any, x: Any) -> Any:
    return x


def imag(xp: Any, x: Any) -> Any:
    return xp.zeros_like(x)


def isin(xp: Any, x: Any, values: Any, *, invert: bool = False) -> Any:
    same = xp.any(xp.equal(xp.expand_dims(x, axis=-1), _flat(xp, values)), axis=-1)
    return xp.logical_not(same) if invert else same


def outer(xp: Any, x: Any, y: Any) -> Any:
    return xp.multiply(xp.expand_dims(_flat(xp, x), axis=1), xp.expand_dims(_flat(xp, y), axis=0))


def kron(xp: Any, x: Any, y: Any) -> Any:
    """Return the blocks of y times each element of x, of arrays with as many dimensions."""
    dims = max(len(x.shape), len(y.shape))
    a = xp.reshape(x, (1,) * (dims - len(x.shape)) + tuple(x.shape))
    b = xp.reshape(y, (1,) * (dims - len(y.shape)) + tuple(y.shape))
    spread = tuple(n for each in a.shape for n in (each, 1)), tuple(n for each in b.shape for n in (1, each))
    blocks = xp.multiply(xp.reshape(a, spread[0]), xp.reshape(b, spread[1]))
    return xp.reshape(blocks, tuple(m * n for m, n in zip(a.shape, b.shape, strict=True)))


def _column(xp: Any, x: Any, i: int, axis: int) -> Any:
    return xp.take(x, xp.integers([i]), axis=axis)


def cross(xp: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
    a, b = ([_column(xp, v, i, axis) for i in range(3)] for v in (x, y))
    pairs = ((1, 2), (2, 0), (0, 1))
    parts = [xp.subtract(xp.multiply(a[i], b[j]), xp.multiply(a[j], b[i])) for i, j in pairs]
    return xp.concat(parts, axis=axis)


def diagonal(xp: Any, x: Any, *, offset: int = 0) -> Any:
    """Return the diagonals of the last two axes, from the flattened matrices."""
    rows, columns = x.shape[-2:]
    first = -offset * columns if offset < 0 else offset
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    places = [first + i * (columns + 1) for i in range(count)]
    return xp.take(xp.reshape(x, (*x.shape[:-2], rows * columns)), xp.integers(places), axis=-1)


def trace(xp: Any, x: Any, *, offset: int = 0, **options: Any) -> Any:
    return xp.sum(diagonal(xp, x, offset=offset), axis=-1, **options)


def diag(xp: Any, x: Any, k: int = 0) -> Any:
    """Return a diagonal of a matrix, or the matrix of a diagonal."""
    if len(x.shape) == 2:
        return diagonal(xp, x, offset=k)
    size = x.shape[0] + abs(k)
    rows = xp.expand_dims(pad(xp, x, (max(-k, 0), max(k, 0))), axis=1)
    places = xp.integers([i + k for i in range(size)])
    is_there = xp.equal(xp.expand_dims(places, axis=1), xp.expand_dims(xp.integers([*range(size)]), axis=0))
    return xp.where(is_there, rows, _number(xp, 0, x))


def dot(xp: Any, x: Any, y: Any) -> Any:
    if not x.shape or not y.shape:
        return xp.multiply(x, y)
    if len(y.shape) <= 2:
        return xp.matmul(x, y)
    return xp.tensordot(x, y, axes=((len(x.shape) - 1,), (len(y.shape) - 2,)))


def inner(xp: Any, x: Any, y: Any) -> Any:
    if not x.shape or not y.shape:
        return xp.multiply(x, y)
    return xp.tensordot(x, y, axes=((len(x.shape) - 1,), (len(y.shape) - 1,)))


def vdot(xp: Any, x: Any, y: Any) -> Any:
    return xp.sum(xp.multiply(_flat(xp, x), _flat(xp, y)))


def vector_norm(xp: Any, x: Any, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Any:
    size, along = xp.abs(x), {"axis": axis, "keepdims": keepdims}
    if ord == math.inf:
        return xp.max(size, **along)
    if ord == -math.inf:
        return xp.min(size, **along)
    if ord == 1:
        return xp.sum(size, **along)
    if ord == 2:
        return xp.sqrt(xp.sum(xp.multiply(x, x), **along))
    power = xp.pow(size, _number(xp, ord, x))
    return xp.pow(xp.sum(power, **along), _number(xp, 1 / ord, x))


def matrix_norm(xp: Any, x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    if ord == "fro":
        return vector_norm(xp, x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        sums = xp.sum(xp.abs(x), axis=-2 if abs(ord) == 1 else -1, keepdims=True)
        return (xp.max if ord > 0 else xp.min)(sums, axis=(-2, -1), keepdims=keepdims)
    raise NotImplementedError(f"no matrix_norm of ord={ord!r} without singular values")


def fmax(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(xp.isnan(x), y, xp.where(xp.isnan(y), x, xp.maximum(x, y)))


def fmin(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(xp.isnan(x), y, xp.where(xp.isnan(y), x, xp.minimum(x, y)))


def fmod(xp: Any, x: Any, y: Any) -> Any:
    """Return the remainder with the sign of x."""
    rest = xp.remainder(xp.abs(x), xp.abs(y))
    if xp.is_float(x):
        return copysign(xp, rest, x)
    return xp.where(xp.less(x, _number(xp, 0, x)), xp.negative(rest), rest)


def heaviside(xp: Any, x: Any, y: Any) -> Any:
    zero = _number(xp, 0, x)
    steps = xp.where(xp.less(x, zero), zero, _number(xp, 1, x))
    return xp.where(xp.equal(x, zero), y, xp.where(xp.isnan(x), x, steps))


def isclose(
    xp: Any, x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    far = xp.add(_number(xp, atol, x), xp.multiply(_number(xp, rtol, x), xp.abs(y)))
    near = xp.logical_and(xp.less_equal(xp.abs(xp.subtract(x, y)), far), xp.isfinite(y))
    found = xp.logical_or(near, xp.equal(x, y))
    return xp.logical_or(found, xp.logical_and(xp.isnan(x), xp.isnan(y))) if equal_nan else found


def cbrt(xp: Any, x: Any) -> Any:
    root = xp.pow(xp.abs(x), _number(xp, 1 / 3, x))
    return copysign(xp, root, x)


def degrees(xp: Any, x: Any) -> Any:
    return xp.multiply(x, _number(xp, 180 / math.pi, x))


def radians(xp: Any, x: Any) -> Any:
    return xp.multiply(x, _number(xp, math.pi / 180, x))


def exp2(xp: Any, x: Any) -> Any:
    return xp.pow(_number(xp, 2, x), x)


def angle(xp: Any, x: Any) -> Any:
    found = xp.where(signbit(xp, x), _number(xp, math.pi, x), _number(xp, 0, x))
    return xp.where(xp.isnan(x), x, found)


def nan_to_num(
    xp: Any,
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Any:
    """Replace NaN and infinities, by default by zero and the largest finite numbers."""
    low, high = xp.limits_of(x)
    x = xp.where(xp.isnan(x), _number(xp, nan, x), x)
    x = xp.where(isposinf(xp, x), _number(xp, high if posinf is None else posinf, x), x)
    return xp.where(isneginf(xp, x), _number(xp, low if neginf is None else neginf, x), x)


def isposinf(xp: Any, x: Any) -> Any:
    return xp.equal(x, _number(xp, math.inf, x))


def isneginf(xp: Any, x: Any) -> Any:
    return xp.equal(x, _number(xp, -math.inf, x))


def _without_nan(xp: Any, x: Any, value: float) -> Any:
    return xp.where(xp.isnan(x), _number(xp, value, x), x)


def _reduction_without_nan(name: str, value: float) -> Callable[..., Any]:
    def function(xp: Any, x: Any, axis: Axis = None, **options: Any) -> Any:
        found = getattr(xp, name)(_without_nan(xp, x, value), axis=axis, **options)
        if not math.isinf(value) or name.startswith("arg"):
            return found
        keep = {"keepdims": options.get("keepdims", False)}
        return xp.where(xp.all(xp.isnan(x), axis=axis, **keep), _number(xp, math.nan, x), found)

    return function


def nancumsum(xp: Any, x: Any, axis: int | None = None, **options: Any) -> Any:
    return cumsum(xp, _without_nan(xp, x, 0), axis, **options)


def nanmean(xp: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    along = {"axis": axis, "keepdims": keepdims}
    count = xp.sum(xp.where(xp.isnan(x), _number(xp, 0, x), _number(xp, 1, x)), **along)
    return xp.divide(xp.sum(_without_nan(xp, x, 0), **along), count)


def nanvar(
    xp: Any, x: Any, axis: Axis = None, keepdims: bool = False, ddof: float = 0, correction: float = 0
) -> Any:
    along = {"axis": axis, "keepdims": keepdims}
    count = xp.sum(xp.where(xp.isnan(x), _number(xp, 0, x), _number(xp, 1, x)), **along)
    apart = xp.subtract(x, nanmean(xp, x, axis, True))
    square = xp.where(xp.isnan(x), _number(xp, 0, x), xp.multiply(apart, apart))
    squares = xp.sum(square, **along)
    return xp.divide(squares, xp.subtract(count, _number(xp, ddof or correction, x)))


def nanstd(xp: Any, x: Any, **options: Any) -> Any:
    return xp.sqrt(nanvar(xp, x, **options))


def ptp(xp: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    along = {"axis": axis, "keepdims": keepdims}
    return xp.subtract(xp.max(x, **along), xp.min(x, **along))


def average(xp: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    return xp.mean(x, axis=axis, keepdims=keepdims)


def trapezoid(xp: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    length = y.shape[axis]
    left, right = (xp.take(y, xp.integers([*range(i, length - 1 + i)]), axis=axis) for i in (0, 1))
    width = _number(xp, dx, y) if x is None else xp.diff(x)
    return xp.sum(xp.divide(xp.multiply(width, xp.add(left, right)), _number(xp, 2, y)), axis=axis)


def median(xp: Any, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    whole = axis is None
    dims = len(x.shape)
    x, along = _whole_or_axis(xp, x, axis)
    ordered, length = xp.sort(x, axis=along), x.shape[along]
    middle = [_column(xp, ordered, i, along) for i in ((length - 1) // 2, length // 2)]
    found = xp.divide(xp.add(*middle), _number(xp, 2, x))
    found = xp.where(xp.any(xp.isnan(x), axis=along, keepdims=True), _number(xp, math.nan, x), found)
    if whole:
        return xp.reshape(found, (1,) * dims if keepdims else ())
    return found if keepdims else xp.squeeze(found, axis=along)


def cov(xp: Any, x: Any, *, dtype: Any = None) -> Any:
    rows = x if len(x.shape) == 2 else xp.expand_dims(x, axis=0)
    apart = xp.subtract(rows, xp.mean(rows, axis=1, keepdims=True))
    found = xp.divide(xp.matmul(apart, xp.matrix_transpose(apart)), _number(xp, rows.shape[1] - 1, x))
    return found if len(x.shape) == 2 else xp.reshape(found, ())


def corrcoef(xp: Any, x: Any, **options: Any) -> Any:
    found = cov(xp, x, **options)
    if len(x.shape) < 2:
        return xp.divide(found, found)
    spread = xp.sqrt(diagonal(xp, found))
    return xp.divide(xp.divide(found, xp.expand_dims(spread, axis=1)), xp.expand_dims(spread, axis=0))


def convolve(xp: Any, x: Any, y: Any, mode: str = "full") -> Any:
    """Return the product with a matrix of shifted copies of the shorter array."""
    x, y = (x, y) if x.shape[0] >= y.shape[0] else (y, x)
    long, short = x.shape[0], y.shape[0]
    padded = pad(xp, y, (long - 1, long - 1))
    shifts = [long - 1 + k - i for i in range(long) for k in range(long + short - 1)]
    shifted = xp.reshape(xp.take(padded, xp.integers(shifts), axis=0), (long, long + short - 1))
    whole = xp.matmul(x, shifted)
    if mode == "full":
        return whole
    first, count = (short - 1, long - short + 1) if mode == "valid" else ((short - 1) // 2, long)
    return xp.take(whole, xp.integers([*range(first, first + count)]), axis=0)


def append(xp: Any, x: Any, y: Any, axis: int | None = None) -> Any:
    if axis is None:
        return xp.concat([_flat(xp, x), _flat(xp, y)], axis=0)
    return xp.concat([x, y], axis=axis)


def _at_least(xp: Any, x: Any, dims: int) -> Any:
    shape = tuple(x.shape)
    if dims == 3 and len(shape) == 1:
        return xp.reshape(x, (1, *shape, 1))
    if dims == 3 and len(shape) == 2:
        return xp.reshape(x, (*shape, 1))
    return x if len(shape) >= dims else xp.reshape(x, (1,) * (dims - len(shape)) + shape)


def hstack(xp: Any, arrays: Sequence[Any]) -> Any:
    parts = [_at_least(xp, x, 1) for x in arrays]
    return xp.concat(parts, axis=0 if len(parts[0].shape) == 1 else 1)


def vstack(xp: Any, arrays: Sequence[Any]) -> Any:
    return xp.concat([_at_least(xp, x, 2) for x in arrays], axis=0)


def dstack(xp: Any, arrays: Sequence[Any]) -> Any:
    return xp.concat([_at_least(xp, x, 3) for x in arrays], axis=2)


def column_stack(xp: Any, arrays: Sequence[Any]) -> Any:
    return xp.concat([x if len(x.shape) == 2 else xp.reshape(x, (-1, 1)) for x in arrays], axis=1)


def pad(
    xp: Any, x: Any, pad_width: Any = 0, mode: str = "constant", constant_values: float = 0, **options: Any
) -> Any:
    """Add a constant at the ends of each axis."""
    if mode != "constant" or options:
        raise NotImplementedError(f"no pad with mode={mode!r}")
    dims = len(x.shape)
    if isinstance(pad_width, int):
        widths = ((pad_width, pad_width),) * dims
    elif isinstance(pad_width[0], int):
        widths = (tuple(pad_width) if len(pad_width) == 2 else (pad_width[0],) * 2,) * dims
    else:
        widths = tuple(map(tuple, pad_width)) * (dims if len(pad_width) == 1 else 1)
    for axis, ends in enumerate(widths):
        filled = [
            xp.broadcast_to(_number(xp, constant_values, x), (*x.shape[:axis], n, *x.shape[axis + 1 :]))
            for n in ends
        ]
        parts = [part for n, part in zip((ends[0], 1, ends[1]), (filled[0], x, filled[1]), strict=True) if n]
        x = xp.concat(parts, axis=axis) if len(parts) > 1 else x
    return x


def swapaxes(xp: Any, x: Any, axis1: int, axis2: int) -> Any:
    axes = [*range(len(x.shape))]
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return xp.permute_dims(x, tuple(axes))


def rot90(xp: Any, x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    for _ in range(k % 4):
        x = xp.flip(swapaxes(xp, x, *axes), axis=axes[0])
    return x


def split(xp: Any, x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    length = x.shape[axis]
    if isinstance(indices_or_sections, int):
        size = length // indices_or_sections
        ends = [size * i for i in range(1, indices_or_sections)]
    else:
        ends = [*indices_or_sections]
    bounds = zip([0, *ends], [*ends, length], strict=True)
    return [xp.take(x, xp.integers([*range(a, b)]), axis=axis) for a, b in bounds]


def fftshift(xp: Any, x: Any, *, axes: Axis = None) -> Any:
    each = tuple(range(len(x.shape))) if axes is None else (axes,) if isinstance(axes, int) else axes
    return xp.roll(x, tuple(x.shape[i] // 2 for i in each), axis=each)


def ifftshift(xp: Any, x: Any, *, axes: Axis = None) -> Any:
    each = tuple(range(len(x.shape))) if axes is None else (axes,) if isinstance(axes, int) else axes
    return xp.roll(x, tuple(-(x.shape[i] // 2) for i in each), axis=each)


def relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, _number(xp, 0, x))


def sigmoid(xp: Any, x: Any) -> Any:
    one = _number(xp, 1, x)
    return xp.divide(one, xp.add(one, xp.exp(xp.negative(x))))


def silu(xp: Any, x: Any) -> Any:
    return xp.multiply(x, sigmoid(xp, x))


def gelu(xp: Any, x: Any) -> Any:
    root = xp.divide(x, xp.sqrt(_number(xp, 2, x)))
    return xp.multiply(xp.divide(x, _number(xp, 2, x)), xp.add(_number(xp, 1, x), xp.erf(root)))


def rsqrt(xp: Any, x: Any) -> Any:
    return xp.divide(_number(xp, 1, x), xp.sqrt(x))


def logsumexp(xp: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    most = xp.max(x, axis=axis, keepdims=True)
    most = xp.where(xp.isfinite(most), most, _number(xp, 0, x))
    total = xp.log(xp.sum(xp.exp(xp.subtract(x, most)), axis=axis, keepdims=True))
    found = xp.add(total, most)
    if keepdims:
        return found
    axes = tuple(range(len(x.shape))) if axis is None else axis
    return xp.squeeze(found, axis=axes)


def softmax(xp: Any, x: Any, axis: int = -1) -> Any:
    parts = xp.exp(xp.subtract(x, xp.max(x, axis=axis, keepdims=True)))
    return xp.divide(parts, xp.sum(parts, axis=axis, keepdims=True))


def log_softmax(xp: Any, x: Any, axis: int = -1) -> Any:
    return xp.subtract(x, logsumexp(xp, x, axis, keepdims=True))


def _alias(name: str) -> Callable[..., Any]:
    return lambda xp, *args, **options: getattr(xp, name)(*args, **options)


COMPOSED_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{
        f.__name__: f
        for f in (
            cumsum, cumprod, cumulative_prod, signbit, copysign, hypot, atan2, real, imag, isin, outer, kron,
            cross, diagonal, trace, diag, dot, inner, vdot, vector_norm, matrix_norm, fmax, fmin, fmod,
            heaviside, isclose, cbrt, degrees, radians, exp2, angle, nan_to_num, isposinf, isneginf,
            nancumsum, nanmean, nanvar, nanstd, ptp, average, trapezoid, median, cov, corrcoef, convolve,
            append, hstack, vstack, dstack, column_stack, pad, swapaxes, rot90, split, fftshift, ifftshift,
            relu, sigmoid, silu, gelu, rsqrt,
            logsumexp, softmax, log_softmax,
        )
    },
    "conj": real,
    "nansum": _reduction_without_nan("sum", 0),
    "nanprod": _reduction_without_nan("prod", 1),
    "nanmax": _reduction_without_nan("max", -math.inf),
    "nanmin": _reduction_without_nan("min", math.inf),
    "nanargmax": _reduction_without_nan("argmax", -math.inf),
    "nanargmin": _reduction_without_nan("argmin", math.inf),
    "fabs": _alias("abs"),
    "rint": _alias("round"),
    "float_power": _alias("pow"),
    "norm": vector_norm,
}  # fmt: skip
