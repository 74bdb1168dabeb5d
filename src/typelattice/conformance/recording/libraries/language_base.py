"""Common code of languages: one run of a compiler or an interpreter types many expressions."""

from __future__ import annotations

import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

from typelattice.conformance.recording.library import (
    CannotAskError,
    MissingLibraryError,
    NoSuchOperandError,
    NotAskedError,
    ParsedOperandString,
    PythonNumber,
)
from typelattice.core.operations.operations import find_operation


class Language:
    """Variables and constants of a language. A subclass writes them, and finds the types."""

    name: str
    how: str
    versions: Mapping[str, str]
    native_types: Mapping[str, str]
    """Standard name to the language's own name of a type."""
    forms: Mapping[str, tuple[str, ...]]
    """How the language writes an operation: of one operand, of two, where it takes either."""
    skipped_operations: tuple[str, ...] = ()
    """Operations that the language has, and that are not asked here."""

    def __init__(self) -> None:
        self.names = {own: name for name, own in self.native_types.items()}
        self.namespaces = (SimpleNamespace(**dict.fromkeys(self.skipped_operations)),)
        self._made: dict[str, None] = {}
        self._known: dict[str, str | TypeError] = {}

    def dtypes(self) -> Sequence[str]:
        return tuple(self.native_types)

    def make(self, operand: str) -> str:
        parsed = ParsedOperandString.parse(operand)
        if parsed.dtype is None:
            source = self.constant(parsed.value)
        elif parsed.dtype in self.native_types and parsed.tier == "array":
            source = f"a_{parsed.dtype}"
        else:
            raise NoSuchOperandError(operand)
        self._made[source] = None
        return source

    def constant(self, value: PythonNumber) -> str:
        """Write a constant; raise NoSuchOperandError if the language has no constant of this value."""
        raise NotImplementedError

    def types(self, expressions: Sequence[str]) -> Iterable[tuple[int, str | TypeError]]:
        """Yield the index of each expression with its type or its error; the first of several counts."""
        raise NotImplementedError

    def read(self, result: object) -> str:
        return str(result)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {op: self._make_operation(op, forms) for op, forms in self.forms.items()}

    def write(self, forms: Sequence[str], operands: Sequence[str]) -> str:
        """Write an operation of operands, in the form for their number."""
        first, *others = operands
        if not others:
            return forms[0].format(first)
        return forms[-1].format(first, others[0] if len(others) == 1 else self.write(forms, others))

    def _make_operation(self, op_name: str, forms: Sequence[str]) -> Callable[..., str]:
        writes = find_operation(op_name).operation_class in ("assignment", "in-place")

        def answer(*operands: str) -> str:
            if writes and not operands[0].startswith("a_"):
                raise NotAskedError("a constant cannot be written into")
            expression = self.write(forms, operands)
            if expression not in self._known:  # one run also types all expressions that probably follow
                likely = itertools.product(self._made, repeat=min(len(operands), 2))
                asked = {expression, *(self.write(forms, each) for each in likely)}
                self._learn_types([*asked.difference(self._known)])
            known = self._known[expression]
            if isinstance(known, TypeError):
                raise known
            return known

        return answer

    def _learn_types(self, expressions: Sequence[str]) -> None:
        """Find the types of expressions. Raises CannotAskError if one cannot be read."""
        try:
            for i, found in self.types(expressions):
                self._known.setdefault(expressions[i], found)
        except Exception as error:
            what = f"types() of {self.name} raises {type(error).__name__}: {error}"
            raise CannotAskError(f"the library cannot be asked: {what}") from error


def forms_from_operators(*ops: str) -> dict[str, tuple[str, ...]]:
    """Return the forms of operations that a language writes with Python's signs.

    >>> forms_from_operators("add", "negative")
    {'add': ('{} + {}',), 'negative': ('-{}',)}
    """
    known = {op: find_operation(op) for op in ops}
    signs = {op: str(each.operator).strip("x") for op, each in known.items()}
    return {
        op: (f"{sign}{{}}" if known[op].max_operands == 1 else f"{{}} {sign} {{}}",)
        for op, sign in signs.items()
    }


OPERATOR_FORMS_BY_OPERATION: Mapping[str, tuple[str, ...]] = {
    **forms_from_operators(
        "add", "subtract", "multiply", "divide", "equal", "not_equal", "less",
        "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor",
        "bitwise_left_shift", "bitwise_right_shift", "positive", "negative",
        "bitwise_invert",
    ),
    "logical_and": ("{} && {}",),
    "logical_or": ("{} || {}",),
    "logical_not": ("!{}",),
    **{
        f"{sign}=": (f"({{}} {sign}= {{}})",)
        for sign in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
    },
}  # fmt: skip
"""The forms of the operators that C and the languages after it share; what % is differs."""

C_FORMS_BY_OPERATION: Mapping[str, tuple[str, ...]] = {
    **OPERATOR_FORMS_BY_OPERATION,
    **forms_from_operators("remainder"),
    "result_type": ("+{}", "1 ? {} : {}"),
    "where": ("1 ? {} : {}",),
    "maximum": ("max({}, {})",),
    "minimum": ("min({}, {})",),
    "round": ("rint({})",),
    **{
        name: (name + "({})",)
        for name in (
            "sqrt", "rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
            "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor",
            "ceil", "trunc",
        )
    },
    **{name: (name + "({}, {})",) for name in ("pow", "atan2", "hypot", "fmod", "copysign", "nextafter")},
    "setitem": ("({} = {})",),
}  # fmt: skip
"""The forms that OpenCL C and CUDA C++ share."""


def run_program(*command: str, program: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command on a program that it reads from its input, with messages in English."""
    try:
        return subprocess.run(
            command,
            input=program,
            capture_output=True,
            check=False,
            text=True,
            env=os.environ | {"LC_ALL": "C"},
        )
    except FileNotFoundError as error:
        raise MissingLibraryError(f"there is no {command[0]} here") from error


def compile_lines(lines: Sequence[str], file_name: str, *command: str) -> str:
    """Run a compiler on a file of these lines; return all its messages."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, file_name)
        file.write_text("\n".join(lines) + "\n")
        run = run_program(*command, str(file))
    return run.stdout + run.stderr
