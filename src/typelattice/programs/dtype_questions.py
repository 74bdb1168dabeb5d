"""What code asks of a dtype: its kind, its limits. There is an answer where no system decides the dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.facts.dtypes import DType
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.operations import operation
from typelattice.facts.suggest import nearest, short
from typelattice.namespaces.inspection import KINDS, float_limits, integer_limits
from typelattice.operands.operand import WORDS, scalar
from typelattice.programs.draft import Draft
from typelattice.programs.names import meaning
from typelattice.programs.site import Site
from typelattice.programs.step import AnyDType, Argument, DTypeOf, NamedDType, Ref

CLASSES = {  # of NumPy's scalars, which issubdtype takes, in the standard's words
    "bool_": ("bool",),
    "integer": ("integral",),
    "signedinteger": ("signed integer",),
    "unsignedinteger": ("unsigned integer",),
    "floating": ("real floating",),
    "complexfloating": ("complex floating",),
    "inexact": ("real floating", "complex floating"),
    "number": ("numeric",),
    "generic": ("bool", "numeric"),
}
LIMITS: Mapping[str, tuple[Callable[[DType], Any], tuple[str, ...]]] = {
    "finfo": (float_limits, ("eps", "max", "min", "smallest_normal", "tiny", "bits", "dtype")),
    "iinfo": (integer_limits, ("max", "min", "bits", "dtype")),
}
OF_KINDS: Mapping[str, tuple[str, ...]] = {  # what tells by its name of what kind a dtype, or an array, is
    "is_floating_point": ("real floating",),
    "is_floating": ("real floating",),
    "is_complex": ("complex floating",),
    "is_integer": ("integral",),
    "iscomplexobj": ("complex floating",),
    "isrealobj": ("bool", "integral", "real floating"),
}
QUESTIONS = ("isdtype", "issubdtype", *LIMITS, *OF_KINDS)


@dataclass(frozen=True, slots=True)
class Limits:
    """What `finfo` and `iinfo` give for a dtype; `name` is which of them.

    `typed`: the numbers are scalars of the dtype, as NumPy's are, and not Python's.
    """

    name: str
    of: AnyDType
    typed: bool


def known_dtype(draft: Draft, site: Site, x: Argument) -> DType:
    """A dtype, or that of an array, where no system decides it. Raises ProgramError of any other."""
    found = None
    if isinstance(x, (NamedDType, DTypeOf, Ref)):
        found = draft.dtype(x)
    elif isinstance(x, str):
        found = draft.dtype(NamedDType(x))
    if found is None:
        which = "a dtype that is another under each system, and the steps depend on it"
        raise site.refuse(f"it asks for {which}; cast first, e.g. .astype(float32)")
    return found


def is_kind(draft: Draft, site: Site, x: Argument, kinds: Argument) -> bool:
    """Whether a dtype is of a kind in the standard's words, is a dtype, or is one of several of these."""
    if isinstance(kinds, tuple):
        return any(is_kind(draft, site, x, each) for each in kinds)
    found = known_dtype(draft, site, x)
    if isinstance(kinds, str) and kinds in KINDS:
        return found.kind in KINDS[kinds]
    if isinstance(kinds, str) and draft.dtype(NamedDType(kinds)) is None:
        near = nearest(kinds, KINDS)
        raise site.refuse(f"unknown kind {short(kinds)}{near}; give one of {', '.join(KINDS)}")
    return found is known_dtype(draft, site, kinds)


def same_dtype(draft: Draft, site: Site, a: Argument, b: Argument) -> bool:
    """Whether two dtypes are one. Raises ProgramError where a system decides it."""
    if isinstance(a, DTypeOf) and a == b:
        return True
    return known_dtype(draft, site, a) is known_dtype(draft, site, b)


def question(draft: Draft, site: Site, name: str, args: Sequence[Argument]) -> bool | Limits:
    """What a function of QUESTIONS gives. Raises ProgramError."""
    if len(args) != (2 if name in ("isdtype", "issubdtype") else 1):
        raise site.refuse(f"{name} is given {len(args)} arguments; give a dtype, and what it is asked for")
    if name in LIMITS:
        return limits_of(site, name, args[0])
    return is_kind(draft, site, args[0], OF_KINDS[name] if name in OF_KINDS else args[1])


def limits_of(site: Site, name: str, x: Argument) -> Limits:
    """What `finfo` or `iinfo` gives for a dtype, or for that of an array. Raises ProgramError."""
    of = NamedDType(x) if isinstance(x, str) else DTypeOf(x.step) if isinstance(x, Ref) else x
    if not isinstance(of, (NamedDType, DTypeOf)):
        raise site.refuse(f"{name} takes a dtype; give one such as float32")
    return Limits(name, of, meaning("typed", name, site.owner) is not None)


def limit(draft: Draft, site: Site, limits: Limits, field: str) -> Argument:
    """One of the numbers of `finfo` and `iinfo`: its kind is known even where a system decides the dtype."""
    of_dtype, fields = LIMITS[limits.name]
    if field not in fields:
        near = nearest(field, fields)
        raise site.refuse(f"{limits.name} has no {short(field)}{near}; it has {', '.join(fields)}")
    if field == "dtype":
        return limits.of
    known, typed = draft.dtype(limits.of), limits.typed and field != "bits"
    if known is not None:
        try:
            info = of_dtype(known)
        except TypelatticeError as e:
            raise site.refuse(str(e)) from None
        value: Argument = getattr(info, "smallest_normal" if field == "tiny" else field)
        return draft.cast(site, value, NamedDType(info.dtype.name)) if typed else value
    if not isinstance(limits.of, DTypeOf):
        which = f"{limits.of.name}, whose limits are no system's alone"
        raise site.refuse(f"it asks for those of {which}; write the number")
    kind = WORDS["int" if limits.name == "iinfo" or field == "bits" else "float"]
    number = draft.opaque(site, f"{limits.name}.{field}", scalar(kind), (limits.of.step,), ())
    if not typed:
        return number
    cast = draft.cast(site, number, limits.of)
    return draft.call(site, operation("abs"), [cast])  # the limits of a complex dtype are real


def dtype_attribute(draft: Draft, site: Site, x: AnyDType, name: str) -> Argument:
    """An attribute of a dtype: `x.dtype.itemsize`, `x.dtype.is_floating_point`."""
    if name == "type":  # `x.dtype.type(2)` is a cast
        return x
    if name in OF_KINDS:
        return is_kind(draft, site, x, OF_KINDS[name])
    if name not in ("kind", "itemsize", "name"):
        raise site.refuse(f"nothing is known of its {short(name)}; ask for its kind with isdtype")
    found = known_dtype(draft, site, x)
    if name == "itemsize" and found.storage_bits is not None:
        return found.storage_bits // 8
    return found.kind.letter if name == "kind" else found.name
