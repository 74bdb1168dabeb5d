"""C, as GCC compiles it: no program is run, the compiler's diagnostics name the types."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence

from typelattice.conformance.library import MissingLibraryError, NoSuchOperandError, OperandString, Scalar

EXPRESSIONS: Mapping[str, tuple[str, ...]] = {
    "result_type": ("+{}", "1 ? {} : {}"),
    "add": ("{} + {}",),
    "subtract": ("{} - {}",),
    "multiply": ("{} * {}",),
    "divide": ("{} / {}",),
    "remainder": ("{} % {}",),
    "equal": ("{} == {}",),
    "less": ("{} < {}",),
    "bitwise_and": ("{} & {}",),
    "bitwise_left_shift": ("{} << {}",),
    "logical_and": ("{} && {}",),
    "where": ("1 ? {} : {}",),
    "positive": ("+{}",),
    "negative": ("-{}",),
    "bitwise_invert": ("~{}",),
    "logical_not": ("!{}",),
}
"""Of one operand, of two, where an operation takes either."""

ERROR = re.compile(r"^<stdin>:(?P<line>\d+):\d+: error: (?P<message>.*)$", re.MULTILINE)
SELECTOR = re.compile(r"'_Generic' selector of type '(?P<type>[^']*)'")


class C:
    """Variables and constants; result_type is the usual arithmetic conversions of `1 ? x : y`."""

    name = "c"
    compiler = "gcc"
    aliases: Mapping[str, str] = {"long long int": "int64", "long long unsigned int": "uint64"}
    """Types of the same width as another."""
    types: Mapping[str, str] = {"int64": "long int", "uint64": "long unsigned int"}
    """What int64_t and uint64_t are."""

    def __init__(self) -> None:
        self.how = f"types that {self.compiler} -std=gnu17 names for expressions, none is run"
        self.versions = {"gcc": self._run("-dumpfullversion").stdout.strip()}
        self.native = {
            "bool": "_Bool",
            "uint8": "unsigned char",
            "uint16": "short unsigned int",
            "uint32": "unsigned int",
            "uint64": self.types["uint64"],
            "int8": "signed char",
            "int16": "short int",
            "int32": "int",
            "int64": self.types["int64"],
            "float16": "_Float16",
            "float32": "float",
            "float64": "double",
            "complex32": "complex _Float16",
            "complex64": "complex float",
            "complex128": "complex double",
        }
        self.names = {own: name for name, own in self.native.items()}
        self.names |= {"__int128": "int128", "__int128 unsigned": "uint128", **self.aliases}
        self.made: dict[str, None] = {}
        self.known: dict[str, str | TypeError] = {}

    def dtypes(self) -> Sequence[str]:
        return tuple(self.native)

    def make(self, operand: str) -> str:
        parsed = OperandString.parse(operand)
        if parsed.dtype is None:
            source = _constant(parsed.value)
        elif parsed.dtype in self.native and parsed.tier == "array":
            source = f"a_{parsed.dtype}"
        else:
            raise NoSuchOperandError(operand)
        self.made[source] = None
        return source

    def read(self, result: object) -> str:
        return str(result)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {op: self._operation(forms) for op, forms in EXPRESSIONS.items()}

    def _operation(self, forms: Sequence[str]) -> Callable[..., str]:
        def answer(*operands: str) -> str:
            expression = _expression(forms, operands)
            if expression not in self.known:  # compile with it all that is likely to come
                likely = itertools.product(self.made, repeat=min(len(operands), 2))
                self._learn({expression, *(_expression(forms, each) for each in likely)})
            known = self.known[expression]
            if isinstance(known, TypeError):
                raise known
            return known

        return answer

    def _learn(self, expressions: Iterable[str]) -> None:
        """No _Generic here has the type that it selects, and GCC complains by name."""
        asked = list(expressions)
        variables = [f"extern {own} a_{name};" for name, own in self.native.items()]
        program = ["#define complex _Complex", " ".join(variables)]
        first = len(program) + 1
        program += [f"int t{i} = _Generic(({each}), void *: 0);" for i, each in enumerate(asked)]
        options = ("-std=gnu17", "-w", "-fsyntax-only", "-xc", "-")
        for error in ERROR.finditer(self._run(*options, program="\n".join(program) + "\n").stderr):
            message = error["message"]
            selector = SELECTOR.search(message)
            answer = self.names[selector["type"]] if selector else TypeError(message)
            self.known.setdefault(asked[int(error["line"]) - first], answer)

    def _run(self, *options: str, program: str = "") -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self.compiler, *options],
                input=program,
                capture_output=True,
                check=False,
                text=True,
                env=os.environ | {"LC_ALL": "C"},
            )
        except FileNotFoundError as error:
            raise MissingLibraryError(f"there is no {self.compiler} here") from error


class LLP64(C):
    """C for 64-bit Windows, where a long has 32 bits."""

    name = "c-llp64"
    compiler = "x86_64-w64-mingw32-gcc"
    aliases: Mapping[str, str] = {"long int": "int32", "long unsigned int": "uint32"}
    types: Mapping[str, str] = {"int64": "long long int", "uint64": "long long unsigned int"}


def _expression(forms: Sequence[str], operands: Sequence[str]) -> str:
    """Several operands group to the right."""
    first, *others = operands
    if not others:
        return forms[0].format(first)
    return forms[-1].format(first, others[0] if len(others) == 1 else _expression(forms, others))


def _constant(value: Scalar) -> str:
    if value is True:
        raise NoSuchOperandError("C17 has no constant of type _Bool")
    if isinstance(value, int) and value >= 2**64:
        raise NoSuchOperandError("C has no constant of more than 64 bits")
    if isinstance(value, complex):
        return f"{value.imag!r}i"
    return f"({value!r})".replace("inf", "__builtin_inf()")


LIBRARIES = {each.name: each for each in (C, LLP64)}
