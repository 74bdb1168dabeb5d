"""Questions about a dtype: its kind, its limits. The answer is known if no system decides the dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DType
from typelattice.core.operands.operand import KIND_BY_NAME, scalar_operand
from typelattice.core.operations.operations import find_operation
from typelattice.programs.calls.call_tables import NameSort, name_meaning
from typelattice.programs.calls.program_builder import ProgramBuilder
from typelattice.programs.calls.steps import (
    Argument,
    DTypeArgument,
    DTypeOf,
    Excerpt,
    NamedDType,
    ProgramError,
    Ref,
)
from typelattice.programs.namespaces.inspection import ISDTYPE_KINDS, float_limits, integer_limits

_Answer = TypeVar("_Answer")

KINDS_BY_SCALAR_CLASS = {  # NumPy's scalar classes, as issubdtype takes them, and the standard's kinds
    "bool_": ("bool",),
    "integer": ("integral",),
    "signedinteger": ("signed integer",),
    "unsignedinteger": ("unsigned integer",),
    "floating": ("real floating",),
    "complexfloating": ("complex floating",),
    "inexact": ("real floating", "complex floating"),
    "number": ("numeric",),
    "generic": ("bool", "numeric"),
}
LIMITS_FUNCTION_AND_ATTRIBUTES: Mapping[str, tuple[Callable[[DType], Any], tuple[str, ...]]] = {
    "finfo": (float_limits, ("eps", "max", "min", "smallest_normal", "tiny", "bits", "dtype")),
    "iinfo": (integer_limits, ("max", "min", "bits", "dtype")),
}
KINDS_BY_TEST_FUNCTION: Mapping[str, tuple[str, ...]] = {  # functions and attributes that test for one kind
    "is_floating_point": ("real floating",),
    "is_floating": ("real floating",),
    "is_complex": ("complex floating",),
    "is_integer": ("integral",),
    "iscomplexobj": ("complex floating",),
    "isrealobj": ("bool", "integral", "real floating"),
}
QUESTION_FUNCTIONS = ("isdtype", "issubdtype", *LIMITS_FUNCTION_AND_ATTRIBUTES, *KINDS_BY_TEST_FUNCTION)
SYSTEM_DEPENDENT_DTYPE_MESSAGE = (
    "a dtype that is another under each system, and the steps depend on it; cast first, e.g. .astype(float32)"
)


@dataclass(frozen=True, slots=True)
class DTypeLimits:
    """The result of `finfo` or `iinfo` for a dtype. `name` is the name of the function.

    `is_array`: the numbers are scalars of the dtype, as in NumPy, instead of Python numbers.
    """

    name: str
    dtype: DTypeArgument
    is_array: bool


class UncertainAnswerError(ProgramError):
    """The error of a question about a dtype that the values of arrays decide. `answers` has the answers."""

    def __init__(self, message: str, answers: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.answers = answers


def list_possible_dtypes(builder: ProgramBuilder, excerpt: Excerpt, argument: Argument) -> list[DType]:
    """List the dtypes that a dtype or an array's dtype may be: several if the values of arrays decide.

    The builder may know the system that decides it. Raises ProgramError if no system does.
    """
    found: list[DType] = []
    if isinstance(argument, str):
        argument = NamedDType(argument)
    if isinstance(argument, (NamedDType, DTypeOf, Ref)):
        known = builder.dtype_of(argument)
        if known is not None:
            found = [known]
        elif builder.list_dtypes_of is not None:
            found = [*builder.list_dtypes_of(excerpt, argument)]
    if not found:
        raise excerpt.error(f"it asks for {SYSTEM_DEPENDENT_DTYPE_MESSAGE}")
    return found


def known_dtype(builder: ProgramBuilder, excerpt: Excerpt, argument: Argument) -> DType:
    """Return a dtype, or the dtype of an array. Raises ProgramError if no system decides, or if values do."""
    return choose_answer(excerpt, list_possible_dtypes(builder, excerpt, argument))


def choose_answer(excerpt: Excerpt, answers: Iterable[_Answer]) -> _Answer:
    """Return the answer that is the same for all dtypes. Raises UncertainAnswerError if they differ."""
    different = tuple(dict.fromkeys(answers))
    if len(different) > 1:
        either = " or ".join(map(str, different))
        what = f"it asks for a dtype that the values of arrays decide ({either}); cast, e.g. .astype(float32)"
        raise UncertainAnswerError(str(excerpt.error(what)), different)
    return different[0]


def is_kind(builder: ProgramBuilder, excerpt: Excerpt, argument: Argument, kinds: Argument) -> bool:
    """Return True if a dtype matches `kinds`: a kind of the standard, a dtype, or a tuple of these."""
    found = list_possible_dtypes(builder, excerpt, argument)
    return choose_answer(excerpt, (_has_kind(builder, excerpt, each, kinds) for each in found))


def _has_kind(builder: ProgramBuilder, excerpt: Excerpt, found: DType, kinds: Argument) -> bool:
    if isinstance(kinds, tuple):
        return any(_has_kind(builder, excerpt, found, each) for each in kinds)
    if isinstance(kinds, str) and kinds in ISDTYPE_KINDS:
        return found.kind in ISDTYPE_KINDS[kinds]
    if isinstance(kinds, str) and builder.dtype_of(NamedDType(kinds)) is None:
        near = spelling_hint(kinds, ISDTYPE_KINDS)
        raise excerpt.error(
            f"unknown kind {quote_short(kinds)}{near}; give one of {', '.join(ISDTYPE_KINDS)}"
        )
    return found is known_dtype(builder, excerpt, kinds)


def is_same_dtype(builder: ProgramBuilder, excerpt: Excerpt, a: Argument, b: Argument) -> bool:
    """Return True if two dtypes are equal. Raises ProgramError if no system decides."""
    if isinstance(a, DTypeOf) and a == b:
        return True
    first, second = (list_possible_dtypes(builder, excerpt, each) for each in (a, b))
    return choose_answer(excerpt, (x is y for x in first for y in second))


def answer_question(
    builder: ProgramBuilder, excerpt: Excerpt, name: str, args: Sequence[Argument]
) -> bool | DTypeLimits:
    """Return the result of a function of QUESTION_FUNCTIONS. Raises ProgramError."""
    if len(args) != (2 if name in ("isdtype", "issubdtype") else 1):
        raise excerpt.error(f"{name} is given {len(args)} arguments; give a dtype, and what it is asked for")
    if name in LIMITS_FUNCTION_AND_ATTRIBUTES:
        return limits_of(excerpt, name, args[0])
    return is_kind(
        builder, excerpt, args[0], KINDS_BY_TEST_FUNCTION[name] if name in KINDS_BY_TEST_FUNCTION else args[1]
    )


def limits_of(excerpt: Excerpt, name: str, argument: Argument) -> DTypeLimits:
    """Return the result of `finfo` or `iinfo` for a dtype or an array's dtype. Raises ProgramError."""
    dtype_argument = (
        NamedDType(argument)
        if isinstance(argument, str)
        else DTypeOf(argument.step)
        if isinstance(argument, Ref)
        else argument
    )
    if not isinstance(dtype_argument, (NamedDType, DTypeOf)):
        raise excerpt.error(f"{name} takes a dtype; give one such as float32")
    return DTypeLimits(
        name, dtype_argument, name_meaning(NameSort.TYPED_FINFO, name, excerpt.owner) is not None
    )


def read_limit(builder: ProgramBuilder, excerpt: Excerpt, limits: DTypeLimits, field: str) -> Argument:
    """One of the numbers of `finfo` and `iinfo`. Its kind is known even if a system decides the dtype."""
    find_limits, fields = LIMITS_FUNCTION_AND_ATTRIBUTES[limits.name]
    if field not in fields:
        near = spelling_hint(field, fields)
        raise excerpt.error(f"{limits.name} has no {quote_short(field)}{near}; it has {', '.join(fields)}")
    if field == "dtype":
        return limits.dtype
    known, typed = builder.dtype_of(limits.dtype), limits.is_array and field != "bits"
    if known is not None:
        try:
            info = find_limits(known)
        except TypelatticeError as e:
            raise excerpt.error(str(e)) from None
        value: Argument = getattr(info, "smallest_normal" if field == "tiny" else field)
        return builder.add_cast(excerpt, value, NamedDType(info.dtype.name)) if typed else value
    if not isinstance(limits.dtype, DTypeOf):
        dtype_text = f"{limits.dtype.name}, whose limits are no system's alone"
        raise excerpt.error(f"it asks for those of {dtype_text}; write the number")
    kind = KIND_BY_NAME["int" if limits.name == "iinfo" or field == "bits" else "float"]
    number = builder.add_opaque(
        excerpt, f"{limits.name}.{field}", scalar_operand(kind), (limits.dtype.step,), ()
    )
    if not typed:
        return number
    cast = builder.add_cast(excerpt, number, limits.dtype)
    return builder.add_call(excerpt, find_operation("abs"), [cast])  # the limits of a complex dtype are real


def read_dtype_attribute(
    builder: ProgramBuilder, excerpt: Excerpt, dtype: DTypeArgument, name: str
) -> Argument:
    """Return an attribute of a dtype: `x.dtype.itemsize`, `x.dtype.is_floating_point`."""
    if name == "type":  # `x.dtype.type(2)` is a cast
        return dtype
    if name in KINDS_BY_TEST_FUNCTION:
        return is_kind(builder, excerpt, dtype, KINDS_BY_TEST_FUNCTION[name])
    if name not in ("kind", "itemsize", "name"):
        raise excerpt.error(f"nothing is known of its {quote_short(name)}; ask for its kind with isdtype")
    found = list_possible_dtypes(builder, excerpt, dtype)
    return choose_answer(excerpt, (_read_attribute_of(each, name) for each in found))


def _read_attribute_of(dtype: DType, name: str) -> Argument:
    if name == "itemsize" and dtype.storage_bits is not None:
        return dtype.storage_bits // 8
    return dtype.kind.letter if name == "kind" else dtype.name
