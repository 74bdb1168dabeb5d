"""The functions that promote, one builder for each form: look up the answer, cast, and call the library."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.requested_dtypes import may_refuse_operand
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.computing_libraries.computing_library import NO_KERNEL_ERRORS
from typelattice.programs.namespaces.namespace_context import NamespaceContext
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.recipe import Recipe
from typelattice.programs.namespaces.result_tuples import RESULT_TUPLE_BY_FUNCTION
from typelattice.programs.namespaces.standard_signatures import name_function

NamespaceFunction = Callable[..., Any]
PromotingFunctionMaker = Callable[[NamespaceContext, str], NamespaceFunction]


def binary_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build a function of two arrays, or of one array and a Python scalar.

    The function makes one recipe for each two array types. This is the path of every `x + y`, so its first
    lines only look up that recipe.
    """
    cls, recipes, new = context.Array, context.recipes, object.__new__
    kept: dict[tuple[object, object], Recipe] = {}

    def function(x1: Any, x2: Any, /) -> Any:
        if x1.__class__ is cls and x2.__class__ is cls:
            recipe = kept.get((x1._type, x2._type))
            if recipe is not None:
                try:
                    out = recipe.compute(x1._data, x2._data)
                except NO_KERNEL_ERRORS as e:
                    raise context.unsupported_error(recipe.promotion, e) from e
                result = new(cls)
                result._data = out if recipe.cast_result is None else recipe.cast_result(out)
                result._type = recipe.array_type
                return result
        return first(x1, x2)

    def first(x1: Any, x2: Any) -> Any:
        """Do the same for operands without a recipe, and for numbers."""
        x1, x2 = context.read_two_operands(op_name, x1, x2)
        key = _operand_key(x1), _operand_key(x2)
        value = x2 if x1.__class__ is cls else x1
        value = None if value.__class__ is cls else value
        recipe = kept.get(key)
        if recipe is not None and recipe.array_type and recipe.covers_value(value):
            left = x1._data if x1.__class__ is cls else recipes.convert_covered_number(x1, recipe, x2._data)
            right = x2._data if x2.__class__ is cls else recipes.convert_covered_number(x2, recipe, x1._data)
            out = context.call_library(recipe.promotion, recipe.compute, left, right)
            return context.wrap_typed(
                out if recipe.cast_result is None else recipe.cast_result(out), recipe.array_type
            )
        recipe = recipes.make_recipe(op_name, context.convert_operands((x1, x2)))
        out, recipe = context.run_recipe(recipe, (x1, x2))
        array_type = recipe.array_type or recipes.type_of_array(
            out, recipe.promotion.result, recipe.promotion.weak
        )
        if recipe.covers_value(value) and not recipes.promotes_by_value:
            kept[key] = replace(recipe, array_type=array_type)
        return context.wrap_typed(out, array_type)

    return function


def _operand_key(x: Any) -> object:
    """Return an operand's part of a recipe's key: the ArrayType of an array, the class of a Python scalar."""
    return x._type if isinstance(x, Array) else x.__class__


def unary_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build a function of one array. Its other arguments take no part in promotion."""
    kept: dict[object, Recipe] = {}
    recipes = context.recipes

    def function(x: Any, /, *args: Any, **options: Any) -> Any:
        x = context.require_array(op_name, x)
        recipe = kept.get(x._type)
        if recipe is None:
            recipe = recipes.make_recipe(op_name, (recipes.operand_of_array(x._type, x._data),))
        p = recipe.promotion
        if args or options:
            return context.compute_result(
                op_name, p, (x._data,), *context.unwrap(args), **context.unwrap(options)
            )
        out, recipe = context.run_recipe(recipe, (x,))
        if not recipes.promotes_by_value:
            kept[x._type] = recipe
        return context.wrap(out, p.result, p.weak)

    return function


def several_operands_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build a function of two arrays or more, with options such as axes."""

    def function(*xs: Any, **options: Any) -> Any:
        return context.call_operation(op_name, xs, **options)

    return function


def reduction_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build a function along axes. For some functions, `dtype` may request the dtype of the result."""
    library, promote = context.library, single_promotion_maker(context, op_name)
    accumulates = OPERATIONS[op_name].takes_dtype

    def function(x: Any, /, *, dtype: object = None, **options: Any) -> Any:
        x = context.require_array(op_name, x)
        if dtype is not None:
            return as_dtype(x, context.replace_requested_dtype(dtype), **options)
        p = promote(x)
        if x.ndim == 0 and options.get("include_initial"):  # an initial value extends an axis
            x = context.wrap(library.find_function("reshape")(x._data, (1,)), x.dtype, x.weak)
        if accumulates:
            options["dtype"] = library.native_dtype(p.arithmetic_dtype)
        return context.compute_result(op_name, p, (x._data,), **context.unwrap(options))

    def as_dtype(x: Array, d: DType, **options: Any) -> Any:
        if not accumulates:
            raise NamespaceError(f"{op_name} takes no dtype; cast its result with astype")
        to = library.native_dtype(d)
        if may_refuse_operand(context.system, OPERATIONS[op_name], x._type.operand):
            promote(x)
        data = context.recipes.cast(x._data, d)
        out = library.find_function(op_name)(data, dtype=to, **context.unwrap(options))
        return context.wrap(out, d)

    return function


def difference_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build `diff`. The arrays before and after promote with the array itself."""

    def function(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
        given = {"x": context.require_array(op_name, x), "prepend": prepend, "append": append}
        arrays = {name: context.require_array(op_name, v) for name, v in given.items() if v is not None}
        if len(arrays) > 1:
            common_dtype = context.recipes.promote(
                "concat", context.convert_operands([*arrays.values()])
            ).result
            arrays = {
                name: context.wrap(context.recipes.cast(v._data, common_dtype), common_dtype)
                for name, v in arrays.items()
            }
        return context.call_operation(op_name, (arrays.pop("x"),), axis=axis, n=n, **arrays)

    return function


def choice_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build `where`: a condition, and two branches that promote."""

    def function(condition: Any, x1: Any, x2: Any, /) -> Any:
        mask = context.require_array(op_name, condition)
        if mask.dtype.kind is not Kind.BOOL:
            what = f"the condition of {op_name} is {mask.dtype}"
            raise NamespaceError(f"{what}; compare it with zero to make it bool")
        branches = context.read_operand(op_name, x1), context.read_operand(op_name, x2)
        if context.recipes.is_own_system:
            p = context.recipes.promote(op_name, context.convert_operands(branches))
            out = context.try_uncast(
                p, context.library.uncast_function(op_name, zero_d=False), mask, *branches
            )
            if out is not None:
                return context.wrap(out, p.result, p.weak)
        branches = context.read_two_operands(op_name, *branches)
        p = context.recipes.promote(op_name, context.convert_operands(branches))
        return context.compute_result(
            op_name, p, context.library_arrays(p, branches), leading_arguments=(mask._data,)
        )

    return function


def list_function_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build a function of a list of arrays, which promote together."""

    def function(arrays: Sequence[Any], /, **options: Any) -> Any:
        if not isinstance(arrays, (list, tuple)):
            raise NamespaceError(f"{op_name} takes a list of arrays; write {op_name}([x, y])")
        if not arrays:
            raise NamespaceError(f"{op_name} of no arrays has no dtype; give one at least")
        own = [context.require_array(op_name, x) for x in arrays]
        # with axis=None, concat flattens all arrays first, also 0-d ones
        if op_name == "concat" and options.get("axis", 0) is None:
            reshape = context.library.find_function("reshape")
            own = [context.wrap(reshape(x._data, (-1,)), x.dtype, x.weak) if x.ndim == 0 else x for x in own]
        return context.call_on_list(op_name, own, **options)

    return function


def each_array_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build a function of several arrays that keeps the dtype of each."""

    def function(*arrays: Any, **options: Any) -> Any:
        listed = [context.require_array(op_name, x) for x in arrays]
        made = context.library.find_function(op_name)(*(x._data for x in listed), **options)
        return tuple(x._wrap_like(out) for x, out in zip(listed, made, strict=True))

    return function


def clip_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build `clip`: the bounds, if given, promote with the clipped array."""
    library = context.library

    def function(x: Any, /, min: Any = None, max: Any = None) -> Any:
        x = context.require_array(op_name, x)
        low, high = (None if b is None else context.read_operand(op_name, b) for b in (min, max))
        given = [b for b in (x, low, high) if b is not None]
        p = context.recipes.promote(op_name, context.convert_operands(given))
        if len(given) == 1:
            out = library.asarray(x._data, copy=True)
            return context.wrap(library.cast(out, library.native_dtype(p.result)), p.result, p.weak)
        if context.recipes.is_own_system:
            out = context.try_uncast(p, library.uncast_function(op_name, zero_d=False), x, low, high)
            if out is not None:
                return context.wrap(out, p.result, p.weak)
        data = iter(context.library_arrays(p, given))
        to = p.arithmetic_dtype
        cast = [None if b is None else context.recipes.cast(next(data), to) for b in (x, low, high)]
        out = context.call_library(p, library.find_function(op_name), *cast)
        return context.wrap(library.cast(out, library.native_dtype(p.result)), p.result, p.weak)

    return function


def multiple_results_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build a function with several results. Each has the dtype that the library gives it."""
    library, promote, of_class = (
        context.library,
        single_promotion_maker(context, op_name),
        OPERATIONS[op_name].operation_class,
    )

    def function(x: Any, /, *args: Any, **options: Any) -> Any:
        x = context.require_array(op_name, x)
        p = promote(x)
        cast = context.recipes.cast(x._data, p.arithmetic_dtype)
        results = context.call_library(
            p, library.find_function(op_name), cast, *context.unwrap(args), **context.unwrap(options)
        )
        if not isinstance(results, (tuple, list)):
            return context.wrap_one_of_results(results, p, None)
        if of_class == "distinct":  # the first result has the values; the others are places and counts
            index_dtype = context.default_dtype(Kind.SIGNED)
            wrapped = [
                context.wrap_one_of_results(out, p, index_dtype if i else None)
                for i, out in enumerate(results)
            ]
        else:
            given = p.result if of_class == "position" else None
            wrapped = [context.wrap_one_of_results(out, p, given) for out in results]
        return (
            RESULT_TUPLE_BY_FUNCTION[op_name](*wrapped)
            if op_name in RESULT_TUPLE_BY_FUNCTION
            else tuple(wrapped)
        )

    return function


def indexed_maker(context: NamespaceContext, op_name: str) -> NamespaceFunction:
    """Build a function of an array and of indices into it."""
    promote = single_promotion_maker(context, op_name)

    def function(x: Any, indices: Any, /, **options: Any) -> Any:
        x, at = context.require_array(op_name, x), context.require_array(op_name, indices)
        return context.compute_result(op_name, promote(x), (x._data,), at._data, **options)

    return function


def single_promotion_maker(context: NamespaceContext, op_name: str) -> Callable[[Array], Promotion]:
    """Build a function that looks up the answer for one array, and keeps it by the array's ArrayType."""
    recipes = context.recipes
    known: dict[object, Promotion] = {}

    def promote(x: Array) -> Promotion:
        p = known.get(x._type)
        if p is None:
            p = recipes.promote(op_name, (recipes.operand_of_array(x._type, x._data),))
            if not recipes.promotes_by_value:
                known[x._type] = p
        return p

    return promote


MAKER_BY_FORM: dict[str, PromotingFunctionMaker] = {
    "reduction": reduction_maker,
    "along": reduction_maker,
    "choice": choice_maker,
    "list": list_function_maker,
    "separate": each_array_maker,
    "multi-result": multiple_results_maker,
    "indexed": indexed_maker,
}
MAKER_BY_NAME: dict[str, PromotingFunctionMaker] = {
    "clip": clip_maker,
    "diff": difference_maker,
}  # the maker of these functions follows from their name, not from their form


def find_maker(operation: Operation) -> PromotingFunctionMaker | None:
    """Return the builder of an operation's function, or None if the operation only returns dtypes."""
    if operation.call_form in ("elementwise", "whole") and operation.name not in MAKER_BY_NAME:
        if operation.max_operands == 1:
            return unary_maker
        return (
            binary_maker
            if (operation.call_form, operation.max_operands) == ("elementwise", 2)
            else several_operands_maker
        )
    return MAKER_BY_NAME.get(operation.name) or MAKER_BY_FORM.get(operation.call_form)


def make_promoting_functions(context: NamespaceContext) -> dict[str, NamespaceFunction]:
    """Build the functions that promote, as far as the library has them."""
    builders = {name: find_maker(op) for name, op in OPERATIONS.items()}
    there = {name: build for name, build in builders.items() if build and context.library.has_function(name)}
    return {name: name_function(build(context, name), name) for name, build in there.items()}
