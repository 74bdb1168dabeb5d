"""Keras: on JAX without 64 bits its operations compute in 32 bits."""

from __future__ import annotations

import sys
from collections.abc import Set
from typing import Any

from typelattice.tracing.libraries import jax


def system(dtypes: Set[str]) -> str | None:
    """Return the system's name."""
    keras: Any = sys.modules.get("keras")
    if keras is None:  # a program may take modules out
        return None
    return "keras-jax" if keras.backend.backend() == "jax" and jax.system(dtypes) == "jax-x32" else "keras"
