"""Second implementations of a library: those in this package, and a user's object with the method `ask`."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, cast

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.conformance.recording.library import (
    CannotAskError,
    Library,
    NoSuchOperandError,
    ParsedOperandString,
    UnknownLibraryError,
)
from typelattice.conformance.recording.load_library import load_library, missing_library_error
from typelattice.conformance.recording.operation_functions import SpelledFunction
from typelattice.conformance.recording.questions import OPERAND_SUFFIXES
from typelattice.core.operations.operations import OPERATION_BY_NAME, OPERATIONS
from typelattice.core.registry.libraries import file_of, recordings
from typelattice.programs.calls.call_tables import find_signature

IMPLEMENTATIONS_TABLE_PATH = Path(__file__).parent / "alternative_implementations" / "table.toml"

REQUIRED_FORMS = ("setup", "array", "argument", "function", "expected", "found")
"""What `forms` must have: `function` is how the library writes one, such as `numpy.{op}`.

The head of the table explains the others, and what `forms` may have, too.
"""


class Implementation(Protocol):
    """Anything that promotes: it may run, trace, compile, import or only look up.

    Further attributes are optional: `operations`, the names of its operations (default: all functions),
    `tiers` of its operands (default: `("array", "0d")`), and two methods. `ask_values` has the arguments of
    `ask`, with numbers in the operands as in `int8=100`, and returns the numbers of the result.
    `ask_chain(operations, operands)` answers for operations, each of which takes the previous result.
    `forms` says how a program writes a call, by `REQUIRED_FORMS`. Differences are then shown as programs.
    """

    name: str
    versions: Mapping[str, str]

    def dtypes(self) -> Sequence[str]:
        """Return the standard names of the dtypes it has."""

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        """Return the answer to a call, such as `int16`; any exception is a refusal.

        `operands` are operand strings, `arguments` follow them in the call: an axis, a shape.
        """


class ImplementationAsLibrary(Library):
    """An object with the method `ask` as a library; its operands are operand strings."""

    how = "asked call by call"
    answers_by = "ask"

    def __init__(self, implementation: Any) -> None:
        self.name, self.versions = implementation.name, implementation.versions
        self._of = implementation
        self._operations = getattr(implementation, "operations", tuple(OPERATIONS))
        self._tiers = getattr(implementation, "tiers", ("array", "0d"))
        known = [tier.strip(":") or "array" for tier in OPERAND_SUFFIXES]
        self.forms: Mapping[str, str] = getattr(implementation, "forms", {})
        if not isinstance(self.forms, Mapping) or (self.forms and not {*REQUIRED_FORMS} <= {*self.forms}):
            must = f"forms must be a dictionary with {', '.join(REQUIRED_FORMS)}"
            raise CannotAskError(f"{self.name}: {must}, not {quote_short(repr(self.forms))}")
        if isinstance(self._operations, str):
            raise CannotAskError(f"{self.name}: operations must be a list, not {self._operations!r}")
        if isinstance(self._tiers, str) or not {*self._tiers} <= {*known}:
            must = f"tiers must be a list of {', '.join(known)}"
            raise CannotAskError(f"{self.name}: {must}, not {self._tiers!r}")

    def dtypes(self) -> Sequence[str]:
        return cast(Sequence[str], self._of.dtypes())

    def make(self, operand: str) -> object:
        read = ParsedOperandString.parse(operand)
        if read.dtype and (read.dtype not in self.dtypes() or read.tier not in self._tiers):
            raise NoSuchOperandError(operand)
        return operand

    def read(self, result: object) -> str:
        method, *given = cast(Any, result)
        return cast(str, getattr(self._of, method)(*given))  # InProcessLibrary checks it

    def values(self, result: object) -> object:
        return self._of.ask_values(*cast(Any, result)[1:])

    def operations(self) -> Mapping[str, Callable[..., object]]:
        written = self.forms.get("function", "")
        return {
            op: SpelledFunction(partial(_pack_question, op), written.format(op=op))
            if written
            else partial(_pack_question, op)
            for op in self._operations
        }

    def chain(self, names: Sequence[str]) -> Callable[..., object]:
        """Return the function of a chain of operations. Raises CannotAskError."""
        if not hasattr(self._of, "ask_chain"):
            raise CannotAskError(f"{self.name} has no method ask_chain(operations, operands); add it")
        return lambda *operands: ("ask_chain", names, operands)


def _pack_question(op_name: str, *operands: str) -> object:
    """Return what the method `ask` takes, behind its name, as the result from which the answer is read."""
    return "ask", op_name, operands, find_signature(OPERATION_BY_NAME[op_name], None).recorder_arguments


def load_implementation(name: str) -> Library:
    """Return a built-in implementation, a recorded library, or the user's own `module:attribute`.

    Calling `attribute` gives an object with the method `ask`, or with the four methods of a library. Raises
    UnknownLibraryError, MissingLibraryError, CannotAskError.
    """
    if name in implementations() and name not in recordings():
        entry = implementations()[name]
        of = entry["library"]
        module_name = f"{__package__}.alternative_implementations.{entry.get('file', file_of(of))}"
        try:
            return cast(Library, importlib.import_module(module_name).IMPLEMENTATIONS[name]())
        except ImportError as error:
            environment = next(each.environment for each in recordings().values() if each.library == of)
            raise missing_library_error(name, error, of, environment) from error
    check_name(name)
    made: Any = load_library(name)
    if hasattr(made, "ask"):
        return ImplementationAsLibrary(made)
    if not hasattr(made, "make"):
        what = f"{name} has neither the method ask nor those of a library"
        raise CannotAskError(f"{what}; give it ask(operation, operands, arguments)")
    return cast(Library, made)


def check_name(name: str) -> None:
    """Raise UnknownLibraryError if `load_implementation` cannot find an implementation by its name."""
    if ":" not in name and name not in (known := (*implementations(), *recordings())):
        near = spelling_hint(name, known) or f"; built in: {', '.join(implementations())}"
        what = f"unknown implementation {quote_short(name)}{near}"
        raise UnknownLibraryError(f"{what}; or write module:attribute for your own")


@cache
def implementations() -> Mapping[str, Mapping[str, Any]]:
    """Return the built-in implementations; the head of the table explains its keys.

    >>> implementations()["torch-numpy"]["with"]
    'numpy'
    """
    read = tomllib.loads(IMPLEMENTATIONS_TABLE_PATH.read_text(encoding="ascii"))
    whole: dict[str, Mapping[str, Any]] = {}
    for name, entry in read.items():  # an entry with `like` follows the entry that it names
        whole[name] = {**whole.get(entry.get("like"), {}), **entry}
    return whole
