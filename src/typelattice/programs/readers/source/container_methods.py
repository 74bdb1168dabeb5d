"""Methods of texts, numbers, lists, dictionaries and sets, computed as Python computes them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, scalar_operand
from typelattice.programs.calls.steps import ProgramError, Ref
from typelattice.programs.readers.source.dictionaries import (
    add_items,
    add_to_set,
    is_decided_by_values,
    join_choices,
    list_choices,
    look_up,
    make_dictionary,
    make_set,
    merge_sets,
    read_key,
    refuse_own_equality,
    remove_key,
    set_item,
)
from typelattice.programs.readers.source.elements import add_sample
from typelattice.programs.readers.source.operators import apply_operator
from typelattice.programs.readers.source.python_values import (
    MISSING,
    VALUE_ERRORS,
    ContainerMethod,
    DefaultDictValue,
    DequeValue,
    KeyOfValues,
    KeysValue,
    NamedTupleValue,
    ReadValue,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader

CHANGING_METHODS: Mapping[type, tuple[str, ...]] = {
    list: (
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "reverse",
        "sort",
        "appendleft",
        "popleft",
        "extendleft",
        "rotate",
    ),
    dict: ("pop", "popitem", "setdefault", "update", "clear"),
    set: ("add", "discard", "remove", "pop", "clear", "update"),
}
CHANGING_METHOD_NAMES = frozenset(name for names in CHANGING_METHODS.values() for name in names)
COMPARING_METHODS = ("index", "count", "remove")  # of lists: they compare items, which may be arrays
KEYED_METHODS = ("get", "pop", "setdefault")  # of dictionaries: the first argument is a key
NUMBER_METHODS = ("bit_length", "bit_count", "conjugate", "is_integer", "as_integer_ratio", "hex")
REFUSED_TEXT_METHODS = (
    "format_map",
    "translate",
    "encode",
    "expandtabs",
    "ljust",
    "rjust",
    "center",
    "zfill",
)


def call_container_method(
    reader: SourceReader, node: ast.AST, method: ContainerMethod, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    """Read a call of a method of a plain value. Raises Python's own error for other arguments."""
    if any(isinstance(x, UnknownValue) for x in args):
        raise next(x.error for x in args if isinstance(x, UnknownValue))
    try:
        return (yield _call_method(reader, node, method.receiver, method.name, args, keywords, scope))
    except ProgramError:
        raise
    except VALUE_ERRORS as e:
        raise reader.error(node, f"{method.name} takes other values ({e}); give those") from None


def _call_method(
    reader: SourceReader, node: ast.AST, receiver: Any, name: str, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    match receiver:
        case NamedTupleValue():
            return _call_named_tuple_method(reader, node, receiver, name, keywords)
        case str():
            return (yield _call_text_method(reader, node, receiver, name, args, keywords))
        case list() | tuple():
            return (yield _call_list_method(reader, node, receiver, name, args, keywords, scope))
        case dict():
            return (yield _call_dictionary_method(reader, node, receiver, name, args, keywords))
        case set():
            return (yield _call_set_method(reader, node, receiver, name, args))
    if name not in NUMBER_METHODS:
        raise reader.error(node, f"a method of numbers that is not known here: {name}; write it out")
    return _compute(reader, node, receiver, name, [reader.known(x) for x in args], {})


def _compute(
    reader: SourceReader, node: ast.AST, receiver: Any, name: str, args: list[Any], keywords: dict[str, Any]
) -> Any:
    """Call a method of a plain value with plain arguments."""
    if any(isinstance(x, Ref) for x in args):
        raise reader.error(node, "it needs the values of an array, which a program does not have")
    try:
        return getattr(receiver, name)(*args, **keywords)
    except (TypeError, ValueError, LookupError, ArithmeticError) as e:
        raise reader.raised(node, e) from None


def _call_named_tuple_method(
    reader: SourceReader, node: ast.AST, receiver: NamedTupleValue, name: str, keywords: Mapping[str, Any]
) -> ReadValue:
    fields = dict(zip(receiver.of.fields or (), receiver, strict=True))
    if name == "_asdict":
        return fields
    if {*keywords} - {*fields}:
        raise reader.error(node, f"{receiver.of.name} has {', '.join(fields)}; give those")
    return NamedTupleValue.make(receiver.of, {**fields, **keywords}.values())


def _call_text_method(
    reader: SourceReader, node: ast.AST, text: str, name: str, args: list[Any], keywords: dict[str, Any]
) -> Reading:
    if name == "join" and len(args) == 1:
        parts = [reader.known(x) for x in (yield reader.read_items(node, args[0]))]
        reader.check_length(node, sum(len(x) for x in parts if isinstance(x, str)) + len(text) * len(parts))
        return _compute(reader, node, text, name, [parts], {})
    if name in REFUSED_TEXT_METHODS:
        raise reader.error(node, f"a text that {name} makes; write the text")
    if name == "format":
        is_plain = not any(c in ".[" or c.isdigit() for c in text) and not has_nested_fields(text)
        if not is_plain or reader.has_array((*args, *keywords.values())):
            return UnknownValue(reader.error(node, "a text with the values of arrays in it; give the text"))
    known = {key: reader.known(x) for key, x in keywords.items()}
    if name == "replace" and len(args) >= 2:
        reader.check_length(node, len(text) * max(len(str(args[1])), 1))
    return _compute(reader, node, text, name, [reader.known(x) for x in args], known)


def has_nested_fields(text: str) -> bool:
    """Return True if a format of `str.format` takes a width from its arguments: `{:{width}}`."""
    depth = 0
    for c in text.replace("{{", "").replace("}}", ""):
        depth += {"{": 1, "}": -1}.get(c, 0)
        if depth > 1:
            return True
    return False


def _call_list_method(
    reader: SourceReader, node: ast.AST, items: Any, name: str, args: list[Any], keywords: dict[str, Any],
    scope: Scope,
) -> Reading:  # fmt: skip
    if name in COMPARING_METHODS and (reader.has_array(items) or reader.has_array(tuple(args))):
        raise reader.error(node, "it compares arrays, whose values a program does not have; give a position")
    if name in COMPARING_METHODS:
        refuse_own_equality(reader, node, [*items, *args])
    if name == "copy":
        made = items.copy()
        reader.branches.keep_unknown_length(made, items)
        return made
    if isinstance(items, list) and name in CHANGING_METHODS[list]:
        reader.branches.will_change(items)
    if name == "clear" and reader.branches.stands_for_several(items):
        return None  # one of several is cleared, and the others keep their items
    if name == "clear":
        items.clear()
        reader.branches.unknown_lengths.pop(id(items), None)
        return None
    if reader.branches.find_unknown_length(items) is not None:
        return (yield _change_uncertain_list(reader, node, items, name, args))
    if isinstance(items, DequeValue):
        found = yield _call_deque_method(reader, node, items, name, args)
        if found is not MISSING:
            return found
    if name == "sort":
        items[:] = yield sort_items(
            reader, node, items, keywords.get("key"), keywords.get("reverse", False), scope
        )
        return None
    if name == "extend" and len(args) == 1:
        yield reader.extend_list(node, items, args[0])
        return None
    if name in ("append", "insert"):
        reader.check_length(node, len(items) + 1)
        given = [reader.known(args[0]), *args[1:]] if name == "insert" else args
        try:
            return getattr(items, name)(*given)
        except TypeError as e:
            raise reader.raised(node, e) from None
    return _compute(reader, node, items, name, [reader.known(x) for x in args], {})


def _change_uncertain_list(
    reader: SourceReader, node: ast.AST, items: list[Any], name: str, args: list[Any]
) -> Reading:
    """Read a method of a list of unknown length. Its items are samples of what it may hold."""
    unknown = reader.branches.find_unknown_length(items)
    assert unknown is not None
    match name:
        case "append" | "appendleft" if len(args) == 1:
            add_sample(reader, node, items, args[0])
            reader.branches.note_filled(items)
            return None
        case "insert" if len(args) == 2:
            add_sample(reader, node, items, args[1])
            reader.branches.note_filled(items)
            return None
        case "extend" if len(args) == 1:
            yield reader.extend_list(node, items, args[0])
            return None
        case "pop" | "popleft" if items:
            reader.branches.unknown_lengths[id(items)] = replace(unknown, may_be_empty=True)
            return reader.any_item(node, items)
        case "reverse" | "sort" | "rotate":
            return None
    raise unknown.error


def _call_deque_method(
    reader: SourceReader, node: ast.AST, items: DequeValue, name: str, args: list[Any]
) -> Reading:
    """Read a method of a deque, or return MISSING for those that lists have."""
    match name:
        case "append" | "appendleft" if len(args) == 1:
            items.insert(0 if name == "appendleft" else len(items), args[0])
            if items.max_length is not None and len(items) > items.max_length:
                del items[-1 if name == "appendleft" else 0]
            return None
        case "popleft":
            return _compute(reader, node, items, "pop", [0], {})
        case "extendleft" if len(args) == 1:
            items[:0] = (yield reader.read_items(node, args[0]))[::-1]
            return None
        case "rotate":
            steps = reader.known(args[0]) if args else 1
            if items and isinstance(steps, int):
                steps %= len(items)
                items[:] = items[-steps:] + items[:-steps] if steps else items
            return None
    return MISSING


def sort_items(
    reader: SourceReader, node: ast.AST, items: list[Any], key: ReadValue, reverse: ReadValue, scope: Scope
) -> Reading:
    """Return items in the order of their keys. Raises ProgramError if arrays decide the order."""
    keys = []
    for each in items:
        keys.append(reader.known(each if key is None else (yield reader.call(node, key, [each], {}, scope))))
    if reader.has_array(tuple(keys)) or reader.branches.find_unknown_length(items) is not None:
        sample = [reader.any_item(node, items)] * len(items) if items else []
        reader.branches.keep_unknown_length(sample, items)
        return sample
    try:
        order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(reader.known(reverse)))
    except TypeError as e:
        raise reader.raised(node, e) from None
    return [items[i] for i in order]


def _call_dictionary_method(
    reader: SourceReader,
    node: ast.AST,
    items: dict[Any, Any],
    name: str,
    args: list[Any],
    keywords: dict[str, Any],
) -> Reading:
    if name in CHANGING_METHODS[dict]:
        reader.branches.will_change(items)
    if name in KEYED_METHODS and args:
        return _call_keyed_method(reader, node, items, name, args)
    unknown = reader.branches.find_unknown_length(items)
    match name:
        case "items" | "keys" | "values" | "most_common":
            return _list_items(reader, node, items, name, args)
        case "copy":
            made = items.copy()
            reader.branches.keep_unknown_length(made, items)
            return made
        case "update":
            for other in (*args, keywords):
                yield update_dictionary(reader, node, items, other)
            return None
        case "move_to_end":
            key = read_key(reader, node, args[0])
            reader.branches.will_change(items)
            if unknown is None and not isinstance(key, KeyOfValues) and (not keywords and len(args) == 1):
                items[key] = items.pop(key)
            return None
        case "popitem" if unknown is not None:
            reader.leave_out_error(node, KeyError)
            return reader.any_item(node, _list_items(reader, node, items, "items", []))
        case "clear" if unknown is not None:
            if not unknown.is_several:
                items.clear()
                reader.branches.unknown_lengths.pop(id(items))
            return None
        case "popitem" | "clear":
            return _compute(reader, node, items, name, [], {})
    raise reader.error(node, f"a method of dictionaries that is not known here: {name}; write it out")


def _call_keyed_method(
    reader: SourceReader, node: ast.AST, items: dict[Any, Any], name: str, args: list[Any]
) -> ReadValue:
    """Read `get`, `pop` or `setdefault` of a dictionary."""
    key = read_key(reader, node, args[0])
    default = args[1] if len(args) > 1 else None
    is_uncertain = reader.branches.find_unknown_length(items) is not None and key in items
    if is_uncertain or is_decided_by_values(items, key):
        choices = list_choices(items, key)
        values = [value for _, value in choices]
        if name != "pop" or len(args) > 1:
            values.append(default)
        value = reader.any_item(node, values)
        if name == "pop" and is_uncertain and not reader.branches.stands_for_several(items):
            del items[key]
        if name == "pop":
            remove_key(reader, node, items)
        if name == "setdefault":
            set_item(reader, node, items, key, value)
            if isinstance(value, (list, dict, set)):
                join_choices(reader, node, items, choices, value)
        return value
    if key not in items and name == "pop" and len(args) == 1:
        return look_up(reader, node, items, key)
    found: ReadValue = getattr(items, name)(key, *args[1:])
    return found


def _list_items(
    reader: SourceReader, node: ast.AST, items: dict[Any, Any], name: str, args: list[Any]
) -> list[Any]:
    """Return the items, the keys or the values of a dictionary. It is as uncertain how many there are."""
    keys, values = reader.list_keys(items), [*items.values()]
    if name == "keys":
        found: list[Any] = KeysValue(keys)
    elif name == "values":
        found = values
    else:
        found = [*zip(keys, values, strict=True)]
    if name == "most_common":
        if not reader.has_array(values):
            found.sort(key=lambda pair: -pair[1])
        elif found:
            found = [reader.any_item(node, found)] * len(found)
        found = found[: reader.known(args[0])] if args else found
    reader.branches.keep_unknown_length(found, items)
    return found


def update_dictionary(
    reader: SourceReader, node: ast.AST, items: dict[Any, Any], other: ReadValue
) -> Reading:
    """Read `items.update(other)`, which adds to the numbers of a counter."""
    if isinstance(items, DefaultDictValue) and items.is_counter:
        yield count_items(reader, node, items, other)
        return
    add_items(
        reader, node, items, other if isinstance(other, dict) else (yield read_pairs(reader, node, other))
    )


def count_items(reader: SourceReader, node: ast.AST, counter: dict[Any, Any], value: ReadValue) -> Reading:
    """Add the items of a value to a counter, or the numbers that a dictionary has of each."""
    items = value if isinstance(value, dict) else (yield reader.read_samples(node, value))
    unknown: ReadValue = None
    for item in [*items]:
        number = value[item] if isinstance(value, dict) else 1
        key = item if isinstance(item, KeyOfValues) else read_key(reader, node, item)
        if isinstance(key, KeyOfValues):
            unknown = unknown or count_unknown(reader, node)
            set_item(reader, node, counter, key, unknown)
            continue
        counter[key] = yield apply_operator(reader, node, ast.Add, counter.get(key, 0), number, Scope())
    if reader.branches.find_unknown_length(items) is not None:
        for key in counter:
            counter[key] = count_unknown(reader, node)
        reader.branches.keep_unknown_length(counter, items)


def count_unknown(reader: SourceReader, node: ast.AST) -> ReadValue:
    """Return the number of items that are equal, which the values of arrays decide."""
    whole = scalar_operand(KIND_BY_PYTHON_TYPE[int])
    return reader.builder.add_opaque(reader.excerpt_of(node), "count", whole, (), ())


def read_pairs(reader: SourceReader, node: ast.AST, value: ReadValue) -> Reading:
    """Return the dictionary of pairs. If nobody knows how many there are, so is the dictionary."""
    items = yield reader.read_samples(node, value)
    found = []
    for pair in items:
        key, each = yield reader.read_items(node, pair)
        found.append((read_key(reader, node, key), each))
    return make_dictionary(reader, node, found, items)


def _call_set_method(
    reader: SourceReader, node: ast.AST, items: set[Any], name: str, args: list[Any]
) -> Reading:
    if name == "add" and len(args) == 1:
        add_to_set(reader, node, items, read_key(reader, node, args[0]))
        return None
    if name in CHANGING_METHODS[set]:
        reader.branches.will_change(items)
    given: list[Any] = []
    for x in args:
        if name in ("discard", "remove"):
            given.append(read_key(reader, node, x))
        elif isinstance(x, set):
            given.append(x)
        else:
            others = yield reader.read_samples(node, x)
            given.append(make_set(reader, node, others, others))
    is_known = not any(isinstance(x, KeyOfValues) or reader.is_uncertain(x) for x in (items, *given))
    if is_known:
        return _compute(reader, node, items, name, given, {})
    return _call_method_of_uncertain_set(reader, node, items, name, given)


def _call_method_of_uncertain_set(
    reader: SourceReader, node: ast.AST, items: set[Any], name: str, given: list[Any]
) -> ReadValue:
    """Read a method of a set if nobody knows how many items it has, or which of them the method takes."""
    match name:
        case "update":
            merge_sets(reader, node, items, *given)
            return None
        case "discard" | "remove" | "difference_update" | "intersection_update":
            remove_key(reader, node, items)
            return None
        case "pop" if items:
            remove_key(reader, node, items)
            return reader.any_item(node, reader.list_keys(items))
        case "clear":
            if not reader.branches.stands_for_several(items):
                items.clear()
                reader.branches.unknown_lengths.pop(id(items), None)
            return None
        case "union" | "intersection" | "difference" | "symmetric_difference" | "copy":
            made: set[Any] = set()
            merge_sets(reader, node, made, items, *given)
            if name in ("intersection", "difference", "symmetric_difference"):
                remove_key(reader, node, made)
            return made
        case "issubset" | "issuperset" | "isdisjoint":
            return reader.add_unknown_bool(node, [])
    reader.check_items(items)
    raise reader.error(node, f"a method of sets that is not known here: {name}; write it out")
