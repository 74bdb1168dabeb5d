"""A library whose dtype promotion can be recorded: four methods, and what they are made of."""

from __future__ import annotations

import ast
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from typelattice.facts.errors import TypelatticeError
from typelattice.recorded.answers import OF_PYTHON, UNKNOWN


class NoSuchOperandError(TypelatticeError, LookupError):
    """The library has no object for this operand string: not an error, the recorder skips it."""


class MissingLibraryError(TypelatticeError, ImportError):
    """The library is not installed, or not in the version that this recording is of."""


class BrokenLibraryError(MissingLibraryError):
    """The library is installed, and cannot be imported."""


class CannotAskError(TypelatticeError, RuntimeError):
    """A library that cannot be asked at all, or that does not keep to the protocol."""


class NotAskedError(TypelatticeError, TypeError):
    """A call that is skipped, since its outcome tells nothing about the library; recorded as NOT_ASKED.

    An example is a call of Python scalars alone, which Python itself answers.
    """


class UnknownLibraryError(TypelatticeError, LookupError):
    """No recording has this name."""


class Library(Protocol):
    """An array library, as far as its promotion is concerned.

    Further attributes are read where they exist: `extra_operands`, operand strings to ask beyond the
    standard ones; `two_at_most`, operations that take two operands here and more elsewhere; `spaces`, the
    modules and classes where users find its functions; and `own`, operations that no other library has.

    In a chain of operations each takes the result of the one before. A library with the method `as_whole`
    makes each of its functions of a plain one, and so the function of a chain, of which it then sees all.
    One with the method `chain` makes the function of the names of operations.
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
        """The object an operand string names, of ones unless a value is given; else NoSuchOperandError."""

    def read(self, result: object) -> str:
        """Return the answer string of an operation's result: `int16`, `float64*` if weak, `py:int`."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        """Operation name to a function of made operands; `functions.functions` covers most."""


Scalar = bool | int | float | complex


@dataclass(frozen=True, slots=True)
class OperandString:
    """The parts of an operand string; dtype is None for a Python scalar, value 1 where none is given."""

    dtype: str | None
    tier: str
    value: Scalar

    @classmethod
    def parse(cls, text: str) -> OperandString:
        """
        >>> OperandString.parse("int16:0d=300")
        OperandString(dtype='int16', tier='0d', value=300)
        >>> OperandString.parse("float")
        OperandString(dtype=None, tier='python', value=1.0)
        """
        if text in UNKNOWN:
            return cls(None, "python", UNKNOWN[text])
        if _is_scalar(text):
            return cls(None, "python", _scalar(text))
        name, _, value = text.partition("=")
        dtype, _, tier = name.partition(":")
        return cls(dtype, tier or "array", _scalar(value) if value else 1)


def _is_scalar(text: str) -> bool:
    return text in ("True", "False", "inf", "-inf", "nan") or text.lstrip("-")[:1].isdigit()


def _scalar(text: str) -> Scalar:
    if text.lstrip("-") in ("inf", "nan"):
        return float(text)
    return cast(Scalar, ast.literal_eval(text))


def in_order(names: Iterable[str]) -> list[str]:
    """Dtype names by kind, then width.

    >>> in_order(["float32", "int8", "bfloat16", "uint4", "bool"])
    ['bool', 'uint4', 'int8', 'bfloat16', 'float32']
    """
    kinds = ("bool", "uint", "int", "float", "complex")

    def place(name: str) -> tuple[int, int, str]:
        kind = next((i for i, kind in enumerate(kinds) if kind in name), len(kinds))
        width = re.search(r"\d+", name)
        return kind, int(width[0]) if width else 0, name

    return sorted(names, key=place)


def python_answer(result: object) -> str | None:
    """`py:int` and the like for a plain Python scalar, otherwise None.

    >>> python_answer(True)
    'py:bool'
    """
    kinds = (bool, int, float, complex)
    return f"{OF_PYTHON}{type(result).__name__}" if type(result) in kinds else None


def versions_of(*packages: str) -> dict[str, str]:
    """Return the installed versions of these distributions."""
    return {package: importlib.metadata.version(package) for package in packages}


def versions(packages: Mapping[str, str]) -> str:
    """Write packages with their versions: `numpy 2.4.6, ml_dtypes 0.6.0`."""
    return ", ".join(f"{name} {version}" for name, version in packages.items())
