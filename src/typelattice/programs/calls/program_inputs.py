"""Inputs of programs: the operand of each, and the shape of an array if it is known."""

from __future__ import annotations

import re
from typing import Any, TypeGuard

from typelattice.base.errors.error_texts import quote_short
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DTYPES, DTypeError
from typelattice.core.operands.notation import parse_operand
from typelattice.core.operands.operand import Operand, OperandError
from typelattice.core.operands.read_objects import operand
from typelattice.core.operations.shapes import Shape

OPERAND_WITH_SHAPE_PATTERN = re.compile(r"([^\[\]]*)\[([^\[\]]*)\](:weak)?")
CUSTOM_DTYPE_NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*\b")  # a name that a system file may give to a dtype
PARAMETRIC_DTYPE_PATTERN = re.compile(rf"{CUSTOM_DTYPE_NAME_PATTERN.pattern}\([-+.,\de ]+\)")
MAX_AXES = 64


def read_input(described_operand: object) -> tuple[Operand | str, Shape | None]:
    """Return the operand and the shape of an input: `float32[3,?]` has two axes, one of unknown length.

    The system reads a string with an unknown dtype later. Raises OperandError.

    >>> read_input("float32[3,?]"), read_input("int8:0d")[1], read_input("posit8")
    (('float32', (3, None)), (), ('posit8', None))
    """
    if not isinstance(described_operand, str):
        found = operand(described_operand)
        return found, () if found.tier != "array" else _shape_of(described_operand)
    shaped = OPERAND_WITH_SHAPE_PATTERN.fullmatch(described_operand)
    if shaped is None:
        return _parse_operand(described_operand)
    name, lengths, weak = shaped[1], shaped[2].strip(), shaped[3] or ""
    what, shape = _parse_operand(f"{name}{weak}")
    if shape is not None:
        raise OperandError(f"{quote_short(described_operand)} has a shape, and no dimensions; leave one out")
    return what, tuple(
        _parse_length(described_operand, part.strip()) for part in lengths.split(",")
    ) if lengths else ()


def is_operand(text: str) -> bool:
    """Return True if a text describes an operand, and False for any other annotation.

    A shape or parameters mark a dtype that a file defines.

    >>> [is_operand(text) for text in ("float32[3]", "np.ndarray", "posit8[3]", "decimal(4,1)")]
    [True, False, True, True]
    """
    try:
        what, shape = read_input(text)
        if (
            isinstance(what, Operand)
            or PARAMETRIC_DTYPE_PATTERN.match(what)
            or (shape is not None and CUSTOM_DTYPE_NAME_PATTERN.match(what))
        ):
            return True
        return parse_operand(what) is not None
    except TypelatticeError:
        return False


def names_dtype(annotation: object) -> TypeGuard[str]:
    """Return True if an annotation names a dtype: one that is known here, or one with parameters.

    >>> names_dtype("int8"), names_dtype("decimal(4,1)"), names_dtype("np.ndarray"), names_dtype(3)
    (True, True, False, False)
    """
    return isinstance(annotation, str) and (
        annotation in DTYPES or bool(PARAMETRIC_DTYPE_PATTERN.fullmatch(annotation))
    )


def _parse_operand(text: str) -> tuple[Operand | str, Shape | None]:
    """Return an operand string, read as far as its dtype is known here."""
    try:
        found = parse_operand(text)
    except DTypeError:  # the name may be of a dtype that a file defines
        return text, () if ":0d" in text or ":scalar" in text else None
    return found if found.tier == "scalar" else text, None if found.tier == "array" else ()


def _parse_length(text: str, length: str) -> int | None:
    if length == "?":
        return None
    if not re.fullmatch("[0-9]{1,18}", length):
        what = f"{quote_short(length)} in {quote_short(text)} is no length of an axis"
        raise OperandError(f"{what}; give a number, or ? for one that is not known")
    return int(length)


def _shape_of(array: Any) -> Shape | None:
    """Return the shape of an array, as far as it is known."""
    shape = getattr(array, "shape", None)
    if not isinstance(shape, tuple) or len(shape) > MAX_AXES:
        return None
    return tuple(n if isinstance(n, int) and not isinstance(n, bool) and n >= 0 else None for n in shape)
