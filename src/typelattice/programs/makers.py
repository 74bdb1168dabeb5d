"""Functions that make arrays, cast them, or take Python numbers out of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.facts.dtypes import Kind
from typelattice.facts.operations import operation
from typelattice.facts.range import Value
from typelattice.facts.suggest import short
from typelattice.operands.operand import SCALARS, Operand, scalar
from typelattice.programs.draft import Draft
from typelattice.programs.inputs import described
from typelattice.programs.shapes import plain_axes
from typelattice.programs.site import Site
from typelattice.programs.step import AnyDType, Argument, DTypeOf, NamedDType, Ref

PYTHONS = {"float": float, "int": int, "complex": complex, "bool": bool}
Maker = Callable[[Draft, Site, Sequence[Argument], dict[str, Argument]], Argument]


def asked_dtype(site: Site, x: Argument) -> AnyDType | None:
    """A dtype that is asked for; None if none is. Raises ProgramError of anything else."""
    if x is None or isinstance(x, (NamedDType, DTypeOf)):
        return x
    if isinstance(x, str):
        return NamedDType(x)
    if isinstance(x, Ref):
        return DTypeOf(x.step)  # result_type gives a dtype
    raise site.refuse(f"{short(str(x))} is no dtype; give one such as float32")


def cast_to(draft: Draft, site: Site, x: Argument, to: AnyDType) -> Ref:
    """An explicit cast of an array, of a Python number, or of a list of them."""
    return draft.array_of(site, x, to) if isinstance(x, tuple) else draft.cast(site, x, to)


def bits_of(draft: Draft, site: Site, x: Ref, asked: Argument) -> Ref:
    """The bits of an array as those of another dtype: no rule of a system has a say."""
    to = asked_dtype(site, asked)
    d = None if to is None else draft.dtype(to)
    if d is None:
        raise site.refuse("the dtype that the bits are taken for is not known; name one, e.g. int32")
    own, shape = draft.dtype(x), draft.shape(x)
    alike = shape == () or (own is not None and own.storage_bits == d.storage_bits)
    return draft.opaque(site, "view", str(d), (x.step,), shape if alike else None)


def _bitcast(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    asked = args[1] if len(args) > 1 else next(iter(given.values()), None)
    if not args or not isinstance(args[0], Ref):
        raise site.refuse("it takes the bits of an array for another dtype; give an array and a dtype")
    return bits_of(draft, site, args[0], asked)


def _dtype(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """A dtype is itself, however it is given."""
    to = asked_dtype(site, args[0] if len(args) == 1 else None)
    if to is None:
        raise site.refuse("it makes a dtype of one name; give one such as float32")
    return to


def _astype(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    to = asked_dtype(site, args[1] if len(args) > 1 else given.get("dtype"))
    if not args or to is None:
        raise site.refuse("a cast needs an array and a dtype; write astype(x, float32)")
    return draft.cast(site, args[0], to)


def _asarray(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """An array of what holds numbers: an array is itself, a Python number or a list of them is made one."""
    if not args:
        raise site.refuse("an array of nothing; give a number, a list or an array")
    x, to = args[0], asked_dtype(site, given.get("dtype") or (args[1] if len(args) > 1 else None))
    if isinstance(x, tuple):
        return draft.array_of(site, x, to)
    if not draft.is_scalar(x):
        return x if to is None else draft.cast(site, x, to)
    if to is not None:
        return draft.cast(site, x, to)
    return draft.array_of_number(site, x)


def _shaped(name: str) -> Maker:
    """What makes an array of a shape alone: zeros, ones, empty; of float's default dtype."""

    def make(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
        named = given.pop("shape", None)
        plain = [draft.static(x) for x in args] or [named]
        to = given.pop("dtype", None)
        if to is None and len(plain) == 2 and not isinstance(plain[1], int):
            to = plain.pop()
        lengths: Argument = plain[0] if len(plain) == 1 else tuple(plain)
        shape = plain_axes(lengths)
        if shape is None or (name == "eye" and not shape) or any(n < 0 for n in shape):
            raise site.refuse(f"the shape of {name} is not known; give numbers")
        if name == "eye":
            shape = (shape[0], shape[-1])
        like = scalar(Kind.FLOAT)
        taken = shape if name == "eye" else (shape,)
        return draft.created(site, name, taken, {}, like, asked_dtype(site, to), shape)

    return make


def _full(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    filled = args[1] if len(args) > 1 else given.get("fill_value")
    shape = plain_axes(draft.static(args[0]) if args else given.get("shape"))
    if shape is None or filled is None or any(n < 0 for n in shape):
        raise site.refuse("full takes a shape of known lengths and a value; write full((2, 3), 1.5)")
    ref = draft.ref(site, filled)
    to = asked_dtype(site, args[2] if len(args) > 2 else given.get("dtype"))
    return draft.created(site, "full", (shape, ref), {}, ref.step, to, shape)


def _spaced(name: str) -> Maker:
    """What makes evenly spaced numbers: arange of the kind of its arguments, linspace of floats."""

    def make(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
        known = [draft.static(x) for x in args]
        to = asked_dtype(site, given.pop("dtype", None))
        bounds = [x for x in known if isinstance(x, (bool, int, float, complex))]
        if not bounds or len(bounds) < len(known):
            raise site.refuse(f"{name} takes numbers that are known; give them")
        kinds = [SCALARS[type(x)] for x in bounds]
        kind = max((Kind.FLOAT if name == "linspace" else Kind.SIGNED, *kinds), key=lambda k: k.rank)
        whole = [x for x in bounds if isinstance(x, int)]
        known_length = name == "arange" and len(whole) == len(bounds) and 0 not in bounds[2:]
        length = len(range(*whole)) if known_length else None
        if name == "linspace":
            number = bounds[2] if len(bounds) > 2 else given.get("num", 50)
            length = number if isinstance(number, int) else None
        return draft.created(site, name, bounds, given, scalar(kind), to, (length,))

    return make


def _python(name: str) -> Maker:
    """What takes a value out of an array, or makes a Python number of another."""

    def make(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
        parts = [draft.static(x) for x in args]
        real = [x for x in parts if isinstance(x, (bool, int, float))]
        if name == "complex" and len(real) == len(parts) == 2:
            return complex(*real)
        if len(parts) != 1:
            raise site.refuse(f"{name} takes one number; give it")
        x = parts[0]
        if isinstance(x, (bool, int, float, complex)):
            convert: Callable[[Any], Value] = PYTHONS[name]
            try:
                return convert(x)
            except (TypeError, ValueError, OverflowError) as e:
                raise site.refuse(f"Python refuses it: {e}; give another number") from None
        if not isinstance(x, Ref):
            raise site.refuse(f"{name} takes a number or an array of one element; give that")
        unknown = Operand(None, SCALARS[PYTHONS[name]], True, "scalar")
        known = scalar(Kind.BOOL) if name == "bool" else unknown
        return draft.opaque(site, name, known, (x.step,), ())

    return make


def _flatten(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    return draft.call(site, operation("reshape"), args[:1], ((-1,),))


def _opaque(draft: Draft, site: Site, args: Sequence[Argument], given: dict[str, Argument]) -> Argument:
    """What no rule decides, as the text of a program has it: `opaque("float32[3]", x)`."""
    if not args or not isinstance(args[0], str):
        raise site.refuse("opaque needs to be told what it gives; write opaque('float32', x)")
    what, shape = described(args[0])
    made_of = [draft.ref(site, x).step for x in args[1:]]
    return draft.opaque(site, "opaque", what, made_of, shape)


MAKERS: Mapping[str, Maker] = {
    "opaque": _opaque,
    "astype": _astype,
    "bitcast": _bitcast,
    "dtype": _dtype,
    "asarray": _asarray,
    "full": _full,
    "flatten": _flatten,
    **{name: _shaped(name) for name in ("zeros", "ones", "empty", "eye")},
    **{name: _spaced(name) for name in ("arange", "linspace")},
    **{name: _python(name) for name in PYTHONS},
}
