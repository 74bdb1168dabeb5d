"""Targets of assignments: names, several names, and attributes."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.steps import Ref
from typelattice.programs.readers.source.python_values import (
    ClassValue,
    DefinedFunction,
    InstanceValue,
    IteratorValue,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import (
    SourceReader,
)
from typelattice.programs.readers.source.texts import CONTAINERS


def has_known_items(reader: SourceReader, value: ReadValue) -> bool:
    """Return True if it is known how many items a value has."""
    if isinstance(value, Ref):
        shape = () if reader.builder.is_scalar(value) else reader.shape_of(value)
        return bool(shape) and shape is not None and shape[0] is not None
    if isinstance(value, MultipleResults):
        return value.count is not None
    return isinstance(value, (*CONTAINERS, IteratorValue, InstanceValue))


def assign_target(reader: SourceReader, target: ast.expr, value: ReadValue, scope: Scope) -> Reading:
    """Bind a name, several names, an attribute or elements to a value."""
    yield from ()
    match target:
        case ast.Name(id=name):
            reader.bind(scope, name, value)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            parts = yield unpack_value(reader, target, value, targets)
            for each, part in zip(targets, parts, strict=True):
                yield assign_target(reader, each, part, scope)
        case ast.Starred(value=within):
            yield assign_target(reader, within, value, scope)
        case ast.Attribute():
            yield set_attribute(
                reader, target, (yield reader.read_expression(target.value, scope)), target.attr, value, scope
            )
        case ast.Subscript():
            yield reader.readers.assign_elements(reader, target, value, scope)


def set_attribute(
    reader: SourceReader, node: ast.AST, owner: ReadValue, name: str, value: ReadValue, scope: Scope
) -> Reading:
    """Set an attribute of an object, a class or a function."""
    match owner:
        case UnknownValue(error=error):
            raise error
        case InstanceValue():
            found = owner.of.find(name)
            setter = getattr(found, "setter", None)
            if setter is not None:
                yield reader.call(node, setter, [owner, value], {}, scope)
                return
            reader.branches.will_change(owner)
            owner.attributes[name] = value
        case ClassValue():
            reader.branches.will_change(owner)
            owner.names[name] = value
        case DefinedFunction():
            reader.branches.will_change(owner)
            owner.attributes[name] = value
        case _:
            raise reader.error(
                node, "an attribute of an array or a library that is set; give the value a name"
            )


def unpack_value(
    reader: SourceReader, target: ast.expr, value: ReadValue, targets: Sequence[ast.expr]
) -> Reading:
    """Read the parts of a value: items of a list, results of a call, or rows of an array."""
    starred = [i for i, each in enumerate(targets) if isinstance(each, ast.Starred)]
    count = len(targets)
    match value:
        case UnknownValue():
            return [value] * count
        case MultipleResults() if not starred and value.count in (None, count):
            return [value[i] for i in range(count)]
        case AskedCall() if not starred:
            return [value.part(i) for i in range(count)]
        case Ref() if not starred and _has_rows(reader, value, count):
            return [reader.builder.add_index(reader.excerpt_of(target), value, i) for i in range(count)]
    if not has_known_items(reader, value):
        raise reader.error(target, "as many names as there are values; give each its own line")
    items = yield reader.read_items(target, value)
    if starred:
        before, after = starred[0], count - starred[0] - 1
        if len(items) < before + after:
            raise reader.raised(target, ValueError(f"not enough values to unpack ({len(items)})"))
        end = len(items) - after
        return [*items[:before], items[before:end], *items[end:]]
    if len(items) != count:
        raise reader.error(target, "as many names as there are values; give each its own line")
    return items


def _has_rows(reader: SourceReader, value: Ref, count: int) -> bool:
    """Return True if a value is an array that may be unpacked into this number of rows."""
    shape = () if reader.builder.is_scalar(value) else reader.builder.shape_of(value)
    return shape is None or (shape != () and shape[0] in (None, count))
