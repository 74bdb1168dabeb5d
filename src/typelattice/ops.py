"""Operations: the kinds each takes and the dtype it gives, once its operands have met.

The standard is the array API's (2024.12); a system file states only where a library departs from it. Promotion comes
first, so `takes` speaks of the dtype at which the operands meet, not of each operand.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from typelattice.dtypes import DType, Kind, nearest

KINDS = {
    "bool": (Kind.BOOL,), "unsigned": (Kind.UNSIGNED,), "signed": (Kind.SIGNED,), "float": (Kind.FLOAT,), "complex": (Kind.COMPLEX,),
    "int": (Kind.UNSIGNED, Kind.SIGNED), "real": (Kind.UNSIGNED, Kind.SIGNED, Kind.FLOAT),
    "inexact": (Kind.FLOAT, Kind.COMPLEX), "numeric": tuple(Kind)[1:], "all": tuple(Kind), "none": (),
}  # fmt: skip
CLASSES = """
join         all           result_type where concat stack
arithmetic   numeric       add multiply positive
subtract     numeric       subtract
negative     numeric       negative
absolute     numeric real  abs
extreme      real          maximum minimum max min
divide       inexact       divide
floor        real          floor_divide remainder
power        numeric       power
maths        inexact       sqrt exp sin
real-maths   float         atan2
rounding     real          floor
sign         numeric       sign
comparison   all    bool   equal not_equal
ordering     real   bool   less less_equal greater greater_equal
logical      bool   bool   logical_and logical_or logical_xor logical_not
bitwise      bool,int      bitwise_and bitwise_or bitwise_xor bitwise_invert
shift        int           bitwise_left_shift bitwise_right_shift
matmul       numeric       matmul
accumulate   numeric       sum prod
cumulative   numeric       cumulative_sum
mean         inexact       mean
index        real   int    argmax
"""  # class, kinds taken, what it gives if not the dtype at which the operands meet, its operations


class OpError(ValueError):
    """An operation that no table knows."""


@dataclass(frozen=True, slots=True)
class Op:
    """What one operation does with the dtype at which its operands meet.

    `takes`: the kinds it accepts. `to`: dtype or kind → the dtype to compute in. `loops`: the dtypes it computes in;
    the first to which every operand casts is taken, the operands' own ones in `own` before all. `gives`: the dtype or kind (its default dtype) of the result, if not the one computed
    in; `real`: of its parts. `weak`: whether a weak result stays weak. `fit`: kind of scalar → what becomes of a value out of range.
    """

    name: str
    takes: tuple[Kind, ...] = tuple(Kind)
    to: Mapping[DType | Kind, DType | Kind] = field(default_factory=dict)
    loops: tuple[DType, ...] = ()
    own: tuple[DType, ...] = ()
    gives: DType | Kind | Literal["real"] | None = None
    weak: bool = True
    fit: Mapping[Kind, str] | None = None


def kinds(text: str) -> tuple[Kind, ...]:
    """The kinds that words such as `bool, int` mean. Raises KeyError."""
    return tuple(kind for word in text.split(",") for kind in KINDS[word.strip()])


def _standard() -> tuple[dict[str, Op], dict[str, str]]:
    classes, belongs = {}, {}
    for line in CLASSES.strip().splitlines():
        name, takes, *rest = line.split()
        given = rest.pop(0) if rest[0] in KINDS else None
        classes[name] = Op(name, kinds(takes), gives=given if given == "real" else KINDS[given][-1] if given else None)
        belongs |= dict.fromkeys(rest, name)
    return classes, belongs


STANDARD, CLASS = _standard()  # class -> Op; operation -> class


def find(op: str, departures: Mapping[str, Mapping[str, object]]) -> Op:
    """What an operation does in a system: the standard, with what the file says of its class, then of it alone.

    >>> find("divide", {}).takes
    (<Kind.FLOAT: 'float'>, <Kind.COMPLEX: 'complex'>)
    """
    if op not in CLASS:
        raise OpError(f"unknown operation {op[:40]!r}{nearest(op, CLASS)}; operations are {', '.join(CLASS)}")
    of_class = CLASS[op]
    return replace(STANDARD[of_class], name=op, **{**departures.get(of_class, {}), **departures.get(op, {})})  # type: ignore[arg-type]
