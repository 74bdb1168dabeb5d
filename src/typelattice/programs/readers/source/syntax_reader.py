"""A reader of Python source that adds the operations on arrays to a program. It parses and never evaluates.

Everything but arrays is computed as Python computes it: numbers, texts, lists, functions, objects.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from typelattice.base.errors.error_texts import clip_text, quote_short, spelling_hint
from typelattice.core.dtypes.dtypes import DType, Kind
from typelattice.core.engine.system import System
from typelattice.core.operands.notation import read_dtype
from typelattice.core.operands.operand import scalar_operand
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.attributes import READABLE_ATTRIBUTES, read_attribute
from typelattice.programs.calls.book_objects import BookObject
from typelattice.programs.calls.call_tables import NameSort, attribute_dtype, find_constant, name_meaning
from typelattice.programs.calls.compositions import is_composition
from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.dtype_questions import DTypeLimits, read_dtype_attribute, read_limit
from typelattice.programs.calls.library_questions import find_asker
from typelattice.programs.calls.methods import call_method, is_method
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import (
    MAX_STEP_CHARS,
    OBJECT_ITSELF,
    Argument,
    Call,
    DTypeArgument,
    DTypeOf,
    Excerpt,
    Input,
    LibraryCall,
    NamedDType,
    ProgramError,
    Ref,
    SourceLocation,
)
from typelattice.programs.readers.source.branches import (
    Branch,
    Branches,
    Contents,
    Ending,
    PendingExits,
    UnknownLength,
)
from typelattice.programs.readers.source.imported_files import ImportedFile, ImportedFiles
from typelattice.programs.readers.source.python_values import (
    EXCEPTION_CLASSES,
    MISSING,
    BoundFunction,
    BoundMethod,
    ClassValue,
    ContainerMethod,
    ContextValue,
    DefaultDictValue,
    DefinedFunction,
    DequeValue,
    DottedName,
    ImportedModule,
    ImportedName,
    IndexUpdateRef,
    InstanceValue,
    IteratorValue,
    KeyOfValues,
    NamedTupleValue,
    OrderedDictValue,
    PythonFunction,
    RaisedError,
    ReadValue,
    Scope,
    SuperValue,
    UnknownValue,
    WrappedFunction,
    answer_or_unknown,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading
from typelattice.programs.readers.source.system_answers import SystemAnswers

MAX_LOOP_PASSES = 100_000  # more passes and calls, counted over the whole source, are refused
PASSES_OF_CALL, PASSES_OF_UNREAD_LINE = 10, 100  # a call and an error take as long as so many passes
PASSES_OF_OPEN_LOOP = 5  # what a pass counts for if nobody knows beforehand that the loop ends
MAX_WALKED_ITEMS = 10_000_000  # of containers in containers; more are refused
MAX_RANGE_LENGTH = 100_000  # the longest list, text or range
MAX_DISTINCT_ITEMS = 4  # dtypes of the items of a list of which nobody knows which items it has
MAX_CALL_DEPTH = 200  # a deeper nesting of calls is refused
NEEDS_VALUES_MESSAGE = "needs the values of an array, which a program does not have"
BRANCH_REMEDY = "write where(condition, x, y), or each branch as a program of its own"
TEXTS_OF_MODULES = ("__name__", "__file__", "__package__")  # names that Python gives to a module
NAMED_TUPLE_METHODS = ("_replace", "_asdict")
METHODS_OF_COLLECTIONS = ("appendleft", "popleft", "extendleft", "rotate", "most_common", "move_to_end")


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line of the source that was not read, and why. What it binds is not known."""

    location: SourceLocation | None
    text: str
    reason: str

    def __str__(self) -> str:
        where = f"line {self.location.line}, " if self.location else ""
        return f"{where}{self.text}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SyntaxReaders:
    """The readers of each class of syntax, and of calls."""

    expressions: Mapping[type[ast.AST], Callable[[SourceReader, Any, Scope], Reading]]
    statements: Mapping[type[ast.AST], Callable[[SourceReader, Any, Scope], Reading]]
    call: Callable[[SourceReader, ast.AST, Any, list[Any], dict[str, Any], Scope], Reading]
    iterate: Callable[[SourceReader, ast.AST, Any], Reading]
    find_library_method: Callable[[SourceReader, InstanceValue | ClassValue | BookObject, str], ReadValue]
    iterate_generator: Callable[[SourceReader, Reading], IteratorValue]
    assign_elements: Callable[[SourceReader, Any, Any, Scope], Reading]
    read_imported_name: Callable[[SourceReader, ast.AST, ImportedName], Reading]


class SettingError(ProgramError):
    """The error of a source that changes which dtypes its library gives. No line of it can be left out."""


class ForeignFunctionError(ProgramError):
    """The error of a call of another package, none of the libraries of arrays, whose code is not read."""


class WorkLimitError(SettingError):
    """The error of a source that takes too long to read. No line of it can be left out."""


DEVICE = "cpu"  # of arrays: systems say what libraries do there
ATTRIBUTES_OF_DEVICES = ("type", "platform")
OWN_CLASS_NAMES = {
    each.__name__
    for each in (
        *(AskedCall, BookObject, BoundFunction, BoundMethod, ClassValue, ContainerMethod, ContextValue),
        *(DefinedFunction, DottedName),
        *(DTypeLimits, DTypeOf, ImportedModule, ImportedName, InstanceValue, IteratorValue, NamedDType),
        *(PythonFunction, Ref, SuperValue, UnknownValue, WrappedFunction),
    )
}
"""The classes of values for which Python has others."""


class ShapesNeeded(Exception):
    """The end of a reading that needs a shape that no rule gives, but perhaps the installed library.

    The source is read again, and the library is asked for each shape that no rule gives.
    """


class ReadingStopped(Exception):
    """The end of a reading under a system that refuses a step, whose dtype the source asks for."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


def enter_context(reader: SourceReader, node: ast.AST, context: ReadValue) -> ReadValue:
    """Enter a context of a library in an `ExitStack`. The `with` of the stack leaves it."""
    if not isinstance(context, ContextValue):
        raise reader.error(node, "a context of the source; enter it by `with`")
    context.enter(reader.builder)
    return context


class SourceReader:
    """The state of a reading: the steps so far, the lines of the source, and what was not read.

    `answers` gives the dtypes of steps under the system for which the source is read.
    """

    library: str | None = None  # the library that the source names: the inputs are its arrays
    names_library: bool = False  # in such a source a function without a module is Python's
    asks_shapes: bool = False  # the library is asked at once for each shape that no rule gives
    files: ImportedFiles | None = None  # what a source in a file imports of its package

    def __init__(
        self,
        builder: ProgramBuilder,
        text: str,
        file: str,
        bound: Mapping[str, object],
        readers: SyntaxReaders,
        answers: SystemAnswers,
    ) -> None:
        self.builder, self.readers, self.answers = builder, readers, answers
        builder.list_dtypes_of = self.list_dtypes_of
        self.used_names: set[str] = set()  # names that were looked up
        self.shared: dict[str, set[str]] = {}  # a name and the other names of the same array: `y = x`
        self.text, self.file, self.bound = text, file, bound
        self.lines = [line.encode("utf-8", "surrogatepass") for line in text.split("\n")]
        self.has_several_lines = len(self.lines) > 1 or file != ""
        self.branches = Branches(builder)
        self.known_truths: dict[int, bool] = {}  # of numbers of which the values of arrays decide the rest
        self.pass_count = self.walked_items = 0
        self.calls: list[PendingExits] = []  # the ways out of the functions that are being read
        self.loops: list[tuple[PendingExits, PendingExits]] = []  # of the loops: by break, and by continue
        self.calls_of_unknown_shape: dict[int, AskedCall] = {}  # by the steps of their results
        self.tries: list[list[tuple[RaisedError, PendingExits]]] = []  # of each: errors that values decide
        self.generator_starts: list[int] = []  # the numbers at which the generators that run were resumed
        self.unread: dict[tuple[int, str], UnreadLine] = {}
        self.unknown_result: ProgramError | None = None  # why a result of the source is not known

    # -- excerpts and errors

    def excerpt_of(self, node: ast.AST) -> Excerpt:
        """Return the text of a node and its source location."""
        line: int = getattr(node, "lineno", 1)
        start: int = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", start) if getattr(node, "end_lineno", line) == line else None
        most = start + 4 * MAX_STEP_CHARS
        imported: ImportedFile | None = getattr(node, "source_file", None)
        lines, file = (self.lines, self.file) if imported is None else (imported.lines, imported.path.name)
        text = lines[line - 1][start : most if end is None else min(end, most)].decode("utf-8", "replace")
        place = SourceLocation(file or "<source>", line) if self.has_several_lines else None
        return Excerpt(f"{text} ..." if end is None else text, place)

    def error(self, node: ast.AST, reason: str) -> ProgramError:
        """Build the error for source that cannot be read. `reason` also says what to do."""
        return self.excerpt_of(node).error(reason)

    def raised(self, node: ast.AST, error: BaseException) -> RaisedError | ProgramError:
        """Build the error that Python itself raises at a node.

        If the error names a class of ours, then Python would have met another object, and we know nothing.
        """
        reason = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        if isinstance(error, TypeError) and not OWN_CLASS_NAMES.isdisjoint(re.findall(r"\w+", reason)):
            return self.error(node, "it needs a value that is not known here; give that value")
        remedy = "give another index" if isinstance(error, LookupError) else "give other values"
        where = self.error(node, f"Python refuses it: {reason}; {remedy}")
        return RaisedError(type(error), tuple(error.args), where)

    def take_unless_none(self, node: ast.AST, value: ReadValue, error: type[BaseException]) -> ReadValue:
        """Return what a value is that may be None, where Python raises an error for None.

        None has no operators, no items and no attributes. The error is left to the `try` around it.
        """
        one_of: Sequence[ReadValue] = value.one_of if isinstance(value, UnknownValue) else ()
        others = [x for x in one_of if x is not None]
        if len(others) != 1:
            return value
        self.leave_out_error(node, error)
        return others[0]

    def leave_out_error(
        self,
        node: ast.AST,
        error: RaisedError | type[BaseException] | DottedName,
        contents: Contents | None = None,
    ) -> None:
        """Record an error that is raised or not, as the values of arrays decide, for the `try` around it.

        `contents` are those of objects when it is raised, if they are others than now.
        """
        if not self.tries:
            return
        if not isinstance(error, RaisedError):
            where = self.error(node, "the values of arrays decide if it is refused; give other values")
            error = RaisedError(error, (), where)
        kept = self.tries[-1]
        alike = [x for before, x in kept if before.of is error.of and str(before.where) == str(error.where)]
        exits = alike[0] if alike else PendingExits()
        branch = Branch(Ending("raise"), contents or {})
        self.branches.add_exit(exits, branch, self.excerpt_of(node), self.condition_text(node))
        if not alike:
            kept.append((error, exits))

    def unbound_name_error(self, name: str) -> ProgramError:
        names = [clip_text(each, 40) for each in self.bound]
        name = clip_text(name, 40)
        given = f" (given: {', '.join(names)})" if names else ""
        return ProgramError(
            f"{name} has no dtype{spelling_hint(name, names)}; add one, such as {name}=int8{given}"
        )

    def refuse_unbound_names(self, *values: ReadValue) -> None:
        """Raise ProgramError for a name that nobody has bound, and that is none of Python's own."""
        for x in values:
            if (
                isinstance(x, DottedName)
                and len(x.path) == 1
                and not x.owner
                and not hasattr(builtins, x.path[0])
            ):
                raise self.unbound_name_error(x.path[0])

    def count_passes(self, node: ast.AST, count: int = 1) -> None:
        """Count passes of loops, calls and steps. Raises WorkLimitError beyond MAX_LOOP_PASSES."""
        self.pass_count += count
        if self.pass_count + len(self.builder.steps) > MAX_LOOP_PASSES:
            what = f"more than {MAX_LOOP_PASSES:,} passes of loops and calls; take it apart"
            raise WorkLimitError(str(self.error(node, what)))

    def count_items(self, items: Any) -> Any:
        """Count the items of a container that is walked through. Raises WorkLimitError beyond a limit.

        A list that holds one list twice has many items in little memory.
        """
        self.walked_items += len(items)
        if self.walked_items > MAX_WALKED_ITEMS:
            raise WorkLimitError(f"more than {MAX_WALKED_ITEMS:,} items of lists in lists; take it apart")
        return items

    def check_length(self, node: ast.AST, length: int) -> None:
        if length > MAX_RANGE_LENGTH:
            raise self.error(node, f"it has more than {MAX_RANGE_LENGTH:,} items; take a shorter one")

    def skip(self, line: ast.stmt, error: ProgramError) -> None:
        """Record that a line is not read."""
        self.count_passes(line, PASSES_OF_UNREAD_LINE)
        excerpt = self.excerpt_of(line)
        at = excerpt.location.line if excerpt.location else 1
        reason = str(error).removeprefix(f"{excerpt.location}: ")
        self.unread.setdefault(
            (at, excerpt.text), UnreadLine(excerpt.location, clip_text(excerpt.text, 60), reason)
        )

    # -- the system for which the source is read

    def list_dtypes_of(self, excerpt: Excerpt, argument: DTypeArgument | Ref) -> Sequence[DType]:
        """List the dtypes that a step may have under the system. Several if the values of arrays decide.

        Raises ReadingStopped if the system refuses the step.
        """
        system = self.answers.system
        if isinstance(argument, NamedDType):
            if not isinstance(system, System):
                return []
            if argument.name in PYTHON_TYPE_BY_NAME:  # the default dtype of a kind
                named = system.create(op="zeros", dtype=PYTHON_TYPE_BY_NAME[argument.name]).dtype
                return [] if named is None else [named]
            return [read_dtype(argument.name, system.custom_dtypes)]
        outcome = self.answers.outcome_of(self.builder.steps, argument.step)
        self.answers.note(str(outcome))
        reached = [x for x in outcome.alternatives or (outcome,) if x.operand is not None]
        if not reached:
            raise ReadingStopped(argument.step)
        found = [x.dtype for x in reached if x.dtype is not None]
        if len(found) < len(reached):  # a Python number has no dtype
            return []
        self.builder.add_asked_dtype(excerpt, Ref(argument.step))
        return found

    def drop_steps(self, count: int) -> None:
        """Drop all steps but the first `count`, and what is known of the others: their numbers come again."""
        self.builder.drop_steps(count)
        for facts in (self.known_truths, self.calls_of_unknown_shape):
            for number in [i for i in facts if i >= count]:
                del facts[number]

    def refused_step(self, first: int) -> int | None:
        """Return the first step from a number on that the system refuses, or None."""
        steps, found = self.builder.steps, None
        for i in range(first, len(steps)):
            if self.answers.outcome_of(steps, i).is_refused:
                found = i
                break
        self.answers.note(found)
        return found

    # -- names and attributes

    def resolve_name(self, node: ast.AST, name: str, scope: Scope) -> ReadValue:
        """Return the value that a name is bound to. An unbound name is a dtype, or the name itself."""
        binding = scope.find(name)
        if binding is not None:
            self.used_names.add(name)
            if name not in binding.names:
                raise self.error(
                    node, f"{clip_text(name, 40)} is bound to nothing yet; give it a value first"
                )
            found: ReadValue = binding.names[name]
            if isinstance(found, IteratorValue):
                found.is_kept = True
            return found
        if name in PYTHON_TYPE_BY_NAME:
            return NamedDType(name)
        if name in TEXTS_OF_MODULES:
            return self.file.removesuffix(".py") if name == "__name__" else self.file
        return EXCEPTION_CLASSES.get(name) or attribute_dtype(name, None) or DottedName((name,))

    def bind(self, scope: Scope, name: str, value: ReadValue) -> None:
        """Bind a name in a scope, or in the one that `global` or `nonlocal` names."""
        target = scope.outer_names.get(name, scope)
        self.branches.will_change(target)
        target.names[name] = value

    def read_attribute(self, node: ast.AST, value: ReadValue, name: str, scope: Scope) -> Reading:
        """Read an attribute of an array, a dtype, a library, an object, a class or a container."""
        yield from ()
        match value := self.take_unless_none(node, value, AttributeError):
            case UnknownValue(error=error):
                raise error
            case DottedName():
                return self.attribute_of_name(node, value, name)
            case ImportedModule(path=path):
                return (yield self.readers.read_imported_name(self, node, ImportedName(path, name)))
            case DTypeLimits():
                return read_limit(self.builder, self.excerpt_of(node), value, name)
            case NamedDType() | DTypeOf():
                return answer_or_unknown(
                    lambda: read_dtype_attribute(self.builder, self.excerpt_of(node), value, name)
                )
            case MultipleResults() if name in value.fields:
                return value[value.fields.index(name)]
            case AskedCall() | BookObject() | BoundMethod():
                return self.attribute_of_asked(node, value, name)
            case Ref() if self.builder.is_scalar(value) and name not in READABLE_ATTRIBUTES:
                known = self.known(value)
                is_method_of_array = isinstance(known, Ref) or not hasattr(known, name)
                return (
                    BoundMethod(value, name)
                    if is_method_of_array
                    else self.attribute_of_plain_value(node, known, name)
                )
            case Ref():
                return self.attribute_of_array(node, value, name)
            case InstanceValue() | ClassValue() | SuperValue():
                return (yield self.read_object_attribute(node, value, name, scope))
            case DefinedFunction() | ContextValue():
                return self.attribute_of_function(node, value, name)
            case RaisedError() if name == "args":
                return value.args_given
            case str() | list() | tuple() | dict() | set() | bool() | int() | float() | complex():
                return self.attribute_of_plain_value(node, value, name)
        raise self.error(node, f"nothing is known of its {name}; give it as a value")

    def attribute_of_plain_value(self, node: ast.AST, value: Any, name: str) -> ReadValue:
        """Return a method of a text, a number or a container, or a part of a number or a named tuple."""
        if isinstance(value, NamedTupleValue):
            fields = [*(value.of.fields or ())]
            if name in fields:
                item: ReadValue = value[fields.index(name)]
                return item
            if name in NAMED_TUPLE_METHODS:
                return ContainerMethod(value, name)
            if (method := value.of.find(name)) is not MISSING:
                return BoundFunction(method, (value,))
        if isinstance(value, str) and name in ATTRIBUTES_OF_DEVICES:  # a device is read as its text
            return value.partition(":")[0]
        if isinstance(value, (int, float, complex)) and name in ("real", "imag"):
            part: ReadValue = getattr(value, name)
            return part
        collections = DequeValue, DefaultDictValue, OrderedDictValue
        if isinstance(value, collections) and name in METHODS_OF_COLLECTIONS:
            return ContainerMethod(value, name)
        if name.startswith("_") or not hasattr(value, name):
            near = spelling_hint(name, [each for each in dir(value) if not each.startswith("_")])
            raise self.raised(
                node, AttributeError(f"{type(value).__name__!r} object has no attribute {name!r}{near}")
            )
        return ContainerMethod(value, name)

    def attribute_of_function(
        self, node: ast.AST, function: DefinedFunction | ContextValue, name: str
    ) -> ReadValue:
        """Return an attribute of a function, or of a context: the method by which a stack enters others."""
        if isinstance(function, ContextValue):
            if name == "enter_context":
                return PythonFunction(name, enter_context)
            raise self.error(node, f"nothing is known of its {name}; give it as a value")
        if name in function.attributes:
            kept: ReadValue = function.attributes[name]
            return kept
        if name in ("__name__", "__qualname__"):
            return function.name
        if name_meaning(NameSort.RETURNS_NOTHING, name, self.library) is not None:
            return PythonFunction(name, lambda *given, **named: None)
        raise self.raised(node, AttributeError(f"'function' object has no attribute {name!r}"))

    def read_object_attribute(
        self, node: ast.AST, value: InstanceValue | ClassValue | SuperValue, name: str, scope: Scope
    ) -> Reading:
        """Read an attribute of an object: its own, or a method or a property of its class."""
        instance, of, after = value, value, None
        if isinstance(value, SuperValue):
            instance, after = value.instance, value.after
            of = instance.of if isinstance(instance, InstanceValue) else instance
        elif isinstance(value, InstanceValue):
            of = value.of
            if name in value.attributes:
                return value.attributes[name]
        assert isinstance(of, ClassValue)
        found = of.find(name, after)
        if found is MISSING and name in ("__name__", "__qualname__") and isinstance(value, ClassValue):
            return of.name
        if found is MISSING and name == "__class__" and isinstance(value, InstanceValue):
            return of
        refuse_lost_attribute(instance, found)
        if found is MISSING:
            return (yield self.read_missing_attribute(node, value, of, name, scope))
        is_object = isinstance(instance, InstanceValue)
        match found:
            case WrappedFunction(sort="staticmethod", function=function):
                return function
            case WrappedFunction(sort="classmethod", function=function):
                return BoundFunction(function, (of,))
            case WrappedFunction(function=function) if is_object:
                kept = yield self.call(node, function, [instance], {}, scope)
                if found.sort == "cached_property" and isinstance(instance, InstanceValue):
                    self.branches.will_change(instance)
                    instance.attributes[name] = kept
                return kept
            case DefinedFunction() | BoundFunction() | PythonFunction() if is_object:
                return BoundFunction(found, (instance,))
        return found

    def read_missing_attribute(
        self, node: ast.AST, value: ReadValue, of: ClassValue, name: str, scope: Scope
    ) -> Reading:
        """Read an attribute that neither an object nor its class has."""
        getter = of.find("__getattr__")
        if getter is not MISSING and isinstance(value, InstanceValue):
            return (yield self.call(node, getter, [value, name], {}, scope))
        if of.foreign_bases:
            instance = value.instance if isinstance(value, SuperValue) else value
            if isinstance(instance, (InstanceValue, ClassValue)):
                method = self.readers.find_library_method(self, instance, name)
                if method is not None:
                    return method
            if isinstance(value, SuperValue) and name in ("__init__", "__init_subclass__", "__post_init__"):
                return PythonFunction(name, lambda *given: None)
            library = of.foreign_bases[0]
            text = library.text if isinstance(library, DottedName) else "a library"
            raise self.error(
                node, f"{quote_short(name)} is of {text}, which is not read; define it in the class"
            )
        if isinstance(value, SuperValue) and name == "__init__":
            return PythonFunction(name, lambda *given: None)
        near = spelling_hint(
            name, [*of.names, *(value.attributes if isinstance(value, InstanceValue) else ())]
        )
        raise self.raised(node, AttributeError(f"{of.name!r} object has no attribute {name!r}{near}"))

    def attribute_of_name(self, node: ast.AST, dotted_name: DottedName, name: str) -> ReadValue:
        """Return an attribute of an unbound name: a constant or a dtype of a library, or a longer name."""
        if name == "newaxis":
            return None
        is_attribute = name in ("dtype", "shape", "ndim", "size", "T", "mT") and dotted_name.owner is None
        if is_attribute and not is_composition(f"{dotted_name.path[-1]}.{name}", self.library):
            raise self.unbound_name_error(dotted_name.path[0])
        number = find_constant(name)
        return (
            number
            if number is not None
            else attribute_dtype(name, dotted_name.owner) or DottedName.of_path((*dotted_name.path, name))
        )

    def attribute_of_array(self, node: ast.AST, array: Ref, name: str) -> ReadValue:
        """Return an attribute of an array: a dtype, lengths, a view or a method."""
        if name in READABLE_ATTRIBUTES:
            self.shape_of(array)
            return read_attribute(self.builder, self.excerpt_of(node), name, array)
        if name == "dtype":
            return DTypeOf(array.step)
        if name == "flat":
            return call_method(self.builder, self.excerpt_of(node), "flatten", array, (), {})
        if name_meaning(NameSort.ATTRIBUTE_ITSELF, name, self.builder.steps[array.step].owner):
            return array
        flag = name_meaning(NameSort.FLAG_OF_ARRAYS, name, self.builder.steps[array.step].owner)
        if flag is not None:
            return flag == str(True)
        return DEVICE if name == "device" else BoundMethod(array, name)

    def attribute_of_asked(
        self, node: ast.AST, value: AskedCall | BookObject | BoundMethod, name: str
    ) -> ReadValue:
        """Return an attribute of what a library is asked about: a result, an object, a part of an array."""
        if isinstance(value, BookObject):
            inherited = self.readers.find_library_method(self, value, name)
            return value.as_asked().part(name) if inherited is None else inherited
        if isinstance(value, BoundMethod):
            asked = self.ask_attribute(node, value)
            if asked is None:
                raise self.error(node, f"nothing is known of its {name}; give it as a value")
            return asked.part(name)
        is_of_array = name in ("dtype", *READABLE_ATTRIBUTES) or is_method(name)
        return self.attribute_of_array(node, value.take(), name) if is_of_array else value.part(name)

    def ask_attribute(self, node: ast.AST, attribute: BoundMethod) -> AskedCall | None:
        """Return an attribute of an array that is no method, of which the library itself is asked."""
        asker, excerpt = find_asker(), self.excerpt_of(node)
        owner = self.builder.steps[attribute.receiver.step].owner or self.library
        if asker is None or owner is None or not asker.is_installed(owner):
            return None
        error = self.error(node, f"nothing is known of its {attribute.name}; give it as a value")
        call = LibraryCall(OBJECT_ITSELF, (attribute.receiver,), (), (attribute.name,), text=excerpt.text)
        asked = AskedCall(self.builder, excerpt.of_library(owner), call, error)
        trial = asked.try_call(call)
        return asked if trial.made or not trial.refusal else None

    # -- values as arguments of operations

    def as_argument(self, node: ast.AST, value: ReadValue) -> Argument:
        """Return a value as an argument of an operation. Raises ProgramError if it cannot be one."""
        match value:
            case tuple() | list():
                items = tuple([self.as_argument(node, x) for x in self.count_items(value)])
                unknown = self.branches.find_unknown_length(value)
                return items if unknown is None else self.array_of_unknown_length(node, items, unknown)
            case UnknownValue(error=error):
                raise error
            case DottedName(path=(name, *more)):
                if more:
                    raise self.error(node, "nothing that promotion knows of; give an array or a number")
                if hasattr(builtins, name):
                    raise self.error(node, f"{name} is Python's own; give an array, a number or a dtype")
                raise self.unbound_name_error(name)
            case AskedCall():
                return value.take()
            case BoundMethod() if (asked := self.ask_attribute(node, value)) and not asked.gives_object:
                return asked.take()
            case BookObject(name=name):
                raise self.error(node, f"{name} makes an object, which is no array; call it: {name}(...)(x)")
            case MultipleResults(name=name):
                raise self.error(node, f"{name} gives several arrays; take one: {name}(x)[0]")
            case Mapping():
                raise self.error(node, "a dictionary; take one of its values, or give them names")
            case DTypeLimits(name=name):
                raise self.error(node, f"{name} gives several numbers; take one: {name}(dtype).max")
            case BoundMethod(name=name) if near := spelling_hint(name, ("dtype", *READABLE_ATTRIBUTES)):
                raise self.error(node, f"no array has {quote_short(name)}{near}")
            case InstanceValue(of=of):
                raise self.error(node, f"an object of {of.name}, which is no array; take an array of it")
            case (
                IndexUpdateRef()
                | BoundMethod()
                | DefinedFunction()
                | ClassValue()
                | BoundFunction()
                | PythonFunction()
                | ContainerMethod()
            ):
                raise self.error(node, "a function that is not called; call it")
            case IteratorValue() | set():
                raise self.error(node, "no array; make a list of it")
            case ContextValue():
                raise self.error(node, "a context, and no array; enter it by `with`")
            case RaisedError() | SuperValue() | type() | WrappedFunction():
                raise self.error(node, "no array; give an array or a number")
            case ImportedName() | ImportedModule():
                raise self.error(node, "another file; name something in it")
        assert not isinstance(value, DottedName)
        return value

    def check_items(self, container: Any) -> None:
        """Raise ProgramError if it is not known how many items a container has."""
        unknown = self.branches.find_unknown_length(container)
        if unknown is not None:
            raise unknown.error

    def array_of_unknown_length(
        self, node: ast.AST, items: tuple[Argument, ...], unknown: UnknownLength
    ) -> Argument:
        """Return the array of a list of unknown length. Nobody knows which of the samples are in it.

        So it has the dtype of each choice of samples, or the default one if the list may be empty.
        """
        excerpt, builder = self.excerpt_of(node), self.builder
        if not items:
            raise unknown.error
        samples = self.list_distinct(node, items)
        choices: list[tuple[Argument, ...]] = [() for _ in range(unknown.may_be_empty)]
        for count in range(1, len(samples) + 1):
            choices += combinations(samples, count)
        arrays = [builder.add_array_of_list(excerpt, choice, None) for choice in reversed(choices)]
        shape = builder.shape_of(arrays[0])
        shape = None if shape is None else (None, *shape[1:])
        why = "as the values of arrays decide which items it has"
        either = builder.add_either(excerpt, arrays, why)
        builder.replace_shape(either, shape)
        return either

    def list_distinct(self, node: ast.AST, items: Sequence[Argument]) -> list[Argument]:
        """Return one of each dtype of the items that a list may have. Raises ProgramError for very many."""
        found: dict[str, Argument] = {}
        for x in items:
            ref = self.builder.ensure_ref(self.excerpt_of(node), x)
            outcome = self.answers.outcome_of(self.builder.steps, ref.step)
            self.answers.note(str(outcome))
            found.setdefault(f"{outcome} {self.builder.shape_of(ref)}", x)
        if len(found) > MAX_DISTINCT_ITEMS:
            raise self.error(node, "a list with arrays of many dtypes, as values decide; make one of each")
        return [*found.values()]

    def any_item(self, node: ast.AST, items: Sequence[ReadValue]) -> ReadValue:
        """Return the value of an item of which the values of arrays decide which it is."""
        if not items:
            raise self.error(node, f"it {NEEDS_VALUES_MESSAGE}; give an index that is known")
        why = f"as the values of arrays decide which item it is: {self.excerpt_of(node).text[:40]}"
        found: ReadValue = self.branches.merge_items(self.excerpt_of(node), why, items)
        return found

    def known(self, value: ReadValue) -> Any:
        """Return a value with known numbers in place of the steps that give them."""
        match value:
            case Ref():
                return self.builder.known_number(value)
            case tuple() | list() if self.branches.find_unknown_length(value) is not None:
                return value
            case tuple():
                return tuple([self.known(x) for x in self.count_items(value)])
            case list():
                return [self.known(x) for x in self.count_items(value)]
        return value

    def is_uncertain(self, value: ReadValue) -> bool:
        """Return True if nobody knows how many items a container has, or one in it, or what an item is."""
        if not isinstance(value, (tuple, list, dict, set)):
            return isinstance(value, UnknownValue)
        items = value.values() if isinstance(value, dict) else value
        unknown = self.branches.find_unknown_length(value) is not None
        return unknown or any(self.is_uncertain(x) for x in self.count_items(items))

    def has_array(self, value: ReadValue) -> bool:
        """Return True if an array or an unknown number is a value, or in a list or a dictionary."""
        if isinstance(value, (list, set)):
            value = tuple(value)
        if isinstance(value, Mapping):
            value = tuple(value.values())
        if isinstance(value, tuple):
            return any(self.has_array(x) for x in self.count_items(value))
        return isinstance(value, (Ref, AskedCall)) and isinstance(self.known(value), (Ref, AskedCall))

    def shape_of(self, array: Ref) -> Shape | None:
        """Return the shape of an array. If no rule gives it, the installed library is asked for it.

        Raises ShapesNeeded if the shapes of earlier results are not known either.
        """
        shape = self.builder.shape_of(array)
        if shape is None or None in shape:
            shape = self.ask_shape(array) or shape
            if self.calls_of_unknown_shape and not self.asks_shapes and find_asker() is not None:
                raise ShapesNeeded
        return shape

    def ask_shape(self, array: Ref) -> Shape | None:
        """Ask the installed library for a shape that no rule gives. Return None without an answer."""
        call = self.calls_of_unknown_shape.pop(array.step, None)
        if call is None:
            return None
        try:
            shape = call.check_accepted(call.call)
        except ProgramError:
            return None
        if shape is not None:
            self.builder.replace_shape(array, shape)
        return shape

    def remember_call(self, array: Ref, call: AskedCall) -> None:
        """Remember the call of a result without a known shape, of which its library knows the shape."""
        shape = self.builder.shape_of(array)
        if shape is not None and None not in shape:
            return
        self.calls_of_unknown_shape[array.step] = call
        if self.asks_shapes:
            self.ask_shape(array)

    def is_given(self, array: Ref) -> bool:
        """Return True if an array depends on an input of unknown shape: anything may be given there."""
        steps, waiting, seen = self.builder.steps, [array.step], set[int]()
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                waiting += steps[number].inputs
        return any(isinstance(steps[i], Input) and steps[i].shape is None for i in seen)

    def is_array(self, value: ReadValue) -> bool:
        """Return True for the step of an array, which is no number."""
        return isinstance(value, Ref) and not self.builder.is_scalar(value)

    # -- truth

    def read_truth(self, node: ast.AST, value: ReadValue, remedy: str = BRANCH_REMEDY) -> Reading:
        """Read whether a value is true. Return None if the values of arrays decide.

        Raises ProgramError for an array of several elements, which is neither true nor false.
        """
        found = self.known(value)
        match found:
            case UnknownValue(error=error, truth=truth):
                if truth is MISSING:
                    raise error
                return truth
            case Ref(step=step) if step in self.known_truths:
                return self.known_truths[step]
            case AskedCall():
                return None
            case BoundMethod(name=name) if not is_method(name):
                return None  # a fact such as `x.is_cuda`, which no dtype decides
            case DTypeOf():
                raise self.error(node, f"it {NEEDS_VALUES_MESSAGE}; {remedy}")
            case Ref():
                shape = self.shape_of(found)
                if shape is None and self.is_given(found):
                    raise self.error(node, f"it {NEEDS_VALUES_MESSAGE}; {remedy}")
                if any(length not in (None, 1) for length in shape or ()):
                    raise self.error(node, f"it {NEEDS_VALUES_MESSAGE}; {remedy}")
                return None
            case InstanceValue(of=of):
                for name in ("__bool__", "__len__"):
                    if of.find(name) is not MISSING:
                        made = yield self.call(node, of.find(name), [found], {}, Scope())
                        return (yield self.read_truth(node, made))
                return True
            case tuple() | list() | dict() | set() if self.branches.find_unknown_length(value) is not None:
                return None
        return bool(found) if _is_plain(found) else True

    def read_known_truth(self, node: ast.AST, value: ReadValue, remedy: str = BRANCH_REMEDY) -> Reading:
        """Read whether a value is true. Raises ProgramError if the values of arrays decide."""
        found = yield self.read_truth(node, value, remedy)
        if found is None:
            raise self.error(node, f"it {NEEDS_VALUES_MESSAGE}; {remedy}")
        return found

    def condition_text(self, node: ast.AST) -> str:
        """Say what decides between branches."""
        excerpt = self.excerpt_of(node)
        where = f" at line {excerpt.location.line}" if excerpt.location else ""
        return f"as the values of arrays decide: {clip_text(excerpt.text, 40)}{where}"

    # -- reading of syntax

    def read_expression(self, node: ast.expr, scope: Scope) -> Reading | ReadValue:
        """Return the value of a name at once, and a reading of any other expression.

        Raises ProgramError at the source location of the expression.
        """
        if isinstance(node, ast.Name):
            found = self.resolve_name(node, node.id, scope)
            if isinstance(found, ImportedName):
                return self.readers.read_imported_name(self, node, found)
            return found
        read = self.readers.expressions.get(type(node))
        if read is None:
            raise self.error(
                node,
                "it is nothing that promotion knows of; give operators, functions of arrays and numbers",
            )
        return read(self, node, scope)

    def call(
        self, node: ast.AST, function: ReadValue, args: list[Any], keywords: dict[str, Any], scope: Scope
    ) -> Reading:
        """Read a call of a value."""
        return self.readers.call(self, node, function, args, keywords, scope)

    def read_iterator(self, node: ast.AST, value: ReadValue) -> Reading:
        """Read the iterator of a value, an IteratorValue."""
        return self.readers.iterate(self, node, value)

    def read_items(self, node: ast.AST, value: ReadValue) -> Reading:
        """Read all items of a value as a list. Raises ProgramError if it is not known how many there are."""
        found = yield self.read_samples(node, value)
        self.check_items(found)
        return found

    def read_samples(self, node: ast.AST, value: ReadValue) -> Reading:
        """Read the items of a value as a list. If nobody knows how many there are, so is the list."""
        if isinstance(value, (tuple, list)):
            return self.copy_items(value)
        if isinstance(value, (dict, set)):
            return self.list_keys(value)
        iterator = yield self.read_iterator(node, value)
        found: list[Any] = []
        if iterator.is_of_unknown_length:
            found.append((yield iterator.advance()))
            error = self.unknown_length_error(node)
            self.branches.unknown_lengths[id(found)] = UnknownLength(found, error, may_be_empty=True)
            return found
        while (item := (yield iterator.advance())) is not ITERATION_END:
            self.count_passes(node)
            found.append(item)
        if iterator.leaves_out_items:
            self.branches.mark_unknown_length(
                found, self.excerpt_of(node), "as the values of arrays decide", True
            )
        return found

    def copy_items(self, items: Sequence[ReadValue]) -> list[ReadValue]:
        """Return the items of a list as another list. It is as uncertain how many there are."""
        found = [*items]
        self.branches.keep_unknown_length(found, items)
        return found

    def list_keys(self, items: Collection[Any]) -> list[ReadValue]:
        """Return the keys of a dictionary or the items of a set. It is as uncertain how many there are."""
        found = [each.value if isinstance(each, KeyOfValues) else each for each in items]
        self.branches.keep_unknown_length(found, items)
        return found

    def list_results(self, node: ast.AST, results: MultipleResults) -> list[ReadValue]:
        """Return the results of a call as a list, of unknown length if nobody knows how many there are."""
        if results.count is not None:
            return [results[i] for i in range(results.count)]
        found: list[ReadValue] = [results[0]]
        self.branches.mark_unknown_length(found, self.excerpt_of(node), f"as {results.name} gives several")
        return found

    def extend_list(self, node: ast.AST, items: list[Any], value: ReadValue) -> Reading:
        """Add the items of a value to a list, as `items += value` does."""
        more = yield self.read_samples(node, value)
        self.check_length(node, len(items) + len(more))
        self.branches.will_change(items)
        unknown = self.branches.join_lengths([items, more])
        items.extend(more)
        self.branches.set_unknown_length(items, unknown)

    def refuse_unknown_length(self, node: ast.AST, iterator: IteratorValue) -> None:
        """Raise ProgramError for items of which nobody knows how many there are."""
        if iterator.is_of_unknown_length:
            raise self.unknown_length_error(node)

    def unknown_length_error(self, node: ast.AST) -> ProgramError:
        """Return the error of a loop of which nobody knows how often it runs."""
        remedy = "use whole-array functions, or give its shape"
        return self.error(node, f"a loop over an array {NEEDS_VALUES_MESSAGE}; {remedy}")

    def refuse_left_out(self, node: ast.AST, iterator: IteratorValue) -> None:
        """Raise ProgramError for an item of which nobody knows if it is left out."""
        if iterator.leaves_out_items:
            raise self.error(node, f"which item is next {NEEDS_VALUES_MESSAGE}; {BRANCH_REMEDY}")

    # -- arrays that change

    def share_names(self, names: Sequence[str]) -> None:
        """Record that several names were bound to one array."""
        if len(names) > 1:
            together = {*names, *self.shared.get(names[-1], ())}
            self.shared |= dict.fromkeys(together, together)

    def change_array(self, name: str, new_value: Argument, scope: Scope) -> None:
        """Bind a name to its changed array. If it was changed in place, also bind the names that share it.

        In MLX `y = x; y += 1.5` also casts x. A result that rebinds the name changes no other name, as with
        NumPy's scalars.
        """
        binding = scope.find(name)
        before = binding.names.get(name) if binding else None
        step = self.builder.steps[new_value.step] if isinstance(new_value, Ref) else None
        self.bind(scope, name, new_value)
        library = None if step is None else step.owner or self.library
        if (
            isinstance(step, Call)
            and not step.rebinds
            and name_meaning(NameSort.IN_PLACE_CHANGES_ALIASES, "in-place", library)
        ):
            for other in self.shared.get(name, ()):
                if scope.names.get(other, MISSING) == before:
                    self.bind(scope, other, new_value)

    def add_unknown_bool(self, node: ast.AST, values: Sequence[ReadValue]) -> Ref:
        """Add the step of a Python bool that the values of arrays decide."""
        steps = [x.step for x in values if isinstance(x, Ref)]
        return self.builder.add_opaque(self.excerpt_of(node), "truth", scalar_operand(Kind.BOOL), steps, ())


def refuse_lost_attribute(instance: Any, found: Any) -> None:
    """Raise the error of an object whose attributes nobody knows, unless its class has a method there."""
    is_method = isinstance(found, (DefinedFunction, BoundFunction, PythonFunction, WrappedFunction))
    if isinstance(instance, InstanceValue) and instance.lost is not None and not is_method:
        raise instance.lost


def _is_plain(x: Any) -> bool:
    return x is None or isinstance(x, (bool, int, float, complex, str, tuple, list, dict, set))
