"""What a namespace says of dtypes: their limits, kinds and casts, and the defaults."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typelattice.engine.answer import PromotionError
from typelattice.engine.operate import real, whole
from typelattice.facts.dtypes import DType, Kind
from typelattice.files.reader import system as load
from typelattice.namespaces.array import Array
from typelattice.namespaces.backend import NamespaceError
from typelattice.namespaces.plan import number, scalar_of
from typelattice.operands.operand import Operand, of

if TYPE_CHECKING:
    from typelattice.namespaces.space import Namespace

WORDS: dict[str, tuple[Kind, ...]] = {
    "bool": (Kind.BOOL,),
    "signed integer": (Kind.SIGNED,),
    "unsigned integer": (Kind.UNSIGNED,),
    "integral": (Kind.SIGNED, Kind.UNSIGNED),
    "real floating": (Kind.FLOAT,),
    "complex floating": (Kind.COMPLEX,),
    "numeric": (Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT, Kind.COMPLEX),
}
DEFAULTS = {
    "real floating": Kind.FLOAT, "complex floating": Kind.COMPLEX, "integral": Kind.SIGNED, "indexing": Kind.SIGNED,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FInfo:
    """The limits of a float dtype; of a complex one, those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IInfo:
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class Info:
    """What `__array_namespace_info__()` gives: capabilities, devices, dtypes and default dtypes."""

    space: Namespace

    def capabilities(self) -> dict[str, Any]:
        """What the library can do."""
        return dict(self._below().capabilities())

    def default_device(self) -> Any:
        """The device on which arrays are made."""
        return self._below().default_device()

    def devices(self) -> list[Any]:
        """Every device."""
        return list(self._below().devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The default dtypes: the system's, and where it has none, the library's on that device."""
        own, have = self.space.system.defaults, {d.kind for d in self.space.dtypes.values()}
        return {word: own.get(kind) or self.default_of(kind, device) for word, kind in DEFAULTS.items() if kind in have}

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The standard's dtypes that system and library have in common, of some kinds."""
        kinds = None if kind is None else [k for word in ((kind,) if isinstance(kind, str) else kind) for k in _kinds(word)]
        standard = [d for d in self.space.dtypes.values() if d in load("array-api").order]
        return {d.name: d for d in standard if kinds is None or d.kind in kinds}

    def default_of(self, kind: Kind, device: Any = None) -> DType:
        """The library's own default dtype of a kind."""
        if kind is Kind.BOOL:
            return self.space.dtype("bool")
        word = next(word for word, of in DEFAULTS.items() if of is kind)
        said = self._below().default_dtypes(device=device)[word]
        found: DType = self.space.backend.dtype(self.space.backend.xp.empty(0, dtype=said))
        return found if found in self.space.system.order else _nearest(self.space, found)

    def _below(self) -> Any:
        return self.space.backend.xp.__array_namespace_info__()


def _nearest(space: Namespace, d: DType) -> DType:
    """The widest dtype of a kind that a system without a default has, if it lacks the library's."""
    found = [x for x in space.dtypes.values() if x.kind is d.kind and x.bits]
    if not found:
        raise NamespaceError(f"{space.system.name} has no {d.kind} dtype to make an array of; name a dtype")
    return max(found, key=lambda x: (x.bits or 0, x.precision or 0))


def _kinds(word: str) -> tuple[Kind, ...]:
    if word not in WORDS:
        raise ValueError(f"unknown kind {word!r}; kinds are {', '.join(WORDS)}")
    return WORDS[word]


def inspection(space: Namespace) -> dict[str, Callable[..., Any]]:
    """The functions of a namespace that look at dtypes only."""

    def one(x: Any) -> DType:
        return x.dtype if isinstance(x, Array) else space.dtype(x)

    def operand(x: Any) -> Operand:
        if isinstance(x, Array):
            return space.planner.operand(space.array("result_type", x)._standing, x._data)
        value = number(x)
        return of(space.dtype(x)) if value is None else scalar_of(value)

    def result_type(*arrays_and_dtypes: Any, kind: str | None = None) -> DType:
        """The dtype at which arrays, dtypes and Python scalars meet under the system.

        `kind`, `"float"` or `"complex"`: at least of that kind; an int becomes the float dtype that division gives it, or
        where the system does not divide ints, the default one. Raises PromotionError of a refusal.
        """
        p = space.system.promote(*map(operand, arrays_and_dtypes))
        d = p.result
        if kind not in (None, "float", "complex"):
            raise ValueError(f"unknown kind {kind!r}; it is 'float' or 'complex'")
        if kind and d.kind.rank < Kind.FLOAT.rank:
            quotient = space.system.explain(of(d), of(d), op="divide").dtype
            d = quotient if quotient and quotient.kind is Kind.FLOAT else space.default(Kind.FLOAT)
        return whole(d) if kind == "complex" else d

    def can_cast(from_: Any, to: Any, /) -> bool:
        """Whether a dtype, or an array's, becomes another implicitly: the two meet at it."""
        target = one(to)
        try:
            return space.system.promote(of(one(from_)), of(target)).result is target
        except PromotionError:
            return False

    def finfo(type: Any, /) -> FInfo:
        """The limits of a float dtype, or of an array's. Raises NamespaceError of any other."""
        d = real(one(type))
        if d.kind is not Kind.FLOAT or d.precision is None or d.max is None or d.min_exponent is None:
            raise NamespaceError(f"{d} is no float dtype; use iinfo for integers")
        return FInfo(d.bits or 0, 2.0 ** (1 - d.precision), float(d.max), float(d.min or 0), 2.0**d.min_exponent, d)

    def iinfo(type: Any, /) -> IInfo:
        """The limits of an integer dtype, or of an array's. Raises NamespaceError of any other."""
        d = one(type)
        if d.kind not in WORDS["integral"]:
            raise NamespaceError(f"{d} is no integer dtype; use finfo for floats")
        return IInfo(d.bits or 0, int(d.max or 0), int(d.min or 0), d)

    def isdtype(dtype: Any, kind: Any) -> bool:
        """Whether a dtype is of a kind, is a dtype, or is one of several."""
        if isinstance(kind, tuple):
            return any(isdtype(dtype, k) for k in kind)
        return space.dtype(dtype).kind in _kinds(kind) if isinstance(kind, str) else space.dtype(dtype) is space.dtype(kind)

    return {f.__name__: f for f in (result_type, can_cast, finfo, iinfo, isdtype)}
