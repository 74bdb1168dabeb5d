"""The functions that create arrays, with the default dtypes of the system."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from typelattice.engine.answer import PromotionError
from typelattice.facts.dtypes import DType, DTypeError, Kind
from typelattice.namespaces.array import Array
from typelattice.namespaces.backend import LACKS, NamespaceError
from typelattice.namespaces.plan import number
from typelattice.namespaces.signatures import named
from typelattice.operands.operand import SCALARS, OperandError, operand

if TYPE_CHECKING:
    from typelattice.namespaces.space import Namespace

Function = Callable[..., Any]


def highest(x: Any) -> Kind | None:
    """The highest kind among the Python numbers in nested sequences; None where there is anything else, or nothing."""
    if isinstance(x, (list, tuple)):
        found = [highest(item) for item in x]
        kinds = [kind for kind in found if kind is not None]
        return max(kinds, key=lambda kind: kind.rank) if kinds and len(kinds) == len(found) else None
    value = number(x)
    return None if value is None else SCALARS[type(value)]


def kind_of(x: Any) -> Kind | None:
    """The kind of a Python number, or of one of the library's; None of nested sequences with anything else."""
    found = highest(x)
    return operand(x).kind if found is None and hasattr(x, "dtype") else found


def _options(space: Namespace, given: object, kind: Kind, device: Any) -> tuple[DType, dict[str, Any]]:
    """The dtype asked for, or the default one of a kind, and both as the library takes them."""
    d = space.dtype(given) if given is not None else space.default(kind)
    return d, {"dtype": space.backend.native(d), **({} if device is None else {"device": device})}


def asarray(space: Namespace) -> Function:
    def asarray(obj: Any, /, *, dtype: object = None, device: Any = None, copy: bool | None = None) -> Array:
        """An array of numbers, of nested sequences, of the library's own arrays, or of another library's by its buffers."""
        if isinstance(obj, Array):
            own = space.array("asarray", obj)
            d = own.dtype if dtype is None else space.dtype(dtype)
            if d is own.dtype and not copy and device is None:
                return own
            return space.wrap(_made(space, own._data, space.backend.native(d), device, copy), d, own.weak and dtype is None)
        if _holds_arrays(obj):
            return asarray(space.stack([asarray(item) for item in obj]), dtype=dtype, device=device)
        kind = (Kind.FLOAT if _empty(obj) else highest(obj)) if dtype is None else None
        to = space.dtype(dtype) if dtype is not None else space.default(kind) if kind is not None else None
        data = _made(space, obj, None if to is None else space.backend.native(to), device, copy)
        alone = kind is not None and kind is not Kind.BOOL and not isinstance(obj, (list, tuple))
        return space.wrap(data, to, alone or (dtype is None and space.backend.weak(data)))

    return asarray


def _empty(x: Any) -> bool:
    """Whether nested sequences hold nothing."""
    return isinstance(x, (list, tuple)) and all(map(_empty, x))


def _holds_arrays(x: Any) -> bool:
    """Whether nested sequences have our arrays among their items, which meet as in `stack`."""
    return isinstance(x, (list, tuple)) and any(isinstance(item, Array) or _holds_arrays(item) for item in x)


def _made(space: Namespace, obj: Any, to: Any, device: Any, copy: bool | None) -> Any:
    options = {k: v for k, v in (("dtype", to), ("device", device), ("copy", copy)) if v is not None}
    try:
        data = space.backend.xp.asarray(space.bare(obj), **options)
    except (TypeError, OverflowError) as e:
        what = f"{type(obj).__module__}.{type(obj).__qualname__}".removeprefix("builtins.")
        why = f"{space.backend.name} makes no array of this {what}: {e}"
        raise NamespaceError(f"{why}; give numbers, or use from_dlpack") from e
    return data if to is None else space.backend.checked(data, to)


def shaped(name: str, kind: Kind = Kind.FLOAT) -> Callable[[Namespace], Function]:
    """A function of a shape, or of numbers that say one: zeros, ones, empty, eye, linspace."""

    def build(space: Namespace) -> Function:
        def function(*args: Any, dtype: object = None, device: Any = None, **options: Any) -> Array:
            found = Kind.COMPLEX if name == "linspace" and any(isinstance(a, complex) for a in args) else kind
            d, said = _options(space, dtype, found, device)
            return space.wrap(space.backend.checked(space.backend.function(name)(*args, **said, **options), said["dtype"]), d)

        return named(function, name)

    return build


def full(space: Namespace) -> Function:
    def full(shape: Any, fill_value: Any, *, dtype: object = None, device: Any = None) -> Array:
        """An array of one value; by default of the default dtype of its kind."""
        own = operand(fill_value).dtype if dtype is None and hasattr(fill_value, "dtype") else dtype
        d, said = _options(space, own, highest(fill_value) or Kind.FLOAT, device)
        weak = own is None and d.kind is not Kind.BOOL
        fill = space.bare(fill_value)
        return space.wrap(space.backend.checked(space.backend.xp.full(shape, fill, **said), said["dtype"]), d, weak)

    return full


def arange(space: Namespace) -> Function:
    def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: object = None, device: Any = None) -> Array:
        """Evenly spaced numbers; by default of the default dtype of their kind."""
        kinds = [kind_of(x) or Kind.FLOAT for x in (start, step, *([] if stop is None else [stop]))]
        kind = max(kinds, key=lambda each: each.rank)
        d, said = _options(space, dtype, Kind.SIGNED if kind is Kind.BOOL else kind, device)
        return space.wrap(space.backend.checked(space.backend.xp.arange(start, stop, step, **said), said["dtype"]), d)

    return arange


def like(name: str) -> Callable[[Namespace], Function]:
    """A function that makes an array like another: of its shape and, by default, of its dtype."""

    def build(space: Namespace) -> Function:
        def function(x: Any, /, *args: Any, dtype: object = None, device: Any = None, **fill: Any) -> Array:
            own = space.array(name, x)
            d = own.dtype if dtype is None else space.dtype(dtype)
            said = {"dtype": space.backend.native(d), **({} if device is None else {"device": device})}
            weak = dtype is None and space.planner.promote(name, (own._standing.operand,)).weak
            more = space.bare({**fill, **said})
            return space.wrap(space.backend.function(name)(own._data, *space.bare(args), **more), d, weak)

        return named(function, name)

    return build


def from_dlpack(space: Namespace) -> Function:
    def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
        """An array over the buffer of another library's, or of another namespace's."""
        options = {k: v for k, v in (("device", device), ("copy", copy)) if v is not None}
        return space.wrap(space.backend.xp.from_dlpack(x.bare if isinstance(x, Array) else x, **options))

    return from_dlpack


def astype(space: Namespace) -> Function:
    def astype(x: Any, dtype: object, /, *, copy: bool = True, device: Any = None) -> Array:
        """An explicit cast, to a dtype that is strong."""
        own, d = space.array("astype", x), space.dtype(dtype)
        to = space.backend.native(d)
        options = {} if device is None else {"device": device}
        return space.wrap(space.backend.checked(space.backend.xp.astype(own._data, to, copy=copy, **options), to), d)

    return astype


def frequencies(name: str) -> Callable[[Namespace], Function]:
    """The sample frequencies of a transform."""

    def build(space: Namespace) -> Function:
        def function(n: int, /, *, d: float = 1.0, dtype: object = None, device: Any = None) -> Array:
            wanted, said = _options(space, dtype, Kind.FLOAT, device)
            del said["dtype"]
            data = space.backend.function(name)(n, d=d, **said)
            return space.wrap(space.backend.cast(data, space.backend.native(wanted)), wanted)

        return named(function, name)

    return build


def _guarded(build: Callable[[Namespace], Function]) -> Callable[[Namespace], Function]:
    """A function that says so where the library cannot carry it out."""

    def guarded(space: Namespace) -> Function:
        function = build(space)

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            try:
                return function(*args, **options)
            except (NamespaceError, PromotionError, DTypeError, OperandError):
                raise
            except (*LACKS, RuntimeError, OverflowError, AttributeError) as e:
                why = f"{space.backend.name} cannot carry out {function.__name__} ({' '.join(str(e).split())[:160]})"
                raise NamespaceError(f"{why}; give other arguments, or another dtype") from e

        return call

    return guarded


CREATION: dict[str, Callable[[Namespace], Function]] = {name: _guarded(build) for name, build in {
    "asarray": asarray, "full": full, "arange": arange, "from_dlpack": from_dlpack, "astype": astype,
    **{name: shaped(name) for name in ("zeros", "ones", "empty", "eye", "linspace")},
    **{name: like(name) for name in ("zeros_like", "ones_like", "empty_like", "full_like")},
    **{name: frequencies(name) for name in ("fftfreq", "rfftfreq")},
}.items()}  # fmt: skip
