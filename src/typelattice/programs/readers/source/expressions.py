"""Readers of expressions: each returns the value of one class of syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import EllipsisType
from typing import Any

from typelattice.core.operands.notation import MAX_INT_BITS
from typelattice.programs.readers.source.comparisons import read_comparison
from typelattice.programs.readers.source.displays import (
    read_dictionary,
    read_dictionary_comprehension,
    read_generator,
    read_list,
    read_list_comprehension,
    read_set,
    read_set_comprehension,
    read_tuple,
)
from typelattice.programs.readers.source.operators import (
    read_binary,
    read_boolean,
    read_conditional,
    read_unary,
)
from typelattice.programs.readers.source.python_values import (
    DefinedFunction,
    Scope,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading, YieldedValue
from typelattice.programs.readers.source.subscripts import read_attribute_access, read_indexing, read_slice
from typelattice.programs.readers.source.syntax_reader import (
    SourceReader,
)
from typelattice.programs.readers.source.texts import read_joined_text


def read_constant(reader: SourceReader, node: ast.Constant, scope: Scope) -> Reading:
    """Return the value of a constant. Raises ProgramError if it is a bytes object, or too large."""
    yield from ()
    match node.value:
        case int() as value if value.bit_length() > MAX_INT_BITS:
            raise reader.error(node, f"a number of more than {MAX_INT_BITS:,} bits; no dtype holds it")
        case int() | float() | complex() | str() | None | EllipsisType() as value:
            return value
    raise reader.error(node, "it is bytes, which no array is made of; give numbers")


def read_lambda(reader: SourceReader, node: ast.Lambda, scope: Scope) -> Reading:
    """Read a lambda, whose body is read at its calls."""
    defaults = yield read_defaults(reader, node.args, scope)
    return DefinedFunction(node, scope, defaults)


def read_defaults(reader: SourceReader, arguments: ast.arguments, scope: Scope) -> Reading:
    """Read the default values of a function's parameters, by name."""
    found: dict[str, Any] = {}
    for name, x in list_defaults(arguments).items():
        found[name] = yield reader.read_expression(x, scope)
    return found


def list_defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Return the expressions of a function's default values, by the names of the parameters."""
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    found = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {a.arg: default for a, default in pairs if default is not None}


def read_named_expression(reader: SourceReader, node: ast.NamedExpr, scope: Scope) -> Reading:
    """Read `(name := value)`, which binds a name of the function."""
    value = yield reader.read_expression(node.value, scope)
    reader.bind(scope.of_kind("function", "class", "module"), node.target.id, value)
    return value


def read_yield(reader: SourceReader, node: ast.Yield, scope: Scope) -> Reading:
    """Read `yield x`. The reading of the generator stops here until its next item is wanted."""
    value = None if node.value is None else (yield reader.read_expression(node.value, scope))
    refuse_possible_yield(reader, node)
    yield YieldedValue(value)
    return None


def refuse_possible_yield(reader: SourceReader, node: ast.AST) -> None:
    """Raise ProgramError for a value that a generator yields or not, as the values of arrays decide."""
    if reader.generator_starts and reader.branches.is_within_branch_since(reader.generator_starts[-1]):
        raise reader.error(node, "the values of arrays decide if it is yielded; return a list")


def read_yield_from(reader: SourceReader, node: ast.YieldFrom, scope: Scope) -> Reading:
    """Read `yield from items`."""
    iterator = yield reader.read_iterator(node, (yield reader.read_expression(node.value, scope)))
    reader.refuse_unknown_length(node, iterator)
    while (item := (yield iterator.advance())) is not ITERATION_END:
        reader.count_passes(node)
        refuse_possible_yield(reader, node)
        yield YieldedValue(item)
    return iterator.result


def refuse_await(reader: SourceReader, node: ast.Await, scope: Scope) -> Reading:
    yield from ()
    raise reader.error(node, "it is await; call the function without it")


EXPRESSION_READERS: Mapping[type[ast.AST], Callable[[SourceReader, Any, Scope], Reading]] = {
    ast.Attribute: read_attribute_access,
    ast.Await: refuse_await,
    ast.BinOp: read_binary,
    ast.BoolOp: read_boolean,
    ast.Compare: read_comparison,
    ast.Constant: read_constant,
    ast.Dict: read_dictionary,
    ast.DictComp: read_dictionary_comprehension,
    ast.GeneratorExp: read_generator,
    ast.IfExp: read_conditional,
    ast.JoinedStr: read_joined_text,
    ast.Lambda: read_lambda,
    ast.List: read_list,
    ast.ListComp: read_list_comprehension,
    ast.NamedExpr: read_named_expression,
    ast.Set: read_set,
    ast.SetComp: read_set_comprehension,
    ast.Slice: read_slice,
    ast.Subscript: read_indexing,
    ast.Tuple: read_tuple,
    ast.UnaryOp: read_unary,
    ast.Yield: read_yield,
    ast.YieldFrom: read_yield_from,
}
