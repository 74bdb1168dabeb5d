"""What operations do with dtypes: the kinds each class takes, and the dtype it gives.

standard.txt states the array API standard; a system's file states only where its library departs from it.
Which operations there are, and the class of each, is a fact that stands in facts/operations.txt.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from typelattice.facts.dtypes import DType, Kind
from typelattice.facts.operations import Operation, OpError, operation
from typelattice.operands.operand import Operand

KINDS: dict[str, tuple[Kind, ...]] = {
    **{kind.value: (kind,) for kind in Kind},
    "int": (Kind.UNSIGNED, Kind.SIGNED),
    "real": (Kind.UNSIGNED, Kind.SIGNED, Kind.FLOAT),
    "inexact": (Kind.FLOAT, Kind.COMPLEX),
    "numeric": tuple(Kind)[1:],
    "all": tuple(Kind),
}
Target = DType | Kind  # a dtype, or a kind for its default dtype
TABLE = f"{__file__.removesuffix('operations.py')}standard.txt"
PARTS = ("real", "complex", "left")  # what `gives` may say beside a dtype or a kind
WEAK = ("keep", "strip", "default")
INTO = ("same", "kind", "category", "rebind", "cast")


@dataclass(frozen=True, slots=True)
class Op:
    """What an operation does with the dtype at which its operands join.

    - `takes`: the kinds that it accepts.
    - `to`: dtype or kind → the dtype to compute in.
    - `loops`: the dtypes that it computes in; the first to which every operand casts is taken.
    - `own`: dtypes that are tried before the loops where an operand is of them.
    - `gives`: the dtype of the result; None: the one computed in. Else a dtype, the default dtype of a kind,
      `real` for that of its parts, `complex` for that of which it is a part, `left` for the left operand's.
    - `into`: what may be written into the left operand, if `gives` is `left`.
    - `weak`: what becomes of a weak result: `keep`, `strip`, or the `default` dtype of its kind.
    - `left`: tiers; an integer of these tiers on the right leaves the left operand its dtype, as in `x ** 2`.
    - `first`: whether a Python scalar that comes first counts as an array.
    - `alike`: whether the operands have to be of one dtype.
    - `fit`: kind of Python scalar → what becomes of a value out of range, if not what the system says.
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


def _standard() -> dict[str, Op]:
    """The rows of the standard's table, by the name of the class."""
    classes = {}
    with open(TABLE, encoding="ascii") as rows:
        for row in (row for row in rows if not row.startswith("#")):
            name, takes, gives = row.split()
            given = gives if gives in PARTS else KINDS.get(gives, (None,))[-1]
            fit: Mapping[str, str] | None = {} if name == "promotion" else None
            classes[name] = Op(name, kinds(takes), given, fit=fit)  # type: ignore[arg-type]
    return classes


STANDARD: Mapping[str, Op] = _standard()  # by class


def checked(op: str, operands: Sequence[Operand]) -> Operation:
    """The operation of a name, which takes these operands.

    Raises OpError of an unknown operation, of more or fewer operands than it takes, of indices that are
    no integers.
    """
    known = operation(op)
    known.check(len(operands))
    for indices in operands[1:] if known.form == "indexed" else ():
        if indices.kind.rank > Kind.SIGNED.rank:
            raise OpError(
                f"{known.name} takes integers for indices, not {indices}; cast them first, e.g. to int64"
            )
    return known


def find(op: str, departures: Mapping[str, Mapping[str, object]]) -> Op:
    """What an operation does in a system: as the standard, unless the file says else of its class or of it.

    Raises OpError of an unknown one.

    >>> find("divide", {}).takes
    (<Kind.FLOAT: 'float'>, <Kind.COMPLEX: 'complex'>)
    """
    known = operation(op)
    said = {**departures.get(known.of_class, {}), **departures.get(known.name, {})}
    return replace(STANDARD[known.of_class], name=known.name, **said)  # type: ignore[arg-type]
