"""Arrays in objects that are no arrays, such as the data of an image with a header.

An object is read by its instance dictionary and its slots, so that no property of the program runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

MAX_DEPTH = 3  # objects within objects that are read
MAX_ATTRIBUTES = 64  # attributes of an object, or items of a list, that are read
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


def list_held_arrays(
    x: Any, kinds: Mapping[type, Any], readers: Mapping[type, AttributeReader | None]
) -> list[tuple[str, Any]]:
    """List the arrays in an object, each with its path from the object, such as `.meta['image']`."""
    found: list[tuple[str, Any]] = []
    seen: set[int] = set()

    def search(value: Any, path: str, depth: int) -> None:
        cls = type(value)
        if kinds[cls] is not None:
            if path:
                found.append((path, value))
            return
        if depth > MAX_DEPTH or id(value) in seen or len(found) >= MAX_ATTRIBUTES:
            return
        seen.add(id(value))
        items: Iterator[tuple[str, Any]]
        if cls is dict:
            items = ((f"[{key!r}]", each) for key, each in [*value.items()] if type(key) in (str, int))
        elif cls is list or cls is tuple:
            items = ((f"[{i}]", each) for i, each in enumerate([*value[:MAX_ATTRIBUTES]]))
        elif reader := readers[cls]:
            items = reader(value)
        else:
            return
        for _, (step, each) in zip(range(MAX_ATTRIBUTES), items, strict=False):
            search(each, path + step, depth + 1)

    search(x, "", 0)
    return found
