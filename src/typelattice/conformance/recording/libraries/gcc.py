"""C, as GCC compiles it: no program is run, the compiler's diagnostics name the types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from typelattice.conformance.recording.libraries.language_base import (
    Language,
    forms_from_operators,
    run_program,
)
from typelattice.conformance.recording.library import NoSuchOperandError, PythonNumber

ERROR_PATTERN = re.compile(r"^<stdin>:(?P<line>\d+):\d+: error: (?P<message>.*)$", re.MULTILINE)
SELECTOR_TYPE_PATTERN = re.compile(r"'_Generic' selector of type '(?P<type>[^']*)'")


class CLanguage(Language):
    """Variables and constants; result_type is the usual arithmetic conversions of `1 ? x : y`."""

    name = "c"
    compiler = "gcc"
    aliases: Mapping[str, str] = {"long long int": "int64", "long long unsigned int": "uint64"}
    """Types of the same width as another."""
    int64: Mapping[str, str] = {"int64": "long int", "uint64": "long unsigned int"}
    """What int64_t and uint64_t are."""
    forms: Mapping[str, tuple[str, ...]] = {
        **forms_from_operators(
            "add", "subtract", "multiply", "divide", "remainder", "equal", "less",
            "bitwise_and", "bitwise_left_shift", "positive", "negative", "bitwise_invert",
        ),
        "result_type": ("+{}", "1 ? {} : {}"),
        "logical_and": ("{} && {}",),
        "where": ("1 ? {} : {}",),
        "logical_not": ("!{}",),
    }
    skipped_operations = (
        "not_equal", "less_equal", "greater", "greater_equal", "bitwise_or", "bitwise_xor",
        "bitwise_right_shift", "logical_or", "abs", "acos", "acosh", "asin", "asinh", "atan",
        "atan2", "atanh", "ceil", "conj", "copysign", "cos", "cosh", "erf", "exp", "expm1", "floor",
        "hypot", "imag", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "nextafter",
        "pow", "real", "round", "signbit", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "angle",
        "cbrt", "exp2", "fabs", "fmax", "fmin", "fmod", "rint",
    )  # fmt: skip

    def __init__(self) -> None:
        self.how = f"types that {self.compiler} -std=gnu17 names for expressions, none is run"
        self.versions = {"gcc": run_program(self.compiler, "-dumpfullversion").stdout.strip()}
        self.native_types = {
            "bool": "_Bool",
            "uint8": "unsigned char",
            "uint16": "short unsigned int",
            "uint32": "unsigned int",
            "uint64": self.int64["uint64"],
            "int8": "signed char",
            "int16": "short int",
            "int32": "int",
            "int64": self.int64["int64"],
            "float16": "_Float16",
            "float32": "float",
            "float64": "double",
            "complex32": "complex _Float16",
            "complex64": "complex float",
            "complex128": "complex double",
        }
        super().__init__()
        self.names |= {"__int128": "int128", "__int128 unsigned": "uint128", **self.aliases}

    def constant(self, value: PythonNumber) -> str:
        if value is True:
            raise NoSuchOperandError("C17 has no constant of type _Bool")
        if isinstance(value, int) and value >= 2**64:
            raise NoSuchOperandError("C has no constant of more than 64 bits")
        if isinstance(value, complex):
            return f"{value.imag!r}i"
        return f"({value!r})".replace("inf", "__builtin_inf()")

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Return the types: no _Generic here has the type that it selects, and GCC complains by name."""
        variables = [f"extern {own} a_{name};" for name, own in self.native_types.items()]
        program = ["#define complex _Complex", " ".join(variables)]
        first = len(program) + 1
        program += [f"int t{i} = _Generic(({each}), void *: 0);" for i, each in enumerate(expressions)]
        command = (self.compiler, "-std=gnu17", "-w", "-fsyntax-only", "-xc", "-")
        for error in ERROR_PATTERN.finditer(run_program(*command, program="\n".join(program) + "\n").stderr):
            message = error["message"]
            selector = SELECTOR_TYPE_PATTERN.search(message)
            yield int(error["line"]) - first, self.names[selector["type"]] if selector else TypeError(message)


class LLP64(CLanguage):
    """C for 64-bit Windows, where a long has 32 bits."""

    name = "c-llp64"
    compiler = "x86_64-w64-mingw32-gcc"
    aliases: Mapping[str, str] = {"long int": "int32", "long unsigned int": "uint32"}
    int64: Mapping[str, str] = {"int64": "long long int", "uint64": "long long unsigned int"}


LIBRARIES = {each.name: each for each in (CLanguage, LLP64)}
