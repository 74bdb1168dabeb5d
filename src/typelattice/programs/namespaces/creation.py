"""The functions that create arrays, with the default dtypes of the system."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.new_arrays import size_of_int
from typelattice.core.engine.requested_dtypes import may_refuse_operand
from typelattice.core.losses.cast_rounding_and_overflow import PLAIN_CAST_RULE
from typelattice.core.losses.range_and_overflow import PythonNumber, exceeds_int32, is_in_range
from typelattice.core.operands.notation import number_operand as scalar_of
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, operand_of_dtype
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import OPERATIONS
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.computing_libraries.computing_library import NO_KERNEL_ERRORS
from typelattice.programs.namespaces.input_checks import (
    find_out_of_range,
    range_error,
    refuse_masked,
    refuse_out_of_range,
)
from typelattice.programs.namespaces.namespace_context import NamespaceContext, class_name
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.recipe import INTEGER_KINDS, one_line_message, python_number
from typelattice.programs.namespaces.standard_signatures import name_function

NamespaceFunction = Callable[..., Any]
CreationFunctionMaker = Callable[[NamespaceContext], NamespaceFunction]


def asarray_maker(context: NamespaceContext) -> NamespaceFunction:
    """Build `asarray`, which makes an array from any object that holds numbers."""

    def asarray(
        obj: Any, /, *, dtype: object = None, device: object = None, copy: bool | None = None
    ) -> Array:
        if isinstance(obj, Array):
            own = context.require_array("asarray", obj)
            d = own.dtype if dtype is None else context.replace_requested_dtype(dtype)
            if d is own.dtype and not copy and device is None:
                return own
            data = _cast_by_rule(context, own, d)
            made = _make_array(context, data, context.library.native_dtype(d), device, copy)
            return context.wrap(made, d, own.weak and dtype is None)
        if _holds_arrays(obj):
            stacked = context.call_on_list("stack", [asarray(item) for item in obj])
            return asarray(stacked, dtype=dtype, device=device)
        if dtype is not None and hasattr(obj, "dtype"):  # an array or a scalar of this library or another
            return asarray(asarray(obj, copy=copy, device=device), dtype=dtype)
        if dtype is not None:
            d = context.replace_requested_dtype(dtype)
            refuse_out_of_range(context.recipes, obj, d)
            return context.wrap(_make_array(context, obj, context.library.native_dtype(d), device, copy), d)
        kind = Kind.FLOAT if _is_empty(obj) else highest_kind(obj)
        if kind is None:  # an array of this library or of another
            data = _make_array(context, obj, None, device, copy)
            own = context.library.native_dtype(context.library.dtype_of(data))
            # the array may have another byte order
            data = context.cast_to_replaced_dtype(context.library.cast(data, own))
            weak = context.library.is_weak(data) and context.recipes.has_weak_arrays
            return context.wrap(data, None, weak)
        largest = _largest_int(obj)
        numbers = [operand(x) for x in _list_numbers(obj)] if exceeds_int32(largest) else ()
        is_list = isinstance(obj, (list, tuple))
        d, weak = context.creation_type("asarray", kind, largest, numbers, is_list)
        if context.recipes.is_own_system and find_out_of_range(obj, d) is not None:
            return context.wrap(_make_array(context, obj, None, device, copy))  # NumPy's 2**63 is uint64
        refuse_out_of_range(context.recipes, obj, d)
        return context.wrap(_make_array(context, obj, context.library.native_dtype(d), device, copy), d, weak)

    return asarray


def _list_numbers(numbers: Any) -> list[Any]:
    """Return the numbers of nested sequences."""
    if isinstance(numbers, (list, tuple)):
        return [x for item in numbers for x in _list_numbers(item)]
    return [numbers]


def highest_kind(numbers: Any) -> Kind | None:
    """Return the highest kind of Python numbers in nested sequences, or None if any item is not a number."""
    if isinstance(numbers, (list, tuple)):
        found = [highest_kind(item) for item in numbers]
        kinds = [kind for kind in found if kind is not None]
        return max(kinds, key=lambda kind: kind.category) if kinds and len(kinds) == len(found) else None
    value = python_number(numbers)
    return None if value is None else KIND_BY_PYTHON_TYPE[type(value)]


def _largest_int(numbers: Any) -> int:
    """Return the int of the largest magnitude in nested sequences of Python numbers, or 0 without one."""
    values = map(python_number, _list_numbers(numbers))
    return max((x for x in values if isinstance(x, int)), key=size_of_int, default=0)


def _is_empty(x: Any) -> bool:
    """Return True if nested sequences hold nothing."""
    return isinstance(x, (list, tuple)) and all(map(_is_empty, x))


def _holds_arrays(x: Any) -> bool:
    """Return True if nested sequences contain arrays of a namespace, to be promoted as in `stack`."""
    return isinstance(x, (list, tuple)) and any(isinstance(item, Array) or _holds_arrays(item) for item in x)


def _make_array(context: NamespaceContext, obj: Any, to: Any, device: object, copy: bool | None) -> Any:
    """Make the library's array of an object, of a native dtype if one is given. Raises NamespaceError."""
    refuse_masked(obj)
    options = {k: v for k, v in (("dtype", to), ("device", device), ("copy", copy)) if v is not None}
    try:
        data = context.library.asarray(context.unwrap(obj), **options)
    except TypelatticeError:
        raise
    except (TypeError, OverflowError, ValueError, RuntimeError) as e:
        # If a copy is necessary, the standard requires a ValueError, so the library's own passes.
        if copy is False and isinstance(e, ValueError):
            raise
        if context.library.is_refusal(e):
            why = f"{context.library.name} refuses a number here ({one_line_message(e)})"
            raise NamespaceError(f"{why}; give one within the dtype's range, or a wider dtype") from e
        why = f"{context.library.name} makes no array of this {class_name(obj)}: {one_line_message(e)}"
        raise NamespaceError(f"{why}; give numbers, or use from_dlpack") from e
    return data if to is None else context.library.check_dtype(data, to)


def _cast_by_rule(context: NamespaceContext, x: Array, target: DType) -> Any:
    """Return the library's array, cast to a dtype if the system has a rule for that cast, or as it is."""
    has_rule = x.dtype is not target and context.system.cast_rule(x.dtype, target) != PLAIN_CAST_RULE
    return context.recipes.cast(x._data, target) if has_rule else x._data


def _creation_options(context: NamespaceContext, d: DType, device: object) -> dict[str, Any]:
    """Return the library's options `dtype` and `device`."""
    return {"dtype": context.library.native_dtype(d), **({} if device is None else {"device": device})}


def _requested_or_default(
    context: NamespaceContext, name: str, requested: object, kind: Kind, number: PythonNumber | None = None
) -> tuple[DType, bool]:
    """Return the dtype of a new array, requested or of a kind by default, and True if the array is weak."""
    if requested is not None:
        return context.replace_requested_dtype(requested), False
    return context.creation_type(name, kind, number)


def shape_function_maker(name: str, context: NamespaceContext) -> NamespaceFunction:
    """Build a function with a shape, or numbers for one: zeros, ones, empty, eye, linspace."""
    library = context.library

    def function(*args: Any, dtype: object = None, device: object = None, **options: Any) -> Array:
        bounds = [x for x in map(python_number, args[:2]) if x is not None] if name == "linspace" else []
        if dtype is None and len(bounds) == 2:
            d = context.recipes.promote(name, [*map(operand, bounds)]).result
        else:
            kind = Kind.COMPLEX if any(isinstance(x, complex) for x in bounds) else Kind.FLOAT
            d, _ = _requested_or_default(context, name, dtype, kind)
        library_options = _creation_options(context, d, device)
        data = library.find_function(name)(*args, **library_options, **options)
        return context.wrap(library.check_dtype(data, library_options["dtype"]), d)

    return function


def full_maker(context: NamespaceContext) -> NamespaceFunction:
    """Build `full`, which makes an array of one value. Its dtype is by default that of the kind."""

    def full(shape: Any, fill_value: Any, *, dtype: object = None, device: object = None) -> Array:
        own = operand(fill_value).dtype if dtype is None and hasattr(fill_value, "dtype") else dtype
        if own is None and context.recipes.is_own_system and kind_of(fill_value) in INTEGER_KINDS:
            # The library's dtype may be wider than the default.
            own = asarray_maker(context)(fill_value).dtype
        kind = highest_kind(fill_value) or Kind.FLOAT
        d, weak = _requested_or_default(context, "full", own, kind, python_number(fill_value))
        library_options = _creation_options(context, d, device)
        data = context.library.xp.full(shape, convert_fill_value(context, d, fill_value), **library_options)
        return context.wrap(context.library.check_dtype(data, library_options["dtype"]), d, weak)

    return full


def convert_fill_value(context: NamespaceContext, dtype: DType, value: Any) -> Any:
    """Return the value that fills an array of a dtype. The system may convert or refuse a Python number.

    The library casts a number that would change the array's dtype, such as a float among integers.
    """
    given = python_number(value)
    if given is None:
        return context.unwrap(value)
    own = context.recipes.is_own_system  # then the library decides, and raises its own errors
    p = context.system.explain(operand_of_dtype(dtype), scalar_of(given))
    if p.dtype is dtype:
        counted = context.recipes.replace_scalar(given, p)
        return given if own else counted
    imaginary = isinstance(given, complex) and dtype.kind is not Kind.COMPLEX
    if (imaginary or dtype.kind in INTEGER_KINDS) and not own and not is_in_range(given, dtype):
        raise range_error(given, dtype)  # libraries and machines cast a number out of range differently
    return given


def arange_maker(context: NamespaceContext) -> NamespaceFunction:
    """Build `arange`, which makes evenly spaced numbers, by default in the default dtype of their kind."""

    def arange(
        start: Any, /, stop: Any = None, step: Any = 1, *, dtype: object = None, device: object = None
    ) -> Array:
        bounds = [x for x in (start, stop, step) if x is not None]
        kind = max((kind_of(x) or Kind.FLOAT for x in bounds), key=lambda each: each.category)
        kind = Kind.SIGNED if kind is Kind.BOOL else kind
        d, _ = _requested_or_default(context, "arange", dtype, kind, _largest_int(bounds))
        library_options = _creation_options(context, d, device)
        data = context.library.xp.arange(start, stop, step, **library_options)
        return context.wrap(context.library.check_dtype(data, library_options["dtype"]), d)

    return arange


def kind_of(x: Any) -> Kind | None:
    """Return the kind of a Python number or of a number of the library, or None for anything else."""
    found = highest_kind(x)
    return operand(x).kind if found is None and hasattr(x, "dtype") else found


def like_maker(name: str, context: NamespaceContext) -> NamespaceFunction:
    """Build a function that makes an array like another: of its shape and, by default, of its dtype."""

    def function(x: Any, /, *, dtype: object = None, device: object = None) -> Array:
        return _make_like(context, name, x, (), dtype, device)

    return function


def full_like_maker(context: NamespaceContext) -> NamespaceFunction:
    """Build `full_like`, which makes an array of one value, like another array."""

    def full_like(x: Any, /, fill_value: Any, *, dtype: object = None, device: object = None) -> Array:
        return _make_like(context, "full_like", x, (fill_value,), dtype, device)

    return full_like


def _make_like(
    context: NamespaceContext, name: str, array: Any, fill: tuple[Any, ...], dtype: object, device: object
) -> Array:
    own = context.require_array(name, array)
    if dtype is None or may_refuse_operand(context.system, OPERATIONS[name], own._type.operand):
        p = context.recipes.promote(name, (own._type.operand,))
    d, weak = (p.result, p.weak) if dtype is None else (context.replace_requested_dtype(dtype), False)
    library_options = {
        "dtype": context.library.native_dtype(d),
        **({} if device is None else {"device": device}),
    }
    filled = [convert_fill_value(context, d, value) for value in fill]
    return context.wrap(context.library.find_function(name)(own._data, *filled, **library_options), d, weak)


def from_dlpack_maker(context: NamespaceContext) -> NamespaceFunction:
    """Build `from_dlpack`, which makes an array over the buffer of another library's or namespace's array."""

    def from_dlpack(x: Any, /, *, device: object = None, copy: bool | None = None) -> Array:
        options = {k: v for k, v in (("device", device), ("copy", copy)) if v is not None}
        buffer = x.bare if isinstance(x, Array) else x
        return context.wrap(
            context.cast_to_replaced_dtype(context.library.find_function("from_dlpack")(buffer, **options))
        )

    return from_dlpack


def astype_maker(context: NamespaceContext) -> NamespaceFunction:
    """Build `astype`, which casts explicitly, so its result is never weak."""

    def astype(x: Any, dtype: object, /, *, copy: bool = True, device: object = None) -> Array:
        own, d = context.require_array("astype", x), context.replace_requested_dtype(dtype)
        to = context.library.native_dtype(d)
        data = context.recipes.cast(own._data, d)
        if device is not None or (copy and data is own._data):
            options = {} if device is None else {"device": device}
            data = context.library.copy_array(data, to, copy=copy and data is own._data, **options)
        return context.wrap(context.library.check_dtype(data, to), d)

    return astype


def frequencies_maker(name: str, context: NamespaceContext) -> NamespaceFunction:
    """Build a function that returns the sample frequencies of a transform."""

    def function(n: int, /, *, d: float = 1.0, dtype: object = None, device: object = None) -> Array:
        wanted, _ = _requested_or_default(context, name, dtype, Kind.FLOAT)
        library_options = _creation_options(context, wanted, device)
        to = library_options.pop("dtype")
        data = context.library.find_function(name)(n, d=d, **library_options)
        return context.wrap(context.library.cast(data, to), wanted)

    return function


def guard_function(context: NamespaceContext, function: NamespaceFunction) -> NamespaceFunction:
    """Wrap a function so that it raises NamespaceError if the library cannot carry it out."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypelatticeError:
            raise
        except (*NO_KERNEL_ERRORS, RuntimeError, OverflowError, AttributeError) as e:
            why = f"{context.library.name} cannot carry out {function.__name__} ({one_line_message(e)})"
            raise NamespaceError(f"{why}; give other arguments, or another dtype") from e

    return call


CREATION_MAKER_BY_NAME: dict[str, CreationFunctionMaker] = {
    "asarray": asarray_maker,
    "full": full_maker,
    "full_like": full_like_maker,
    "arange": arange_maker,
    "from_dlpack": from_dlpack_maker,
    "astype": astype_maker,
    **{name: partial(shape_function_maker, name) for name in ("zeros", "ones", "empty", "eye", "linspace")},
    **{name: partial(like_maker, name) for name in ("zeros_like", "ones_like", "empty_like")},
    **{name: partial(frequencies_maker, name) for name in ("fftfreq", "rfftfreq")},
}


def make_creation_functions(context: NamespaceContext) -> dict[str, NamespaceFunction]:
    """Build the functions that create arrays, as far as the library has them."""
    there = [
        name for name in CREATION_MAKER_BY_NAME if name != "from_dlpack" or context.library.has_function(name)
    ]
    return {
        name: name_function(
            guard_function(context, name_function(CREATION_MAKER_BY_NAME[name](context), name)), name
        )
        for name in there
    }
