"""Keys of dictionaries and sets, also those that the values of arrays decide: `d[int(x[0])] = y`.

Such a key stands for all of its kind. From then on nobody knows how many items the dictionary has.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any, TypeAlias

from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.dtype_questions import known_dtype
from typelattice.programs.calls.steps import Created, DTypeOf, Input, NamedDType, Ref
from typelattice.programs.readers.source.python_values import (
    MISSING,
    DefaultDictValue,
    InstanceValue,
    KeyOfValues,
    ReadValue,
    Scope,
    UnknownValue,
    find_key_of_values,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader

Choices: TypeAlias = "list[tuple[Any, Any]]"  # places of a list or a dictionary, each with what is there


def refuse_own_equality(reader: SourceReader, node: ast.AST, value: Any) -> None:
    """Raise ProgramError for a container that holds an object whose class says what it is equal to."""
    if isinstance(value, (tuple, list, set, dict)):
        held = [*value, *value.values()] if isinstance(value, dict) else value
        for each in reader.count_items(held):
            refuse_own_equality(reader, node, each)
    if isinstance(value, InstanceValue):
        own = [value.of.find(name) for name in ("__eq__", "__hash__")]
        if value.of.fields is not None or own != [MISSING, MISSING]:
            raise reader.error(node, "it looks for an object that its class compares; compare one by one")


# -- keys


def read_key(reader: SourceReader, node: ast.AST, value: ReadValue) -> Any:
    """Return a key of a dictionary: a KeyOfValues if the values of arrays decide it.

    Raises ProgramError if it is an array, and Python's error for a list.
    """
    key = reader.known(value)
    if isinstance(key, tuple):
        reader.check_items(key)
        key = tuple([_read_part(reader, node, each) for each in key])
    else:
        key = _read_part(reader, node, key)
    is_decided = any(isinstance(x, Ref) for x in (key if isinstance(key, tuple) else (key,)))
    if is_decided:
        return KeyOfValues(key)
    refuse_own_equality(reader, node, key)
    try:
        hash(key)
    except TypeError as e:
        raise reader.raised(node, e) from None
    return key


def _read_part(reader: SourceReader, node: ast.AST, part: Any) -> Any:
    """Return a key, or an item of a tuple that is one."""
    if isinstance(part, UnknownValue):
        raise part.error
    if isinstance(part, DTypeOf):
        return NamedDType(str(known_dtype(reader.builder, reader.excerpt_of(node), part)))
    if isinstance(part, AskedCall) or (isinstance(part, Ref) and not _is_hashable(reader, part)):
        raise reader.error(node, "it looks up the value of an array; give a key that is known")
    reader.refuse_unbound_names(part)
    return part


def _is_hashable(reader: SourceReader, ref: Ref) -> bool:
    """Return True for a Python number, and for a result that is a scalar of its library."""
    if reader.builder.is_scalar(ref):
        return True
    step = reader.builder.steps[ref.step]
    has_scalars = name_meaning(NameSort.IN_PLACE_REBINDS_SCALARS, "0d", step.owner or reader.library)
    is_array = isinstance(step, (Input, Created))
    return has_scalars is not None and not is_array and reader.shape_of(ref) == ()


def may_be_equal(key: Any, other: Any) -> bool:
    """Return True if two keys may be one, of which the values of arrays decide at least one."""
    a, b = (x.value if isinstance(x, KeyOfValues) else x for x in (key, other))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(may_be_equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, UnknownValue) or isinstance(b, UnknownValue):
        return True
    if isinstance(a, Ref) or isinstance(b, Ref):
        numbers = (Ref, bool, int, float, complex)
        return isinstance(a, numbers) and isinstance(b, numbers)
    return bool(a == b)


def _explain_choice(reader: SourceReader, node: ast.AST) -> str:
    return f"as the values of arrays decide which key it is: {reader.excerpt_of(node).text[:40]}"


def _put_key(reader: SourceReader, node: ast.AST, keys: Collection[Any], key: KeyOfValues) -> KeyOfValues:
    """Return the key that stands for one that the values of arrays decide and for those in a container."""
    before = find_key_of_values(keys, key)
    if before is None:
        return key
    excerpt, why = reader.excerpt_of(node), _explain_choice(reader, node)
    return KeyOfValues(reader.branches.merge_values(excerpt, why, before.value, key.value))


# -- changes


def set_item(
    reader: SourceReader, node: ast.AST, dictionary: dict[Any, Any], key: Any, value: ReadValue
) -> None:
    """Set the value of a key. If the values of arrays decide the key, each of its kind may have the value."""
    branches, excerpt, why = reader.branches, reader.excerpt_of(node), _explain_choice(reader, node)
    branches.will_change(dictionary)
    is_decided = isinstance(key, KeyOfValues)
    if not is_decided and not (branches.stands_for_several(dictionary) and key in dictionary):
        dictionary[key] = value
        branches.note_filled(dictionary)
        return
    for other in [x for x in dictionary if x == key or (is_decided and may_be_equal(key, x))]:
        dictionary[other] = branches.merge_values(excerpt, why, dictionary[other], value)
    if is_decided:
        _put_value(reader, node, dictionary, key, dictionary.get(key, value))
    branches.note_filled(dictionary)


def _put_value(
    reader: SourceReader, node: ast.AST, dictionary: dict[Any, Any], key: KeyOfValues, value: ReadValue
) -> None:
    """Put a value in the place of all keys that the values of arrays decide."""
    joined = _put_key(reader, node, dictionary, key)
    dictionary.pop(key, None)
    dictionary[joined] = value
    why = _explain_choice(reader, node)
    reader.branches.mark_unknown_length(dictionary, reader.excerpt_of(node), why)


def add_items(reader: SourceReader, node: ast.AST, dictionary: dict[Any, Any], other: Any) -> None:
    """Set the items of another dictionary. Its length is as uncertain as that of either."""
    unknown = reader.branches.join_lengths([dictionary, other])
    for key, value in [*other.items()]:
        set_item(reader, node, dictionary, key, value)
    reader.branches.set_unknown_length(dictionary, unknown)


def add_to_set(reader: SourceReader, node: ast.AST, items: set[Any], key: Any) -> None:
    """Add an item to a set. If the values of arrays decide the item, nobody knows if the set had it."""
    reader.branches.will_change(items)
    if isinstance(key, KeyOfValues):
        key = _put_key(reader, node, items, key)
        items.discard(key)
        reader.branches.mark_unknown_length(items, reader.excerpt_of(node), _explain_choice(reader, node))
    items.add(key)
    reader.branches.note_filled(items)


def merge_sets(reader: SourceReader, node: ast.AST, into: set[Any], *others: set[Any]) -> None:
    """Add the items of sets to one. It is as uncertain how many items the result has as of each of them."""
    unknown = reader.branches.join_lengths([into, *others])
    for each in chain(*others):
        add_to_set(reader, node, into, each)
    reader.branches.set_unknown_length(into, unknown)


def remove_key(reader: SourceReader, node: ast.AST, items: dict[Any, Any] | set[Any]) -> None:
    """Remove a key whose dictionary or set may lack it, as the values of arrays decide. Samples stay."""
    reader.leave_out_error(node, KeyError)
    reader.branches.will_change(items)
    why = _explain_choice(reader, node)
    reader.branches.mark_unknown_length(items, reader.excerpt_of(node), why, may_be_empty=True)


def make_dictionary(
    reader: SourceReader, node: ast.AST, pairs: Iterable[tuple[Any, ReadValue]], source: Any = None
) -> dict[Any, Any]:
    """Return the dictionary of keys with values. It is as uncertain how many it has as of their source."""
    made: dict[Any, Any] = {}
    for key, value in pairs:
        set_item(reader, node, made, key, value)
    reader.branches.keep_unknown_length(made, source)
    return made


def make_set(reader: SourceReader, node: ast.AST, items: Iterable[ReadValue], source: Any = None) -> set[Any]:
    """Return the set of items. It is as uncertain how many there are as of its source."""
    made: set[Any] = set()
    for each in items:
        add_to_set(reader, node, made, read_key(reader, node, each))
    reader.branches.keep_unknown_length(made, source)
    return made


# -- look-up


def is_decided_by_values(dictionary: Mapping[Any, Any], key: Any) -> bool:
    """Return True if the values of arrays decide which item of a dictionary a key has, or if it has one."""
    if isinstance(key, KeyOfValues):
        return True
    other = None if key in dictionary else find_key_of_values(dictionary, key)
    return other is not None and may_be_equal(key, other)


def list_values(dictionary: Mapping[Any, Any], key: Any) -> list[Any]:
    """Return the values that a key may have, of which the values of arrays decide which it is."""
    return [value for other, value in dictionary.items() if may_be_equal(key, other)]


def take_value_of_key(
    reader: SourceReader, node: ast.AST, dictionary: dict[Any, Any], key: Any, scope: Scope
) -> Reading:
    """Read the value of a key. A defaultdict makes it if it is absent, and a Counter counts 0."""
    is_decided = is_decided_by_values(dictionary, key)
    found = list_values(dictionary, key) if is_decided else []
    if isinstance(dictionary, DefaultDictValue) and (is_decided or key not in dictionary):
        if not is_decided:
            reader.check_items(dictionary)
        if dictionary.is_counter:
            return reader.any_item(node, [*found, 0])
        made = yield reader.call(node, dictionary.factory, [], {}, scope)
        made = reader.any_item(node, [*found, made])
        reader.branches.will_change(dictionary)
        if isinstance(key, KeyOfValues):
            _put_value(reader, node, dictionary, key, made)
        else:
            dictionary[key] = made
        reader.branches.note_filled(dictionary)
        return made
    if not is_decided:
        return look_up(reader, node, dictionary, key)
    reader.leave_out_error(node, KeyError)
    if len(found) == 1 and isinstance(found[0], InstanceValue):  # it stands for one of several objects
        found.append(InstanceValue(found[0].of, {**found[0].attributes}, found[0].lost))
    return reader.any_item(node, found)


def look_up_choices(
    reader: SourceReader, node: ast.Subscript, dictionary: dict[Any, Any], key: UnknownValue, scope: Scope
) -> Reading:
    """Return the value of a key that is one of several: one of the values of those.

    A defaultdict makes those that are absent.
    """
    if any(not isinstance(x, (str, int, float, type(None))) for x in key.one_of):
        raise reader.error(node.slice, "it looks up the value of an array; give a key that is known")
    if isinstance(dictionary, DefaultDictValue):
        values = []
        for choice in key.one_of:
            values.append((yield take_value_of_key(reader, node, dictionary, choice, scope)))
        if not dictionary.is_counter:
            why = _explain_choice(reader, node)
            reader.branches.mark_unknown_length(dictionary, reader.excerpt_of(node), why)
        return reader.any_item(node, values)
    reader.check_items(dictionary)
    sorts = tuple({type(x) for x in key.one_of})
    found = [value for x, value in dictionary.items() if isinstance(x, sorts) and x in key.one_of]
    reader.leave_out_error(node, KeyError)
    return reader.any_item(node, found)


def look_up(reader: SourceReader, node: ast.AST, dictionary: Mapping[Any, Any], key: Any) -> ReadValue:
    """Return the value of a key. Raises Python's error if the dictionary lacks it."""
    if key not in dictionary:
        reader.check_items(dictionary)
        shown = [repr(x) if not isinstance(x, NamedDType) else x.name for x in dictionary]
        has = ", ".join(shown)[:80] or "none"
        raise reader.raised(node, KeyError(f"the dictionary has no key {str(repr(key))[:40]}; it has {has}"))
    found: ReadValue = dictionary[key]
    return found


# -- containers of which the values of arrays choose one


def join_choices(
    reader: SourceReader, node: ast.AST, container: list[Any] | dict[Any, Any], others: Choices, chosen: Any
) -> None:
    """Let the containers of which the values of arrays choose one be `chosen`, which is about to change.

    `others` were at their places before. From then on each may have what any of them has, so that nobody
    knows how many items it has.
    """
    branches, excerpt, why = reader.branches, reader.excerpt_of(node), _explain_choice(reader, node)
    alike = [(place, other) for place, other in others if type(other) is type(chosen)]
    others_may_be_empty = any(branches.may_be_empty(other) for _, other in alike)
    branches.will_change(container)
    branches.will_change(chosen)  # and the others, which nobody knows from here on
    branches.mark_as_several(chosen, excerpt, why, others_may_be_empty)
    for place, _ in alike:
        container[place] = chosen


def list_choices(container: list[Any] | dict[Any, Any], key: Any) -> Choices:
    """List the places of which the values of arrays choose one, each with what is there."""
    if isinstance(container, list):
        return [*enumerate(container)]
    if isinstance(key, UnknownValue):
        return [(x, value) for x, value in container.items() if x in key.one_of]
    return [(x, value) for x, value in container.items() if may_be_equal(key, x)]
