"""Implicit casts of a library's own arrays, without a namespace around them."""
from __future__ import annotations

import os
from typing import Any

from typelattice.core.engine.system import System
from typelattice.core.system_files.reader import system as load
from typelattice.programs.namespaces.array import Array
from typelattice.programs.namespaces.computing_libraries import find_graph_library, module_of
from typelattice.programs.namespaces.input_checks import has_attributes, refuse_masked
from typelattice.programs.namespaces.namespace import namespace
from typelattice.programs.namespaces.namespace_error import NamespaceError
from typelattice.programs.namespaces.recipe import RecipeMaker, python_number


def implicit_cast(system: str | os.PathLike[str] | System, *arrays: Any) -> tuple[Any, ...]:
    """Cast bare arrays to their common dtype. A Python scalar becomes an array without dimensions.

    The values of a graph of MAX are cast by nodes of that graph, which must be open. Raises PromotionError if
    the system refuses the arrays.

    >>> import numpy
    >>> [x.dtype.name for x in implicit_cast("jax", numpy.ones(2, "int32"), numpy.ones(2, "float16"))]
    ['float16', 'float16']
    """
    chosen = load(system)
    for x in arrays:
        refuse_masked(x)
    values: list[Any] = [x if _is_array(x) else python_number(x) for x in arrays]
    own = [x for x in values if _is_array(x)]
    if not own or any(x is None for x in values):
        what = "implicit_cast takes bare arrays, one at least, and Python numbers"
        raise NamespaceError(f"{what}; of a namespace's, give x.bare")
    graph_library = find_graph_library(own)
    if graph_library is not None:
        recipes = RecipeMaker(chosen, graph_library)
    else:
        recipes = namespace(chosen, module_of(own))._context.recipes
    p = chosen.promote(*values)
    return tuple(
        recipes.cast(x, p.result) if _is_array(x) else recipes.convert_number(x, p, own[0]) for x in values
    )


def _is_array(x: object) -> bool:
    """Return True for an array outside a namespace or a value of a graph, not for classes or strings."""
    dimensions = has_attributes(x, "ndim") or has_attributes(x, "rank")
    return dimensions and has_attributes(x, "dtype") and not isinstance(x, (Array, type, str))
