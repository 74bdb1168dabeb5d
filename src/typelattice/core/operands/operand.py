"""An operand of a promotion: a dtype or a kind, its tier, and its value if known."""
from __future__ import annotations

from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.objects.frozen_classes import frozen
from typelattice.core.dtypes.dtypes import DTYPES, DType, Kind, Node, weak_node
from typelattice.core.losses.range_and_overflow import PythonNumber

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Tier = Literal["array", "0d", "scalar"]
else:
    Tier = str
OPERAND_TIERS: tuple[Tier, ...] = ("array", "0d", "scalar")
KIND_BY_PYTHON_TYPE: dict[type, Kind] = {
    bool: Kind.BOOL,
    int: Kind.SIGNED,
    float: Kind.FLOAT,
    complex: Kind.COMPLEX,
}
KIND_BY_NAME = {"int": Kind.SIGNED, "float": Kind.FLOAT, "complex": Kind.COMPLEX}
BOOL_DTYPE = DTYPES["bool"]
FOREIGN_SCALAR_SUFFIX = "-scalar"  # ends the name of the library of a foreign scalar: `numpy-scalar`
FOREIGN_LIST_MARK = "python"  # marks a list as foreign: libraries convert it to an array or refuse it


class OperandError(TypelatticeError, TypeError):
    """An object that cannot be an operand, or a text that describes no operand."""

    __module__ = "typelattice"


@frozen()
class Operand:
    """One operand. A Python scalar has a kind and no dtype of its own. A weak array has both.

    `tier` says whether it is an array, a 0-d array (or a library's own scalar) or a Python scalar.
    `foreign_library` names the library of a foreign array: another library than the host's. For a foreign
    scalar, `-scalar` is appended. `typelattice.operand` makes an operand from a string or an object.
    """

    dtype: DType | None
    kind: Kind
    weak: bool = False
    tier: Tier = "array"
    value: PythonNumber | None = None
    foreign_library: str = ""

    @property
    def node(self) -> Node:
        """The dtype, or the weak node of the kind for a Python number, since that has no dtype."""
        return self.dtype or weak_node(self.kind)

    def __str__(self) -> str:
        """Return the operand string that reads back as this operand."""
        value = str(self.value).strip("()")
        if self.tier == "scalar":
            return value if self.value is not None else self.kind.python_name
        zero_d = self.tier == "0d" and not self.foreign_library.endswith(
            FOREIGN_SCALAR_SUFFIX
        )  # a scalar has no dimensions to state
        marks = (*(["0d"] if zero_d else []), *(["weak"] if self.weak else []), self.foreign_library)
        known = f"={value}" if self.value is not None else ""
        return f"{':'.join([str(self.dtype), *filter(None, marks)])}{known}"


def operand_of_dtype(
    dtype: DType, weak: bool = False, tier: Tier = "array", value: PythonNumber | None = None
) -> Operand:
    """Return an operand that has a dtype."""
    return Operand(dtype, dtype.kind, weak, tier, value)


def scalar_operand(kind: Kind, value: PythonNumber | None = None) -> Operand:
    """Return a Python scalar. A bool has a dtype and is not weak. An unknown bool gets the value True.

    No rule depends on the value of a bool, and the string `bool` already means an array.
    """
    if kind is Kind.BOOL:
        return Operand(BOOL_DTYPE, kind, False, "scalar", True if value is None else value)
    return Operand(None, kind, True, "scalar", value)
