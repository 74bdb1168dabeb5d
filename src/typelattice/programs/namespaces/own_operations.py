"""The operations that a system's file defines, as functions of a namespace."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.operations.operations import RESULT_SHAPE_ARGUMENT, Operation
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.namespace_context import NamespaceContext
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.recipe import one_line_message


def make_own_operations(
    context: NamespaceContext, functions: Mapping[str, Callable[..., Any]]
) -> dict[str, Callable[..., Any]]:
    """Build the functions of the operations that the system defines.

    `functions` compute them on the library's arrays, by name. Raises NamespaceError for a name that is none.
    """
    known = {
        name: op for name, op in context.system.custom_operations.items() if op.is_callable
    }
    for name in functions:
        if name not in known:
            near = spelling_hint(name, known) or f"; these are {', '.join(known) or 'none'}"
            raise NamespaceError(f"{context.system.name} defines no operation {name!r}{near}")
    return {name: _own_operation_maker(context, op, functions.get(name)) for name, op in known.items()}


def _own_operation_maker(
    context: NamespaceContext, operation: Operation, compute: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Build the function of one operation: look up the answer, cast, call, and check the result's dtype."""
    names = (*operation.operand_names, *operation.parameter_names)
    optional = {"default": None}
    signature = inspect.Signature([
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            **({} if name in operation.operand_names else optional),
        )
        for name in names
    ])  # fmt: skip

    def function(*args: Any, **keywords: Any) -> Array:
        keywords.pop(RESULT_SHAPE_ARGUMENT, None)  # which only a graph needs
        try:
            given = signature.bind(*args, **keywords).arguments
        except TypeError as e:
            raise NamespaceError(f"{operation.name}{signature}: {e}") from None
        if compute is None:
            how = f"tl.namespace(..., operations={{{operation.name!r}: ...}})"
            what = f"{context.system.name} says no values of {operation.name}, only its dtypes"
            raise NamespaceError(f"{what}; give a function that computes it: {how}")
        xs = [context.read_operand(operation.name, given.pop(name)) for name in operation.operand_names]
        p = context.system.promote(*context.convert_operands(xs), op=operation.name)
        data = context.library_arrays(p, xs)
        if p.accumulator is None:
            data = tuple(context.recipes.cast(x, p.arithmetic_dtype) for x in data)
        try:
            out = compute(*data, **context.unwrap(dict(given)))
        except TypelatticeError:
            raise
        except Exception as e:
            why = f"the function of {operation.name} raised {type(e).__name__} ({one_line_message(e)})"
            raise NamespaceError(f"{why}; it gets arrays of {context.library.name}") from e
        checked = _checked_result(context, operation, p.accumulator, p.result, out)
        return context.wrap(checked, p.result, p.weak)

    function.__name__ = function.__qualname__ = operation.name
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _checked_result(
    context: NamespaceContext, operation: Operation, accumulator: Any, result: Any, out: Any
) -> Any:
    """Return the array that a user's function gave, of the system's dtype or cast from its accumulator."""
    library = context.library
    out = library.ensure_array(out)
    own = getattr(out, "dtype", None)
    if own == library.native_dtype(result):
        return out
    if accumulator is not None and own == library.native_dtype(accumulator):
        return library.cast(out, library.native_dtype(result))
    what = f"the function of {operation.name} gave {own if own is not None else type(out).__name__}"
    raise NamespaceError(f"{what}, and {context.system.name} says {result}; cast its result to {result}")
