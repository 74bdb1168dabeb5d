"""Shapes of results, as far as they follow from the shapes of operands and from plain arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.core.operations.operations import Operation
from typelattice.core.operations.shapes import Shape, ShapeError, find_broadcast_shape
from typelattice.programs.calls.steps import Argument, Ref, Slice

SAME_SHAPE_OPERATIONS = (  # operations on one array that leave its shape
    "cholesky", "conj", "empty_like", "eigvals", "fft", "fftn", "fftshift", "flip", "full_like", "ifft",
    "ifftn", "ifftshift", "inv", "matrix_power", "ones_like", "roll", "tril", "triu", "zeros_like",
)  # fmt: skip

GIVE_SHAPE_ADVICE = "give its operand a shape, e.g. float32[3,4]"
# Operations that flatten an array if no axis is given, in most libraries. In others they take the first axis.
FLATTENING_OPERATIONS = ("cumsum", "cumprod", "nancumsum")
UNKNOWN_SHAPE_MESSAGE = f"the shape is not known; {GIVE_SHAPE_ADVICE}"


def normalize_axis(axis: int, ndim: int) -> int:
    """Count an axis of an array of `ndim` axes from the front. Raises ShapeError for a missing axis.

    >>> normalize_axis(1, 3), normalize_axis(-1, 3)
    (1, 2)
    """
    if not -ndim <= axis < ndim:
        raise ShapeError(f"axis {axis} of an array of {ndim} axes")
    return axis % ndim


def result_shape(
    operation: Operation,
    operands: Sequence[Shape | None],
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> Shape | None:
    """Return the shape of an operation's result, or None if unknown. `args` follow the operands."""
    first = operands[0] if operands else None
    match operation.call_form:
        case "elementwise" | "choice":
            return find_broadcast_shape(operands)
        case "reduction" if isinstance(keywords.get("q"), tuple):
            return None  # one result for each of several quantiles
        case "reduction":
            return _reduce_shape(
                first,
                _find_argument(args, keywords, "axis", "dim"),
                _has_keepdims(keywords),
                _find_default_axes(operation),
            )
        case "along" if operation.name == "diff":
            return _shorten_shape(first, keywords)
        case "along":
            has_axis = _find_argument(args, keywords, "axis", "dim") is not None
            is_flat = operation.name in FLATTENING_OPERATIONS and not has_axis
            several_axes = first is not None and len(first) != 1
            return None if keywords.get("include_initial") or (is_flat and several_axes) else first
        case "list":
            return joined_shape(operation.name, operands, _find_argument(args, keywords, "axis", "dim") or 0)
        case "whole":
            return _shape_of_whole_arrays(operation, operands, args, keywords)
        case "pair":
            return find_broadcast_shape(operands)
        case "cases":
            # If all choices are numbers, the conditions decide the shape.
            return find_broadcast_shape(operands) or None
        case "multi-result":
            return _shape_of_part(operation.name, first, keywords.get("axis", args[0] if args else 0))
    return None


def _shape_of_part(name: str, shape: Shape | None, axis: Argument) -> Shape | None:
    """Return the shape of one of several results, if it has fewer axes than their operand."""
    if name in ("histogram", "nonzero") or (name.startswith("unique_") and name != "unique_all"):
        return (None,)
    if shape is None:
        return None
    if name == "unstack" and isinstance(axis, int):
        at = normalize_axis(axis, len(shape))
        return (*shape[:at], *shape[at + 1 :])
    return shape[:-2] if name == "slogdet" and len(shape) > 1 else None


def indexed_shape(
    shape: Shape | None,
    key: Argument,
    index_shapes: Mapping[int, Shape | None],
    tuples_are_lists: bool,
    masks: Sequence[Argument],
) -> Shape | None:
    """Return the shape of `x[key]`, or None if several indices include arrays, lists or unknown numbers.

    `tuples_are_lists`: a tuple among the indices is a list. A single list of numbers keeps the length of its
    axis. `masks` are the indices that are arrays of bools. Each selects the elements at its true values.
    """
    if shape is None:
        return None
    keys = key if isinstance(key, tuple) else (key,)
    keys = tuple([
        0 if isinstance(k, Ref) and index_shapes[k.step] == () and k not in masks else k for k in keys
    ])  # fmt: skip
    arrays = [k for k in keys if isinstance(k, Ref)]
    if arrays:
        found = index_shapes[arrays[0].step]
        if found is None or len(arrays) > 1:
            return None
        if len(keys) == 1:
            return (None, *shape[len(found) :]) if arrays[0] in masks else (*found, *shape[1:])
        if any(type(k) in (int, tuple) for k in keys) or (arrays[0] in masks and len(found) > 1):
            return None
        placed = tuple([() if isinstance(k, Ref) else k for k in keys])
        return _shape_of_indexed_axes(shape, placed, [None] if arrays[0] in masks else found)
    lengths = [_length_of_indices(k) for k in keys if tuples_are_lists and isinstance(k, tuple)]
    if None in lengths or len(lengths) > 1 or (lengths and any(type(k) is int for k in keys)):
        return None
    return _shape_of_indexed_axes(shape, keys, lengths)


def _shape_of_indexed_axes(shape: Shape, keys: Sequence[Argument], lengths: Sequence[int | None]) -> Shape:
    """Return the shape of `x[keys]` without arrays in the keys. `lengths` has the length of a list there."""
    index_count = sum(k is not None and k is not ... for k in keys)
    if index_count > len(shape):
        raise ShapeError(f"{index_count} indices for the {len(shape)} axes of {shape}")
    full = Slice(None, None, None)
    at = keys.index(...) if ... in keys else len(keys)
    keys = (*keys[:at], *(full,) * (len(shape) - index_count), *keys[at + 1 :])
    axes_left, result = iter(shape), list[int | None]()
    for k in keys:
        if k is None:
            result.append(1)
        elif isinstance(k, Slice):
            result.append(_slice_length(next(axes_left), k))
        else:
            next(axes_left)
            result += lengths if isinstance(k, tuple) else ()
    return tuple(result)


def _length_of_indices(items: tuple[Argument, ...]) -> int | None:
    """Return the length of a list of indices, or None if it has bools or other things."""
    return len(items) if all(type(x) is int for x in items) else None


def count_elements(shape: Shape | None) -> int | None:
    """Return the number of elements, or None where it is unknown."""
    if shape is None or None in shape:
        return None
    return math.prod(length for length in shape if length is not None)


def plain_axes(argument: Argument) -> tuple[int, ...] | None:
    """Return axes or lengths, given as one int or several, or None for anything else."""
    if isinstance(argument, int) and not isinstance(argument, bool):
        return (argument,)
    if not isinstance(argument, tuple):
        return None
    axes = tuple(i for i in argument if isinstance(i, int) and not isinstance(i, bool))
    return axes if len(axes) == len(argument) else None


def _find_argument(args: Sequence[Argument], keywords: Mapping[str, Argument], *names: str) -> Argument:
    """Return an argument that is passed first or by one of its names, or None if it is not passed."""
    return args[0] if args else next((keywords[name] for name in names if name in keywords), None)


def _has_keepdims(keywords: Mapping[str, Argument]) -> bool:
    return bool(keywords.get("keepdims", keywords.get("keepdim", False)))


def _find_default_axes(operation: Operation) -> tuple[int, ...] | None:
    """Return the axes that an operation removes by default: the last two for matrices, otherwise all."""
    return (-2, -1) if operation.name in ("matrix_norm", "matrix_rank", "trace") else None


def _reduce_shape(
    shape: Shape | None, axis: Argument, keepdims: bool, default_axes: tuple[int, ...] | None
) -> Shape | None:
    axes = plain_axes(axis) if axis is not None else default_axes
    if axes is None:
        return (
            (() if not keepdims else None if shape is None else (1,) * len(shape)) if axis is None else None
        )
    # Without axes, the system decides whether it accepts arrays of fewer than two dimensions.
    if shape is None or (axis is None and len(shape) < 2):
        return None
    removed_axes = {normalize_axis(a, len(shape)) for a in axes}
    if keepdims:
        return tuple(1 if i in removed_axes else length for i, length in enumerate(shape))
    return tuple(length for i, length in enumerate(shape) if i not in removed_axes)


def _slice_length(length: int | None, index: Slice) -> int | None:
    bounds: list[Any] = [index.start, index.stop, index.step]
    if length is None or any(b is not None and type(b) is not int for b in bounds):
        return length if bounds == [None, None, None] else None
    return len(range(length)[slice(*bounds)])


def _shape_of_whole_arrays(
    operation: Operation,
    operands: Sequence[Shape | None],
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
) -> Shape | None:
    """Return the shape of an operation on whole arrays, if it is a common one."""
    shape = operands[0]
    if operation.name in ("reshape", "broadcast_to"):
        lengths = plain_axes(_find_argument(args, keywords, "shape"))
        if lengths is None:
            return None
        return (_reshape if operation.name == "reshape" else _broadcast_shape)(shape, lengths)
    if shape is None or (len(operands) > 1 and operands[1] is None):
        return None
    if operation.name in SAME_SHAPE_OPERATIONS:
        return shape
    rule = SHAPE_RULE_BY_WHOLE_ARRAY_FUNCTION.get(operation.name)
    other = operands[1] if len(operands) > 1 else None
    axes = plain_axes(_find_argument(args, keywords, "axis", "axes", "dim"))
    return None if rule is None else rule(_WholeArrays(shape, other or (), args, keywords, axes))


@dataclass(frozen=True, slots=True)
class _WholeArrays:
    """The shapes and the arguments of an operation on one array or two as wholes."""

    shape: Shape
    other: Shape
    args: Sequence[Argument]
    keywords: Mapping[str, Argument]
    axes: tuple[int, ...] | None


def _permute_shape(arrays: _WholeArrays) -> Shape | None:
    if not arrays.axes or len(arrays.axes) != len(arrays.shape):
        return None
    return tuple(arrays.shape[normalize_axis(a, len(arrays.shape))] for a in arrays.axes)


def _squeeze_shape(arrays: _WholeArrays) -> Shape | None:
    if not arrays.axes:
        return None
    removed_axes = {normalize_axis(a, len(arrays.shape)) for a in arrays.axes}
    if any(arrays.shape[i] not in (None, 1) for i in removed_axes):
        return None  # an error in most libraries, and the array itself in PyTorch
    return tuple(length for i, length in enumerate(arrays.shape) if i not in removed_axes)


def _shape_of_diagonal(arrays: _WholeArrays) -> Shape | None:
    if len(arrays.shape) < 2 or arrays.args or arrays.keywords:
        return None
    side = None if None in arrays.shape[-2:] else min(n for n in arrays.shape[-2:] if n is not None)
    return (*arrays.shape[:-2], side)


def _shape_of_diag(arrays: _WholeArrays) -> Shape | None:
    if arrays.args or arrays.keywords:
        return None
    return (arrays.shape[0], arrays.shape[0]) if len(arrays.shape) == 1 else _shape_of_diagonal(arrays)


def _shape_of_vecdot(arrays: _WholeArrays) -> Shape | None:
    whole = (
        find_broadcast_shape([arrays.shape, arrays.other])
        if not arrays.keywords and arrays.shape and arrays.other
        else None
    )
    return None if whole is None else whole[:-1]


def _repeat_shape(arrays: _WholeArrays) -> Shape | None:
    if arrays.keywords or len(arrays.args) != 1 or not isinstance(arrays.args[0], int):
        return None
    count = count_elements(arrays.shape)
    return (None if count is None else count * arrays.args[0],)


def _expand_shape(arrays: _WholeArrays) -> Shape | None:
    axes = arrays.axes or (0,)
    return joined_shape("stack", [arrays.shape], axes[0]) if len(axes) == 1 else None


SHAPE_RULE_BY_WHOLE_ARRAY_FUNCTION: Mapping[str, Callable[[_WholeArrays], Shape | None]] = {
    "cross": lambda x: find_broadcast_shape([x.shape, x.other]),
    "dot": lambda x: _shape_of_dot(x.shape, x.other),
    "inner": lambda x: (*x.shape[:-1], *x.other[:-1]) if x.shape and x.other else None,
    "vdot": lambda x: (),
    "det": lambda x: x.shape[:-2] if len(x.shape) > 1 else None,
    "diag": _shape_of_diag,
    "diagonal": _shape_of_diagonal,
    "expand_dims": _expand_shape,
    "isin": lambda x: x.shape,
    "matmul": lambda x: _shape_of_matmul(x.shape, x.other),
    "matrix_transpose": lambda x: (*x.shape[:-2], x.shape[-1], x.shape[-2]) if len(x.shape) > 1 else None,
    "outer": lambda x: (count_elements(x.shape), count_elements(x.other)),
    "permute_dims": _permute_shape,
    "repeat": _repeat_shape,
    "searchsorted": lambda x: x.other,
    "squeeze": _squeeze_shape,
    "swapaxes": lambda x: _swap_axes(x.shape, *x.args) if len(x.args) == 2 else None,
    "tensordot": lambda x: _contract_shapes(
        x.shape, x.other, _find_argument(x.args, x.keywords, "axes", "axis")
    ),
    "tile": lambda x: _tile_shape(
        x.shape, plain_axes(_find_argument(x.args, x.keywords, "repetitions", "axis"))
    ),
    "vecdot": _shape_of_vecdot,
}


def _shorten_shape(shape: Shape | None, keywords: Mapping[str, Argument]) -> Shape | None:
    """Return the shape of `diff`: each difference makes the axis one shorter."""
    axis, n = keywords.get("axis", -1), keywords.get("n", 1)
    if not shape or not isinstance(axis, int) or not isinstance(n, int) or len({*keywords} - {"axis", "n"}):
        return None
    at = normalize_axis(axis, len(shape))
    return tuple(max(k - n, 0) if i == at and k is not None else k for i, k in enumerate(shape))


def _swap_axes(shape: Shape, first_axis: Argument, second_axis: Argument) -> Shape | None:
    if not isinstance(first_axis, int) or not isinstance(second_axis, int):
        return None
    lengths, i, j = (
        list(shape),
        normalize_axis(first_axis, len(shape)),
        normalize_axis(second_axis, len(shape)),
    )
    lengths[i], lengths[j] = lengths[j], lengths[i]
    return tuple(lengths)


def _contract_shapes(a: Shape, b: Shape, axes: Argument) -> Shape | None:
    """Return the shape of a product summed over some axes: the last ones of x, the first ones of y."""
    count = 2 if axes is None else axes
    if not isinstance(count, int) or not 0 <= count <= min(len(a), len(b)):
        return None
    return (*a[: len(a) - count], *b[count:])


def _tile_shape(shape: Shape, times: tuple[int, ...] | None) -> Shape | None:
    if times is None:
        return None
    ndim = max(len(shape), len(times))
    lengths, repeats = (1,) * (ndim - len(shape)) + shape, (1,) * (ndim - len(times)) + times
    return tuple(None if n is None else n * k for n, k in zip(lengths, repeats, strict=True))


def _reshape(shape: Shape | None, lengths: tuple[int, ...]) -> Shape:
    """Return the shape of a reshaped array. An open length, -1, follows from the number of elements."""
    count, rest = count_elements(shape), math.prod(length for length in lengths if length != -1)
    if count is None or not (rest or count):
        return tuple(None if length == -1 else length for length in lengths)
    if (count % rest if -1 in lengths and rest else count != rest):
        raise ShapeError(f"{count} elements cannot be reshaped to {lengths}")
    return tuple(count // rest if length == -1 else length for length in lengths)


def _broadcast_shape(shape: Shape | None, lengths: tuple[int, ...]) -> Shape:
    """Return the shape of an array that is broadcast. PyTorch's -1 keeps the length of an axis."""
    open_axes = [None if length == -1 else length for length in lengths]
    if shape is None:
        return tuple(open_axes)
    kept = (1,) * (len(lengths) - len(shape)) + shape
    fits = len(kept) == len(lengths) and all(
        a in (None, 1, b) or b is None for a, b in zip(kept, open_axes, strict=True)
    )
    if not fits:
        raise ShapeError(f"shape {shape} does not go together with {lengths}; each axis has one length, or 1")
    return tuple(a if b is None else b for a, b in zip(kept, open_axes, strict=True))


def _shape_of_matmul(a: Shape, b: Shape) -> Shape | None:
    if not a or not b:
        return None  # the system decides whether it accepts 0-d arrays
    if None not in (a[-1], b[-2:][0]) and a[-1] != b[-2:][0]:
        raise ShapeError(f"matmul of shapes {a} and {b}")
    batch = find_broadcast_shape([a[:-2], b[:-2]])
    return None if batch is None else (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _shape_of_dot(a: Shape, b: Shape) -> Shape | None:
    """Return the shape of NumPy's and PyTorch's `dot`, which is `matmul` of at most two axes."""
    return _shape_of_matmul(a, b) if len(a) <= 2 and len(b) <= 2 else None


# How an array of too few axes changes before it is joined. Source: https://numpy.org/doc/stable/reference,
# under the name of each function.
MIN_SHAPE_BY_STACKING_FUNCTION: Mapping[str, Callable[[Shape], Shape]] = {
    "hstack": lambda shape: shape or (1,),
    "vstack": lambda shape: (*(1,) * (2 - len(shape)), *shape),
    "dstack": lambda shape: shape if len(shape) > 2 else (*(1,) * (2 - len(shape)), *shape, 1),
    "column_stack": lambda shape: shape if len(shape) > 1 else (*(shape or (1,)), 1),
}
AXIS_BY_STACKING_FUNCTION = {
    "vstack": 0,
    "dstack": 2,
    "column_stack": 1,
}  # the axis of each. hstack joins at axis 1, or at axis 0 for vectors


def _check_other_axes(name: str, shapes: Sequence[Shape], joined_axis: int | None) -> None:
    """Raise ShapeError for arrays that differ in an axis along which they are not joined."""
    first, *others = shapes
    for shape in others:
        pairs = [pair for i, pair in enumerate(zip(first, shape, strict=False)) if i != joined_axis]
        if len(shape) != len(first) or any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise ShapeError(f"{name} of arrays of shapes {first} and {shape}")


def joined_shape(name: str, operands: Sequence[Shape | None], axis: Argument) -> Shape | None:
    """Return the shape of arrays that an operation joins, or None if it is unknown.

    Raises ShapeError if the arrays have different numbers of axes.

    >>> joined_shape("stack", [(3,), (3,)], 0), joined_shape("concat", [(3,), (4,)], 0)
    ((2, 3), (7,))
    >>> joined_shape("vstack", [(3,), (2, 3)], 0), joined_shape("hstack", [(), (2,)], 0)
    ((3, 3), (3,))
    """
    known = [shape for shape in operands if shape is not None]
    if len(known) < len(operands) or not known or not isinstance(axis, int):
        return None
    if name in MIN_SHAPE_BY_STACKING_FUNCTION:
        known = [MIN_SHAPE_BY_STACKING_FUNCTION[name](shape) for shape in known]
        axis = AXIS_BY_STACKING_FUNCTION.get(name, min(len(known[0]) - 1, 1))
    first = known[0]
    if name == "stack":
        at = normalize_axis(axis, len(first) + 1)
        _check_other_axes(name, known, None)
        return (*first[:at], len(known), *first[at:])
    if not any(known):
        return (len(known),)  # a list of numbers has one axis
    if (0,) in known and any(len(shape) != 1 for shape in known):
        return None  # PyTorch leaves an empty vector out
    if any(len(shape) != len(first) for shape in known):
        raise ShapeError(f"{name} of arrays of {len(first)} and of other numbers of axes")
    at = normalize_axis(axis, len(first))
    _check_other_axes(name, known, at)
    lengths = [shape[at] for shape in known]
    total = None if None in lengths else sum(length for length in lengths if length is not None)
    return (*first[:at], total, *first[at + 1 :])
