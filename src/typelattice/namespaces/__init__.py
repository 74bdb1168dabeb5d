"""Any array namespace, under any promotion system.

>>> import numpy
>>> import typelattice as tl
>>> xp = tl.namespace("jax", numpy)
>>> x = xp.asarray([1, 2], dtype="int8") + xp.asarray([0.5, 1.5], dtype="float16")
>>> x.dtype, (x * 2.0).dtype
(float16, float16)
"""
from __future__ import annotations

import os
from typing import Any

from typelattice.engine.system import System
from typelattice.files.reader import system as load
from typelattice.namespaces.array import Array
from typelattice.namespaces.backend import NamespaceError
from typelattice.namespaces.plan import number
from typelattice.namespaces.space import Namespace, namespace


def implicit_cast(system: str | os.PathLike[str] | System, *arrays: Any) -> tuple[Any, ...]:
    """Bare arrays cast to the dtype at which they meet; a Python scalar becomes an array without dimensions.

    Raises PromotionError of a refusal.

    >>> import numpy
    >>> [x.dtype.name for x in implicit_cast("jax", numpy.ones(2, "int32"), numpy.ones(2, "float16"))]
    ['float16', 'float16']
    """
    chosen = load(system)
    values: list[Any] = [x if _bare(x) else number(x) for x in arrays]
    own = [x for x in values if _bare(x)]
    if not own or any(x is None for x in values):
        raise NamespaceError("implicit_cast takes bare arrays, one at least, and Python numbers; of a namespace's, give x.bare")
    space = _over(chosen, own)
    p = chosen.promote(*values)
    native = space.backend.native(p.result)
    return tuple(space.backend.cast(x, native) if _bare(x) else space.planner.number(x, p, own[0]) for x in values)


def _bare(x: object) -> bool:
    """Whether it is an array, and none of a namespace."""
    return hasattr(x, "dtype") and hasattr(x, "ndim") and not isinstance(x, Array)


def _over(system: System, arrays: list[Any]) -> Namespace:
    import array_api_compat

    try:
        return namespace(system, array_api_compat.array_namespace(*arrays))
    except TypeError as e:
        raise NamespaceError(f"these arrays are of no one library ({e}); take all over to one, as with from_dlpack") from None


__all__ = ["Array", "Namespace", "NamespaceError", "implicit_cast", "namespace"]
