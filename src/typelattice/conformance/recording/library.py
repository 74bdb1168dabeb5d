"""The protocol of a library that can be recorded: four methods."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.evidence.answer_notation import PYTHON_NUMBER_PREFIX, SCALAR_VALUE_BY_KIND


class NoSuchOperandError(TypelatticeError, LookupError):
    """The library has no object for this operand string. The recorder skips such operands."""


class MissingLibraryError(TypelatticeError, ImportError):
    """The library is not installed, or not in the version of the recording."""


class BrokenLibraryError(MissingLibraryError):
    """The library is installed, but cannot be imported."""


class CannotAskError(TypelatticeError, RuntimeError):
    """A library that cannot be called at all, or that breaks the protocol."""


class NotAskedError(TypelatticeError, TypeError):
    """A call to skip, because its outcome says nothing about the library; recorded as NOT_ASKED.

    An example is a call with only Python scalars, which Python itself answers.
    """


class UnknownLibraryError(TypelatticeError, LookupError):
    """No recording has this name."""


class Library(Protocol):
    """The part of an array library that decides promotion.

    Further attributes are optional: `extra_operands`, operand strings in addition to the standard ones;
    `binary_only_operations`, operations that take two operands here and more elsewhere; `namespaces`, the
    modules and classes where users find its functions; and `custom_operations`, operations that no other
    library has.

    `as_whole(f)` compiles a plain function. It is also applied to a whole chain, so that the compiler sees
    all operations at once. `chain(names)` builds the function of a chain from the names of its operations.
    """

    name: str
    """The recording's name, e.g. `jax-x32`."""
    versions: Mapping[str, str]
    """Package to version, of what decides the answers."""
    how: str
    """One line: how the answers were obtained."""

    def dtypes(self) -> Sequence[str]:
        """Return the standard names of the dtypes it has: bool, unsigned, signed, float, complex."""

    def make(self, operand: str) -> object:
        """Return the object of an operand string, filled with ones unless it states a value.

        Raises NoSuchOperandError if the library has no such object.
        """

    def read(self, result: object) -> str:
        """Return the answer string of an operation's result: `int16`, `float64*` if weak, `py:int`."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        """Return a function of operands for each operation name; `functions.functions` has most."""


PythonNumber = bool | int | float | complex


@dataclass(frozen=True, slots=True)
class ParsedOperandString:
    """The parts of an operand string; dtype is None for a Python scalar, value 1 if none is given."""

    dtype: str | None
    tier: str
    value: PythonNumber

    @classmethod
    def parse(cls, text: str) -> ParsedOperandString:
        """
        >>> ParsedOperandString.parse("int16:0d=300")
        ParsedOperandString(dtype='int16', tier='0d', value=300)
        >>> ParsedOperandString.parse("float")
        ParsedOperandString(dtype=None, tier='python', value=1.0)
        """
        if text in SCALAR_VALUE_BY_KIND:
            return cls(None, "python", SCALAR_VALUE_BY_KIND[text])
        if _is_scalar(text):
            return cls(None, "python", _parse_scalar(text))
        name, _, value = text.partition("=")
        dtype, _, tier = name.partition(":")
        return cls(dtype, tier or "array", _parse_scalar(value) if value else 1)


def _is_scalar(text: str) -> bool:
    return text in ("True", "False", "inf", "-inf", "nan") or text.lstrip("-")[:1].isdigit()


def _parse_scalar(text: str) -> PythonNumber:
    if text.lstrip("-") in ("inf", "nan"):
        return float(text)
    return cast(PythonNumber, ast.literal_eval(text))


def sort_dtype_names(names: Iterable[str]) -> list[str]:
    """Sort dtype names by kind, then width.

    >>> sort_dtype_names(["float32", "int8", "bfloat16", "uint4", "bool"])
    ['bool', 'uint4', 'int8', 'bfloat16', 'float32']
    """
    kinds = ("bool", "uint", "int", "float", "complex")

    def place(name: str) -> tuple[int, int, str]:
        kind = next((i for i, kind in enumerate(kinds) if kind in name), len(kinds))
        width = re.search(r"\d+", name)
        return kind, int(width[0]) if width else 0, name

    return sorted(names, key=place)


def python_answer(result: object) -> str | None:
    """Return `py:int` and so on for a plain Python scalar, and None for any other object.

    >>> python_answer(True)
    'py:bool'
    """
    kinds = (bool, int, float, complex)
    return f"{PYTHON_NUMBER_PREFIX}{type(result).__name__}" if type(result) in kinds else None


def versions_of(*packages: str) -> dict[str, str]:
    """Return the installed versions of these distributions. Raises ModuleNotFoundError."""
    from importlib.metadata import version  # takes a sixth of the start of a library's process

    return {package: version(package) for package in packages}


def versions_text(packages: Mapping[str, str]) -> str:
    """Write packages with their versions: `numpy 2.4.6, ml_dtypes 0.6.0`."""
    return ", ".join(f"{name} {version}" for name, version in packages.items())
