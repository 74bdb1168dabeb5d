"""Assignments to elements, and operators that write in place."""

from __future__ import annotations

import ast
from copy import copy
from functools import partial
from typing import Any

from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.steps import FUNCTION_OF_IN_PLACE, Argument, Ref, Slice
from typelattice.programs.readers.source.dictionaries import read_key, set_item
from typelattice.programs.readers.source.operators import apply_operator
from typelattice.programs.readers.source.python_values import (
    MISSING,
    InstanceValue,
    RaisedError,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.subscripts import read_changing_container, read_results_as_key
from typelattice.programs.readers.source.syntax_operators import METHOD_BY_SYNTAX, OPERATOR_BY_SYNTAX
from typelattice.programs.readers.source.syntax_reader import SourceReader
from typelattice.programs.readers.source.targets import assign_target

MAX_SAMPLES = 4  # of the items of a list of unknown length


def assign_elements(reader: SourceReader, target: ast.Subscript, value: ReadValue, scope: Scope) -> Reading:
    """Assign to elements of an array, to an item of a list, or to a key of a dictionary."""
    container = yield read_changing_container(reader, target.value, scope)
    key = read_results_as_key(reader, target, (yield reader.read_expression(target.slice, scope)))
    match container:
        case UnknownValue(error=error):
            raise error
        case dict():
            set_item(reader, target, container, read_key(reader, target.slice, key), value)
            return
        case list():
            yield set_items(reader, target, container, reader.known(key), value)
            return
        case InstanceValue() if (own := container.of.find("__setitem__")) is not MISSING:
            yield reader.call(target, own, [container, key, value], {}, scope)
            return
        case tuple() | str():
            name = type(container).__name__
            raise reader.raised(target, TypeError(f"{name!r} object does not support item assignment"))
    array = reader.as_argument(target, container)
    owner = reader.builder.steps[array.step].owner if isinstance(array, Ref) else None
    if instead := name_meaning(NameSort.IMMUTABLE_ARRAYS, "setitem", owner):
        where = reader.error(target, f"arrays of {owner} do not change; write {instead}")
        raise RaisedError(TypeError, (), where)
    given = reader.as_argument(target, value)
    if not isinstance(array, Ref):
        raise reader.error(target, "elements of what has no name; give it one first")
    changed = reader.builder.add_setitem(
        reader.excerpt_of(target),
        array,
        reader.as_argument(target, reader.known(key)),
        given,
        is_operator=True,
    )
    yield rebind_array(reader, target.value, changed, scope)


def rebind_array(reader: SourceReader, place: ast.expr, changed: Argument, scope: Scope) -> Reading:
    """Put a changed array where the source has it: a name, an attribute, or elements of a list.

    Part of an array, as in `x[0][1] = y`, is a view: the array itself keeps its dtype.
    """
    match place:
        case ast.Name(id=name):
            reader.change_array(name, changed, scope)
        case ast.Attribute():
            owner = yield reader.read_expression(place.value, scope)
            if isinstance(owner, InstanceValue):
                yield assign_target(reader, place, changed, scope)
        case ast.Subscript():
            container = yield reader.read_expression(place.value, scope)
            if isinstance(container, (dict, list)):
                yield assign_elements(reader, place, changed, scope)


def set_items(
    reader: SourceReader, node: ast.Subscript, items: list[Any], at: Any, value: ReadValue
) -> Reading:
    """Set an item, or the items of a slice, of a list."""
    if reader.branches.find_unknown_length(items) is not None and not isinstance(at, Slice):
        reader.leave_out_error(node, IndexError)
        reader.branches.will_change(items)
        add_sample(reader, node, items, value)
        return
    reader.check_items(items)
    if isinstance(at, Slice):
        value = yield reader.read_items(node, value)
        at = slice(at.start, at.stop, at.step)
    reader.branches.will_change(items)
    if isinstance(at, Ref):
        reader.leave_out_error(node, IndexError)
        why = f"as the values of arrays decide which item is set: {reader.excerpt_of(node).text[:40]}"
        merge = partial(reader.branches.merge_values, reader.excerpt_of(node), why)
        items[:] = [merge(item, value) for item in items]
        return
    try:
        items[at] = value
    except (IndexError, TypeError, ValueError) as e:
        raise reader.raised(node, e) from None


def add_sample(reader: SourceReader, node: ast.AST, items: list[Any], value: ReadValue) -> None:
    """Add what may be an item of a list of unknown length. Samples are joined, so that a loop may end."""
    if len(items) >= MAX_SAMPLES:
        items[1:3] = [reader.any_item(node, items[1:3])]
    items.append(value)


def read_place_once(reader: SourceReader, place: ast.expr, scope: Scope) -> Reading:
    """Read the container and the key of a place that is read and then written. Return the place, in a scope
    that has them as names. Names and constants stay as they are.
    """
    parts = {"value": getattr(place, "value", None), "slice": getattr(place, "slice", None)}
    called = {
        name: part
        for name, part in parts.items()
        if part is not None and any(isinstance(x, (ast.Call, ast.NamedExpr)) for x in ast.walk(part))
    }
    if not called:
        return place, scope
    inner = Scope(parent=scope, kind="comprehension")
    made = copy(place)
    for name, part in called.items():
        inner.names[f"<{name}>"] = yield reader.read_expression(part, scope)
        setattr(made, name, ast.copy_location(ast.Name(f"<{name}>", ast.Load()), part))
    return made, inner


def read_in_place(reader: SourceReader, line: ast.AugAssign, scope: Scope) -> Reading:
    """Read `x += y`, or `x[i] += y`, which computes with elements of x and writes them back."""
    syntax = type(line.op)
    target, scope = yield read_place_once(reader, line.target, scope)
    read_target: Any = target
    old = yield read_changing_container(reader, read_target, scope)
    value = yield reader.read_expression(line.value, scope)
    if isinstance(old, list) and syntax is ast.Mult:
        made = yield apply_operator(reader, line, syntax, old, value, scope)
        reader.branches.will_change(old)
        old[:] = made
        return
    if isinstance(old, InstanceValue):
        own = old.of.find(f"__i{METHOD_BY_SYNTAX[syntax]}__")
        if own is not MISSING:
            made = yield reader.call(line, own, [old, value], {}, scope)
            yield assign_target(reader, target, made, scope)
            return
    if isinstance(old, list) and syntax is ast.Add:
        yield reader.extend_list(line, old, value)
        return
    if isinstance(old, (dict, set)) and type(old) is type(value):
        made = yield apply_operator(reader, line, syntax, old, value, scope)
        reader.branches.will_change(old)
        old.clear()
        old.update(made)
        return
    name = OPERATOR_BY_SYNTAX[syntax]
    if not isinstance(old, Ref) or name not in FUNCTION_OF_IN_PLACE.values():
        made = yield apply_operator(reader, line, syntax, old, value, scope)
        if isinstance(target, ast.Name) and isinstance(made, Ref):
            reader.change_array(target.id, made, scope)
        else:
            yield assign_target(reader, target, made, scope)
        return
    y = reader.as_argument(line, value)
    changed = reader.builder.add_in_place(reader.excerpt_of(line), name, old, y, may_rebind=True)
    if isinstance(target, ast.Name):
        reader.change_array(target.id, changed, scope)
    else:
        yield assign_target(reader, target, changed, scope)
