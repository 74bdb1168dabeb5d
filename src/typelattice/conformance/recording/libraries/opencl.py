"""OpenCL C, as Clang checks it: no kernel is run, the compiler's diagnostics name the types."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from typelattice.conformance.recording.libraries.language_base import (
    C_FORMS_BY_OPERATION,
    Language,
    run_program,
)
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber

COMPILER_COMMAND = (
    *("clang", "-x", "cl", "-cl-std=CL3.0", "-target", "spir64", "-w", "-fsyntax-only"),
    *("-ferror-limit=0", "-fshow-overloads=best", "-fno-caret-diagnostics"),
    *("-Xclang", "-finclude-default-header", "-"),
)
ERROR_PATTERN = re.compile(r"^<stdin>:(?P<line>\d+):\d+: error: (?P<message>.*)$", re.MULTILINE)
TYPE_MESSAGE_PATTERN = re.compile(
    r"^initializing '__private struct nothing' with an expression of incompatible type '(?P<type>[^']*)'"
)


class OpenCL(Language):
    """Variables and constants; result_type is the usual arithmetic conversions of `1 ? x : y`."""

    name = "opencl"
    how = "types that clang -cl-std=CL3.0 -target spir64 names for expressions, none is run"
    binary_only_operations = ("result_type",)
    native_types: Mapping[str, str] = {
        "bool": "bool",
        "uint8": "uchar",
        "uint16": "ushort",
        "uint32": "uint",
        "uint64": "ulong",
        "int8": "char",
        "int16": "short",
        "int32": "int",
        "int64": "long",
        "float16": "half",
        "float32": "float",
        "float64": "double",
    }
    skipped_operations = (
        "abs", "sign", "clip", "isfinite", "isinf", "isnan", "signbit", "fabs", "fmax", "fmin", "erf",
        "degrees", "radians", "rint", "less_equal", "greater", "any", "all", "lerp", "dot", "cross",
        "vector_norm", "norm",
    )  # fmt: skip
    forms = C_FORMS_BY_OPERATION

    def __init__(self) -> None:
        super().__init__()
        version = run_program("clang", "--version").stdout
        self.versions = {"clang": re.findall(r"version ([\d.]+)", version)[0]}
        self.names |= {f"unsigned {own}": f"u{name}" for own, name in self.names.items() if name[:3] == "int"}

    def constant(self, value: PythonNumber) -> str:
        if value is True or isinstance(value, complex) or math.isinf(value):
            raise NoSuchOperandError("OpenCL C has no such constant")
        # in OpenCL the sign is an operator, so -2**63 has no literal
        if isinstance(value, int) and abs(value) >= 2**63:
            raise NoSuchOperandError("OpenCL C has no constant of more than 63 bits")
        return f"({value!r})"

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Return the types: no value here can initialise the struct, and Clang complains by name."""
        variables = ", ".join(f"{own} a_{name}" for name, own in self.native_types.items())
        head = [
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable",
            "struct nothing { int x; };",
            f"void ask({variables}) {{",
        ]
        lines = [f"struct nothing x{i} = {each};" for i, each in enumerate(expressions)]
        run = run_program(*COMPILER_COMMAND, program="\n".join([*head, *lines, "}", ""]))
        for error in ERROR_PATTERN.finditer(run.stderr):
            named = TYPE_MESSAGE_PATTERN.match(error["message"])
            message = error["message"].replace("__private ", "")
            answer = self.names[named["type"]] if named else TypeError(message)
            yield int(error["line"]) - len(head) - 1, answer


LIBRARIES = {OpenCL.name: OpenCL}
