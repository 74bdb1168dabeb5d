"""Classes that the source defines, dataclasses and named tuples among them, and decorators."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.readers.source.contexts import find_parameters
from typelattice.programs.readers.source.dictionaries import read_key
from typelattice.programs.readers.source.python_values import (
    NO_DEFAULT,
    AutomaticValue,
    BoundFunction,
    ClassValue,
    DefinedFunction,
    DottedName,
    InstanceValue,
    KeyOfValues,
    PythonFunction,
    ReadValue,
    Scope,
    UnknownValue,
    WrappedFunction,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import SourceReader

# Methods by which a class changes how Python makes its objects, or finds and keeps their attributes.
UNREAD_METHODS = (
    "__new__", "__setattr__", "__getattribute__", "__delattr__", "__get__", "__set__", "__set_name__",
    "__init_subclass__", "__missing__", "__instancecheck__", "__subclasscheck__", "__prepare__",
)  # fmt: skip
CACHES = ("lru_cache", "cache")
WRAPPING_DECORATORS = ("property", "staticmethod", "classmethod", "cached_property")
NAMED_TUPLE_CLASS = "NamedTuple"
ENUMERATION_BASES = ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")
NEUTRAL_BASES = ("object", "ABC", "Protocol", "Generic", "NamedTuple", "str", "int", *ENUMERATION_BASES)


def decorate(
    reader: SourceReader, line: ast.FunctionDef | ast.ClassDef, value: ReadValue, scope: Scope
) -> Reading:
    """Read the value of a function or a class after its decorators.

    A decorator of a library has to leave the function as it is, as `jax.jit` does: names.txt lists those.
    """
    for node in reversed(line.decorator_list):
        match node:
            case ast.Attribute(attr="setter", value=ast.Name(id=name)) if name in scope.names:
                before = scope.names[name]
                if isinstance(before, WrappedFunction):
                    value = WrappedFunction(before.sort, before.function, value)
                continue
        called = node.func if isinstance(node, ast.Call) else node
        decorator = yield reader.read_expression(called, scope)
        name = decorator.path[-1] if isinstance(decorator, DottedName) else ""
        if name in WRAPPING_DECORATORS:
            value = WrappedFunction(name, value)
        elif name == "dataclass" and isinstance(value, ClassValue):
            value.fields = list_fields(value)
        elif name in CACHES:
            value = keep_results(value)
        elif is_neutral(decorator, node):
            continue
        elif isinstance(decorator, DottedName) and len(decorator.path) == 1 and decorator.owner is None:
            raise reader.unbound_name_error(decorator.path[0])
        elif (
            isinstance(decorator, DottedName)
            and name != "partial"
            and not is_called_by_tables(reader, decorator)
            and find_parameters(decorator) is None
        ):
            error = reader.error(node, f"a decorator that may change {line.name}; define it without")
            value = UnknownValue(error)
        else:
            made = yield reader.read_expression(node, scope)
            value = yield reader.call(node, made, [value], {}, scope)
    return value


def keep_results(function: ReadValue) -> PythonFunction:
    """Return a function that calls another once for the same arguments, as `functools.cache` makes it."""
    kept: dict[Any, Any] = {}

    def compute(reader: SourceReader, node: ast.AST, *args: Any, **keywords: Any) -> Reading:
        key = read_key(reader, node, (*args, *(x for pair in keywords.items() for x in pair)))
        if isinstance(key, KeyOfValues):  # nobody knows if it was called with them before
            return (yield reader.call(node, function, [*args], keywords, Scope()))
        if key not in kept:
            found = yield reader.call(node, function, [*args], keywords, Scope())
            reader.branches.will_change(kept)
            kept[key] = found
        return kept[key]

    return PythonFunction("cache", compute)


def is_called_by_tables(reader: SourceReader, decorator: DottedName) -> bool:
    """Return True if a function of a library that takes functions is known: `jax.vmap`."""
    return name_meaning(NameSort.TAKES_FUNCTION, decorator.path[-1], decorator.owner) is not None


def is_neutral(decorator: ReadValue, node: ast.expr) -> bool:
    """Return True if a decorator leaves the results of its function as they are."""
    if not isinstance(decorator, DottedName):
        return False
    if decorator.path[-1] == "partial" and isinstance(node, ast.Call) and node.args:
        name = ast.unparse(node.args[0]).rpartition(".")[2]
        return name_meaning(NameSort.NEUTRAL_DECORATOR, name, None) is not None
    return name_meaning(NameSort.NEUTRAL_DECORATOR, decorator.path[-1], decorator.owner) is not None


def read_class_definition(reader: SourceReader, line: ast.ClassDef, names: Scope, scope: Scope) -> Reading:
    """Return the class that a `class` statement makes of the names in its body."""
    refuse_own_machinery(reader, line, names)
    bases = []
    for node in line.bases:
        base = yield reader.read_expression(node, scope)
        is_neutral_base = isinstance(base, DottedName) and base.path[-1] in NEUTRAL_BASES
        if isinstance(base, ClassValue | type) or (isinstance(base, DottedName) and not is_neutral_base):
            bases.append(base)
    made = ClassValue(line.name, names.names, tuple(bases))
    for value in names.names.values():
        for function in (value, getattr(value, "function", None), getattr(value, "setter", None)):
            if isinstance(function, DefinedFunction):
                function.owner = made
    if any(isinstance(node, ast.Name) and node.id == NAMED_TUPLE_CLASS for node in line.bases) or any(
        isinstance(node, ast.Attribute) and node.attr == NAMED_TUPLE_CLASS for node in line.bases
    ):
        made.fields, made.is_tuple = list_fields(made), True
    elif any(base.fields is not None for base in made.order[1:]):
        made.fields = next(base.fields for base in made.order[1:] if base.fields is not None)
    if any(ast.unparse(node).rpartition(".")[2] in ENUMERATION_BASES for node in line.bases):
        make_members(made, any(ast.unparse(node).endswith("Flag") for node in line.bases))
    return (yield decorate(reader, line, made, scope))


def refuse_own_machinery(reader: SourceReader, line: ast.ClassDef, names: Scope) -> None:
    """Raise ProgramError for a class that changes how Python makes objects or finds their attributes."""
    if own := [name for name in UNREAD_METHODS if name in names.names]:
        raise reader.error(line, f"a class with {own[0]}, which is not carried out; write it without")
    given = {k.arg or "two stars": ast.unparse(k.value).rpartition(".")[2] for k in line.keywords}
    if others := [name for name, value in given.items() if (name, value) != ("metaclass", "ABCMeta")]:
        raise reader.error(line, f"a class with {others[0]}, which is not carried out; write it without")


def make_members(cls: ClassValue, is_flag: bool) -> None:
    """Make members of the plain values of an enumeration. A second name of a value is the same member."""
    given: Any = 0
    for name, value in [*cls.names.items()]:
        if name.startswith("_") or isinstance(value, (DefinedFunction, WrappedFunction, BoundFunction)):
            continue
        if not isinstance(value, AutomaticValue):
            given = value
        elif isinstance(given, int):
            given = (1 << given.bit_length()) if is_flag else given + 1
        else:
            given = 1
        alike = [x for x in cls.members.values() if x.attributes["value"] == given]
        cls.names[name] = alike[0] if alike else InstanceValue(cls, {"name": name, "value": given})
        if not alike:
            cls.members[name] = cls.names[name]


def list_fields(cls: ClassValue) -> dict[str, Any]:
    """Return the annotated names of a class and its bases, each with its default."""
    found: dict[str, Any] = {}
    for each in reversed(cls.order):
        for name, annotation in each.names.get("__annotations__", {}).items():
            if not annotation.startswith(("ClassVar", "typing.ClassVar")):
                found[name] = each.names.get(name, NO_DEFAULT)
                if isinstance(found[name], UnknownValue):
                    raise found[name].error
    return found


def make_named_tuple(name: str, fields: Sequence[str], defaults: Sequence[Any]) -> ClassValue:
    """Return the class that `collections.namedtuple` makes."""
    missing = [NO_DEFAULT] * (len(fields) - len(defaults))
    return ClassValue(name, {}, (), dict(zip(fields, [*missing, *defaults], strict=True)), True)
