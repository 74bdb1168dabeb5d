"""Frozen, slotted classes of values. They cost a process a fifth of the time of `dataclasses`.

`dataclasses` imports `inspect`, and compiles six functions for each class. Most of the time to a first answer
went there. `frozen` compiles only the constructor, and only for a class with many values. The other methods
look up the names of the fields. A frozen class is a dataclass to everyone else: `dataclasses` is imported
where its `fields`, `replace` or `asdict` is used.
"""
from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

TYPE_CHECKING = False  # type checkers read it as true; importing `typing` takes as long as all of this
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
    MISSING: Any
else:
    MISSING = object()

    def dataclass_transform(**_: object) -> Callable[[object], object]:
        return lambda decorator: decorator

COMPILED_AFTER = 64  # values of a class: later a compiled constructor saves more than compiling it costs


class Field:
    """The statement of a field that has more to it than a default."""

    __slots__ = ("compare", "default", "factory", "init", "repr", "type")

    def __init__(self, default: object, factory: Any, init: bool, repr: bool, compare: bool) -> None:
        self.default, self.factory = default, factory
        self.init, self.repr, self.compare = init, repr, compare
        self.type: object = None  # the annotation of the field


def field(
    *, default: Any = MISSING, default_factory: Any = MISSING, init: bool = True, repr: bool = True,
    compare: bool = True,
) -> Any:  # fmt: skip
    """State a field as `dataclasses.field` does."""
    return Field(default, default_factory, init, repr, compare)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    eq: bool = True, repr: bool = True, slots: bool = True, weakref_slot: bool = False
) -> Callable[[type[T]], type[T]]:
    """Make a class as `dataclass(frozen=True, slots=True)` makes it, given the same options.

    >>> @frozen()
    ... class Version:
    ...     major: int
    ...     minor: int = 0
    >>> Version(2), Version(2) == Version(2, 0), replace(Version(2), minor=4)
    (Version(major=2, minor=0), True, Version(major=2, minor=4))
    >>> Version(2).minor = 1
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'minor'
    """
    return lambda cls: _make_class(cls, eq, repr, slots, weakref_slot)


def replace(value: T, /, **changes: object) -> T:
    """Return a value of a frozen class with other values for some of its fields."""
    fields: dict[str, Field] = value.__frozen_fields__  # type: ignore[attr-defined]
    kept = {name: getattr(value, name) for name, field in fields.items() if field.init}
    return type(value)(**kept | changes)


def _make_class(cls: type[T], eq: bool, repr: bool, slots: bool, weakref_slot: bool) -> type[T]:
    """Build the class again, with the methods of a value, and with slots unless properties are kept."""
    inherited: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= base.__dict__.get("__frozen_fields__", {})
    annotations: dict[str, str] = cls.__annotations__
    own = {name: _read_field(cls, name, kind) for name, kind in annotations.items() if "ClassVar" not in kind}
    fields = inherited | own
    body = {name: value for name, value in cls.__dict__.items() if name not in own}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    if slots:
        new = tuple(name for name in own if name not in inherited)
        body["__slots__"] = (*new, "__weakref__") if weakref_slot else new
    body["__frozen_fields__"] = fields
    body["__dataclass_fields__"] = _AsDataclass("__dataclass_fields__")
    body["__dataclass_params__"] = _AsDataclass("__dataclass_params__")
    body["__init__"] = _Constructor(fields)
    body.setdefault("__match_args__", tuple(name for name, field in fields.items() if field.init))
    body["__setattr__"], body["__delattr__"] = _refuse_assignment, _refuse_assignment
    if repr:
        body.setdefault("__repr__", _field_repr)
    if "__reduce__" not in body:
        body["__getstate__"], body["__setstate__"] = _get_state, _set_state
    if eq:
        own_hash = body.get("__hash__") is not None
        values = _make_field_getter([name for name, field in fields.items() if field.compare])
        body.setdefault("__eq__", _make_equality(values))
        if not own_hash:
            body["__hash__"] = lambda value: hash(values(value))
    new_class: Any = type(cls)(cls.__name__, cls.__bases__, body)  # type: ignore[misc]
    new_class.__qualname__ = cls.__qualname__
    return new_class  # type: ignore[no-any-return]


def _read_field(cls: type, name: str, kind: str) -> Field:
    """Return the field that a class states, by its default or by `field`."""
    stated = cls.__dict__.get(name, MISSING)
    found = stated if isinstance(stated, Field) else Field(stated, MISSING, True, True, True)
    found.type = kind
    return found


class _Constructor:
    """The first `__init__` of a class: it sets the fields one by one, until many values have been made."""

    def __init__(self, fields: dict[str, Field]) -> None:
        self.fields = fields
        self.parameters = tuple(name for name, field in fields.items() if field.init)
        self.made = 0

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner = owner

    def __get__(self, value: Any, cls: type) -> object:
        self.made += 1
        if value is not None and self.made <= COMPILED_AFTER:
            return lambda *given, **named: self.set_fields(value, given, named)
        made = self.compile()
        return made if value is None else made.__get__(value, cls)

    def set_fields(self, value: Any, given: tuple[object, ...], named: dict[str, object]) -> None:
        """Set the fields of a new value. Wrong arguments are left to the compiled `__init__` to refuse."""
        values = dict(zip(self.parameters, given, strict=False)) | named
        if len(values) < len(given) + len(named) or not values.keys() <= {*self.parameters}:
            self.compile()(value, *given, **named)
        for name, field in self.fields.items():
            if name in values:
                object.__setattr__(value, name, values[name])
            elif field.factory is not MISSING:
                object.__setattr__(value, name, field.factory())
            elif field.default is not MISSING:
                object.__setattr__(value, name, field.default)
            elif field.init:
                self.compile()(value, *given, **named)
        if hasattr(value, "__post_init__"):
            value.__post_init__()

    def compile(self) -> Any:
        """Replace this constructor by a compiled one, and return it."""
        made = _compile_init(self.owner, self.fields)
        type.__setattr__(self.owner, "__init__", made)
        return made


def _compile_init(cls: type, fields: dict[str, Field]) -> Callable[..., None]:
    """Compile `__init__`: it accepts the fields by position or by name, and sets each."""
    namespace: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING, "__name__": cls.__module__}
    parameters, lines = ["self"], []
    for name, field in fields.items():
        value = name
        if field.factory is not MISSING:
            namespace[f"_new_{name}"] = field.factory
            value = f"_new_{name}() if {name} is _missing else {name}" if field.init else f"_new_{name}()"
        elif not field.init and field.default is MISSING:
            continue  # `__post_init__` sets this field
        if field.default is not MISSING:
            namespace[f"_default_{name}"] = field.default
            value = name if field.init else f"_default_{name}"
        if field.init:
            default = f"_default_{name}" if field.default is not MISSING else "_missing"
            has_default = field.default is not MISSING or field.factory is not MISSING
            parameters.append(f"{name}={default}" if has_default else name)
        lines.append(f"    _set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or ["    pass"]), namespace)
    init: Callable[..., None] = namespace["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {name: field.type for name, field in fields.items() if field.init}
    init.__annotations__["return"] = None
    return init


def _make_field_getter(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """Return a function that gives the values of these fields."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _make_equality(values: Callable[[object], tuple[object, ...]]) -> Callable[[object, object], object]:
    def __eq__(self: object, other: object) -> object:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _field_repr(self: Any) -> str:
    fields: dict[str, Field] = self.__frozen_fields__
    shown = (f"{name}={getattr(self, name)!r}" for name, field in fields.items() if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_assignment(self: object, name: str, value: object = MISSING) -> None:
    from dataclasses import FrozenInstanceError  # the error that every frozen dataclass raises

    raise FrozenInstanceError(f"cannot {'delete' if value is MISSING else 'assign to'} field {name!r}")


def _get_state(self: Any) -> list[object]:
    return [getattr(self, name) for name in self.__frozen_fields__]


def _set_state(self: Any, state: list[object]) -> None:
    for name, value in zip(self.__frozen_fields__, state, strict=True):
        object.__setattr__(self, name, value)


class _AsDataclass:
    """The fields of a class as `dataclasses` has them, computed at their first use."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: object, cls: Any) -> object:
        import dataclasses

        def as_field(stated: Field) -> Any:
            given = {"default": stated.default, "default_factory": stated.factory}
            return dataclasses.field(
                init=stated.init, repr=stated.repr, compare=stated.compare,
                **{key: value for key, value in given.items() if value is not MISSING},
            )  # fmt: skip

        fields = [(name, stated.type, as_field(stated)) for name, stated in cls.__frozen_fields__.items()]
        made = dataclasses.make_dataclass(cls.__name__, fields, frozen=True)
        type.__setattr__(cls, self.name, getattr(made, self.name))
        return getattr(made, self.name)
