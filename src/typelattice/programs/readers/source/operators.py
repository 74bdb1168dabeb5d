"""Operators, `and`, `or` and `x if test else y`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from typelattice.programs.calls.steps import ProgramError, Ref
from typelattice.programs.readers.source.branches import Ending, Sides
from typelattice.programs.readers.source.dictionaries import (
    add_items,
    merge_sets,
    remove_key,
)
from typelattice.programs.readers.source.python_values import (
    MISSING,
    DottedName,
    InstanceValue,
    KeysValue,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_operators import (
    METHOD_BY_SYNTAX,
    OPERATOR_BY_SYNTAX,
    PYTHON_OPERATOR_BY_SYNTAX,
)
from typelattice.programs.readers.source.syntax_reader import (
    SettingError,
    SourceReader,
)
from typelattice.programs.readers.source.texts import (
    CONTAINERS,
    UNKNOWN_TEXT_MESSAGE,
    check_format,
    is_plain_text,
)
from typelattice.programs.readers.source.value_branches import merge_branches, read_as_returned, read_branch

SEQUENCES = (str, tuple, list)
NOT_IMPLEMENTED = DottedName(("NotImplemented",))


def read_binary(reader: SourceReader, node: ast.BinOp, scope: Scope) -> Reading:
    """Read an operation of two operands."""
    left = yield reader.read_expression(node.left, scope)
    right = yield reader.read_expression(node.right, scope)
    return (yield apply_operator(reader, node, type(node.op), left, right, scope))


def apply_operator(
    reader: SourceReader,
    node: ast.AST,
    syntax: type[ast.AST],
    left: ReadValue,
    right: ReadValue,
    scope: Scope,
) -> Reading:
    """Read the result of an operator: an object's own, a step, or a plain value for plain operands."""
    method = METHOD_BY_SYNTAX[syntax]
    left, right = (reader.take_unless_none(node, x, TypeError) for x in (left, right))
    left, right = ({*x} if isinstance(x, KeysValue) else x for x in (left, right))
    for instance, other, name in ((left, right, f"__{method}__"), (right, left, f"__r{method}__")):
        if isinstance(instance, InstanceValue) and (own := instance.of.find(name)) is not MISSING:
            found = yield reader.call(node, own, [instance, other], {}, scope)
            if found != NOT_IMPLEMENTED:
                return found
    if any(isinstance(x, CONTAINERS) for x in (left, right)):
        found = compute_of_containers(reader, node, syntax, left, right)
        if found is not MISSING:
            return found
    arguments = [reader.as_argument(node, x) for x in (left, right)]
    check_division(reader, node, syntax, left, right)
    return reader.builder.add_operator(reader.excerpt_of(node), OPERATOR_BY_SYNTAX[syntax], arguments)


def is_python_number(reader: SourceReader, value: ReadValue) -> bool:
    return isinstance(value, (bool, int, float, complex, Ref)) and reader.builder.is_scalar(value)


def check_division(
    reader: SourceReader, node: ast.AST, syntax: type[ast.AST], left: ReadValue, right: ReadValue
) -> None:
    """Raise the error of Python for a division of numbers by zero, and for a negative shift."""
    divisor = reader.known(right)
    whole = [reader.known(x) for x in (left, right)]
    if all(isinstance(x, int) for x in whole) and whole[1] < 0:
        if syntax in (ast.LShift, ast.RShift):
            raise reader.raised(node, ValueError("negative shift count"))
        if syntax is ast.Pow and not whole[0]:
            raise reader.raised(node, ZeroDivisionError("0.0 cannot be raised to a negative power"))
    if syntax not in (ast.Div, ast.FloorDiv, ast.Mod) or not is_python_number(reader, left):
        return
    if isinstance(divisor, Ref) and is_python_number(reader, divisor):
        reader.leave_out_error(node, ZeroDivisionError)
    elif isinstance(divisor, (bool, int, float, complex)) and not divisor:
        raise reader.raised(node, ZeroDivisionError("division by zero"))


def compute_of_containers(
    reader: SourceReader, node: ast.AST, syntax: type[ast.AST], left: Any, right: Any
) -> Any:
    """Return the result of an operator of texts, lists, dictionaries or sets, or MISSING for arrays."""
    a, b = left, right
    if syntax is ast.Mod and isinstance(a, str):
        if not is_plain_text(reader, reader.known(b)):
            return UnknownValue(reader.error(node, UNKNOWN_TEXT_MESSAGE))
        b = reader.known(b)
        check_format(reader, node, a, b)
    elif syntax is ast.Mult:
        a, b = (x if isinstance(x, CONTAINERS) else reader.known(x) for x in (a, b))
        many: Any = a if isinstance(a, CONTAINERS) else b
        times: Any = b if isinstance(a, CONTAINERS) else a
        if isinstance(many, SEQUENCES) and isinstance(times, Ref) and reader.builder.is_scalar(times):
            raise reader.error(node, "it repeats items a number of times that the values of arrays decide")
        if not isinstance(many, SEQUENCES) or type(times) not in (int, bool):
            return MISSING
        reader.check_length(node, len(many) * max(times, 0))
    elif not are_joined(a, b, syntax):
        return MISSING
    elif syntax is ast.Add:
        reader.check_length(node, len(a) + len(b))
    lengths = [reader.branches.find_unknown_length(x) for x in (a, b)]
    if any(lengths) and are_joined(a, b, syntax):
        return merge_uncertain(reader, node, syntax, a, b)
    for each in (a, b):
        reader.check_items(each)
    try:
        return PYTHON_OPERATOR_BY_SYNTAX[syntax](a, b)
    except (TypeError, ValueError) as e:
        raise reader.raised(node, e) from None


def merge_uncertain(
    reader: SourceReader, node: ast.AST, syntax: type[ast.AST], a: Any, b: Any
) -> Any:
    """Return what an operator of two containers gives: nobody knows how many items of the two."""
    made: Any = {} if isinstance(a, dict) else set()
    if isinstance(a, (list, tuple)):
        return join_samples(reader, [a, b], type(a))
    if isinstance(a, dict):
        add_items(reader, node, made, a)
        add_items(reader, node, made, b)
    else:
        merge_sets(reader, node, made, a, b)
        if syntax is not ast.BitOr:
            remove_key(reader, node, made)
    return made


def join_samples(
    reader: SourceReader, parts: Sequence[Sequence[ReadValue]], to: type = list
) -> Any:
    """Return the list of the items of several, some of which are of unknown length, in their order."""
    found = to([each for part in parts for each in part])
    reader.branches.set_unknown_length(found, reader.branches.join_lengths(parts))
    return found


def are_joined(a: Any, b: Any, syntax: type[ast.AST]) -> bool:
    """Return True for two sequences that are added, and for other operators of dictionaries and sets."""
    joined = SEQUENCES if syntax is ast.Add else (dict, set)
    return type(a) is type(b) and isinstance(a, joined) and syntax in PYTHON_OPERATOR_BY_SYNTAX


def read_unary(reader: SourceReader, node: ast.UnaryOp, scope: Scope) -> Reading:
    """Read an operation of one operand."""
    given = yield reader.read_expression(node.operand, scope)
    if isinstance(node.op, ast.Not):
        truth = yield reader.read_truth(node, given, "join with & or |, negate with ~")
        return reader.add_unknown_bool(node, [given]) if truth is None else not truth
    if isinstance(given, InstanceValue):
        own = given.of.find(f"__{METHOD_BY_SYNTAX[type(node.op)]}__")
        if own is not MISSING:
            return (yield reader.call(node, own, [given], {}, scope))
    return reader.builder.add_operator(
        reader.excerpt_of(node), OPERATOR_BY_SYNTAX[type(node.op)], [reader.as_argument(node, given)]
    )


def read_boolean(reader: SourceReader, node: ast.BoolOp, scope: Scope) -> Reading:
    """Read `a and b` or `a or b`: as in Python, the first value that decides, or else the last."""
    return (yield read_operands(reader, node, node.values, scope))


def read_operands(
    reader: SourceReader, node: ast.BoolOp, values: Sequence[ast.expr], scope: Scope
) -> Reading:
    """Read the operands of `and` or `or` from one on, each only if those before it do not decide."""
    first, *rest = values
    value = yield reader.read_expression(first, scope)
    if not rest:
        return value
    is_or = isinstance(node.op, ast.Or)
    truth = yield reader.read_truth(node, value, "join with & or |")
    if truth is is_or:
        return value
    reading = read_operands(reader, node, rest, scope)
    if truth is not None:
        return (yield reading)
    return (yield read_possible(reader, node, value, reading, is_or))


def read_possible(
    reader: SourceReader, node: ast.expr, value: ReadValue, reading: Reading, ends: bool
) -> Reading:
    """Read operands that Python reads or not, as the values of arrays decide.

    `ends` is the truth of `value` with which Python reads no more. If the truth of the operands is known, so
    may be that of the whole. If they raise an error, the whole is `value`, or the error.
    """

    def read_last() -> Reading:
        last = yield reading
        try:
            return Ending("return", (last, (yield reader.read_truth(node, last))))
        except SettingError:
            raise
        except ProgramError:
            return Ending("return", (last, None))

    branch = yield read_branch(reader, read_last())
    if branch.ending.error is not None:
        reader.leave_out_error(node, branch.ending.error, branch.contents)
        return value
    other, truth = branch.ending.value
    excerpt, why = reader.excerpt_of(node), reader.condition_text(node)
    sides: Sides = ({}, branch.contents)
    found = reader.branches.merge_values(excerpt, why, value, other, sides)
    reader.branches.merge(excerpt, why, *sides)
    if truth is not ends:
        truth = None
    if isinstance(found, Ref) and truth is not None:
        reader.known_truths[found.step] = truth
    if isinstance(found, UnknownValue) and not isinstance(other, UnknownValue):
        return UnknownValue(found.error, truth, found.one_of)
    return found


def read_conditional(reader: SourceReader, node: ast.IfExp, scope: Scope) -> Reading:
    """Read the branch that the test chooses, or both if the values of arrays decide."""
    test = yield reader.read_expression(node.test, scope)
    truth = yield reader.read_truth(node, test)
    if truth is not None:
        return (yield reader.read_expression(node.body if truth else node.orelse, scope))
    first = yield read_branch(reader, read_as_returned(reader, node.body, scope))
    second = yield read_branch(reader, read_as_returned(reader, node.orelse, scope))
    return merge_branches(reader, node.test, first, second).value
