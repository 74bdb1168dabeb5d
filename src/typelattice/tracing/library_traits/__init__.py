"""Peculiarities of libraries in a run, one file for each library that has any.

A file may define these:

- `system`: a function that names the library's own system, if that depends on the library's settings.
- `active_cast_feature`: a function that names the feature that casts operands by itself, such as autocast.
- `CAST_FORMAT`: the form of a cast in a program, with `array`, `dtype` and `library`.
- `DTYPE_MODULE`: the module that has the dtypes by their names, if it is not the library's root module, or ""
  if none has.
- `COMPILER_SWITCH`: the module and the name of the switch of a compiler that reads bytecode.
- `CONVERTING_METHODS` and `converted_arrays`: methods that cast the arrays of an object in place, and a
  function that yields these arrays with their names.
- `read_values`: a function that returns the values of an array in NumPy, and its dtype. Without it no values
  of the library's arrays are checked.
- `plain_call`: a function that returns a call as NumPy writes it, or None if NumPy has no such call.
- `FILE_SUFFIXES` and `read_file`: the suffixes of files that the library saves, and a function that returns
  what is in one. It runs no code from the file.
- `ROUNDS_SCALARS`: True if the library casts a Python number to the dtype of the array beside it.
- `PLAIN_ARRAY_CLASSES`: the full names of the classes that follow the library's rules, if the library also
  has subclasses with arithmetic of their own.
- `ANNOUNCING_FUNCTIONS`: the functions that announce the dtypes of their first argument, a function.
- `ANNOUNCING_METHODS`: the methods that announce what a call of the object, or one of `COMPUTING_METHODS`,
  computes. `read_schema` reads the dtypes of what both give, by name.
- `is_stand_in`: whether an array has a dtype and no values. `read_outputs` lists those that a model states.
- `COMPUTING_FUNCTIONS`: the functions and methods that compute an array, if its library computes later.
- `RELEASE_COMPARISON`: the module in this folder that compares what two releases compute.
- `IN_RANGE_TEXTS`: the module in this folder that writes numbers which a dtype does not hold as an older
  release took them.
- `MAY_BE_FORKED`: True if a process that has imported it may be forked.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.operands.operand import Operand
from typelattice.core.registry.libraries import file_of, libraries, library_of, recordings
from typelattice.core.registry.releases import system_for_version
from typelattice.core.system_files.system_text import systems
from typelattice.programs.calls.steps import Input, NamedDType, Opaque, Step
from typelattice.tracing.library_traits.array_values import ReadValues
from typelattice.tracing.library_traits.checked_call import FoundLoss, Unchecked


def own_system(library: str, steps: Sequence[Step]) -> str:
    """Name the system with the rules that a library follows in this process, for the dtypes of some steps."""
    system = getattr(_import_library_file(library), "system", None)
    owned = [step for step in steps if step.owner in (library, None)]
    own: str | None = system(collect_dtype_names(owned)) if system is not None else None
    if own is None:
        own = next((name for name, entry in recordings().items() if entry.library == library), library)
    if own not in systems():
        own = "array-api"
    installed = library_version(library)
    return system_for_version(own, installed) if installed else own


@cache
def has_rules(library: str) -> bool:
    """Return True if some system has rules for a library's operations. For pandas it is False.

    An unknown library has the rules of the standard.
    """
    known = any(entry.library == library for entry in recordings().values()) or library in systems()
    return known or library not in libraries()


def active_cast_feature(library: str) -> str:
    """Name the feature of a library that casts operands by itself right now, or return ""."""
    found = getattr(_import_library_file(library), "active_cast_feature", None)
    return str(found()) if found is not None else ""


def cast_text(library: str, array: str, dtype: str, alias: str = "") -> str:
    """Write the cast of an array to a dtype as a program of the library does.

    `array` is an expression that a method can be called on, and `alias` the program's name for the library.

    >>> cast_text("torch", "(x + y)", "y.dtype"), cast_text("tensorflow", "(x + y)", "y.dtype", "tf")
    ('(x + y).to(y.dtype)', 'tf.cast(x + y, y.dtype)')
    """
    form: str = getattr(_import_library_file(library), "CAST_FORMAT", "{array}.astype({dtype})")
    if not form.startswith("{array}"):
        array = _without_parentheses(array)
    modules = libraries()[library].modules if library in libraries() else ()
    return form.format(array=array, dtype=dtype, library=alias or next(iter(modules), ""))


def _without_parentheses(text: str) -> str:
    """Remove the parentheses around an expression, which an argument does not need."""
    with suppress(SyntaxError):
        if text.startswith("(") and not isinstance(ast.parse(text, mode="eval").body, ast.Tuple):
            ast.parse(text[1:-1], mode="eval")  # not so for `(x) + (y)`
            return text[1:-1]
    return text


def modules_with_dtypes(library: str) -> tuple[str, ...]:
    """List the modules of a library that have its dtypes by their names.

    >>> modules_with_dtypes("torch"), modules_with_dtypes("jax"), modules_with_dtypes("keras")
    (('torch',), ('jax.numpy',), ())
    """
    named = getattr(_import_library_file(library), "DTYPE_MODULE", None)
    if named is not None:
        return (named,) if named else ()
    return libraries()[library].modules if library in libraries() else ()


def may_be_forked(library: str) -> bool:
    """Return True if a process that has imported a library may be forked."""
    return getattr(_import_library_file(library), "MAY_BE_FORKED", False) is True


def has_scalars(library: str) -> bool:
    """Return True if the single numbers of a library are scalars, which `float` turns into Python numbers."""
    return getattr(_import_library_file(library), "HAS_SCALARS", False) is True


def computing_functions(library: str) -> tuple[str, ...]:
    """Return the functions and methods that compute an array of a library that computes later, or nothing."""
    return tuple(getattr(_import_library_file(library), "COMPUTING_FUNCTIONS", ()))


@dataclass(frozen=True, slots=True)
class AnnouncementTraits:
    """The functions, methods and objects without values by which a library announces dtypes."""

    is_stand_in: Callable[[Any], bool] = lambda x: False
    announcing_functions: tuple[str, ...] = ()
    announcing_methods: tuple[str, ...] = ()
    computing_methods: tuple[str, ...] = ()
    read_schema: Callable[[Any], Mapping[str, str] | None] = lambda x: None
    read_outputs: Callable[[Any], Sequence[Any]] = lambda x: ()


ANNOUNCEMENT_TRAITS = AnnouncementTraits()
"""The traits of a library that announces nothing."""


@cache
def announcement_traits(module: str) -> AnnouncementTraits:
    """Return the traits of the library of a module, as far as its file defines them."""
    file = _import_library_file(library_of(module) or module)
    lists = ("announcing_functions", "announcing_methods", "computing_methods")
    readers = ("is_stand_in", "read_schema", "read_outputs")
    names = {name: name.upper() for name in lists} | {name: name for name in readers}
    found = {name: getattr(file, own) for name, own in names.items() if hasattr(file, own)}
    return AnnouncementTraits(**found)


def plain_array_classes(module: str) -> tuple[str, ...]:
    """Return the full names of the classes that follow a library's rules, if its file lists them."""
    library = library_of(module)
    return getattr(_import_library_file(library), "PLAIN_ARRAY_CLASSES", ()) if library else ()


LossCheck = Callable[[str, Sequence[Any], Mapping[str, Any], Any], Iterable[FoundLoss | Unchecked]]
PlainCall = Callable[
    [str, Sequence[Any], Mapping[str, Any]], tuple[str, Sequence[Any], Mapping[str, Any]] | None
]


@dataclass(frozen=True, slots=True)
class ValueChecksOfLibrary:
    """The checks of a library's values, of one operation and over several steps, and how to read a call.

    `forget` drops what the checks over several steps remember of an array, by its id. The checks run within
    `without_warnings`, since what they compute may overflow although the program's own numbers do not.
    """

    of_operation: LossCheck
    over_steps: LossCheck
    plain_call: PlainCall
    forget: Callable[[int], None]
    without_warnings: Callable[[], AbstractContextManager[None]]


def value_checks(library: str) -> ValueChecksOfLibrary | None:
    """Return the checks of the values of a library's arrays, or None if there are none."""
    file = _import_library_file(library)
    read = getattr(file, "read_values", None)
    if read is None:
        return None
    from typelattice.tracing.library_traits.value_losses import find_value_losses, without_warnings
    from typelattice.tracing.library_traits.value_shadows import Shadows

    shadows = Shadows(read)
    return ValueChecksOfLibrary(
        partial(find_value_losses, read=read, rounds_scalars=getattr(file, "ROUNDS_SCALARS", False)),
        shadows.find_losses,
        getattr(file, "plain_call", lambda *call: call),
        shadows.drop_shadow,
        without_warnings,
    )


def value_reader(library: str) -> ReadValues | None:
    """Return the function that reads the values of a library's arrays, or None if it has none."""
    found: ReadValues | None = getattr(_import_library_file(library), "read_values", None)
    return found


def release_comparison(library: str) -> Any:
    """Return the module that compares what two releases of a library compute, or None if there is none."""
    module = getattr(_import_library_file(library), "RELEASE_COMPARISON", None)
    return import_module(f"{__name__}.{module}") if module is not None else None


def in_range_texts(library: str) -> Any:
    """Return the function that writes numbers which a dtype does not hold, or None if there is none."""
    module = getattr(_import_library_file(library), "IN_RANGE_TEXTS", None)
    return import_module(f"{__name__}.{module}").list_in_range_texts if module is not None else None


def compiler_switches() -> dict[str, str]:
    """Map the modules with switches of compilers that read bytecode to the names of the switches."""
    found = (getattr(_import_library_file(library), "COMPILER_SWITCH", None) for library in libraries())
    return dict(filter(None, found))


def converting_methods() -> dict[str, Callable[[object], Iterator[tuple[str, object]]]]:
    """Map the methods that cast the arrays of an object in place to functions that yield these arrays."""
    found: dict[str, Callable[[object], Iterator[tuple[str, object]]]] = {}
    for library in libraries():
        file = _import_library_file(library)
        for name in getattr(file, "CONVERTING_METHODS", ()):
            found[name] = getattr(file, "converted_arrays")  # noqa: B009 (no file has to define it)
    return found


def file_readers() -> dict[str, Callable[[Path], object]]:
    """Map the suffixes of files that libraries save to functions that return what is in such a file."""
    found: dict[str, Callable[[Path], object]] = {}
    for library in libraries():
        file = _import_library_file(library)
        for suffix in getattr(file, "FILE_SUFFIXES", ()):
            found[suffix] = getattr(file, "read_file")  # noqa: B009 (no file has to define it)
    return found


@cache
def _import_library_file(library: str) -> ModuleType | None:
    """Import the file of a library, or return None if it has none."""
    path = f"{__name__}.{file_of(library)}"
    return import_module(path) if find_spec(path) is not None else None


def library_version(library: str) -> str:
    """Return the version of a library that the program has imported, or "" if it is unknown."""
    known = libraries().get(library)
    modules = [module for module in (known.modules if known else ()) if module in sys.modules]
    for module in modules:
        found = getattr(sys.modules[module], "__version__", None)
        if isinstance(found, str):
            return found
    from importlib import metadata  # takes a tenth of the start of a traced script

    for module in modules:  # MLX and tinygrad have no __version__
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(module)
    return ""


def dtype_text(text: str) -> str:
    """Return the name of a dtype that a program gave as text, which may be one of NumPy's codes."""
    if text in DTYPES or "numpy" not in sys.modules:
        return text
    return str(sys.modules["numpy"].dtype(text).name)


def collect_dtype_names(steps: Sequence[Step]) -> set[str]:
    """Collect the names of the dtypes that a program takes in or requests."""
    found: set[str] = set()
    for step in steps:
        match step:
            case Input(fixed_result=Operand(dtype=d)) | Opaque(fixed_result=Operand(dtype=d)) if (
                d is not None
            ):
                found.add(d.name)
            case Step(requested_dtype=NamedDType(name)):
                found.add(name)
    return found
