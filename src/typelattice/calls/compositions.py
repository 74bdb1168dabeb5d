"""Functions described as calls of other functions: the rows of compositions.txt, turned into steps.

The arguments of a call choose a row. `np.bincount(i)` is an operation, and `np.bincount(i, weights=x)` a
composition, since its row requires `weights`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from typelattice.calls.attributes import read_attribute
from typelattice.calls.call_tables import ParameterRow, Signature, TableError, check_library, read_rows
from typelattice.calls.function_call import FunctionCall
from typelattice.calls.multiple_results import INNER_CALL_STANDS_FOR, STANDS_FOR_KEYWORD, MultipleResults
from typelattice.calls.program_builder import ProgramBuilder
from typelattice.calls.program_inputs import read_input
from typelattice.calls.steps import Argument, Excerpt, NamedDType, Ref, yield_leaves
from typelattice.facts.dtypes import DTYPES, Kind
from typelattice.operands.operand import KIND_BY_PYTHON_TYPE, scalar_operand

COMPOSITIONS_FILE = "compositions.txt"
INNER_FUNCTION_PREFIX = "_"  # functions whose name begins with this occur only in these tables
CallAdder = Callable[[FunctionCall], "Argument | MultipleResults"]


@dataclass(frozen=True, slots=True)
class Composition:
    """A function, and an expression for each of its results.

    `is_exact`: the results also have the values of the function. `keeps_shape`, for each result: the
    expression has the shape of the result.
    """

    name: str
    signature: Signature
    results: tuple[ast.expr, ...]
    fields: tuple[str, ...] = ()
    is_exact: bool = False
    keeps_shape: tuple[bool, ...] = ()

    def bind_arguments(
        self,
        args: Sequence[Argument],
        keywords: Mapping[str, Argument],
        is_number: Callable[[Argument], bool],
    ) -> Mapping[str, Argument] | None:
        """Return the arguments of a call by parameter, or None if they do not match this row.

        `is_number` tells Python numbers, also by the steps that give them.
        """
        found = self.signature.match_arguments(args, keywords)
        if found is None:
            return None
        for parameter in self.signature.parameters:
            value = found.get(parameter.name)
            is_array = isinstance(value, Ref) and not is_number(value)
            if parameter.must_be_array and not is_array:
                return None
            if parameter.must_be_array_or_list and not (is_array or isinstance(value, tuple)):
                return None
            if parameter.allowed_values and not {*map(str, yield_leaves(value))} <= {
                *parameter.allowed_values
            }:
                return None
            if parameter.role == "ignored" or (value is not None and value is not False):
                continue
            if parameter.default is None:
                return None
            found[parameter.name] = ast.literal_eval(parameter.default)
        return found


def is_composition(name: str, library: str | None) -> bool:
    """Return True if some call of a library's function is a composition.

    >>> is_composition("bincount", "numpy"), is_composition("sqrt", "numpy")
    (True, False)
    """
    return bool(_find_rows(name, library))


def find_composition(
    name: str,
    library: str | None,
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
    is_number: Callable[[Argument], bool],
) -> tuple[Composition, Mapping[str, Argument]] | None:
    """Find the first row with exactly the parameters of a call, and the arguments by parameter, or None."""
    for row in _find_rows(name, library):
        bound = row.bind_arguments(args, keywords, is_number)
        if bound is not None:
            return row, bound
    return None


def add_composition(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    row: Composition,
    arguments: Mapping[str, Argument],
    add_call: CallAdder,
    add_ordinary_call: CallAdder,
) -> Argument | MultipleResults:
    """Add the steps of a composition. `add_call` adds the steps of each function in it. Raises ProgramError.

    `add_ordinary_call` adds the steps of the function with the name of the composition. It is an ordinary
    function there.
    """

    def value(node: ast.expr) -> Argument:
        made = whole(node)
        return made[0] if isinstance(made, MultipleResults) else made

    keeps_shape = False

    def mark_inexact(node: ast.expr, made: Argument | MultipleResults) -> Argument | MultipleResults:
        if not row.is_exact and isinstance(made, Ref):
            name = row.name.rpartition(".")[2] if node in row.results else INNER_CALL_STANDS_FOR
            if name or not builder.find_keyword(made, STANDS_FOR_KEYWORD):
                builder.mark_same_dtype_as(
                    made, (STANDS_FOR_KEYWORD, name), builder.shape_of(made) if keeps_shape else None
                )
        return made

    def whole(node: ast.expr) -> Argument | MultipleResults:
        match node:
            case ast.Name(id=name) if name in arguments:
                return arguments[name]
            case ast.Name(id=name):
                return NamedDType(name)
            case ast.Attribute(value=of, attr=attribute):
                return read_attribute(builder, excerpt, attribute, builder.ensure_ref(excerpt, value(of)))
            case ast.Tuple(elts=items):
                return tuple(map(value, items))
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return mark_inexact(
                    node, builder.add_operator(excerpt, "divide", [value(left), value(right)])
                )
            case ast.Call(func=ast.Name(id="truth"), args=[of]):
                known = scalar_operand(Kind.BOOL)
                return builder.add_opaque(
                    excerpt, row.name, known, (builder.ensure_ref(excerpt, value(of)).step,), ()
                )
            case ast.Call(func=ast.Name(id="literal"), args=[of]):
                number = value(of)
                if not isinstance(number, (bool, int, float, complex)):
                    return number
                return builder.add_opaque(
                    excerpt, row.name, scalar_operand(KIND_BY_PYTHON_TYPE[type(number)], number), (), ()
                )
            case ast.Call(func=ast.Name(id="zero_d"), args=[of]):
                ref = builder.ensure_ref(excerpt, value(of))
                builder.mark_same_dtype_as(ref, (STANDS_FOR_KEYWORD, row.name), ())
                return ref
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                taken = [value(x) for x in args]
                while taken and taken[-1] is None:
                    taken.pop()
                named = {k.arg: value(k.value) for k in keywords if k.arg}
                inner = FunctionCall(builder, excerpt, name, taken, named)
                found = add_ordinary_call(inner) if name == row.name else add_call(inner)
                return mark_inexact(
                    node, found[0] if isinstance(found, MultipleResults) and keeps_shape else found
                )
        constant: Argument = ast.literal_eval(node)
        return constant

    def result(i: int) -> Argument | MultipleResults:
        nonlocal keeps_shape
        node, keeps_shape = row.results[i], row.keeps_shape[i]
        fixed = _dtype_text(node)
        if fixed:
            what, shape = read_input(fixed)
            of = [x.step for x in arguments.values() if isinstance(x, Ref)]
            return builder.add_opaque(excerpt, row.name, what, of, shape)
        return whole(node)

    if len(row.results) == 1:
        return result(0)

    def make_result(i: int) -> Ref:
        found = result(i)
        return builder.ensure_ref(excerpt, found[0] if isinstance(found, MultipleResults) else found)

    return MultipleResults(row.name, len(row.results), row.fields, make_result, {})


def _dtype_text(node: ast.expr) -> str:
    """Return the operand string of a fixed result, `int64`, or `int32:0d` for `zero_d(int32)`, or ""."""
    match node:
        case ast.Name(id=name) if name in DTYPES:
            return name
        case ast.Call(func=ast.Name(id="zero_d"), args=[ast.Name(id=name)]):
            return f"{name}:0d"
    return ""


def _find_rows(name: str, library: str | None) -> Sequence[Composition]:
    found = _read_compositions()
    return (*found.get((library or "*", name), ()), *(found.get(("*", name), ()) if library else ()))


@cache
def inner_functions_by_name(library: str) -> Mapping[str, frozenset[str]]:
    """Map the last name of each function of a library, in lower case, to the functions that make it up."""
    operations: dict[str, frozenset[str]] = {}
    for (row_library, name), rows in _read_compositions().items():
        if row_library not in (library, "*"):
            continue
        nodes = (node for row in rows for result in row.results for node in ast.walk(result))
        calls = (node.func for node in nodes if isinstance(node, ast.Call))
        last = name.rpartition(".")[2].lower()
        used = frozenset(f.id for f in calls if isinstance(f, ast.Name))
        operations[last] = operations.get(last, frozenset()) | used
    return operations


@cache
def _read_compositions() -> Mapping[tuple[str, str], tuple[Composition, ...]]:
    """Return all rows, by library and name. Raises TableError for one that cannot be read."""
    found: dict[tuple[str, str], tuple[Composition, ...]] = {}
    for number, words in read_rows(COMPOSITIONS_FILE, 3):
        row = _parse_row(words[1:], number)
        for library in words[0].split(","):
            check_library(library, COMPOSITIONS_FILE, number, 1)
            found[library, row.name] = (*found.get((library, row.name), ()), row)
    return found


def _parse_row(words: Sequence[str], number: int) -> Composition:
    """Read the function and the results of a row. Raises TableError."""
    name, bracket, rest = words[0].partition("(")
    parts = [part for part in rest.removesuffix(")").split(",") if part]
    if not bracket or not rest.endswith(")"):
        raise TableError(
            f"{COMPOSITIONS_FILE}, row {number}, column 2: {words[0]!r} is no function; write name(x,y)"
        )
    parameters: list[ParameterRow] = []
    by_name = False
    for part in parts:
        by_name = by_name or part == "*"
        if part == "*":
            continue
        if part == "...":  # `...` in a row: further arguments affect no dtype
            parameters.append(ParameterRow(("",), "ignored", is_keyword_only=True))
            continue
        names, has_default, default = part.partition("=")
        names, *values = names.split(":")
        plain, is_array = tuple(names.rstrip("?![]").split("|")), names.endswith("!")
        optional = default if has_default else "None" if names.endswith("?") else None
        parameters.append(ParameterRow(
            plain, "operand", is_keyword_only=by_name, must_be_array=is_array,
            must_be_array_or_list=names.endswith("[]"), default=optional, allowed_values=tuple(values),
        ))  # fmt: skip
    results, fields, keeps = [], [], []
    for column, word in enumerate(words[1:], 3):
        field, _, expression = word.rpartition(":")
        fields.append(field)
        keeps.append(expression.startswith("~"))
        try:
            results.append(ast.parse(expression.removeprefix("=").removeprefix("~"), mode="eval").body)
        except SyntaxError:
            raise TableError(
                f"{COMPOSITIONS_FILE}, row {number}, column {column}: {word!r} is no expression"
            ) from None
    exact = all(word.startswith("=") for word in words[1:])
    return Composition(name, Signature(tuple(parameters)), tuple(results), tuple(fields), exact, tuple(keeps))

