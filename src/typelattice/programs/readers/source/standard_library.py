"""Functions of Python's standard library: functools, itertools, collections, operator and others."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from typelattice.core.dtypes.dtypes import Kind
from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, scalar_operand
from typelattice.programs.calls.steps import (
    Ref,
)
from typelattice.programs.readers.source.class_definitions import make_named_tuple
from typelattice.programs.readers.source.comparisons import apply_comparison
from typelattice.programs.readers.source.container_methods import count_items, read_pairs
from typelattice.programs.readers.source.operators import apply_operator
from typelattice.programs.readers.source.python_functions import compute_plainly, define
from typelattice.programs.readers.source.python_values import (
    MISSING,
    NO_DEFAULT,
    AutomaticValue,
    BoundFunction,
    ClassValue,
    DefaultDictValue,
    DequeValue,
    InstanceValue,
    IteratorValue,
    PythonFunction,
    Scope,
    SuperValue,
    WrappedFunction,
)
from typelattice.programs.readers.source.readings import ITERATION_END, Reading
from typelattice.programs.readers.source.syntax_operators import METHOD_BY_SYNTAX
from typelattice.programs.readers.source.syntax_reader import (
    PASSES_OF_OPEN_LOOP,
    SourceReader,
)


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
