"""Python's functions of containers, iterators and texts."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from typelattice.programs.calls.dtype_questions import (
    choose_answer,
    list_possible_dtypes,
)
from typelattice.programs.calls.steps import (
    DTypeOf,
    NamedDType,
    Ref,
    Slice,
)
from typelattice.programs.readers.source.container_methods import read_pairs, sort_items
from typelattice.programs.readers.source.dictionaries import add_items, make_set
from typelattice.programs.readers.source.python_functions import PYTHON_FUNCTIONS, define
from typelattice.programs.readers.source.python_values import (
    MISSING,
    DottedName,
    InstanceValue,
    IteratorValue,
    OrderedDictValue,
    PythonFunction,
    RaisedError,
    Scope,
    UnknownValue,
    answer_or_unknown,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading
from typelattice.programs.readers.source.syntax_reader import (
    SourceReader,
)
from typelattice.programs.readers.source.texts import is_plain_text


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


@define("collections.OrderedDict")
def _ordered_dict(reader: SourceReader, node: ast.AST, value: Any = (), **keywords: Any) -> Reading:
    found = OrderedDictValue()
    add_items(reader, node, found, (yield _dict(reader, node, value, **keywords)))
    return found


@define("dict")
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
