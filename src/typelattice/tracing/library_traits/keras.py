"""Keras: its arrays follow the rules of a backend. Symbolic tensors follow another system."""

from __future__ import annotations

import sys
from collections.abc import Sequence, Set
from typing import Any

from typelattice.core.system_files.system_text import systems
from typelattice.tracing.library_traits import jax

DTYPE_MODULE = ""  # its dtypes are texts
ANNOUNCING_METHODS = ("compute_output_spec",)
COMPUTING_METHODS = ("call",)


def is_stand_in(x: Any) -> bool:
    """Return True for a symbolic tensor."""
    cls = getattr(sys.modules.get("keras"), "KerasTensor", None)
    return cls is not None and issubclass(type(x), cls)


def read_outputs(x: Any) -> Sequence[Any]:
    """Return the symbolic outputs of a model that was made from symbolic tensors, or none."""
    cls = getattr(sys.modules.get("keras"), "Model", None)
    is_own = cls is not None and issubclass(type(x), cls) and type(x).__module__.startswith("keras.")
    return [*(x.outputs or ())] if is_own and hasattr(x, "outputs") else ()


def system(dtypes: Set[str]) -> str | None:
    """Return the system of the arrays that compute."""
    keras: Any = sys.modules.get("keras")
    if keras is None:  # a program may remove modules from sys.modules
        return None
    backend = keras.backend.backend()
    # Keras on JAX was recorded without 64-bit dtypes
    if backend == "jax" and jax.system(dtypes) != "jax-x32":
        return "keras"
    found = f"keras-{backend}-computed"
    return found if found in systems() else "keras"
