"""Functions described as calls of other functions, or by a dtype rule: rows of books, turned into steps.

The arguments of a call choose a row. `np.bincount(i)` is an operation, and `np.bincount(i, weights=x)` a
composition, since its row requires `weights`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from typelattice.core.books.read_book import (
    PARAMETER_MARKS,
    SHARED_BOOK,
    BookRow,
    book_names,
    name_part,
    read_book,
    spoken_name,
    stated_rule,
)
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.engine.operation_rules import GROUP_BY_CLASS, class_of
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, scalar_operand
from typelattice.core.operations.operations import OPERATIONS, Operation
from typelattice.core.operations.shapes import Shape
from typelattice.core.system_files.reader import system
from typelattice.core.system_files.system_text import systems
from typelattice.programs.calls.attributes import read_attribute
from typelattice.programs.calls.call_tables import ParameterRow, Signature
from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.function_call import FunctionCall
from typelattice.programs.calls.multiple_results import (
    INNER_CALL_STANDS_FOR,
    STANDS_FOR_KEYWORD,
    MultipleResults,
)
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.program_inputs import read_input
from typelattice.programs.calls.steps import (
    Argument,
    Created,
    DTypeOf,
    Excerpt,
    NamedDType,
    Ref,
    yield_leaves,
)

SHAPE_BY_WORD: Mapping[str, Shape] = {"zero_d": (), "flat": (None,)}  # shapes that a row may state
CONVERSIONS = ("literal", "leaves", *SHAPE_BY_WORD, *PYTHON_TYPE_BY_NAME)  # words that convert one value
RANDOM_FUNCTIONS = ("rand", "randn")  # functions of expressions that make random arrays
MOVING_GROUP = "moving"  # the group of operations that change no element
CallAdder = Callable[[FunctionCall], "Argument | MultipleResults"]


@dataclass(frozen=True, slots=True)
class Composition:
    """A function, and an expression for each of its results.

    `is_exact`: the results also have the values of the function. `keeps_shape`, for each result: the
    expression has the shape of the result.
    """

    row: BookRow
    signature: Signature
    results: tuple[ast.expr, ...]
    fields: tuple[str, ...] = ()
    is_exact: bool = False
    keeps_shape: tuple[bool, ...] = ()
    object_signature: Signature | None = None

    def bind_arguments(
        self,
        args: Sequence[Argument],
        keywords: Mapping[str, Argument],
        is_number: Callable[[Argument], bool],
        signature: Signature | None = None,
    ) -> Mapping[str, Argument] | None:
        """Return the arguments of a call by parameter, or None if they do not match this row.

        `is_number` tells Python numbers, also by the steps that give them. `signature` is that of the call,
        if it is not the row's own.
        """
        signature = signature or self.signature
        found = signature.match_arguments(args, keywords)
        if found is None:
            return None
        for parameter in signature.parameters:
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
            is_left_out = value is None or (value is False and not parameter.allowed_values)
            if parameter.role == "ignored" or not is_left_out:
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


def find_object_call(
    call: FunctionCall, object_args: Sequence[Argument], object_keywords: Mapping[str, Argument]
) -> tuple[Composition, Mapping[str, Argument]] | None:
    """Find the row of a call of an object, such as a layer, and the arguments by parameter, or None.

    `call` has the arguments of the call, and the others are those that made the object.
    """
    is_number = call.builder.is_number_of_source
    for row in _find_rows(call.name, call.library):
        made = row.bind_arguments(object_args, object_keywords, is_number, row.object_signature)
        bound = row.bind_arguments(call.args, call.keywords, is_number)
        if made is not None and bound is not None:
            return row, {**made, **bound}
    return None


def add_composition(
    builder: ProgramBuilder,
    excerpt: Excerpt,
    composition: Composition,
    arguments: Mapping[str, Argument],
    add_call: CallAdder,
    add_ordinary_call: CallAdder,
) -> Argument | MultipleResults:
    """Add the steps of a composition. `add_call` adds the steps of each function in it. Raises ProgramError.

    `add_ordinary_call` adds the steps of the function with the name of the composition. It is an ordinary
    function there.
    """

    def result_builder(i: int) -> _ResultBuilder:
        return _ResultBuilder(builder, excerpt, composition, i, arguments, add_call, add_ordinary_call)

    if len(composition.results) == 1:
        return result_builder(0).build()

    def make_result(i: int) -> Ref:
        found = result_builder(i).build()
        return builder.ensure_ref(excerpt, found[0] if isinstance(found, MultipleResults) else found)

    count, name = len(composition.results), composition.row.function
    return MultipleResults(name, count, composition.fields, make_result, {})


@dataclass(frozen=True, slots=True)
class _ResultBuilder:
    """Builds the steps of one result of a composition: the result of this number."""

    builder: ProgramBuilder
    excerpt: Excerpt
    composition: Composition
    number: int
    arguments: Mapping[str, Argument]
    add_call: CallAdder
    add_ordinary_call: CallAdder

    @property
    def node(self) -> ast.expr:
        return self.composition.results[self.number]

    @property
    def keeps_shape(self) -> bool:
        return self.composition.keeps_shape[self.number]

    @property
    def name(self) -> str:
        """The name under which messages speak of the result, and systems know it."""
        return self.composition.row.part_name(self.number)

    def build(self) -> Argument | MultipleResults:
        fixed = _dtype_text(self.node)
        if not fixed and (self.keeps_shape or self.composition.is_exact):
            return self.add_node(self.node)
        if not fixed:
            with self.builder.without_shape_checks():
                return self.add_node(self.node)
        what, shape = read_input(fixed)
        of = [x.step for x in self.arguments.values() if isinstance(x, Ref)]
        decisive = next((i for i, each in enumerate(self.composition.results) if not _dtype_text(each)), None)
        if decisive is not None:  # a call that one of its results refuses gives none of them
            with self.builder.without_shape_checks():
                made = replace(self, number=decisive).find_value(self.composition.results[decisive])
            of = [self.builder.ensure_ref(self.excerpt, made).step]
        return self.builder.add_opaque(self.excerpt, self.composition.row.function, what, of, shape)

    def find_value(self, node: ast.expr) -> Argument:
        made = self.add_node(node)
        return made[0] if isinstance(made, MultipleResults) else made

    def add_node(self, node: ast.expr) -> Argument | MultipleResults:
        """Add the steps of a part of the expression."""
        builder, excerpt = self.builder, self.excerpt
        match node:
            case ast.Name(id=name) if name in self.arguments:
                return self.arguments[name]
            case ast.Name(id=name):
                return NamedDType(name)
            case ast.Attribute(value=of, attr=attribute):
                array = builder.ensure_ref(excerpt, self.find_value(of))
                if attribute == "dtype":
                    return DTypeOf(array.step)
                return read_attribute(builder, excerpt, attribute, array)
            case ast.Subscript(value=of, slice=ast.Constant(value=int(i))):
                items = self.find_value(of)
                if not isinstance(items, tuple) or not items:
                    raise excerpt.error(f"{self.name} takes a list of arrays; give them in one")
                return items[i]
            case ast.Tuple(elts=items):
                return tuple(map(self.find_value, items))
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                operands = [self.find_value(left), self.find_value(right)]
                return self.mark_inexact(node, builder.add_operator(excerpt, "divide", operands))
            case ast.Call(func=ast.Name(id=word), args=[of]) if word in CONVERSIONS:
                return self.convert_value(word, self.find_value(of))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                taken = [self.find_value(x) for x in args]
                while taken and taken[-1] is None:
                    taken.pop()
                rule = _find_class(self.composition.row.book, name)
                if rule is not None:
                    return self.add_call_of_class(rule, taken)
                named = {k.arg: self.find_value(k.value) for k in keywords if k.arg}
                inner = FunctionCall(builder, excerpt, name, taken, named)
                is_itself = name == self.composition.row.function
                found = self.add_ordinary_call(inner) if is_itself else self.add_call(inner)
                first = isinstance(found, MultipleResults) and self.keeps_shape
                return self.mark_inexact(node, found[0] if first else found)  # type: ignore[index]
        constant: Argument = ast.literal_eval(node)
        return constant

    def add_call_of_class(self, rule: Operation, operands: Sequence[Argument]) -> Ref:
        """Add the call of a function by its dtype rule, a class of functions in the file of its library.

        Other systems have no such class. There the call counts as the operation that the class is like. A
        class of a function that makes arrays adds no step: it says which dtypes may be requested.
        """
        if self.is_check_of_made_array(rule, operands):
            made = operands[0]
            assert isinstance(made, Ref)
            self.builder.mark_made_by(made, (STANDS_FOR_KEYWORD, name_part(self.name, rule.name)))
            return made
        made = self.builder.add_call(
            self.excerpt, OPERATIONS[rule.like], operands, has_known_shape=self.keeps_shape
        )
        row = self.composition.row
        is_result = rule.name == stated_rule(row.results[self.number])[0]
        name = spoken_name(row, self.number, rule.name) if is_result else name_part(self.name, rule.name)
        shape = self.builder.shape_of(made) if self.keeps_shape else None
        self.builder.mark_same_dtype_as(made, (STANDS_FOR_KEYWORD, name), shape)
        return made

    def is_check_of_made_array(self, rule: Operation, operands: Sequence[Argument]) -> bool:
        """Return True if a class is that of the array that the function makes, which has its own values."""
        if len(operands) != 1 or not isinstance(operands[0], Ref):
            return False
        step = self.builder.steps[operands[0].step]
        own = *RANDOM_FUNCTIONS, self.composition.row.last_name
        is_made = isinstance(step, Created) and step.name in own
        return is_made and GROUP_BY_CLASS[class_of(rule)] == MOVING_GROUP

    def convert_value(self, word: str, value: Argument) -> Argument:
        """Return a value as a Python bool or number, an array of one axis or none, or a flat list."""
        builder, excerpt, function = self.builder, self.excerpt, self.composition.row.function
        if word in SHAPE_BY_WORD:
            ref = builder.ensure_ref(excerpt, value)
            stands_for = str(builder.find_keyword(ref, STANDS_FOR_KEYWORD) or self.name)
            builder.mark_same_dtype_as(ref, (STANDS_FOR_KEYWORD, stands_for), SHAPE_BY_WORD[word])
            return ref
        if word == "leaves":
            return tuple(yield_leaves(value))
        if word in PYTHON_TYPE_BY_NAME:
            number = scalar_operand(KIND_BY_PYTHON_TYPE[PYTHON_TYPE_BY_NAME[word]])
            inputs = (value.step,) if isinstance(value, Ref) else ()
            return builder.add_opaque(excerpt, function, number, inputs, ())
        if not isinstance(value, (bool, int, float, complex)):
            return value
        number = scalar_operand(KIND_BY_PYTHON_TYPE[type(value)], value)
        return builder.add_opaque(excerpt, function, number, (), ())

    def mark_inexact(
        self, node: ast.expr, made: Argument | MultipleResults
    ) -> Argument | MultipleResults:
        """Mark a call that has the dtype, and not the values, of the function."""
        if not self.composition.is_exact and isinstance(made, Ref):
            name = self.name if node is self.node else INNER_CALL_STANDS_FOR
            if not self.builder.find_keyword(made, STANDS_FOR_KEYWORD):  # another row has named it
                shape = self.builder.shape_of(made) if self.keeps_shape else None
                self.builder.mark_same_dtype_as(made, (STANDS_FOR_KEYWORD, name), shape)
        return made


@cache
def _find_class(book: str, name: str) -> Operation | None:
    """Return the class of functions of a name in the file of a book's library, or None if it has none."""
    if book not in systems():
        return None
    rules = system(book)
    return rules.custom_operations[name] if name in rules.ops and name in rules.custom_operations else None


def _dtype_text(node: ast.expr) -> str:
    """Return the operand string of a fixed result, `int64`, or `int32:0d` for `zero_d(int32)`, or "".

    `weak(int32)` is a weak array, `int32:weak`.
    """
    match node:
        case ast.Name(id=name) if name in DTYPES:
            return name
        case ast.Call(func=ast.Name(id="zero_d"), args=[ast.Name(id=name)]):
            return f"{name}:0d"
        case ast.Call(func=ast.Name(id="weak"), args=[ast.Name(id=name)]):
            return f"{name}:weak"
    return ""


def _find_rows(name: str, library: str | None) -> Sequence[Composition]:
    found = read_compositions()
    own = found.get((library or SHARED_BOOK, name), ())
    return (*own, *(found.get((SHARED_BOOK, name), ()) if library else ()))


@cache
def inner_functions_by_name(library: str) -> Mapping[str, frozenset[str]]:
    """Map the last name of each function of a library, in lower case, to the functions that make it up.

    A row that asks for the value of an argument is not counted: a library may have a function of this name
    without the argument, such as Dask's `svd`, which has no `compute_uv`.
    """
    operations: dict[str, frozenset[str]] = {}
    for (book, _), rows in read_compositions().items():
        rows = tuple(r for r in rows if not any(p.allowed_values for p in r.signature.parameters))
        if not rows or book not in (library, SHARED_BOOK):
            continue
        nodes = (node for row in rows for result in row.results for node in ast.walk(result))
        calls = (node.func for node in nodes if isinstance(node, ast.Call))
        last = rows[0].row.last_name.lower()
        used = frozenset(f.id for f in calls if isinstance(f, ast.Name))
        operations[last] = operations.get(last, frozenset()) | used
    return operations


@cache
def read_compositions() -> Mapping[tuple[str, str], tuple[Composition, ...]]:
    """Return the rows of all books, by book and function. Raises BookError for one that cannot be read."""
    found: dict[tuple[str, str], tuple[Composition, ...]] = {}
    for book in book_names():
        for row in read_book(book):
            key = book, row.key
            found[key] = (*found.get(key, ()), _read_composition(row))
    return found


def _read_composition(row: BookRow) -> Composition:
    """Read the parameters and the results of a row. Raises BookError."""
    signature = _read_signature(row, row.parameters)
    made = None if row.object_parameters is None else _read_signature(row, row.object_parameters)
    results, fields, keeps = [], [], []
    for column, word in enumerate(row.results, 2):
        field, _, expression = word.rpartition(":")
        fields.append(field)
        keeps.append(expression.startswith("~"))
        try:
            results.append(ast.parse(expression.removeprefix("=").removeprefix("~"), mode="eval").body)
        except SyntaxError:
            raise row.error(column, f"{word!r} is no expression; write one such as exp(x)") from None
    exact = all(word.startswith("=") for word in row.results)
    return Composition(row, signature, tuple(results), tuple(fields), exact, tuple(keeps), made)


def _read_signature(row: BookRow, parts: Sequence[str]) -> Signature:
    """Read the parameters of a function, or of the calls of its object. Raises BookError."""
    parameters: list[ParameterRow] = []
    by_name = False
    for part in parts:
        by_name = by_name or part == "*"
        if part == "*":
            continue
        if part == "...":  # `...` in a row: further arguments affect no dtype
            parameters.append(ParameterRow(("",), "ignored", is_keyword_only=True))
            continue
        parameters.append(_parse_parameter(row, part, by_name))
    return Signature(tuple(parameters))


def _parse_parameter(row: BookRow, part: str, by_name: bool) -> ParameterRow:
    """Read a parameter such as `axis|dim=-1`, `src!` or `q[]`. Raises BookError."""
    names, has_default, default = part.partition("=")
    names, *values = names.split(":")
    plain, is_array = tuple(names.rstrip(PARAMETER_MARKS).split("|")), names.endswith("!")
    if not all(name.isidentifier() for name in plain):
        raise row.error(1, f"{part!r} is no parameter; write a name such as x, axis|dim or size=()")
    optional = default if has_default else "None" if names.endswith("?") else None
    return ParameterRow(
        plain, "operand", is_keyword_only=by_name, must_be_array=is_array,
        must_be_array_or_list=names.endswith("[]"), is_variadic=names.endswith("+"), default=optional,
        allowed_values=tuple(values),
    )  # fmt: skip
