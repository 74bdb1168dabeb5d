"""Implicit casts under their names in graph compilers: of two dtypes, and of symbols and arrays."""
from __future__ import annotations

import os
from typing import Any, overload

from typelattice.base.objects.strange_objects import refuse_strange
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.engine.system import System
from typelattice.core.operands.adapters import native_like
from typelattice.core.operands.operand import OperandError
from typelattice.core.registry.libraries import LibraryEntry, libraries
from typelattice.core.system_files.reader import system as find_system
from typelattice.programs.calls.steps import NamedDType
from typelattice.programs.namespaces.cast_bare_arrays import implicit_cast as cast_arrays
from typelattice.programs.readers.symbols.caller_location import find_caller_location
from typelattice.programs.readers.symbols.symbol import Symbol, convert_argument
from typelattice.programs.replay.replay import replay_steps

AnySystem = System | str | os.PathLike[str]


@overload
def implicit_cast_type(system: AnySystem, lhs: DType | str, rhs: DType | str) -> DType: ...
@overload
def implicit_cast_type(system: AnySystem, lhs: object, rhs: object) -> object: ...
def implicit_cast_type(system: AnySystem, lhs: object, rhs: object) -> object:
    """Return the smallest dtype that both values may be promoted to, as in a binary operation.

    `lhs` and `rhs` are dtypes, or other operands. If they belong to a framework, the result is a dtype of
    that framework: MAX's for MAX's, NumPy's for NumPy's. Of two frameworks, the system's own library counts.
    If neither is the system's own, the result is a DType, as for strings.

    Raises PromotionError if the system refuses the two, DTypeError if the framework lacks the result's dtype.
    Source: https://docs.modular.com/max/api/mojo/graph/type_promotion

    >>> import numpy
    >>> implicit_cast_type("max-2024", "int16", "float32")
    float32
    >>> implicit_cast_type("max-2024", numpy.dtype("int16"), numpy.dtype("float32"))
    dtype('float32')
    """
    chosen = find_system(system)
    modules = libraries().get(chosen.library.partition(" ")[0], LibraryEntry("")).modules
    return native_like(chosen.promote(lhs, rhs).result, (lhs, rhs), preferred="".join(modules[:1]))


def implicit_cast(system: AnySystem, *operands: Any) -> tuple[Any, ...]:
    """Cast operands to their common dtype under a system, as an operator would.

    The operands are arrays of a library, values of a graph of MAX, or symbols of a program that is being
    built. A Python scalar among arrays becomes an array without dimensions.

    Raises PromotionError if the system refuses the operands.

    >>> import numpy
    >>> [x.dtype.name for x in implicit_cast("jax", numpy.ones(2, "int32"), numpy.ones(2, "float16"))]
    ['float16', 'float16']
    """
    for x in operands:
        refuse_strange(x, OperandError, "give arrays, dtypes or numbers")
    symbols = [x for x in operands if isinstance(x, Symbol)]
    if not symbols:
        return cast_arrays(system, *operands)
    chosen, xp = find_system(system), symbols[0]._xp
    refs = [xp.builder.ensure_ref(find_caller_location(), convert_argument(xp, x)) for x in operands]
    made = replay_steps(xp.builder.steps, chosen)
    to = chosen.promote(*(made[ref.step].operand for ref in refs)).result
    found = []
    for ref in refs:
        o = made[ref.step].operand
        same = o is not None and o.dtype is to and not o.weak and o.tier != "scalar"
        found.append(
            Symbol(xp, ref if same else xp.builder.add_cast(find_caller_location(), ref, NamedDType(to.name)))
        )
    return tuple(found)
