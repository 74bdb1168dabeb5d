"""Elements that are taken: of arrays, of lists and dictionaries, and of objects."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.call_tables import NameSort, libraries_with_several_results, name_meaning
from typelattice.programs.calls.calls_to_steps import call_function
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.steps import Call, NamedDType, Ref, Slice
from typelattice.programs.readers.source.dictionaries import (
    is_decided_by_values,
    join_choices,
    list_choices,
    look_up_choices,
    read_key,
    take_value_of_key,
)
from typelattice.programs.readers.source.python_values import (
    MISSING,
    BoundMethod,
    ClassValue,
    DottedName,
    IndexUpdateRef,
    InstanceValue,
    IteratorValue,
    RaisedError,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import (
    NEEDS_VALUES_MESSAGE,
    SourceReader,
)


def read_slice(reader: SourceReader, node: ast.Slice, scope: Scope) -> Reading:
    bounds = []
    for bound in (node.lower, node.upper, node.step):
        read = None if bound is None else (yield reader.read_expression(bound, scope))
        bounds.append(reader.known(reader.as_argument(node, read)))
    if bounds[2] == 0 and isinstance(bounds[2], int):
        raise reader.raised(node, ValueError("slice step cannot be zero"))
    return Slice(*bounds)


def read_attribute_access(reader: SourceReader, node: ast.Attribute, scope: Scope) -> Reading:
    """Read `x.name`."""
    value = yield reader.read_expression(node.value, scope)
    found = yield reader.read_attribute(node, value, node.attr, scope)
    if isinstance(found, IteratorValue):
        found.is_kept = True
    return found


def read_indexing(reader: SourceReader, node: ast.Subscript, scope: Scope) -> Reading:
    """Read `x[key]`."""
    container = yield reader.read_expression(node.value, scope)
    key = yield reader.read_expression(node.slice, scope)
    match node.value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name not in scope:
            pass  # a function of a module is no method of an array
        case ast.Call(func=ast.Attribute()) if isinstance(container, Ref) and isinstance(key, int):
            refuse_unclear_result(reader, node.value, container)
    found = yield take_elements(reader, node, container, key, scope)
    if isinstance(found, IteratorValue):
        found.is_kept = True
    return found


def refuse_unclear_result(reader: SourceReader, call: ast.Call, array: Ref) -> None:
    """Raise ProgramError for `x.max(1)[1]` if the library of x is unknown: a row, or the indices."""
    step = reader.builder.steps[array.step]
    if step.owner is not None or not isinstance(step, Call):
        return
    name = step.name
    for library in libraries_with_several_results(name, dict(step.keywords)):
        several = f"here .{name}() gives several arrays in {library}, and one in most libraries"
        ways = f"{library}.{name}(...) for several, xp.{name}(...) for one"
        raise reader.error(call, f"{several}; write {ways}")


def read_results_as_key(reader: SourceReader, node: ast.AST, key: ReadValue) -> ReadValue:
    """Return the results of a call as the indices of axes: `x[np.nonzero(x)]`."""
    if not isinstance(key, MultipleResults):
        return key
    return tuple([reader.as_argument(node, each) for each in reader.list_results(node, key)])


def take_elements(
    reader: SourceReader, node: ast.Subscript, container: ReadValue, key: ReadValue, scope: Scope
) -> Reading:
    """Read elements of an array, of a list or a dictionary, or of an object."""
    yield from ()
    at: Any = reader.known(read_results_as_key(reader, node, key))
    container = reader.take_unless_none(node, container, TypeError)
    if isinstance(container, dict) and isinstance(at, UnknownValue) and at.one_of:
        return (yield look_up_choices(reader, node, container, at, scope))
    if isinstance(at, UnknownValue) and at.one_of:
        return (yield take_chosen(reader, node, container, at, scope))
    if isinstance(at, UnknownValue):
        raise at.error
    match container:
        case UnknownValue(error=error):
            raise error
        case MultipleResults() if isinstance(at, (int, Slice)):
            return take_results(reader, node, container, at)
        case BoundMethod(name="at"):
            return IndexUpdateRef(container.receiver, reader.as_argument(node, at))
        case AskedCall() | BoundMethod() if isinstance(at, int) and (
            asked := _find_asked_object(reader, node, container)
        ):
            return asked.part(at)
        case dict():
            read = read_key(reader, node.slice, key)
            return (yield take_value_of_key(reader, node, container, read, scope))
        case tuple() | list() | str():
            return take_items(reader, node, container, at)
        case InstanceValue() if (own := container.of.find("__getitem__")) is not MISSING:
            return (yield reader.call(node, own, [container, key], {}, scope))
        case ClassValue(members=members) if isinstance(at, str) and at in members:
            return members[at]
        case ClassValue() | type() | NamedDType():
            return container  # a class with its parameters: list[int]
        case DottedName() if (joined := index_name(reader, node, container, key)) is not MISSING:
            return joined
    array = reader.as_argument(node, container)
    if not isinstance(array, Ref):
        raise reader.error(node, "a number has no elements; index an array")
    return reader.builder.add_index(
        reader.excerpt_of(node), array, reader.as_argument(node, at), find_lists_form(key)
    )


def _find_asked_object(
    reader: SourceReader, node: ast.AST, container: AskedCall | BoundMethod
) -> AskedCall | None:
    """Return the object of a library that an index takes a part of, or None for an array."""
    if isinstance(container, BoundMethod):
        return reader.ask_attribute(node, container)
    return container if container.gives_object else None


def take_chosen(
    reader: SourceReader, node: ast.Subscript, container: ReadValue, key: UnknownValue, scope: Scope
) -> Reading:
    """Read elements by an index that is one of several values. Those that raise an error are left out."""
    found: list[ReadValue] = []
    for choice in key.one_of:
        try:
            found.append((yield take_elements(reader, node, container, choice, scope)))
        except RaisedError as e:
            reader.leave_out_error(node, e)
    if not found:
        raise key.error
    return reader.any_item(node, found)


def read_changing_container(
    reader: SourceReader, node: ast.expr, scope: Scope, is_changing: bool = True
) -> Reading:
    """Read a list, a dictionary or a set that is about to change, or any other value.

    If the values of arrays decide which of several it is, as in `buckets[int(x[0])].append(y)`, they become
    one: each may then have what any of them has.
    """
    if not is_changing or not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return (yield reader.read_expression(node, scope))
    container = yield read_changing_container(reader, node.value, scope)
    key = yield reader.read_expression(node.slice, scope)
    at, choices = reader.known(key), None
    if isinstance(container, dict) and not isinstance(at, UnknownValue):
        at = read_key(reader, node.slice, key)
        choices = list_choices(container, at) if is_decided_by_values(container, at) else None
    elif isinstance(container, (list, dict)) and isinstance(at, (Ref, UnknownValue)):
        choices = list_choices(container, at)
    found = yield take_elements(reader, node, container, key, scope)
    if choices is not None and isinstance(found, (list, dict, set)):
        join_choices(reader, node, container, choices, found)
    return found


def index_name(reader: SourceReader, node: ast.AST, container: DottedName, key: ReadValue) -> ReadValue:
    """Read `np.r_[x, y]`, `np.s_[1:]` or a class with its parameters. Return MISSING for another name."""
    if not container.owner and len(container.path) > 1:
        return container
    joining, at = name_meaning(NameSort.JOINING_INDEX, container.path[-1], container.owner), reader.known(key)
    if joining is None:
        missing: ReadValue = MISSING
        return missing
    entries = at if isinstance(at, tuple) else (at,)
    return key if joining == "key" else join_entries(reader, node, joining, container.owner, entries)


def take_results(reader: SourceReader, node: ast.AST, results: MultipleResults, at: int | Slice) -> ReadValue:
    """Return one of several results of a call, or a slice of them."""
    try:
        if isinstance(at, int):
            return results[at]
        return results.take_slice(slice(at.start, at.stop, at.step))
    except (IndexError, TypeError) as e:
        raise reader.error(node, f"{e}; give another index") from None


def join_entries(
    reader: SourceReader, node: ast.AST, operation: str, owner: str | None, entries: Sequence[Any]
) -> ReadValue:
    """Return the array that `np.r_[x, 1.0, 1:4]` joins. A slice is a range, and numbers are no arrays."""
    excerpt, builder = reader.excerpt_of(node).of_library(owner), reader.builder
    if any(isinstance(x, str) for x in entries):
        raise reader.error(node, "an index that says how to join; write concatenate or stack")
    items: list[Any] = []
    for x in entries:
        if isinstance(x, Slice):
            step: Any = x.step
            is_count = isinstance(step, complex)
            given: Any = (x.start or 0, x.stop, int(abs(step)) if is_count else 1 if step is None else step)
            called = call_function(builder, excerpt, "linspace" if is_count else "arange", given, {})
            items.append(reader.as_argument(node, called))
        else:
            items.append(reader.as_argument(node, x))
    if any(not isinstance(x, Ref) or builder.is_scalar(x) for x in items):
        dtype: Any = call_function(builder, excerpt, "result_type", items, {})
        items = [
            x if isinstance(x, Ref) and not builder.is_scalar(x)
            else call_function(builder, excerpt, "asarray", [x], {"dtype": dtype})
            for x in items
        ]  # fmt: skip
    arrays: list[Any] = [
        x if not isinstance(x, Ref) or builder.shape_of(x) != ()
        else call_function(builder, excerpt, "reshape", [x, (1,)], {})
        for x in items
    ]  # fmt: skip
    return call_function(builder, excerpt, operation, [tuple(arrays)], {})


def take_items(reader: SourceReader, node: ast.AST, items: Any, at: Any) -> ReadValue:
    """Return an item, or several, of a list, a tuple or a text."""
    is_uncertain = reader.branches.find_unknown_length(items) is not None
    if isinstance(at, Slice):
        bounds = (at.start, at.stop, at.step)
        if isinstance(items, str) and any(isinstance(x, Ref) for x in bounds):
            raise reader.error(node, f"it {NEEDS_VALUES_MESSAGE}; give the text")
        if is_uncertain or any(isinstance(x, Ref) for x in bounds):
            part = reader.copy_items(items)
            why = "as the values of arrays decide"
            reader.branches.mark_unknown_length(part, reader.excerpt_of(node), why, may_be_empty=True)
            return part
        at = slice(*bounds)
    if is_uncertain or isinstance(at, Ref):
        reader.leave_out_error(node, IndexError)
        return reader.any_item(node, items)
    try:
        found: ReadValue = items[at]
    except (IndexError, TypeError, ValueError) as e:
        raise reader.raised(node, e) from None
    return found


def find_lists_form(key: ReadValue) -> str:
    """Return the form of the lists in an index, as a step has it: one of INDICES, or "" without lists."""
    if isinstance(key, list):
        return INDEX_FORMS[0]
    several = isinstance(key, tuple) and any(isinstance(x, list) for x in key)
    return INDEX_FORMS[1] if several else ""
