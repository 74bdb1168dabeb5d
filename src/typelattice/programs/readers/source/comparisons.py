"""Comparisons: of arrays, as steps, and of plain values, as Python compares them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import product
from typing import Any

from typelattice.programs.calls.dtype_questions import UncertainAnswerError, is_same_dtype
from typelattice.programs.calls.steps import Argument, DTypeOf, NamedDType, Ref
from typelattice.programs.readers.source.dictionaries import (
    refuse_own_equality,
)
from typelattice.programs.readers.source.operators import NOT_IMPLEMENTED, read_possible
from typelattice.programs.readers.source.python_values import (
    MISSING,
    BoundFunction,
    BoundMethod,
    ClassValue,
    DefinedFunction,
    DottedName,
    InstanceValue,
    IteratorValue,
    KeysValue,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_operators import (
    METHOD_BY_SYNTAX,
    OPERATOR_BY_SYNTAX,
    PYTHON_TEST_BY_COMPARISON,
    REFLECTED_METHOD_BY_COMPARISON,
)
from typelattice.programs.readers.source.syntax_reader import (
    BRANCH_REMEDY,
    NEEDS_VALUES_MESSAGE,
    SourceReader,
)
from typelattice.programs.readers.source.texts import CONTAINERS


def read_comparison(reader: SourceReader, node: ast.Compare, scope: Scope) -> Reading:
    """Read a comparison. In a chain `a < x < b` Python compares x with b only if `a < x` is true."""
    left = yield reader.read_expression(node.left, scope)
    return (yield read_chain(reader, node, left, [*zip(node.ops, node.comparators, strict=True)], scope))


def read_chain(
    reader: SourceReader, node: ast.Compare, left: ReadValue, pairs: Sequence[tuple[ast.cmpop, ast.expr]],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read the comparisons of a chain from one on."""
    (op, part), *rest = pairs
    right = yield reader.read_expression(part, scope)
    found = yield compare_choices(reader, node, op, left, right, scope)
    if not rest:
        return found
    truth = yield reader.read_truth(node, found, "compare two, and join with &: (a < x) & (x < b)")
    if truth is False:
        return found
    reading = read_chain(reader, node, right, rest, scope)
    return (yield reading) if truth else (yield read_possible(reader, node, found, reading, False))


def compare_choices(
    reader: SourceReader, node: ast.AST, op: ast.cmpop, left: ReadValue, right: ReadValue, scope: Scope
) -> Reading:
    """Read the result of a comparison. It is unknown if operands may be several values and it differs."""
    answers: list[Any] = []
    for a, b in product(_list_choices(left, op), _list_choices(right, op)):
        try:
            answers.append((yield apply_comparison(reader, node, op, a, b, scope)))
        except UncertainAnswerError as e:
            answers += e.answers
    if len(answers) == 1:
        return answers[0]
    error = reader.error(node, f"it {NEEDS_VALUES_MESSAGE}; {BRANCH_REMEDY}")
    if not all(isinstance(x, bool) for x in answers):
        raise error
    return answers[0] if len({*answers}) == 1 else UnknownValue(error, None, (True, False))


def _list_choices(x: ReadValue, op: ast.cmpop) -> Sequence[ReadValue]:
    """List the values that an unknown value may be, or the value alone. Of arrays only `is` is known."""
    if not isinstance(x, UnknownValue) or not x.one_of:
        return [x]
    is_plain = all(each is None or isinstance(each, (str, int, float)) for each in x.one_of)
    return x.one_of if is_plain or isinstance(op, (ast.Is, ast.IsNot)) else [x]


def apply_comparison(
    reader: SourceReader, node: ast.AST, comparison: ast.cmpop, a: ReadValue, b: ReadValue, scope: Scope
) -> Reading:
    """Read the result of a comparison: a step, or a bool for plain operands."""
    syntax = type(comparison)
    a, b = ({*x} if isinstance(x, KeysValue) else x for x in (a, b))
    reader.refuse_unbound_names(a, b)
    if syntax in (ast.Is, ast.IsNot):
        return compare_identities(reader, node, a, b) is (syntax is ast.Is)
    if syntax in (ast.In, ast.NotIn):
        found = yield is_member(reader, node, a, b, scope)
        return found if isinstance(found, Ref) else found is (syntax is ast.In)
    own = yield compare_objects(reader, node, syntax, a, b, scope)
    if own is not MISSING:
        return own
    if any(isinstance(x, CONTAINERS) and reader.is_uncertain(x) for x in (a, b)):
        return reader.add_unknown_bool(node, [a, b])
    left, right = reader.known(a), reader.known(b)
    dtypes = [isinstance(x, (DTypeOf, NamedDType)) for x in (left, right)]
    if any(dtypes):
        if syntax not in (ast.Eq, ast.NotEq):
            raise reader.error(node, "dtypes have no order; ask for the kind with isdtype")
        return compare_dtypes(reader, node, left, right) is (syntax is ast.Eq)
    if _is_comparable(left) and _is_comparable(right) and not all(map(_is_number, (left, right))):
        if reader.has_array(left) or reader.has_array(right):
            lists = [x for x in (left, right) if isinstance(x, (tuple, list, dict))]
            if len(lists) == 2:
                raise reader.error(node, f"it {NEEDS_VALUES_MESSAGE}; {BRANCH_REMEDY}")
        else:
            return compare_plain_values(reader, node, syntax, left, right)
    arguments = [reader.as_argument(node, x) for x in (a, b)]
    if syntax in (ast.Eq, ast.NotEq) and any(x is None or isinstance(x, str) for x in (left, right)):
        return syntax is ast.NotEq
    return reader.builder.add_operator(reader.excerpt_of(node), OPERATOR_BY_SYNTAX[syntax], arguments)


def _is_number(x: ReadValue) -> bool:
    return isinstance(x, (bool, int, float, complex))


def _is_comparable(x: ReadValue) -> bool:
    """Return True for a value that Python compares by itself."""
    plain = isinstance(x, (bool, int, float, complex, *CONTAINERS)) or x is None
    return plain or isinstance(
        x, (InstanceValue, ClassValue, DefinedFunction, DottedName, BoundFunction, type)
    )


def compare_identities(reader: SourceReader, node: ast.AST, a: ReadValue, b: ReadValue) -> bool:
    """Return True if two values are one: the same None, object, function, list or dtype."""
    left: Any = a if isinstance(a, list) else reader.known(a)
    right: Any = b if isinstance(b, list) else reader.known(b)
    for x in (left, right):
        if isinstance(x, UnknownValue):
            raise x.error
    if any(isinstance(x, (DTypeOf, NamedDType)) for x in (left, right)) and None not in (left, right):
        return compare_dtypes(reader, node, left, right)
    for x, other in ((left, right), (right, left)):
        if isinstance(x, Ref) and reader.builder.is_scalar(x) and _is_number(other):
            raise reader.error(node, f"it {NEEDS_VALUES_MESSAGE}; {BRANCH_REMEDY}")
    if isinstance(left, (str, int, float, complex, tuple, DottedName, BoundMethod)):
        return bool(left == right) and type(left) is type(right)
    return left is right or (isinstance(left, Ref) and left == right)


def compare_dtypes(reader: SourceReader, node: ast.AST, left: Argument, right: Argument) -> bool:
    """Return True if two dtypes are equal. A dtype may be given as a text."""
    if left is None or right is None:
        return left is right
    if any(isinstance(x, (int, float, complex)) for x in (left, right)):
        return False
    return is_same_dtype(reader.builder, reader.excerpt_of(node), *(_as_dtype(x) for x in (left, right)))


def _as_dtype(x: Any) -> Argument:
    if isinstance(x, DottedName):
        return NamedDType(x.path[-1])
    return NamedDType(x) if isinstance(x, str) else x


def is_member(reader: SourceReader, node: ast.AST, item: ReadValue, many: ReadValue, scope: Scope) -> Reading:
    """Read whether a value is in a container."""
    if isinstance(many, UnknownValue):
        raise many.error
    if isinstance(many, InstanceValue) and (own := many.of.find("__contains__")) is not MISSING:
        found = yield reader.call(node, own, [many, item], {}, scope)
        return (yield reader.read_known_truth(node, found))
    known = reader.known(item)
    if isinstance(many, IteratorValue):
        many = yield reader.read_items(node, many)
    if isinstance(known, (DTypeOf, NamedDType)) and isinstance(many, (tuple, list, set)):
        reader.check_items(many)
        return any(compare_dtypes(reader, node, known, each) for each in many if not isinstance(each, bool))
    if not isinstance(many, CONTAINERS):
        reader.as_argument(node, many)
        raise reader.error(node, f"it {NEEDS_VALUES_MESSAGE}; {BRANCH_REMEDY}")
    is_uncertain = any(isinstance(x, CONTAINERS) and reader.is_uncertain(x) for x in (item, many))
    if is_uncertain or reader.has_array(known) or (not isinstance(many, dict) and reader.has_array(many)):
        return reader.add_unknown_bool(node, [item])
    known_items = many if isinstance(many, (dict, set, str)) else reader.known(many)
    return compare_plain_values(reader, node, ast.In, known, known_items)


def compare_objects(
    reader: SourceReader, node: ast.AST, syntax: type[ast.AST], a: ReadValue, b: ReadValue, scope: Scope
) -> Reading:
    """Read a comparison that an object's class defines, or MISSING."""
    methods = (METHOD_BY_SYNTAX[syntax], REFLECTED_METHOD_BY_COMPARISON[syntax])
    for instance, other, method in ((a, b, methods[0]), (b, a, methods[1])):
        if isinstance(instance, InstanceValue):
            own = instance.of.find(f"__{method}__")
            if own is not MISSING:
                found = yield reader.call(node, own, [instance, other], {}, scope)
                if found != NOT_IMPLEMENTED:
                    return found
    if syntax is ast.NotEq and isinstance(a, InstanceValue) and a.of.find("__eq__") is not MISSING:
        equal = yield apply_comparison(reader, node, ast.Eq(), a, b, scope)
        return not (yield reader.read_known_truth(node, equal))
    if syntax not in (ast.Eq, ast.NotEq) or not isinstance(a, InstanceValue):
        return MISSING
    if isinstance(b, InstanceValue) and a.of is b.of and a.of.fields is not None:
        pairs = [(a.attributes[name], b.attributes[name]) for name in a.of.fields]
        if not any(reader.has_array(x) for pair in pairs for x in pair):
            return all(reader.known(x) == reader.known(y) for x, y in pairs) is (syntax is ast.Eq)
    return MISSING


def compare_plain_values(
    reader: SourceReader, node: ast.AST, syntax: type[ast.AST], left: Any, right: Any
) -> bool:
    """Compare known values, as Python does."""
    if syntax not in (ast.Is, ast.IsNot):
        refuse_own_equality(reader, node, left)
        refuse_own_equality(reader, node, right)
    try:
        return bool(PYTHON_TEST_BY_COMPARISON[syntax](left, right))
    except TypeError as e:
        raise reader.raised(node, e) from None
