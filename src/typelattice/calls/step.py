"""Steps: what a straight-line program is made of, each with its text and its place in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType
from typing import TypeAlias

from typelattice.facts.errors import TypelatticeError
from typelattice.facts.operations import OPERATORS
from typelattice.facts.range import Value
from typelattice.facts.suggestions import clipped
from typelattice.operands.operand import Operand

Shape: TypeAlias = tuple[int | None, ...]  # the lengths of the axes; None for one that is not known
LONGEST = 160  # characters of a step's text
WRITES = {  # of an operator such as `*=`, the operation that computes what it writes into its left operand
    op.names[0]: op.function for op in OPERATORS.values() if op.in_place
}
IN_PLACE = {plain: written for written, plain in WRITES.items()}


class ProgramError(TypelatticeError, TypeError):
    """The error of an invalid program, a name without an operand, or a step that cannot be carried out."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A file, or another name of a source, and a line counted from 1.

    The columns and the last line are 0 if only the line is known, as in steps.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The piece of source that asks for a step: its text, its location, and the library that it names.

    `module` is the module of that library, if its functions follow a system of their own: `lax` of JAX.
    """

    text: str
    location: SourceLocation | None = None
    owner: str | None = None
    module: str = ""

    def refuse(self, why: str) -> ProgramError:
        """Build the error for source that cannot become a step; `why` also says what to do."""
        where = f"{self.location}: " if self.location else ""
        return ProgramError(f"{where}{clipped(self.text, 60)!r}: {clipped(why, 600)}")


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
    location: SourceLocation | None = None
    shape: Shape | None = None
    owner: str | None = None

    @property
    def op(self) -> str | None:
        """The name of the operation; None for an input or a number."""
        return None

    @property
    def inputs(self) -> tuple[int, ...]:
        """The earlier steps that it is made of."""
        return ()


@dataclass(frozen=True, slots=True)
class Input(Step):
    """An input of the program, named by its text.

    `given` is its operand. A string is left to the system to read, because its file may define the dtype.
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
    `dtype` is the dtype asked for by name, as in `sum(x, dtype=float32)`. `module` is that of an Excerpt.
    `lists` are those of its operands
    that are written as lists, of which the library is to make arrays by itself. `rebinds`: the source has an
    operator such as `*=`, and a library with scalars of its own replaces the left operand, as NumPy does.
    """

    name: str
    args: tuple[Argument, ...]
    keywords: Keywords
    operands: tuple[int, ...]
    operator: bool = False
    dtype: AnyDType | None = None
    lists: tuple[int, ...] = ()
    rebinds: bool = False
    module: str = ""

    @property
    def op(self) -> str:
        """The operation."""
        return self.name

    @property
    def inputs(self) -> tuple[int, ...]:
        """Its operands, and the other steps among its arguments."""
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
        """The name of a cast in the array API standard."""
        return "astype"

    @property
    def inputs(self) -> tuple[int, ...]:
        """The step that is cast, and the step whose dtype it is cast to, if any."""
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
        """Python's name for indexing."""
        return "getitem"

    @property
    def inputs(self) -> tuple[int, ...]:
        """The indexed step, and the arrays among the indices."""
        return (self.source, *_others((self.source,), (self.key,)))


@dataclass(frozen=True, slots=True)
class Item(Step):
    """An element of an earlier step as a Python number, `x.item()`: of the kind of x."""

    source: int

    @property
    def op(self) -> str:
        """The name of this method in the libraries."""
        return "item"

    @property
    def inputs(self) -> tuple[int, ...]:
        """The step that it is an element of."""
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
    def inputs(self) -> tuple[int, ...]:
        """The steps among its arguments."""
        own = (self.like,) if isinstance(self.like, int) else ()
        return (*own, *_others(own, self.args, self.keywords, self.dtype))


@dataclass(frozen=True, slots=True)
class Opaque(Step):
    """A step whose operation is in no table: its result is `given` under every system."""

    name: str
    given: Operand | str
    made_of: tuple[int, ...] = ()

    @property
    def op(self) -> str:
        """The name in the source."""
        return self.name

    @property
    def inputs(self) -> tuple[int, ...]:
        """The earlier steps that went into it."""
        return self.made_of


def references(x: object) -> Iterator[int]:
    """Yield the earlier steps that an argument refers to, from left to right."""
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
    """Return the steps that arguments refer to, without the known ones."""
    return tuple(dict.fromkeys(i for i in references(arguments) if i not in known))
