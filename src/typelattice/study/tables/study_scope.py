"""The scope of a study: systems, dtypes and tiers, options that mean the same in every study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DType, DTypeError, WeakNode, sort_key
from typelattice.core.engine.system import System
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.operands.read_objects import operand

TierChoice = Literal["array", "0d", "scalar", "all"]  # one tier, or all tiers that a system distinguishes
PYTHON_SCALARS = ("int", "float", "complex")  # Python scalars of unknown value: only their kind counts
MAX_OPERANDS = 300  # operands, as many as an order may have nodes; a larger table takes minutes


class BeyondReachError(TypelatticeError, ValueError):
    """A question that is too large for a reasonable time; raised before anything starts."""

    __module__ = "typelattice"


def has_arrays(system: System) -> bool:
    """Return True if the order has a dtype; the system of Python's numbers has none."""
    return any(isinstance(n, DType) for n in system.order.nodes)


def common_dtypes(systems: Sequence[System]) -> tuple[DType, ...]:
    """Return the dtypes that all these systems have, kind by kind from narrow to wide."""
    first, *others = (s.dtypes for s in systems)
    return tuple(d for d in first if all(d in other for other in others))


def weak_widths(system: System) -> tuple[DType, ...]:
    """Return the dtypes that have a weak node of their own in the order, such as `int8*`."""
    return tuple(
        sorted((n.dtype for n in system.order.nodes if isinstance(n, WeakNode) and n.dtype), key=sort_key)
    )


def custom_dtypes(systems: Sequence[System]) -> Mapping[str, DType]:
    """Return the dtypes that the files of some systems define, by name and by code.

    Raises DTypeError if two files mean different dtypes by one name.
    """
    found: dict[str, DType] = {}
    owner: dict[str, System] = {}
    for system in systems:
        for name, d in system.custom_dtypes.items():
            if found.setdefault(name, d) is not d:
                two = f"{owner[name].name} and {system.name} mean different dtypes"
                raise DTypeError(f"{two} by {name!r}; give one of them another name")
            owner.setdefault(name, system)
    return found


def read_operand(x: object, systems: Sequence[System]) -> Operand:
    """Read an object as an operand; a string may name a dtype of one of the systems' files."""
    return parse_operand(x, custom_dtypes(systems)) if isinstance(x, str) else operand(x)


def check_size(operands: int, of_what: str) -> None:
    """Raise BeyondReachError for more operands than a study can handle in seconds."""
    if operands > MAX_OPERANDS:
        too_many = (
            f"{of_what} is asked of {operands:,} operands, and at most {MAX_OPERANDS} are taken together"
        )
        raise BeyondReachError(f"{too_many}; name fewer with dtypes= or --dtypes")


def list_operands(
    system: System, tier: TierChoice = "array", dtypes: Iterable[object] | None = None
) -> tuple[Operand, ...]:
    """Return the operands to study in a system, of one tier or of all, kind by kind from narrow to wide.

    `dtypes` chooses among the dtypes of the system and may name Python scalars too; dtypes that the system
    lacks are left out. Python scalars are included if the system takes any. Tier `all` includes arrays
    without dimensions if the system distinguishes them from other arrays. Raises DTypeError if the system has
    none of the dtypes.
    """
    have, named = system.dtypes, tuple[Operand, ...]()
    if dtypes is not None:
        chosen = [system.operand(x) for x in dtypes]
        named = tuple(dict.fromkeys(o for o in chosen if o.tier == "scalar"))
        chosen_dtypes = {o.dtype for o in chosen if o.tier != "scalar"}
        have = tuple(d for d in have if d in chosen_dtypes)
        if not have and not named:
            raise DTypeError(f"{system.name} has none of these dtypes; see `typelattice check {system.name}`")
    arrays = tuple(map(operand_of_dtype, have))
    scalars = named or (
        *(operand_of_dtype(d, weak=True) for d in weak_widths(system)),
        *map(parse_operand, ("True", *PYTHON_SCALARS)),
    )
    accepted_scalars = tuple(o for o in scalars if any(system.explain(o, x).dtype for x in (*arrays, o)))
    if tier == "scalar" or not has_arrays(system):
        return accepted_scalars
    zero_d = tuple(operand_of_dtype(d, tier="0d") for d in have)
    beside = accepted_scalars if named else ()
    if tier == "array":
        return (*arrays, *beside)
    if tier == "0d":
        return (*zero_d, *beside)
    # Tier `all` leaves out Python's bool: it is not a weak operand, and the sum of two is an int.
    weak = tuple(o for o in accepted_scalars if o.weak)
    return (*arrays, *(zero_d if "0d" in system.tiers else ()), *weak)
