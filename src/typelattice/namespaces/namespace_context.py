"""The context of a namespace's functions: the system, the library, the recipes and the array class."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from typelattice.engine.promotion import Promotion
from typelattice.engine.system import System
from typelattice.facts.dtypes import DTYPES, DType, Kind, dtype, real_part_dtype
from typelattice.facts.operations import Operation, find_operation
from typelattice.facts.range_and_overflow import Value
from typelattice.facts.shapes import Shape
from typelattice.namespaces.array import Array
from typelattice.namespaces.computing_libraries.computing_library import NO_KERNEL_ERRORS, ComputingLibrary
from typelattice.namespaces.namespace_error import NamespaceError
from typelattice.namespaces.recipe import ArrayType, Recipe, RecipeMaker, one_line, python_number
from typelattice.operands.notation import number_operand as scalar_of
from typelattice.operands.operand import Operand
from typelattice.operands.read_objects import operand

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
        self.dtypes = {d.name: d for d in DTYPES.values() if d in system.order and library.has_dtype(d)}

    def __repr__(self) -> str:
        return f"<namespace {self.system.name} over {self.library.name}>"

    # -- the arguments of functions

    def require_array(self, op: str, x: Any) -> Array:
        """Return an array of this namespace. Raises NamespaceError for anything else."""
        if x.__class__ is self.Array:
            own: Array = x
            return own
        raise self.foreign_object_error(op, x)

    def read_operand(self, op: str, x: Any) -> Any:
        """Return an operand: an array of this namespace, or a Python number.

        A scalar of the library becomes an array without dimensions. Raises NamespaceError for anything else.
        """
        if x.__class__ is self.Array:
            return x
        value = python_number(x)
        if value is not None:
            return value
        data = self.library.scalar_to_array(x)
        if data is None:
            raise self.foreign_object_error(op, x)
        return self.wrap(self.enter_array(data))

    def foreign_object_error(self, op: str, x: Any) -> NamespaceError:
        """Build the error for an object that is not an array of this namespace."""
        if isinstance(x, Array):
            same = x._recipes.library.name == self.library.name
            how = "asarray(x.bare) of this one" if same else "from_dlpack of this one"
            what = f"{op} mixes an array of {x._space!r} with {self!r}"
            return NamespaceError(f"{what}; take it over with {how}")
        what = f"{op} takes arrays of {self!r}, not a {class_name(x)}"
        return NamespaceError(f"{what}; make it one with asarray")

    def read_two_operands(self, op: str, x1: Any, x2: Any) -> tuple[Any, Any]:
        """Return two operands, at least one of them an array: of two numbers, the first becomes one."""
        x1, x2 = self.read_operand(op, x1), self.read_operand(op, x2)
        if isinstance(x1, Array) or isinstance(x2, Array):
            return x1, x2
        return self.wrap_number(x1), x2

    def operands(self, xs: Sequence[Any]) -> list[Operand]:
        """Convert arrays and Python numbers to operands of the system."""
        read = self.recipes.operand
        return [read(x._type, x._data) if isinstance(x, Array) else scalar_of(x) for x in xs]

    def library_arrays(self, p: Promotion, xs: Sequence[Any]) -> tuple[Any, ...]:
        """Return the library's arrays.

        Python numbers become arrays of the dtype that the promotion states.
        """
        like = next((x._data for x in xs if isinstance(x, Array)), None)
        if like is None:
            raise NamespaceError(f"{p.op} takes an array at least; make one with asarray")
        number = self.recipes.convert_number
        return tuple(x._data if isinstance(x, Array) else number(x, p, like) for x in xs)

    def unwrap(self, x: Any) -> Any:
        """Replace our arrays by the library's own, also within lists, tuples, dicts and slices."""
        if isinstance(x, Array):
            return self.require_array("indexing", x)._data
        if isinstance(x, (tuple, list)):
            nested = any(isinstance(i, (Array, tuple, list, slice)) for i in x)
            return type(x)(map(self.unwrap, x)) if nested else x
        if isinstance(x, slice):
            return slice(*(i.__index__() if isinstance(i, Array) else i for i in (x.start, x.stop, x.step)))
        if isinstance(x, dict):
            return {k: self.unwrap(v) for k, v in x.items()}
        return x

    def read_dtype(self, requested: object) -> DType:
        """Read a requested dtype: a DType, its name, or the library's own.

        Raises DTypeError if it is not a dtype, NamespaceError if the library lacks this dtype.
        """
        readable = not isinstance(requested, (str, int, float, complex)) and not hasattr(
            requested, "__dlpack__"
        )
        found = (operand(requested).dtype if readable else None) or dtype(requested)
        self.library.native(found)
        return found

    def replace_requested(self, requested: object) -> DType:
        """Return the dtype of an array for a requested dtype: the system may replace it by another."""
        return self.system.dtype_of_new_array(self.read_dtype(requested))

    def enter_array(self, data: Any) -> Any:
        """Return an array of the library, cast if the system replaces its dtype by another."""
        own = self.library.dtype(data)
        d = self.system.dtype_of_new_array(own)
        return data if d is own else self.library.cast(data, self.library.native(d))

    def default_dtype(self, kind: Kind) -> DType:
        """Return the default dtype of a kind: the system's, or the library's if the system has none."""
        return self.system.defaults.get(kind) or self.library_default(kind)

    def library_default(self, kind: Kind, device: object = None) -> DType:
        """Return the library's default dtype of a kind. If the system lacks it, return the kind's widest."""
        if kind is Kind.BOOL:
            return self.read_dtype("bool")
        word = next(word for word, of in KIND_BY_STANDARD_WORD.items() if of is kind)
        said = self.library.info().default_dtypes(device=device)[word]
        found = self.library.dtype(self.library.xp.empty(0, dtype=said))
        return found if found in self.system.order else self._widest(kind)

    def _widest(self, kind: Kind) -> DType:
        """Return the widest dtype of a kind that both have. Raises NamespaceError without one."""
        found = [x for x in self.dtypes.values() if x.kind is kind and x.bits]
        if not found:
            raise NamespaceError(f"{self.system.name} has no {kind} dtype to make an array of; name a dtype")
        return max(found, key=lambda x: (x.bits or 0, x.precision or 0))

    # -- the results of functions

    def wrap_typed(self, data: Any, array_type: ArrayType) -> Array:
        """Make an array of the namespace around one of the library."""
        return self.Array._wrap_typed(data, array_type)

    def wrap(self, data: Any, d: DType | None = None, weak: bool = False) -> Array:
        """Wrap an array or a scalar of the library as an array of the namespace."""
        return self.Array._wrap(data, d, weak)

    def wrap_number(self, value: Value) -> Array:
        """Convert a Python number to an array of its default dtype.

        The array is weak if the system says so.
        """
        d = self.default_dtype(scalar_of(value).kind)
        try:
            data = self.library.xp.asarray(value, dtype=self.library.native(d))
        except (TypeError, OverflowError, ValueError, RuntimeError) as e:
            why = f"{self.library.name} makes no array of this {class_name(value)}: {e}"
            raise NamespaceError(f"{why}; give numbers, or use from_dlpack") from e
        data = self.library.check_dtype(data, self.library.native(d))
        return self.wrap(data, d, self.recipes.is_weak_alone(d.kind))

    def rebuild_array(self, data: Any, d: DType, weak: bool) -> Array:
        """Rebuild an array from its parts. Within a transformation, `data` need not be an array."""
        if hasattr(data, "ndim") and hasattr(data, "dtype"):
            return self.wrap(data, None, weak)
        return self.wrap_typed(data, self.recipes.array_type(d, weak, False))

    def wrap_one_of_results(self, data: Any, p: Promotion, stated_dtype: DType | None) -> Any:
        """Wrap one of several results: of the given dtype, the compute dtype, or the dtype of its parts.

        A result that is not an array, such as a rank, stays unchanged.
        """
        if not hasattr(data, "dtype"):
            return data
        d, compute = self.library.dtype(data), p.arithmetic_dtype
        if stated_dtype is not None:
            to = stated_dtype
        elif d.kind is Kind.FLOAT and compute.kind is Kind.COMPLEX:
            to = real_part_dtype(compute)
        else:
            to = compute if d.kind is compute.kind else d
        weak = p.weak and stated_dtype is None and to is compute
        return self.wrap(self.library.cast(data, self.library.native(to)), to, weak)

    # -- how functions compute

    def compute(
        self,
        op: str,
        p: Promotion,
        data: Sequence[Any],
        *args: Any,
        leading_arguments: tuple[Any, ...] = (),
        **options: Any,
    ) -> Array:
        """Cast the operands, call the library's function, and return an array of the result's dtype."""
        library, name = self.library, find_operation(op).function
        to = library.native(p.arithmetic_dtype)
        if p.accumulator is not None:
            out = self.call_library(p, partial(library.accumulate, name, to), *data, *args, **options)
        else:
            cast = [library.cast(x, to) for x in data]
            out = self.call_library(p, library.function(name), *leading_arguments, *cast, *args, **options)
        return self.wrap(library.cast(library.ensure_array(out), library.native(p.result)), p.result, p.weak)

    def accumulate(self, op: str, to: DType, xs: Sequence[Any], **options: Any) -> Array:
        """Call a function that adds up in a dtype, and keep the dtypes of its operands."""
        data = [x._data if isinstance(x, Array) else x for x in xs]
        name, native = find_operation(op).function, self.library.native(to)
        out = self.library.accumulate(name, native, *data, **self.unwrap(options))
        return self.wrap(self.library.check_dtype(self.library.ensure_array(out), native), to)

    def call_custom(
        self, op: Operation, to: DType, shape: Shape, xs: Sequence[Any], parameters: Mapping[str, Any]
    ) -> Array:
        """Call an operation that the system's file defines. Arrays among its parameters follow its operands.

        Raises NamespaceError for a library that cannot call such operations.
        """
        given = {key: x for key, x in parameters.items() if not isinstance(x, Array)}
        arrays = [x._data for x in (*xs, *parameters.values()) if isinstance(x, Array)]
        plain = {key: x.name if isinstance(x, DType) else x for key, x in given.items()}
        native, domain = self.library.native(to), self.system.name
        return self.wrap(self.library.call_custom(domain, op.name, native, shape, arrays, plain), to)

    def call(self, op: str, xs: Sequence[Any], **options: Any) -> Array:
        """Carry out an operation on arrays and Python scalars by the library's function of that name."""
        taken = [self.read_operand(op, x) for x in xs]
        p = self.recipes.promote(op, self.operands(taken))
        return self.compute(op, p, self.library_arrays(p, taken), **self.unwrap(options))

    def try_uncast(self, p: Promotion, function: Callable[..., Any], *xs: Any) -> Any:
        """Return the library's own result for uncast operands, or None if its dtype differs from `p`.

        Raises NamespaceError for a number that the library refuses.
        """
        try:
            out = self.library.ensure_array(function(*(x._data if isinstance(x, Array) else x for x in xs)))
        except Exception as e:
            if self.library.refuses(e):
                what = " and ".join(dict.fromkeys(str(o) for o in p.operands))
                why = f"{self.library.name} refuses {p.op} of {what} ({one_line(e)})"
                raise NamespaceError(f"{why}; use a number within its range, or cast first") from e
            return None  # the caller then casts the operands first, which succeeds or raises again
        return out if self.recipes.matches_promotion(out, p) else None

    def run_recipe(self, recipe: Recipe, xs: Sequence[Any]) -> tuple[Any, Recipe]:
        """Return the library's array for arrays and Python numbers, and the recipe that gave it."""
        p = recipe.promotion
        if recipe.native_dtype is None:
            out = self.try_uncast(p, recipe.compute, *xs)
            if out is not None:
                return out, recipe
            recipe = self.recipes.casting_recipe(p)
        out = self.call_library(p, recipe.compute, *self.library_arrays(p, xs))
        if recipe.cast_result and out.dtype == self.library.native(p.result):
            recipe = replace(recipe, cast_result=None)
        return (out if recipe.cast_result is None else recipe.cast_result(out)), recipe

    def call_on_list(self, op: str, arrays: Sequence[Array], **options: Any) -> Array:
        """Cast a list of arrays to their common dtype, and call the library's function on the list."""
        p = self.recipes.promote(op, self.operands(arrays))
        to = self.library.native(p.arithmetic_dtype)
        cast = [self.library.cast(x._data, to) for x in arrays]
        return self.wrap(self.call_library(p, self.library.function(op), cast, **options), p.result, p.weak)

    def call_library(self, p: Promotion, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call a function of the library. Raises NamespaceError if it does not support these dtypes."""
        try:
            return function(*args, **options)
        except (*NO_KERNEL_ERRORS, OverflowError) as e:
            raise self.unsupported_error(p, e) from e

    def unsupported_error(self, p: Promotion, cause: Exception) -> Exception:
        """Build the error for a function that does not support these dtypes.

        Our own errors stay unchanged.
        """
        if isinstance(cause, NamespaceError):
            return cause
        what = " and ".join(dict.fromkeys(str(o) for o in p.operands))
        why = f"{self.library.name} cannot compute {p.op} of {what} ({one_line(cause)})"
        return NamespaceError(f"{why}; if that is about the dtype, cast to one that it computes with")


def class_name(x: object) -> str:
    """Return the name of an object's class as errors show it."""
    return f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
