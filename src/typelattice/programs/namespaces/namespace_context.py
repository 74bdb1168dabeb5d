"""The context of a namespace's functions: the system, the library, the recipes and the array class."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, dtype, real_part_dtype
from typelattice.core.engine.new_arrays import NewArray, create_array
from typelattice.core.engine.promotion import Promotion, PromotionError
from typelattice.core.engine.system import System
from typelattice.core.losses.cast_rounding_and_overflow import PLAIN_CAST_RULE
from typelattice.core.losses.range_and_overflow import PythonNumber, exceeds_int32
from typelattice.core.operands.notation import number_operand as scalar_of
from typelattice.core.operands.notation import read_dtype
from typelattice.core.operands.operand import Operand, scalar_operand
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.operations import Operation, find_operation
from typelattice.core.operations.shapes import Shape
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.computing_libraries.computing_library import (
    NO_KERNEL_ERRORS,
    ComputingLibrary,
)
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.recipe import (
    ArrayType,
    Recipe,
    RecipeMaker,
    one_line_message,
    python_number,
    rounds_to_compute_dtype,
)

KIND_BY_STANDARD_WORD = {
    "real floating": Kind.FLOAT,
    "complex floating": Kind.COMPLEX,
    "integral": Kind.SIGNED,
    "indexing": Kind.SIGNED,
}  # the standard's words for the sorts of default dtypes


class NamespaceContext:
    """One system over one library.

    `Array` is the class of the arrays. `recipes` looks up the system's answers and keeps them. `dtypes` maps
    names to the dtypes that both have.
    """

    def __init__(self, system: System, library: ComputingLibrary, arrays: type[Array]) -> None:
        self.system, self.library, self.Array = system, library, arrays
        self.recipes: RecipeMaker = arrays._recipes
        known = dict.fromkeys((*DTYPES.values(), *system.custom_dtypes.values()))
        self._creation_types: dict[NewArray, tuple[DType, bool]] = {}
        self.dtypes = {d.name: d for d in known if d in system.order and library.has_dtype(d)}
        own = [d for d in self.dtypes.values() if d in system.custom_dtypes.values()]
        library.read_as(own, system.order.nodes)

    def __repr__(self) -> str:
        return f"<namespace {self.system.name} over {self.library.name}>"

    # -- the arguments of functions

    def require_array(self, op_name: str, obj: Any) -> Array:
        """Return an array of this namespace. Raises NamespaceError for anything else."""
        if obj.__class__ is self.Array:
            own: Array = obj
            return own
        raise self.foreign_object_error(op_name, obj)

    def read_operand(self, op_name: str, obj: Any) -> Any:
        """Return an operand: an array of this namespace, or a Python number.

        A scalar of the library becomes an array without dimensions. Raises NamespaceError for anything else.
        """
        if obj.__class__ is self.Array:
            return obj
        value = python_number(obj)
        if value is not None:
            return value
        data = self.library.scalar_to_array(obj)
        if data is None:
            raise self.foreign_object_error(op_name, obj)
        return self.wrap(self.cast_to_replaced_dtype(data))

    def foreign_object_error(self, op_name: str, obj: Any) -> NamespaceError:
        """Build the error for an object that is not an array of this namespace."""
        if isinstance(obj, Array):
            same = obj._recipes.library.name == self.library.name
            how = "asarray(x.bare) of this one" if same else "from_dlpack of this one"
            what = f"{op_name} mixes an array of {obj._space!r} with {self!r}"
            return NamespaceError(f"{what}; take it over with {how}")
        what = f"{op_name} takes arrays of {self!r}, not a {class_name(obj)}"
        return NamespaceError(f"{what}; make it one with asarray")

    def read_two_operands(self, op_name: str, x1: Any, x2: Any) -> tuple[Any, Any]:
        """Return two operands, at least one of them an array: of two numbers, the first becomes one."""
        x1, x2 = self.read_operand(op_name, x1), self.read_operand(op_name, x2)
        if isinstance(x1, Array) or isinstance(x2, Array):
            return x1, x2
        return self.wrap_number(x1), x2

    def convert_operands(self, xs: Sequence[Any]) -> list[Operand]:
        """Convert arrays and Python numbers to operands of the system."""
        read = self.recipes.operand_of_array
        return [read(x._type, x._data) if isinstance(x, Array) else scalar_of(x) for x in xs]

    def library_arrays(self, promotion: Promotion, xs: Sequence[Any]) -> tuple[Any, ...]:
        """Return the library's arrays.

        Python numbers become arrays of the dtype that the promotion states.
        """
        like = next((x._data for x in xs if isinstance(x, Array)), None)
        if like is None:
            raise NamespaceError(f"{promotion.op} takes an array at least; make one with asarray")
        number = self.recipes.convert_number
        return tuple(x._data if isinstance(x, Array) else number(x, promotion, like) for x in xs)

    def unwrap(self, obj: Any) -> Any:
        """Replace our arrays by the library's own, also within lists, tuples, dicts and slices."""
        if isinstance(obj, Array):
            return self.require_array("indexing", obj)._data
        if isinstance(obj, (tuple, list)):
            nested = any(isinstance(i, (Array, tuple, list, slice)) for i in obj)
            return type(obj)(map(self.unwrap, obj)) if nested else obj
        if isinstance(obj, slice):
            return slice(
                *(i.__index__() if isinstance(i, Array) else i for i in (obj.start, obj.stop, obj.step))
            )
        if isinstance(obj, dict):
            return {k: self.unwrap(v) for k, v in obj.items()}
        return obj

    def read_dtype(self, requested: object) -> DType:
        """Read a requested dtype: a DType, its name, or the library's own.

        Raises DTypeError if it is not a dtype, NamespaceError if the library lacks this dtype.
        """
        readable = not isinstance(requested, (str, int, float, complex)) and not hasattr(
            requested, "__dlpack__"
        )
        if isinstance(requested, str):
            found = read_dtype(requested, self.system.custom_dtypes)
        else:
            found = (operand(requested).dtype if readable else None) or dtype(requested)
        self.library.native_dtype(found)
        return found

    def replace_requested_dtype(self, requested: object) -> DType:
        """Return the dtype of an array for a requested dtype: the system may replace it by another."""
        return self.system.dtype_of_new_array(self.read_dtype(requested))

    def cast_to_replaced_dtype(self, data: Any) -> Any:
        """Return an array of the library, cast if the system replaces its dtype by another."""
        own = self.library.dtype_of(data)
        d = self.system.dtype_of_new_array(own)
        return data if d is own else self.library.cast(data, self.library.native_dtype(d))

    def cast_for_assignment(self, x: Array, target: DType) -> Any:
        """Cast an array for an assignment, by the system's rule for that cast if it has one."""
        if self.system.cast_rule(x.dtype, target) == PLAIN_CAST_RULE:
            return self.library.cast_for_assignment(x._data, target)
        return self.recipes.cast(x._data, target)

    def default_dtype(self, kind: Kind) -> DType:
        """Return the default dtype of a kind: the system's, or the library's if the system has none."""
        return self.system.defaults.get(kind) or self.library_default(kind)

    def creation_type(
        self,
        function_name: str,
        kind: Kind,
        number: PythonNumber | None = None,
        numbers: Sequence[Operand] = (),
        has_dimensions: bool = False,
    ) -> tuple[DType, bool]:
        """Return the dtype of a new array without a requested one, and whether the system says it is weak.

        `number` counts by its value if it is an int beyond int32. Such an int may have another dtype, and
        then `numbers` are all that the array holds. Where the system leaves the default dtype open, as the
        standard does, it is the library's. Raises PromotionError if the system has none.
        """
        is_large = kind is Kind.SIGNED and exceeds_int32(number)
        of = operand(number) if is_large else scalar_operand(kind)  # refuses an int that is too wide
        new = NewArray(function_name, of, tuple(numbers), tier="array" if has_dimensions else "0d")
        if new not in self._creation_types:
            p = create_array(self.system, new, self.system.origin.rule_of_answer)
            if p.dtype is None:
                raise PromotionError(p)
            is_open = kind is not Kind.BOOL and kind not in self.system.defaults
            found = (self.library_default(kind) if is_open else p.dtype), p.weak
            if numbers:
                return found
            self._creation_types[new] = found
        return self._creation_types[new]

    def library_default(self, kind: Kind, device: object = None) -> DType:
        """Return the library's default dtype of a kind. If the system lacks it, return the kind's widest."""
        if kind is Kind.BOOL:
            return self.read_dtype("bool")
        word = next(word for word, of in KIND_BY_STANDARD_WORD.items() if of is kind)
        said = self.library.inspection_info().default_dtypes(device=device)[word]
        found = self.library.dtype_of(self.library.xp.empty(0, dtype=said))
        return found if found in self.system.order else self._find_widest_dtype(kind)

    def _find_widest_dtype(self, kind: Kind) -> DType:
        """Return the widest dtype of a kind that both have. Raises NamespaceError without one."""
        found = [x for x in self.dtypes.values() if x.kind is kind and x.bits]
        if not found:
            raise NamespaceError(f"{self.system.name} has no {kind} dtype to make an array of; name a dtype")
        return max(found, key=lambda x: (x.bits or 0, x.precision or 0))

    # -- the results of functions

    def wrap_typed(self, data: Any, array_type: ArrayType) -> Array:
        """Make an array of the namespace around one of the library."""
        return self.Array._wrap_typed(data, array_type)

    def wrap(self, data: Any, array_dtype: DType | None = None, weak: bool = False) -> Array:
        """Wrap an array or a scalar of the library as an array of the namespace."""
        return self.Array._wrap(data, array_dtype, weak)

    def wrap_number(self, value: PythonNumber) -> Array:
        """Convert a Python number to an array of its default dtype.

        The array is weak if the system says so.
        """
        d, weak = self.creation_type("asarray", scalar_of(value).kind, value)
        try:
            data = self.library.xp.asarray(value, dtype=self.library.native_dtype(d))
        except (TypeError, OverflowError, ValueError, RuntimeError) as e:
            why = f"{self.library.name} makes no array of this {class_name(value)}: {e}"
            raise NamespaceError(f"{why}; give numbers, or use from_dlpack") from e
        data = self.library.check_dtype(data, self.library.native_dtype(d))
        return self.wrap(data, d, weak)

    def rebuild_array(self, data: Any, array_dtype: DType, weak: bool) -> Array:
        """Rebuild an array from its parts. Within a transformation, `data` need not be an array."""
        if hasattr(data, "ndim") and hasattr(data, "dtype"):
            return self.wrap(data, None, weak)
        return self.wrap_typed(data, self.recipes.array_type(array_dtype, weak, False))

    def wrap_one_of_results(self, data: Any, promotion: Promotion, stated_dtype: DType | None) -> Any:
        """Wrap one of several results: of the given dtype, the compute dtype, or the dtype of its parts.

        A result that is not an array, such as a rank, stays unchanged.
        """
        if not hasattr(data, "dtype"):
            return data
        d, compute = self.library.dtype_of(data), promotion.arithmetic_dtype
        if stated_dtype is not None:
            to = stated_dtype
        elif d.kind is Kind.FLOAT and compute.kind is Kind.COMPLEX:
            to = real_part_dtype(compute)
        else:
            to = compute if d.kind is compute.kind else d
        weak = promotion.weak and stated_dtype is None and to is compute
        return self.wrap(self.library.cast(data, self.library.native_dtype(to)), to, weak)

    # -- how functions compute

    def compute_result(
        self,
        op_name: str,
        promotion: Promotion,
        data: Sequence[Any],
        *args: Any,
        leading_arguments: tuple[Any, ...] = (),
        **options: Any,
    ) -> Array:
        """Cast the operands, call the library's function, and return an array of the result's dtype."""
        library, name = self.library, find_operation(op_name).function
        to = library.native_dtype(promotion.arithmetic_dtype)
        if promotion.accumulator is not None:
            out = self.call_library(
                promotion, self.recipes.accumulating_function(promotion), *data, *args, **options
            )
        else:
            cast = [self.recipes.cast(x, promotion.arithmetic_dtype) for x in data]
            out = self.call_library(
                promotion, library.find_function(name), *leading_arguments, *cast, *args, **options
            )
        out = library.ensure_array(out)
        if rounds_to_compute_dtype(promotion):
            out = library.cast(out, to)
        return self.wrap(
            library.cast(out, library.native_dtype(promotion.result)),
            promotion.result,
            promotion.weak,
        )

    def accumulate(self, op_name: str, to: DType, xs: Sequence[Any], **options: Any) -> Array:
        """Call a function that adds up in a dtype, and keep the dtypes of its operands."""
        data = [x._data if isinstance(x, Array) else x for x in xs]
        name, native = find_operation(op_name).function, self.library.native_dtype(to)
        out = self.library.accumulate(name, native, *data, **self.unwrap(options))
        return self.wrap(self.library.check_dtype(self.library.ensure_array(out), native), to)

    def call_custom(
        self, operation: Operation, to: DType, shape: Shape, xs: Sequence[Any], parameters: Mapping[str, Any]
    ) -> Array:
        """Call an operation that the system's file defines. Arrays among its parameters follow its operands.

        Raises NamespaceError for a library that cannot call such operations.
        """
        given = {key: x for key, x in parameters.items() if not isinstance(x, Array)}
        arrays = [x._data for x in (*xs, *parameters.values()) if isinstance(x, Array)]
        plain = {key: x.name if isinstance(x, DType) else x for key, x in given.items()}
        native, domain = self.library.native_dtype(to), self.system.name
        return self.wrap(self.library.call_custom(domain, operation.name, native, shape, arrays, plain), to)

    def call_operation(self, op_name: str, xs: Sequence[Any], **options: Any) -> Array:
        """Carry out an operation on arrays and Python scalars by the library's function of that name."""
        taken = [self.read_operand(op_name, x) for x in xs]
        p = self.recipes.promote(op_name, self.convert_operands(taken))
        return self.compute_result(op_name, p, self.library_arrays(p, taken), **self.unwrap(options))

    def try_uncast(self, promotion: Promotion, function: Callable[..., Any], *xs: Any) -> Any:
        """Return the library's own result for uncast operands, or None if its dtype differs from `promotion`.

        Raises NamespaceError for a number that the library refuses.
        """
        try:
            out = self.library.ensure_array(function(*(x._data if isinstance(x, Array) else x for x in xs)))
        except Exception as e:
            if self.library.is_refusal(e):
                what = " and ".join(dict.fromkeys(str(o) for o in promotion.operands))
                why = f"{self.library.name} refuses {promotion.op} of {what} ({one_line_message(e)})"
                raise NamespaceError(f"{why}; use a number within its range, or cast first") from e
            return None  # the caller then casts the operands first, which succeeds or raises again
        return out if self.recipes.matches_promotion(out, promotion) else None

    def run_recipe(self, recipe: Recipe, xs: Sequence[Any]) -> tuple[Any, Recipe]:
        """Return the library's array for arrays and Python numbers, and the recipe that gave it."""
        p = recipe.promotion
        if recipe.native_dtype is None:
            out = self.try_uncast(p, recipe.compute, *xs)
            if out is not None:
                return out, recipe
            recipe = self.recipes.casting_recipe(p)
        out = self.call_library(p, recipe.compute, *self.library_arrays(p, xs))
        if recipe.cast_result and out.dtype == self.library.native_dtype(p.result):
            recipe = replace(recipe, cast_result=None)
        return (out if recipe.cast_result is None else recipe.cast_result(out)), recipe

    def call_on_list(self, op_name: str, arrays: Sequence[Array], **options: Any) -> Array:
        """Cast a list of arrays to their common dtype, and call the library's function on the list."""
        p = self.recipes.promote(op_name, self.convert_operands(arrays))
        cast = [self.recipes.cast(x._data, p.arithmetic_dtype) for x in arrays]
        out = self.call_library(p, self.library.find_function(op_name), cast, **options)
        return self.wrap(self.library.cast(out, self.library.native_dtype(p.result)), p.result, p.weak)

    def call_library(
        self, promotion: Promotion, function: Callable[..., Any], *args: Any, **options: Any
    ) -> Any:
        """Call a function of the library. Raises NamespaceError if it does not support these dtypes."""
        try:
            return function(*args, **options)
        except (*NO_KERNEL_ERRORS, OverflowError) as e:
            raise self.unsupported_error(promotion, e) from e

    def unsupported_error(self, promotion: Promotion, cause: Exception) -> Exception:
        """Build the error for a function that does not support these dtypes.

        Our own errors stay unchanged.
        """
        if isinstance(cause, NamespaceError):
            return cause
        what = " and ".join(dict.fromkeys(str(o) for o in promotion.operands))
        why = f"{self.library.name} cannot compute {promotion.op} of {what} ({one_line_message(cause)})"
        return NamespaceError(f"{why}; if that is about the dtype, cast to one that it computes with")


def class_name(x: object) -> str:
    """Return the name of an object's class as errors show it."""
    return f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
