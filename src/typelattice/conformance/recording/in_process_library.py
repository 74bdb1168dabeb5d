"""A library in this process: its own statements are checked, and whatever it raises is an answer."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from typelattice.base.errors.error_texts import quote_short
from typelattice.conformance.recording.chains import chained_function
from typelattice.conformance.recording.compared_values import read_first_values
from typelattice.conformance.recording.find_missing_operations import absent_operations
from typelattice.conformance.recording.library import (
    CannotAskError,
    Library,
    NoSuchOperandError,
    NotAskedError,
)
from typelattice.conformance.recording.questions import (
    MULTI_OPERAND_OPERATIONS,
    Question,
    candidate_operands,
    plan_calls,
)
from typelattice.core.evidence.answer_notation import EXCEPTION_PREFIX, NOT_ASKED_ANSWER
from typelattice.core.operations.operations import Operation, find_operation
from typelattice.core.registry.libraries import recordings

MAX_MESSAGE_CHARS = 160
"""Characters kept of an exception's message."""

MAX_TEXT_CHARS = 400
"""Characters that each text may have which a library says of itself."""

MAX_ANSWER_CHARS = 80
"""Characters that an answer string may have."""

AnswerAndMessage = tuple[str, str]
"""An answer string, and the message if it is an exception; otherwise the values, if they are asked."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The operands and operations of a library.

    Operations in `multi_operand_operations` take three operands or more.
    `absent_operations` has the operations that the library lacks, or None if it names no modules to search.
    `spellings` has the library's own function for an operation, if it is known. `custom_operations` has the
    operations that no other library has. `forms` says how a program writes the calls of an implementation,
    where the user's own one says so.
    """

    name: str
    versions: Mapping[str, str]
    how: str
    python: str
    dtypes: tuple[str, ...]
    operands: tuple[str, ...]
    operations: tuple[str, ...]
    multi_operand_operations: tuple[str, ...]
    absent_operations: tuple[str, ...] | None
    spellings: Mapping[str, str] = field(default_factory=dict)
    custom_operations: Mapping[str, Operation] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)

    def plan_questions(self, random_calls_per_operation: int, seed: int) -> list[Question]:
        """Return the calls of a recording of all that the library has."""
        planned = plan_calls(
            self.operands,
            self.operations,
            self.multi_operand_operations,
            random_calls_per_operation,
            seed,
            self.custom_operations,
        )
        return [*planned.questions(self.operands)]


class InProcessLibrary:
    """A library for calls; each object that an operand string names is made only once.

    With `tells_values` an answer has the values of the result, too. Raises CannotAskError, as all its methods
    do, if the library does not keep to the protocol.
    """

    def __init__(self, library: Library, tells_values: bool = False) -> None:
        self._library, self._tells_values = library, tells_values
        self._functions = _functions_by_operation(library)
        self._made: dict[str, object] = {}

    def catalogue(self) -> Catalogue:
        """Ask the library for its catalogue, and check it."""
        library = self._library
        dtypes = _read_texts("dtypes()", library.dtypes())
        extra = _read_texts("extra_operands", getattr(library, "extra_operands", ()))
        two = getattr(library, "binary_only_operations", ())
        own = getattr(library, "custom_operations", {})
        take_several = {
            *MULTI_OPERAND_OPERATIONS,
            *(op for op, known in own.items() if known.min_operands > 2),
        }
        return Catalogue(
            name=_read_text("name", library.name),
            versions={
                _read_text("versions", key): _read_text("versions", library.versions[key])
                for key in library.versions
            },
            how=_read_text("how", library.how),
            python=platform.python_version(),
            dtypes=dtypes,
            operands=tuple(
                operand for operand in candidate_operands(dtypes, extra) if self.has_operand(operand)
            ),
            operations=tuple(self._functions),
            multi_operand_operations=tuple(
                op for op in self._functions if op in take_several and op not in two
            ),
            absent_operations=self._find_absent_operations(),
            spellings={
                op: str(function.spelling)
                for op, function in self._functions.items()
                if hasattr(function, "spelling")
            },
            custom_operations=own,
            forms=getattr(library, "forms", {}),
        )

    def _find_absent_operations(self) -> tuple[str, ...] | None:
        """Search the operations in the library's namespaces, and in the class of its arrays."""
        name, spaces = self._library.name, getattr(self._library, "namespaces", None)
        if spaces is None or name not in recordings():
            return None
        array = self._library.make("float32") if self.has_operand("float32") else None
        # the arrays of a language are texts of source
        methods = () if isinstance(array, str) else (type(array),)
        return absent_operations(recordings()[name].library, [*spaces, *methods], self._functions)

    def has_operand(self, operand: str) -> bool:
        """Return True if the library can make this operand."""
        try:
            if operand not in self._made:
                self._made[operand] = self._library.make(operand)
        except NoSuchOperandError:
            return False
        except Exception as error:  # a library's code may raise anything
            raise _load_error(f"make({operand!r})", error) from None
        return True

    def ask(self, op_name: str, operands: tuple[str, ...]) -> AnswerAndMessage:
        """Return the library's answer to a call of operands that it has, or to a chain of operations."""
        try:
            for operand in operands:  # most exist already; operands with numbers are not in the catalogue
                if not self.has_operand(operand):
                    return NOT_ASKED_ANSWER, f"no operand {operand}"
        except CannotAskError as error:
            return NOT_ASKED_ANSWER, str(error)
        if op_name not in self._functions:
            self._functions[op_name] = chained_function(self._library, self._functions, op_name)
        try:
            result = self._functions[op_name](*(self._made[operand] for operand in operands))
            answer = self._library.read(result)
        except NotAskedError as error:
            return NOT_ASKED_ANSWER, str(error)
        except CannotAskError:
            raise
        # A Rust panic, for example, is not an Exception, and a library may raise its own KeyboardInterrupt.
        except BaseException as error:
            return exception_answer(error)
        if isinstance(answer, str) and answer.isprintable() and 0 < len(answer) <= MAX_ANSWER_CHARS:
            return str(answer), read_first_values(self._library, result) if self._tells_values else ""
        call = f"{op_name}({', '.join(operands)})"
        by = getattr(self._library, "answers_by", "read")
        what = f"{by} must give a string such as 'int16', it gave {quote_short(repr(answer))} for {call}"
        raise CannotAskError(f"the library cannot be asked: {what}")


def exception_answer(error: BaseException) -> AnswerAndMessage:
    """Return an exception as an answer: its nearest public class, and its message on one line, cut."""
    public = next(cls.__name__ for cls in type(error).__mro__ if not cls.__name__.startswith("_"))
    return f"{EXCEPTION_PREFIX}{public[:MAX_ANSWER_CHARS]}", _exception_message(error)


def _functions_by_operation(library: Library) -> dict[str, Callable[..., object]]:
    """Return a library's functions by the one name of each operation. Also raises OpError."""
    if not callable(library.operations):  # an implementation has no operations; only `compare` calls it
        what = (
            f"operations must be a method that returns functions, not {quote_short(repr(library.operations))}"
        )
        raise CannotAskError(f"the library cannot be asked: {what}")
    found = dict(library.operations())
    if not found:
        raise CannotAskError(
            "the library cannot be asked: operations() names none; give at least one, such as add"
        )
    for op, function in found.items():
        if not callable(function):
            has = f"{quote_short(repr(function))} for {quote_short(str(op))}"
            what = f"operations() has {has}, which cannot be called"
            raise CannotAskError(f"the library cannot be asked: {what}")
    own = getattr(library, "custom_operations", {})
    return {
        find_operation(_read_text("operations()", op), own).name: function for op, function in found.items()
    }


def _read_texts(description: str, value: object) -> tuple[str, ...]:
    """Return a sequence of strings that the library gave."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        found = quote_short(repr(value))
        raise CannotAskError(
            f"the library cannot be asked: {description} must be a list of strings, not {found}"
        )
    return tuple(_read_text(description, each) for each in value)


def _read_text(description: str, value: object) -> str:
    """Return a string that the library gave."""
    if isinstance(value, str) and value.isprintable() and len(value) <= MAX_TEXT_CHARS:
        return str(value)
    needed = f"printable strings of up to {MAX_TEXT_CHARS} characters"
    description = f"{description} must be of {needed}, not {quote_short(repr(value))}"
    raise CannotAskError(f"the library cannot be asked: {description}")


def _load_error(attempt: str, error: BaseException) -> CannotAskError:
    """Return the error for a library whose own code fails before the first call."""
    return CannotAskError(
        f"the library cannot be asked: {attempt} raises {type(error).__name__}: {_exception_message(error)}"
    )


def _exception_message(error: BaseException) -> str:
    """Return the message of an exception on one line, cut, with unprintable characters escaped."""
    try:
        words = " ".join(str(error).split())
    except Exception:
        return "a message that cannot be read"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words[:MAX_MESSAGE_CHARS])[
        :MAX_MESSAGE_CHARS
    ]
