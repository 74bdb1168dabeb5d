"""SciPy with SCIPY_ARRAY_API on arrays of NumPy, PyTorch and JAX."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from typelattice.conformance.recording.library import Library, versions_of
from typelattice.conformance.recording.operation_functions import find_functions, list_operators

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads this once, when it is imported


class SciPyOnArrayAPI(Library):
    """SciPy's functions on the arrays of another library."""

    def __init__(self, arrays: Library, package: str, diagonal: Callable[[Any], Any]) -> None:
        self._arrays, self._diagonal = arrays, diagonal
        self.name = f"scipy-{package}"
        self.how = f"functions of scipy on arrays of {package}, SCIPY_ARRAY_API=1"
        self.versions = versions_of("scipy", package)

    def dtypes(self) -> Sequence[str]:
        return self._arrays.dtypes()

    def make(self, operand: str) -> object:
        return self._arrays.make(operand)

    def read(self, result: object) -> str:
        """Read the dtype of an array; if SciPy lacks a function for a library, it gives NumPy's array.

        NumPy has no weak arrays to compare with.
        """
        if isinstance(result, (np.ndarray, np.generic)):
            return str(result.dtype.name)
        return self._arrays.read(result).rstrip("*")

    def operations(self) -> Mapping[str, Callable[..., object]]:
        import scipy

        spaces = (scipy, scipy.special, scipy.linalg, scipy.fft, scipy.signal)
        found = find_functions(spaces, self._arrays.make("bool"), matrix=self._diagonal)
        # signal.square makes a wave.
        return {op: function for op, function in found.items() if op not in ("square", *list_operators())}


def _scipy_on_numpy() -> Library:
    from typelattice.conformance.recording.libraries.numpy import NumPy

    return SciPyOnArrayAPI(NumPy(), "numpy", np.diag)


def _scipy_on_torch() -> Library:
    import torch

    from typelattice.conformance.recording.libraries.torch import Torch

    return SciPyOnArrayAPI(Torch(), "torch", torch.diag)


def _scipy_on_jax() -> Library:
    import jax

    from typelattice.conformance.imitations.alternative_implementations.jax import EagerJAX

    return SciPyOnArrayAPI(EagerJAX(), "jax", jax.numpy.diag)


IMPLEMENTATIONS = {"scipy-numpy": _scipy_on_numpy, "scipy-torch": _scipy_on_torch, "scipy-jax": _scipy_on_jax}
