"""Python's builtins and `math` functions, called with known values or with arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.calls.call_tables import OPERATION_BY_FUNCTION
from typelattice.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.calls.program_builder import ProgramBuilder
from typelattice.calls.result_shapes import UNKNOWN_SHAPE_MESSAGE
from typelattice.calls.steps import Argument, DTypeOf, Excerpt, Input, NamedDType, Opaque, Ref, yield_leaves
from typelattice.facts.dtypes import Kind
from typelattice.operands.operand import Operand, scalar_operand
from typelattice.programs.source.name_meanings import (
    MAX_RANGE_LENGTH,
    NEEDS_VALUES_MESSAGE,
    BoundMethod,
    DefinedFunction,
    DottedName,
    ReadValue,
)
from typelattice.support.error_texts import spelling_hint

BUILTINS_THAT_LOOP = ("enumerate", "reversed", "zip")
USE_ARRAY_FUNCTION = object()  # the result if a Python builtin means the function of arrays
USE_PYTHON = object()  # the result if Python itself computes it, from known values
PYTHON_BUILTIN_BY_NAME: Mapping[str, Callable[..., Any]] = {
    "abs": abs, "all": all, "any": any, "enumerate": lambda *given: tuple(enumerate(*given)),
    "isinstance": isinstance, "len": len, "list": tuple, "max": max, "min": min, "print": print,
    "range": range, "reversed": lambda x: tuple(reversed(x)),
    "round": round, "sorted": lambda x: tuple(sorted(x)), "sum": sum, "tuple": tuple,
    "zip": lambda *given: tuple(zip(*given, strict=False)),
}  # fmt: skip
PYTHON_CLASS_BY_NAME: Mapping[str, type] = {"str": str, "list": tuple, "tuple": tuple, "dict": Mapping}


def call_builtin(builder: ProgramBuilder, excerpt: Excerpt, name: str, known_args: Sequence[Any]) -> Any:
    """Return the result of a Python builtin, or USE_ARRAY_FUNCTION."""
    if name == "print":
        return None
    if name in ARRAY_BUILTIN_BY_NAME:
        found = ARRAY_BUILTIN_BY_NAME[name](builder, excerpt, name, known_args)
        if found is not USE_PYTHON:
            return found
    if name == "range" and any(builder.is_unknown_length(x) for x in known_args):
        raise excerpt.error(UNKNOWN_SHAPE_MESSAGE)
    if any(
        isinstance(x, (Ref, DottedName, DefinedFunction, BoundMethod, NamedDType, DTypeOf))
        for x in known_args
    ):
        return USE_ARRAY_FUNCTION
    try:
        found = PYTHON_BUILTIN_BY_NAME[name](*known_args)
    except (TypeError, ValueError, OverflowError) as e:
        raise excerpt.error(f"Python refuses it: {e}; give other values") from None
    if not isinstance(found, range):
        return found
    if found[MAX_RANGE_LENGTH:]:
        raise excerpt.error(f"it has more than {MAX_RANGE_LENGTH:,} numbers; take a shorter range")
    return tuple(found)


def _call_len(builder: ProgramBuilder, excerpt: Excerpt, name: str, known_args: Sequence[Any]) -> Any:
    if len(known_args) != 1 or not isinstance(known_args[0], Ref):
        return USE_PYTHON
    shape = builder.shape_of(known_args[0])
    length: Argument = shape[0] if shape else None
    if length is None and shape != ():
        length = builder.add_length(excerpt, known_args[0])
    if length is None:
        raise excerpt.error(UNKNOWN_SHAPE_MESSAGE)
    return length


def _call_abs(builder: ProgramBuilder, excerpt: Excerpt, name: str, known_args: Sequence[Any]) -> Any:
    is_scalar = len(known_args) == 1 and builder.is_scalar(known_args[0])
    return builder.add_operator(excerpt, name, known_args) if is_scalar else USE_PYTHON


def _call_isinstance(builder: ProgramBuilder, excerpt: Excerpt, name: str, known_args: Sequence[Any]) -> Any:
    return _is_instance(builder, excerpt, *known_args) if len(known_args) == 2 else USE_PYTHON


def _call_extreme(builder: ProgramBuilder, excerpt: Excerpt, name: str, known_args: Sequence[Any]) -> Any:
    if (len(known_args) > 1 or isinstance(known_args[0], tuple)) and _has_array(known_args):
        raise excerpt.error(f"it asks which is the {name}; write {name}imum(x, y)")
    return USE_PYTHON


def _call_total(builder: ProgramBuilder, excerpt: Excerpt, name: str, known_args: Sequence[Any]) -> Any:
    is_list = known_args and isinstance(known_args[0], tuple) and _has_array(known_args)
    return _call_sum(builder, excerpt, *known_args) if is_list else USE_PYTHON


def _call_any_or_all(builder: ProgramBuilder, excerpt: Excerpt, name: str, known_args: Sequence[Any]) -> Any:
    return USE_ARRAY_FUNCTION if _has_array(known_args) else USE_PYTHON


def _call_loop(builder: ProgramBuilder, excerpt: Excerpt, name: str, known_args: Sequence[Any]) -> Any:
    if any(isinstance(x, Ref) for x in known_args):
        raise excerpt.error(f"a loop over an array {NEEDS_VALUES_MESSAGE}; use whole-array functions")
    return USE_PYTHON


# The builtins that take arrays. Each returns USE_PYTHON if Python itself should compute the result.
ARRAY_BUILTIN_BY_NAME: Mapping[str, Callable[[ProgramBuilder, Excerpt, str, Sequence[Any]], Any]] = {
    "len": _call_len, "abs": _call_abs, "isinstance": _call_isinstance,
    "max": _call_extreme, "min": _call_extreme, "sum": _call_total,
    "all": _call_any_or_all, "any": _call_any_or_all, "sorted": _call_any_or_all,
    **dict.fromkeys(BUILTINS_THAT_LOOP, _call_loop),
}  # fmt: skip


def _has_array(known_args: Sequence[Any]) -> bool:
    """Return True if an array or an unknown number is among the values, or in a list among them."""
    return any(isinstance(x, Ref) for x in yield_leaves(tuple(known_args)))


def _call_sum(
    builder: ProgramBuilder, excerpt: Excerpt, items: Sequence[Argument], start: Argument = 0
) -> Argument:
    """Return the sum of a list, computed as in Python: add each item in turn to `start`."""
    for each in items:
        start = builder.add_operator(excerpt, "add", [start, each])
    return start


def _is_instance(builder: ProgramBuilder, excerpt: Excerpt, value: Any, classes: Any) -> bool:
    """Return True if a value is of one of these Python classes. Raises ProgramError if one is an array's."""
    names = [
        each.path[-1] if isinstance(each, DottedName) else each.name for each in _flatten_classes(classes)
    ]
    asked = tuple(PYTHON_TYPE_BY_NAME.get(name) or PYTHON_CLASS_BY_NAME.get(name) for name in names)
    if isinstance(value, (DefinedFunction, DottedName, BoundMethod)) or None in asked:
        raise excerpt.error("it asks for a class that libraries have of their own; leave it out")
    if not isinstance(value, Ref):
        return isinstance(value, tuple(each for each in asked if each))
    given = builder.steps[value.step]
    if (
        isinstance(given, (Input, Opaque))
        and isinstance(given.fixed_result, Operand)
        and builder.is_scalar(value)
    ):
        return any(
            issubclass(PYTHON_TYPE_BY_NAME[given.fixed_result.kind.python_name], each)
            for each in asked
            if each
        )
    if builder.is_scalar(value):
        raise excerpt.error("it asks of what kind a number is, which is not known; leave it out")
    return False


def _flatten_classes(classes: Any) -> Sequence[Any]:
    """Return the classes given to isinstance: one class or several."""
    return classes if isinstance(classes, tuple) else (classes,)


def call_math(
    builder: ProgramBuilder, excerpt: Excerpt, name: str, args: Sequence[ReadValue], known_args: Sequence[Any]
) -> Argument:
    """Return the result of a function of `math`: a Python float, known if the arguments are known."""
    function = vars(math).get(name)
    if name not in OPERATION_BY_FUNCTION or not callable(function):
        raise excerpt.error(
            f"math.{name} is no operation{spelling_hint(name, OPERATION_BY_FUNCTION)}; give its value"
        )
    if all(isinstance(x, (int, float)) for x in known_args):
        try:
            return float(function(*known_args))
        except (TypeError, ValueError, OverflowError) as e:
            raise excerpt.error(f"Python refuses it: {e}; give other values") from None
    refs = [x.step for x in args if isinstance(x, Ref)]
    return builder.add_opaque(excerpt, f"math.{name}", scalar_operand(Kind.FLOAT), refs, ())
