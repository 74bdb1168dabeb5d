"""Operations: the kinds each takes and the dtype it gives, once its operands have met.

operations.txt states the array API standard; a system's file states only where its library departs from it.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.errors import TypelatticeError
from typelattice.facts.suggest import nearest, short

KINDS: dict[str, tuple[Kind, ...]] = {
    **{kind.value: (kind,) for kind in Kind},
    "int": (Kind.UNSIGNED, Kind.SIGNED),
    "real": (Kind.UNSIGNED, Kind.SIGNED, Kind.FLOAT),
    "inexact": (Kind.FLOAT, Kind.COMPLEX),
    "numeric": tuple(Kind)[1:],
    "all": tuple(Kind),
}
Target = DType | Kind  # a dtype, or a kind for its default dtype
TABLE = f"{__file__[:-3]}.txt"
PARTS, WEAK, INTO = ("real", "complex", "left"), ("keep", "strip", "default"), ("same", "kind", "category", "rebind")


class OpError(TypelatticeError, ValueError):
    """An operation that no table knows."""


@dataclass(frozen=True, slots=True)
class Op:
    """What an operation does with the dtype at which its operands meet.

    `takes`: the kinds it accepts. `to`: dtype or kind → what to compute in. `loops`: the dtypes it computes in; the first to
    which every operand casts is taken, the operands' own ones that stand in `own` before all. `gives`: the result, if not
    the dtype computed in; `real`: that of its parts; `complex`: that of which it is a part; `left`: the left operand's,
    written into as `into` lets. `weak`: what becomes of a weak result: keep, strip, the default of its kind. `left`: an
    integer on the right, of these tiers, leaves the left operand its dtype. `first`: a scalar that comes first counts as an
    array. `alike`: operands meet at a dtype that each has, or not at all. `fit`: as in a system.
    """

    name: str
    takes: tuple[Kind, ...]
    gives: Target | Literal["real", "complex", "left"] | None = None
    to: Mapping[Target, Target] = field(default_factory=dict)
    loops: tuple[DType, ...] = ()
    own: tuple[DType, ...] = ()
    into: str = "same"
    weak: str = "keep"
    left: tuple[str, ...] = ()
    first: bool = False
    alike: bool = False
    fit: Mapping[str, str] | None = None


def kinds(text: str) -> tuple[Kind, ...]:
    """The kinds that words such as `bool, int` mean. Raises KeyError."""
    return tuple(kind for word in text.split(",") for kind in KINDS[word.strip()])


def _standard() -> tuple[dict[str, Op], dict[str, str], dict[str, str]]:
    classes: dict[str, Op] = {}
    belongs: dict[str, str] = {}
    forms: dict[str, str] = {}
    with open(TABLE, encoding="ascii") as rows:
        for line in (row for row in rows if not row.startswith("#")):
            name, takes, gives, form, *members = line.split()
            given = gives if gives in PARTS else KINDS.get(gives, (None,))[-1]
            classes[name] = Op(name, kinds(takes), given, fit={} if name == "promotion" else None)  # type: ignore[arg-type]
            belongs |= dict.fromkeys(members, name)
            forms |= dict.fromkeys(members, form)
    return classes, belongs, forms


STANDARD, CLASS, FORM = _standard()  # class -> Op; operation -> class; operation -> the form of its signature


def find(op: str, departures: Mapping[str, Mapping[str, object]]) -> Op:
    """What an operation does in a system: the standard, with what the file says of its class, then of it alone.

    >>> find("divide", {}).takes
    (<Kind.FLOAT: 'float'>, <Kind.COMPLEX: 'complex'>)
    """
    if op not in CLASS:
        raise OpError(f"unknown operation {short(op)}{nearest(op, CLASS) or '; operations are ' + ', '.join(CLASS)}")
    said = {**departures.get(CLASS[op], {}), **departures.get(op, {})}
    return replace(STANDARD[CLASS[op]], name=op, **said)  # type: ignore[arg-type]
