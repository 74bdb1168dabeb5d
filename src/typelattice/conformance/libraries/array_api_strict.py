"""array-api-strict, which has what the Python array API standard has and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import array_api_strict as xp

from typelattice.conformance.functions import functions, of_numbers
from typelattice.conformance.library import (
    Library,
    NoSuchOperandError,
    OperandString,
    in_order,
    python_answer,
    versions_of,
)


class ArrayAPIStrict(Library):
    """The standard at the newest revision that array-api-strict implements by default."""

    name = "array-api"
    spaces = (xp, xp.linalg, xp.fft)

    def __init__(self) -> None:
        self.versions = versions_of("array-api-strict", "numpy")
        revision = xp.get_array_api_strict_flags()["api_version"]
        self.how = f"array-api-strict's functions, standard revision {revision}"
        self.found: dict[str, Any] = xp.__array_namespace_info__().dtypes()

    def dtypes(self) -> Sequence[str]:
        return in_order(self.found)

    def make(self, operand: str) -> object:
        wanted = OperandString.parse(operand)
        if wanted.dtype is None:
            return wanted.value
        if wanted.dtype not in self.found or wanted.tier not in ("array", "0d"):
            raise NoSuchOperandError(operand)
        shape = (2,) if wanted.tier == "array" else ()
        return xp.full(shape, wanted.value, dtype=self.found[wanted.dtype])

    def read(self, result: object) -> str:
        dtype = getattr(result, "dtype", result)
        named = next((name for name, found in self.found.items() if found == dtype), None)
        return named or python_answer(result) or type(result).__name__

    def operations(self) -> Mapping[str, Callable[..., object]]:
        condition = xp.ones(2, dtype=xp.bool)
        # copy.deepcopy raises up to array-api-strict 2.4
        return functions((xp, xp.linalg, xp.fft), condition, copied=partial(xp.asarray, copy=True)) | {
            "expand_dims": lambda x: xp.expand_dims(x, axis=0),
            "permute_dims": lambda x: xp.permute_dims(x, axes=(0,)),
            "tensordot": lambda x, y: xp.tensordot(x, y, axes=1),
            "take": lambda x: xp.take(x, xp.asarray([0])),
            "full": of_numbers(lambda x: xp.full((2,), x)),
            "arange": of_numbers(xp.arange),
            "linspace": of_numbers(lambda x, y: xp.linspace(x, y, 3)),
        }


LIBRARIES: Mapping[str, Callable[[], Library]] = {"array-api": ArrayAPIStrict}
