"""Functions that make arrays, cast them, or take Python numbers out of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.engine.new_arrays import find_deciding_number
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand, scalar_operand
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import find_operation
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.function_call import FunctionCall, requested_dtype
from typelattice.programs.calls.multiple_results import STANDS_FOR_KEYWORD, MultipleResults
from typelattice.programs.calls.program_builder import RESULT_KEYWORD, ProgramBuilder
from typelattice.programs.calls.program_inputs import read_input
from typelattice.programs.calls.result_shapes import UNKNOWN_SHAPE_MESSAGE, plain_axes, result_shape
from typelattice.programs.calls.steps import Argument, DTypeArgument, DTypeOf, Excerpt, Ref

KEPT_LINSPACE_ARGUMENTS = ("endpoint", "retstep", "axis")  # arguments that a step of linspace keeps
PYTHON_TYPE_BY_NAME = {"float": float, "int": int, "complex": complex, "bool": bool}


CallHandler = Callable[[FunctionCall], Argument]


def add_cast_to(builder: ProgramBuilder, excerpt: Excerpt, argument: Argument, to: DTypeArgument) -> Ref:
    """Add the explicit cast of an array, of a Python number, or of a list of numbers."""
    return (
        builder.add_array_of_list(excerpt, argument, to)
        if isinstance(argument, tuple)
        else builder.add_cast(excerpt, argument, to)
    )


def add_bitcast(builder: ProgramBuilder, excerpt: Excerpt, array: Ref, requested: Argument) -> Ref:
    """Add the step that reads an array's bits as another dtype. Its dtype is the same under every system."""
    if builder.find_observed_operand:
        raise excerpt.error("its bits are taken for those of another dtype")
    to = requested_dtype(excerpt, requested)
    if to == DTypeOf(array.step):
        return array
    d = None if to is None else builder.dtype_of(to)
    if d is None:
        raise excerpt.error("the dtype that the bits are taken for is not known; name one, e.g. int32")
    own, shape = builder.dtype_of(array), builder.shape_of(array)
    length, own_bits = shape[-1] if shape else None, own.storage_bits if own else None
    if length is not None and own_bits and d.storage_bits and length * own_bits % d.storage_bits:
        why = f"the bits of {length} elements of {own} are no whole number of elements of {d}"
        return builder.add_refused(excerpt, "view", why, [array.step])
    alike = shape == () or (own is not None and own.storage_bits == d.storage_bits)
    return builder.add_opaque(excerpt, "view", str(d), (array.step,), shape if alike else None)


def _add_bitcast(call: FunctionCall) -> Argument:
    x = call.keywords.get("x")
    if not isinstance(x, Ref):
        why = "it takes the bits of an array for another dtype; give an array and a dtype"
        raise call.excerpt.error(why)
    return add_bitcast(call.builder, call.excerpt, x, call.keywords.get("dtype"))


def _add_astype(call: FunctionCall) -> Argument:
    x, to = call.keywords.get("x"), call.dtype
    if x is None or to is None:
        raise call.excerpt.error("a cast needs an array and a dtype; write astype(x, float32)")
    return call.builder.add_cast(call.excerpt, x, to)


def _make_array(call: FunctionCall) -> Argument:
    """Make an array of a Python number or of a list of them, or return an array unchanged."""
    x, to = call.keywords.get("x"), call.dtype
    if x is None:
        raise call.excerpt.error("an array of nothing; give a number, a list or an array")
    if isinstance(x, tuple):
        return call.builder.add_array_of_list(call.excerpt, x, to)
    if isinstance(x, Ref) and not call.builder.is_scalar(x):
        foreign = call.excerpt.owner and call.builder.steps[x.step].owner not in (None, call.excerpt.owner)
        if to is None and foreign:
            return call.builder.add_cast(call.excerpt, x, DTypeOf(x.step), is_conversion=True)
        return x if to is None else call.builder.add_cast(call.excerpt, x, to)
    return call.builder.add_array_of_number(call.excerpt, x, to)


def _shape_maker(name: str) -> CallHandler:
    """Return the function that makes an array of a shape (zeros, ones, empty).

    The array has the default float dtype unless another dtype is requested.
    """

    def make(call: FunctionCall) -> Argument:
        lengths = call.keywords.get("shape")
        if name == "eye":
            rows, columns = call.keywords.get("n_rows"), call.keywords.get("n_cols")
            lengths = rows if isinstance(rows, tuple) else (rows, rows if columns is None else columns)
        shape = _read_lengths(call, lengths)
        if name == "eye" and shape is not None and len(shape) != 2:
            raise call.excerpt.error("eye takes a shape of two lengths; give those")
        lengths = shape if shape is None or None not in shape else lengths
        taken = lengths if name == "eye" and isinstance(lengths, tuple) else (lengths,)
        to = call.dtype
        return call.builder.add_created_array(
            call.excerpt, name, taken or (), {}, scalar_operand(Kind.FLOAT), to, shape
        )

    return make


def _read_lengths(call: FunctionCall, lengths: Argument) -> Shape | None:
    """Return a shape that a call gives. A length that is no known number is unknown.

    Raises ProgramError for what is no shape, unless the program is that of a run.
    """
    found: Shape | None = plain_axes(lengths)
    if found is None:
        parts = lengths if isinstance(lengths, tuple) else (lengths,)
        if all(_may_be_length(call, x) for x in parts):
            found = _read_unknown_lengths(call, parts)
            if found is None:
                return None
    if found is not None and all(n is None or n >= 0 for n in found):
        return found
    if call.builder.find_observed_operand:
        return None
    raise call.excerpt.error("it takes a shape, such as (2, 3); give that")


def _may_be_length(call: FunctionCall, x: Argument) -> bool:
    """Return True for a known length, and for an array unless its dtype is known and no integer."""
    if not isinstance(x, Ref):
        return plain_axes(x) is not None
    dtype = call.builder.dtype_of(x)
    return dtype is None or dtype.kind in (Kind.SIGNED, Kind.UNSIGNED)


def _read_unknown_lengths(call: FunctionCall, parts: Sequence[Argument]) -> Shape | None:
    """Return a shape of which arrays give some lengths. One array of an axis has them all."""
    shapes = [call.builder.shape_of(x) for x in parts if isinstance(x, Ref)]
    if all(shape == () for shape in shapes):
        return tuple(x if isinstance(x, int) else None for x in parts)
    if len(parts) == 1 and shapes[0] is not None and len(shapes[0]) == 1 and shapes[0][0] is not None:
        return (None,) * shapes[0][0]
    return None


def _make_full(call: FunctionCall) -> Argument:
    fill_value, lengths = call.keywords.get("fill_value"), call.keywords.get("shape")
    if fill_value is None:
        raise call.excerpt.error("full takes a shape and a value; write full((2, 3), 1.5)")
    shape = _read_lengths(call, lengths)
    lengths = shape if shape is None or None not in shape else lengths
    ref, to = call.ensure_ref(fill_value), call.dtype
    return call.builder.add_created_array(call.excerpt, "full", (lengths, ref), {}, ref.step, to, shape)


def _make_arange(call: FunctionCall) -> Argument:
    """Add an array of evenly spaced numbers, of the kind of the bounds."""
    bounds = _read_bounds(call, "arange", ("start", "stop", "step"))
    whole = [x for x in bounds if isinstance(x, int)]
    known = whole and len(whole) == len(bounds) and 0 not in whole[2:]
    length = None
    if known:
        numbers = range(*whole)  # a range may have too many numbers for `len`
        length = max(0, -((numbers.start - numbers.stop) // numbers.step))
    return _make_spaced(call, "arange", bounds, {}, length)


def _make_linspace(call: FunctionCall) -> Argument:
    """Add an array of evenly spaced floats."""
    bounds = _read_bounds(call, "linspace", ("start", "stop"))
    number = call.keywords.get("num", 50)
    length = number if isinstance(number, int) else None
    more = {key: call.keywords[key] for key in KEPT_LINSPACE_ARGUMENTS if key in call.keywords}
    return _make_spaced(call, "linspace", bounds, more, length)


def _read_bounds(call: FunctionCall, name: str, keys: Sequence[str]) -> list[Argument]:
    """Read the bounds: numbers, or arrays that hold one. Raises ProgramError for others, except in a run."""
    found = [
        call.builder.known_number(call.keywords[key]) for key in keys if call.keywords.get(key) is not None
    ]
    are_numbers = found and all(isinstance(x, (bool, int, float, complex, Ref)) for x in found)
    if not are_numbers and not call.builder.find_observed_operand:
        raise call.excerpt.error(f"{name} takes numbers; give them")
    return found


def _make_spaced(
    call: FunctionCall,
    name: str,
    numbers: Sequence[Argument],
    more: Mapping[str, Argument],
    length: int | None,
) -> Argument:
    to = call.dtype
    bounds = [x for x in numbers if isinstance(x, (bool, int, float, complex))]
    if to is None and len(bounds) < len(numbers):
        made = call.ensure_ref(call.add_operation(name, numbers))
        call.builder.replace_shape(made, (length,))
        return made
    least = scalar_operand(Kind.FLOAT if name == "linspace" else Kind.SIGNED)
    like = find_deciding_number([least, *map(operand, bounds)])
    step_arguments = (
        [*bounds, call.keywords["num"]] if name == "linspace" and "num" in call.keywords else bounds
    )
    return call.builder.add_created_array(call.excerpt, name, step_arguments, more, like, to, (length,))


def _python_number_maker(name: str) -> CallHandler:
    """Return the maker of a Python number from a value in an array or from another Python number."""

    def make(call: FunctionCall) -> Argument:
        parts = [call.builder.known_number(x) for x in call.keywords.values()]
        real = [x for x in parts if isinstance(x, (bool, int, float))]
        if name == "complex" and len(real) == len(parts) == 2:
            return complex(*real)
        if len(parts) != 1:
            raise call.excerpt.error(f"{name} takes one number; give it")
        x = parts[0]
        if isinstance(x, (bool, int, float, complex)) or (isinstance(x, str) and name != "bool"):
            convert: Callable[[Any], PythonNumber] = PYTHON_TYPE_BY_NAME[name]
            try:
                return convert(x)
            except (TypeError, ValueError, OverflowError) as e:
                raise call.excerpt.error(f"Python refuses it: {e}; give another number") from None
        if not isinstance(x, Ref):
            raise call.excerpt.error(f"{name} takes a number or an array of one element; give that")
        unknown = Operand(None, KIND_BY_PYTHON_TYPE[PYTHON_TYPE_BY_NAME[name]], True, "scalar")
        known = scalar_operand(Kind.BOOL) if name == "bool" else unknown
        return call.builder.add_opaque(call.excerpt, name, known, (x.step,), ())

    return make


def _make_dtype(call: FunctionCall) -> Argument:
    """Return a dtype for a call of the dtype's function, such as `np.dtype("f4")`."""
    to = call.dtype
    if to is None:
        raise call.excerpt.error("it makes a dtype of one name; give one such as float32")
    return to


def _add_flatten(call: FunctionCall) -> Argument:
    return call.add_operation("reshape", [call.keywords.get("x")], ((-1,),))


def _add_opaque(call: FunctionCall) -> Argument:
    """Add a step without a rule, written in a program as `opaque("float32[3]", x)`."""
    given, inputs = call.keywords.get("given"), call.keywords.get("inputs", ())
    if not isinstance(given, str):
        raise call.excerpt.error("opaque needs to be told what it gives; write opaque('float32', x)")
    what, shape = read_input(given)
    made_of = [call.ensure_ref(x).step for x in (inputs if isinstance(inputs, tuple) else (inputs,))]
    return call.builder.add_opaque(call.excerpt, "opaque", what, made_of, shape)


CREATION_HANDLERS: Mapping[str, CallHandler] = {
    "opaque": _add_opaque,
    "astype": _add_astype,
    "bitcast": _add_bitcast,
    "dtype": _make_dtype,
    "asarray": _make_array,
    "full": _make_full,
    "flatten": _add_flatten,
    **{name: _shape_maker(name) for name in ("zeros", "ones", "empty", "rand", "randn", "eye")},
    "arange": _make_arange,
    "linspace": _make_linspace,
    **{name: _python_number_maker(name) for name in PYTHON_TYPE_BY_NAME},
}


def _read_whole_numbers(call: FunctionCall, args: Sequence[Argument]) -> tuple[int, ...] | None:
    """Read whole numbers, given one by one, as a tuple, or by name. Return None for anything else."""
    plain = [call.builder.known_number(x) for x in (*args, *call.keywords.values())]
    return plain_axes(plain[0] if len(plain) == 1 else tuple(plain))


def _add_transpose(call: FunctionCall) -> Argument:
    """Add a transpose: all axes reversed, in the given order, or in PyTorch two of them swapped."""
    x, axis_arguments = call.ensure_ref(call.args[0]), [each for each in call.args[1:] if each is not None]
    shape = call.builder.shape_of(x)
    axes = _read_whole_numbers(call, axis_arguments) if axis_arguments or call.keywords else None
    if axes is None and (axis_arguments or call.keywords):
        raise call.excerpt.error("the axes are not known; give numbers")
    if axes is None:
        if shape is None or len(shape) == 2:
            return call.add_operation("matrix_transpose", [x])
        axes = tuple(reversed(range(len(shape))))
    swaps_two_axes = len(axis_arguments) == 2 or {*call.keywords} == {"dim0", "dim1"}
    library = call.builder.find_owner(call.excerpt, (x.step,))
    known = library and shape is not None and len(shape) == 2
    in_order = known and name_meaning(NameSort.SWAPS_TWO_AXES, "transpose", library) is None
    if swaps_two_axes and not in_order:
        return call.add_operation("swapaxes", [x], axes)
    return call.add_operation("permute_dims", [x], [axes])


def _add_t(call: FunctionCall) -> Argument:
    """Add the transpose of a matrix. An array of one axis stays unchanged."""
    x = call.ensure_ref(call.args[0])
    shape = call.builder.shape_of(x)
    if shape is not None and len(shape) < 2:
        return x
    return call.add_operation("matrix_transpose", [x])


def _add_expand(call: FunctionCall) -> Argument:
    """Add a view of more elements. A length of -1 keeps the length of the axis."""
    x = call.ensure_ref(call.args[0])
    shape, lengths = call.builder.shape_of(x), _read_whole_numbers(call, call.args[1:])
    if lengths is None:
        raise call.excerpt.error("the lengths are not known; give numbers")
    own = (None,) * (len(lengths) - len(shape or ())) + (shape or ())
    found = tuple(at if n == -1 else n for n, at in zip(lengths, own, strict=False))
    if None in found:
        raise call.excerpt.error(UNKNOWN_SHAPE_MESSAGE)
    return call.add_operation("broadcast_to", [x], [found])


def _add_masked_fill(call: FunctionCall) -> Argument:
    """Add the step that writes a value where a mask is true. The array keeps its dtype."""
    taken = [*call.args, *call.keywords.values()]
    if len(taken) != 3 or not isinstance(taken[1], Ref):
        raise call.excerpt.error("it takes an array, a mask and a value; give those")
    x, mask, value = call.ensure_ref(taken[0]), *taken[1:]
    return call.builder.add_setitem(
        call.excerpt, x, mask, convert_fill_value(call.builder, call.excerpt, x, value)
    )


def convert_fill_value(builder: ProgramBuilder, excerpt: Excerpt, array: Ref, value: Argument) -> Argument:
    """Return the value that fills an array: a Python number is first cast to its dtype, if it fits."""
    if not isinstance(builder.known_number(value), (int, float, complex)):
        return value
    ref = builder.ensure_ref(excerpt, value)
    return builder.add_created_array(excerpt, "full", ((), ref), {}, ref.step, DTypeOf(array.step), ())


def _add_diag(call: FunctionCall) -> Any:
    """Add `diag`: the diagonal of a matrix, or the operation of that name."""
    shape = call.builder.shape_of(call.args[0])
    if shape is None or len(shape) != 2 or len(call.args) > 1 or call.keywords:
        return NotImplemented
    return call.add_operation("diagonal", call.args)


def _add_where(call: FunctionCall) -> Any:
    """Add `where`. With only a condition it gives the positions of the true elements."""
    if len(call.args) > 1 or call.keywords:
        return NotImplemented
    x = call.ensure_ref(call.args[0])
    shape = call.builder.shape_of(x)

    def make_result(i: int) -> Ref:
        return call.add_operation("nonzero", [x], (), {RESULT_KEYWORD: i})

    return MultipleResults("where", None if shape is None else len(shape), (), make_result, {})


def _add_quotient(call: FunctionCall) -> Argument:
    """Add a quotient, which may be rounded down or towards zero. Both have the same dtype."""
    mode = call.keywords.get("rounding_mode")
    if {*call.keywords} - {"rounding_mode"} or len(call.args) != 2 or mode not in (None, "floor", "trunc"):
        raise call.excerpt.error("div takes two arrays and a rounding_mode, 'floor' or 'trunc'; give those")
    if mode == "trunc":
        return call.add_operation("floor_divide", call.args, (), {STANDS_FOR_KEYWORD: "div"})
    return call.add_operation("floor_divide" if mode else "divide", call.args)


def _extreme_maker(name: str) -> Callable[[FunctionCall], Any]:
    """Add PyTorch's `max` or `min`. With two arrays these are `maximum` and `minimum`."""

    def make(call: FunctionCall) -> Any:
        if (
            len(call.args) != 2
            or call.keywords
            or not isinstance(call.builder.known_number(call.args[1]), Ref)
        ):
            return NotImplemented
        return call.add_operation(name, call.args)

    return make


def _add_einsum(call: FunctionCall) -> Any:
    """Add PyTorch's `einsum("ij,jk->k", x, y)`: sum an index that only one array has, then multiply.

    A matrix product takes one dtype. The sum of an int8 is int64, so it cannot be a factor beside an int8.
    """
    text, *arrays = call.args
    if call.keywords or not isinstance(text, str) or not all(isinstance(x, Ref) for x in arrays):
        return NotImplemented
    indices, arrow, kept = text.replace(" ", "").replace(".", "").partition("->")
    kept = kept if arrow else "".join(i for i in indices if indices.count(i) == 1)
    operand_indices = indices.split(",")
    if len(operand_indices) != len(arrays) or len(operand_indices) > 2:
        return NotImplemented
    elsewhere = [
        kept + "".join(operand_indices[:i] + operand_indices[i + 1 :]) for i in range(len(operand_indices))
    ]
    summed = [not {*a} <= {*b} for a, b in zip(operand_indices, elsewhere, strict=True)]
    is_product = len(operand_indices) == 2 and not {*operand_indices[0]} & {*operand_indices[1]} <= {*kept}
    if not any(summed) and (is_product or len(operand_indices) == 1):
        return NotImplemented
    shapes = [call.builder.shape_of(x) for x in arrays]
    shape = result_shape(find_operation("einsum"), shapes, (text,), {})
    taken = [
        call.add_operation("sum" if lone else "reshape", [x], () if lone else ((-1,),))
        for x, lone in zip(arrays, summed, strict=True)
    ]
    for ref in taken:
        call.builder.mark_same_dtype_as(ref, (STANDS_FOR_KEYWORD, "einsum"))
    result = taken[0]
    if len(operand_indices) == 2:
        result = call.add_operation("inner" if is_product else "multiply", taken)
    call.builder.mark_same_dtype_as(result, (STANDS_FOR_KEYWORD, "einsum"), shape)
    return result


def _add_dask_norm(call: FunctionCall) -> Any:
    """Add Dask's norm of order 1, 0 or infinity: a sum, a count of elements, or an extreme."""
    order = call.keywords.get("ord", call.args[1] if len(call.args) > 1 else None)
    if order not in (0, 1, math.inf, -math.inf) or not isinstance(call.args[0], Ref):
        return NotImplemented
    axis = call.keywords.get("axis", call.args[2] if len(call.args) > 2 else None)
    is_matrix = axis is None and len(call.builder.shape_of(call.args[0]) or ()) == 2
    extreme = "sum" if is_matrix or order == 1 else "max" if order == math.inf else "min"
    name = "count_nonzero" if order == 0 else extreme
    absolute = call.add_operation("absolute", call.args[:1])
    return call.add_operation(name, [absolute], (axis,), {STANDS_FOR_KEYWORD: "norm"})


def _scaled_maker(name: str) -> Callable[[FunctionCall], Any]:
    """Return the maker of PyTorch's `add(x, y, alpha=2)`. Only a float alpha affects dtypes."""

    def make(call: FunctionCall) -> Any:
        alpha = call.keywords.get("alpha")
        named = [x for key, x in call.keywords.items() if key != "alpha"]
        x, y = [*call.args, *named, None, None][:2]
        if alpha is None or y is None:
            return NotImplemented
        made = call.add_operation(name, [x, y], (), {STANDS_FOR_KEYWORD: name})
        if not isinstance(alpha, float):
            return made
        return call.add_operation("multiply", [made, alpha], (), {STANDS_FOR_KEYWORD: name})

    return make


COMPOSITION_HANDLERS: Mapping[str, Callable[[FunctionCall], Any]] = {
    "where": _add_where,
    "div": _add_quotient,
    "einsum": _add_einsum,
    "norm": _add_dask_norm,
    "add": _scaled_maker("add"),
    "sub": _scaled_maker("subtract"),
    "max": _extreme_maker("maximum"),
    "min": _extreme_maker("minimum"),
    "transpose": _add_transpose,
    "t": _add_t,
    "expand": _add_expand,
    "masked_fill": _add_masked_fill,
    "diag": _add_diag,
}
