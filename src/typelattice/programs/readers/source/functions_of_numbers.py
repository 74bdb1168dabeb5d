"""Python's functions of numbers, and `min`, `max` and `sum`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, scalar_operand
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION
from typelattice.programs.calls.calls_to_steps import call_function
from typelattice.programs.calls.compositions import is_composition
from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.result_shapes import UNKNOWN_SHAPE_MESSAGE
from typelattice.programs.calls.steps import (
    Argument,
    DTypeOf,
    Excerpt,
    Ref,
)
from typelattice.programs.readers.source.container_methods import sort_items
from typelattice.programs.readers.source.operators import apply_operator
from typelattice.programs.readers.source.python_functions import (
    MAX_WHOLE_ARGUMENT,
    TRUTH_RESULTS,
    USE_ARRAY_FUNCTION,
    WHOLE_RESULTS,
    compute_plainly,
    define,
)
from typelattice.programs.readers.source.python_values import (
    MISSING,
    BoundMethod,
    DottedName,
    InstanceValue,
    IteratorValue,
    RaisedError,
    ReadValue,
    Scope,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading
from typelattice.programs.readers.source.standard_library import _unknown_int
from typelattice.programs.readers.source.syntax_reader import (
    MAX_RANGE_LENGTH,
    SourceReader,
)


@define("range")
def _range(reader: SourceReader, node: ast.AST, *bounds: Any) -> Any:
    known = [reader.known(x) for x in bounds]
    if any(isinstance(x, Ref) for x in known):
        return IteratorValue(lambda: _unknown_int(reader, node), is_of_unknown_length=True)
    found = compute_plainly(reader, node, range, *known)
    if found[MAX_RANGE_LENGTH:]:
        raise reader.error(node, f"it has more than {MAX_RANGE_LENGTH:,} numbers; take a shorter range")
    return tuple(found)


@define("len")
def _len(reader: SourceReader, node: ast.AST, value: Any) -> Reading:
    yield from ()
    if isinstance(value, InstanceValue) and (own := value.of.find("__len__")) is not MISSING:
        return (yield reader.call(node, own, [value], {}, Scope()))
    if isinstance(value, Ref):
        shape = reader.shape_of(value)
        length: Argument = shape[0] if shape else None
        if length is None and shape != ():
            length = reader.builder.add_length(reader.excerpt_of(node), value)
        if length is None:
            raise reader.error(node, UNKNOWN_SHAPE_MESSAGE)
        return length
    if reader.branches.find_unknown_length(value) is not None:
        return _unknown_int(reader, node)
    if isinstance(value, MultipleResults) and value.count is not None:
        return value.count
    if not isinstance(value, (str, list, tuple, dict, set)):
        return USE_ARRAY_FUNCTION
    return len(value)


@define("abs")
def _abs(reader: SourceReader, node: ast.AST, x: Any) -> Any:
    if reader.builder.is_scalar(x):
        return reader.builder.add_operator(reader.excerpt_of(node), "abs", [reader.known(x)])
    if isinstance(x, InstanceValue) and (own := x.of.find("__abs__")) is not MISSING:
        return reader.call(node, own, [x], {}, Scope())
    return USE_ARRAY_FUNCTION


@define("round")
def _round(reader: SourceReader, node: ast.AST, x: Any, digits: Any = None) -> Any:
    if isinstance(reader.known(digits), int) and abs(reader.known(digits)) > MAX_WHOLE_ARGUMENT:
        raise reader.error(node, "a number that is very large; no dtype holds it")
    if isinstance(x, InstanceValue) and (own := x.of.find("__round__")) is not MISSING:
        return reader.call(node, own, [x, *([] if digits is None else [digits])], {}, Scope())
    if digits is None and isinstance(x, Ref) and isinstance(reader.known(x), Ref):
        return _round_to_whole(reader, node, x)
    return _compute_of_known(reader, node, round, x, digits)


def _round_to_whole(reader: SourceReader, node: ast.AST, x: Ref) -> Any:
    """Return what `round(x)` is: Python's int, or an array of a library whose book has `__round__`."""
    builder, excerpt = reader.builder, reader.excerpt_of(node)
    if not builder.is_scalar(x):
        owner = builder.steps[x.step].owner or reader.library
        if is_composition("__round__", owner):
            return call_function(builder, excerpt.of_library(owner), "__round__", [x], {})
        if builder.shape_of(x) not in ((), None):
            raise reader.error(node, "an array of axes has no round(x) of Python; write x.round()")
    return builder.add_opaque(excerpt, "round", scalar_operand(KIND_BY_PYTHON_TYPE[int]), (x.step,), ())


@define("divmod")
def _divmod(reader: SourceReader, node: ast.AST, x: Any, y: Any) -> Any:
    return _compute_of_known(reader, node, divmod, x, y)


@define("pow")
def _pow(reader: SourceReader, node: ast.AST, x: Any, y: Any) -> Any:
    if isinstance(reader.known(x), (int, float)) and isinstance(reader.known(y), (int, float)):
        return apply_operator(reader, node, ast.Pow, x, y, Scope())
    return USE_ARRAY_FUNCTION


def _compute_of_known(reader: SourceReader, node: ast.AST, function: Callable[..., Any], *args: Any) -> Any:
    """Compute a builtin of known numbers, or leave it to arrays."""
    known = [reader.known(x) for x in args]
    while known and known[-1] is None:
        known.pop()
    if not all(isinstance(x, (bool, int, float, complex)) for x in known):
        return USE_ARRAY_FUNCTION
    return compute_plainly(reader, node, function, *known)


def _make_number_type(name: str) -> None:
    made = PYTHON_TYPE_BY_NAME[name]

    @define(name)
    def convert(reader: SourceReader, node: ast.AST, *args: Any) -> Reading:
        yield from ()
        known = [reader.known(x) for x in args]
        if name == "bool" and len(known) == 1 and not isinstance(known[0], (Ref, DTypeOf)):
            decided = yield reader.read_truth(node, known[0])
            return reader.add_unknown_bool(node, args) if decided is None else decided
        is_number = len(known) == 1 and isinstance(known[0], Ref) and reader.builder.shape_of(known[0]) == ()
        if name == "bool" and is_number:
            truth = scalar_operand(Kind.BOOL)
            return reader.builder.add_opaque(reader.excerpt_of(node), name, truth, (known[0].step,), ())
        if isinstance(known[0] if known else None, InstanceValue):
            own = known[0].of.find(f"__{name}__")
            if own is not MISSING:
                return (yield reader.call(node, own, known, {}, Scope()))
        if not all(isinstance(x, (bool, int, float, complex, str)) for x in known):
            return USE_ARRAY_FUNCTION
        return compute_plainly(reader, node, made, *known)


for _name in PYTHON_TYPE_BY_NAME:
    _make_number_type(_name)


def _extreme(name: str, function: Callable[..., Any]) -> None:
    @define(name)
    def find(
        reader: SourceReader, node: ast.AST, *args: Any, key: Any = None, default: Any = MISSING
    ) -> Reading:
        is_of_rows = default is not MISSING or key is not None
        if not args or (len(args) == 1 and isinstance(args[0], Ref) and not is_of_rows):
            return USE_ARRAY_FUNCTION
        items = (yield reader.read_samples(node, args[0])) if len(args) == 1 else [*args]
        known = [reader.known(x) for x in items]
        unknown = reader.branches.find_unknown_length(items)
        if unknown is not None:
            may_be_default = unknown.may_be_empty and default is not MISSING
            return reader.any_item(node, [*items, default] if may_be_default else items)
        if not items and default is not MISSING:
            return default
        if key is None and any(isinstance(x, Ref) for x in known):
            numbers = all(reader.builder.is_scalar(x) for x in known)
            if numbers:
                return _either_number(reader, node, name, items)
            if all(isinstance(x, (Ref, bool, int, float)) for x in known) and all(
                not isinstance(x, Ref) or _has_one_element(reader.builder.shape_of(x)) for x in known
            ):
                return _either_number(reader, node, name, items)
            raise reader.error(node, f"it asks which is the {name}; write {name}imum(x, y)")
        if key is None:
            best = compute_plainly(reader, node, function, known)
            return next(x for x, value in zip(items, known, strict=True) if value is best)
        ordered = yield sort_items(reader, node, items, key, name == "max", Scope())
        if not ordered:
            raise reader.raised(node, ValueError(f"{name}() arg is an empty sequence"))
        return ordered[0]


def _has_one_element(shape: Shape | None) -> bool:
    return shape is not None and all(length == 1 for length in shape)


def _either_number(reader: SourceReader, node: ast.AST, name: str, items: Sequence[Any]) -> Any:
    """Return a value that is one of several numbers or 0-d arrays."""
    return reader.builder.add_either(
        reader.excerpt_of(node), items, f"as their values decide which is the {name}"
    )


_extreme("max", max)
_extreme("min", min)


@define("sum", "math.fsum")
def _sum(reader: SourceReader, node: ast.AST, value: Any, start: Any = 0) -> Reading:
    if isinstance(value, Ref):
        is_number_of_python = reader.names_library and not reader.builder.is_scalar(value)
        if not is_number_of_python:
            return USE_ARRAY_FUNCTION
        return (yield _add_up(reader, node, sum_rows(reader, node, value), start))
    if isinstance(value, (DottedName, BoundMethod)):
        return USE_ARRAY_FUNCTION
    return (yield _add_up(reader, node, (yield reader.read_samples(node, value)), start))


def sum_rows(reader: SourceReader, node: ast.AST, array: Ref) -> list[Ref]:
    """Return the first rows of an array, of which Python's `sum` has the dtype.

    The dtype of the sum does not change after the second element.
    """
    shape = reader.builder.shape_of(array)
    rows = range(min(shape[0], 2)) if shape and shape[0] is not None else range(2)
    return [reader.builder.add_index(reader.excerpt_of(node), array, i) for i in rows]


def _add_up(reader: SourceReader, node: ast.AST, items: Sequence[Any], start: Any) -> Reading:
    """Read the sum of items, as Python computes it: add each in turn to `start`.

    Of a list of unknown length any sample may be next, until each dtype among them has been.
    """
    unknown = reader.branches.find_unknown_length(items)
    if unknown is None:
        for each in items:
            start = yield apply_operator(reader, node, ast.Add, start, each, Scope())
        return start
    sample, sums = reader.any_item(node, items), [start]
    for _ in range(len(items) + 1):
        sums.append((yield apply_operator(reader, node, ast.Add, sums[-1], sample, Scope())))
    return reader.any_item(node, sums if unknown.may_be_empty else sums[1:])


@define("math.prod")
def _product(reader: SourceReader, node: ast.AST, value: Any, start: Any = 1) -> Reading:
    for each in (yield reader.read_items(node, value)):
        start = yield apply_operator(reader, node, ast.Mult, start, each, Scope())
    return start


def _quantifier(name: str, ends: bool) -> None:
    @define(name)
    def decide(reader: SourceReader, node: ast.AST, value: Any) -> Reading:
        if isinstance(value, Ref):
            return USE_ARRAY_FUNCTION
        iterator = yield reader.read_iterator(node, value)
        reader.refuse_unknown_length(node, iterator)
        unknown: list[Any] = []
        while (item := (yield iterator.advance())) is not ITERATION_END:
            reader.count_passes(node)
            truth = yield reader.read_truth(node, item)
            if truth is ends and not iterator.leaves_out_items:
                return ends
            unknown += [item] if truth is None else []
        if unknown or iterator.leaves_out_items:
            return reader.add_unknown_bool(node, unknown)
        return not ends


_quantifier("any", True)
_quantifier("all", False)


def call_math(
    reader: SourceReader, excerpt: Excerpt, name: str, args: Sequence[ReadValue], known_args: Sequence[Any]
) -> Argument:
    """Return the result of a function of `math`: a Python number, known if the arguments are known."""
    function = vars(math).get(name)
    is_known = name in OPERATION_BY_FUNCTION or name in (
        *WHOLE_RESULTS,
        *TRUTH_RESULTS,
        "dist",
        "fsum",
        "erf",
        "erfc",
    )
    if not callable(function) or name.startswith("_") or not (is_known or name in vars(math)):
        raise excerpt.error(
            f"math.{name} is no operation{spelling_hint(name, OPERATION_BY_FUNCTION)}; give its value"
        )
    if all(isinstance(x, (int, float)) for x in known_args):
        if name in WHOLE_RESULTS and any(abs(x) > MAX_WHOLE_ARGUMENT for x in known_args) and name in (
            "factorial", "comb", "perm",
        ):  # fmt: skip
            raise excerpt.error("a number that is very large; no dtype holds it")
        try:
            found: Argument = function(*known_args)
            return found
        except (TypeError, ValueError, OverflowError) as e:
            raise RaisedError(
                type(e), tuple(e.args), excerpt.error(f"Python refuses it: {e}; give other values")
            ) from None
    refs = [x.step for x in args if isinstance(x, Ref)]
    if not refs:
        raise excerpt.error("it takes numbers; give those")
    kind = (
        Kind.BOOL
        if name in TRUTH_RESULTS
        else KIND_BY_PYTHON_TYPE[int]
        if name in WHOLE_RESULTS
        else Kind.FLOAT
    )
    return reader.builder.add_opaque(excerpt, f"math.{name}", scalar_operand(kind), refs, ())
