"""Functions that make arrays, cast them, or take Python numbers out of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.calls.call_signatures import meaning
from typelattice.calls.multiple_results import STANDS_FOR, MultipleResults
from typelattice.calls.program_builder import RESULT, ProgramBuilder, number_like
from typelattice.calls.program_inputs import read_input
from typelattice.calls.shapes import NO_SHAPE, plain_axes, result_shape
from typelattice.calls.step import AnyDType, Argument, DTypeOf, Excerpt, NamedDType, Ref
from typelattice.facts.dtypes import Kind
from typelattice.facts.operations import operation
from typelattice.facts.range_checks import Value
from typelattice.facts.suggestions import short
from typelattice.operands.objects import operand
from typelattice.operands.operand import SCALARS, Operand, scalar

LINSPACE = ("endpoint", "retstep", "axis")  # arguments that its step keeps
PYTHONS = {"float": float, "int": int, "complex": complex, "bool": bool}
Values = Mapping[str, Argument]  # the arguments of a maker, by the names in its row of signatures.txt
CallHandler = Callable[[ProgramBuilder, Excerpt, Values], Argument]


def asked_dtype(excerpt: Excerpt, x: Argument) -> AnyDType | None:
    """A dtype that is asked for; None if none is. Raises ProgramError for anything else."""
    if x is None or isinstance(x, (NamedDType, DTypeOf)):
        return x
    if isinstance(x, str):
        return NamedDType(meaning("code", x, excerpt.owner) or x)
    if isinstance(x, Ref):
        return DTypeOf(x.step)  # result_type gives a dtype
    raise excerpt.refuse(f"{short(str(x))} is no dtype; give one such as float32")


def cast_to(builder: ProgramBuilder, excerpt: Excerpt, x: Argument, to: AnyDType) -> Ref:
    """An explicit cast of an array, of a Python number, or of a list of them."""
    return builder.array_of(excerpt, x, to) if isinstance(x, tuple) else builder.cast(excerpt, x, to)


def bits_of(builder: ProgramBuilder, excerpt: Excerpt, x: Ref, asked: Argument) -> Ref:
    """The bits of an array as those of another dtype: no rule of a system has a say."""
    if builder.observed:
        raise excerpt.refuse("its bits are taken for those of another dtype")
    to = asked_dtype(excerpt, asked)
    if to == DTypeOf(x.step):
        return x
    d = None if to is None else builder.dtype(to)
    if d is None:
        raise excerpt.refuse("the dtype that the bits are taken for is not known; name one, e.g. int32")
    own, shape = builder.dtype(x), builder.shape(x)
    alike = shape == () or (own is not None and own.storage_bits == d.storage_bits)
    return builder.opaque(excerpt, "view", str(d), (x.step,), shape if alike else None)


def _add_bitcast(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    x = values.get("x")
    if not isinstance(x, Ref):
        raise excerpt.refuse("it takes the bits of an array for another dtype; give an array and a dtype")
    return bits_of(builder, excerpt, x, values.get("dtype"))


def _add_astype(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    x, to = values.get("x"), asked_dtype(excerpt, values.get("dtype"))
    if x is None or to is None:
        raise excerpt.refuse("a cast needs an array and a dtype; write astype(x, float32)")
    return builder.cast(excerpt, x, to)


def _make_array(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    """An array of what holds numbers: an array is itself, a Python number or a list of them is made one."""
    x, to = values.get("x"), asked_dtype(excerpt, values.get("dtype"))
    if x is None:
        raise excerpt.refuse("an array of nothing; give a number, a list or an array")
    if isinstance(x, tuple):
        return builder.array_of(excerpt, x, to)
    if isinstance(x, Ref) and not builder.is_scalar(x):
        foreign = excerpt.owner and builder.steps[x.step].owner not in (None, excerpt.owner)
        to = DTypeOf(x.step) if to is None and foreign else to
        return x if to is None else builder.cast(excerpt, x, to)
    return builder.array_of_number(excerpt, x, to)


def _make_from_shape(name: str) -> CallHandler:
    """Return the maker of an array from a shape alone (zeros, ones, empty).

    The array has the default float dtype unless another is asked for.
    """

    def make(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
        lengths = values.get("shape")
        if name == "eye":
            rows, columns = values.get("n_rows"), values.get("n_cols")
            lengths = rows if isinstance(rows, tuple) else (rows, rows if columns is None else columns)
        shape = plain_axes(lengths)
        if shape is None or any(n < 0 for n in shape) or (name == "eye" and len(shape) != 2):
            if not builder.observed:
                raise excerpt.refuse(f"the shape of {name} is not known; give numbers")
            shape = None
        taken = shape if name == "eye" else (shape,)
        to = asked_dtype(excerpt, values.get("dtype"))
        return builder.create_array(excerpt, name, taken or (), {}, scalar(Kind.FLOAT), to, shape)

    return make


def _make_full(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    filled, shape = values.get("fill_value"), plain_axes(values.get("shape"))
    if filled is None or (not builder.observed and (shape is None or any(n < 0 for n in shape))):
        raise excerpt.refuse("full takes a shape of known lengths and a value; write full((2, 3), 1.5)")
    ref, to = builder.ref(excerpt, filled), asked_dtype(excerpt, values.get("dtype"))
    return builder.create_array(excerpt, "full", (shape, ref), {}, ref.step, to, shape)


def _make_arange(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    """Evenly spaced numbers, of the kind of the bounds."""
    bounds = _read_bounds(builder, excerpt, "arange", values, ("start", "stop", "step"))
    whole = [x for x in bounds if isinstance(x, int)]
    known = whole and len(whole) == len(bounds) and 0 not in whole[2:]
    length = None
    if known:
        numbers = range(*whole)  # more than `len` counts, maybe
        length = max(0, -((numbers.start - numbers.stop) // numbers.step))
    return _make_spaced(builder, excerpt, "arange", values, bounds, {}, length)


def _make_linspace(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    """Evenly spaced floats."""
    bounds = _read_bounds(builder, excerpt, "linspace", values, ("start", "stop"))
    number = values.get("num", 50)
    length = number if isinstance(number, int) else None
    more = {key: values[key] for key in LINSPACE if key in values}
    return _make_spaced(builder, excerpt, "linspace", values, bounds, more, length)


def _read_bounds(
    builder: ProgramBuilder, excerpt: Excerpt, name: str, values: Values, keys: Sequence[str]
) -> list[Argument]:
    """The bounds that are given, which have to be known but in a run."""
    found = [builder.static(values[key]) for key in keys if values.get(key) is not None]
    known = found and all(isinstance(x, (bool, int, float, complex)) for x in found)
    if not known and not builder.observed:
        raise excerpt.refuse(f"{name} takes numbers that are known; give them")
    return found


def _make_spaced(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    name: str,
    values: Values,
    given: Sequence[Argument],
    more: Mapping[str, Argument],
    length: int | None,
) -> Argument:
    to = asked_dtype(excerpt, values.get("dtype"))
    bounds = [x for x in given if isinstance(x, (bool, int, float, complex))]
    if to is None and len(bounds) < len(given):
        return builder.call(excerpt, operation(name), given)
    least = scalar(Kind.FLOAT if name == "linspace" else Kind.SIGNED)
    like = number_like([least, *map(operand, bounds)])
    kept = [*bounds, values["num"]] if name == "linspace" and "num" in values else bounds
    return builder.create_array(excerpt, name, kept, more, like, to, (length,))


def _python_number_maker(name: str) -> CallHandler:
    """Return the maker of a Python number from a value in an array or from another Python number."""

    def make(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
        parts = [builder.static(x) for x in values.values()]
        real = [x for x in parts if isinstance(x, (bool, int, float))]
        if name == "complex" and len(real) == len(parts) == 2:
            return complex(*real)
        if len(parts) != 1:
            raise excerpt.refuse(f"{name} takes one number; give it")
        x = parts[0]
        if isinstance(x, (bool, int, float, complex)) or (isinstance(x, str) and name != "bool"):
            convert: Callable[[Any], Value] = PYTHONS[name]
            try:
                return convert(x)
            except (TypeError, ValueError, OverflowError) as e:
                raise excerpt.refuse(f"Python refuses it: {e}; give another number") from None
        if not isinstance(x, Ref):
            raise excerpt.refuse(f"{name} takes a number or an array of one element; give that")
        unknown = Operand(None, SCALARS[PYTHONS[name]], True, "scalar")
        known = scalar(Kind.BOOL) if name == "bool" else unknown
        return builder.opaque(excerpt, name, known, (x.step,), ())

    return make


def _make_dtype(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    """A dtype is itself, however it is given."""
    to = asked_dtype(excerpt, values.get("dtype"))
    if to is None:
        raise excerpt.refuse("it makes a dtype of one name; give one such as float32")
    return to


def _add_flatten(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    return builder.call(excerpt, operation("reshape"), [values.get("x")], ((-1,),))


def _add_opaque(builder: ProgramBuilder, excerpt: Excerpt, values: Values) -> Argument:
    """Add a step that no rule decides, which a program writes as `opaque("float32[3]", x)`."""
    given, inputs = values.get("given"), values.get("inputs", ())
    if not isinstance(given, str):
        raise excerpt.refuse("opaque needs to be told what it gives; write opaque('float32', x)")
    what, shape = read_input(given)
    made_of = [builder.ref(excerpt, x).step for x in (inputs if isinstance(inputs, tuple) else (inputs,))]
    return builder.opaque(excerpt, "opaque", what, made_of, shape)


MAKERS: Mapping[str, CallHandler] = {
    "opaque": _add_opaque,
    "astype": _add_astype,
    "bitcast": _add_bitcast,
    "dtype": _make_dtype,
    "asarray": _make_array,
    "full": _make_full,
    "flatten": _add_flatten,
    **{name: _make_from_shape(name) for name in ("zeros", "ones", "empty", "rand", "randn", "eye")},
    "arange": _make_arange,
    "linspace": _make_linspace,
    **{name: _python_number_maker(name) for name in PYTHONS},
}


def _read_whole_numbers(
    builder: ProgramBuilder, args: Sequence[Argument], given: Mapping[str, Argument]
) -> tuple[int, ...] | None:
    """Whole numbers, which may be given one by one, as a tuple, or by name; None for anything else."""
    plain = [builder.static(x) for x in (*args, *given.values())]
    return plain_axes(plain[0] if len(plain) == 1 else tuple(plain))


def _add_transpose(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], axes_given: dict[str, Argument]
) -> Argument:
    """Axes the other way round, in the order that is given, or in PyTorch two of them swapped."""
    x, asked = builder.ref(excerpt, args[0]), [each for each in args[1:] if each is not None]
    shape = builder.shape(x)
    axes = _read_whole_numbers(builder, asked, axes_given) if asked or axes_given else None
    if axes is None and (asked or axes_given):
        raise excerpt.refuse("the axes are not known; give numbers")
    if axes is None:
        if shape is None or len(shape) == 2:
            return builder.call(excerpt, operation("matrix_transpose"), [x])
        axes = tuple(reversed(range(len(shape))))
    apart = len(asked) == 2 or {*axes_given} == {"dim0", "dim1"}
    library = builder.owner(excerpt, (x.step,))
    known = library and shape is not None and len(shape) == 2
    in_order = known and meaning("swaps", "transpose", library) is None
    if apart and not in_order:
        return builder.call(excerpt, operation("swapaxes"), [x], axes)
    return builder.call(excerpt, operation("permute_dims"), [x], [axes])


def _t(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
) -> Argument:
    """The transpose of a matrix; an array of one axis is itself."""
    x = builder.ref(excerpt, args[0])
    shape = builder.shape(x)
    if shape is not None and len(shape) < 2:
        return x
    return builder.call(excerpt, operation("matrix_transpose"), [x])


def _add_expand(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
) -> Argument:
    """A view of more elements, in which -1 stands for the length that an axis has."""
    x = builder.ref(excerpt, args[0])
    shape, lengths = builder.shape(x), _read_whole_numbers(builder, args[1:], given)
    if lengths is None:
        raise excerpt.refuse("the lengths are not known; give numbers")
    own = (None,) * (len(lengths) - len(shape or ())) + (shape or ())
    found = tuple(at if n == -1 else n for n, at in zip(lengths, own, strict=False))
    if None in found:
        raise excerpt.refuse(NO_SHAPE)
    return builder.call(excerpt, operation("broadcast_to"), [x], [found])


def _add_masked_fill(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
) -> Argument:
    """The array with a value where a mask is true: the value is written into it, whatever its dtype."""
    taken = [*args, *given.values()]
    if len(taken) != 3 or not isinstance(taken[1], Ref):
        raise excerpt.refuse("it takes an array, a mask and a value; give those")
    x, mask, value = builder.ref(excerpt, taken[0]), *taken[1:]
    return builder.set_elements(excerpt, x, mask, filling(builder, excerpt, x, value))


def filling(builder: ProgramBuilder, excerpt: Excerpt, x: Ref, value: Argument) -> Argument:
    """The value that fills an array: a Python number becomes one of its dtype first, if that holds it."""
    if not isinstance(builder.static(value), (int, float, complex)):
        return value
    ref = builder.ref(excerpt, value)
    return builder.create_array(excerpt, "full", ((), ref), {}, ref.step, DTypeOf(x.step), ())


def _diag(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
) -> Any:
    """The diagonal of a matrix, where `diag` is `diagonal` then; else the operation of that name."""
    shape = builder.shape(args[0])
    if shape is None or len(shape) != 2 or len(args) > 1 or given:
        return NotImplemented
    return builder.call(excerpt, operation("diagonal"), args)


def _where(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
) -> Any:
    """The positions of true elements, if there is a condition alone; else the operation of that name."""
    if len(args) > 1 or given:
        return NotImplemented
    x = builder.ref(excerpt, args[0])
    shape, op = builder.shape(x), operation("nonzero")

    def make_result(i: int) -> Ref:
        return builder.call(excerpt, op, [x], (), {RESULT: i})

    return MultipleResults("where", None if shape is None else len(shape), (), make_result, {})


def _add_quotient(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
) -> Argument:
    """A quotient, which may be rounded down or towards zero; the latter has the dtype of the former."""
    mode = given.pop("rounding_mode", None)
    if given or len(args) != 2 or mode not in (None, "floor", "trunc"):
        raise excerpt.refuse("div takes two arrays and a rounding_mode, 'floor' or 'trunc'; give those")
    if mode == "trunc":
        return builder.call(excerpt, operation("floor_divide"), args, (), {STANDS_FOR: "div"})
    return builder.call(excerpt, operation("floor_divide" if mode else "divide"), args)


def _extreme(name: str) -> Callable[..., Any]:
    """PyTorch's `max(x, y)` of two arrays, which is `maximum`; else the operation of that name."""

    def make(
        builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
    ) -> Any:
        if len(args) != 2 or given or not isinstance(builder.static(args[1]), Ref):
            return NotImplemented
        return builder.call(excerpt, operation(name), args)

    return make


def _add_einsum(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
) -> Any:
    """PyTorch's `einsum("ij,jk->k", x, y)`, which sums an index of one array alone, and then multiplies.

    A matrix product takes one dtype: the sum of an int8 is int64, which is no factor beside an int8.
    """
    text, *arrays = args
    if given or not isinstance(text, str) or not all(isinstance(x, Ref) for x in arrays):
        return NotImplemented
    indices, arrow, kept = text.replace(" ", "").replace(".", "").partition("->")
    kept = kept if arrow else "".join(i for i in indices if indices.count(i) == 1)
    own = indices.split(",")
    if len(own) != len(arrays) or len(own) > 2:
        return NotImplemented
    elsewhere = [kept + "".join(own[:i] + own[i + 1 :]) for i in range(len(own))]
    summed = [not {*a} <= {*b} for a, b in zip(own, elsewhere, strict=True)]
    is_product = len(own) == 2 and not {*own[0]} & {*own[1]} <= {*kept}
    if not any(summed) and (is_product or len(own) == 1):
        return NotImplemented
    shapes = [builder.shape(x) for x in arrays]
    shape = result_shape(operation("einsum"), shapes, (text,), {})
    taken = [
        builder.call(excerpt, operation("sum" if lone else "reshape"), [x], () if lone else ((-1,),))
        for x, lone in zip(arrays, summed, strict=True)
    ]
    for ref in taken:
        builder.stand_for(ref, (STANDS_FOR, "einsum"))
    made = taken[0]
    if len(own) == 2:
        made = builder.call(excerpt, operation("inner" if is_product else "multiply"), taken)
    builder.stand_for(made, (STANDS_FOR, "einsum"), shape)
    return made


def _dask_norm(
    builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
) -> Any:
    """Dask's norm of order 1, of infinite order, or of order 0: a sum, an extreme, a count of elements."""
    order = given.get("ord", args[1] if len(args) > 1 else None)
    if order not in (0, 1, math.inf, -math.inf) or not isinstance(args[0], Ref):
        return NotImplemented
    axis = given.get("axis", args[2] if len(args) > 2 else None)
    is_matrix = axis is None and len(builder.shape(args[0]) or ()) == 2
    extreme = "sum" if is_matrix or order == 1 else "max" if order == math.inf else "min"
    name = "count_nonzero" if order == 0 else extreme
    absolute = builder.call(excerpt, operation("absolute"), args[:1])
    return builder.call(excerpt, operation(name), [absolute], (axis,), {STANDS_FOR: "norm"})


def _make_scaled(name: str) -> Callable[..., Any]:
    """Return the maker of PyTorch's `add(x, y, alpha=2)`. Only a float alpha has a say in dtypes."""

    def make(
        builder: ProgramBuilder, excerpt: Excerpt, args: Sequence[Argument], given: dict[str, Argument]
    ) -> Any:
        alpha = given.pop("alpha", None)
        x, y = [*args, *given.values(), None, None][:2]
        if alpha is None or y is None:
            return NotImplemented
        made = builder.call(excerpt, operation(name), [x, y], (), {STANDS_FOR: name})
        if not isinstance(alpha, float):
            return made
        return builder.call(excerpt, operation("multiply"), [made, alpha], (), {STANDS_FOR: name})

    return make


COMPOSED: Mapping[str, Callable[..., Any]] = {
    "where": _where,
    "div": _add_quotient,
    "einsum": _add_einsum,
    "norm": _dask_norm,
    "add": _make_scaled("add"),
    "sub": _make_scaled("subtract"),
    "max": _extreme("maximum"),
    "min": _extreme("minimum"),
    "transpose": _add_transpose,
    "t": _t,
    "expand": _add_expand,
    "masked_fill": _add_masked_fill,
    "diag": _diag,
}
