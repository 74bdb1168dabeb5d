"""One function, three array libraries, two systems: what dtype does a mean of integers have, and who says so?

Run it with array-api-compat and any of numpy, torch and jax. Nothing in `standardise` names a library.
"""
from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typelattice as tl

LIBRARIES = ("numpy", "torch", "jax.numpy")
SYSTEMS = ("jax-x32", "mlx")  # whose defaults are of 32 bits, which JAX holds without being told


def standardise(x: Any, weight: Any) -> Any:
    """An array less its mean, in units of its spread, times a weight; integers become floats first."""
    xp = x.__array_namespace__()
    common = xp.result_type(x, weight, kind="float")
    x, weight = xp.astype(x, common), xp.astype(weight, common)
    return (x - xp.mean(x)) / xp.std(x) * weight


def main() -> None:
    for name in LIBRARIES:
        if not find_spec(name.partition(".")[0]):
            print(f"{name:<10} is not installed")
            continue
        for system in SYSTEMS:
            xp = tl.namespace(system, import_module(name))
            result = standardise(xp.asarray([1, 2, 3, 4]), xp.asarray([1, 2, 1, 2], dtype="int8"))
            default = xp.__array_namespace_info__().default_dtypes()["real floating"]
            print(
                f"{name:<10} {system:<8} default {default}, result {result.dtype}: {float(result[0]):.4f} …"
            )


if __name__ == "__main__":
    main()
