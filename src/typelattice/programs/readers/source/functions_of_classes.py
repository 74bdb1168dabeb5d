"""Python's functions of classes, objects and attributes."""

from __future__ import annotations

import ast
import collections.abc
import numbers
import typing
from collections.abc import Sequence
from typing import Any

from typelattice.core.operands.operand import KIND_BY_PYTHON_TYPE, Operand, scalar_operand
from typelattice.programs.calls.asked_calls import AskedCall
from typelattice.programs.calls.attributes import READABLE_ATTRIBUTES
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.creation_and_cast_handlers import PYTHON_TYPE_BY_NAME
from typelattice.programs.calls.dtype_questions import (
    KINDS_BY_SCALAR_CLASS,
)
from typelattice.programs.calls.library_questions import find_asker
from typelattice.programs.calls.multiple_results import MultipleResults
from typelattice.programs.calls.steps import (
    DTypeOf,
    Input,
    NamedDType,
    Opaque,
    ProgramError,
    Ref,
)
from typelattice.programs.readers.source.python_functions import CALLABLE_VALUES, PYTHON_CLASS_BY_NAME, define
from typelattice.programs.readers.source.python_values import (
    MISSING,
    ClassValue,
    DottedName,
    InstanceValue,
    NamedTupleValue,
    RaisedError,
    Scope,
    UnknownValue,
)
from typelattice.programs.readers.source.readings import Reading
from typelattice.programs.readers.source.syntax_reader import (
    SourceReader,
)
from typelattice.programs.readers.source.targets import set_attribute


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
