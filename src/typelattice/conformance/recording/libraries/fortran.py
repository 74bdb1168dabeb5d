"""Fortran, as gfortran checks it: no program is run, the compiler's diagnostics name the types."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from typelattice.conformance.recording.libraries.language_base import (
    Language,
    compile_lines,
    forms_from_operators,
    run_program,
)
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber

COMPILER_COMMAND = (
    "gfortran",
    "-std=f2018",
    "-w",
    "-fsyntax-only",
    "-fmax-errors=0",
    "-ffree-line-length-none",
)
ERROR_PATTERN = re.compile(
    r"^\S+:(?P<line>\d+):\d+:$(?:\n(?!\S+:\d+:\d+:$).*)*?\n(?:Fatal )?Error: (?P<message>.*)$", re.MULTILINE
)
TYPE_MESSAGE_PATTERN = re.compile(r"^Cannot convert (?P<type>\w+\(\d+\)) to TYPE\(nothing\) at")
ASSIGNMENT_PATTERN = re.compile(r"^a_(\w+) = ")

UNARY_FUNCTIONS = (
    *("abs", "sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"),
    *("tanh", "asinh", "acosh", "atanh", "erf", "floor"),
)
BINARY_FUNCTIONS = ("atan2", "hypot")
"""Functions of one and of two numbers."""


class Fortran(Language):
    """Variables and literal constants. An integer literal is of 32 bits, as is a real one."""

    name = "fortran"
    how = "types that gfortran -std=f2018 names for expressions, none is run"
    native_types: Mapping[str, str] = {
        "bool": "LOGICAL(4)",
        "int8": "INTEGER(1)",
        "int16": "INTEGER(2)",
        "int32": "INTEGER(4)",
        "int64": "INTEGER(8)",
        "int128": "INTEGER(16)",
        "float32": "REAL(4)",
        "float64": "REAL(8)",
        "complex64": "COMPLEX(4)",
        "complex128": "COMPLEX(8)",
    }
    skipped_operations = (
        "matmul", "dot", "vdot", "matrix_transpose", "reshape", "roll", "repeat", "count_nonzero",
        "argmax", "argmin", "norm", "vector_norm", "real", "nextafter", "isnan", "isfinite", "fabs",
        "rint",
    )  # fmt: skip
    forms: Mapping[str, tuple[str, ...]] = {
        **forms_from_operators(
            "add", "subtract", "multiply", "divide", "pow", "equal", "less",
            "greater_equal", "positive", "negative",
        ),
        "remainder": ("modulo({}, {})",),
        "fmod": ("mod({}, {})",),
        "not_equal": ("{} /= {}",),
        "logical_and": ("{} .and. {}",),
        "logical_or": ("{} .or. {}",),
        "logical_xor": ("{} .neqv. {}",),
        "logical_not": (".not. {}",),
        "bitwise_and": ("iand({}, {})",),
        "bitwise_or": ("ior({}, {})",),
        "bitwise_xor": ("ieor({}, {})",),
        "bitwise_invert": ("not({})",),
        "bitwise_left_shift": ("shiftl({}, {})",),
        "bitwise_right_shift": ("shiftr({}, {})",),
        "maximum": ("max({}, {})",),
        "minimum": ("min({}, {})",),
        "where": ("merge({}, {}, a_bool)",),
        "copysign": ("sign({}, {})",),
        "conj": ("conjg({})",),
        "imag": ("aimag({})",),
        "ceil": ("ceiling({})",),
        "trunc": ("aint({})",),
        "round": ("anint({})",),
        "sum": ("sum([{}])",),
        "prod": ("product([{}])",),
        "max": ("maxval([{}])",),
        "min": ("minval([{}])",),
        "any": ("any([{}])",),
        "all": ("all([{}])",),
        "setitem": ("{} = {}",),
        **{name: (name + "({})",) for name in UNARY_FUNCTIONS},
        **{name: (name + "({}, {})",) for name in BINARY_FUNCTIONS},
    }

    def __init__(self) -> None:
        super().__init__()
        self.versions = {"gfortran": run_program("gfortran", "-dumpfullversion").stdout.strip()}

    def constant(self, value: PythonNumber) -> str:
        if value is True:
            return ".true."
        if isinstance(value, float) and math.isinf(value):
            raise NoSuchOperandError("Fortran has no infinite constant")
        if isinstance(value, complex):
            return f"(0.0, {value.imag!r})"
        return f"({value!r})"

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Return the types: no value here can be assigned to the derived type, and gfortran complains by
        name.
        """
        head = ["program p", "implicit none", "type nothing", "end type", "type(nothing) :: n"]
        head += [f"{own} :: a_{name}" for name, own in self.native_types.items()]
        lines = [each if ASSIGNMENT_PATTERN.match(each) else f"n = {each}" for each in expressions]
        found = compile_lines([*head, *lines, "end program"], "p.f90", *COMPILER_COMMAND)
        for error in ERROR_PATTERN.finditer(found):
            message = error["message"]
            type_named = TYPE_MESSAGE_PATTERN.match(message)
            answer = self.names[type_named["type"]] if type_named else TypeError(message)
            yield int(error["line"]) - len(head) - 1, answer
        for i, each in enumerate(expressions):  # an assignment that the compiler accepts has no diagnostic
            if target := ASSIGNMENT_PATTERN.match(each):
                yield i, target[1]


LIBRARIES = {Fortran.name: Fortran}
