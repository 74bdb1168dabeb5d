"""JAX: its settings decide if 64-bit dtypes exist, and if dtypes are promoted."""

from __future__ import annotations

import sys
from collections.abc import Set


def system(dtypes: Set[str]) -> str | None:
    """Return the system's name."""
    config = getattr(sys.modules.get("jax"), "config", None)
    if config is None:  # a program may remove modules from sys.modules
        return None
    if config.jax_numpy_dtype_promotion == "strict":
        return "jax-strict"
    if config.jax_enable_x64:
        return "jax"
    explicit = getattr(config, "jax_explicit_x64_dtypes", None)  # JAX 0.4 has no such setting
    return "jax-explicit-x64" if getattr(explicit, "name", "") == "ALLOW" else "jax-x32"
