"""JAX: the leaves of a state, such as an optimizer's, with their dtypes and whether these are weak."""

from __future__ import annotations

import sys
from typing import Any

LIBRARY = "jax"
MODULE = "jax"


def leaf_dtypes(tree: Any) -> dict[str, str]:
    """Map the path of each array in a tree to its dtype. A weak dtype ends with a star."""
    jax: Any = sys.modules[MODULE]
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    found = {}
    for path, x in leaves:
        shaped = jax.eval_shape(lambda y: y, x)
        weak = "*" if getattr(shaped, "weak_type", False) else ""
        found[jax.tree_util.keystr(path) or "the state"] = f"{shaped.dtype}{weak}"
    return found


def structure(tree: Any) -> object:
    """Return the structure of a tree, which equals that of another with the same containers."""
    jax: Any = sys.modules[MODULE]
    found: object = jax.tree_util.tree_structure(tree)
    return found
