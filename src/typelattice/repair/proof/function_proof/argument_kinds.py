"""Other kinds of arguments for a recorded call: each dtype, lists, numbers, scalars and empty arrays."""

from __future__ import annotations

import copy
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind
from typelattice.core.operands.adapters import native
from typelattice.core.registry.libraries import libraries, library_of
from typelattice.core.system_files.reader import system
from typelattice.core.system_files.system_text import systems
from typelattice.repair.copies.kept_values import is_array, list_attributes
from typelattice.repair.proof.function_proof.recorded_calls import RecordedCall

INTEGER_RANGE = (10, 100)  # the largest number of an integer array, so that each integer dtype holds it
ALMOST_ONE = 1 - 2.0**-30  # makes numbers that no narrow float has
ALMOST_ONE_AT_EACH_WIDTH = 1 - 2.0**-13 - 2.0**-30  # a number times this has digits that narrower floats lack
CLASS_NAME_PATTERN = re.compile(r"\b[A-Z]\w+\b")
EXTENDED_DTYPES = ("longdouble", "clongdouble")  # their width depends on the platform
MAX_VARIED_ARGUMENTS = 6
SHORT_LENGTH = 8  # of an array of a call that is made small
AS_RECORDED = "the program's own arguments"  # the kind of the call that is not varied
Maker = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class CallVariation:
    """A call with other arguments, the name of the kind that they have, and the call that it varies."""

    kind: str
    call: RecordedCall
    recorded: RecordedCall


def list_small_calls(call: RecordedCall) -> list[RecordedCall]:
    """List calls like one with large arrays, each with the first elements of these along some axes.

    A function may need the length of one axis, such as that of a constant which meets it.
    """
    values = (*call.parameters.values(), *call.starred)
    if not any(is_array(x) and max(x.shape, default=0) > SHORT_LENGTH for x in values):
        return [call]
    short, whole = slice(SHORT_LENGTH), slice(None)
    kept_axes: list[Callable[[int], tuple[slice, ...]]] = [
        lambda n: (short,) * n,
        lambda n: (short,) * (n - 1) + (whole,) * min(n, 1),
        lambda n: (whole,) * min(n, 1) + (short,) * (n - 1),
    ]
    return [_shrink_call(call, index) for index in kept_axes]


def _shrink_call(call: RecordedCall, make_index: Callable[[int], tuple[slice, ...]]) -> RecordedCall:
    """Return a call with a part of each large array, by the index for its number of axes."""

    def shrink(value: Any) -> Any:
        if is_array(value) and any(length > SHORT_LENGTH for length in value.shape):
            return value[make_index(len(value.shape))]
        return value

    parameters = {
        name: shrink(x) if name not in ("self", "cls") else x for name, x in call.parameters.items()
    }
    return replace(call, parameters=parameters, starred=tuple(map(shrink, call.starred)))


def list_variations(function: FunctionType, call: RecordedCall) -> list[CallVariation]:
    """List the variations of a call: as it was, all arrays of another kind, then one argument at a time."""
    arrays = [name for name, value in call.parameters.items() if _is_array_like(value)]
    arrays = [name for name in arrays if name not in ("self", "cls")][:MAX_VARIED_ARGUMENTS]
    numbers = [name for name, value in call.parameters.items() if type(value) in (int, float, bool)]
    found = [CallVariation(AS_RECORDED, call, call)]
    makers = {name: _list_array_kinds(function, call.parameters[name]) for name in arrays}
    starred = {i: _list_array_kinds(function, x) for i, x in enumerate(call.starred) if _is_array_like(x)}
    kinds = dict.fromkeys(kind for each in (*makers.values(), *starred.values()) for kind in each)
    if len(makers) + len(starred) != 1:
        for kind in kinds:
            changed = {name: makers[name][kind] for name in arrays if kind in makers[name]}
            more = {i: each[kind] for i, each in starred.items() if kind in each}
            found += _vary(kind, call, changed, more)
    for name in arrays:
        for kind, make in makers[name].items():
            found += _vary(f"{kind} {name}", call, {name: make}, {})
    for i, each in starred.items():
        for kind, make in each.items():
            found += _vary(kind, call, {}, {i: make})
    for name in numbers[:MAX_VARIED_ARGUMENTS]:
        for kind, make in _list_number_kinds(call.parameters[name]).items():
            found += _vary(f"{kind} {name}", call, {name: make}, {})
    return found


def _vary(
    kind: str, call: RecordedCall, makers: Mapping[str, Maker], starred: Mapping[int, Maker]
) -> Iterator[CallVariation]:
    """Yield a call with some arguments made anew, or nothing if a library cannot make them."""
    try:
        parameters = {
            name: makers[name](x) if name in makers else _give_digits(x) if name == "self" else x
            for name, x in call.parameters.items()
        }
        items = tuple(starred[i](x) if i in starred else x for i, x in enumerate(call.starred))
    except Exception:  # an error of a library: it has no such array
        return
    yield CallVariation(kind, replace(call, parameters=parameters, starred=items), call)


def _give_digits(value: Any) -> Any:
    """Return an object whose float arrays have all digits of their dtype. Ones would hide a narrow cast."""
    attributes = list_attributes(value)
    scaled = {name: x * ALMOST_ONE_AT_EACH_WIDTH for name, x in attributes.items() if _is_float_array(x)}
    if not scaled:
        return value
    found = copy.copy(value)
    found.__dict__.update(scaled)
    return found


def _is_float_array(value: Any) -> bool:
    known = DTYPES.get(str(value.dtype).rpartition(".")[2]) if is_array(value) else None
    return known is not None and known.kind is Kind.FLOAT


def _is_array_like(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_is_array_like(x) or type(x) in (int, float) for x in value)
    return is_array(value)


def _list_array_kinds(function: FunctionType, value: Any) -> dict[str, Maker]:
    """Map the names of kinds to functions that make an argument of a kind from an array, or a list."""
    if isinstance(value, (list, tuple)) and any(is_array(x) for x in value):
        first = next(x for x in value if is_array(x))
        kinds = _list_array_kinds(function, first)
        cls = type(value)
        return {kind: partial(_make_items, cls, make) for kind, make in kinds.items()}
    if isinstance(value, (list, tuple)):
        return _list_sequence_kinds()
    library = library_of(type(value).__module__.partition(".")[0]) or ""
    found: dict[str, Maker] = {}
    for dtype in sorted(_list_dtypes(library), key=_usualness):
        found[dtype.name] = partial(_convert, dtype=dtype)
    if hasattr(value, "astype") and hasattr(value, "tolist"):
        found |= {name: partial(_convert_to_name, name=name) for name in EXTENDED_DTYPES}
        found["object"] = lambda x: x.astype(object)
    found |= {
        "list of floats": lambda x: _as_wide(x).tolist(),
        "list of integers": lambda x: _as_integers(x).tolist(),
        "nested list": lambda x: [_as_wide(x).tolist(), _as_integers(x).tolist()],
        "tuple of floats": lambda x: tuple(_as_wide(x).tolist()),
        "float": lambda x: float(x.reshape(-1)[:1].tolist()[0]) * ALMOST_ONE,
        "int": lambda x: int(_as_integers(x).reshape(-1)[:1].tolist()[0]),
        "complex number": lambda x: complex(x.reshape(-1)[:1].tolist()[0], 1),
        "bool number": lambda x: bool(x.reshape(-1)[:1].tolist()[0]),
        "0-d": lambda x: x.reshape(-1)[:1].reshape(()),
        "0-d float64": lambda x: _as_wide(x).reshape(-1)[:1].reshape(()),
        "scalar": lambda x: x.reshape(-1)[0],
        "integer scalar": lambda x: _as_integers(x).reshape(-1)[0],
        "float64 scalar": lambda x: _as_wide(x).reshape(-1)[0],
        "empty": lambda x: x[:0],
        "empty float64": lambda x: _as_wide(x)[:0],
        "empty list": lambda x: [],
        "one element": lambda x: x[:1],
        "None": lambda x: None,
    }
    found |= _list_named_classes(function)
    return found


def _make_items(cls: type, make: Maker, items: Sequence[Any]) -> Any:
    return cls([make(x) if is_array(x) else x for x in items])


def _convert_to_name(value: Any, name: str) -> Any:
    return value.astype(name)


def _usualness(dtype: DType) -> tuple[bool, int]:
    """Sort dtypes so that the usual ones come first, as a slow function is called with few of them."""
    return dtype.kind is Kind.COMPLEX, -(dtype.bits or 0)


def _list_dtypes(library: str) -> Sequence[DType]:
    return system(library if library in systems() else "array-api").dtypes


def _list_sequence_kinds() -> dict[str, Maker]:
    """Map kinds to functions that make them from a list of numbers."""
    found: dict[str, Maker] = {
        "list": list,
        "tuple": tuple,
        "integers": lambda x: [int(i) if not isinstance(i, (list, tuple)) else i for i in x],
    }
    for module in _list_imported_modules():
        make = getattr(module, "asarray", None)
        if make is not None and hasattr(module, "float32"):
            found |= {f"{name} array": partial(make, dtype=name) for name in ("float32", "float64", "int64")}
            break
    return found


def _list_number_kinds(value: float) -> dict[str, Maker]:
    """Map kinds to functions that make them from a Python number."""
    found: dict[str, Maker] = {
        "int": lambda x: int(x),
        "float": lambda x: float(x) * ALMOST_ONE,
        "bool": lambda x: bool(x),
        "complex": lambda x: complex(x, 1),
    }
    for module in _list_imported_modules():
        with suppress(Exception):  # a library without scalars
            scalar = module.float32(value)
            if scalar.shape == ():
                found |= {
                    "float32 scalar": module.float32,
                    "int64 scalar": module.int64,
                }
                break
    return found


def _list_imported_modules() -> list[Any]:
    names = dict.fromkeys(name for library in libraries().values() for name in library.modules)
    return [sys.modules[name] for name in names if sys.modules.get(name) is not None]


def _list_named_classes(function: FunctionType) -> dict[str, Maker]:
    """Map the classes that a function's annotations and docstring name to the classes themselves."""
    with suppress(Exception):
        text = f"{inspect.getdoc(function) or ''} {function.__annotations__}"
        names = dict.fromkeys(CLASS_NAME_PATTERN.findall(text))
        modules = [*_list_imported_modules(), *(sys.modules.get(x) for x in ("decimal", "fractions"))]
        found = {name: getattr(module, name, None) for name in names for module in modules}
        return {name: cls for name, cls in found.items() if isinstance(cls, type) and cls not in (bool, int)}
    return {}


def _convert(value: Any, dtype: DType) -> Any:
    """Cast an array to a dtype. Integers are scaled to a range that each dtype holds."""
    if dtype.kind in (Kind.SIGNED, Kind.UNSIGNED):
        scaled = _scale(value)
        return _cast(abs(scaled) if dtype.kind is Kind.UNSIGNED else scaled, dtype)
    cast = _cast(value, dtype)
    is_wide = dtype.kind.category >= Kind.FLOAT.category and (dtype.precision or 0) > 40
    return cast * ALMOST_ONE if is_wide else cast


def _cast(value: Any, dtype: DType) -> Any:
    cast = getattr(value, "astype", None) or value.to
    return cast(native(dtype, type(value).__module__.partition(".")[0]))


def _as_wide(value: Any) -> Any:
    return _convert(value, DTYPES["float64"])


def _as_integers(value: Any) -> Any:
    return _convert(value, DTYPES["int64"])


def _scale(value: Any) -> Any:
    """Scale an array so that its largest number is a usual integer."""
    wide = _cast(value, DTYPES["float64"])
    largest = (
        max((abs(float(x)) for x in (wide.max(), wide.min())), default=0.0) if 0 not in wide.shape else 0.0
    )
    if not largest or INTEGER_RANGE[0] <= largest <= INTEGER_RANGE[1]:
        return wide.round()
    return (wide * (INTEGER_RANGE[1] / largest)).round()


def copy_call(call: RecordedCall) -> tuple[list[Any], dict[str, Any]]:
    """Copy the arguments of a call, as positional and named ones."""
    own = copy.deepcopy(call)
    names = [*own.parameters]
    positional = [own.parameters[name] for name in names[: own.positional_count]]
    named = {name: own.parameters[name] for name in names[own.positional_count :]}
    return [*positional, *own.starred], {**named, **own.named}
