"""Python source as steps: a reader of expressions, calls, loops and lines. It parses and never evaluates."""

from __future__ import annotations

import ast
import operator
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any

from typelattice.calls.attributes import READABLE_ATTRIBUTES, read_attribute
from typelattice.calls.call_tables import (
    NameSort,
    attribute_dtype,
    find_constant,
    libraries_with_several_results,
    module_with_rules,
    name_meaning,
    name_meanings,
)
from typelattice.calls.calls_to_steps import call_function
from typelattice.calls.compositions import is_composition
from typelattice.calls.creation_and_cast_handlers import CREATION_HANDLERS, PYTHON_TYPE_BY_NAME, add_cast_to
from typelattice.calls.methods import METHOD_HANDLERS, call_method, is_in_place
from typelattice.calls.multiple_results import MultipleResults
from typelattice.calls.program_builder import ProgramBuilder
from typelattice.calls.program_inputs import names_dtype
from typelattice.calls.steps import (
    FUNCTION_OF_IN_PLACE,
    MAX_STEP_CHARS,
    SAME_KIND_KEYWORD_AND_VALUE,
    Argument,
    Call,
    DTypeOf,
    Excerpt,
    NamedDType,
    ProgramError,
    Ref,
    Slice,
    SourceLocation,
)
from typelattice.calls.ufunc_methods import call_ufunc_method, changes_array, is_ufunc_method
from typelattice.engine.foreign_arrays import INDEX_FORMS
from typelattice.facts.operations import OPERATIONS, find_operation
from typelattice.operands.notation import MAX_INT_BITS
from typelattice.programs.source.builtins_and_math import (
    PYTHON_BUILTIN_BY_NAME,
    USE_ARRAY_FUNCTION,
    call_builtin,
    call_math,
)
from typelattice.programs.source.dictionary_literals import look_up, read_dictionary_attribute, read_key
from typelattice.programs.source.dtype_questions import (
    KINDS_BY_SCALAR_CLASS,
    QUESTION_FUNCTIONS,
    SYSTEM_DEPENDENT_DTYPE_MESSAGE,
    DTypeLimits,
    answer_question,
    is_dtype_question,
    is_same_dtype,
    read_dtype_attribute,
    read_limit,
)
from typelattice.programs.source.name_meanings import (
    BRANCH_REMEDY,
    MAX_RANGE_LENGTH,
    NEEDS_VALUES_MESSAGE,
    BoundMethod,
    DefinedFunction,
    DottedName,
    IndexUpdateRef,
    Reading,
    ReadValue,
    Scope,
    list_defaults,
)
from typelattice.support.error_texts import clip_text, quote_short, spelling_hint


def _find_syntax(sign: str) -> type[ast.AST] | None:
    """Return the syntax class of an operator: `Add` for `+`, `USub` for `-x`. Return None for `+=`."""
    for text in (sign, f"x {sign} x", f"{sign} x"):
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError:
            continue
        match tree:
            case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.Compare(ops=[op]):
                return type(op)
    return None


OPERATOR_BY_SYNTAX: dict[type[ast.AST], str] = {
    syntax: op.name for op in OPERATIONS.values() if op.operator and (syntax := _find_syntax(op.operator))
}
PYTHON_TEST_BY_COMPARISON: Mapping[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


MAX_LOOP_PASSES = 1_000_000  # more passes, counted over all loops of a source, are refused


REFUSAL_BY_EXPRESSION: Mapping[type[ast.AST], str] = {
    ast.SetComp: "a set made in a loop; use functions of whole arrays",
    ast.Set: "a set; write a list",
    ast.Starred: "arguments with a star, of which nobody knows how many there are; write them out",
    ast.Await: "await; call the function without it",
    ast.Yield: "yield; return the result",
    ast.NamedExpr: "a name given within an expression; give it on a line before",
}
SLICE_APPLYING_FUNCTION = "apply_along_axis"  # applies a function to the slices of an array
# Functions that return the namespace of an array.
NAMESPACE_FUNCTIONS = (
    "__array_namespace__",
    "array_namespace",
    "get_namespace",
)


MAX_CALL_DEPTH = 200  # a deeper nesting of calls is refused
NOTHING_RETURNED: Any = object()  # the result of a block of lines that returns nothing
NAMELESS_TARGET_MESSAGE = "elements of what has no name; give it one first"
REFUSAL_BY_TARGET: Mapping[type[ast.expr], str] = {
    ast.Subscript: "elements of elements; give all indices at once: x[i, j] = y",
    ast.Attribute: "elements of an attribute; write into the array itself",
}
REFUSAL_BY_STATEMENT: Mapping[type[ast.stmt], str] = {
    ast.While: f"a loop that {NEEDS_VALUES_MESSAGE}; write the passes out",
    ast.Try: "what depends on errors; write the lines without try",
    ast.ClassDef: "a class; write functions",
    ast.Raise: "an error that is raised whatever the arrays are; give other values",
    ast.Global: "a name of a module; give it as an argument",
    ast.Nonlocal: "a name of another function; give it as an argument",
    ast.Delete: "a name that goes; leave it",
    ast.Match: f"a choice that {NEEDS_VALUES_MESSAGE}; {BRANCH_REMEDY}",
    ast.AsyncFunctionDef: "a function to be awaited; define it without async",
}


class SourceReader:
    """A reader of Python source. It adds the operations to a ProgramBuilder as steps.

    It keeps the lines of the source and the names that are bound to operands.
    """

    pass_count = 0
    library: str | None = None  # the library that the source names: the inputs are its arrays

    def __init__(self, builder: ProgramBuilder, text: str, file: str, bound: Mapping[str, object]) -> None:
        self.builder = builder
        self.used_names: set[str] = set()  # names that were looked up
        self.shared: dict[str, set[str]] = {}  # a name and the other names of the same array: `y = x`
        self.text, self.file, self.bound = text, file, bound
        self.lines = [line.encode("utf-8", "surrogatepass") for line in text.split("\n")]
        self.has_several_lines = len(self.lines) > 1 or file != ""
        self.calls = 0

    # -- names

    def resolve_name(self, node: ast.AST, name: str, scope: Scope) -> ReadValue:
        """Return the value that a name is bound to. An unbound name is a dtype, or the name itself."""
        if name in scope:
            self.used_names.add(name)
            found: ReadValue = scope[name]
            return found
        return (
            NamedDType(name)
            if name in PYTHON_TYPE_BY_NAME
            else attribute_dtype(name, None) or DottedName((name,))
        )

    def attribute_of_value(self, node: ast.Attribute, value: ReadValue, name: str) -> ReadValue:
        """Return the value of an attribute: of an array, a dtype, a library and others."""
        match value:
            case DottedName():
                return self.attribute_of_name(node, value, name)
            case DTypeLimits():
                return read_limit(self.builder, self.excerpt_of(node), value, name)
            case NamedDType() | DTypeOf():
                return read_dtype_attribute(self.builder, self.excerpt_of(node), value, name)
            case MultipleResults() if name in value.fields:
                return value[value.fields.index(name)]
            case Ref():
                return self.attribute_of_array(node, value, name)
        raise self.excerpt_of(node).error(f"nothing is known of its {name}; give it as a value")

    def attribute_of_name(self, node: ast.Attribute, dotted_name: DottedName, name: str) -> ReadValue:
        """Return an attribute of an unbound name: a constant or a dtype of a library, or a longer name."""
        if name == "newaxis":
            return None
        if name in ("dtype", "shape", "ndim", "size", "T", "mT") and dotted_name.owner is None:
            raise self.unbound_name_error(node, dotted_name.path[0])
        number = find_constant(name)
        return (
            number
            if number is not None
            else attribute_dtype(name, dotted_name.owner) or DottedName((*dotted_name.path, name))
        )

    def attribute_of_array(self, node: ast.Attribute, array: Ref, name: str) -> ReadValue:
        """Return an attribute of an array: a dtype, lengths, a view or a method."""
        if name in READABLE_ATTRIBUTES:
            return read_attribute(self.builder, self.excerpt_of(node), name, array)
        if name == "dtype":
            return DTypeOf(array.step)
        if name_meaning(NameSort.ATTRIBUTE_ITSELF, name, self.builder.steps[array.step].owner):
            return array
        return None if name == "device" else BoundMethod(array, name)

    def as_argument(self, node: ast.AST, value: ReadValue) -> Argument:
        """Return a value as an argument of an operation. Raises ProgramError if it cannot be one."""
        match value:
            case DottedName(path=(name, *more)):
                if more:
                    raise self.excerpt_of(node).error(
                        "nothing that promotion knows of; give an array or a number"
                    )
                raise self.unbound_name_error(node, name)
            case MultipleResults(name=name):
                raise self.excerpt_of(node).error(f"{name} gives several arrays; take one: {name}(x)[0]")
            case Mapping():
                raise self.excerpt_of(node).error("a dictionary; take one of its values, or give them names")
            case DTypeLimits(name=name):
                raise self.excerpt_of(node).error(
                    f"{name} gives several numbers; take one: {name}(dtype).max"
                )
            case BoundMethod(name=name) if near := spelling_hint(name, ("dtype", *READABLE_ATTRIBUTES)):
                raise self.excerpt_of(node).error(f"no array has {quote_short(name)}{near}")
            case DottedName() | IndexUpdateRef() | DefinedFunction() | BoundMethod():
                raise self.excerpt_of(node).error("a function that is not called; call it")
        return value

    def resolve_known_number(self, value: ReadValue) -> Any:
        """Return the number that a step gives if it is known, or else the step."""
        others = (
            DottedName,
            IndexUpdateRef,
            DefinedFunction,
            DTypeLimits,
            Mapping,
            BoundMethod,
            MultipleResults,
        )
        return value if isinstance(value, others) else self.builder.known_number(value)

    def known_truth(self, node: ast.AST, condition: ReadValue, remedy: str = BRANCH_REMEDY) -> bool:
        """Return True if a plain value is true. Raises ProgramError if it is an array."""
        value = self.resolve_known_number(condition)
        if is_dtype_question(self.builder, value):
            raise self.excerpt_of(node).error(f"it asks for {SYSTEM_DEPENDENT_DTYPE_MESSAGE}")
        if isinstance(value, (Ref, DTypeOf)):
            raise self.excerpt_of(node).error(f"it {NEEDS_VALUES_MESSAGE}; {remedy}")
        return bool(value)

    # -- operators

    def apply_operator(self, node: ast.AST, name: str, operands: Sequence[ReadValue]) -> Argument:
        """Return the result of an operator: a step, or a plain value for plain operands."""
        arguments = [self.as_argument(node, x) for x in operands]
        if any(isinstance(x, tuple) for x in arguments):
            match [self.resolve_known_number(x) for x in arguments], name:
                case [tuple() as a, tuple() as b], "add":
                    return (*a, *b)
                case [(tuple() as a, int(n)) | (int(n), tuple() as a)], "multiply" if (
                    len(a) * n <= MAX_RANGE_LENGTH
                ):
                    return a * n
        return self.builder.add_operator(self.excerpt_of(node), name, arguments)

    def apply_comparison(self, node: ast.AST, comparison: ast.cmpop, a: ReadValue, b: ReadValue) -> Argument:
        """Return the result of a comparison: a step, or a bool for plain operands."""
        left, right = self.resolve_known_number(a), self.resolve_known_number(b)
        if not isinstance(comparison, (ast.Is, ast.IsNot)):
            left = self.resolve_known_number(self.as_argument(node, left))
            right = (
                right
                if isinstance(right, Mapping)
                else self.resolve_known_number(self.as_argument(node, right))
            )
        if any(isinstance(x, (DTypeOf, NamedDType)) for x in (left, right)) and None not in (left, right):
            return self.compare_dtypes(node, comparison, left, right)
        numbers = all(isinstance(x, (int, float, complex)) for x in (left, right))
        if type(comparison) in PYTHON_TEST_BY_COMPARISON and not numbers:
            known = isinstance(comparison, (ast.Is, ast.IsNot))
            if known or not any(isinstance(x, Ref) for x in (left, right)):
                return self.compare_plain_values(node, comparison, left, right)
        if type(comparison) not in OPERATOR_BY_SYNTAX:
            raise self.excerpt_of(node).error(f"it {NEEDS_VALUES_MESSAGE}; {BRANCH_REMEDY}")
        return self.builder.add_operator(
            self.excerpt_of(node),
            OPERATOR_BY_SYNTAX[type(comparison)],
            [self.as_argument(node, x) for x in (a, b)],
        )

    def compare_dtypes(
        self, node: ast.AST, comparison: ast.cmpop, left: Argument, right: Argument
    ) -> Argument:
        """Return the result of `==`, `is`, `in` or a negation of these, between dtypes."""
        excerpt = self.excerpt_of(node)
        match comparison:
            case ast.Eq() | ast.Is() | ast.NotEq() | ast.IsNot():
                found = is_same_dtype(self.builder, excerpt, left, right)
            case ast.In() | ast.NotIn() if isinstance(right, tuple):
                each_found = [is_same_dtype(self.builder, excerpt, left, each) for each in right]
                decided = (x for x in each_found if isinstance(x, Ref))
                found = True in each_found or next(decided, False)
            case _:
                raise excerpt.error("dtypes have no order; ask for the kind with isdtype")
        if isinstance(found, Ref):
            return found
        return found is not isinstance(comparison, (ast.NotEq, ast.IsNot, ast.NotIn))

    def compare_plain_values(self, node: ast.AST, comparison: ast.cmpop, left: Any, right: Any) -> bool:
        """Compare known values, as Python does."""
        try:
            return bool(PYTHON_TEST_BY_COMPARISON[type(comparison)](left, right))
        except TypeError as e:
            raise self.excerpt_of(node).error(f"Python refuses it: {e}; compare others") from None

    def elements_of_value(self, node: ast.Subscript, container: ReadValue, key: ReadValue) -> ReadValue:
        """Return elements of an array, or of a known list or dictionary."""
        at: Any = self.resolve_known_number(key)
        if isinstance(container, MultipleResults) and isinstance(at, (int, Slice)):
            try:
                return (
                    container[at]
                    if isinstance(at, int)
                    else container.take_slice(slice(at.start, at.stop, at.step))
                )
            except (IndexError, TypeError) as e:
                raise self.excerpt_of(node).error(f"{e}; give another index") from None
        if isinstance(container, BoundMethod) and container.name == "at":
            return IndexUpdateRef(container.receiver, self.as_argument(node, at))
        if isinstance(container, Mapping):
            value: ReadValue = look_up(self.excerpt_of(node), container, at)
            return value
        container = self.as_argument(node, container)
        if isinstance(container, tuple):
            try:
                place: Any = slice(at.start, at.stop, at.step) if isinstance(at, Slice) else at
                chosen: Argument = container[place]
                return chosen
            except (IndexError, TypeError) as e:
                raise self.excerpt_of(node).error(f"Python refuses it: {e}; give another index") from None
        if not isinstance(container, Ref):
            raise self.excerpt_of(node).error("a number has no elements; index an array")
        return self.builder.add_index(
            self.excerpt_of(node), container, self.as_argument(node, at), _find_lists_form(node.slice)
        )

    def refuse_unclear_result(self, call: ast.Call, array: Ref) -> None:
        """Raise ProgramError for `x.max(1)[1]` if the library of x is unknown: a row, or the indices."""
        step = self.builder.steps[array.step]
        if step.owner is not None or not isinstance(step, Call):
            return
        name = step.name
        for library in libraries_with_several_results(name, dict(step.keywords)):
            several = f"here .{name}() gives several arrays in {library}, and one in most libraries"
            ways = f"{library}.{name}(...) for several, xp.{name}(...) for one"
            raise self.excerpt_of(call).error(f"{several}; write {ways}")

    def read_loop_items(self, node: ast.AST, iterable: ReadValue) -> Sequence[Any]:
        """Return the items of a loop. Raises ProgramError for an array, or beyond MAX_LOOP_PASSES."""
        if isinstance(iterable, (bool, int, float, complex)) or iterable is None:
            raise self.excerpt_of(node).error("nothing to loop over; give a list, or range(n)")
        if not isinstance(iterable, (tuple, Mapping, str)):
            raise self.excerpt_of(node).error(
                f"a loop over an array {NEEDS_VALUES_MESSAGE}; use whole-array functions"
            )
        self.pass_count += len(iterable)
        if self.pass_count > MAX_LOOP_PASSES:
            raise self.excerpt_of(node).error(f"more than {MAX_LOOP_PASSES:,} passes of loops; take it apart")
        return tuple(iterable)

    def read_comprehension(
        self, items: Sequence[ast.expr], generators: Sequence[ast.comprehension], scope: Scope
    ) -> Reading:
        """Read a comprehension: return for each pass a value for each of `items`."""
        found: list[tuple[ReadValue, ...]] = []
        yield self.read_passes(items, generators, ChainMap({}, scope), found)
        return found

    def read_passes(
        self,
        items: Sequence[ast.expr],
        generators: Sequence[ast.comprehension],
        scope: Scope,
        lists: list[tuple[ReadValue, ...]],
    ) -> Reading:
        """Read the passes of the first loop and of the loops within it. Append their values to `lists`."""
        if not generators:
            values = []
            for item in items:
                values.append((yield self.read_expression(item, scope)))
            lists.append(tuple(values))
            return
        loop, *within = generators
        for each in self.read_loop_items(loop.iter, (yield self.read_expression(loop.iter, scope))):
            self.assign_target(loop.target, each, scope)
            passes_tests = True
            for test in loop.ifs:
                passes_tests = passes_tests and self.known_truth(
                    test, (yield self.read_expression(test, scope))
                )
            if passes_tests:
                yield self.read_passes(items, within, scope, lists)

    def assign_target(self, target: ast.expr, value: ReadValue, scope: Scope) -> None:
        """Bind a name to a value, or several names to as many values."""
        match target:
            case ast.Name(id=name):
                scope[name] = value
            case ast.Tuple(elts=names) | ast.List(elts=names):
                for each, part in zip(names, self.unpack_value(target, value, len(names)), strict=True):
                    self.assign_target(each, part, scope)
            case _:
                raise self.excerpt_of(target).error("an attribute that is set; give the value a name")

    def unpack_value(self, target: ast.expr, value: ReadValue, count: int) -> Iterator[ReadValue]:
        """Yield the parts of a value: items of a list, results of a call, or rows of an array."""
        match value:
            case tuple() if len(value) == count:
                yield from value
            case MultipleResults() if value.count in (None, count):
                yield from map(value.__getitem__, range(count))
            case Ref() if self.has_rows(value, count):
                yield from (self.builder.add_index(self.excerpt_of(target), value, i) for i in range(count))
            case _:
                raise self.excerpt_of(target).error(
                    "as many names as there are values; give each its own line"
                )

    def has_rows(self, value: Ref, count: int) -> bool:
        """Return True if a value is an array that may be unpacked into this number of rows."""
        shape = () if self.builder.is_scalar(value) else self.builder.shape_of(value)
        return shape is None or (shape != () and shape[0] in (None, count))

    def refusal_of(self, node: ast.expr) -> ProgramError:
        """Return the error for source that cannot become a step."""
        why = REFUSAL_BY_EXPRESSION.get(
            type(node), "nothing that promotion knows of; give operators, functions of arrays and numbers"
        )
        return self.excerpt_of(node).error(f"it is {why}")

    def read_call(self, node: ast.Call, scope: Scope) -> Reading:
        """Read a call and return its result."""
        owner: str | None = None
        if isinstance(node.func, ast.Attribute):
            receiver = yield self.read_expression(node.func.value, scope)
            owner = receiver.owner if isinstance(receiver, DottedName) else None
            if isinstance(receiver, Mapping):
                return (yield self.read_dictionary_item(node, receiver, node.func.attr, scope))
            if isinstance(receiver, IndexUpdateRef):
                args = yield self.read_items(node.args, scope)
                return self.read_at_method(
                    node, receiver, node.func.attr, [self.as_argument(node, x) for x in args]
                )
            function = self.find_method(node.func, receiver, node.func.attr)
        else:
            function = yield self.read_expression(node.func, scope)
        args = yield self.read_items(node.args, scope)
        keywords = yield self.read_keywords(node, scope)
        if isinstance(function, DefinedFunction):
            return (yield self.read_defined_function(function, node, args, keywords))
        if isinstance(function, DTypeOf) and len(args) == 1:
            return add_cast_to(self.builder, self.excerpt_of(node), self.as_argument(node, args[0]), function)
        if isinstance(function, BoundMethod):
            return self.read_method(node, function, args, keywords, scope)
        if isinstance(function, DottedName) and is_ufunc_method(function.path):
            return self.read_ufunc_method(node, function, owner, args, keywords, scope)
        if isinstance(function, DottedName) and name_meaning(
            NameSort.RANDOM_GENERATOR, function.path[-1], function.owner
        ):
            return DottedName(function.path[:-1])
        name, owner, module = self.function_name(node, function, owner)
        if name == SLICE_APPLYING_FUNCTION and len(args) == 3 and not keywords:
            function, axis, x = args
            name, owner, module = self.function_name(node, function, owner)
            args, keywords = [x], {"axis": axis}
        if (
            name_meaning(NameSort.COLUMN_FUNCTION, name, owner)
            and len(args) == 1
            and isinstance(args[0], str)
        ):
            return self.as_argument(node, self.resolve_name(node, args[0], scope))
        if name_meaning(NameSort.TAKES_COLUMN_NAMES, name, owner):
            args = [self.resolve_name(node, x, scope) if isinstance(x, str) else x for x in args]
        return self.call_named_function(node, name, owner, module, args, keywords)

    def read_method(
        self,
        node: ast.Call,
        method: BoundMethod,
        args: Sequence[ReadValue],
        keywords: Mapping[str, ReadValue],
        scope: Scope,
    ) -> ReadValue:
        """Return the result of an array's method. A method such as `x.add_(y)` changes the array named x."""
        found = self.call_array_method(node, method, args, keywords)
        written = node.func.value if isinstance(node.func, ast.Attribute) else None
        if is_in_place(method.name) and isinstance(written, ast.Name):
            scope[written.id] = found
        return found

    def read_ufunc_method(
        self, node: ast.Call, function: DottedName, owner: str | None, args: Sequence[ReadValue],
        keywords: Mapping[str, ReadValue], scope: Scope,
    ) -> Argument | MultipleResults:
        """Return the result of a ufunc's method, such as `np.add.reduce`. `np.add.at` changes its array."""
        read_args, read_keywords = self.read_arguments(node, "", args, keywords)
        *_, ufunc, method = function.path
        result = call_ufunc_method(
            self.builder, self.excerpt_of(node).of_library(owner), ufunc, method, read_args, read_keywords
        )
        if changes_array(function.path, read_keywords) and isinstance(node.args[0], ast.Name):
            scope[node.args[0].id] = result
        return result

    def read_items(self, nodes: Sequence[ast.expr], scope: Scope) -> Reading:
        """Read several expressions and return their values. A known starred list gives its items."""
        found: list[ReadValue] = []
        for each in nodes:
            if not isinstance(each, ast.Starred):
                found.append((yield self.read_expression(each, scope)))
                continue
            items = yield self.read_expression(each.value, scope)
            if not isinstance(items, tuple):
                raise self.refusal_of(each)
            found.extend(items)
        return found

    def read_keywords(self, node: ast.Call, scope: Scope) -> Reading:
        """Return the named arguments of a call. A known dictionary with two stars gives its items."""
        found: dict[str, ReadValue] = {}
        for keyword in node.keywords:
            value = yield self.read_expression(keyword.value, scope)
            given = {keyword.arg: value} if keyword.arg else value
            if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
                raise self.excerpt_of(node).error(REFUSAL_BY_EXPRESSION[ast.Starred])
            if {*found} & {*given}:
                raise self.excerpt_of(node).error("a name is given twice; give it once")
            found |= given
        return found

    def read_dictionary_item(
        self, node: ast.Call, dictionary: Mapping[Any, ReadValue], method: str, scope: Scope
    ) -> Reading:
        """Read the arguments of a dictionary's method and return its result."""
        args = [self.resolve_known_number(x) for x in (yield self.read_items(node.args, scope))]
        return read_dictionary_attribute(self.excerpt_of(node), dictionary, method, args)

    def read_at_method(
        self, node: ast.Call, target: IndexUpdateRef, method: str, args: Sequence[Argument]
    ) -> Ref:
        """Read `x.at[key].set(y)`: a new array with other elements, of the dtype of x.

        `casting="same_kind"` is our own notation: a program writes it where the source has `out=`.
        """
        excerpt, update_methods = (
            self.excerpt_of(node),
            {name: op for (_, name), op in name_meanings(NameSort.ELEMENT_METHOD).items()},
        )
        if method == "get" and not args:
            return self.builder.add_index(excerpt, target.array, target.key)
        if method not in ("set", *update_methods) or len(args) != 1:
            raise excerpt.error(f"elements are written by set, {', '.join(update_methods)}, of one value")
        if method == "set":
            constant_keywords = [
                (k.arg, k.value.value) for k in node.keywords if isinstance(k.value, ast.Constant)
            ]
            marks = (SAME_KIND_KEYWORD_AND_VALUE,) if SAME_KIND_KEYWORD_AND_VALUE in constant_keywords else ()
            return self.builder.add_setitem(excerpt, target.array, target.key, args[0], marks=marks)
        elements = self.builder.add_index(excerpt, target.array, target.key)
        made = self.builder.add_call(excerpt, find_operation(update_methods[method]), [elements, args[0]])
        return self.builder.add_setitem(excerpt, target.array, target.key, made)

    def find_method(self, node: ast.Attribute, receiver: ReadValue, name: str) -> ReadValue:
        """Return what a call `of.name(...)` calls: a method of an array, or a function."""
        if isinstance(receiver, Ref):
            return BoundMethod(receiver, name)
        if isinstance(receiver, tuple):
            raise self.excerpt_of(node).error(
                "a list that changes; write it out at once: [f(x) for x in (a, b)]"
            )
        has_attributes = isinstance(receiver, (DottedName, DTypeOf, NamedDType))
        return self.attribute_of_value(node, receiver, name) if has_attributes else None

    def call_array_method(
        self,
        node: ast.Call,
        method: BoundMethod,
        args: Sequence[ReadValue],
        keywords: Mapping[str, ReadValue],
    ) -> ReadValue:
        """Return the result of a method of an array."""
        if method.name in NAMESPACE_FUNCTIONS:
            return DottedName((method.name,))
        if method.name in QUESTION_FUNCTIONS:
            return answer_question(self.builder, self.excerpt_of(node), method.name, [method.receiver])
        read_args, read_keywords = self.read_arguments(node, method.name, [method.receiver, *args], keywords)
        excerpt = self.excerpt_of(node).of_library(self.builder.steps[method.receiver.step].owner)
        return call_method(self.builder, excerpt, method.name, method.receiver, read_args[1:], read_keywords)

    def function_name(
        self, node: ast.Call, function: ReadValue, owner: str | None
    ) -> tuple[str, str | None, str]:
        """Return the name of a function, its library, and its module if that follows a system of its own."""
        match function:
            case DottedName(path=path) if len(path) <= 3 or function.owner:
                if path[0] == "math":
                    return f"math.{path[-1]}", owner, ""
                owner = owner or function.owner
                qualified = ".".join(path[-2:])  # `lax.max` is a different function from `jnp.max`
                name = qualified if is_composition(qualified, owner) else path[-1]
                return name, owner, module_with_rules(path, owner)
            case NamedDType(name=name):
                return name, owner, ""
        shown = (
            quote_short(ast.unparse(node.func)[:60])
            if isinstance(node.func, (ast.Name, ast.Attribute))
            else "it"
        )
        raise self.excerpt_of(node).error(
            f"{shown} is no function of the array API standard; define it in the source"
        )

    def call_named_function(
        self,
        node: ast.Call,
        name: str,
        owner: str | None,
        module: str,
        args: list[ReadValue],
        keywords: dict[str, ReadValue],
    ) -> ReadValue:
        """Return the result of a function called by name: a library's, a method, or a Python builtin."""
        excerpt = self.excerpt_of(node)
        known = [self.resolve_known_number(x) for x in args]
        if name in PYTHON_BUILTIN_BY_NAME and isinstance(node.func, ast.Name) and not keywords:
            found: ReadValue = call_builtin(self.builder, excerpt, name, known)
            if found is not USE_ARRAY_FUNCTION:
                return found
        if isinstance(node.func, ast.Name):
            arrays_library = self.builder.find_owner(excerpt, [x.step for x in known if isinstance(x, Ref)])
            if replacement := name_meaning(NameSort.MISSING_PYTHON_FUNCTION, name, arrays_library):
                raise excerpt.error(f"arrays of {arrays_library} have no {name}; write {replacement}")
        if name in ("filter", "map"):
            raise excerpt.error(f"a loop within {name}; write it out: [f(x) for x in (a, b)]")
        if name.startswith("math."):
            return call_math(self.builder, excerpt, name.removeprefix("math."), args, known)
        if name == "at" and args and isinstance(args[0], Ref):  # `xpx.at(x, index)` of array-api-extra
            of = args[0]
            return (
                IndexUpdateRef(of, self.as_argument(node, known[1]))
                if len(args) > 1
                else BoundMethod(of, name)
            )
        if name in QUESTION_FUNCTIONS:
            asked = self.read_question(node, args, keywords)
            return answer_question(self.builder, excerpt.of_library(owner), name, asked)
        if name in NAMESPACE_FUNCTIONS:
            return DottedName((name,))
        read_args, read_keywords = self.read_arguments(node, name, args, keywords)
        return call_function(self.builder, excerpt.of_library(owner, module), name, read_args, read_keywords)

    def read_question(
        self, node: ast.Call, args: Sequence[ReadValue], keywords: Mapping[str, ReadValue]
    ) -> list[Argument]:
        """Return the arguments of a question about dtypes. NumPy's scalar classes mean kinds there."""
        given = [*args, *keywords.values()]
        return [
            KINDS_BY_SCALAR_CLASS[x.path[-1]]
            if isinstance(x, DottedName) and x.path[-1] in KINDS_BY_SCALAR_CLASS
            else self.as_argument(node, _read_named_dtype(x))
            for x in given
        ]

    def read_arguments(
        self, node: ast.Call, name: str, args: Sequence[ReadValue], keywords: Mapping[str, ReadValue]
    ) -> tuple[list[Argument], dict[str, Argument]]:
        """Return the arguments of a call as steps take them. An unbound name may be the name of a dtype."""
        taken = [
            self.as_argument(node, _read_named_dtype(x) if self.may_be_dtype(name, i) else x)
            for i, x in enumerate(args)
        ]
        said = {
            key: self.as_argument(node, _read_named_dtype(x) if key == "dtype" else x)
            for key, x in keywords.items()
        }
        return taken, said

    def may_be_dtype(self, name: str, position: int) -> bool:
        """Return True if the argument at `position` may name a dtype, as in casts and in making arrays."""
        if name in ("result_type", "promote_types", "dtype"):
            return True
        return position > 0 and (
            name in CREATION_HANDLERS
            or name in METHOD_HANDLERS
            or name_meaning(NameSort.CREATION_FUNCTION, name, None) is not None
        )

    def read_expression(self, node: ast.expr, scope: Scope) -> Reading | ReadValue:
        """Return the value of a name or a constant at once, and a reading of any other expression.

        Raises ProgramError at the source location of the expression.
        """
        if isinstance(node, ast.Name):
            return self.resolve_name(node, node.id, scope)
        return self.read_constant(node) if isinstance(node, ast.Constant) else self.read_compound(node, scope)

    def read_constant(self, node: ast.Constant) -> ReadValue:
        """Return the value of a constant. Raises ProgramError if it is a bytes object, or too large."""
        match node.value:
            case int() as value if value.bit_length() > MAX_INT_BITS:
                raise self.excerpt_of(node).error(
                    f"a number of more than {MAX_INT_BITS:,} bits; no dtype holds it"
                )
            case int() | float() | complex() | str() | None | EllipsisType() as value:
                return value
        raise self.refusal_of(node)

    def read_compound(self, node: ast.expr, scope: Scope) -> Reading:
        """Read an expression of several parts. Raises ProgramError at its source location."""
        read = READER_BY_EXPRESSION.get(type(node))
        if read is None:
            raise self.refusal_of(node)
        return (yield read(self, node, scope))

    def read_binary(self, node: ast.BinOp, scope: Scope) -> Reading:
        """Read an operation of two operands."""
        left = yield self.read_expression(node.left, scope)
        right = yield self.read_expression(node.right, scope)
        return self.apply_operator(node, OPERATOR_BY_SYNTAX[type(node.op)], [left, right])

    def read_unary(self, node: ast.UnaryOp, scope: Scope) -> Reading:
        """Read an operation of one operand."""
        given = yield self.read_expression(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return not self.known_truth(node, given, "join with & or |, negate with ~")
        return self.apply_operator(node, OPERATOR_BY_SYNTAX[type(node.op)], [given])

    def read_boolean(self, node: ast.BoolOp, scope: Scope) -> Reading:
        """Read `a and b` or `a or b`: as in Python, the first value that decides, or else the last."""
        last: Any = None
        for each in node.values:
            last = yield self.read_expression(each, scope)
            if self.known_truth(node, last, "join with & or |") is isinstance(node.op, ast.Or):
                break
        return last

    def read_conditional(self, node: ast.IfExp, scope: Scope) -> Reading:
        """Read the branch that the test chooses."""
        test = yield self.read_expression(node.test, scope)
        return (yield self.read_expression(node.body if self.known_truth(node, test) else node.orelse, scope))

    def read_sequence(self, node: ast.Tuple | ast.List, scope: Scope) -> Reading:
        found = yield self.read_items(node.elts, scope)
        return tuple(self.as_argument(node, x) for x in found)

    def read_slice(self, node: ast.Slice, scope: Scope) -> Reading:
        bounds = []
        for bound in (node.lower, node.upper, node.step):
            bounds.append(
                None
                if bound is None
                else self.resolve_known_number((yield self.read_expression(bound, scope)))
            )
        return Slice(*bounds)

    def read_attribute_access(self, node: ast.Attribute, scope: Scope) -> Reading:
        """Read `x.name`."""
        return self.attribute_of_value(node, (yield self.read_expression(node.value, scope)), node.attr)

    def read_indexing(self, node: ast.Subscript, scope: Scope) -> Reading:
        """Read `x[key]`."""
        array = yield self.read_expression(node.value, scope)
        key = yield self.read_expression(node.slice, scope)
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name not in scope:
                pass  # a function of a module is no method of an array
            case ast.Call(func=ast.Attribute()) if isinstance(array, Ref) and isinstance(key, int):
                self.refuse_unclear_result(node.value, array)
        return self.elements_of_value(node, array, key)

    def read_list_comprehension(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Reading:
        values = yield self.read_comprehension([node.elt], node.generators, scope)
        return tuple(self.as_argument(node.elt, value) for (value,) in values)

    def read_dictionary_comprehension(self, node: ast.DictComp, scope: Scope) -> Reading:
        pairs = yield self.read_comprehension([node.key, node.value], node.generators, scope)
        return {read_key(self.excerpt_of(node.key), self.resolve_known_number(k)): v for k, v in pairs}

    def read_lambda(self, node: ast.Lambda, scope: Scope) -> Reading:
        """Read a lambda, which is inlined at its calls."""
        yield from ()
        return DefinedFunction(node, scope)

    def read_comparison(self, node: ast.Compare, scope: Scope) -> Reading:
        """Read a comparison. In a chain `a < x < b` Python compares x with b only if `a < x` is true."""
        left = yield self.read_expression(node.left, scope)
        found: ReadValue = True
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = yield self.read_expression(part, scope)
            if not self.known_truth(node, found, "compare two, and join with &: (a < x) & (x < b)"):
                return found
            found, left = self.apply_comparison(node, op, left, right), right
        return found

    def read_dictionary(self, node: ast.Dict, scope: Scope) -> Reading:
        """Return a dictionary display, with the items of starred dictionaries in it."""
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            read = yield self.read_expression(value, scope)
            if key is not None:
                found[
                    read_key(
                        self.excerpt_of(key),
                        self.resolve_known_number((yield self.read_expression(key, scope))),
                    )
                ] = read
            elif isinstance(read, Mapping):
                found |= read
            else:
                raise self.excerpt_of(node).error(
                    "two stars before what is no dictionary; write its keys out"
                )
        return found

    def read_joined_text(self, node: ast.JoinedStr, scope: Scope) -> Reading:
        """Read a text with values in it. Leave out the values that are not known."""
        found = ""
        for part in node.values:
            within = part.value if isinstance(part, ast.FormattedValue) else part
            value = self.resolve_known_number((yield self.read_expression(within, scope)))
            found += str(value) if isinstance(value, (str, bool, int, float, complex)) else ""
        return found

    def excerpt_of(self, node: ast.AST) -> Excerpt:
        """Return the text of a node and its source location."""
        line: int = getattr(node, "lineno", 1)
        start: int = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", start) if getattr(node, "end_lineno", line) == line else None
        most = start + 4 * MAX_STEP_CHARS
        text = self.lines[line - 1][start : most if end is None else min(end, most)].decode(
            "utf-8", "replace"
        )
        place = SourceLocation(self.file or "<source>", line) if self.has_several_lines else None
        return Excerpt(f"{text} ..." if end is None else text, place)

    def unbound_name_error(self, node: ast.AST, name: str) -> ProgramError:
        names = [clip_text(each, 40) for each in self.bound]
        name = clip_text(name, 40)
        given = f" (given: {', '.join(names)})" if names else ""
        return ProgramError(
            f"{name} has no dtype{spelling_hint(name, names)}; add one, such as {name}=int8{given}"
        )

    # -- lines

    def read_block(self, lines: Sequence[ast.stmt], scope: Scope) -> Reading:
        """Read lines and return what they return, or NOTHING_RETURNED if they do not return."""
        for line in lines:
            match line:
                case ast.Return(value=None):
                    return None
                case ast.Return(value=x) if x is not None:
                    return self.as_argument(x, (yield self.read_expression(x, scope)))
                case ast.If(test=test, body=body, orelse=other):
                    chosen = (
                        body if self.known_truth(test, (yield self.read_expression(test, scope))) else other
                    )
                    found = yield self.read_block(chosen, scope)
                case ast.For(target=target, iter=over, body=body, orelse=[]):
                    found = yield self.read_loop(
                        line, target, (yield self.read_expression(over, scope)), body, scope
                    )
                case ast.With(body=body):
                    found = yield self.read_block(body, scope)
                case _:
                    yield self.read_line(line, scope)
                    found = NOTHING_RETURNED
            if found is not NOTHING_RETURNED:
                return found
        return NOTHING_RETURNED

    def read_loop(
        self,
        statement: ast.For,
        target: ast.expr,
        iterable: ReadValue,
        body: Sequence[ast.stmt],
        scope: Scope,
    ) -> Reading:
        """Read each pass of a loop over known items."""
        for each in self.read_loop_items(statement, iterable):
            self.assign_target(target, each, scope)
            found = yield self.read_block(body, scope)
            if found is not NOTHING_RETURNED:
                return found
        return NOTHING_RETURNED

    def read_line(self, line: ast.stmt, scope: Scope) -> Reading:
        """Read a line that returns nothing."""
        match line:
            case ast.Expr(value=x):
                yield self.read_expression(x, scope)
            case ast.Assign(targets=targets, value=x):
                value = yield self.read_expression(x, scope)
                for target in targets:
                    yield self.read_assignment(target, value, scope)
                self.share_names([each.id for each in (*targets, x) if isinstance(each, ast.Name)])
            case ast.AnnAssign(target=target, annotation=annotation, value=x) if x is not None:
                value = yield self.read_expression(x, scope)
                if (
                    isinstance(annotation, ast.Constant)
                    and isinstance(value, Ref)
                    and names_dtype(annotation.value)
                ):
                    self.builder.set_stated_dtype(value, NamedDType(annotation.value))
                yield self.read_assignment(target, value, scope)
            case ast.AugAssign(target=target, op=op, value=x):
                yield self.read_in_place(
                    line, target, OPERATOR_BY_SYNTAX[type(op)], (yield self.read_expression(x, scope)), scope
                )
            case ast.Import(names=names):
                for alias in names:
                    root = alias.name.partition(".")[0]
                    scope[alias.asname or root] = DottedName((root,))
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    scope[alias.asname or alias.name] = DottedName(
                        ((module or "").partition(".")[0], alias.name)
                    )
            case ast.FunctionDef(name=name):
                scope[name] = DefinedFunction(line, scope)
            case ast.Pass() | ast.Assert() | ast.AnnAssign():
                return
            case _:
                why = REFUSAL_BY_STATEMENT.get(
                    type(line), "nothing that a program is made of; write assignments and return"
                )
                raise self.excerpt_of(line).error(f"it is {why}")

    def read_assignment(self, target: ast.expr, value: ReadValue, scope: Scope) -> Reading | None:
        """Read an assignment to a name, to several names, or to elements of an array."""
        if isinstance(target, ast.Subscript):
            return self.assign_elements(target, value, scope)
        self.assign_target(target, value, scope)
        return None

    def assign_elements(self, target: ast.Subscript, value: ReadValue, scope: Scope) -> Reading:
        """Assign to elements of an array."""
        if not isinstance(target.value, ast.Name):
            raise self.excerpt_of(target).error(
                REFUSAL_BY_TARGET.get(type(target.value), NAMELESS_TARGET_MESSAGE)
            )
        array = yield self.read_expression(target.value, scope)
        if isinstance(array, (Mapping, tuple)):
            raise self.excerpt_of(target).error("a list or a dictionary that changes; write it out at once")
        x = self.as_argument(target, array)
        owner = self.builder.steps[x.step].owner if isinstance(x, Ref) else None
        if instead := name_meaning(NameSort.IMMUTABLE_ARRAYS, "setitem", owner):
            raise self.excerpt_of(target).error(f"arrays of {owner} do not change; write {instead}")
        key = self.as_argument(
            target, self.resolve_known_number((yield self.read_expression(target.slice, scope)))
        )
        given = self.as_argument(target, value)
        changed_array = self.builder.add_setitem(self.excerpt_of(target), x, key, given, is_operator=True)
        self.change_array(target.value.id, changed_array, scope)

    def share_names(self, names: Sequence[str]) -> None:
        """Record that several names were bound to one array."""
        if len(names) > 1:
            together = {*names, *self.shared.get(names[-1], ())}
            self.shared |= dict.fromkeys(together, together)

    def change_array(self, name: str, new_value: Argument, scope: Scope) -> None:
        """Bind a name to its changed array. If it was changed in place, also bind the names that share it.

        In MLX `y = x; y += 1.5` also casts x. A result that rebinds the name changes no other name, as with
        NumPy's scalars.
        """
        before = scope.get(name)
        step = self.builder.steps[new_value.step] if isinstance(new_value, Ref) else None
        scope[name] = new_value
        library = None if step is None else step.owner or self.library
        if (
            isinstance(step, Call)
            and not step.rebinds
            and name_meaning(NameSort.IN_PLACE_CHANGES_ALIASES, "in-place", library)
        ):
            for other in self.shared.get(name, ()):
                if scope.get(other) == before:
                    scope[other] = new_value

    def read_in_place(
        self, line: ast.stmt, target: ast.expr, name: str, value: ReadValue, scope: Scope
    ) -> Reading:
        """Read `x += y`, or `x[i] += y`, which computes with elements of x and writes them back."""
        if isinstance(target, ast.Attribute):
            raise self.excerpt_of(line).error("an attribute that is set; give the value a name")
        x = self.as_argument(line, (yield self.read_expression(target, scope)))
        y = self.as_argument(line, value)
        if isinstance(x, tuple) or name not in FUNCTION_OF_IN_PLACE.values():
            made = self.apply_operator(line, name, [x, y])
        else:
            made = self.builder.add_in_place(self.excerpt_of(line), name, x, y, may_rebind=True)
        if isinstance(target, ast.Name):
            self.change_array(target.id, made, scope)
        else:
            yield self.read_assignment(target, made, scope)

    # -- functions

    def read_defined_function(
        self,
        function: DefinedFunction,
        node: ast.Call,
        args: Sequence[ReadValue],
        keywords: Mapping[str, ReadValue],
    ) -> Reading:
        """Read a call of a function that the source defines: its lines, with the arguments of the call."""
        if self.calls >= MAX_CALL_DEPTH:
            raise self.excerpt_of(node).error(
                f"more than {MAX_CALL_DEPTH} calls within one another; write a loop out"
            )
        parameter_names = list_parameter_names(function.node)
        values_by_parameter: dict[str, Any] = dict(zip(parameter_names, args, strict=False))
        if function.node.args.vararg or function.node.args.kwarg:
            raise self.excerpt_of(node).error(f"{function.name} has parameters with a star; name each")
        if len(values_by_parameter) < len(args) or {*keywords} - {*parameter_names}:
            raise self.excerpt_of(node).error(
                f"{function.name} takes {', '.join(parameter_names) or 'nothing'}; give those"
            )
        values_by_parameter |= {**(yield self.read_defaults(function)), **values_by_parameter, **keywords}
        missing = [name for name in parameter_names if name not in values_by_parameter]
        if missing:
            raise self.excerpt_of(node).error(f"{function.name} needs {missing[0]}; give it")
        self.calls += 1
        found = yield self.read_block(function.statements, ChainMap(values_by_parameter, function.scope))
        self.calls -= 1
        return None if found is NOTHING_RETURNED else found

    def read_defaults(self, function: DefinedFunction) -> Reading:
        """Return the default values of a function's parameters, by name."""
        found: dict[str, Any] = {}
        for name, x in list_defaults(function.node.args).items():
            found[name] = yield self.read_expression(x, function.scope)
        return found


READER_BY_EXPRESSION: Mapping[type[ast.expr], Callable[[SourceReader, Any, Scope], Reading]] = {
    ast.Attribute: SourceReader.read_attribute_access,
    ast.BinOp: SourceReader.read_binary,
    ast.BoolOp: SourceReader.read_boolean,
    ast.Call: SourceReader.read_call,
    ast.Compare: SourceReader.read_comparison,
    ast.Dict: SourceReader.read_dictionary,
    ast.DictComp: SourceReader.read_dictionary_comprehension,
    ast.GeneratorExp: SourceReader.read_list_comprehension,
    ast.IfExp: SourceReader.read_conditional,
    ast.JoinedStr: SourceReader.read_joined_text,
    ast.Lambda: SourceReader.read_lambda,
    ast.List: SourceReader.read_sequence,
    ast.ListComp: SourceReader.read_list_comprehension,
    ast.Slice: SourceReader.read_slice,
    ast.Subscript: SourceReader.read_indexing,
    ast.Tuple: SourceReader.read_sequence,
    ast.UnaryOp: SourceReader.read_unary,
}


def _find_lists_form(index: ast.expr) -> str:
    """Return the form of the lists in an index, as a step has it: one of INDICES, or "" without lists."""
    if isinstance(index, ast.List):
        return INDEX_FORMS[0]
    several = isinstance(index, ast.Tuple) and any(isinstance(x, ast.List) for x in index.elts)
    return INDEX_FORMS[1] if several else ""


def _read_named_dtype(x: ReadValue) -> ReadValue:
    """Return an unbound name as the name of a dtype, which a system's own file may define."""
    return NamedDType(x.path[-1]) if isinstance(x, DottedName) else x


def list_parameter_names(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Return the names of a function's parameters."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
