"""The further functions of the array API standard, and how each is called on one operand or two to learn its dtype."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typelattice.conformance.library import NotAskedError

PAIRS = (
    *("iadd", "minimum", "clip", "not_equal", "greater", "logical_or", "bitwise_xor", "bitwise_right_shift"),
    *("copysign", "hypot", "logaddexp", "nextafter"),
)
JOINED = ("stack", "outer", "tensordot", "vecdot", "searchsorted", "solve")
SINGLE = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "expm1", "log", "log1p", "log2", "log10"),
    *("reciprocal", "sinh", "square", "tan", "tanh", "ceil", "trunc", "round", "conj", "imag", "real"),
    *("isfinite", "isinf", "isnan", "signbit", "min", "cumulative_prod", "trace", "std", "var", "all", "any"),
    *("count_nonzero", "argmin", "argsort", "sort", "diff", "unique_values", "nonzero"),
    *("broadcast_to", "expand_dims", "flip", "permute_dims", "repeat", "reshape", "roll", "tile", "tril"),
    *("matrix_transpose", "unstack", "take", "zeros_like", "full_like"),
    *("cholesky", "inv", "pinv", "det", "qr", "eigh", "svd", "slogdet", "svdvals", "eigvalsh"),
    *("matrix_norm", "vector_norm", "matrix_rank", "matrix_power", "fft", "rfft", "irfft", "hfft", "ihfft", "fftshift"),
)
"""Asked of arrays of the usual dtypes: of two operands, Python scalars too; of two arrays; of one."""

USUAL = re.compile(r"bool|u?int(8|16|32|64)|b?float(16|32|64)|complex(64|128)")
"""The dtypes of whose arrays these are asked."""

MATRICES = {
    *("trace", "tril", "matrix_transpose", "cholesky", "inv", "pinv", "det", "qr", "eigh", "svd", "slogdet", "svdvals"),
    *("eigvalsh", "matrix_norm", "matrix_rank", "matrix_power", "solve"),
}
FURTHER: dict[str, tuple[Any, ...]] = {
    "clip": (None,), "tensordot": (1,), "matrix_power": (2,), "full_like": (1,), "repeat": (2,), "tile": ((2,),),
    "broadcast_to": ((2, 2),), "reshape": ((2,),), "roll": (1,), "permute_dims": ((0,),),
}
"""What these take besides their operands."""


def further_operations(
    spaces: Sequence[Any],
    condition: object,
    renamed: Mapping[str, str] = {},
    matrix: Callable[[Any], object] | None = None,
) -> dict[str, Callable[..., object]]:
    """The further operations that one of these namespaces has, under their names or those given.

    `condition` is a true array; a `matrix` is made of an array, the identity if nothing is said; of several
    results the first counts.
    """
    main = spaces[0]
    matrix = matrix or (lambda x: main.tril(main.triu(main.broadcast_to(x, (2, 2)))))
    found: dict[str, Callable[..., object]] = {"iadd": iadd}
    for name in (*PAIRS, *JOINED, *SINGLE):
        named = (getattr(space, renamed.get(name, name), None) for space in spaces)
        function = next(filter(callable, named), None)  # numpy.fft is no function, numpy.fft.fft is
        if function is not None:
            found[name] = _taking_operands(name, function, matrix)
    if "take" in found and hasattr(main, "nonzero"):
        index, take = first(main.nonzero(condition)), found["take"]
        found["take"] = lambda x: take(x, index)
    return found | {op: into_array(found[op]) for op in ("iadd", "clip") if op in found}


def iadd(x: Any, y: Any) -> object:
    """`x += y` of a copy."""
    x = copy.deepcopy(x)
    x += y
    return x


def into_array(function: Callable[..., object]) -> Callable[..., object]:
    """A function whose first operand is an array: it is not asked of a Python scalar."""

    @functools.wraps(function)
    def call(x: object, *more: object) -> object:
        if isinstance(x, (bool, int, float, complex)):
            raise NotAskedError("the first operand is no array")
        return function(x, *more)

    return call


def first(result: Any) -> Any:
    """The first of several results."""
    return result[0] if isinstance(result, (tuple, list)) else result


def _taking_operands(
    name: str, function: Callable[..., Any], matrix: Callable[[Any], object]
) -> Callable[..., object]:
    more = FURTHER.get(name, ())
    if name == "stack":
        return lambda *arrays: function(list(arrays))
    if name in MATRICES:
        return lambda *arrays: first(function(*map(matrix, arrays), *more))
    return lambda *operands: first(function(*operands, *more))
