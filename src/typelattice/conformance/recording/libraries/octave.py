"""Octave: an interpreter evaluates each expression, and names the class of its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from typelattice.conformance.recording.libraries.language_base import (
    Language,
    compile_lines,
    forms_from_operators,
    run_program,
)
from typelattice.conformance.recording.library import PythonNumber
from typelattice.conformance.recording.operation_functions import skip_unless

ANSWER_LINE_PATTERN = re.compile(r"^(?P<number>\d+)\t(?P<class>\w*)\t(?P<message>.*)$", re.MULTILINE)
PRINT_CLASS_COMMAND = 'printf("%d\\t%s%s\\t\\n", {}, class(r), repmat("_complex", 1, iscomplex(r)))'
PRINT_ERROR_COMMAND = 'printf("%d\\t\\t%s\\n", {}, strrep(e.message, "\\n", " "))'

UNARY_FUNCTIONS = (
    *("abs", "sign", "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin"),
    *("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "erf", "floor", "ceil"),
    *("round", "real", "imag", "conj", "isnan", "isinf", "isfinite", "sum", "prod", "cumsum", "cumprod"),
    *("max", "min", "mean", "median", "var", "std", "any", "all", "sort", "diff"),
)
BINARY_FUNCTIONS = ("atan2", "hypot", "gcd", "lcm")
"""Functions of one and of two arrays."""

REAL_VALUE_BY_VARIABLE = {"a": "[1, 1]", "b": "[2, 3]", "c": "[4, 5]"}
COMPLEX_VALUE_BY_VARIABLE = {"a": "[2 + 5i, 3 - 7i]", "b": "[5 - 2i, 1 + 4i]", "c": "[1 + 7i, 4 - 3i]"}
"""Values of an operand alone, of the first of several, and of the others."""

OPERATIONS_OF_REALS_ONLY = (
    "hypot",
    "gcd",
    "lcm",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
)


class Octave(Language):
    """Matrices of one row, and literals, which are double. Complex values here stay complex in results."""

    name = "octave"
    binary_only_operations = ("result_type",)
    how = "classes of values that octave-cli names; + as result_type"
    native_types: Mapping[str, str] = {
        "bool": "logical",
        **{name: name for name in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")},
        "float32": "single",
        "float64": "double",
        "complex64": "single_complex",
        "complex128": "double_complex",
    }
    skipped_operations = (
        "cross", "trace", "count_nonzero", "nonzero", "unique_values", "flip", "permute_dims",
        "repeat", "reshape", "roll", "squeeze", "tile", "tril", "triu", "matrix_transpose",
        "diagonal", "meshgrid", "cholesky", "inv", "pinv", "det", "solve", "qr", "svd",
        "matrix_power", "cond", "eig", "eigh", "eigvals", "eigvalsh", "svdvals", "norm",
        "matrix_norm", "vector_norm", "matrix_rank", "fft", "ifft", "fftn", "ifftn", "fftshift",
        "ifftshift", "dot", "kron", "convolve", "interp", "trapezoid", "gradient", "cov",
        "corrcoef", "quantile", "percentile", "histogram", "hstack", "vstack", "rot90", "diag",
        "ravel", "searchsorted", "isin", "logical_xor", "signbit", "degrees", "radians", "angle",
        "fabs", "bitwise_invert", "bitwise_right_shift",
    )  # fmt: skip
    forms: Mapping[str, tuple[str, ...]] = {
        **forms_from_operators("add", "subtract", "equal", "less", "greater_equal", "positive", "negative"),
        "result_type": ("+{}", "{} + {}"),
        "multiply": ("{} .* {}",),
        "divide": ("{} ./ {}",),
        "pow": ("{} .^ {}",),
        "remainder": ("mod({}, {})",),
        "fmod": ("rem({}, {})",),
        "floor_divide": ('idivide({}, {}, "floor")',),
        "matmul": ("{}' * {}",),
        "not_equal": ("{} != {}",),
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
        "trunc": ("fix({})",),
        **{name: (name + "({})",) for name in UNARY_FUNCTIONS},
        **{name: (name + "({}, {})",) for name in BINARY_FUNCTIONS},
        **{f"{sign}=": (f"{{0}}; r {sign}= {{1}}",) for sign in ("+", "-")},
        "*=": ("{0}; r .*= {1}",),
        "/=": ("{0}; r ./= {1}",),
    }

    def __init__(self) -> None:
        super().__init__()
        version = run_program("octave-cli", "--version").stdout.partition("\n")[0]
        self.versions = {"octave": version.split()[-1]}

    def constant(self, value: PythonNumber) -> str:
        if value is True:
            return "true"
        return f"({value.imag!r}i)" if isinstance(value, complex) else f"({value!r})"

    def operations(self) -> Mapping[str, Callable[..., object]]:
        found = {**super().operations()}
        for op in OPERATIONS_OF_REALS_ONLY:  # each reads the real parts of complex numbers in its own way
            found[op] = skip_unless(_are_real, "it is of real numbers", found[op])
        return found

    def write(self, forms: Sequence[str], operands: Sequence[str]) -> str:
        """Give the operands of an operation different values: so a quotient of complex ones stays complex."""
        letters = "a" if len(operands) == 1 else "b" + "c" * len(operands)
        renamed = [re.sub("^a_", f"{letter}_", each) for letter, each in zip(letters, operands, strict=False)]
        return super().write(forms, renamed)

    def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
        """Evaluate each expression; an error is also an answer."""
        program = ["1;", "warning off all"]
        for name, own in self.native_types.items():
            kind, _, is_complex = own.partition("_")
            for letter, value in (
                COMPLEX_VALUE_BY_VARIABLE if is_complex else REAL_VALUE_BY_VARIABLE
            ).items():
                program.append(f"{letter}_{name} = {kind}({value});")
        for i, each in enumerate(expressions):
            program.append(
                f"try, r = {each}; {PRINT_CLASS_COMMAND.format(i)}, "
                f"catch e, {PRINT_ERROR_COMMAND.format(i)}, end"
            )
        found = compile_lines(program, "expressions.m", "octave-cli", "--quiet", "--no-init-file")
        for answer in ANSWER_LINE_PATTERN.finditer(found):
            name = self.names.get(answer["class"], answer["class"])
            yield int(answer["number"]), name or TypeError(answer["message"])


def _are_real(*operands: str) -> bool:
    return not any("complex" in each or each.endswith("i)") for each in operands)


LIBRARIES = {Octave.name: Octave}
