"""Objects whose classes a library begins: modules with layers, and containers of layers.

names.txt has the methods that they inherit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from typelattice.core.dtypes.dtypes import Kind
from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.book_objects import BookObject
from typelattice.programs.calls.call_tables import NameSort, name_meaning, name_meanings
from typelattice.programs.calls.dtype_questions import known_dtype
from typelattice.programs.calls.steps import DTypeArgument, DTypeOf, NamedDType, ProgramError, Ref
from typelattice.programs.readers.source.python_values import (
    MISSING,
    ClassValue,
    DottedName,
    InstanceValue,
    IteratorValue,
    PythonFunction,
    ReadValue,
    Scope,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader

ARRAY_OF_LAYER = "weight"  # the array that most layers have


def make_container(
    reader: SourceReader, node: ast.AST, name: DottedName, owner: str | None, args: list[Any]
) -> Reading:
    """Read the making of a container of layers, or return MISSING for another function."""
    sort = name_meaning(NameSort.LAYER_CONTAINER, name.path[-1], owner)
    if sort is None:
        return MISSING
    if sort == "dictionary":
        return {**args[0]} if args and isinstance(args[0], dict) else {}
    is_listed = len(args) == 1 and isinstance(args[0], (list, tuple, IteratorValue))
    layers = (yield reader.read_items(node, args[0])) if is_listed else [*args]
    if sort in ("list", "tuple"):
        return layers if sort == "list" else tuple(layers)

    def call_layers(reader: SourceReader, node: ast.AST, instance: InstanceValue, value: Any) -> Reading:
        for layer in (yield reader.read_items(node, instance.attributes["layers"])):
            value = yield reader.call(node, layer, [value], {}, Scope())
        return value

    def take_layer(reader: SourceReader, node: ast.AST, instance: InstanceValue, at: Any) -> Any:
        return instance.attributes["layers"][reader.known(at)]

    def count_layers(reader: SourceReader, node: ast.AST, instance: InstanceValue) -> int:
        return len(instance.attributes["layers"])

    called = (each for library, each in name_meanings(NameSort.CALLED_METHOD) if library == owner)
    modules = name.path[:-1] if name.owner or owner is None else (owner, *name.path[:-1])
    base = DottedName((*modules, next(called, name.path[-1])))
    methods = {
        "__call__": PythonFunction(name.text, call_layers),
        "__getitem__": PythonFunction("__getitem__", take_layer),
        "__len__": PythonFunction("__len__", count_layers),
    }
    return InstanceValue(ClassValue(name.path[-1], methods, (base,)), {"layers": layers})


def find_library_method(
    reader: SourceReader, instance: InstanceValue | ClassValue | BookObject, name: str
) -> ReadValue:
    """Return what an object inherits from a library's class, or None if names.txt lacks it."""
    if isinstance(instance, BookObject):
        bases = {base for library, base in name_meanings(NameSort.CALLED_METHOD) if library == instance.owner}
        found = (name_meaning(NameSort.OBJECT_METHOD, f"{base}.{name}", instance.owner) for base in bases)
        meaning = next(filter(None, found), None)
        return None if meaning is None else inherited_method(instance, name, *meaning.partition(":")[::2])
    cls = instance.of if isinstance(instance, InstanceValue) else instance
    for base in cls.foreign_bases:
        if isinstance(base, DottedName):
            meaning = name_meaning(NameSort.OBJECT_METHOD, f"{base.path[-1]}.{name}", base.owner)
            if meaning == "true":
                return True
            if meaning is not None:
                return inherited_method(instance, name, *meaning.partition(":")[::2])
    return None


def inherited_method(instance: Any, name: str, sort: str, rest: str) -> PythonFunction:
    """Return a method that an object inherits. `sort` says what it does, as in names.txt."""

    def call(reader: SourceReader, node: ast.AST, *args: Any, **keywords: Any) -> Any:
        match sort:
            case "cast":
                to = NamedDType(rest) if rest else find_dtype((*args, *keywords.values()))
                return instance if to is None else _cast_value(reader, node, instance, to)
            case "arrays" | "pairs" | "dictionary":
                return arrays_of(reader, node, instance, sort)
            case "set":
                reader.branches.will_change(instance)
                instance.attributes[args[0]] = args[1] if len(args) > 1 else None
                return None
            case "nothing":
                return None
            case "call":
                keep = PythonFunction("save_for_backward", lambda *given, **named: None)
                context = InstanceValue(ClassValue("context", {keep.name: keep}))
                cls = instance if isinstance(instance, ClassValue) else instance.of
                return reader.call(node, cls.find(rest), [context, *args], keywords, Scope())
        return instance

    return PythonFunction(name, call)


def makes_empty_objects(base: object) -> bool:
    """Return True for a class of a library whose methods are known, such as `nn.Module`.

    Its objects have no attributes of their own that an array depends on.
    """
    if not isinstance(base, DottedName):
        return False
    known = name_meanings(NameSort.OBJECT_METHOD)
    return any(library == base.owner and name.startswith(f"{base.path[-1]}.") for library, name in known)


def find_dtype(values: tuple[Any, ...]) -> DTypeArgument | None:
    """Return the dtype among the arguments of `.to`, or None if it is given a device alone."""
    for x in values:
        if isinstance(x, (NamedDType, DTypeOf)):
            return NamedDType("float32") if x == NamedDType("float") else x
        if isinstance(x, Ref):
            return DTypeOf(x.step)
    return None


def cast_arrays(
    reader: SourceReader, node: ast.AST, instance: InstanceValue, to: DTypeArgument
) -> InstanceValue:
    """Cast the float arrays in an object, and in the objects in it."""
    reader.branches.will_change(instance)
    for name, value in instance.attributes.items():
        instance.attributes[name] = _cast_value(reader, node, value, to)
    return instance


def _cast_value(reader: SourceReader, node: ast.AST, value: ReadValue, to: DTypeArgument) -> Any:
    excerpt, builder = reader.excerpt_of(node), reader.builder
    match value:
        case InstanceValue():
            return cast_arrays(reader, node, value, to) if value.of.foreign_bases else value
        case list():
            return [_cast_value(reader, node, x, to) for x in value]
        case dict():
            return {key: _cast_value(reader, node, x, to) for key, x in value.items()}
        case AskedCall() | BookObject():
            return value.of_dtype(to)
        case Ref() if not builder.is_scalar(value):
            is_float = known_dtype(builder, excerpt, value).kind in (Kind.FLOAT, Kind.COMPLEX)
            return builder.add_cast(excerpt, value, to) if is_float else value
    return value


def list_arrays(reader: SourceReader, node: ast.AST, instance: InstanceValue) -> list[tuple[str, Any]]:
    """List the arrays in an object, with their names. It is not known how many arrays a layer has."""
    found = [*_yield_arrays("", instance)]
    made = [(name, x) for name, x in found if isinstance(x, Ref) and not reader.builder.is_scalar(x)]
    layers = [(name, x) for name, x in found if isinstance(x, AskedCall)]
    for name, layer in layers:
        with suppress(ProgramError):  # a layer without arrays
            made.append((f"{name}.{ARRAY_OF_LAYER}", layer.take(ARRAY_OF_LAYER)))
    if layers:
        why = "as the layers of a library decide"
        reader.branches.mark_unknown_length(made, reader.excerpt_of(node), why)
    return made


def _yield_arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case InstanceValue():
            yield from _yield_arrays(name, value.attributes)
        case dict():
            for key, each in value.items():
                yield from _yield_arrays(f"{name}.{key}".lstrip("."), each)
        case list() | tuple():
            for i, each in enumerate(value):
                yield from _yield_arrays(f"{name}.{i}".lstrip("."), each)
        case BookObject():
            yield name, value.as_asked()
        case Ref() | AskedCall():
            yield name, value


def arrays_of(reader: SourceReader, node: ast.AST, instance: InstanceValue, sort: str) -> Any:
    """Return the arrays in an object: in a list, in a list with their names, or in a dictionary."""
    named = list_arrays(reader, node, instance)
    unknown = reader.branches.find_unknown_length(named)
    found: Any = named
    if sort == "arrays":
        found = [x for _, x in named]
    elif sort == "dictionary":
        found = dict(named)
    if unknown is not None:
        reader.branches.unknown_lengths[id(found)] = replace(unknown, container=found)
    return found
