"""Calls: of functions and classes of the source, of libraries' functions, and of Python's own."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from math import prod
from types import GeneratorType
from typing import Any

from typelattice.base.errors.error_texts import quote_short
from typelattice.core.operations.operations import find_operation
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.asked_calls import AskedCall, ask_call, call_or_ask
from typelattice.programs.calls.book_objects import BookObject, makes_object
from typelattice.programs.calls.call_tables import (
    OPERATION_BY_FUNCTION,
    NameSort,
    is_undescribed,
    module_with_rules,
    name_meaning,
    name_meanings,
    parameter_of_all,
)
from typelattice.programs.calls.calls_to_steps import call_function
from typelattice.programs.calls.compositions import is_composition
from typelattice.programs.calls.creation_and_cast_handlers import (
    CREATION_HANDLERS,
    PYTHON_TYPE_BY_NAME,
    add_cast_to,
)
from typelattice.programs.calls.dtype_questions import (
    KINDS_BY_SCALAR_CLASS,
    QUESTION_FUNCTIONS,
    answer_question,
)
from typelattice.programs.calls.methods import METHOD_HANDLERS, call_method, is_in_place
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.steps import (
    SAME_KIND_KEYWORD_AND_VALUE,
    Argument,
    DTypeOf,
    Excerpt,
    LibraryCall,
    LibraryObject,
    NamedDType,
    Pairs,
    ProgramError,
    Ref,
    UnknownFunctionError,
)
from typelattice.programs.calls.ufunc_methods import call_ufunc_method, changes_array, is_ufunc_method
from typelattice.programs.readers.source.container_methods import CHANGING_METHOD_NAMES, call_container_method
from typelattice.programs.readers.source.contexts import make_context, put_in_context
from typelattice.programs.readers.source.displays import STAR_MESSAGE, read_values
from typelattice.programs.readers.source.einops_calls import EINOPS_FUNCTIONS
from typelattice.programs.readers.source.function_transforms import call_transform
from typelattice.programs.readers.source.functions_of_classes import is_array_of
from typelattice.programs.readers.source.functions_of_numbers import call_math
from typelattice.programs.readers.source.iterators import iterate_generator, iterate_indices
from typelattice.programs.readers.source.library_objects import make_container, makes_empty_objects
from typelattice.programs.readers.source.python_functions import PYTHON_FUNCTIONS, USE_ARRAY_FUNCTION
from typelattice.programs.readers.source.python_values import (
    MISSING,
    NO_DEFAULT,
    VALUE_ERRORS,
    BoundFunction,
    BoundMethod,
    ClassValue,
    ContainerMethod,
    ContextValue,
    DefinedFunction,
    DottedName,
    FunctionName,
    IndexUpdateRef,
    InstanceValue,
    NamedTupleValue,
    PythonFunction,
    RaisedError,
    ReadValue,
    Scope,
    SuperValue,
    UnknownValue,
    WrappedFunction,
    answer_or_unknown,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.statements import read_function_body
from typelattice.programs.readers.source.subscripts import read_changing_container
from typelattice.programs.readers.source.syntax_reader import (
    MAX_CALL_DEPTH,
    PASSES_OF_CALL,
    ForeignFunctionError,
    SettingError,
    SourceReader,
)

SLICE_APPLYING_FUNCTION = "apply_along_axis"  # applies a function to the slices of an array
# Functions that return the namespace of an array.
NAMESPACE_FUNCTIONS = (
    "__array_namespace__",
    "array_namespace",
    "get_namespace",
)


def read_call(reader: SourceReader, node: ast.Call, scope: Scope) -> Reading:
    """Read a call and return its result."""
    receiver: ReadValue = None
    if isinstance(node.func, ast.Attribute):
        is_changing = node.func.attr in CHANGING_METHOD_NAMES
        receiver = yield read_changing_container(reader, node.func.value, scope, is_changing)
        if isinstance(receiver, Ref) and (
            not reader.builder.is_scalar(receiver) or isinstance(reader.known(receiver), Ref)
        ):
            function: ReadValue = BoundMethod(receiver, node.func.attr)
        elif isinstance(receiver, AskedCall):
            name = node.func.attr
            is_array = receiver.has_array_method(name)
            function = BoundMethod(receiver.take(), name) if is_array else receiver.method(name)
        elif isinstance(receiver, IndexUpdateRef):
            args = yield read_values(reader, node.args, scope)
            return read_at_method(
                reader, node, receiver, node.func.attr, [reader.as_argument(node, x) for x in args]
            )
        else:
            function = yield reader.read_attribute(node.func, receiver, node.func.attr, scope)
    elif (
        isinstance(node.func, ast.Name) and node.func.id == "super" and "super" not in scope and not node.args
    ):
        return read_super(reader, node, scope)
    else:
        function = yield reader.read_expression(node.func, scope)
    args = yield read_values(reader, node.args, scope)
    keywords = yield read_keywords(reader, node, scope)
    library = receiver.owner if isinstance(receiver, DottedName) else None
    return (yield call_value(reader, node, function, args, keywords, scope, library))


def read_super(reader: SourceReader, node: ast.Call, scope: Scope) -> SuperValue:
    """Return what `super()` is in a method."""
    function_scope = scope.of_kind("function")
    method = function_scope.names.get(METHOD_KEY)
    if not isinstance(method, DefinedFunction) or method.owner is None:
        raise reader.error(node, "super() outside of a method; name the class")
    parameters = method.node.args
    first = next((a.arg for a in (*parameters.posonlyargs, *parameters.args)), None)
    if first is None:
        raise reader.error(node, "super() in a method without self; give it its first parameter")
    return SuperValue(function_scope.names[first], method.owner)


METHOD_KEY = "<the function that is read>"


def read_keywords(reader: SourceReader, node: ast.Call, scope: Scope) -> Reading:
    """Return the named arguments of a call. A known dictionary with two stars gives its items."""
    found: dict[str, ReadValue] = {}
    for keyword in node.keywords:
        value = yield reader.read_expression(keyword.value, scope)
        given = {keyword.arg: value} if keyword.arg else value
        if isinstance(given, UnknownValue):
            raise given.error
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise reader.error(node, f"it is {STAR_MESSAGE}")
        reader.check_items(given)
        if {*found} & {*given}:
            raise reader.error(node, "a name is given twice; give it once")
        found |= given
    return found


def call_value(
    reader: SourceReader,
    node: ast.AST,
    function: ReadValue,
    args: list[Any],
    keywords: dict[str, Any],
    scope: Scope,
    library: str | None = None,
) -> Reading:
    """Read a call of a value: a function, a class, a method, or an object that can be called."""
    if isinstance(function, UnknownValue):
        raise function.error
    for taken, call in CALLS_OF_THE_SOURCE.items():
        if isinstance(function, taken):
            return (yield call(reader, node, function, args, keywords, scope))
    for x in (*args, *keywords.values()):
        if isinstance(x, UnknownValue) and not takes_any_value(function):
            raise x.error
    match function:
        case PythonFunction():
            found = yield call_python_function(reader, node, function, args, keywords, scope)
            if found is USE_ARRAY_FUNCTION:
                raise reader.error(node, f"{function.name} takes other arguments; give those")
            return found
        case DottedName():
            return (yield call_dotted_name(reader, node, function, args, keywords, scope))
        case BoundMethod():
            found = yield call_method_of_functions(reader, node, function, args, keywords, scope)
            if found is not MISSING:
                return found
            return read_method(reader, node, function, args, keywords, scope)
        case ContextValue():
            return put_in_context(reader, node, function, args, keywords)
        case AskedCall():
            objects, named = read_objects(reader, node, args, keywords)
            return function.call_result(reader.excerpt_of(node), objects, named)
        case BookObject():
            read_args, read_keywords_ = read_arguments(reader, node, "", args, keywords)
            return function.call(reader.excerpt_of(node), read_args, read_keywords_)
        case type():
            return RaisedError(function, tuple(args), reader.error(node, "an error"))
        case DTypeOf() if len(args) == 1 and not keywords:
            return add_cast_to(
                reader.builder, reader.excerpt_of(node), reader.as_argument(node, args[0]), function
            )
        case NamedDType(name=name) if name in PYTHON_TYPE_BY_NAME and library is None:
            found = yield call_python_function(reader, node, PYTHON_FUNCTIONS[name], args, {}, scope)
            if found is not USE_ARRAY_FUNCTION:
                return found
    called = read_function_name(reader, node, function, library)
    return call_named_function(reader, node, called, args, keywords)


def call_method_of_functions(
    reader: SourceReader, node: ast.AST, method: BoundMethod, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of a method that takes a function, such as `x.map_blocks(f)`, or return MISSING."""
    owner = reader.builder.steps[method.receiver.step].owner or reader.library
    word = name_meaning(NameSort.TAKES_FUNCTION, f".{method.name}", owner)
    if word is None or not args:
        return MISSING
    is_of_results = word == "gradients"  # the array is what is differentiated, and no argument of a function
    given = [method.receiver, [*args]] if is_of_results else [args[0], method.receiver, *args[1:]]
    return (yield call_transform(reader, node, word, given, keywords, scope))


def takes_any_value(function: ReadValue) -> bool:
    """Return True for errors, and functions that print: a text in them decides no dtype."""
    if isinstance(function, DottedName) and function.text in PYTHON_FUNCTIONS:
        function = PYTHON_FUNCTIONS[function.text]
    return isinstance(function, type) or (
        isinstance(function, PythonFunction) and function.compute is PYTHON_FUNCTIONS["print"].compute
    )


def call_bound_function(
    reader: SourceReader, node: ast.AST, function: BoundFunction, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of a function with its first arguments."""
    given = {**function.keywords, **keywords}
    return (yield call_value(reader, node, function.function, [*function.args, *args], given, scope))


def call_wrapped_function(
    reader: SourceReader, node: ast.AST, function: WrappedFunction, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of a function behind a decorator such as `staticmethod`."""
    return (yield call_value(reader, node, function.function, args, keywords, scope))


def call_python_function(
    reader: SourceReader, node: ast.AST, function: PythonFunction, args: Sequence[Any],
    keywords: Mapping[str, Any], scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of a function of Python's own, or USE_ARRAY_FUNCTION if it has no such arguments."""
    try:
        signature(function.compute).bind(reader, node, *args, **keywords)
    except TypeError:
        return USE_ARRAY_FUNCTION
    try:
        found = function.compute(reader, node, *args, **keywords)
        return (yield found) if isinstance(found, GeneratorType) else found
    except ProgramError:
        raise
    except VALUE_ERRORS as e:
        raise reader.error(node, f"{function.name} takes other values ({e}); give those") from None


def call_dotted_name(
    reader: SourceReader, node: ast.AST, function: DottedName, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of a function of Python's own, or of a library."""
    text, owner = function.text, find_owner(reader, node, function, scope)
    own = PYTHON_FUNCTIONS.get(text) or EINOPS_FUNCTIONS.get(text)
    if own is not None:
        found = yield call_python_function(reader, node, own, args, keywords, scope)
        if found is not USE_ARRAY_FUNCTION:
            return found
    if len(function.path) == 1 and hasattr(builtins, text) and text not in OPERATION_BY_FUNCTION:
        raise reader.error(node, f"it is Python's {text}, which is not carried out here; leave it out")
    of_python = function.path[0] in sys.stdlib_module_names and owner is None and len(function.path) > 1
    if of_python and function.path[0] != "math" and is_imported(node, scope):
        what = f"{text} is of Python's standard library, and is not carried out here"
        raise ForeignFunctionError(str(reader.error(node, f"{what}; give its result as an input")))
    context = make_context(reader, node, function, args, keywords)
    if context is not MISSING:
        return context
    if owner is not None:
        found = yield call_special_function(reader, node, function, args, keywords, scope)
        if found is not MISSING:
            return found
    if is_ufunc_method(function.path):
        return read_ufunc_method(reader, node, function, owner, args, keywords, scope)
    return read_array_function(reader, node, function, args, keywords, scope)


def read_array_function(
    reader: SourceReader, node: ast.AST, function: DottedName, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> ReadValue:  # fmt: skip
    """Read a call of a function of arrays. Raises ForeignFunctionError for one of another package."""
    called = read_function_name(reader, node, function, find_owner(reader, node, function, scope))
    if called.name == SLICE_APPLYING_FUNCTION and len(args) == 3 and not keywords:
        applied, axis, x = args
        if isinstance(applied, DottedName):
            called = read_function_name(reader, node, applied, called.owner)
            args, keywords = [x], {"axis": axis}
    name, owner = called.name, called.owner
    if name_meaning(NameSort.COLUMN_FUNCTION, name, owner) and len(args) == 1 and isinstance(args[0], str):
        return reader.as_argument(node, reader.resolve_name(node, args[0], scope))
    if name_meaning(NameSort.TAKES_COLUMN_NAMES, name, owner):
        args = [reader.resolve_name(node, x, scope) if isinstance(x, str) else x for x in args]
    for module in function.path[:-1] if reader.tries else ():
        if raised := name_meaning(NameSort.RAISES_BY_VALUES, module, owner):
            reader.leave_out_error(node, DottedName((*function.path[:-1], raised)))
    try:
        return call_named_function(reader, node, called, args, keywords)
    except UnknownFunctionError as e:
        if owner is not None or not is_imported(node, scope):
            raise
        what = f"{function.text} is of another package, whose code is not read"
        error = reader.error(node, f"{what}; give its result as an input")
        raise ForeignFunctionError(str(error)) from e


def is_imported(node: ast.AST, scope: Scope) -> bool:
    """Return True if the function of a call is of a module that the source imports."""
    name = getattr(node, "func", None)
    while isinstance(name, ast.Attribute):
        name = name.value
    return isinstance(name, ast.Name) and name.id in scope


def find_owner(reader: SourceReader, node: ast.AST, function: DottedName, scope: Scope) -> str | None:
    """Return the library of a function: the one that is named, or for `nn.relu` that of the whole source.

    A module that the source imports is of the library only if it says so.
    """
    is_short = len(function.path) > 1 and not is_imported(node, scope)
    return function.owner or (reader.library if is_short else None)


def call_special_function(
    reader: SourceReader, node: ast.AST, function: DottedName, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of a library's function that takes functions, holds layers, or gives no array.

    Return MISSING for another function. names.txt lists these. Raises SettingError for a function that
    changes which dtypes the library gives.
    """
    name, owner = function.path[-1], find_owner(reader, node, function, scope)
    for each in (".".join(function.path[-2:]), name):
        word = name_meaning(NameSort.TAKES_FUNCTION, each, owner)
        if word is not None:
            found = yield call_transform(reader, node, word, args, keywords, scope)
            if found is not MISSING:
                return found
    if name_meaning(NameSort.SETTING, name, owner) is not None:
        what = f"it changes which dtypes {owner} gives from here on, which is not read"
        raise SettingError(str(reader.error(node, f"{what}; leave it out, and ask the system that has it")))
    if name_meaning(NameSort.RETURNS_NOTHING, name, owner) is not None:
        return None
    if name_meaning(NameSort.ARRAY_TEST, name, owner) is not None and len(args) == 1:
        return is_array_of(reader, function, reader.known(args[0]))
    if (iterated := name_meaning(NameSort.INDEX_ITERATOR, name, owner)) and not keywords:
        return iterate_indices(reader, node, iterated, args)
    if name_meaning(NameSort.RANDOM_GENERATOR, name, owner):
        return DottedName(function.path[:-1])
    if makes_object(qualified := ".".join(function.path[-2:]), owner):
        plain = [x.name if isinstance(x, BookObject) else x for x in args]
        made_args, made_keywords = read_arguments(reader, node, "", plain, keywords)
        excerpt = reader.excerpt_of(node).of_library(owner, module_with_rules(function.path, owner))
        return BookObject(reader.builder, excerpt, qualified, function.text, tuple(made_args), made_keywords)
    return (yield make_container(reader, node, function, owner, args))


# -- functions and classes of the source


def call_defined_function(
    reader: SourceReader, node: ast.AST, function: DefinedFunction, args: Sequence[ReadValue],
    keywords: Mapping[str, ReadValue], scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of a function that the source defines: its lines, with the arguments of the call."""
    if len(reader.calls) >= MAX_CALL_DEPTH:
        raise reader.error(node, f"more than {MAX_CALL_DEPTH} calls within one another; write a loop out")
    reader.count_passes(node, PASSES_OF_CALL)
    names = bind_arguments(reader, node, function, args, keywords)
    inner = Scope({**names, METHOD_KEY: function}, function.scope)
    if function.is_generator:
        return iterate_generator(reader, read_function_body(reader, node, function.statements, inner))
    return (yield read_function_body(reader, node, function.statements, inner))


def bind_arguments(
    reader: SourceReader, node: ast.AST, function: DefinedFunction, args: Sequence[ReadValue],
    keywords: Mapping[str, ReadValue],
) -> dict[str, Any]:  # fmt: skip
    """Return the values of a function's parameters. Raises ProgramError if the arguments do not fit."""
    parameters = function.node.args
    by_position = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    by_name = {a.arg for a in (*parameters.args, *parameters.kwonlyargs)}
    known = list_parameter_names(function.node)
    found: dict[str, Any] = dict(zip(by_position, args, strict=False))
    rest = tuple(args[len(by_position) :])
    others = {name: value for name, value in keywords.items() if name not in by_name}
    if (rest and parameters.vararg is None) or (others and parameters.kwarg is None):
        raise reader.error(node, f"{function.name} takes {', '.join(known) or 'nothing'}; give those")
    if twice := [name for name in keywords if name in found and name in by_name]:
        raise reader.error(node, f"{function.name} is given {twice[0]} twice; give it once")
    found |= {name: value for name, value in keywords.items() if name in by_name}
    found = {**function.defaults, **found}
    if missing := [name for name in known if name not in found]:
        raise reader.error(node, f"{function.name} needs {missing[0]}; give it")
    if parameters.vararg is not None:
        found[parameters.vararg.arg] = rest
    if parameters.kwarg is not None:
        found[parameters.kwarg.arg] = others
    return found


def list_parameter_names(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Return the names of a function's parameters, without those that have a star."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def make_instance(
    reader: SourceReader,
    node: ast.AST,
    cls: ClassValue,
    args: list[Any],
    keywords: dict[str, Any],
    scope: Scope,
) -> Reading:
    """Read the making of an object: by `__init__`, or by the fields of a dataclass or a named tuple."""
    if cls.members and len(args) == 1:
        value = reader.known(args[0])
        member = next((x for x in cls.members.values() if reader.known(x.attributes["value"]) == value), None)
        if member is None:
            raise reader.raised(node, ValueError(f"{value!r} is not a valid {cls.name}"))
        return member
    if cls.is_tuple:
        values = bind_fields(reader, node, cls, args, keywords)
        return NamedTupleValue.make(cls, (yield fill_fields(reader, node, values, scope)).values())
    instance = InstanceValue(cls)
    initializer = cls.find("__init__")
    if initializer is not MISSING:
        yield reader.call(node, initializer, [instance, *args], keywords, scope)
    elif cls.fields is not None:
        values = bind_fields(reader, node, cls, args, keywords)
        instance.attributes |= yield fill_fields(reader, node, values, scope)
        after = cls.find("__post_init__")
        if after is not MISSING:
            yield reader.call(node, after, [instance], {}, scope)
    elif cls.foreign_bases and all(isinstance(base, type) for base in cls.foreign_bases):
        instance.attributes["args"] = tuple(args)
    elif cls.foreign_bases and (args or keywords or not all(map(makes_empty_objects, cls.foreign_bases))):
        raise reader.error(node, f"{cls.name} is made by its library; define __init__ in the class")
    elif not cls.foreign_bases and (args or keywords):
        raise reader.error(node, f"{cls.name} takes nothing; give nothing")
    return instance


def bind_fields(
    reader: SourceReader, node: ast.AST, cls: ClassValue, args: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of a class's fields."""
    fields = cls.fields or {}
    found = dict(zip(fields, args, strict=False))
    if len(args) > len(fields) or {*keywords} - {*fields}:
        raise reader.error(node, f"{cls.name} takes {', '.join(fields) or 'nothing'}; give those")
    found |= keywords
    for name, default in fields.items():
        if name not in found and default is NO_DEFAULT:
            raise reader.error(node, f"{cls.name} needs {name}; give it")
    return {name: found.get(name, default) for name, default in fields.items()}


def fill_fields(reader: SourceReader, node: ast.AST, values: dict[str, Any], scope: Scope) -> Reading:
    """Read the defaults of fields that `dataclasses.field` makes."""
    for name, value in values.items():
        if isinstance(value, WrappedFunction) and value.sort == "field":
            made = value.function
            values[name] = (
                made if value.setter is None else (yield reader.call(node, value.setter, [], {}, scope))
            )
    return values


def call_instance(
    reader: SourceReader, node: ast.AST, instance: InstanceValue, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of an object: by `__call__`, or by the method that its library calls."""
    names = ["__call__"]
    for base in instance.of.foreign_bases:
        method = (
            name_meaning(NameSort.CALLED_METHOD, base.path[-1], base.owner)
            if isinstance(base, DottedName)
            else None
        )
        names += [method] if method else []
    for name in names:
        method_value = instance.of.find(name)
        if method_value is not MISSING:
            return (yield call_value(reader, node, method_value, [instance, *args], keywords, scope))
    raise reader.raised(node, TypeError(f"{instance.of.name!r} object is not callable"))


# -- functions of libraries


def read_arguments(
    reader: SourceReader,
    node: ast.AST,
    name: str,
    args: Sequence[ReadValue],
    keywords: Mapping[str, ReadValue],
) -> tuple[list[Argument], dict[str, Argument]]:
    """Return the arguments of a call as steps take them. An unbound name may be the name of a dtype."""

    def read(x: ReadValue, may_be_named: bool) -> Argument:
        if isinstance(x, MultipleResults):
            x = reader.list_results(node, x)
        return reader.as_argument(node, read_named_dtype(x) if may_be_named else x)

    taken = [read(x, may_be_dtype(name, i)) for i, x in enumerate(args)]
    said = {key: read(x, key == "dtype") for key, x in keywords.items() if not is_ignored_object(key, x)}
    return taken, said


def call_with_objects(
    reader: SourceReader, node: ast.AST, name: str, args: Sequence[ReadValue],
    keywords: Mapping[str, ReadValue],
) -> LibraryCall:  # fmt: skip
    """Return a call that the library is asked about, with its objects and functions among the arguments."""
    objects, named = read_objects(reader, node, args, keywords)
    return LibraryCall(name, tuple(objects), (*named.items(),), text=reader.excerpt_of(node).text)


def read_objects(
    reader: SourceReader, node: ast.AST, args: Sequence[ReadValue], keywords: Mapping[str, ReadValue]
) -> tuple[list[Argument], dict[str, Argument]]:
    """Return the arguments of a call that the library is asked about: also its objects and functions."""

    def read(x: ReadValue) -> Argument:
        match x:
            case AskedCall():
                return x.as_object()
            case BookObject():
                return x.as_asked().as_object()
            case DottedName(path=path) if x.owner is not None and len(path) > 1:
                return LibraryObject(x.text)
            case dict():
                return Pairs(tuple((read(key), read(value)) for key, value in x.items()))
            case tuple() | list():
                reader.check_items(x)
                return tuple([read(each) for each in x])
            case MultipleResults():
                return read(reader.list_results(node, x))
        return reader.as_argument(node, x)

    return [read(x) for x in args], {key: read(x) for key, x in keywords.items()}


def is_ignored_object(parameter: str, x: ReadValue) -> bool:
    """Return True for an object of a library where it decides no dtype: `stream=mx.cpu`."""
    is_object = isinstance(x, DottedName) and (len(x.path) > 1 or x.owner is not None)
    found = parameter_of_all(parameter) if is_object else None
    return found is not None and found.role == "ignored"


def read_named_dtype(x: ReadValue) -> ReadValue:
    """Return an unbound name as the name of a dtype, which a system's own file may define.

    A class of Python such as `object` stays as it is: it is no dtype.
    """
    if isinstance(x, DottedName) and isinstance(getattr(builtins, x.text, None), type):
        return x
    return NamedDType(x.path[-1]) if isinstance(x, DottedName) else x


def may_be_dtype(name: str, position: int) -> bool:
    """Return True if the argument at `position` may name a dtype, as in casts and in making arrays."""
    if name in ("result_type", "promote_types", "dtype"):
        return True
    return position > 0 and (
        name in CREATION_HANDLERS
        or name in METHOD_HANDLERS
        or name_meaning(NameSort.CREATION_FUNCTION, name, None) is not None
    )


def read_method(
    reader: SourceReader, node: ast.AST, method: BoundMethod, args: Sequence[ReadValue],
    keywords: Mapping[str, ReadValue], scope: Scope,
) -> ReadValue:  # fmt: skip
    """Return the result of an array's method. A method such as `x.add_(y)` changes the array named x."""
    found = call_array_method(reader, node, method, args, keywords)
    written = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if is_in_place(method.name) and isinstance(written, ast.Name):
        reader.bind(scope.find(written.id) or scope, written.id, found)
    return found


def _answer(reader: SourceReader, excerpt: Excerpt, name: str, asked: Sequence[Argument]) -> ReadValue:
    return answer_or_unknown(lambda: answer_question(reader.builder, excerpt, name, asked))


def call_array_method(
    reader: SourceReader, node: ast.AST, method: BoundMethod, args: Sequence[ReadValue],
    keywords: Mapping[str, ReadValue],
) -> ReadValue:  # fmt: skip
    """Return the result of a method of an array."""
    builder = reader.builder
    if method.name in NAMESPACE_FUNCTIONS:
        return DottedName((method.name,))
    owner = builder.steps[method.receiver.step].owner or reader.library
    if name_meaning(NameSort.RETURNS_NOTHING, method.name, owner) is not None:
        return None
    if method.name in QUESTION_FUNCTIONS:
        return _answer(reader, reader.excerpt_of(node), method.name, [method.receiver])
    if not args and (to := name_meaning(NameSort.CONVERTING_METHOD, method.name, owner)) is not None:
        excerpt = reader.excerpt_of(node).of_library(to)
        return call_function(builder, excerpt, "asarray", [method.receiver], {})
    shape = reader.shape_of(method.receiver) if method.name == "tolist" else None
    if method.name == "tolist" and shape is not None and None not in shape:
        return list_numbers(reader, node, method.receiver, shape)
    excerpt, given = reader.excerpt_of(node).of_library(owner), [method.receiver, *args]
    make_call = partial(call_with_objects, reader, node, f".{method.name}", given, keywords)
    try:
        read_args, read_keywords_ = read_arguments(reader, node, method.name, given, keywords)
    except ProgramError as error:
        return ask_call(builder, excerpt, make_call, error)
    excerpt = reader.excerpt_of(node).of_library(builder.steps[method.receiver.step].owner)
    made = call_or_ask(
        builder, excerpt,
        lambda: call_method(builder, excerpt, method.name, method.receiver, read_args[1:], read_keywords_),
        make_call,
    )  # fmt: skip
    return remember_call(reader, node, made, excerpt, f".{method.name}", read_args, read_keywords_)


def list_numbers(reader: SourceReader, node: ast.AST, array: Ref, shape: Shape) -> ReadValue:
    """Return the nested lists of an array's elements, Python numbers of unknown value."""
    reader.check_length(node, prod(n or 0 for n in shape))
    if 0 in shape:
        return []
    element = array
    for _ in shape:
        element = reader.builder.add_index(reader.excerpt_of(node), element, 0)
    number: ReadValue = reader.builder.add_item(reader.excerpt_of(node), element)
    for length in reversed(shape):
        number = [_copy_lists(number) for _ in range(length or 0)]
    return number


def _copy_lists(value: ReadValue) -> ReadValue:
    return [_copy_lists(x) for x in value] if isinstance(value, list) else value


def read_ufunc_method(
    reader: SourceReader, node: ast.AST, function: DottedName, owner: str | None, args: Sequence[ReadValue],
    keywords: Mapping[str, ReadValue], scope: Scope,
) -> Argument | MultipleResults:  # fmt: skip
    """Return the result of a ufunc's method, such as `np.add.reduce`. `np.add.at` changes its array."""
    read_args, read_keywords_ = read_arguments(reader, node, "", args, keywords)
    *_, ufunc, method = function.path
    result = call_ufunc_method(
        reader.builder, reader.excerpt_of(node).of_library(owner), ufunc, method, read_args, read_keywords_
    )
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if changes_array(function.path, read_keywords_) and isinstance(first, ast.Name):
        reader.bind(scope.find(first.id) or scope, first.id, result)
    return result


def read_at_method(
    reader: SourceReader, node: ast.Call, target: IndexUpdateRef, method: str, args: Sequence[Argument]
) -> Ref:
    """Read `x.at[key].set(y)`: a new array with other elements, of the dtype of x.

    `casting="same_kind"` is our own notation: a program writes it where the source has `out=`.
    """
    excerpt, builder = reader.excerpt_of(node), reader.builder
    update_methods = {name: op for (_, name), op in name_meanings(NameSort.ELEMENT_METHOD).items()}
    if method == "get" and not args:
        return builder.add_index(excerpt, target.array, target.key)
    if method not in ("set", *update_methods) or len(args) != 1:
        raise excerpt.error(f"elements are written by set, {', '.join(update_methods)}, of one value")
    if method == "set":
        constant_keywords = [
            (k.arg, k.value.value) for k in node.keywords if isinstance(k.value, ast.Constant)
        ]
        marks = (SAME_KIND_KEYWORD_AND_VALUE,) if SAME_KIND_KEYWORD_AND_VALUE in constant_keywords else ()
        return builder.add_setitem(excerpt, target.array, target.key, args[0], marks=marks)
    elements = builder.add_index(excerpt, target.array, target.key)
    made = builder.add_call(excerpt, find_operation(update_methods[method]), [elements, args[0]])
    return builder.add_setitem(excerpt, target.array, target.key, made)


def read_function_name(
    reader: SourceReader, node: ast.AST, function: ReadValue, library: str | None = None
) -> FunctionName:
    """Return the name by which a call names a function. Raises ProgramError for what is no function."""
    match function:
        case DottedName(path=path) if len(path) <= 3 or function.owner:
            full_name = function.text
            if path[0] == "math":
                return FunctionName(f"math.{path[-1]}", full_name, None)
            owner = library or function.owner
            qualified = ".".join(path[-2:])  # `lax.max` is a different function from `jnp.max`
            name = qualified if is_composition(qualified, owner) else path[-1]
            if is_undescribed(path, owner):
                name = full_name
            return FunctionName(name, full_name, owner, module_with_rules(path, owner))
        case NamedDType(name=name):
            return FunctionName(name, name, library)
    func = node.func if isinstance(node, ast.Call) else None
    known = reader.known(function)
    if isinstance(known, (bool, int, float, complex, str, list, tuple, dict, set, type(None))):
        raise reader.raised(node, TypeError(f"'{type(known).__name__}' object is not callable"))
    shown = quote_short(ast.unparse(func)[:60]) if isinstance(func, (ast.Name, ast.Attribute)) else "it"
    raise reader.error(node, f"{shown} is no function of the array API standard; define it in the source")


def call_named_function(
    reader: SourceReader, node: ast.AST, function: FunctionName, args: list[ReadValue],
    keywords: dict[str, ReadValue],
) -> ReadValue:  # fmt: skip
    """Return the result of a function called by name: a library's, or one of arrays of all libraries."""
    excerpt, name, builder = reader.excerpt_of(node), function.name, reader.builder
    known = [reader.known(x) for x in args]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        arrays_library = builder.find_owner(excerpt, [x.step for x in known if isinstance(x, Ref)])
        if replacement := name_meaning(NameSort.MISSING_PYTHON_FUNCTION, name, arrays_library):
            raise excerpt.error(f"arrays of {arrays_library} have no {name}; write {replacement}")
    if name.startswith("math."):
        return call_math(reader, excerpt, name.removeprefix("math."), args, known)
    if name == "at" and args and isinstance(args[0], Ref):  # `xpx.at(x, index)` of array-api-extra
        of = args[0]
        return (
            IndexUpdateRef(of, reader.as_argument(node, known[1])) if len(args) > 1 else BoundMethod(of, name)
        )
    if name in QUESTION_FUNCTIONS:
        asked = read_question(reader, node, args, keywords)
        return _answer(reader, excerpt.of_library(function.owner), name, asked)
    if name in NAMESPACE_FUNCTIONS:
        return DottedName((name,))
    excerpt = excerpt.of_library(function.owner, function.module)
    make_call = partial(call_with_objects, reader, node, function.full_name, args, keywords)
    try:
        read_args, read_keywords_ = read_arguments(reader, node, name, args, keywords)
    except ProgramError as error:
        if not is_composition(name, function.owner):
            return ask_call(builder, excerpt, make_call, error)
        read_args, read_keywords_ = read_objects(reader, node, args, keywords)  # its row names each argument
    made = call_or_ask(
        builder, excerpt, lambda: call_function(builder, excerpt, name, read_args, read_keywords_), make_call
    )
    return remember_call(reader, node, made, excerpt, function.full_name, read_args, read_keywords_)


def remember_call(
    reader: SourceReader, node: ast.AST, made: ReadValue, excerpt: Excerpt, name: str, args: list[Argument],
    keywords: Mapping[str, Argument],
) -> ReadValue:  # fmt: skip
    """Remember the call of a result of unknown shape, so that its library can be asked for the shape."""
    if not excerpt.owner or not isinstance(made, (Ref, MultipleResults)):
        return made
    call = LibraryCall(name, tuple(args), (*keywords.items(),), text=excerpt.text)
    asked = AskedCall(reader.builder, excerpt, call, excerpt.error("its shape is not known"))
    if isinstance(made, Ref):
        reader.remember_call(made, asked)
        return made

    def make_step(i: int) -> Ref:
        step = made.make_step(i)
        reader.remember_call(step, replace(asked, call=replace(call, taken=(i,)), made_steps={}))
        return step

    return replace(made, make_step=make_step, made_steps={})


def read_question(
    reader: SourceReader, node: ast.AST, args: Sequence[ReadValue], keywords: Mapping[str, ReadValue]
) -> list[Argument]:
    """Return the arguments of a question about dtypes. NumPy's scalar classes mean kinds there."""
    given = [*args, *keywords.values()]
    return [
        KINDS_BY_SCALAR_CLASS[x.path[-1]]
        if isinstance(x, DottedName) and x.path[-1] in KINDS_BY_SCALAR_CLASS
        else reader.as_argument(node, read_named_dtype(x))
        for x in given
    ]


CALLS_OF_THE_SOURCE: Mapping[type, Callable[..., Reading]] = {
    DefinedFunction: call_defined_function,
    BoundFunction: call_bound_function,
    ClassValue: make_instance,
    InstanceValue: call_instance,
    WrappedFunction: call_wrapped_function,
    ContainerMethod: call_container_method,
}
