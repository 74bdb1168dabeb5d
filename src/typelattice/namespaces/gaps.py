"""What PyTorch lacks of the standard, made of what it has: unsigned integers, indices of any dtype, slices that go backwards.

Unsigned integers wider than a byte are computed in int64, modulo 2**64. Narrow ones keep their values there. uint64 keeps
its bits, with which sums, products and bits agree; what compares is shifted by 2**63 first, which keeps the order;
quotients, remainders and shifts to the right are put together. Indices become int64: uint8 would be taken for a mask.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

COMPARING = ("less", "less_equal", "greater", "greater_equal", "argmax", "argmin", "searchsorted", "argsort")
CHOOSING = ("maximum", "minimum", "max", "min", "clip", "sort")  # compare, and give elements
PLACES = ("argmax", "argmin", "argsort", "searchsorted", "nonzero", "count_nonzero")
INDEXED = ("take", "take_along_axis", "repeat")
LACKING = ("not implemented", "not support", "only support", "invalid type", "unsupported")  # in PyTorch's errors
LEAST = -(2**63)


def completed(name: str, function: Callable[..., Any], torch: Any) -> Callable[..., Any]:
    """A function of PyTorch's that computes with every unsigned dtype; its own kernels come first."""
    wide = (torch.uint16, torch.uint32, torch.uint64)

    def call(*args: Any, **options: Any) -> Any:
        if name in INDEXED:
            args = (args[0], *(index(x, torch) for x in args[1:]))
        try:
            return function(*args, **options)
        except RuntimeError as e:
            dtypes = (*(getattr(x, "dtype", None) for x in _flat((args, *options.values()))), options.get("dtype"))
            given = [d for d in dtypes if d in wide]
            if given and "not implemented for 'UInt" in str(e):
                return instead(given[0], *args, **options)
            if any(word in str(e) for word in LACKING):
                raise NotImplementedError(str(e)) from e
            raise

    def instead(to: Any, *args: Any, **options: Any) -> Any:
        large = to == torch.uint64
        turn = large and name in (*COMPARING, *CHOOSING)
        if options.get("dtype") in wide:
            options["dtype"] = torch.int64

        def signed(x: Any) -> Any:
            return _turned(x.to(torch.int64), turn) if getattr(x, "dtype", None) in wide else x

        args, options = _each(args, signed), {k: _each(v, signed) for k, v in options.items()}
        out = (BY_HAND.get(name, function) if large else function)(*args, **options)
        if name in PLACES:
            return out
        return _each(out, lambda x: _turned(x, turn).to(to) if getattr(x, "dtype", None) == torch.int64 else x)

    return call


def as_signed(x: Any, torch: Any) -> Any:
    """The same memory as signed integers, where it holds wide unsigned ones."""
    to = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}.get(getattr(x, "dtype", None))
    return x.view(to) if to else x


def index(x: Any, torch: Any) -> Any:
    """Indices as PyTorch takes them; a mask, and what is no array, as it is."""
    integers = getattr(x, "dtype", torch.bool) != torch.bool and not x.is_floating_point()
    return x.to(torch.int64) if integers else x


def forward(key: Any, shape: Sequence[int], torch: Any) -> tuple[Any, list[int]]:
    """A key whose slices all go forwards, and the axes of what it gives that are to be flipped then."""
    parts = [index(part, torch) for part in (key if isinstance(key, tuple) else (key,))]
    backwards = any(isinstance(part, slice) and (part.step or 1) < 0 for part in parts)
    if not backwards or any(hasattr(part, "ndim") for part in parts):
        return tuple(parts), []
    for at in [i for i, part in enumerate(parts) if part is Ellipsis]:
        parts[at : at + 1] = [slice(None)] * (len(shape) - sum(part is not None for part in parts) + 1)
    axes, axis, source = [], 0, 0
    for i, part in enumerate(parts):
        if isinstance(part, slice) and (part.step or 1) < 0:
            there = range(*part.indices(shape[source]))
            parts[i] = slice(there[-1], there[0] + 1, -part.step) if there else slice(0, 0)
            axes.append(axis)
        source += part is not None
        axis += part is None or isinstance(part, slice)
    return tuple(parts), axes


def _turned(x: Any, turn: bool) -> Any:
    return x ^ LEAST if turn else x


def _flat(x: Any) -> list[Any]:
    return [each for part in x for each in _flat(part)] if isinstance(x, (tuple, list)) else [x]


def _each(x: Any, change: Callable[[Any], Any]) -> Any:
    return type(x)(_each(part, change) for part in x) if type(x) in (tuple, list) else change(x)


def _quotient(x: Any, y: Any, /) -> Any:
    """Of unsigned numbers in signed clothes: half of x is divided, and the remainder says whether one is missing."""
    half = ((x >> 1 & ~LEAST) // y) << 1
    rest = x - half * y
    whole = half + ((rest ^ LEAST) >= (y ^ LEAST))
    return whole.where(y > 0, ((x ^ LEAST) >= (y ^ LEAST)).to(x.dtype))


def _shifted(x: Any, by: Any, /) -> Any:
    """Zeros come in from the left."""
    return (((x >> 1) & ~LEAST) >> (by - 1)).where(by > 0, x)


BY_HAND: dict[str, Callable[..., Any]] = {
    "floor_divide": _quotient,
    "remainder": lambda x, y, /: x - _quotient(x, y) * y,
    "bitwise_right_shift": _shifted,
    "abs": lambda x, /: x,
    "sign": lambda x, /: (x != 0).to(x.dtype),
}
