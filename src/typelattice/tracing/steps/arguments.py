"""Arguments of a call: by position and by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from typelattice.programs.calls.steps import Argument
from typelattice.tracing.run_data.written_operation import OMITTED_ARGUMENTS, WrittenOperation, give_dtype


class UnknownCallError(Exception):
    """A call that no operation describes."""


@dataclass(frozen=True, slots=True)
class DTypeOfArray:
    """An argument such as `y.dtype`: the object that gave the dtype, and the dtype."""

    owner: Any
    dtype: Any


MAX_INTEGER_BITS = 63  # bits of an integer in a list, past which libraries choose a dtype by its value
POSITIONAL_KINDS = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def read_arguments(
    operation: WrittenOperation,
    stack_values: Sequence[Any],
    name_dtype: Callable[[Any, Any], Any] = give_dtype,
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call by position and by name. Raises UnknownCallError if one is unknown.

    `name_dtype` makes an argument of an array and its dtype, for one such as `y.dtype`.
    """
    if OMITTED_ARGUMENTS in operation.keywords:
        raise UnknownCallError("its arguments were not seen")
    names = [name for name in operation.keywords if name != "*"]
    values = operation.list_arguments(stack_values[:-1], name_dtype)
    cut = len(values) - len(names)
    positional, last = values[:cut], values[cut:]
    if "*" in operation.keywords:
        spread = positional.pop()
        if type(spread) not in (tuple, list):
            raise UnknownCallError("its arguments are used up")
        positional += spread
    named: dict[str, Any] = {}
    for name, value in zip(names, last, strict=True):
        if name is not None:
            named[name] = value
        elif type(value) is dict:
            named |= value
        else:
            raise UnknownCallError("its arguments are no dictionary")
    return positional, named


def list_parameters(function: Any) -> tuple[str, ...]:
    """Return the names of a function's positional arguments, if Python knows them."""
    try:
        found = signature(function).parameters
    except (TypeError, ValueError):  # functions in C have no signature
        return ()
    return tuple(name for name, each in found.items() if each.kind in POSITIONAL_KINDS)


def list_method_parameters(method: Any, library: str | None) -> tuple[str, ...]:
    """Return the names for a method, with the array first. The library's function of that name has them."""
    function = getattr(sys.modules.get(library or ""), method.__name__, None)
    return list_parameters(function) or ("", *list_parameters(method))


def arguments_by_name(
    names: Sequence[str], count: int | None, positional: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments by position and by name. Arguments after the operands have names if known.

    None counts as left out, except as an axis: `concatenate([x, y], axis=None)` flattens.

    >>> arguments_by_name(("a", "axis", "dtype"), 1, ["x", 0, "f8"], {"out": "y", "where": None})
    (['x'], {'axis': 0, 'dtype': 'f8', 'out': 'y'})
    """
    cut = len(positional) if count is None or not names[count:] else count
    further = dict(zip(names[cut:], positional[cut:], strict=False)) | {**keywords}
    rest = [*positional[:cut], *positional[max(cut, len(names)) :]]
    return rest, {name: value for name, value in further.items() if value is not None or name == "axis"}


def list_arguments(items: Iterable[Argument]) -> tuple[Argument, ...]:
    """Return a list of arguments. Raises UnknownCallError if numbers have no default dtype."""
    found = tuple(items)
    if any(type(x) is int and x.bit_length() > MAX_INTEGER_BITS for x in found):
        raise UnknownCallError("a number in a list is too wide for the default dtype")
    return found
