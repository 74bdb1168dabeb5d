"""Iterators of values: the items of containers, the rows of arrays, and what a generator yields."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Sequence
from typing import Any

from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.steps import Ref
from typelattice.programs.readers.source.python_values import (
    COUNTER,
    MISSING,
    ClassValue,
    InstanceValue,
    IteratorValue,
    RaisedError,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading, ReadingStack, YieldedValue
from typelattice.programs.readers.source.syntax_reader import (
    MAX_RANGE_LENGTH,
    NEEDS_VALUES_MESSAGE,
    SourceReader,
)


def read_iterator(reader: SourceReader, node: ast.AST, value: ReadValue) -> Reading:
    """Return the iterator of a value. Raises ProgramError if it has no items."""
    yield from ()
    value = reader.take_unless_none(node, value, TypeError)
    known = reader.known(value) if not isinstance(value, (list, tuple)) else value
    match known:
        case IteratorValue():
            return guard_iterator(reader, node, known) if known.is_kept else known
        case UnknownValue(error=error):
            raise error
        case list() if known and reader.branches.find_unknown_length(known) is not None:
            return IteratorValue(lambda: reader.any_item(node, known), is_of_unknown_length=True)
        case dict() | set() if known and reader.branches.find_unknown_length(known) is not None:
            keys = reader.list_keys(known)
            return IteratorValue(lambda: reader.any_item(node, keys), is_of_unknown_length=True)
        case list():
            reader.check_items(known)
            return IteratorValue.of(iter(known))
        case ClassValue() if known.members:
            return IteratorValue.of(iter([*known.members.values()]))
        case tuple() | str() | range() | set() | dict():
            reader.check_items(known)
            return IteratorValue.of(iter([*known] if isinstance(known, (set, dict)) else known))
        case MultipleResults() if known.count is not None:
            return IteratorValue.of(known[i] for i in range(known.count))
        case Ref() if not reader.builder.is_scalar(known):
            return iterate_rows(reader, node, known)
        case InstanceValue():
            return (yield iterate_instance(reader, node, known))
    if known is None or isinstance(known, (bool, int, float, complex, Ref)):
        raise reader.error(node, "nothing to loop over; give a list, or range(n)")
    raise reader.error(node, f"a loop over an array {NEEDS_VALUES_MESSAGE}; use whole-array functions")


def guard_iterator(reader: SourceReader, node: ast.AST, iterator: IteratorValue) -> IteratorValue:
    """Let an iterator refuse to advance in a branch that began later: what it gave cannot be undone."""
    advance = iterator.advance

    def advance_outside_of_branches() -> Any:
        if reader.branches.is_within_branch_since(iterator.number):
            what = "the values of arrays decide how far this iterator is read; make a list of it first"
            error = reader.error(node, what)
            iterator.lose(error)
            raise error
        return advance()

    if not iterator.is_guarded:
        iterator.advance, iterator.is_guarded = advance_outside_of_branches, True
    return iterator


def iterate_generator(reader: SourceReader, reading: Reading) -> IteratorValue:
    """Return the iterator of a generator's reading. Between items it keeps the loops and calls it is in."""
    stack = ReadingStack([reading])
    state: list[Any] = [[], []]

    def advance() -> Any:
        if not stack.stack:
            return ITERATION_END
        outside = reader.calls, reader.loops
        reader.calls, reader.loops = state
        reader.generator_starts.append(next(COUNTER))
        try:
            found = stack.resume()
        finally:
            reader.generator_starts.pop()
            state[:] = [reader.calls, reader.loops]
            reader.calls, reader.loops = outside
        if isinstance(found, YieldedValue):
            return found.value
        iterator.result = found
        return ITERATION_END

    iterator = IteratorValue(advance)
    return iterator


def iterate_rows(reader: SourceReader, node: ast.AST, array: Ref) -> IteratorValue:
    """Return the iterator of an array's rows. Their number is known if the shape is."""
    shape, builder = reader.shape_of(array), reader.builder
    if shape == ():
        raise reader.raised(node, TypeError("iteration over a 0-d array"))
    excerpt = reader.excerpt_of(node)
    if shape is None or shape[0] is None:
        return IteratorValue(lambda: builder.add_index(excerpt, array, 0), is_of_unknown_length=True)
    reader.check_length(node, shape[0])
    return IteratorValue.of(builder.add_index(excerpt, array, i) for i in range(shape[0]))


def iterate_indices(reader: SourceReader, node: ast.AST, word: str, args: Sequence[Any]) -> IteratorValue:
    """Return the iterator of the indices of a shape, or of pairs of the indices and elements of an array.

    Raises ProgramError if the shape is not known.
    """
    array = args[0] if word == "pairs" and len(args) == 1 else None
    given = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    shape = reader.shape_of(array) if isinstance(array, Ref) else None
    lengths: Sequence[Any] | None = shape if isinstance(array, Ref) else [reader.known(x) for x in given]
    if lengths is None or not all(type(x) is int for x in lengths):
        raise reader.error(node, f"a loop over the indices of a shape {NEEDS_VALUES_MESSAGE}; give its shape")
    reader.check_length(node, math.prod(lengths))
    indices = itertools.product(*map(range, lengths))
    if not isinstance(array, Ref):
        return IteratorValue.of(indices)
    builder, excerpt = reader.builder, reader.excerpt_of(node)
    return IteratorValue.of((at, builder.add_index(excerpt, array, at)) for at in indices)


def iterate_instance(reader: SourceReader, node: ast.AST, instance: InstanceValue) -> Reading:
    """Return the iterator of an object that defines `__iter__`, `__next__` or `__getitem__`."""
    scope = Scope()
    own = instance.of.find("__iter__")
    if own is not MISSING:
        made = yield reader.call(node, own, [instance], {}, scope)
        if isinstance(made, InstanceValue) and made.of.find("__next__") is MISSING:
            raise reader.raised(node, TypeError(f"iter() returned no iterator, but {made.of.name!r}"))
        if made is not instance:
            return (yield reader.read_iterator(node, made))
    advance, item = instance.of.find("__next__"), instance.of.find("__getitem__")
    if advance is not MISSING:
        return IteratorValue(lambda: _advance(reader, node, advance, [instance], scope, (StopIteration,)))
    if item is MISSING:
        raise reader.raised(node, TypeError(f"{instance.of.name!r} object is not iterable"))
    numbers = iter(range(MAX_RANGE_LENGTH))
    return IteratorValue(
        lambda: _advance(reader, node, item, [instance, next(numbers)], scope, (IndexError,))
    )


def _advance(
    reader: SourceReader,
    node: ast.AST,
    function: ReadValue,
    args: list[Any],
    scope: Scope,
    ends: tuple[Any, ...],
) -> Reading:
    try:
        return (yield reader.call(node, function, args, {}, scope))
    except RaisedError as e:
        if e.is_of(ends):
            return ITERATION_END
        raise
