"""Readers of expressions: each returns the value of one class of syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from types import EllipsisType
from typing import Any

from typelattice.core.engine.foreign_arrays import INDEX_FORMS
from typelattice.core.operands.notation import MAX_INT_BITS
from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.call_tables import NameSort, libraries_with_several_results, name_meaning
from typelattice.programs.calls.calls_to_steps import call_function
from typelattice.programs.calls.dtype_questions import UncertainAnswerError, is_same_dtype
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.steps import Argument, Call, DTypeOf, NamedDType, ProgramError, Ref, Slice
from typelattice.programs.readers.source.branches import Ending, Sides
from typelattice.programs.readers.source.dictionaries import (
    add_items,
    is_decided_by_values,
    join_choices,
    look_up_choices,
    make_dictionary,
    make_set,
    merge_sets,
    read_key,
    refuse_own_equality,
    remove_key,
    set_item,
    take_value_of_key,
)
from typelattice.programs.readers.source.python_values import (
    ANY_KEY,
    MISSING,
    BoundFunction,
    BoundMethod,
    ClassValue,
    DefinedFunction,
    DottedName,
    IndexUpdateRef,
    InstanceValue,
    IteratorValue,
    KeysValue,
    RaisedError,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading, YieldedValue
from typelattice.programs.readers.source.syntax_operators import (
    METHOD_BY_SYNTAX,
    OPERATOR_BY_SYNTAX,
    PYTHON_OPERATOR_BY_SYNTAX,
    PYTHON_TEST_BY_COMPARISON,
    REFLECTED_METHOD_BY_COMPARISON,
)
from typelattice.programs.readers.source.syntax_reader import (
    BRANCH_REMEDY,
    NEEDS_VALUES_MESSAGE,
    SettingError,
    SourceReader,
)
from typelattice.programs.readers.source.value_branches import merge_branches, read_as_returned, read_branch

STAR_MESSAGE = "arguments with a star, of which nobody knows how many there are; write them out"
UNKNOWN_TEXT_MESSAGE = "a text with the values of arrays in it; give the text"
MAX_FORMAT_CHARS = 8  # of the format of a value in a text
MAX_BITS_OF_TEXT = 10_000  # Python writes no whole number of more digits
MAX_FIELD_WIDTH = 10_000  # of all fields of a text together
CONTAINERS = (str, tuple, list, dict, set)
SEQUENCES = (str, tuple, list)
NOT_IMPLEMENTED = DottedName(("NotImplemented",))


def read_constant(reader: SourceReader, node: ast.Constant, scope: Scope) -> Reading:
    """Return the value of a constant. Raises ProgramError if it is a bytes object, or too large."""
    yield from ()
    match node.value:
        case int() as value if value.bit_length() > MAX_INT_BITS:
            raise reader.error(node, f"a number of more than {MAX_INT_BITS:,} bits; no dtype holds it")
        case int() | float() | complex() | str() | None | EllipsisType() as value:
            return value
    raise reader.error(node, "it is bytes, which no array is made of; give numbers")


# -- operators


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
            remove_key(reader, node, made, ANY_KEY)
    return made


def join_samples(
    reader: SourceReader, parts: Sequence[Sequence[ReadValue]], to: type = list
) -> Any:
    """Return the list of the items of several, some of which are of unknown length, in their order."""
    found = to([each for part in parts for each in part])
    unknown = [x for x in map(reader.branches.find_unknown_length, parts) if x is not None]
    if unknown:
        may_be_empty = sum(map(bool, parts)) == len(unknown) and all(x.may_be_empty for x in unknown)
        known = replace(unknown[0], container=found, may_be_empty=may_be_empty, is_several=False)
        reader.branches.unknown_lengths[id(found)] = known
    return found


def are_joined(a: Any, b: Any, syntax: type[ast.AST]) -> bool:
    """Return True for two sequences that are added, and for other operators of dictionaries and sets."""
    joined = SEQUENCES if syntax is ast.Add else (dict, set)
    return type(a) is type(b) and isinstance(a, joined) and syntax in PYTHON_OPERATOR_BY_SYNTAX


def check_format(reader: SourceReader, node: ast.AST, text: str, values: Any) -> None:
    """Raise ProgramError for a format that could make a text of any length, or that runs code of objects."""
    digits = "".join(x if x.isdigit() else " " for x in text).split()
    numbers = [x for x in (values if isinstance(values, tuple) else (values,)) if isinstance(x, int)]
    if sum(int(x[:9]) for x in digits) > MAX_FIELD_WIDTH or ("*" in text and any(x > 9999 for x in numbers)):
        raise reader.error(node, "a text with very wide fields; give the text")


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


# -- containers


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


def has_known_items(reader: SourceReader, value: ReadValue) -> bool:
    """Return True if it is known how many items a value has."""
    if isinstance(value, Ref):
        shape = () if reader.builder.is_scalar(value) else reader.shape_of(value)
        return bool(shape) and shape is not None and shape[0] is not None
    if isinstance(value, MultipleResults):
        return value.count is not None
    return isinstance(value, (*CONTAINERS, IteratorValue, InstanceValue))


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


# -- comprehensions


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


# -- targets of assignments


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
            return [value.take(i) for i in range(count)]
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


# -- parts


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
        return look_up_choices(reader, node, container, at)
    if isinstance(at, UnknownValue):
        raise at.error
    match container:
        case UnknownValue(error=error):
            raise error
        case MultipleResults() if isinstance(at, (int, Slice)):
            return take_results(reader, node, container, at)
        case AskedCall() if isinstance(at, int):
            return container.take(at)
        case BoundMethod(name="at"):
            return IndexUpdateRef(container.receiver, reader.as_argument(node, at))
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
    at, is_chosen = reader.known(key), False
    if isinstance(container, dict):
        at = read_key(reader, node.slice, key)
        is_chosen = is_decided_by_values(reader, container, at)
    elif isinstance(container, list):
        is_chosen = isinstance(at, Ref)
    found = yield take_elements(reader, node, container, key, scope)
    if is_chosen and isinstance(found, (list, dict, set)):
        join_choices(reader, node, container, at, found)
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


# -- functions, texts and names


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


def read_joined_text(reader: SourceReader, node: ast.JoinedStr, scope: Scope) -> Reading:
    """Read a text with values in it. It is unknown if one of them is."""
    found, unknown = "", None
    for part in node.values:
        if not isinstance(part, ast.FormattedValue):
            found += yield reader.read_expression(part, scope)
            continue
        try:
            value = reader.known((yield reader.read_expression(part.value, scope)))
            form = (yield reader.read_expression(part.format_spec, scope)) if part.format_spec else ""
        except RaisedError:
            raise
        except ProgramError as e:
            unknown = unknown or UnknownValue(e)
            continue
        text = yield convert_to_text(reader, node, value, part.conversion)
        if isinstance(text, UnknownValue) or isinstance(form, UnknownValue) or len(form) > MAX_FORMAT_CHARS:
            unknown = unknown or UnknownValue(reader.error(node, UNKNOWN_TEXT_MESSAGE))
            continue
        try:
            found += format(text, form)
        except (ValueError, TypeError) as e:
            raise reader.raised(node, e) from None
        reader.check_length(node, len(found))
    return unknown or found


def convert_to_text(reader: SourceReader, node: ast.AST, value: Any, conversion: int) -> Reading:
    """Return what Python formats for a value in a text: the value itself, or its text."""
    if isinstance(value, InstanceValue):
        own = next((x for x in map(value.of.find, ("__str__", "__repr__")) if x is not MISSING), None)
        is_text = own is not None and conversion != ord("r") and value.of.find("__format__") is MISSING
        if is_text:
            return (yield reader.call(node, own, [value], {}, Scope()))
    if not is_plain_text(reader, value):
        return UnknownValue(reader.error(node, UNKNOWN_TEXT_MESSAGE))
    if conversion in (ord("r"), ord("a")):
        return repr(value) if conversion == ord("r") else ascii(value)
    is_formatted = isinstance(value, (str, bool, int, float, complex)) and conversion != ord("s")
    return value if is_formatted else str(value)


def is_plain_text(reader: SourceReader, value: Any) -> bool:
    """Return True for a value whose text Python makes of known numbers and texts alone."""
    if isinstance(value, (tuple, list, set)):
        of = value if type(value) in (tuple, list, set) else (object(),)
        is_known = reader.branches.find_unknown_length(value) is None
        return is_known and all(is_plain_text(reader, x) for x in reader.count_items(of))
    if type(value) is dict and reader.branches.find_unknown_length(value) is None:
        return is_plain_text(reader, [*value]) and is_plain_text(reader, [*value.values()])
    return value is None or (isinstance(value, (str, bool, int, float, complex)) and not is_huge(value))


def is_huge(x: Any) -> bool:
    return isinstance(x, int) and x.bit_length() > MAX_BITS_OF_TEXT


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
