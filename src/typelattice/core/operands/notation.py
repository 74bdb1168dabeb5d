"""Operand strings such as `int8`, `int8:0d`, `int8:weak`, `int16:0d=300`, `float`, `1.5`: safe in a shell."""
from __future__ import annotations

from collections.abc import Mapping

from typelattice.base.errors.error_texts import quote_short
from typelattice.base.objects.frozen_classes import replace
from typelattice.core.dtypes.dtypes import DType, dtype
from typelattice.core.losses.range_and_overflow import PythonNumber, is_in_range
from typelattice.core.operands.operand import (
    FOREIGN_SCALAR_SUFFIX,
    KIND_BY_NAME,
    KIND_BY_PYTHON_TYPE,
    Operand,
    OperandError,
    Tier,
    operand_of_dtype,
    scalar_operand,
)

# A library's own scalars count as 0-d arrays. Only recordings separate them, and write `int8:scalar`.
TIER_BY_MARK: dict[str, Tier] = {"array": "array", "0d": "0d", "scalar": "0d"}
MAX_INT_BITS = (
    4096  # bits of an int: far beyond every dtype, and few enough to be computed with and written down
)
MAX_NUMBER_CHARS = 1300  # characters of a number: the digits of such an int, and a few more


def parse_operand(text: str, custom_dtypes: Mapping[str, DType] = {}) -> Operand:
    """Return the operand that a string describes. `custom_dtypes` are the dtypes of a system file.

    Raises OperandError for a text that describes no operand, DTypeError for an unknown dtype.

    >>> parse_operand("int8:0d").tier, parse_operand("2j").kind.value
    ('0d', 'complex')
    """
    if text in KIND_BY_NAME:
        return scalar_operand(KIND_BY_NAME[text])
    if is_number_text(text):
        return number_operand(parse_number(text))
    described, _, value = text.partition("=")
    name, *marks = described.split(":")
    found = read_dtype(name, custom_dtypes)
    tiers = [TIER_BY_MARK[mark] for mark in marks if mark in TIER_BY_MARK]
    unknown_marks = [mark for mark in marks if mark not in TIER_BY_MARK and mark != "weak"]
    foreign = unknown_marks.pop() if unknown_marks and _is_foreign(unknown_marks[-1]) else ""
    if unknown_marks or len(tiers) > 1 or marks.count("weak") > 1:
        what = quote_short(":".join(marks))
        raise OperandError(f"cannot read {what} in {quote_short(text)}; write :0d or :weak, as in int8:0d")
    tier, weak = (tiers or ["0d" if foreign.endswith(FOREIGN_SCALAR_SUFFIX) else "array"])[0], "weak" in marks
    if "=" not in text:
        return replace(operand_of_dtype(found, weak, tier), foreign_library=foreign)
    number = parse_number(value)
    if tier == "array":
        raise OperandError(f"an array has many values; write {name}:0d={clip_number(number)}")
    if KIND_BY_PYTHON_TYPE[type(number)].category > found.kind.category or not is_in_range(number, found):
        cannot = f"{found} cannot hold {clip_number(number)}"
        raise OperandError(f"{cannot}; give a value that it holds, or another dtype")
    return replace(operand_of_dtype(found, weak, tier, number), foreign_library=foreign)


def read_dtype(name: str, custom_dtypes: Mapping[str, DType] = {}) -> DType:
    """Return the dtype that a name means. Raises DTypeError.

    `custom_dtypes` are those that a system file defines.

    >>> read_dtype("int8")
    int8
    """
    if name in custom_dtypes:
        return custom_dtypes[name]
    if "(" in name:
        from typelattice.core.dtypes.parametric_dtypes import read_member  # few dtypes have parameters

        return read_member(name, custom_dtypes)
    return dtype(name)


def _is_foreign(mark: str) -> bool:
    """Return True if a mark names the library of a foreign array or scalar: `numpy-scalar`."""
    from typelattice.core.registry.libraries import libraries  # few strings have such a mark

    return mark.removesuffix(FOREIGN_SCALAR_SUFFIX) in libraries()


def number_operand(value: PythonNumber) -> Operand:
    """Return the operand of a Python number. Raises OperandError for an int beyond MAX_INT_BITS bits."""
    if isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
        raise OperandError(
            f"an int of {value.bit_length():,} bits; no dtype holds more than {MAX_INT_BITS:,}"
        )
    return scalar_operand(KIND_BY_PYTHON_TYPE[type(value)], value)


def is_number_text(text: str) -> bool:
    """Return True if a text begins like a Python number: `300`, `-.5`, `inf-2j`, `True`.

    >>> [is_number_text(text) for text in ("-.5", "nan", "inf-2j", "int8", "infinite")]
    [True, True, True, False, False]
    """
    unsigned = text.removeprefix("-") if text[:1] == "-" else text.removeprefix("+")
    imaginary = unsigned[3:].removesuffix("j")
    is_special = unsigned[:3] in ("inf", "nan") and imaginary[:1] in ("", "+", "-")
    return unsigned.removeprefix(".")[:1].isdecimal() or is_special or text in ("True", "False")


def parse_number(text: str) -> PythonNumber:
    """Return the Python number that a text denotes. Raises OperandError."""
    if text in ("True", "False"):
        return text == "True"
    for read in (int, float, complex) if len(text) <= MAX_NUMBER_CHARS else ():
        try:
            return read(text)
        except ValueError:
            continue
    raise OperandError(f"cannot read {quote_short(text)} as a Python number")


def clip_number(value: PythonNumber) -> str:
    """Return a number for an error message, cut at 40 characters."""
    return str(value)[:40]
