"""Outcomes of calls as plain data, and the differences between the outcomes of two functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, prod
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.repair.copies.kept_values import is_array, list_attributes
from typelattice.tracing.run_data.float_widths import dtype_width

MAX_NUMBERS = 1 << 14  # numbers of one array that are compared
MAX_DEPTH = 5  # objects within objects that are compared
MAX_ITEMS = 1000
WIDE_ERROR = 1e-12  # relative error of float64 results that may come from another order of operations
NARROW_ULPS = 200  # error of a narrow result, relative to its largest number
REAL_NUMBERS = {bool, int, float}
PLAIN_TYPES = (str, bytes, type(None), type, type(Ellipsis), slice, range)


@dataclass(frozen=True, slots=True)
class ArrayData:
    """An array, a scalar of a library or a Python number. `form` is "array", "scalar" or "number".

    `number_type` is the type of Python that it is an instance of: NumPy's float64 is a float.
    """

    form: str
    type_name: str
    dtype: str
    shape: tuple[int, ...]
    numbers: tuple[Any, ...]
    number_type: str = ""


@dataclass(frozen=True, slots=True)
class ObjectData:
    """Any other object: the name of its type, its text if it is plain, and the objects in it."""

    type_name: str
    text: str = ""
    items: tuple[tuple[str, ArrayData | ObjectData], ...] = ()


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a call: its result, or the classes of its exception; and its arguments afterwards."""

    error: tuple[str, ...]
    result: ArrayData | ObjectData | None
    arguments: ObjectData


def read_value(value: Any, depth: int = 0) -> ArrayData | ObjectData:
    """Read an object as plain data."""
    if type(value) in REAL_NUMBERS:
        name = type(value).__name__
        return ArrayData("number", f"builtins.{name}", f"builtins.{name}", (), (value,), name)
    type_name = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, PLAIN_TYPES):
        return ObjectData(type_name, repr(value))
    if is_array(value) and hasattr(value, "tolist"):
        return _read_array(value, type_name)
    if isinstance(value, (int, float, complex)):
        return ArrayData("number", type_name, type_name, (), tuple(_flatten([value])), _number_type(value))
    if depth >= MAX_DEPTH:
        return ObjectData(type_name)
    if isinstance(value, Mapping):
        items = [(repr(key), item) for key, item in [*value.items()][:MAX_ITEMS]]
    elif isinstance(value, (list, tuple, set, frozenset)):
        items = [(str(i), item) for i, item in enumerate([*value][:MAX_ITEMS])]
    elif callable(getattr(type(value), "to_numpy", None)):  # a table or a series of a data frame
        items = [("values", value.to_numpy())]
    else:
        items = [*list_attributes(value).items()][:MAX_ITEMS]
    return ObjectData(type_name, "", tuple((name, read_value(item, depth + 1)) for name, item in items))


def _read_array(value: Any, type_name: str) -> ArrayData:
    try:
        value = value.detach() if hasattr(value, "detach") else value
        shape = tuple(int(n) for n in value.shape)
        form = "array" if hasattr(value, "__setitem__") or shape else "scalar"
        step = -(-prod(shape) // MAX_NUMBERS)
        numbers = tuple(_flatten((value.reshape(-1)[::step] if step > 1 else value).tolist()))
        dtype = str(getattr(value.dtype, "name", value.dtype)).rpartition(".")[2]
        name = "" if form == "scalar" else type_name
        return ArrayData(form, name, dtype, shape, numbers, _number_type(value))
    except Exception as e:  # an error of a library, for an array without data
        return ArrayData("array", type_name, str(value.dtype), (), (type(e).__name__,))


def _number_type(value: Any) -> str:
    return next((cls.__name__ for cls in (bool, int, float, complex) if isinstance(value, cls)), "")


def _flatten(items: Any) -> Iterator[Any]:
    """Yield the numbers in nested lists, real and imaginary parts in turn, and the text of other items."""
    if isinstance(items, (list, tuple)):
        if {*map(type, items)} <= REAL_NUMBERS:
            yield from items
            return
        for item in items:
            yield from _flatten(item)
    elif isinstance(items, complex):
        yield from (items.real, items.imag)
    elif type(items) in REAL_NUMBERS or isinstance(items, int):
        yield items
    else:
        try:
            yield float(items)
        except (TypeError, ValueError):
            yield repr(items)


def read_error(error: BaseException) -> tuple[str, ...]:
    """List the names of an exception's classes, from the first that Python itself has.

    A library has many classes for one mistake, such as a TypeError for text.
    """
    names = [cls.__qualname__ for cls in type(error).__mro__]
    own = [cls.__module__ == "builtins" or isinstance(error, Warning) for cls in type(error).__mro__]
    return tuple(names[own.index(True) :])


@dataclass(frozen=True, slots=True)
class AllowedNarrowing:
    """The narrowing that the arguments of a call allow.

    With narrow floats, and without wide ones, a float result may be as narrow as `least_width`. If narrow
    floats stand beside wide ones, values may have the error of the narrow ones. Else nothing may differ.
    With `mends_failure`, a call that raised an exception may end in any way.
    """

    least_width: int | None = None
    error_width: int | None = None
    mends_failure: bool = False


def find_difference(old: CallOutcome, new: CallOutcome, allowed: AllowedNarrowing) -> str:
    """Say how two outcomes of a call differ in more than is allowed, or return ""."""
    if old.error and (allowed.mends_failure or "Warning" in old.error):
        return ""  # a warning that was made an error: the call lost the imaginary part
    if old.error and new.error:
        same = old.error[0] in new.error
        return "" if same else f"it raises {new.error[0]}, not {old.error[0]}"
    if new.error:
        return f"it raises {new.error[0]}"
    if old.error:
        return f"it raises no {old.error[0]}"
    assert old.result is not None and new.result is not None
    found = _compare("the result", old.result, new.result, allowed)
    return found or _compare("an argument", old.arguments, new.arguments, allowed)


def _compare(
    name: str, old: ArrayData | ObjectData, new: ArrayData | ObjectData, allowed: AllowedNarrowing
) -> str:
    if isinstance(old, ArrayData) and isinstance(new, ArrayData):
        return _compare_arrays(name, old, new, allowed)
    if isinstance(old, ObjectData) and isinstance(new, ObjectData):
        if old.type_name != new.type_name or len(old.items) != len(new.items):
            return f"{name} is another {new.type_name}"
        if old.text != new.text and _as_dtype(old.text) == _as_dtype(new.text) == "":
            return f"{name} is {new.text[:40]}, not {old.text[:40]}"
        pairs = zip(old.items, new.items, strict=True)
        found = (_compare(name, a, b, allowed) for (_, a), (_, b) in pairs)
        return next(filter(None, found), "")
    return f"{name} is {new.type_name or new.dtype if isinstance(new, ArrayData) else new.type_name}"


def _as_dtype(text: str) -> str:
    name = text.strip("'").rpartition(".")[2].rstrip("'>")
    return name if name in DTYPES else ""


def _compare_arrays(name: str, old: ArrayData, new: ArrayData, allowed: AllowedNarrowing) -> str:
    if old.form == "number" and new.form == "scalar" and old.number_type == new.number_type:
        return _compare_numbers(name, old.numbers, new.numbers, WIDE_ERROR)
    if (old.form, old.type_name) != (new.form, new.type_name):
        return f"{name} is {new.type_name or new.dtype}, not {old.type_name or old.dtype}"
    if old.shape != new.shape or len(old.numbers) != len(new.numbers):
        return f"{name} has the shape {new.shape}"
    if old.dtype != new.dtype and not _may_be_narrowed(old.dtype, new.dtype, allowed):
        return f"{name} is {new.dtype}, not {old.dtype}"
    width = _width(new.dtype)
    limit = 0.0
    if width is not None:
        limit = WIDE_ERROR
        if allowed.least_width is not None or allowed.error_width is not None:
            narrowest = min(w for w in (allowed.least_width, allowed.error_width, width) if w is not None)
            limit = NARROW_ULPS * _unit(narrowest)
    return _compare_numbers(name, old.numbers, new.numbers, limit)


def _compare_numbers(name: str, old: Sequence[Any], new: Sequence[Any], limit: float) -> str:
    """Compare numbers up to an error, relative to the largest one."""
    if old == new:
        return ""
    largest = max((abs(x) for x in old if not isinstance(x, str) and isfinite(x)), default=0.0)
    for a, b in zip(old, new, strict=True):
        if isinstance(a, str) or isinstance(b, str):
            if a != b:
                return f"{name} has {b}, not {a}"
            continue
        differ = a != b and not (isnan(a) and isnan(b))
        if differ and not (isfinite(a) and isfinite(b) and abs(a - b) <= limit * largest):
            return f"{name} has {b:.6g}, not {a:.6g}"
    return ""


def _width(dtype: str) -> int | None:
    known = DTYPES.get(dtype)
    return dtype_width(known) if known is not None else (64 if dtype.endswith("float") else None)


def _unit(width: int) -> float:
    """Return the unit in the last place of the least precise float of a width."""
    known = [d.precision for d in DTYPES.values() if d.kind is Kind.FLOAT and d.bits == width and d.precision]
    return 2.0 ** (1 - min(known, default=53))


def _may_be_narrowed(old: str, new: str, allowed: AllowedNarrowing) -> bool:
    """Return True if a result may have a narrower dtype of the same kind."""
    a, b = DTYPES.get(old), DTYPES.get(new)
    if a is None or b is None or allowed.least_width is None or a.kind is not b.kind:
        return False
    wide, narrow = dtype_width(a), dtype_width(b)
    return wide is not None and narrow is not None and allowed.least_width <= narrow < wide


def list_float_widths(value: Any, depth: int = 0) -> Iterator[int]:
    """Yield the widths of the floats of arrays in an argument, also within lists and dictionaries."""
    if is_array(value):
        name = str(getattr(value.dtype, "name", value.dtype)).rpartition(".")[2]
        known = DTYPES.get(name)
        width = dtype_width(known) if known is not None else None
        if width is None and name.startswith(("float", "complex", "longdouble", "clongdouble")):
            width = 80
        if width is not None:
            yield width
    elif isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
        for item in value[:MAX_ITEMS]:
            yield from list_float_widths(item, depth + 1)
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        for item in [*value.values()][:MAX_ITEMS]:
            yield from list_float_widths(item, depth + 1)
