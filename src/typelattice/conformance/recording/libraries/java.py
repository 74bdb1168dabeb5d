"""Java, as javac checks it: no program is run, the compiler's diagnostics name the types."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from typelattice.conformance.recording.libraries.language_base import (
    OPERATOR_FORMS_BY_OPERATION,
    Language,
    compile_lines,
    run_program,
)
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber

ERROR_PATTERN = re.compile(
    r"^\S+:(?P<line>\d+): error: (?P<message>.*(?:\n  (?:first|second) type: .*)*)$", re.MULTILINE
)
TYPE_MESSAGE_PATTERN = re.compile(r"^incompatible types: (?P<type>\w+) cannot be converted to Nothing$")


class Java(Language):
    """Variables of primitive types, and literals: an int or a double."""

    name = "java"
    how = "types that javac names for expressions, none is run; Math has the functions"
    native_types: Mapping[str, str] = {
        "bool": "boolean",
        "int8": "byte",
        "int16": "short",
        "int32": "int",
        "int64": "long",
        "float32": "float",
        "float64": "double",
    }
    skipped_operations = (
        "copysign", "nextafter", "floor_divide", "isfinite", "isinf", "isnan", "degrees", "radians",
        "rint", "fabs", "logical_xor",
    )  # fmt: skip
    forms: Mapping[str, tuple[str, ...]] = {
        **OPERATOR_FORMS_BY_OPERATION,
        "fmod": ("{} % {}",),
        "maximum": ("Math.max({}, {})",),
        "minimum": ("Math.min({}, {})",),
        "abs": ("Math.abs({})",),
        "sign": ("Math.signum({})",),
        "pow": ("Math.pow({}, {})",),
        "round": ("Math.rint({})",),
        **{
            name: (f"Math.{name}({{}})",)
            for name in ("sqrt", "cbrt", "exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan")
        },
        **{name: (f"Math.{name}({{}})",) for name in ("asin", "acos", "atan", "sinh", "cosh", "tanh")},
        **{name: (f"Math.{name}({{}})",) for name in ("floor", "ceil")},
        **{name: (f"Math.{name}({{}}, {{}})",) for name in ("atan2", "hypot")},
    }

    def __init__(self) -> None:
        super().__init__()
        version = run_program("javac", "-version")
        self.versions = {"java": (version.stdout or version.stderr).split()[1]}

    def constant(self, value: PythonNumber) -> str:
        if isinstance(value, complex) or math.isinf(value):
            raise NoSuchOperandError("Java has no such literal")
        if isinstance(value, int) and not -(2**31) <= value < 2**31:
            raise NoSuchOperandError("javac reads no such int, and then checks nothing")
        return str(value).lower() if isinstance(value, bool) else f"({value!r})"

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Return the types: no value here can be assigned to the class, and javac complains by name."""
        variables = " ".join(f"static {own} a_{name};" for name, own in self.native_types.items())
        lines = [f"Nothing x{i} = {each};" for i, each in enumerate(expressions)]
        program = [f"class Nothing {{ {variables}", *lines, "}"]
        options = ("-proc:none", "-Xmaxerrs", str(2 * len(program)))
        found = compile_lines(program, "Nothing.java", "javac", *options)
        for error in ERROR_PATTERN.finditer(found):
            message = re.sub(r"\s+", " ", error["message"])
            named = TYPE_MESSAGE_PATTERN.match(message)
            yield int(error["line"]) - 2, self.names[named["type"]] if named else TypeError(message)


LIBRARIES = {Java.name: Java}
