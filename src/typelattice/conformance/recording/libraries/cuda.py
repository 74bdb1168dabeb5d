"""CUDA C++, as NVCC checks it: no kernel is run, the compiler's diagnostics name the types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from typelattice.conformance.recording.libraries.language_base import (
    C_FORMS_BY_OPERATION,
    Language,
    compile_lines,
    run_program,
)
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber

ERROR_PATTERN = re.compile(r"^\S+\((?P<line>\d+)\): error: (?P<message>.*)$", re.MULTILINE)
TYPE_MESSAGE_PATTERN = re.compile(
    r'^incomplete type .*"type_is<(?P<type>[^"<>]*?)(?: &)?>"\)? is not allowed$'
)
QUOTED_TEXT_PATTERN = re.compile(r'"[^"]*"')


class CUDA(Language):
    """Variables of a kernel and literals; float16 and bfloat16 are classes of the toolkit's headers."""

    name = "cuda"
    how = "types that nvcc -std=c++17 names for expressions of device code, none is run"
    binary_only_operations = ("result_type",)
    native_types: Mapping[str, str] = {
        "bool": "bool",
        "uint8": "unsigned char",
        "uint16": "unsigned short",
        "uint32": "unsigned int",
        "uint64": "unsigned long",
        "int8": "signed char",
        "int16": "short",
        "int32": "int",
        "int64": "long",
        "float8_e4m3fn": "__nv_fp8_e4m3",
        "float8_e5m2": "__nv_fp8_e5m2",
        "float16": "__half",
        "bfloat16": "__nv_bfloat16",
        "float32": "float",
        "float64": "double",
    }
    skipped_operations = (
        "signbit", "fabs", "fmax", "fmin", "rint", "less_equal", "greater", "norm", "vector_norm",
        "conj", "real", "imag", "angle",
    )  # fmt: skip
    forms: Mapping[str, tuple[str, ...]] = {
        **C_FORMS_BY_OPERATION,
        "result_type": ("{}", "true ? {} : {}"),  # C++ defines std::common_type in this way
        "abs": ("abs({})",),
        "erf": ("erf({})",),
        "isfinite": ("isfinite({})",),
        "isinf": ("isinf({})",),
        "isnan": ("isnan({})",),
    }

    def __init__(self) -> None:
        super().__init__()
        version = run_program("nvcc", "--version").stdout
        self.versions = {"nvcc": re.findall(r"V(\d[\d.]+)", version)[0]}
        self.names |= {"long long": "int64", "unsigned long long": "uint64"}

    def constant(self, value: PythonNumber) -> str:
        if isinstance(value, complex) or abs(value) == float("inf") or value >= 2**64:
            raise NoSuchOperandError("CUDA C++ has no such literal")
        return str(value).lower() if isinstance(value, bool) else f"({value!r})"

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Return the types: no class here has a body, and NVCC names the type of its argument."""
        variables = ", ".join(f"{own} a_{name}" for name, own in self.native_types.items())
        head = [
            *(f"#include <cuda_{each}.h>" for each in ("fp16", "bf16", "fp8")),
            "template <class T> struct type_is;",
            f"__device__ void ask({variables}) {{",
        ]
        lines = [f"type_is<decltype({each})> x{i};" for i, each in enumerate(expressions)]
        options = ("-x", "cu", "-std=c++17", "-w", "-cuda", "-o", "/dev/null")
        limit = ("-Xcudafe", "--error_limit=1000000")
        found = compile_lines([*head, *lines, "}"], "ask.cu", "nvcc", *options, *limit)
        for error in ERROR_PATTERN.finditer(found):
            message = error["message"]
            named = TYPE_MESSAGE_PATTERN.match(message)
            answer = self.names[named["type"]] if named else TypeError(QUOTED_TEXT_PATTERN.sub("", message))
            yield int(error["line"]) - len(head) - 1, answer


LIBRARIES = {CUDA.name: CUDA}
