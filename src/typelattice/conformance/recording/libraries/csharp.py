"""C#, as Mono's compiler checks it: no program is run, the compiler's diagnostics name the types."""

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

ERROR_PATTERN = re.compile(r"^\S+\((?P<line>\d+),\d+\): error CS\d+: (?P<message>.*)$", re.MULTILINE)
TYPE_MESSAGE_PATTERN = re.compile(r"^Cannot implicitly convert type `(?P<type>\w+)' to `Nothing'$")
TYPE_NAMES_PATTERN = re.compile(r" of type|`[^']*'")

UNARY_FUNCTIONS = (
    *("acos", "asin", "atan", "cos", "cosh", "exp", "log", "log10", "sin", "sinh", "sqrt", "tan", "tanh"),
    *("abs", "sign", "floor", "round"),
)


class CSharp(Language):
    """Variables of simple types, and literals: the first of int, uint, long and ulong, or a double."""

    name = "csharp"
    how = "types that mcs names for expressions, none is run; Math has the functions"
    native_types: Mapping[str, str] = {
        "bool": "bool",
        "uint8": "byte",
        "uint16": "ushort",
        "uint32": "uint",
        "uint64": "ulong",
        "int8": "sbyte",
        "int16": "short",
        "int32": "int",
        "int64": "long",
        "float32": "float",
        "float64": "double",
    }
    skipped_operations = (
        "copysign", "clip", "isfinite", "isinf", "isnan", "rint", "fabs", "logical_xor", "cbrt", "log2",
        "hypot", "degrees", "radians", "exp2", "expm1", "log1p", "acosh", "asinh", "atanh", "sort",
    )  # fmt: skip
    forms: Mapping[str, tuple[str, ...]] = {
        **OPERATOR_FORMS_BY_OPERATION,
        "fmod": ("{} % {}",),
        "maximum": ("System.Math.Max({}, {})",),
        "minimum": ("System.Math.Min({}, {})",),
        "pow": ("System.Math.Pow({}, {})",),
        "atan2": ("System.Math.Atan2({}, {})",),
        "ceil": ("System.Math.Ceiling({})",),
        "trunc": ("System.Math.Truncate({})",),
        **{name: (f"System.Math.{name.capitalize()}({{}})",) for name in UNARY_FUNCTIONS},
        "setitem": ("({} = {})",),
    }

    def __init__(self) -> None:
        super().__init__()
        self.versions = {"mono": run_program("mcs", "--version").stdout.split()[-1]}

    def constant(self, value: PythonNumber) -> str:
        if isinstance(value, complex) or math.isinf(value) or value >= 2**64:
            raise NoSuchOperandError("C# has no such literal")
        return str(value).lower() if isinstance(value, bool) else f"({value!r})"

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Return the types: no value here can be assigned to the class, and mcs complains by name."""
        variables = " ".join(f"static {own} a_{name};" for name, own in self.native_types.items())
        head = ["class Nothing {", variables, "static void ask() {", "Nothing n;"]
        lines = [f"n = unchecked({each});" for each in expressions]
        options = ("-target:library", "-out:/dev/null")
        found = compile_lines([*head, *lines, "} }"], "Nothing.cs", "mcs", *options)
        # after an ambiguous call the compiler also reports a decimal
        for error in ERROR_PATTERN.finditer(found):
            message = error["message"]
            named = TYPE_MESSAGE_PATTERN.match(message)
            own = self.names.get(named["type"]) if named else None
            answer = own or TypeError(TYPE_NAMES_PATTERN.sub("", message))
            yield int(error["line"]) - len(head) - 1, answer


LIBRARIES = {CSharp.name: CSharp}
