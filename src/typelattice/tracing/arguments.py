"""Arguments of a call: by position, by name, and those that decide of a dtype beside the operands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from typelattice.facts.dtypes import Kind
from typelattice.facts.operations import Operation
from typelattice.operands.objects import operand
from typelattice.tracing.kinds import LONG, is_dtype
from typelattice.tracing.spot import UNTOLD, Spot


class UnknownCallError(Exception):
    """A call that no operation describes."""


TELLING = (  # arguments of which a result's dtype may depend, whatever they are
    "aweights", "compute_uv", "density", "fweights", "initial", "interpolation", "mean", "method",
    "normed", "sig", "signature", "weights",
)  # fmt: skip
JOINED = ("prepend", "append")  # those of diff, which it joins with its operand
OTHERS = (  # those that have no say, although they may be arrays, and operands that have names
    *JOINED, "a_max", "a_min", "atol", "axis", "bins", "correction", "ddof", "dtype", "max", "min", "ord",
    "out", "q", "rcond", "rtol", "to_begin", "to_end", "tol", "where",
)  # fmt: skip
FIRST_DECIDES = (  # operations, and classes of them, of which no further argument has a say
    "comparison", "join", "like", "nan_to_num", "search", "sort", "view",
)  # fmt: skip
SPACED_BY = ("gradient", "trapezoid")  # operations that divide by a further argument, or multiply by it
ALL_TAKE_PART = ("elementwise", "pair", "choice", "promotion", "told", "cases", "each")  # forms of operations
BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def arguments(spot: Spot, given: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call by position and by name. Raises UnknownCallError."""
    if UNTOLD in spot.keywords:
        raise UnknownCallError("its arguments were not seen")
    names = [name for name in spot.keywords if name != "*"]
    values = spot.all_of(given[:-1])
    cut = len(values) - len(names)
    positional, last = values[:cut], values[cut:]
    if "*" in spot.keywords:
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


def operand_count(op: Operation | None) -> int | None:
    """How many of the first arguments of a function are operands; None where all by position may be."""
    if op is None or op.form in ALL_TAKE_PART:
        return None
    return 1 if op.form == "several" else op.most


def parameters(function: Any) -> tuple[str, ...]:
    """The names of a function's arguments by position, as far as Python knows them."""
    try:
        found = signature(function).parameters
    except (TypeError, ValueError):  # of functions in C
        return ()
    return tuple(name for name, each in found.items() if each.kind in BY_POSITION)


def method_parameters(method: Any, library: str | None) -> tuple[str, ...]:
    """The same of an array's method, the array before them: those of the library's function of that name."""
    function = getattr(sys.modules.get(library or ""), method.__name__, None)
    return parameters(function) or ("", *parameters(method))


def by_name(
    names: Sequence[str], count: int | None, positional: Sequence[Any], named: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments by position and by name, those after the operands by name where that is known.

    >>> by_name(("a", "axis", "dtype"), 1, ["x", 0, "f8"], {"out": "y", "where": None})
    (['x'], {'axis': 0, 'dtype': 'f8', 'out': 'y'})
    """
    cut = len(positional) if count is None or not names[count:] else count
    further = dict(zip(names[cut:], positional[cut:], strict=False)) | {**named}
    rest = [*positional[:cut], *positional[max(cut, len(names)) :]]
    return rest, {name: value for name, value in further.items() if value is not None}


def check_further(
    op: Operation, further: Sequence[Any], named: Mapping[str, Any], part: Callable[[Any], int | None]
) -> None:
    """Raises UnknownCallError if an argument that is no operand may have a say in the result's dtype.

    `further` follows after the operands; `part` gives the step of an array, None of anything else.
    """
    told = [name for name in named if name in TELLING]
    if told:
        raise UnknownCallError(f"its result depends on {told[0]}")
    if {op.name, op.of_class}.isdisjoint(FIRST_DECIDES):
        asked = [value for name, value in named.items() if name not in OTHERS]
        if any(_promotes(op, x, part) for x in (*further, *asked)):
            raise UnknownCallError("its result depends on more than its operands")


def _promotes(op: Operation, x: Any, part: Callable[[Any], int | None]) -> bool:
    """Whether an argument may take part: an array, a library's scalar, a complex number, a dtype."""
    if type(x) in (list, tuple):
        return op.name in SPACED_BY or any(_promotes(op, each, part) for each in x[:LONG])
    if part(x) is None:
        return type(x) is complex or is_dtype(type(x))
    o = operand(x)
    whole = o.tier == "0d" and o.kind in (Kind.SIGNED, Kind.UNSIGNED)  # as of an axis
    return o.kind is not Kind.BOOL and not (whole and op.name not in SPACED_BY)
