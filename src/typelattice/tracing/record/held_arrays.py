"""Arrays in objects that are no arrays, such as the data of an image with a header.

An object is read by its instance dictionary and its slots, so that no property of the program runs. Only the
attributes in the row of a class (`array_holders`) are read as Python reads them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from typelattice.base.errors.outside_errors import raise_if_from_outside
from typelattice.tracing.array_holders import ArrayHolder, find_holder

MAX_DEPTH = 3  # objects within objects that are read
MAX_ATTRIBUTES = 64  # attributes of an object, or items of a list, that are read
MAX_OBJECTS = 512  # objects and containers of one search
AttributeReader = Callable[[Any], Iterator[tuple[str, Any]]]
SKIPPED_MODULES = frozenset(sys.stdlib_module_names) | {"typelattice"}


def find_attribute_reader(cls: type) -> AttributeReader | None:
    """Return a reader of the attributes that the objects of a class store, or None if they hold no arrays.

    Classes of Python itself and metaclasses are left out.
    """
    module = type.__getattribute__(cls, "__module__")
    root = module.partition(".")[0] if type(module) is str else ""
    if not root or root in SKIPPED_MODULES or issubclass(cls, type):
        return None
    if holder := find_holder(cls):
        return partial(_read_row_attributes, holder)
    classes: tuple[type, ...] = type.__getattribute__(cls, "__mro__")
    contents = [type.__getattribute__(each, "__dict__") for each in classes]
    found = next((each["__dict__"] for each in contents if "__dict__" in each), None)
    instance_dict = found if type(found) is GetSetDescriptorType else None
    slots = {
        name: slot
        for each in reversed(contents)
        for name, slot in each.items()
        if type(slot) is MemberDescriptorType and not name.startswith("__")
    }
    if instance_dict is None and not slots:
        return None

    def read(x: Any) -> Iterator[tuple[str, Any]]:
        if instance_dict is not None:
            values = instance_dict.__get__(x)
            if type(values) is dict:
                for name, value in [*values.items()][:MAX_ATTRIBUTES]:
                    yield f".{name}", value
        for name, slot in [*slots.items()][:MAX_ATTRIBUTES]:
            try:
                value = slot.__get__(x)
            except AttributeError:  # the slot is empty
                continue
            yield f".{name}", value

    return read


def _read_row_attributes(holder: ArrayHolder, x: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values of the attributes in the row of a class."""

    def read(value: Any, path: str, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
        if issubclass(type(value), dict):  # `isinstance` would ask the object for its class
            for key, each in [*dict.items(value)][:MAX_ATTRIBUTES]:
                yield from read(each, f"{path}[{key!r}]" if type(key) in (str, int) else path, names)
        elif type(value) in (list, tuple):
            for i, each in enumerate(value[:MAX_ATTRIBUTES]):
                yield from read(each, f"{path}[{i}]", names)
        elif not names:
            yield path, value
        elif value is not None:
            yield from read(read_attribute(value, names[0]), f"{path}.{names[0]}", names[1:])

    for dotted in holder.arrays:
        yield from read(x, "", dotted.split("."))


def read_attribute(x: Any, name: str) -> Any:
    """Return an attribute, or None if the object has none of the name or its class raises an error."""
    try:
        return getattr(x, name, None)
    except Exception as e:
        raise_if_from_outside(e, lambda: getattr(x, name, None))
        return None


def list_held_arrays(
    x: Any, kinds: Mapping[type, Any], readers: Mapping[type, AttributeReader | None] | None = None
) -> list[tuple[str, Any]]:
    """List the arrays in an object, each with its path from the object, such as `.meta['image']`.

    Without `readers` only the items of lists, tuples and dictionaries are read.
    """
    found: list[tuple[str, Any]] = []
    seen: set[int] = set()

    def search(value: Any, path: str, depth: int) -> None:
        cls = type(value)
        if kinds[cls] is not None:
            if path:
                found.append((path, value))
            return
        if depth > MAX_DEPTH or id(value) in seen or len(found) >= MAX_ATTRIBUTES or len(seen) > MAX_OBJECTS:
            return
        seen.add(id(value))
        items: Iterator[tuple[str, Any]]
        if cls is dict:
            items = ((f"[{key!r}]", each) for key, each in [*value.items()] if type(key) in (str, int))
        elif cls is list:
            items = ((f"[{i}]", each) for i, each in enumerate([*value[:MAX_ATTRIBUTES]]))
        elif issubclass(cls, tuple):  # the iterator of a program's class is bypassed
            items = ((f"[{i}]", each) for i, each in enumerate([*tuple.__iter__(value)][:MAX_ATTRIBUTES]))
        elif readers is not None and (reader := readers[cls]):
            items = reader(value)
        else:
            return
        for _, (step, each) in zip(range(MAX_ATTRIBUTES), items, strict=False):
            search(each, path + step, depth + 1)

    search(x, "", 0)
    return found
