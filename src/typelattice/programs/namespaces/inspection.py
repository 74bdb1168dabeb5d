"""The functions of a namespace that inspect dtypes: limits, kinds, casts and defaults."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typelattice.core.dtypes.dtypes import DType, Kind, complex_of, real_part_dtype
from typelattice.core.engine.promotion import PromotionError
from typelattice.core.engine.system import System
from typelattice.core.operands.notation import number_operand as scalar_of
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.operations.shapes import Shape, find_broadcast_shape
from typelattice.core.system_files.reader import system as load
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.namespace_context import KIND_BY_STANDARD_WORD, NamespaceContext
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.recipe import python_number
from typelattice.programs.namespaces.result_tuples import FInfo, IInfo
from typelattice.programs.namespaces.standard_signatures import name_function

ISDTYPE_KINDS: dict[str, tuple[Kind, ...]] = {
    "bool": (Kind.BOOL,),
    "signed integer": (Kind.SIGNED,),
    "unsigned integer": (Kind.UNSIGNED,),
    "integral": (Kind.SIGNED, Kind.UNSIGNED),
    "real floating": (Kind.FLOAT,),
    "complex floating": (Kind.COMPLEX,),
    "numeric": (Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT, Kind.COMPLEX),
}  # kinds, as the standard calls them


@dataclass(frozen=True, slots=True)
class NamespaceInfo:
    """The result of `__array_namespace_info__()`: capabilities, devices, dtypes and default dtypes."""

    context: NamespaceContext

    def capabilities(self) -> dict[str, bool | int | None]:
        """Return the library's capabilities."""
        return dict(self.context.library.inspection_info().capabilities())

    def default_device(self) -> object:
        """Return the default device for new arrays."""
        found: object = self.context.library.inspection_info().default_device()
        return found

    def devices(self) -> tuple[object, ...]:
        """Return all devices."""
        return tuple(self.context.library.inspection_info().devices())

    def default_dtypes(self, *, device: object = None) -> dict[str, DType]:
        """Return the default dtypes of the system. Without them, return the library's on that device."""
        own, have = self.context.system.defaults, {d.kind for d in self.context.dtypes.values()}
        return {
            word: own.get(kind) or self.context.library_default(kind, device)
            for word, kind in KIND_BY_STANDARD_WORD.items()
            if kind in have
        }

    def dtypes(self, *, device: object = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Return the standard's dtypes of some kinds that both the system and the library have."""
        words = (kind,) if isinstance(kind, str) else kind or ISDTYPE_KINDS
        kinds = [k for word in words for k in _read_kinds(word)]
        standard = load("array-api").order
        return {name: d for name, d in self.context.dtypes.items() if d in standard and d.kind in kinds}


def _read_kinds(word: str) -> tuple[Kind, ...]:
    if word not in ISDTYPE_KINDS:
        raise ValueError(f"unknown kind {word!r}; kinds are {', '.join(ISDTYPE_KINDS)}")
    return ISDTYPE_KINDS[word]


def promote_to_kind(
    system: System, dtype: DType, kind: Any, default: Callable[[Kind], DType | None]
) -> DType | None:
    """Raise a dtype to a kind, `"float"` or `"complex"`. Return it unchanged if it is not below that kind.

    An int becomes the float dtype that division gives it, or the default one if the system does not divide
    ints. The result is None without a default.
    """
    if kind not in (None, "float", "complex"):
        raise ValueError(f"unknown kind {kind!r}; it is 'float' or 'complex'")
    found: DType | None = dtype
    if kind and dtype.kind.category < Kind.FLOAT.category:
        quotient = system.explain(operand_of_dtype(dtype), operand_of_dtype(dtype), op="divide").dtype
        found = quotient if quotient and quotient.kind is Kind.FLOAT else default(Kind.FLOAT)
    return complex_of(found) if found and kind == "complex" else found


def float_limits(dtype: DType) -> FInfo:
    """Return the limits of a float dtype, or of a complex one's parts. Raises NamespaceError for others."""
    d = real_part_dtype(dtype)
    if d.kind is not Kind.FLOAT or d.precision is None or d.max is None or d.min_exponent is None:
        raise NamespaceError(f"{d} is no float dtype; use iinfo for integers")
    eps, smallest_normal = 2.0 ** (1 - d.precision), 2.0**d.min_exponent
    return FInfo(d.bits or 0, eps, float(d.max), float(d.min or 0), smallest_normal, d)


def integer_limits(dtype: DType) -> IInfo:
    """Return the limits of an integer dtype. Raises NamespaceError for others."""
    if dtype.kind not in ISDTYPE_KINDS["integral"]:
        raise NamespaceError(f"{dtype} is no integer dtype; use finfo for floats")
    return IInfo(dtype.bits or 0, int(dtype.max or 0), int(dtype.min or 0), dtype)


def make_inspection_functions(context: NamespaceContext) -> dict[str, Callable[..., Any]]:
    """Build the functions that inspect dtypes."""

    def one(x: Any) -> DType:
        """Return the dtype of an array, or read a requested dtype."""
        return context.require_array("inspection", x).dtype if isinstance(x, Array) else context.read_dtype(x)

    def operand(x: Any) -> Operand:
        if isinstance(x, Array):
            return context.require_array("result_type", x)._type.operand
        value = python_number(x)
        return operand_of_dtype(context.read_dtype(x)) if value is None else scalar_of(value)

    def result_type(*arrays_and_dtypes: Any, kind: str | None = None) -> DType:
        """Return the dtype that arrays, dtypes and Python scalars have in common under the system.

        `kind`, `"float"` or `"complex"`: raise the result at least to that kind, as `promote_to_kind` does.
        Raises PromotionError if the system refuses the operands.
        """
        d = context.system.promote(*map(operand, arrays_and_dtypes)).result
        return promote_to_kind(context.system, d, kind, context.default_dtype) or d

    def can_cast(from_: Any, to: Any, /) -> bool:
        """Return True if a dtype, or an array's, casts implicitly to another: the two promote to that one."""
        target = one(to)
        try:
            return (
                context.system.promote(operand_of_dtype(one(from_)), operand_of_dtype(target)).result
                is target
            )
        except PromotionError:
            return False

    def finfo(type: Any, /) -> FInfo:
        """Return the limits of a float dtype, or of an array's. Raises NamespaceError for others."""
        return float_limits(one(type))

    def iinfo(type: Any, /) -> IInfo:
        """Return the limits of an integer dtype, or of an array's. Raises NamespaceError for others."""
        return integer_limits(one(type))

    def isdtype(dtype: Any, kind: Any) -> bool:
        """Return True if a dtype is of a kind, is a certain dtype, or matches one of several of these."""
        if isinstance(kind, tuple):
            return any(isdtype(dtype, k) for k in kind)
        d = context.read_dtype(dtype)
        return d.kind in _read_kinds(kind) if isinstance(kind, str) else d is context.read_dtype(kind)

    functions = (result_type, can_cast, finfo, iinfo, isdtype, broadcast_shapes)
    return {f.__name__: name_function(f, f.__name__) for f in functions}


def broadcast_shapes(*shapes: Shape) -> Shape | None:
    """Broadcast shapes to one shape. Raises ShapeError, a ValueError, if they do not match."""
    return find_broadcast_shape(shapes)
