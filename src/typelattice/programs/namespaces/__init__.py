"""Any array namespace, under any promotion system.

>>> import numpy
>>> import typelattice as tl
>>> xp = tl.namespace("jax", numpy)
>>> x = xp.asarray([1, 2], dtype="int8") + xp.asarray([0.5, 1.5], dtype="float16")
>>> x.dtype, (x * 2.0).dtype
(float16, float16)
"""
from __future__ import annotations

from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.cast_bare_arrays import implicit_cast
from typelattice.programs.namespaces.namespace import Namespace, namespace
from typelattice.programs.namespaces.namespace_error import NamespaceError

__all__ = ["Array", "Namespace", "NamespaceError", "implicit_cast", "namespace"]
