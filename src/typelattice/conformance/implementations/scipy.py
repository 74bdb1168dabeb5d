"""SciPy with SCIPY_ARRAY_API on arrays of NumPy, PyTorch and JAX."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from typelattice.conformance.functions import functions, operators
from typelattice.conformance.library import Library, versions_of

os.environ["SCIPY_ARRAY_API"] = "1"  # read once, on import


class SciPy(Library):
    """SciPy's functions on the arrays of another library."""

    def __init__(self, arrays: Library, package: str) -> None:
        self._arrays = arrays
        self.name = f"scipy-{package}"
        self.how = f"functions of scipy on arrays of {package}, SCIPY_ARRAY_API=1"
        self.versions = versions_of("scipy", package)
        self.make, self.read, self.dtypes = arrays.make, arrays.read, arrays.dtypes  # type: ignore[method-assign]

    def operations(self) -> Mapping[str, Callable[..., object]]:
        import scipy

        spaces = (scipy, scipy.special, scipy.linalg, scipy.fft, scipy.signal, scipy.stats)
        condition: Any = self._arrays.make("bool")
        found = functions(spaces, condition, matrix=lambda x: x * condition[:, None])
        return {op: function for op, function in found.items() if op not in operators()}


def _numpy() -> Library:
    from typelattice.conformance.libraries.numpy import NumPy

    return SciPy(NumPy(), "numpy")


def _torch() -> Library:
    from typelattice.conformance.libraries.torch import Torch

    return SciPy(Torch(), "torch")


def _jax() -> Library:
    from typelattice.conformance.implementations.jax import Eager

    return SciPy(Eager(), "jax")


IMPLEMENTATIONS = {"scipy-numpy": _numpy, "scipy-torch": _torch, "scipy-jax": _jax}
