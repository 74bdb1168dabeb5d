"""Functions and methods that give the same dtypes as an operation, from programs/calls/equivalents.txt."""

from __future__ import annotations

from functools import cache, lru_cache
from math import inf

from typelattice.programs.calls.call_tables import (
    OPERATION_BY_FUNCTION,
    SAME_ARGUMENTS_PREFIX,
    NameSort,
    attribute_dtype,
    find_equivalents,
    name_meaning,
)
from typelattice.programs.calls.methods import CAST_METHOD_NAMES, FILLING_METHODS

MAX_REMEMBERED_NAMES = 4096  # names of functions that are remembered


def operation_of(name: str, count: int, library: str | None) -> str:
    """Return the operation with the dtypes of a library's function of `count` arguments, or its own name.

    >>> operation_of("transpose", 1, None), operation_of("where", 1, "numpy"), operation_of("svd", 1, "numpy")
    ('permute_dims', 'nonzero', 'svd')
    >>> operation_of("select", 3, "numpy"), operation_of("select", 3, "torch")
    ('select', 'reshape')
    """
    if name == "where" and count == 1:
        return "nonzero"
    return (find_equivalents(name, library) or (name,))[0].removeprefix(SAME_ARGUMENTS_PREFIX)


@cache
def out_of_place_name(name: str) -> str:
    """Return the function with the result that a PyTorch method writes into its array, or "" if none has.

    >>> [out_of_place_name(name) for name in ("mul_", "copy_", "mul", "requires_grad_")]
    ['mul', 'copy', '', '']
    """
    plain = name.removesuffix("_")
    known = plain in FILLING_METHODS or operation_of(plain, 1, "torch") in OPERATION_BY_FUNCTION
    return plain if plain != name and known else ""


@lru_cache(MAX_REMEMBERED_NAMES)
def max_arguments_without_cast(name: str) -> float:
    """Return the number of arguments, with the result, above which a function of a name casts.

    >>> [max_arguments_without_cast(name) for name in ("asarray", "astype", "float", "sqrt")]
    [2, 1, 0, inf]
    """
    function = name_meaning(NameSort.CREATION_FUNCTION, name, None) or name
    if function == "asarray":
        return 2
    if function == "astype" or name in CAST_METHOD_NAMES:
        return 1
    return 0 if attribute_dtype(name, "torch") else inf
