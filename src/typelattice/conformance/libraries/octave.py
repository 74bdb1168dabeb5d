"""Octave: an interpreter evaluates each expression, and names the class of its value."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from typelattice.conformance.libraries.language import Language, run_program
from typelattice.conformance.library import NotAskedError, Scalar

ANSWER = re.compile(r"^(?P<number>\d+)\t(?P<class>\w*)\t(?P<message>.*)$", re.MULTILINE)
REPORT = 'printf("%d\\t%s%s\\t\\n", {}, class(r), repmat("_complex", 1, iscomplex(r)))'
FAILURE = 'printf("%d\\t\\t%s\\n", {}, strrep(e.message, "\\n", " "))'

ONE = (
    *("abs", "sign", "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin"),
    *("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "erf", "floor", "ceil"),
    *("round", "real", "imag", "conj", "isnan", "isinf", "isfinite", "sum", "prod", "cumsum", "cumprod"),
    *("max", "min", "mean", "median", "var", "std", "any", "all", "sort", "diff"),
)
TWO = ("atan2", "hypot", "gcd", "lcm")
"""Functions of one and of two arrays."""

REAL = ("hypot", "gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift")


class Octave(Language):
    """Matrices of one row, and literals, which are double. No complex value here becomes real in a result."""

    name = "octave"
    two_at_most = ("result_type",)
    how = "classes of values that octave-cli names; + as result_type"
    native = {
        "bool": "logical",
        **{name: name for name in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")},
        "float32": "single",
        "float64": "double",
        "complex64": "single_complex",
        "complex128": "double_complex",
    }
    spaces = ()  # the language has what is asked here
    forms = {
        "result_type": ("+{}", "{} + {}"),
        "add": ("{} + {}",),
        "subtract": ("{} - {}",),
        "multiply": ("{} .* {}",),
        "divide": ("{} ./ {}",),
        "pow": ("{} .^ {}",),
        "remainder": ("mod({}, {})",),
        "fmod": ("rem({}, {})",),
        "floor_divide": ('idivide({}, {}, "floor")',),
        "matmul": ("{}' * {}",),
        "equal": ("{} == {}",),
        "not_equal": ("{} != {}",),
        "less": ("{} < {}",),
        "greater_equal": ("{} >= {}",),
        "logical_and": ("{} & {}",),
        "logical_or": ("{} | {}",),
        "logical_not": ("!{}",),
        "bitwise_and": ("bitand({}, {})",),
        "bitwise_or": ("bitor({}, {})",),
        "bitwise_xor": ("bitxor({}, {})",),
        "bitwise_left_shift": ("bitshift({}, {})",),
        "maximum": ("max({}, {})",),
        "minimum": ("min({}, {})",),
        "where": ("merge([true false], {}, {})",),
        "concat": ("[{}]", "[{}, {}]"),
        "positive": ("+{}",),
        "negative": ("-{}",),
        "trunc": ("fix({})",),
        **{name: (name + "({})",) for name in ONE},
        **{name: (name + "({}, {})",) for name in TWO},
        **{f"{sign}=": (f"{{0}}; r {sign}= {{1}}",) for sign in ("+", "-")},
        "*=": ("{0}; r .*= {1}",),
        "/=": ("{0}; r ./= {1}",),
    }

    def __init__(self) -> None:
        super().__init__()
        version = run_program("octave-cli", "--version").stdout.partition("\n")[0]
        self.versions = {"octave": version.split()[-1]}
        self.names = {own: name for name, own in self.native.items()}

    def constant(self, value: Scalar) -> str:
        if value is True:
            return "true"
        return f"({value.imag!r}i)" if isinstance(value, complex) else f"({value!r})"

    def operations(self) -> Mapping[str, Callable[..., object]]:
        found = super().operations()
        return {op: _beside_no_complex(call) if op in REAL else call for op, call in found.items()}

    def write(self, forms: Sequence[str], operands: Sequence[str]) -> str:
        """Give operands of one operation different values, so that a quotient of complex ones stays complex."""
        first, *others = operands
        if not others:
            return super().write(forms, operands)
        return super().write(forms, [first.replace("a_", "b_"), *(each.replace("a_", "c_") for each in others)])

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Evaluate each expression; what it raises is an answer, too."""
        program = ["1;", "warning off all"]
        for name, own in self.native.items():
            kind, _, is_complex = own.partition("_")
            program.append(f"a_{name} = {kind}({'[2 + 5i, 3 - 7i]' if is_complex else '[1, 1]'});")
            program.append(f"b_{name} = {kind}({'[5 - 2i, 1 + 4i]' if is_complex else '[2, 3]'});")
            program.append(f"c_{name} = {kind}({'[1 + 7i, 4 - 3i]' if is_complex else '[4, 5]'});")
        for i, each in enumerate(expressions):
            program.append(f"try, r = {each}; {REPORT.format(i)}, catch e, {FAILURE.format(i)}, end")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "expressions.m")
            file.write_text("\n".join(program) + "\n")
            found = run_program("octave-cli", "--quiet", "--no-init-file", str(file)).stdout
        for answer in ANSWER.finditer(found):
            name = self.names.get(answer["class"], answer["class"])
            yield int(answer["number"]), name or TypeError(answer["message"])


def _beside_no_complex(call: Callable[..., object]) -> Callable[..., object]:
    """Wrap an operation of real numbers, which reads the real parts of complex ones in ways of its own."""

    def real(*operands: str) -> object:
        if any("complex" in each or each.endswith("i)") for each in operands):
            raise NotAskedError("it is of real numbers")
        return call(*operands)

    return real


LIBRARIES = {Octave.name: Octave}
