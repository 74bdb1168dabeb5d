"""Branches of which the values of arrays choose one: each is read and undone, and then they are merged."""

from __future__ import annotations

import ast

from typelattice.programs.readers.source.branches import Branch, Ending, PendingExits
from typelattice.programs.readers.source.python_values import RaisedError, Scope
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader


def read_as_returned(reader: SourceReader, node: ast.expr, scope: Scope) -> Reading:
    """Read an expression as a branch that returns its value."""
    return Ending("return", (yield reader.read_expression(node, scope)))


def read_branch(reader: SourceReader, reading: Reading) -> Reading:
    """Read a branch, and undo what it changes. Return the Branch."""
    journal = reader.branches.start()
    try:
        ending = yield reading
    except RaisedError as e:
        ending = Ending("raise", error=e)
    return reader.branches.undo(journal, ending)


def merge_branches(reader: SourceReader, node: ast.AST, first: Branch, second: Branch) -> Ending:
    """Merge two branches of which the values of arrays choose one. Return how both end.

    A branch that raises an error is left out: whoever gives other values does not come there.
    """
    alive = [each for each in (first, second) if each.ending.sort != "raise"]
    if alive:
        for branch in (first, second):
            if branch.ending.error is not None:
                reader.leave_out_error(node, branch.ending.error, branch.contents)
    if not alive:
        assert first.ending.error is not None
        raise first.ending.error
    if len(alive) == 1:
        reader.branches.apply(alive[0].contents)
        return alive[0].ending
    excerpt, why = reader.excerpt_of(node), reader.condition_text(node)
    sorts = [each.ending.sort for each in alive]
    if sorts[0] == sorts[1]:
        sides = first.contents, second.contents
        values = first.ending.value, second.ending.value
        value = reader.branches.merge_values(excerpt, why, *values, sides)
        reader.branches.merge(excerpt, why, *sides)
        return first.ending if sorts[0] != "return" else Ending("return", value)
    leaving, staying = (first, second) if sorts[0] != "normal" else (second, first)
    if leaving.ending.sort == "return" and not reader.calls:
        raise reader.error(node, "a return outside of a function; write a function")
    reader.branches.add_exit(find_exits(reader, leaving.ending), leaving, excerpt, why)
    reader.branches.apply(staying.contents)
    return staying.ending


def find_exits(reader: SourceReader, ending: Ending) -> PendingExits:
    """Return the ways out of the loop or the function that an ending leaves."""
    if ending.sort == "return":
        return reader.calls[-1]
    breaks, continues = reader.loops[-1]
    return breaks if ending.sort == "break" else continues
