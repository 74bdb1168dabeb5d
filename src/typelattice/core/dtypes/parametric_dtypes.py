"""Members of families of dtypes: `decimal(10,2)` is the member of `decimal` with these parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.dtypes.dtypes import DType, DTypeError, intern_dtype

RealNumber = int | float
MAX_NUMBER_CHARS = 40  # characters of a number: more than any parameter needs


def read_member(text: str, custom_dtypes: Mapping[str, DType]) -> DType:
    """Find the dtype that `decimal(10,2)` names. `custom_dtypes` are the dtypes of a system file.

    Raises DTypeError if no such family exists, or if it has no such member.
    """
    name, _, rest = text.partition("(")
    family = custom_dtypes.get(name)
    if family is None or not family.parameters:
        near = spelling_hint(name, [word for word, d in custom_dtypes.items() if d.parameters])
        raise DTypeError(f"no dtype {quote_short(name)} with parameters is known{near}")
    if not rest.endswith(")"):
        raise DTypeError(f"cannot read {quote_short(text)}; write {family_spelling(family)}")
    return member_of(family, read_arguments(rest[:-1], family))


def read_arguments(text: str, family: DType) -> list[RealNumber]:
    """Read the values of a family's parameters: `10,2`. Raises DTypeError for text that is not a number."""
    return [_read_finite_number(part.strip(), family) for part in text.split(",")]


def member_of(family: DType, arguments: Sequence[RealNumber]) -> DType:
    """Find the member of a family with these parameter values. Raises DTypeError if it does not exist."""
    if len(arguments) != len(family.parameters):
        raise DTypeError(f"{family} has {len(family.parameters)} parameters; write {family_spelling(family)}")
    given: dict[str, RealNumber] = {}
    for parameter, value in zip(family.parameters, arguments, strict=True):
        named = f"{parameter.name} of {family}({_arguments_text(arguments)})"
        if parameter.is_whole and value != int(value):
            raise DTypeError(f"{named} should be a whole number")
        most = given[parameter.most] if isinstance(parameter.most, str) else parameter.most
        if parameter.least is not None and value < parameter.least:
            raise DTypeError(f"{named} should be at least {parameter.least}")
        if most is not None and value > most:
            raise DTypeError(f"{named} should be at most {most}")
        given[parameter.name] = int(value) if parameter.is_whole else float(value)
    values = tuple(given.values())
    name = f"{family}({_arguments_text(values)})"
    facts = {fact: getattr(family, fact) for fact in DType.__match_args__}
    return intern_dtype(*{
        **facts, "name": name, "code": name, "parameters": (), "family": family, "arguments": values,
    }.values())  # fmt: skip


def arguments_of(member: DType) -> dict[str, RealNumber]:
    """Return the values of a member's parameters, by their names."""
    assert member.family is not None
    names = (parameter.name for parameter in member.family.parameters)
    return dict(zip(names, member.arguments, strict=True))


def family_spelling(family: DType) -> str:
    """Write a member of a family with the names of its parameters: `decimal(p,s)`."""
    return f"{family}({','.join(parameter.name for parameter in family.parameters)})"


def _arguments_text(arguments: Sequence[RealNumber]) -> str:
    return ",".join(repr(value) for value in arguments)


def _read_finite_number(text: str, family: DType) -> RealNumber:
    """Read a finite number. Raises DTypeError."""
    for read in (int, float) if len(text) <= MAX_NUMBER_CHARS else ():
        try:
            value = read(text)
        except ValueError:
            continue
        if abs(value) < float("inf"):
            return value
    raise DTypeError(f"{quote_short(text)} is no number; write {family_spelling(family)}")
