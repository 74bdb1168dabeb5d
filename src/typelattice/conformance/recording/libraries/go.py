"""Go, as its compiler checks it: no program is run, the compiler's diagnostics name the types."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence

from typelattice.conformance.recording.libraries.language_base import (
    Language,
    compile_lines,
    forms_from_operators,
    run_program,
)
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber

ERROR_PATTERN = re.compile(r"^\S+\.go:(?P<line>\d+):\d+: (?P<message>.*)$", re.MULTILINE)
VALUE_TYPE_PATTERN = re.compile(
    r"^cannot use .* \((?:value|variable|(?P<constant>constant.*)) of type (?P<type>\w+)\) "
    r"as (?:type )?nothing "
)
CONSTANT_OVERFLOW_PATTERN = re.compile(
    r"^cannot use .* \(untyped int constant.*\) as int value .*\(overflows\)$"
)
ERROR_EXPRESSION_PATTERN = re.compile(
    r"(\S+ [-+*/%&|^<>=!]+ )?\S+ "
    r"\((?P<what>mismatched types [^)]*|variable of type \w+|untyped \w+ constant|constant)"
    r"[^()]*(\([^()]*\))?\)"
)

PROGRAM_HEADER = """package p
import "math"
type nothing interface { nothing() }
const _ = math.Pi
func after[T any](do func(), x T) T { do(); return x }
"""
UNARY_FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log1p"),
    *("log2", "log10", "sin", "sinh", "sqrt", "tan", "tanh", "cbrt", "erf", "exp2", "ceil", "floor"),
    *("trunc", "round", "abs", "signbit"),
)
BINARY_FUNCTIONS = ("atan2", "copysign", "hypot", "nextafter", "pow")
"""Functions of the package math, of one and of two numbers."""


class Go(Language):
    """Variables and untyped constants. A result of only constants is weak, like a constant."""

    name = "go"
    how = "types that go build names for expressions, none is run"
    extra_operands = ("1.5",)
    skipped_operations = (
        "conj", "max", "min", "sort", "isinf", "rint",
    )  # fmt: skip
    native_types: Mapping[str, str] = {
        "bool": "bool",
        **{name: name for name in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")},
        "native_uint": "uint",
        "native_int": "int",
        **{name: name for name in ("float32", "float64", "complex64", "complex128")},
    }
    forms: Mapping[str, tuple[str, ...]] = {
        **forms_from_operators(
            "add", "subtract", "multiply", "divide", "remainder", "equal", "not_equal",
            "less", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor",
            "bitwise_left_shift", "bitwise_right_shift", "positive", "negative",
        ),
        "logical_and": ("{} && {}",),
        "logical_or": ("{} || {}",),
        "bitwise_invert": ("^{}",),
        "logical_not": ("!{}",),
        "real": ("real({})",),
        "imag": ("imag({})",),
        "isnan": ("math.IsNaN({})",),
        "maximum": ("math.Max({}, {})",),
        "minimum": ("math.Min({}, {})",),
        "fmod": ("math.Mod({}, {})",),
        **{name: (f"math.{name.capitalize()}({{}})",) for name in UNARY_FUNCTIONS},
        **{name: (f"math.{name.capitalize()}({{}}, {{}})",) for name in BINARY_FUNCTIONS},
        **{
            op: (f"after(func() {{{{ {{0}} {sign} {{1}} }}}}, {{0}})",)
            for op, sign in (
                *((op, op) for op in ("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")),
                ("setitem", "="),
            )
        },
    }

    def __init__(self) -> None:
        super().__init__()
        self.versions = {"go": run_program("go", "version").stdout.split()[2].removeprefix("go")}

    def constant(self, value: PythonNumber) -> str:
        if isinstance(value, float) and math.isinf(value):
            raise NoSuchOperandError("Go has no infinite constant")
        if isinstance(value, complex):
            return f"{value.imag!r}i"
        return "true" if value is True else f"({value!r})"

    def types(self, expressions: Sequence[str]) -> list[tuple[int, str | TypeError]]:
        """Return the types: each value is assigned to an interface that it lacks, and Go complains by
        name.
        """
        head = [
            *PROGRAM_HEADER.splitlines(),
            *(f"var a_{name} {own}" for name, own in self.native_types.items()),
        ]
        program = [*head, *(f"var _ nothing = {each}" for each in expressions)]
        found = compile_lines(program, "p.go", "go", "build", "-gcflags=-e", "-o", os.devnull)
        errors = [
            (int(error["line"]) - len(head) - 1, self.read_error(error["message"]))
            for error in ERROR_PATTERN.finditer(found)
        ]
        # report an error inside an expression first
        return sorted(errors, key=lambda error: isinstance(error[1], str))

    def read_error(self, message: str) -> str | TypeError:
        """Return the type that a message names, weak for a constant, or an error for any other message."""
        if CONSTANT_OVERFLOW_PATTERN.match(message):
            return "native_int*"
        if value := VALUE_TYPE_PATTERN.match(message):
            return self.names[value["type"]] + "*" * bool(value["constant"] and value["type"] != "bool")
        return TypeError(ERROR_EXPRESSION_PATTERN.sub(r"\g<what>", message))


LIBRARIES = {Go.name: Go}
