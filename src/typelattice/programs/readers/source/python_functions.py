"""Functions of Python itself and of its standard library, called with known values or with arrays."""

from __future__ import annotations

import ast
import collections.abc
import itertools
import math
import numbers
import operator
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand, scalar_operand
from typelattice.core.operations.shapes import Shape
from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.attributes import READABLE_ATTRIBUTES
from typelattice.programs.calls.call_tables import OPERATION_BY_FUNCTION, NameSort, name_meaning
from typelattice.programs.calls.calls_to_steps import call_function
from typelattice.programs.calls.compositions import is_composition
from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.dtype_questions import (
    KINDS_BY_SCALAR_CLASS,
    choose_answer,
    list_possible_dtypes,
)
from typelattice.programs.calls.library_questions import find_asker
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.result_shapes import UNKNOWN_SHAPE_MESSAGE
from typelattice.programs.calls.steps import (
    Argument,
    DTypeOf,
    Excerpt,
    Input,
    NamedDType,
    Opaque,
    ProgramError,
    Ref,
    Slice,
)
from typelattice.programs.readers.source.class_definitions import make_named_tuple
from typelattice.programs.readers.source.container_methods import count_items, read_pairs, sort_items
from typelattice.programs.readers.source.dictionaries import add_items, make_set
from typelattice.programs.readers.source.expressions import (
    apply_comparison,
    apply_operator,
    is_plain_text,
    set_attribute,
)
from typelattice.programs.readers.source.python_values import (
    MISSING,
    NO_DEFAULT,
    AutomaticValue,
    BoundFunction,
    BoundMethod,
    ClassValue,
    ContainerMethod,
    DefaultDictValue,
    DefinedFunction,
    DequeValue,
    DottedName,
    InstanceValue,
    IteratorValue,
    NamedTupleValue,
    PythonFunction,
    RaisedError,
    ReadValue,
    Scope,
    SuperValue,
    UnknownValue,
    WrappedFunction,
    answer_or_unknown,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading
from typelattice.programs.readers.source.syntax_operators import METHOD_BY_SYNTAX
from typelattice.programs.readers.source.syntax_reader import (
    MAX_RANGE_LENGTH,
    PASSES_OF_OPEN_LOOP,
    SourceReader,
)

USE_ARRAY_FUNCTION: Any = object()  # the result if a Python builtin means the function of arrays
CALLABLE_VALUES = (
    DefinedFunction, ClassValue, BoundFunction, PythonFunction, ContainerMethod, BoundMethod, DottedName,
    type,
)  # fmt: skip
PYTHON_CLASS_BY_NAME: Mapping[str, Any] = {
    "str": str, "list": list, "tuple": tuple, "dict": dict, "set": set, "Sequence": (list, tuple, str),
    "Mapping": dict, "Iterable": (list, tuple, str, dict, set, IteratorValue), "Callable": CALLABLE_VALUES,
    "Number": (bool, int, float, complex), "Integral": (bool, int), "Real": (bool, int, float),
    "NoneType": type(None), "slice": Slice,
}  # fmt: skip
WHOLE_RESULTS = ("floor", "ceil", "trunc", "gcd", "lcm", "factorial", "comb", "perm", "isqrt")
TRUTH_RESULTS = ("isclose", "isfinite", "isinf", "isnan")
MAX_WHOLE_ARGUMENT = 5_000  # of factorials and the like
PYTHON_FUNCTIONS: dict[str, PythonFunction] = {}


def define(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function under its names, those of modules with a dot."""

    def register(compute: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            PYTHON_FUNCTIONS[name] = PythonFunction(name, compute)
        return compute

    return register


def compute_plainly(reader: SourceReader, node: ast.AST, function: Callable[..., Any], *known: Any) -> Any:
    """Call a function of Python's with known values. Raises Python's own error."""
    try:
        return function(*known)
    except (TypeError, ValueError, LookupError, ArithmeticError) as e:
        raise reader.raised(node, e) from None


# -- numbers


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


# -- containers and texts


@define("list")
def _list(reader: SourceReader, node: ast.AST, value: Any = ()) -> Reading:
    return (yield reader.read_samples(node, value))


@define("tuple")
def _tuple(reader: SourceReader, node: ast.AST, value: Any = ()) -> Reading:
    items = yield reader.read_samples(node, value)
    found = tuple(items)
    reader.branches.keep_unknown_length(found, items)
    return found


@define("set", "frozenset")
def _set(reader: SourceReader, node: ast.AST, value: Any = ()) -> Reading:
    items = yield reader.read_samples(node, value)
    return make_set(reader, node, items, items)


@define("dict", "collections.OrderedDict")
def _dict(reader: SourceReader, node: ast.AST, value: Any = (), **keywords: Any) -> Reading:
    found: dict[Any, Any] = {}
    for other in (value if isinstance(value, dict) else (yield read_pairs(reader, node, value)), keywords):
        add_items(reader, node, found, other)
    return found


@define("str", "repr")
def _str(reader: SourceReader, node: ast.AST, value: Any = "") -> Reading:
    yield from ()
    known = reader.known(value)
    if isinstance(known, (DTypeOf, NamedDType)):
        excerpt = reader.excerpt_of(node)
        found = list_possible_dtypes(reader.builder, excerpt, known)
        return answer_or_unknown(lambda: choose_answer(excerpt, map(str, found)))
    if isinstance(known, InstanceValue) and (own := known.of.find("__str__")) is not MISSING:
        return (yield reader.call(node, own, [known], {}, Scope()))
    if isinstance(known, RaisedError):
        args = known.args_given
        is_key = isinstance(known.of, type) and issubclass(known.of, KeyError)
        known = args[0] if len(args) == 1 and not is_key else args or ""
        known = repr(args[0]) if is_key and len(args) == 1 and is_plain_text(reader, args[0]) else known
    if is_plain_text(reader, known):
        return str(known)
    return UnknownValue(reader.error(node, "a text with the values of arrays in it; give the text"))


@define("sorted")
def _sorted(
    reader: SourceReader, node: ast.AST, value: Any, key: Any = None, reverse: Any = False
) -> Reading:
    if isinstance(value, Ref):  # its rows have one dtype, in whatever order they are
        return (yield reader.read_samples(node, value))
    return (yield sort_items(reader, node, (yield reader.read_samples(node, value)), key, reverse, Scope()))


@define("reversed")
def _reversed(reader: SourceReader, node: ast.AST, value: Any) -> Reading:
    items = yield reader.read_samples(node, value)
    items.reverse()
    return (yield reader.read_iterator(node, items))


@define("enumerate")
def _enumerate(reader: SourceReader, node: ast.AST, value: Any, start: Any = 0) -> Reading:
    iterator = yield reader.read_iterator(node, value)
    if not isinstance(reader.known(start), int):
        raise reader.error(node, "a start that is no known whole number; give one")
    count = itertools.count(reader.known(start))

    def advance() -> Reading:
        item = yield iterator.advance()
        reader.refuse_left_out(node, iterator)
        return ITERATION_END if item is ITERATION_END else (next(count), item)

    return IteratorValue(advance, iterator.is_of_unknown_length)


def _zip_with(
    reader: SourceReader, node: ast.AST, values: Sequence[Any], join: Callable[[list[Any]], Any]
) -> Reading:
    """Return the iterator of what `join` gives for the items of several values, up to the shortest."""
    iterators = []
    for value in values:
        iterators.append((yield reader.read_iterator(node, value)))

    def advance() -> Reading:
        items = []
        for iterator in iterators:
            item = yield iterator.advance()
            reader.refuse_left_out(node, iterator)
            if item is ITERATION_END:
                return ITERATION_END
            items.append(item)
        return (yield join(items))

    unknown = bool(iterators) and all(x.is_of_unknown_length for x in iterators)
    if not unknown:
        for iterator in iterators:
            reader.refuse_unknown_length(node, iterator)
    return IteratorValue(advance, unknown)


@define("zip")
def _zip(reader: SourceReader, node: ast.AST, *values: Any, strict: Any = False) -> Reading:
    return (yield _zip_with(reader, node, values, tuple))


@define("map")
def _map(reader: SourceReader, node: ast.AST, function: Any, *values: Any) -> Reading:
    return (
        yield _zip_with(reader, node, values, lambda items: reader.call(node, function, items, {}, Scope()))
    )


@define("itertools.starmap")
def _starmap(reader: SourceReader, node: ast.AST, function: Any, values: Any) -> Reading:
    items = yield reader.read_samples(node, values)
    found = []
    for each in items:
        found.append((yield reader.call(node, function, (yield reader.read_items(node, each)), {}, Scope())))
    reader.branches.keep_unknown_length(found, items)
    return (yield reader.read_iterator(node, found))


@define("filter")
def _filter(reader: SourceReader, node: ast.AST, function: Any, value: Any) -> Reading:
    items = yield reader.read_samples(node, value)
    found: list[Any] = []
    reader.branches.keep_unknown_length(found, items)
    for each in items:
        kept = each if function is None else (yield reader.call(node, function, [each], {}, Scope()))
        truth = yield reader.read_truth(node, kept)
        if truth is not False:
            found.append(each)
        if truth is None:
            why = "as the values of arrays decide"
            reader.branches.mark_unknown_length(found, reader.excerpt_of(node), why, may_be_empty=True)
    return (yield reader.read_iterator(node, found))


@define("iter")
def _iter(reader: SourceReader, node: ast.AST, value: Any) -> Reading:
    return (yield reader.read_iterator(node, value))


@define("next")
def _next(reader: SourceReader, node: ast.AST, value: Any, default: Any = MISSING) -> Reading:
    iterator = yield reader.read_iterator(node, value)
    item = yield iterator.advance()
    reader.refuse_left_out(node, iterator)
    if item is ITERATION_END:
        if default is MISSING:
            raise reader.raised(node, StopIteration())
        return default
    return item


@define(
    "print", "warnings.warn", "warnings.warn_explicit", "warnings.simplefilter", "warnings.filterwarnings",
    "warnings.resetwarnings", "gc.collect", "time.sleep", "sys.stdout.write", "sys.stdout.flush",
    "sys.stderr.write", "sys.stderr.flush", "traceback.print_exc", "pprint.pprint",
)  # fmt: skip
def _print(reader: SourceReader, node: ast.AST, *values: Any, **keywords: Any) -> Any:
    return None


@define("logging.getLogger", "logging.Logger")
def _logger(reader: SourceReader, node: ast.AST, *args: Any) -> Any:
    return LOGGER


LOGGER = DottedName(("logging",))  # its functions and the methods of a logger have the same names
for _name in ("debug", "info", "warning", "warn", "error", "exception", "critical", "log", "setLevel",
              "addHandler", "basicConfig", "disable", "captureWarnings"):  # fmt: skip
    PYTHON_FUNCTIONS[f"logging.{_name}"] = PythonFunction(f"logging.{_name}", _print)


@define("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.rich.tqdm")
def _progress_bar(reader: SourceReader, node: ast.AST, value: Any, **keywords: Any) -> Any:
    """Return what a bar of progress is made of: it gives the same items."""
    return value


@define("slice")
def _slice(reader: SourceReader, node: ast.AST, *bounds: Any) -> Any:
    known = [reader.known(x) for x in bounds]
    return Slice(None, known[0], None) if len(known) == 1 else Slice(*known, *[None] * (3 - len(known)))


# -- classes and attributes


@define("type")
def _type(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    known = reader.known(value)
    if isinstance(known, InstanceValue):
        return known.of
    if isinstance(known, bool):
        return NamedDType("bool")
    if isinstance(known, (int, float, complex)):
        return NamedDType(type(known).__name__)
    if known is None:
        return DottedName(("NoneType",))
    if isinstance(known, (str, list, tuple, dict, set)):
        return DottedName((type(known).__name__,))
    array_class = name_meaning(NameSort.ARRAY_CLASS, "array", _owner_of(reader, known))
    if array_class is not None and reader.is_array(known):
        return DottedName(tuple(array_class.split(".")))
    raise reader.error(node, "it asks for a class that libraries have of their own; leave it out")


@define("isinstance")
def _isinstance(reader: SourceReader, node: ast.AST, value: Any, classes: Any) -> Any:
    return is_instance(reader, node, value, classes)


def is_instance(reader: SourceReader, node: ast.AST, value: Any, classes: Any) -> bool:
    """Return True if a value is of one of these classes. Raises ProgramError if that is not known."""
    known = reader.known(value)
    if isinstance(known, UnknownValue):
        raise known.error
    found = [is_of_class(reader, node, known, each) for each in _flatten_classes(classes)]
    if None in found and True not in found:
        raise reader.error(node, "it asks for a class that libraries have of their own; leave it out")
    return True in found


def is_of_class(reader: SourceReader, node: ast.AST, value: Any, cls: Any) -> bool | None:
    """Return True if a value is of a class, or None if nothing is known of the class."""
    if isinstance(cls, (ClassValue, type)):
        if isinstance(value, RaisedError):
            return value.is_of(cls)
        own = value.of.order if isinstance(value, (InstanceValue, NamedTupleValue)) else ()
        return cls in own
    name = cls.path[-1] if isinstance(cls, DottedName) else cls.name if isinstance(cls, NamedDType) else ""
    if name in PYTHON_TYPE_BY_NAME:
        return _is_number(reader, node, value, PYTHON_TYPE_BY_NAME[name])
    if name in PYTHON_CLASS_BY_NAME or cls is None:
        return isinstance(value, PYTHON_CLASS_BY_NAME[name or "NoneType"])
    if name in ARRAY_CLASSES:
        return is_array_of(reader, cls, value)
    return _is_of_foreign_class(reader, value, cls) if isinstance(cls, DottedName) else None


def _is_of_foreign_class(reader: SourceReader, value: Any, cls: DottedName) -> bool | None:
    """Return False for a value that is of no class of a library, or None if it may be.

    It may be if the class is abstract, as `Sized` is, or of the library that made an array.
    """
    name, of = cls.path[-1], _owner_of(reader, value)
    if cls.path == ("type",):
        return None if isinstance(value, (NamedDType, DottedName)) else isinstance(value, (ClassValue, type))
    if (
        name in ABSTRACT_CLASSES
        or name.endswith("Like")
        or isinstance(value, (NamedDType, DTypeOf, DottedName))
    ):
        return None
    match value:
        case Ref() if not reader.builder.is_scalar(value):
            is_whole = bool(reader.shape_of(value))
            is_other = cls.owner != of if of is not None else False
            return False if is_other or (is_whole and name in KINDS_BY_SCALAR_CLASS) else None
        case InstanceValue():
            bases = {base.path[-1] for base in value.of.foreign_bases if isinstance(base, DottedName)}
            return True if name in bases else None if bases else False
        case AskedCall() | MultipleResults():
            return None
    return False


def _owner_of(reader: SourceReader, value: Any) -> str | None:
    """Return the library that an array belongs to, or None if it is not known."""
    return (reader.builder.steps[value.step].owner or reader.library) if isinstance(value, Ref) else None


# Classes whose objects need not know them.
ABSTRACT_CLASSES = {*collections.abc.__all__, *numbers.__all__, *typing.__all__, "PathLike"}
ARRAY_CLASSES = ("ndarray", "Tensor", "Array", "array")  # the classes of arrays of the libraries


def is_array_of(reader: SourceReader, cls: Any, value: Any) -> bool:
    """Return True if a value is an array of the library whose class this is."""
    if not isinstance(value, Ref) or reader.builder.is_scalar(value):
        return False
    owner = cls.owner if isinstance(cls, DottedName) else None
    of = _owner_of(reader, value)
    return owner is None or of is None or of == owner


def _is_number(reader: SourceReader, node: ast.AST, value: Any, asked: type) -> bool:
    """Return True if a value is a Python number of a class. Arrays are of none."""
    if not isinstance(value, Ref):
        return isinstance(value, asked)
    if not reader.builder.is_scalar(value):
        return False
    given = reader.builder.steps[value.step]
    if isinstance(given, (Input, Opaque)) and isinstance(given.fixed_result, Operand):
        return issubclass(PYTHON_TYPE_BY_NAME[given.fixed_result.kind.python_name], asked)
    operand = reader.answers.outcome_of(reader.builder.steps, value.step).operand
    if operand is None:
        raise reader.error(node, "it asks of what kind a number is, which is not known; leave it out")
    return issubclass(PYTHON_TYPE_BY_NAME[operand.kind.python_name], asked)


def _flatten_classes(classes: Any) -> Sequence[Any]:
    """Return the classes given to isinstance: one class or several."""
    return (
        [each for x in classes for each in _flatten_classes(x)] if isinstance(classes, tuple) else [classes]
    )


@define("issubclass")
def _issubclass(reader: SourceReader, node: ast.AST, cls: Any, classes: Any) -> Any:
    if not isinstance(cls, ClassValue):
        raise reader.error(node, "it asks for a class that libraries have of their own; leave it out")
    return any(each in cls.order for each in _flatten_classes(classes))


@define("callable")
def _callable(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    if isinstance(value, InstanceValue):
        return value.of.find("__call__") is not MISSING
    return isinstance(value, CALLABLE_VALUES)


@define("hasattr")
def _hasattr(reader: SourceReader, node: ast.AST, value: Any, name: Any) -> Reading:
    if not isinstance(name, str):
        raise reader.error(node, "a name that is no text; give one")
    if reader.is_array(value):
        return has_array_attribute(reader, node, value, name)
    try:
        yield reader.read_attribute(node, value, name, Scope())
    except RaisedError:
        return False
    except ProgramError:
        raise reader.error(node, f"nobody knows whether it has {name}; leave it out") from None
    return True


ATTRIBUTES_OF_ALL_ARRAYS = ("dtype", "__len__", "__iter__", "__getitem__", *READABLE_ATTRIBUTES)


def has_array_attribute(reader: SourceReader, node: ast.AST, array: Ref, name: str) -> bool:
    """Return True if an array has an attribute. If no table says so, the installed library is asked."""
    if name in ATTRIBUTES_OF_ALL_ARRAYS:
        return True
    owner, asker = _owner_of(reader, array), find_asker()
    if owner is None or asker is None or not asker.is_installed(owner) or name.startswith("_"):
        raise reader.error(node, f"nobody knows whether it has {name}; leave it out")
    return asker.has_function(owner, f".{name}")


@define("getattr")
def _getattr(reader: SourceReader, node: ast.AST, value: Any, name: Any, default: Any = MISSING) -> Reading:
    if not isinstance(name, str):
        raise reader.error(node, "a name that is no text; give one")
    if default is not MISSING and reader.is_array(value):
        return (
            (yield reader.read_attribute(node, value, name, Scope()))
            if has_array_attribute(reader, node, value, name)
            else default
        )
    try:
        return (yield reader.read_attribute(node, value, name, Scope()))
    except RaisedError:
        if default is MISSING:
            raise
        return default


@define("setattr")
def _setattr(reader: SourceReader, node: ast.AST, value: Any, name: Any, new: Any) -> Any:
    return set_attribute(reader, node, value, name, new, Scope())


@define("either")
def _either(reader: SourceReader, node: ast.AST, *choices: Any) -> Any:
    """Return one of several values: our own notation for a value that a condition chose."""
    refs = [reader.as_argument(node, x) for x in choices]
    return reader.builder.add_either(reader.excerpt_of(node), refs, "as the values of arrays decide")


@define("id", "hash")
def _id(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    return reader.builder.add_opaque(
        reader.excerpt_of(node), "id", scalar_operand(KIND_BY_PYTHON_TYPE[int]), (), ()
    )


# -- functools, itertools, collections, operator, dataclasses and others


@define("super")
def _super(reader: SourceReader, node: ast.AST, cls: Any, instance: Any) -> Any:
    if not isinstance(cls, ClassValue):
        raise reader.error(node, "super of a class that is not read; name a class of the source")
    return SuperValue(instance, cls)


@define("contextvars.ContextVar")
def _context_variable(reader: SourceReader, node: ast.AST, name: Any, default: Any = MISSING) -> Any:
    def get(reader: SourceReader, node: ast.AST, variable: InstanceValue, other: Any = MISSING) -> Any:
        found = variable.attributes.get("value", default if other is MISSING else other)
        if found is MISSING:
            raise reader.raised(node, LookupError(name))
        return found

    def put(reader: SourceReader, node: ast.AST, variable: InstanceValue, value: Any) -> Any:
        reader.branches.will_change(variable)
        before = variable.attributes.get("value", default)
        variable.attributes["value"] = value
        return None if before is MISSING else (before,)

    def reset(reader: SourceReader, node: ast.AST, variable: InstanceValue, before: Any) -> Any:
        reader.branches.will_change(variable)
        variable.attributes.pop("value", None)
        if isinstance(before, tuple):
            variable.attributes["value"] = before[0]

    methods: dict[str, Callable[..., Any]] = {"get": get, "set": put, "reset": reset}
    functions = {key: PythonFunction(key, compute) for key, compute in methods.items()}
    return InstanceValue(ClassValue("ContextVar", functions))


@define("functools.partial")
def _partial(reader: SourceReader, node: ast.AST, function: Any, *args: Any, **keywords: Any) -> Any:
    return BoundFunction(function, args, keywords)


@define("functools.reduce")
def _reduce(reader: SourceReader, node: ast.AST, function: Any, value: Any, start: Any = MISSING) -> Reading:
    items = yield reader.read_items(node, value)
    if start is MISSING:
        if not items:
            raise reader.raised(node, TypeError("reduce() of empty iterable with no initial value"))
        start, *items = items
    for each in items:
        start = yield reader.call(node, function, [start, each], {}, Scope())
    return start


def _define_combinations(name: str, function: Callable[..., Any]) -> None:
    @define(f"itertools.{name}")
    def combine(reader: SourceReader, node: ast.AST, *args: Any, **keywords: Any) -> Reading:
        values: list[Any] = []
        for x in args:
            known = reader.known(x) if isinstance(x, Ref) else x
            values.append(known if isinstance(known, int) else (yield reader.read_items(node, known)))
        plain = {key: reader.known(x) for key, x in keywords.items()}
        for length in (*values, *plain.values()):
            if isinstance(length, int):
                reader.check_length(node, length * max(len(values), 1))
        made = []
        for each in function(*values, **plain):
            made.append(each)
            reader.count_passes(node)
            reader.count_items(each if isinstance(each, tuple) else ())
        return IteratorValue.of(iter(made))


for _name, _function in {
    "product": itertools.product, "combinations": itertools.combinations, "chain": itertools.chain,
    "permutations": itertools.permutations, "zip_longest": itertools.zip_longest,
    "pairwise": itertools.pairwise,
    "combinations_with_replacement": itertools.combinations_with_replacement,
}.items():  # fmt: skip
    _define_combinations(_name, _function)


@define("itertools.chain.from_iterable")
def _chain(reader: SourceReader, node: ast.AST, value: Any) -> Reading:
    found: list[Any] = []
    for each in (yield reader.read_items(node, value)):
        found += yield reader.read_items(node, each)
    return IteratorValue.of(iter(found))


def _endless_iterator(reader: SourceReader, node: ast.AST, items: Iterator[Any]) -> IteratorValue:
    """Return the iterator of items without an end. Each is counted as a pass of an open loop."""

    def advance() -> Any:
        reader.count_passes(node, PASSES_OF_OPEN_LOOP)
        return next(items, ITERATION_END)

    return IteratorValue(advance)


@define("itertools.repeat")
def _repeat(reader: SourceReader, node: ast.AST, value: Any, times: Any = None) -> Any:
    known = reader.known(times)
    if known is None:
        return _endless_iterator(reader, node, itertools.repeat(value))
    return IteratorValue.of(itertools.repeat(value, known))


@define("itertools.count")
def _count(reader: SourceReader, node: ast.AST, start: Any = 0, step: Any = 1) -> Any:
    return _endless_iterator(reader, node, itertools.count(reader.known(start), reader.known(step)))


@define("itertools.cycle")
def _cycle(reader: SourceReader, node: ast.AST, value: Any) -> Reading:
    return _endless_iterator(reader, node, itertools.cycle((yield reader.read_items(node, value))))


@define("itertools.islice")
def _islice(reader: SourceReader, node: ast.AST, value: Any, *bounds: Any) -> Reading:
    known = [reader.known(x) for x in bounds]
    start, stop, step = slice(*known).start or 0, slice(*known).stop, slice(*known).step or 1
    iterator = yield reader.read_iterator(node, value)
    found: list[Any] = []
    position = 0
    while stop is None or position < stop:
        item = yield iterator.advance()
        if item is ITERATION_END:
            break
        reader.count_passes(node)
        if position >= start and (position - start) % step == 0:
            found.append(item)
        position += 1
    return IteratorValue.of(iter(found))


@define("itertools.accumulate")
def _accumulate(
    reader: SourceReader, node: ast.AST, value: Any, function: Any = None, initial: Any = None
) -> Reading:
    items = yield reader.read_items(node, value)
    if initial is not None:
        items.insert(0, initial)
    found = items[:1]
    for each in items[1:]:
        found.append(
            (yield apply_operator(reader, node, ast.Add, found[-1], each, Scope()))
            if function is None
            else (yield reader.call(node, function, [found[-1], each], {}, Scope()))
        )
    return IteratorValue.of(iter(found))


@define("collections.namedtuple")
def _namedtuple(reader: SourceReader, node: ast.AST, name: Any, fields: Any, defaults: Any = ()) -> Any:
    names = fields.replace(",", " ").split() if isinstance(fields, str) else fields
    if not isinstance(names, (list, tuple)) or not all(isinstance(x, str) for x in (name, *names)):
        raise reader.error(node, "names of fields that are no texts; write them out")
    return make_named_tuple(name, names, defaults)


@define("collections.deque")
def _deque(reader: SourceReader, node: ast.AST, value: Any = (), maxlen: Any = None) -> Reading:
    made = DequeValue((yield reader.read_items(node, value)))
    made.max_length = reader.known(maxlen)
    if made.max_length is not None:
        del made[: max(len(made) - made.max_length, 0)]
    return made


@define("collections.defaultdict")
def _defaultdict(reader: SourceReader, node: ast.AST, factory: Any = None, value: Any = ()) -> Reading:
    made = DefaultDictValue(value if isinstance(value, dict) else (yield read_pairs(reader, node, value)))
    made.factory = factory
    return made


@define("collections.Counter")
def _counter(reader: SourceReader, node: ast.AST, value: Any = (), **numbers: Any) -> Reading:
    made = DefaultDictValue()
    made.is_counter = True
    yield count_items(reader, node, made, value)
    yield count_items(reader, node, made, numbers)
    return made


@define("enum.auto")
def _auto(reader: SourceReader, node: ast.AST) -> Any:
    return AutomaticValue()


@define("dataclasses.field", "field")
def _field(reader: SourceReader, node: ast.AST, *, default: Any = NO_DEFAULT, default_factory: Any = None,
           **others: Any) -> Any:  # fmt: skip
    if not others.get("init", True) or others.get("kw_only"):
        raise reader.error(node, "a field that is no parameter by its position; define __init__")
    if default is NO_DEFAULT and default_factory is None:
        return NO_DEFAULT
    return WrappedFunction("field", default, default_factory)


@define("dataclasses.replace")
def _replace(reader: SourceReader, node: ast.AST, value: Any, **changes: Any) -> Reading:
    if not isinstance(value, InstanceValue) or value.of.fields is None:
        raise reader.error(node, "no object of a dataclass; give one")
    kept = {name: value.attributes[name] for name in value.of.fields}
    return (yield reader.call(node, value.of, [], kept | changes, Scope()))


@define("dataclasses.asdict")
def _asdict(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    if isinstance(value, InstanceValue) and value.of.fields is not None:
        return {name: _as_fields(reader, node, value.attributes[name]) for name in value.of.fields}
    raise reader.error(node, "no object of a dataclass; give one")


def _as_fields(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    """Return a value with the fields of each dataclass in it, as `asdict` does."""
    match value:
        case InstanceValue(of=ClassValue(fields=dict())):
            return _asdict(reader, node, value)
        case list():
            return [_as_fields(reader, node, x) for x in value]
        case dict():
            return {key: _as_fields(reader, node, x) for key, x in value.items()}
    return value


@define("copy.copy")
def _copy(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    match value:
        case InstanceValue() if value.of.find("__copy__") is MISSING:
            return InstanceValue(value.of, {**value.attributes}, value.lost)
        case list() if type(value) is list:
            return reader.copy_items(value)
        case dict() | set():
            reader.check_items(value)
            return value.copy()
        case InstanceValue() | list() | IteratorValue():
            raise reader.error(node, "it copies an object in a way of its own; write the copy out")
    return value


@define("copy.deepcopy")
def _deepcopy(reader: SourceReader, node: ast.AST, value: Any) -> Any:
    return _copy_within(reader, node, value, {})


def _copy_within(reader: SourceReader, node: ast.AST, value: Any, copied: dict[int, Any]) -> Any:
    """Return a copy of a value and of all in it. What occurs twice is copied once."""
    if id(value) in copied:
        return copied[id(value)]
    if type(value) is tuple:
        return tuple(_copy_within(reader, node, x, copied) for x in value)
    if isinstance(value, InstanceValue) and value.of.find("__deepcopy__") is not MISSING:
        raise reader.error(node, "it copies an object in a way of its own; write the copy out")
    made = copied[id(value)] = _copy(reader, node, value)
    match made:
        case list():
            made[:] = [_copy_within(reader, node, x, copied) for x in made]
        case dict():
            made.update({key: _copy_within(reader, node, x, copied) for key, x in made.items()})
        case InstanceValue() if made is not value:
            names = made.attributes
            made.attributes = {key: _copy_within(reader, node, x, copied) for key, x in names.items()}
    return made


@define("types.SimpleNamespace", "argparse.Namespace")
def _namespace(reader: SourceReader, node: ast.AST, **attributes: Any) -> Any:
    return InstanceValue(ClassValue("SimpleNamespace", {}), attributes)


@define("typing.cast")
def _cast(reader: SourceReader, node: ast.AST, to: Any, value: Any) -> Any:
    return value


@define("typing.TypeVar", "typing.NewType")
def _type_variable(reader: SourceReader, node: ast.AST, *args: Any, **keywords: Any) -> Any:
    return None


@define("time.time", "time.perf_counter", "time.monotonic", "time.process_time", "random.random",
        "random.uniform", "random.gauss", "random.normalvariate")  # fmt: skip
def _unknown_float(reader: SourceReader, node: ast.AST, *args: Any) -> Any:
    return reader.builder.add_opaque(reader.excerpt_of(node), "float", scalar_operand(Kind.FLOAT), (), ())


@define("random.randint", "random.randrange")
def _unknown_int(reader: SourceReader, node: ast.AST, *args: Any) -> Any:
    whole = scalar_operand(KIND_BY_PYTHON_TYPE[int])
    return reader.builder.add_opaque(reader.excerpt_of(node), "int", whole, (), ())


@define("random.seed")
def _seed(reader: SourceReader, node: ast.AST, *args: Any) -> Any:
    return None


def _define_operator(name: str, syntax: type[ast.AST]) -> None:
    @define(f"operator.{name}")
    def apply(reader: SourceReader, node: ast.AST, x: Any, y: Any) -> Any:
        if issubclass(syntax, ast.cmpop):
            return apply_comparison(reader, node, syntax(), x, y, Scope())
        return apply_operator(reader, node, syntax, x, y, Scope())


for _syntax, _method in METHOD_BY_SYNTAX.items():
    if not issubclass(_syntax, ast.unaryop):
        _define_operator({"and": "and_", "or": "or_"}.get(_method, _method), _syntax)


@define("operator.itemgetter")
def _itemgetter(reader: SourceReader, node: ast.AST, *keys: Any) -> Any:
    def take(reader: SourceReader, node: ast.AST, value: Any) -> Any:
        found = tuple(
            compute_plainly(reader, node, operator.getitem, value, reader.known(key)) for key in keys
        )
        return found[0] if len(found) == 1 else found

    return PythonFunction("itemgetter", take)


@define("operator.attrgetter")
def _attrgetter(reader: SourceReader, node: ast.AST, name: Any) -> Any:
    return PythonFunction(
        "attrgetter", lambda reader, node, value: reader.read_attribute(node, value, name, Scope())
    )


@define("contextlib.nullcontext")
def _nullcontext(reader: SourceReader, node: ast.AST, value: Any = None) -> Any:
    return IteratorValue.of(iter([value]))
