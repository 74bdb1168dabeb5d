"""What operations do with dtypes: the kinds each class takes, and the dtype it gives.

standard.txt states the array API standard; a system's file states only where its library departs from it.
Which operations there are, and the class of each, is a fact that stands in facts/operations.txt.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, TypeVar

from typelattice.facts.dtypes import DType, Kind, Node
from typelattice.facts.operations import IN_PLACE, OPERATIONS, Operation, OpError, operation
from typelattice.operands.operand import Operand

T = TypeVar("T")
KINDS: dict[str, tuple[Kind, ...]] = {
    **{kind.value: (kind,) for kind in Kind},
    "int": (Kind.UNSIGNED, Kind.SIGNED),
    "real": (Kind.UNSIGNED, Kind.SIGNED, Kind.FLOAT),
    "inexact": (Kind.FLOAT, Kind.COMPLEX),
    "numeric": tuple(Kind)[1:],
    "all": tuple(Kind),
    "none": (),
}
Target = DType | Kind  # a dtype, or a kind for its default dtype
TABLE = f"{__file__.removesuffix('operations.py')}standard.txt"
PARTS = ("real", "complex", "left", "joined")  # what `gives` may say beside a dtype or a kind
OTHER = "other"  # in a side: the dtype of an array that the operand it meets does not have
Side = frozenset[Node | Kind | str]  # kinds and dtypes of arrays, OTHER; weak nodes for Python scalars
Refused = tuple[Side, Side, bool]  # sides that do not meet; whether in this order alone
Covers = tuple[tuple[Node, tuple[Node, ...]], ...]  # of an order: each node with its successors
Given = Target | Literal["real", "complex", "left", "joined"] | None
ARRAYS = ("none", "first", "all")
SCALARS = ("any", "beside", "strong", "right", "last", "none")
MEET = ("join", "alike", "apart")
ADOPTS = ("computed", "joined")
WEAK = ("keep", "same", "made", "0d", "strip", "default", "refuse")
INTO = ("same", "kind", "category", "rebind", "round", "cast")
REBINDS = ("rebind", "round")  # those by which nothing is written into the left operand itself


@dataclass(frozen=True, slots=True)
class Domain:
    """The dtypes that an operation takes: those of some kinds and some others, but for those of `but`.

    >>> from typelattice.facts.dtypes import CODES
    >>> reals = Domain(kinds("real"), but=(CODES["u16"],))
    >>> print(CODES["u8"] in reals, CODES["u16"] in reals, CODES["c64"] in reals)
    True False False
    """

    listed: tuple[Target, ...]
    but: tuple[Target, ...] = ()
    # The same as sets, for every answer asks several times whether one is in them: a tuple would compare one
    # by one, by `DType.__eq__`, which is Python code; a set compares only what has the same hash.
    _listed: frozenset[Target] = field(init=False, repr=False, compare=False)
    _but: frozenset[Target] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_listed", frozenset(self.listed))
        object.__setattr__(self, "_but", frozenset(self.but))

    def __contains__(self, x: Target) -> bool:
        """Whether it has a dtype; or a kind, as that of a Python scalar."""
        kind = x.kind if isinstance(x, DType) else x
        return (kind in self._listed or x in self._listed) and not (kind in self._but or x in self._but)


@dataclass(frozen=True, slots=True)
class Op:
    """What an operation does: which operands it takes, how they meet, what it computes in, what it gives.

    It takes:

    - `takes`: the dtypes in which it computes.
    - `each`: the dtypes that each operand may have by itself; None for all.
    - `scalars`: where Python scalars may stand: `any` place, `beside` an array, on its `right`, or `none`.
    - `refuses`: pairs of sides; an operand of the one does not meet an operand of the other.
    - `dimensions`: how many dimensions each operand has to have; a Python scalar has none.
    - `natural`: tiers; an integer of these on the right must not be negative where integers are computed in;
      or the unsigned dtype that has to hold a Python int there.

    Operands meet:

    - `arrays`: which operands without dimensions count as arrays of the dtypes that they have by themselves:
      `none`, the `first`, `all`.
    - `before`: dtype or kind → the dtype that an operand of it counts as.
    - `order`: the covers of the order in which they join, if it is not that of the system.
    - `meet`: they `join`; have to be `alike`, of one dtype; or stay `apart`: the result has its own dtype.
    - `absorbs`: the dtypes that an operand has which decides alone: the rest is cast to it, whatever it is.
    - `loops`: the dtypes that it computes in; the first to which every operand casts is taken.
    - `own`: dtypes that are tried before the loops where an operand is of them.
    - `ignores`: tiers; an integer of these on the right leaves the left operand its dtype, as in `x ** 2`.
    - `ignores_of`: the same of left operands of single dtypes and kinds, which counts more.
    - `adopts`: which dtype has to hold the value of a Python scalar: that `computed` in, or that at which the
      operands `joined`.
    - `holds`: kind of Python scalar, or dtype that it becomes → what has to hold it, if that differs from
      what the system says.
    - `fit`: kind of Python scalar → what becomes of a value out of range, if not what the system says.

    It computes:

    - `computes`: dtype or kind → the dtype to compute in.

    It gives:

    - `gives`: the dtype of the result; None: the one computed in. Else a dtype, the default dtype of a kind,
      `real` for that of its parts, `complex` for that of which it is a part, `left` for the left operand's,
      `joined` for that at which the operands joined.
    - `gives_of`: the same of single dtypes and kinds that are computed in, which counts more.
    - `writes`: whether the result is written into the left operand, as that of `+=` is.
    - `into`: what may be written into the left operand, if `writes`, or if `gives` is `left`.
    - `weak`: what becomes of a weak result: `keep`; `same`, kept where it computes in the dtype at which
      operands joined; `made`, kept, and weak as well where it computes in another; `0d`, kept where no
      operand has dimensions; `strip`; the `default` dtype of its kind; or `refuse`, for any but a default.
    - `weak_of`: the same of single dtypes and kinds that are computed in, which counts more.
    """

    name: str
    takes: Domain
    gives: Given = None
    gives_of: Mapping[Target, Given] = field(default_factory=dict)
    each: Domain | None = None
    scalars: str = "any"
    refuses: tuple[Refused, ...] = ()
    dimensions: int = 0
    natural: tuple[str, ...] | DType = ()
    computes: Mapping[Target, Target] = field(default_factory=dict)
    arrays: str = "none"
    before: Mapping[Target, Target] = field(default_factory=dict)
    order: Covers = ()
    meet: str = "join"
    absorbs: Domain | None = None
    loops: tuple[DType, ...] = ()
    own: tuple[DType, ...] = ()
    writes: bool = False
    into: str = "same"
    weak: str = "keep"
    weak_of: Mapping[Target, str] = field(default_factory=dict)
    ignores: tuple[str, ...] = ()
    ignores_of: Mapping[Target, tuple[str, ...]] = field(default_factory=dict)
    adopts: str = "computed"
    holds: Mapping[Target, Sequence[DType]] | None = None
    fit: Mapping[str, str] | None = None

    def makes_array(self, place: int) -> bool:
        """Whether the operand at a place counts as an array of the dtype that it has by itself."""
        return self.arrays == "all" or (self.arrays == "first" and place == 0)

    @property
    def has_constants(self) -> bool:
        """Whether an integer that is ignored and no array is a constant, as the 2 of `x ** 2`."""
        return "array" not in self.ignores


def kinds(text: str) -> tuple[Kind, ...]:
    """The kinds that words such as `bool, int` mean. Raises KeyError."""
    return tuple(kind for word in text.split(",") for kind in KINDS[word.strip()])


def _standard() -> tuple[dict[str, Op], dict[str, str]]:
    """(the rows of the standard's table, the group of each), by the name of the class."""
    classes, groups = {}, {}
    with open(TABLE, encoding="ascii") as rows:
        for row in (row for row in rows if not row.startswith("#")):
            name, groups[name], takes, gives = row.split()
            given = gives if gives in PARTS else KINDS.get(gives, (None,))[-1]
            # A checker does not see that a word which is one of PARTS is one of `Given`.
            fit: Mapping[str, str] | None = {} if name == "promotion" else None
            classes[name] = Op(name, Domain(kinds(takes)), given, fit=fit)  # type: ignore[arg-type]
    return classes, groups


STANDARD: Mapping[str, Op]  # by class
GROUPS: Mapping[str, str]  # the group of each class: does it make new values, or move those that there are
STANDARD, GROUPS = _standard()


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
    """What an operation does in a system: the standard, and what the file says of it, its class or its group.

    Raises OpError of an unknown one.

    >>> find("divide", {}).takes.listed
    (<Kind.FLOAT: 'float'>, <Kind.COMPLEX: 'complex'>)
    """
    said: dict[str, object] = {}
    for entry in reversed(entries(op)):
        said |= departures.get(entry, {})
    known = operation(op)
    said |= {"name": known.name, "writes": known.in_place}
    # The reader of files has checked that each value is of its field's type, which a checker cannot see here.
    return replace(STANDARD[class_of(known)], **said)  # type: ignore[arg-type]


def class_of(known: Operation) -> str:
    """The class that says what an operation takes and computes in: of an operator that of its function."""
    return OPERATIONS[known.function].of_class


@cache  # of each operation there is, as it is asked in every step of many answers
def entries(op: str) -> tuple[str, ...]:
    """The entries of `ops` that may speak of an operation, the one that counts most first.

    An operator does what its function does, and `+=` what `+` does, where nothing else is said.

    >>> entries("add"), entries("+=")
    (('add', 'arithmetic', 'computing'), ('+=', 'in-place', '+', 'add', 'arithmetic', 'computing'))
    """
    known = operation(op)
    of_class = class_of(known)
    signs = (known.name, IN_PLACE, known.name[:-1]) if known.in_place else (known.name,)
    named = signs if known.is_operator else ()
    return *named, known.function, of_class, GROUPS[of_class]


def said_of(said: Mapping[Target, T], d: DType | Operand) -> T | None:
    """The entry of a table for a dtype, or for an operand: that of the very dtype, else that of its kind."""
    dtype = d if isinstance(d, DType) else d.dtype
    return (said.get(dtype) if dtype else None) or said.get(d.kind)
