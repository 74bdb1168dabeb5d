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

from typelattice.format import system as load
from typelattice.namespaces.array import Array
from typelattice.namespaces.backend import NamespaceError
from typelattice.namespaces.space import Namespace, namespace
from typelattice.operand import operand
from typelattice.system import System


def implicit_cast(system: str | os.PathLike[str] | System, *arrays: Any) -> tuple[Any, ...]:
    """Bare arrays cast to the dtype at which they meet; a Python scalar becomes an array without dimensions.

    Raises PromotionError of a refusal.

    >>> import numpy
    >>> [x.dtype.name for x in implicit_cast("jax", numpy.ones(2, "int32"), numpy.ones(2, "float16"))]
    ['float16', 'float16']
    """
    chosen = load(system)
    own = [x for x in arrays if not isinstance(operand(x), type(None)) and hasattr(x, "dtype") and hasattr(x, "ndim")]
    if not own:
        raise NamespaceError("implicit_cast is of arrays; give one at least")
    space = _over(chosen, own[0])
    p = chosen.promote(*arrays)
    native = space.backend.native(p.result)
    return tuple(
        space.backend.cast(x, native) if any(x is y for y in own) else space.planner.number(x, p, own[0]) for x in arrays
    )


def _over(system: System, array: Any) -> Namespace:
    import array_api_compat

    return namespace(system, array_api_compat.array_namespace(array))


__all__ = ["Array", "Namespace", "NamespaceError", "implicit_cast", "namespace"]
