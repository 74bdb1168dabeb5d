"""Values of Python that a reader computes with: functions, classes, objects, iterators and errors.

Numbers, texts, tuples, lists, dictionaries and sets are Python's own.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from typelattice.core.registry.libraries import library_of
from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.book_objects import BookObject
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.dtype_questions import DTypeLimits, UncertainAnswerError
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.program_builder import Mode, ProgramBuilder
from typelattice.programs.calls.steps import Argument, ProgramError, Ref
from typelattice.programs.readers.source.readings import ITERATION_END

EXCEPTION_CLASSES: Mapping[str, type[BaseException]] = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}


COUNTER = itertools.count()  # numbers scopes and branches in the order in which they begin


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a function, a class, a comprehension or a file, and the scope around it.

    `outer_names` has the scope of each name that `global` or `nonlocal` declares. Functions do not see the
    names of a class around them. `number` grows from one scope to the next.
    """

    names: dict[str, Any] = field(default_factory=dict)
    parent: Scope | None = None
    kind: str = "function"
    outer_names: dict[str, Scope] = field(default_factory=dict)
    number: int = field(default_factory=COUNTER.__next__)

    def find(self, name: str) -> Scope | None:
        """Return the scope that binds a name, or None."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.outer_names:
                return scope.outer_names[name]
            if name in scope.names and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    def of_kind(self, *kinds: str) -> Scope:
        """Return this scope, or the nearest around it, that is of one of these kinds."""
        scope = self
        while scope.kind not in kinds and scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(frozen=True, slots=True)
class DottedName:
    """An unbound name: a library, a function of one, or a dtype that a file defines."""

    path: tuple[str, ...]

    @classmethod
    def of_path(cls, path: tuple[str, ...]) -> DottedName:
        """Return the name of a path. A package that is a module of another has its own name: `tf.keras`."""
        package = (
            name_meaning(NameSort.PACKAGE, path[1], library_of_name(path[0])) if len(path) > 1 else None
        )
        return cls((package, *path[2:]) if package else path)

    @property
    def owner(self) -> str | None:
        """The library that it belongs to."""
        return library_of_name(self.path[0])

    @property
    def text(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class FunctionName:
    """The name by which a call names a function.

    `full_name` has the modules, as in the source. `module` is that of the function if its functions follow
    a system of their own.
    """

    name: str
    full_name: str
    owner: str | None
    module: str = ""


@lru_cache(1024)
def library_of_name(name: str) -> str | None:
    """Find the library that code imports by a name."""
    return library_of(name_meaning(NameSort.IMPORT_ALIAS, name, None) or name)


@dataclass(slots=True, eq=False)
class DefinedFunction:
    """A function that the source defines. `defaults` are the values of its parameters' defaults.

    `owner` is the class that it is a method of, which `super()` needs.
    """

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    defaults: Mapping[str, Any] = field(default_factory=dict)
    owner: ClassValue | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    is_generator: bool = False

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "the lambda"

    @property
    def statements(self) -> Sequence[ast.stmt]:
        """Its lines. For a lambda, the line that returns its expression."""
        if isinstance(self.node, ast.FunctionDef):
            return self.node.body
        return [ast.copy_location(ast.Return(value=self.node.body), self.node)]


@dataclass(slots=True, eq=False, repr=False)
class ClassValue:
    """A class that the source defines: its names, and its bases, of which some may be a library's.

    `fields` are the names of a dataclass's or a named tuple's fields, each with its default. `members` are
    those of an enumeration.
    """

    name: str
    names: dict[str, Any]
    bases: tuple[Any, ...] = ()
    fields: dict[str, Any] | None = None
    is_tuple: bool = False
    members: dict[str, InstanceValue] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return a short text for errors."""
        return f"<class {self.name}>"

    @property
    def order(self) -> list[ClassValue]:
        """The class and its bases, in the order in which names are looked up: that of C3."""
        bases = [base for base in self.bases if isinstance(base, ClassValue)]
        waiting = [*(base.order for base in bases), bases]
        found: list[ClassValue] = [self]
        while waiting := [rest for rest in waiting if rest]:
            later = [each for rest in waiting for each in rest[1:]]
            first = next((rest[0] for rest in waiting if rest[0] not in later), waiting[0][0])
            found.append(first)
            waiting = [[each for each in rest if each is not first] for rest in waiting]
        return found

    def find(self, name: str, after: ClassValue | None = None) -> Any:
        """Return what a name is in the class or its bases, or MISSING. `after` leaves out those up to it."""
        order = self.order
        start = 0 if after is None else order.index(after) + 1
        return next((each.names[name] for each in order[start:] if name in each.names), MISSING)

    @property
    def foreign_bases(self) -> tuple[Any, ...]:
        """The bases that the source does not define."""
        return tuple(base for each in self.order for base in each.bases if not isinstance(base, ClassValue))


MISSING: Any = object()  # what a name is that nobody has bound
NO_DEFAULT: Any = object()  # the default of a field without one


@dataclass(frozen=True, slots=True)
class AutomaticValue:
    """The value of a member of an enumeration that is numbered: `enum.auto()`."""


@dataclass(slots=True, eq=False, repr=False)
class InstanceValue:
    """An object of a class that the source defines. `lost`: why nobody knows its attributes."""

    of: ClassValue
    attributes: dict[str, Any] = field(default_factory=dict)
    lost: ProgramError | None = None

    def __repr__(self) -> str:
        """Return a short text for errors: an object may hold others without end."""
        return f"<object of {self.of.name}>"


class NamedTupleValue(tuple[Any, ...]):
    """A tuple whose class names its items."""

    of: ClassValue

    @classmethod
    def make(cls, of: ClassValue, items: Iterable[Any]) -> NamedTupleValue:
        """Return a tuple of a class that names its items."""
        made = cls(items)
        made.of = of
        return made


class DequeValue(list[Any]):
    """A list with two ends, `collections.deque`, that holds at most so many items."""

    max_length: int | None = None

    def copy(self) -> DequeValue:
        """Return a deque with the same items."""
        made = DequeValue(self)
        made.max_length = self.max_length
        return made


class OrderedDictValue(dict[Any, Any]):
    """A dictionary whose items may be put in another order: `collections.OrderedDict`."""

    def copy(self) -> OrderedDictValue:
        """Return a dictionary of the same sort with the same items."""
        return OrderedDictValue(self)


class DefaultDictValue(dict[Any, Any]):
    """A dictionary that makes the values of missing keys: `collections.defaultdict` and `Counter`."""

    factory: Any = None
    is_counter: bool = False

    def copy(self) -> DefaultDictValue:
        """Return a dictionary of the same sort with the same items."""
        made = DefaultDictValue(self)
        made.factory, made.is_counter = self.factory, self.is_counter
        return made


@dataclass(frozen=True, slots=True)
class KeyOfValues:
    """A key of a dictionary, or an item of a set, that the values of arrays decide: `value`.

    It is a number, or a tuple of `length` items. A container has one of a length at most, which stands for
    all of them. They are equal, so that it is found.
    """

    value: Any = field(compare=False)

    length: int | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", length_of_key(self.value))

    def __repr__(self) -> str:
        """Return the same text for each: errors and descriptions of names have it."""
        return "<a value>"


def length_of_key(key: Any) -> int | None:
    """Return the length of a key that is a tuple, or None for any other."""
    return len(key) if isinstance(key, tuple) else None


def find_key_of_values(items: Collection[Any], like: Any) -> KeyOfValues | None:
    """Return the key of a container that the values of arrays decide and that may be a given one, or None."""
    key = like if isinstance(like, KeyOfValues) else KeyOfValues(like)
    return next(each for each in items if each == key) if key in items else None


class KeysValue(list[Any]):
    """The keys of a dictionary, which compare as a set."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundFunction:
    """A function with its first argument: a method of an object, or `functools.partial`."""

    function: Any
    args: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class SuperValue:
    """The names of an object's class after one class: `super()`."""

    instance: Any
    after: ClassValue


@dataclass(frozen=True, slots=True, eq=False)
class WrappedFunction:
    """A property, a static method or a class method, by the name of its decorator."""

    sort: str
    function: Any
    setter: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class PythonFunction:
    """A function of Python itself, or of its standard library, by its name with the module.

    `compute` takes the reader, the node of the call, the arguments, and those by name. It returns a value or
    a reading.
    """

    name: str
    compute: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class ContextValue:
    """A context of a library: one that sets a mode, one that turns the mode off, or one that does neither."""

    mode: Mode | None = None
    switches_mode: bool = False

    def enter(self, builder: ProgramBuilder) -> None:
        """Set the mode in which later calls are made."""
        if self.switches_mode:
            builder.mode = self.mode


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method of an array, before it is called."""

    receiver: Ref
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ContainerMethod:
    """A method of a text, a number, a list, a dictionary or a set, before it is called."""

    receiver: Any
    name: str


@dataclass(frozen=True, slots=True)
class IndexUpdateRef:
    """The elements `x.at[key]`, which JAX replaces in a new array."""

    array: Ref
    key: Argument


def map_leaves(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return tuples, lists, dictionaries and objects like others, with what each value in them becomes."""
    match value:
        case NamedTupleValue():
            return NamedTupleValue.make(value.of, (map_leaves(x, convert) for x in value))
        case tuple():
            return tuple(map_leaves(x, convert) for x in value)
        case list():
            return [map_leaves(x, convert) for x in value]
        case dict():
            return {key: map_leaves(x, convert) for key, x in value.items()}
        case InstanceValue():
            return InstanceValue(value.of, map_leaves(value.attributes, convert))
    return convert(value)


def list_leaves(value: Any) -> list[Any]:
    """Return the values in tuples, lists, dictionaries and objects, in the order of `map_leaves`."""
    found: list[Any] = []
    map_leaves(value, found.append)
    return found


@dataclass(slots=True, eq=False)
class IteratorValue:
    """An iterator. `advance` returns the next item, a reading of it, or ITERATION_END.

    `is_of_unknown_length`: the values of arrays decide how many items there are, and `advance` has no end.
    `leaves_out_items`: the values of arrays decided that some items may be left out. `is_kept`: a name or an
    object holds it, so that its items are taken at several places. `is_guarded`: `advance` heeds branches.
    `result` is what a generator returns at its end.
    """

    advance: Callable[[], Any]
    is_of_unknown_length: bool = False
    leaves_out_items: bool = False
    is_kept: bool = False
    is_guarded: bool = False
    number: int = field(default_factory=COUNTER.__next__)
    result: Any = None

    @classmethod
    def of(cls, items: Iterator[Any]) -> IteratorValue:
        """Return the iterator of items that are at hand."""
        return cls(lambda: next(items, ITERATION_END))

    def lose(self, error: ProgramError) -> None:
        """Let each later item raise an error, since nobody knows which item it is."""

        def refuse() -> Any:
            raise error

        self.advance = refuse


@dataclass(frozen=True, slots=True, eq=False)
class UnknownValue:
    """A value that a line gives that is not read. `error` says why; whoever uses the value meets it.

    `truth` is True or False if that is known, None if the values of arrays decide, or MISSING. `one_of` has
    the values of which it is one.
    """

    error: ProgramError
    truth: Any = MISSING
    one_of: tuple[Any, ...] = ()


def answer_or_unknown(ask: Callable[[], ReadValue]) -> ReadValue:
    """Return the answer to a question about a dtype. It is unknown if the values of arrays decide it."""
    try:
        return ask()
    except UncertainAnswerError as e:
        truths = {bool(x) for x in e.answers}
        return UnknownValue(e, truths.pop() if len(truths) == 1 else None, e.answers)


# Errors of Python for arguments that its own functions do not take.
VALUE_ERRORS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
REFUSAL_ENDINGS = ("TypeError", "InvalidArgumentError", "LinAlgError", "PromotionError", "DTypeError")


@dataclass(slots=True, eq=False)
class RaisedError(Exception):
    """An error that the source raises: a class, of Python or of the source, and its arguments."""

    of: Any
    args_given: tuple[Any, ...]
    where: ProgramError

    def is_of(self, caught: Any) -> bool:
        """Return True if `except caught` catches it."""
        if self.of is UnknownError:
            return True
        if isinstance(caught, tuple):
            return any(self.is_of(each) for each in caught)
        if isinstance(self.of, ClassValue):
            bases = (*self.of.order, *self.of.foreign_bases)
            return any(_is_class(base, caught) for base in bases)
        return _is_class(self.of, caught)


class UnknownError(Exception):
    """The error that a line may raise that is not read. Any handler may catch it."""


class LibraryRefusal(TypeError, ValueError, RuntimeError):
    """The error of a library that refuses operands. Each library has a class of its own for it."""


def _is_class(raised: Any, caught: Any) -> bool:
    if raised is LibraryRefusal and isinstance(caught, DottedName):
        return caught.path[-1].endswith(REFUSAL_ENDINGS)
    if isinstance(raised, type) and isinstance(caught, type):
        return issubclass(raised, caught)
    if isinstance(raised, DottedName):  # an error of a library
        return caught in (Exception, BaseException) or (
            isinstance(caught, DottedName) and raised.path[-1] == caught.path[-1]
        )
    return raised is caught


@dataclass(frozen=True, slots=True)
class ImportedName:
    """A name of another file of the package. The file is read when the name is used."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class ImportedModule:
    """Another file of the package."""

    path: Path


ReadValue: TypeAlias = (
    "Argument | DottedName | IndexUpdateRef | DefinedFunction | DTypeLimits | MutableMapping[Any, Any]"
    " | list[Any] | set[Any] | BoundMethod | MultipleResults | AskedCall | ClassValue | BookObject"
    " | InstanceValue | BoundFunction | SuperValue | PythonFunction | ContainerMethod | IteratorValue"
    " | UnknownValue | ContextValue"
    " | type[BaseException] | WrappedFunction | RaisedError | ImportedName | ImportedModule"
)
