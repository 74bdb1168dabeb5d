"""Functions of Python's own, and of its `math`, of values that are known and of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.facts.dtypes import Kind
from typelattice.facts.suggest import nearest
from typelattice.operands.operand import scalar
from typelattice.programs.draft import Draft
from typelattice.programs.functions import FUNCTIONS
from typelattice.programs.reading import LENGTH, Dotted, Function, Method, Read
from typelattice.programs.site import Site
from typelattice.programs.step import Argument, DTypeOf, NamedDType, Ref

UNKNOWN = object()  # where a function of Python's is one of arrays
OF_PYTHON: Mapping[str, Callable[..., Any]] = {
    "abs": abs, "len": len, "list": tuple, "max": max, "min": min, "print": print,
    "range": lambda *bounds: tuple(range(*bounds)), "round": round, "sum": sum, "tuple": tuple,
}  # fmt: skip


def of_python(draft: Draft, site: Site, name: str, known: Sequence[Any]) -> Any:
    """What a function of Python's gives for plain values; UNKNOWN where an array is among them."""
    if name == "print":
        return None
    if name == "len" and len(known) == 1 and isinstance(known[0], Ref):
        shape = draft.shape(known[0])
        if not shape or shape[0] is None:
            raise site.refuse("the shape is not known; give its operand a shape, e.g. float32[3,4]")
        return shape[0]
    if name == "abs" and len(known) == 1 and draft.is_scalar(known[0]):
        return draft.operator(site, name, known)
    if any(isinstance(x, (Ref, Dotted, Function, Method, NamedDType, DTypeOf)) for x in known):
        return UNKNOWN
    try:
        if name == "range" and len(range(*known)) > LENGTH:
            raise site.refuse(f"a range of more than {LENGTH:,} numbers; take a shorter one")
        return OF_PYTHON[name](*known)
    except (TypeError, ValueError, OverflowError) as e:
        raise site.refuse(f"Python refuses it: {e}; give other values") from None


def of_math(draft: Draft, site: Site, name: str, args: Sequence[Read], known: Sequence[Any]) -> Argument:
    """What a function of `math` gives: a Python float, which is known if its arguments are."""
    function = vars(math).get(name)
    if name not in FUNCTIONS or not callable(function):
        raise site.refuse(f"math.{name} is no operation{nearest(name, FUNCTIONS)}; give its value")
    if all(isinstance(x, (int, float)) for x in known):
        try:
            return float(function(*known))
        except (TypeError, ValueError, OverflowError) as e:
            raise site.refuse(f"Python refuses it: {e}; give other values") from None
    refs = [x.step for x in args if isinstance(x, Ref)]
    return draft.opaque(site, f"math.{name}", scalar(Kind.FLOAT), refs, ())
