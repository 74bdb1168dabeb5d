"""Lists, tuples, sets and dictionaries that are written out, and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from typelattice.programs.readers.source.dictionaries import (
    add_items,
    make_dictionary,
    make_set,
    read_key,
    set_item,
)
from typelattice.programs.readers.source.operators import join_samples
from typelattice.programs.readers.source.python_values import (
    IteratorValue,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading, YieldedValue
from typelattice.programs.readers.source.syntax_reader import (
    SourceReader,
)
from typelattice.programs.readers.source.targets import assign_target, has_known_items

STAR_MESSAGE = "arguments with a star, of which nobody knows how many there are; write them out"


def read_tuple(reader: SourceReader, node: ast.Tuple, scope: Scope) -> Reading:
    reader.check_length(node, len(node.elts))
    return tuple((yield read_values(reader, node.elts, scope)))


def read_list(reader: SourceReader, node: ast.List, scope: Scope) -> Reading:
    reader.check_length(node, len(node.elts))
    return join_samples(reader, (yield read_parts(reader, node.elts, scope)))


def read_set(reader: SourceReader, node: ast.Set, scope: Scope) -> Reading:
    reader.check_length(node, len(node.elts))
    items = yield read_values(reader, node.elts, scope)
    return make_set(reader, node, items)


def read_values(reader: SourceReader, nodes: Sequence[ast.expr], scope: Scope) -> Reading:
    """Read several expressions as a list of values. A starred value gives its items."""
    parts = yield read_parts(reader, nodes, scope)
    for each in parts:
        reader.check_items(each)
    return [*chain(*parts)]


def read_parts(reader: SourceReader, nodes: Sequence[ast.expr], scope: Scope) -> Reading:
    """Read several expressions, each as a list of one value. A starred value gives the list of its items."""
    found: list[list[ReadValue]] = []
    for each in nodes:
        if not isinstance(each, ast.Starred):
            found.append([(yield reader.read_expression(each, scope))])
            continue
        items = yield reader.read_expression(each.value, scope)
        if isinstance(items, UnknownValue):
            raise items.error
        if not has_known_items(reader, items):
            raise reader.error(each, f"it is {STAR_MESSAGE}")
        found.append((yield reader.read_samples(each, items)))
    return found


def read_dictionary(reader: SourceReader, node: ast.Dict, scope: Scope) -> Reading:
    """Return a dictionary display, with the items of starred dictionaries in it."""
    reader.check_length(node, len(node.keys))
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            at = read_key(reader, key, (yield reader.read_expression(key, scope)))
            set_item(reader, key, found, at, (yield reader.read_expression(value, scope)))
            continue
        read = yield reader.read_expression(value, scope)
        if not isinstance(read, Mapping):
            raise reader.error(node, "two stars before what is no dictionary; write its keys out")
        add_items(reader, node, found, read)
    return found


def read_list_comprehension(reader: SourceReader, node: ast.ListComp, scope: Scope) -> Reading:
    found: list[ReadValue] = []
    inner = Scope(parent=scope, kind="comprehension")
    iterator = yield read_first_iterator(reader, node.generators, scope)
    leave_out = partial(leave_out_item, reader, node, found)
    yield read_passes(reader, node.generators, inner, node.elt, found.append, leave_out, iterator)
    return found


def leave_out_item(reader: SourceReader, node: ast.AST, items: list[ReadValue]) -> None:
    """Record that the values of arrays decide if a comprehension leaves items out."""
    why = "as the values of arrays decide"
    reader.branches.mark_unknown_length(items, reader.excerpt_of(node), why, may_be_empty=True)


def read_first_iterator(
    reader: SourceReader, generators: Sequence[ast.comprehension], scope: Scope
) -> Reading:
    """Return the iterator of the first loop of a comprehension. Python reads it outside of its scope."""
    first = generators[0].iter
    return (yield reader.read_iterator(first, (yield reader.read_expression(first, scope))))


def read_generator(reader: SourceReader, node: ast.GeneratorExp, scope: Scope) -> Reading:
    """Return the iterator of a generator expression. Its items are read one by one, its first loop's now."""
    iterator = yield read_first_iterator(reader, node.generators, scope)
    inner = Scope(parent=scope, kind="comprehension")
    made: list[IteratorValue] = []

    def leave_out() -> None:
        made[0].leaves_out_items = True

    made.append(reader.readers.iterate_generator(
        reader, read_passes(reader, node.generators, inner, node.elt, None, leave_out, iterator)
    ))  # fmt: skip
    return made[0]


def read_set_comprehension(reader: SourceReader, node: ast.SetComp, scope: Scope) -> Reading:
    found: list[ReadValue] = []
    inner = Scope(parent=scope, kind="comprehension")
    iterator = yield read_first_iterator(reader, node.generators, scope)
    leave_out = partial(leave_out_item, reader, node, found)
    yield read_passes(reader, node.generators, inner, node.elt, found.append, leave_out, iterator)
    return make_set(reader, node.elt, found, found)


def read_dictionary_comprehension(reader: SourceReader, node: ast.DictComp, scope: Scope) -> Reading:
    found: list[Any] = []
    pair = ast.copy_location(ast.Tuple(elts=[node.key, node.value], ctx=ast.Load()), node)
    inner = Scope(parent=scope, kind="comprehension")
    iterator = yield read_first_iterator(reader, node.generators, scope)
    leave_out = partial(leave_out_item, reader, node, found)
    yield read_passes(reader, node.generators, inner, pair, found.append, leave_out, iterator)
    pairs = ((read_key(reader, node.key, key), value) for key, value in found)
    return make_dictionary(reader, node, pairs, found)


def read_passes(
    reader: SourceReader, generators: Sequence[ast.comprehension], scope: Scope, item: ast.expr,
    keep: Callable[[ReadValue], None] | None, leave_out: Callable[[], None] | None = None,
    iterator: IteratorValue | None = None,
) -> Reading:  # fmt: skip
    """Read the passes of the first loop and of the loops within it. Keep each value, or yield it.

    `iterator` is that of the first loop, if it was read already. `leave_out` records that the values of
    arrays decide if a value is left out.
    """
    if not generators:
        value = yield reader.read_expression(item, scope)
        if keep is None:
            yield YieldedValue(value)
        else:
            keep(value)
        return
    loop, *within = generators
    if loop.is_async:
        raise reader.error(item, "await; call the function without it")
    if iterator is None:
        iterator = yield reader.read_iterator(loop.iter, (yield reader.read_expression(loop.iter, scope)))
    if iterator.is_of_unknown_length and leave_out is not None:
        leave_out()
        yield assign_target(reader, loop.target, (yield iterator.advance()), scope)
        yield read_passes(reader, within, scope, item, keep, leave_out)
        return
    reader.refuse_unknown_length(loop.iter, iterator)
    while (each := (yield iterator.advance())) is not ITERATION_END:
        reader.count_passes(loop.iter)
        yield assign_target(reader, loop.target, each, scope)
        for test in loop.ifs:
            value = yield reader.read_expression(test, scope)
            truth = yield reader.read_truth(test, value)
            if truth is None and leave_out is not None:
                leave_out()
            elif not (yield reader.read_known_truth(test, value)):
                break
        else:
            yield read_passes(reader, within, scope, item, keep, leave_out)
