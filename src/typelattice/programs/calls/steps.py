"""The steps of a straight-line program, each with its text and its source location."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, ClassVar, Self, TypeAlias

from typelattice.base.errors.error_texts import clip_text
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.losses.range_and_overflow import PythonNumber
from typelattice.core.operands.operand import Operand
from typelattice.core.operations.operations import OPERATIONS, OPERATORS, Operation
from typelattice.core.operations.shapes import Shape

MAX_STEP_CHARS = 160
FUNCTION_OF_IN_PLACE = {  # operator that writes in place -> the operation that computes its value
    op.other_names[0]: op.function for op in OPERATORS.values() if op.is_in_place
}
IN_PLACE_OF_FUNCTION = {plain: written for written, plain in FUNCTION_OF_IN_PLACE.items()}
SAME_KIND_KEYWORD_AND_VALUE = (
    "casting",
    "same_kind",
)  # marks a result that `out=` accepts only if `+=` would write it


class ProgramError(TypelatticeError, TypeError):
    """The error of an invalid program, a name without an operand, or a step that cannot be carried out."""

    __module__ = "typelattice"


class InvalidCallError(ProgramError):
    """The error of a call that fails whatever the dtypes are, such as a sum of shapes that do not fit."""


class UnknownFunctionError(ProgramError):
    """The error of a function that no table of calls has."""


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
    """The source of a step: its text, its location, and the library that it names.

    `module` is the module of that library, if its functions follow a system of their own: `lax` of JAX.
    """

    text: str
    location: SourceLocation | None = None
    owner: str | None = None
    module: str = ""

    def of_library(self, owner: str | None, module: str = "") -> Excerpt:
        """Return the same piece of source for another library, or for none."""
        return Excerpt(self.text, self.location, owner, module)

    def error(self, reason: str) -> ProgramError:
        """Build the error for source that cannot become a step. `reason` also says what to do."""
        return ProgramError(self._describe(reason))

    def invalid_call(self, reason: str) -> InvalidCallError:
        """Build the error for a call that fails whatever the dtypes are."""
        return InvalidCallError(self._describe(reason))

    def _describe(self, reason: str) -> str:
        where = f"{self.location}: " if self.location else ""
        return f"{where}{clip_text(self.text, 60)!r}: {clip_text(reason, 600)}"


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of an earlier step, by its number."""

    step: int


@dataclass(frozen=True, slots=True)
class NamedDType:
    """A dtype by its name. The dtype may be one of a system file, and `float` means the default dtype."""

    name: str


@dataclass(frozen=True, slots=True)
class DTypeOf:
    """The dtype of an earlier step's result, as in `x.dtype`."""

    step: int


DTypeArgument: TypeAlias = NamedDType | DTypeOf
Argument: TypeAlias = (
    "PythonNumber | str | EllipsisType | Ref | DTypeArgument | ArgumentNode | tuple[Argument, ...] | None"
)
Keywords: TypeAlias = tuple[tuple[str, Argument], ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of an axis, as in `x[1:]`."""

    start: Argument
    stop: Argument
    step: Argument

    def map(self, convert: Callable[[Any], Any]) -> Slice:
        """Return the slice with other arguments in place of its own."""
        return Slice(convert(self.start), convert(self.stop), convert(self.step))

    @property
    def parts(self) -> tuple[Argument, ...]:
        """The arguments in it."""
        return self.start, self.stop, self.step


@dataclass(frozen=True, slots=True)
class Pairs:
    """A dictionary, which only a library itself can read: `{0: 10, 1: 20}`."""

    pairs: tuple[tuple[Argument, Argument], ...]

    def map(self, convert: Callable[[Any], Any]) -> Pairs:
        """Return the dictionary with other arguments in place of its own."""
        return Pairs(convert(self.pairs))

    @property
    def parts(self) -> tuple[Argument, ...]:
        """The arguments in it: a pair of each key and its value."""
        return self.pairs


@dataclass(frozen=True, slots=True)
class LibraryObject:
    """An object that a call makes, or a function of a library, that the library is asked about.

    The fields are those of a LibraryCall. `args` is None for the function itself, which nobody calls.
    """

    name: str
    args: tuple[Argument, ...] | None = None
    keywords: Keywords = ()
    taken: tuple[int | str, ...] = ()

    def map(self, convert: Callable[[Any], Any]) -> LibraryObject:
        """Return the object with other arguments in place of its own."""
        args = None if self.args is None else convert(self.args)
        keywords = tuple((key, convert(value)) for key, value in self.keywords)
        return LibraryObject(self.name, args, keywords, self.taken)

    @property
    def parts(self) -> tuple[Argument, ...]:
        """The arguments in it."""
        return *(self.args or ()), *(value for _, value in self.keywords)


ArgumentNode: TypeAlias = Slice | Pairs | LibraryObject
NESTED_ARGUMENTS = (tuple, Slice, Pairs, LibraryObject)
"""Arguments with others in them."""

CALLED_OBJECT = "()"
"""The name of a call of its first argument, an object."""

OBJECT_ITSELF = ""
"""In place of the name of a function, where nothing is called: the first argument itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. `shape` is the shape of its result, or None if it is unknown.

    `owner` is the library whose rules decide, if the source says which: the library of the function, or of
    the array whose method Python calls.
    """

    FIXED_OPERATION: ClassVar[str | None] = None  # the operation of the class, if no field has it
    STEP_FIELDS: ClassVar[tuple[str, ...]] = ()  # the fields that hold the numbers of earlier steps
    ARGUMENT_FIELDS: ClassVar[tuple[str, ...]] = ()  # the fields that hold arguments
    DTYPE_FIELD: ClassVar[str] = ""  # the field that holds the dtype that the source requests

    text: str
    location: SourceLocation | None = None
    shape: Shape | None = None
    owner: str | None = None

    @property
    def op(self) -> str | None:
        """The name of the operation, or None for an input or a number."""
        return getattr(self, "name", self.FIXED_OPERATION)

    @property
    def requested_dtype(self) -> DTypeArgument | None:
        """The dtype that the source requests, or None if it requests none."""
        return getattr(self, self.DTYPE_FIELD) if self.DTYPE_FIELD else None

    @property
    def inputs(self) -> tuple[int, ...]:
        """The earlier steps that it uses."""
        return _find_inputs(self)

    def map_refs(
        self, convert_number: Callable[[int], int], convert_argument: Callable[[Argument], Any]
    ) -> Self:
        """Return the step with other earlier steps in place of those it uses, by number and as arguments."""
        changed: dict[str, Any] = {}
        for name in self.ARGUMENT_FIELDS:
            changed[name] = map_argument(getattr(self, name), convert_argument)
        for name in self.STEP_FIELDS:
            held = getattr(self, name)
            if isinstance(held, int):
                changed[name] = convert_number(held)
            elif isinstance(held, tuple):
                changed[name] = tuple(map(convert_number, held))
        return replace(self, **changed) if changed else self


@dataclass(frozen=True, slots=True)
class Input(Step):
    """An input of the program, named by its text.

    `fixed_result` is its operand. A string is left to the system to read: its file may define the dtype.
    """

    fixed_result: Operand | str


@dataclass(frozen=True, slots=True)
class Number(Step):
    """A Python number."""

    value: PythonNumber


@dataclass(frozen=True, slots=True)
class Call(Step):
    """A step that calls an operation: its name, its arguments, and the numbers of its operand steps.

    - `is_operator`: the source has a Python operator. With Python numbers only, it gives a Python number.
    - `dtype`: the dtype given by name, as in `sum(x, dtype=float32)`.
    - `list_operands`: the operands written as lists. The library makes arrays of them.
    - `rebinds`: the source has an operator such as `*=`, and the library may replace the left operand, as
      NumPy does with its scalars.
    - `module`: the library's module, if its functions have their own system, as in Excerpt.
    - `custom_operation`: the operation, if a system file defines it.
    """

    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("operands", "list_operands")
    ARGUMENT_FIELDS: ClassVar[tuple[str, ...]] = ("args", "keywords", "dtype")
    DTYPE_FIELD: ClassVar[str] = "dtype"

    name: str
    args: tuple[Argument, ...]
    keywords: Keywords
    operands: tuple[int, ...]
    is_operator: bool = False
    dtype: DTypeArgument | None = None
    list_operands: tuple[int, ...] = ()
    rebinds: bool = False
    module: str = ""
    custom_operation: Operation | None = None

    @property
    def operation(self) -> Operation:
        """The operation that the step calls. For `+=` it is the function that computes the value, `add`."""
        return self.custom_operation or OPERATIONS[FUNCTION_OF_IN_PLACE.get(self.name, self.name)]

    @property
    def casts_operands(self) -> bool:
        """Return True if the call casts its operands to the dtype that it states.

        Otherwise that is the dtype of the result only, or of the accumulator.
        """
        of_result = self.name.endswith("_like") or self.custom_operation is not None
        return not of_result and (not self.operation.adds_up or self.operation.takes_dtype)

    @property
    def inputs(self) -> tuple[int, ...]:
        """Its operands, and the other steps among its arguments."""
        if self.dtype is None and not self.keywords and len(self.args) == len(self.operands):
            return self.operands  # fast path: most steps have no other inputs
        return _find_inputs(self)


@dataclass(frozen=True, slots=True)
class Cast(Step):
    """An explicit cast of an earlier step.

    `is_conversion`: a library makes its own array of another library's, with no dtype named. `to` is then the
    dtype of that array.
    """

    FIXED_OPERATION: ClassVar[str | None] = "astype"
    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("operand",)
    ARGUMENT_FIELDS: ClassVar[tuple[str, ...]] = ("to",)
    DTYPE_FIELD: ClassVar[str] = "to"

    operand: int
    to: DTypeArgument
    is_conversion: bool = False


@dataclass(frozen=True, slots=True)
class Index(Step):
    """Elements of an earlier step, `x[key]`: as weak as x, and of its dtype.

    `list_form` says how lists occur in the key: "index" if the key is a list, "indices" if a list is one of
    several keys.
    """

    FIXED_OPERATION: ClassVar[str | None] = "getitem"
    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("operand",)
    ARGUMENT_FIELDS: ClassVar[tuple[str, ...]] = ("key",)

    operand: int
    key: Argument
    list_form: str = ""


@dataclass(frozen=True, slots=True)
class Item(Step):
    """An element of an earlier step as a Python number of the same kind, `x.item()`."""

    FIXED_OPERATION: ClassVar[str | None] = "item"
    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("operand",)

    operand: int


@dataclass(frozen=True, slots=True)
class Created(Step):
    """An array made from a shape, or from Python numbers: `zeros(3)`, `asarray([1, 2])`.

    Its dtype is the requested one. Without it, `default_from` is the number of a step with the dtype, or a
    Python scalar with the default dtype.
    """

    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("default_from",)
    ARGUMENT_FIELDS: ClassVar[tuple[str, ...]] = ("args", "keywords", "dtype")
    DTYPE_FIELD: ClassVar[str] = "dtype"

    name: str
    args: tuple[Argument, ...]
    keywords: Keywords
    default_from: Operand | int
    dtype: DTypeArgument | None = None


@dataclass(frozen=True, slots=True)
class Opaque(Step):
    """A step with an operation that is in no table. Its result is `fixed_result` under every system.

    `part` leads from the value that the operation gave to this result, such as `[1]` in a tuple. `package` is
    the package of the function, if it has one that is no library with rules. `holder` is the package and the
    class of the value, if a table has that class.
    """

    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("input_steps",)

    name: str
    fixed_result: Operand | str
    input_steps: tuple[int, ...] = ()
    part: str = ""
    package: str = ""
    holder: str = ""


@dataclass(frozen=True, slots=True)
class Refused(Step):
    """A call of a function of functions that the library refuses for the dtypes of some of its arrays.

    A program is read for one system, and the step is of a program that was read for that. `reason` says what
    the library refuses.
    """

    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("input_steps",)

    name: str
    reason: str
    input_steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LibraryCall(Step):
    """A call of a function or a method that no table describes. Its library is asked for the result.

    - `name` is the function as the source writes it, `torch.bilinear`, or the method after a dot, `.sinc`.
      Of a method the first of `args` is the array. CALLED_OBJECT calls the first of `args`, the object of
      `torch.nn.Linear(3, 2)(x)`. With OBJECT_ITSELF nothing is called, as in `x.struct`.
    - `taken` are the numbers and the names by which the source takes one of several results, or a part of
      an object.
    - `input_shapes` has the shape of each step among the arguments, in the order of `inputs`.
    """

    ARGUMENT_FIELDS: ClassVar[tuple[str, ...]] = ("args", "keywords")

    name: str
    args: tuple[Argument, ...]
    keywords: Keywords
    taken: tuple[int | str, ...] = ()
    input_shapes: tuple[Shape | None, ...] = ()


def function_of_call(name: str, args: tuple[Any, ...] | None, taken: tuple[int | str, ...] = ()) -> str:
    """Return the function that a call calls, or that makes the object that it calls.

    >>> function_of_call("()", (LibraryObject("torch.nn.Linear", (3, 2)), Ref(0)))
    'torch.nn.Linear'
    """
    made = args[0] if args else None
    if name == CALLED_OBJECT and isinstance(made, LibraryObject):
        return function_of_call(made.name, made.args, made.taken)
    return "".join(f".{part}" for part in taken) if name == OBJECT_ITSELF else name


@dataclass(frozen=True, slots=True)
class AskedDType(Step):
    """The dtype of an earlier step, which the source asks about: `if y.dtype == np.float32`.

    The steps after it are those of the systems that give this answer.
    """

    FIXED_OPERATION: ClassVar[str | None] = "dtype"
    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("operand",)

    operand: int


@dataclass(frozen=True, slots=True)
class Either(Step):
    """The result of one of several earlier steps. `condition` says what decides: the values of arrays.

    A system gives it a dtype only if all of them have that dtype.
    """

    FIXED_OPERATION: ClassVar[str | None] = "either"
    STEP_FIELDS: ClassVar[tuple[str, ...]] = ("choices",)

    choices: tuple[int, ...]
    condition: str = ""


def _find_inputs(step: Step) -> tuple[int, ...]:
    """Return the steps that a step holds by number, then the others among its arguments."""
    found: tuple[int, ...] = ()
    for name in step.STEP_FIELDS:
        held = getattr(step, name)
        numbers = (held,) if isinstance(held, int) else held if isinstance(held, tuple) else ()
        found = (*found, *[i for i in numbers if i not in found]) if found else numbers
    others = [i for name in step.ARGUMENT_FIELDS if (x := getattr(step, name)) for i in yield_references(x)]
    return (*found, *dict.fromkeys(i for i in others if i not in found)) if others else found


class StepList(list[Step]):
    """Steps that grow. `first_changed` is the first number at which a step was replaced or dropped.

    Whoever keeps facts about the steps sets it to their number.
    """

    first_changed = 0

    def __setitem__(self, at: Any, step: Any) -> None:
        self.first_changed = min(self.first_changed, at)
        super().__setitem__(at, step)

    def __delitem__(self, at: Any) -> None:
        self.first_changed = min(self.first_changed, at.start)
        super().__delitem__(at)


def yield_leaves(argument: Argument) -> Iterator[Argument]:
    """Yield the single arguments in an argument, from left to right."""
    if isinstance(argument, tuple):
        for each in argument:
            if isinstance(each, NESTED_ARGUMENTS):
                yield from yield_leaves(each)
            else:
                yield each
    elif isinstance(argument, NESTED_ARGUMENTS):
        yield from yield_leaves(argument.parts)
    else:
        yield argument


def yield_references(argument: Argument) -> Iterator[int]:
    """Yield the earlier steps that an argument refers to, from left to right."""
    return (leaf.step for leaf in yield_leaves(argument) if isinstance(leaf, (Ref, DTypeOf)))


def map_argument(argument: Argument, convert_leaf: Callable[[Argument], Any]) -> Any:
    """Return an argument with others in place of the single arguments in it."""
    if isinstance(argument, tuple):
        return tuple(
            [
                map_argument(y, convert_leaf) if isinstance(y, NESTED_ARGUMENTS) else convert_leaf(y)
                for y in argument
            ]
        )
    if isinstance(argument, NESTED_ARGUMENTS):
        return argument.map(lambda part: map_argument(part, convert_leaf))
    return convert_leaf(argument)
