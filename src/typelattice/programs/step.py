"""Steps: what a straight-line program is made of, each with its text and its place in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType
from typing import TypeAlias

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.operations import OPERATORS
from typelattice.facts.range import Value
from typelattice.operands.operand import Operand

Shape: TypeAlias = tuple[int | None, ...]  # the lengths of the axes; None for one that is not known
LONGEST = 160  # characters of a step's text
WRITES = {  # of an operator such as `*=`, the operation that computes what it writes into its left operand
    op.names[0]: op.function for op in OPERATORS.values() if op.in_place
}


class ProgramError(TypelatticeError, TypeError):
    """What cannot be a program, a name without an operand, or a step that cannot be carried out."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step stands: a file, or what else the source is called, and a line counted from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of an earlier step, by its number."""

    step: int


@dataclass(frozen=True, slots=True)
class NamedDType:
    """A dtype by its name, which may be that of a system's own file; `float` stands for the default dtype."""

    name: str


@dataclass(frozen=True, slots=True)
class DTypeOf:
    """The dtype of an earlier step's result, as in `x.dtype`."""

    step: int


AnyDType: TypeAlias = NamedDType | DTypeOf
Argument: TypeAlias = "Value | str | EllipsisType | Ref | AnyDType | Slice | tuple[Argument, ...] | None"
Keywords: TypeAlias = tuple[tuple[str, Argument], ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of an axis, as in `x[1:]`."""

    start: Argument
    stop: Argument
    step: Argument


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. `shape` is that of its result, None where it is unknown.

    `owner` is the library whose rules decide, where the source says which: that of the function, or of the
    array that Python asks.
    """

    text: str
    place: Place | None = None
    shape: Shape | None = None
    owner: str | None = None

    @property
    def op(self) -> str | None:
        """What is done; None of an input and of a number."""
        return None

    @property
    def parts(self) -> tuple[int, ...]:
        """The earlier steps that it is made of."""
        return ()


@dataclass(frozen=True, slots=True)
class Input(Step):
    """What comes from outside under the name that is its text.

    `given` is what it is to a system; a string is read by the system, whose file may define the dtype.
    """

    given: Operand | str


@dataclass(frozen=True, slots=True)
class Number(Step):
    """A Python number."""

    value: Value


@dataclass(frozen=True, slots=True)
class Call(Step):
    """An operation: its one name, its arguments, and the earlier steps among them that are its operands.

    `operator`: it is written with one of Python's operators, which of Python numbers make a Python number.
    `dtype` is the dtype asked for by name, as in `sum(x, dtype=float32)`. `lists` are those of its operands
    that are written as lists, of which the library is to make arrays by itself.
    """

    name: str
    args: tuple[Argument, ...]
    keywords: Keywords
    operands: tuple[int, ...]
    operator: bool = False
    dtype: AnyDType | None = None
    lists: tuple[int, ...] = ()

    @property
    def op(self) -> str:
        """The operation."""
        return self.name

    @property
    def parts(self) -> tuple[int, ...]:
        """Its operands, and what else of its arguments is no plain value."""
        if self.dtype is None and not self.keywords and len(self.args) == len(self.operands):
            return self.operands  # as nearly always
        return (*self.operands, *_others(self.operands, self.args, self.keywords, self.dtype))


@dataclass(frozen=True, slots=True)
class Cast(Step):
    """An explicit cast of an earlier step."""

    source: int
    to: AnyDType

    @property
    def op(self) -> str:
        """What the array API standard calls it."""
        return "astype"

    @property
    def parts(self) -> tuple[int, ...]:
        """What is cast, and what has the dtype that it is cast to."""
        return (self.source, *_others((self.source,), (self.to,)))


@dataclass(frozen=True, slots=True)
class Index(Step):
    """Elements of an earlier step: `x[key]`, of the dtype and the weakness of x.

    `lists` says how lists stand in the key: "index" if it is one, "indices" if one is among several.
    """

    source: int
    key: Argument
    lists: str = ""

    @property
    def op(self) -> str:
        """What Python calls it."""
        return "getitem"

    @property
    def parts(self) -> tuple[int, ...]:
        """What is indexed, and the arrays among the indices."""
        return (self.source, *_others((self.source,), (self.key,)))


@dataclass(frozen=True, slots=True)
class Item(Step):
    """An element of an earlier step as a Python number, `x.item()`: of the kind of x."""

    source: int

    @property
    def op(self) -> str:
        """What libraries call it."""
        return "item"

    @property
    def parts(self) -> tuple[int, ...]:
        """What it is an element of."""
        return (self.source,)


@dataclass(frozen=True, slots=True)
class Created(Step):
    """An array made of a shape, or of Python numbers: `zeros(3)`, `asarray([1, 2])`.

    Its dtype is the one asked for, else that of the step `like`, else the default dtype of `like`, a Python
    scalar.
    """

    name: str
    args: tuple[Argument, ...]
    keywords: Keywords
    like: Operand | int
    dtype: AnyDType | None = None

    @property
    def op(self) -> str:
        """The function."""
        return self.name

    @property
    def parts(self) -> tuple[int, ...]:
        """The steps among its arguments."""
        own = (self.like,) if isinstance(self.like, int) else ()
        return (*own, *_others(own, self.args, self.keywords, self.dtype))


@dataclass(frozen=True, slots=True)
class Opaque(Step):
    """What no table of operations knows: its result is taken as it was given, whatever the system."""

    name: str
    given: Operand | str
    made_of: tuple[int, ...] = ()

    @property
    def op(self) -> str:
        """What the source calls it."""
        return self.name

    @property
    def parts(self) -> tuple[int, ...]:
        """The earlier steps that went into it."""
        return self.made_of


def references(x: object) -> Iterator[int]:
    """The earlier steps that an argument speaks of, from left to right."""
    match x:
        case Ref(step) | DTypeOf(step):
            yield step
        case Slice(start, stop, step):
            for bound in (start, stop, step):
                yield from references(bound)
        case tuple():
            for item in x:
                yield from references(item)


def _others(known: tuple[int, ...], *arguments: object) -> tuple[int, ...]:
    """The steps that arguments speak of, without those that are known."""
    return tuple(dict.fromkeys(i for i in references(arguments) if i not in known))
