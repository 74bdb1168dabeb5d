"""The entries of a system file for dtypes with parameters: their limits, and how they join."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType as Frozen
from typing import Any

from typelattice.base.errors.error_texts import quote_short, spelling_hint
from typelattice.core.dtypes.dtypes import DType, DTypeError, DTypeParameter
from typelattice.core.dtypes.order import Order
from typelattice.core.dtypes.parametric_dtypes import family_spelling, member_of, read_arguments
from typelattice.core.engine.operation_rules import ComputedMember
from typelattice.core.engine.parameter_formulas import SAME_FOR_ALL_OPERANDS, FamilyRules, Formula
from typelattice.core.system_files.formula_reader import FORMULA_FUNCTIONS, read_formula, split_call
from typelattice.core.system_files.key_reader import KeyReader
from typelattice.core.system_files.value_reader import (
    OrderDependentError,
    UnknownWordError,
    Vocabulary,
    require_text,
    table_items,
)

MAX_PARAMETERS = 8  # parameters of a dtype
LIMITS_PATTERN = re.compile(r"(-?\d{1,18}) to (-?\d{1,18}|[a-z]\w*)(?: (digits|decimals))?")
LIMITS_BY_PARAMETER_WORD = {"number": (False, None, None), "whole number": (True, None, None)}


def read_parameters(table: object) -> tuple[DTypeParameter, ...]:
    """Read `{ p = "1 to 38", s = "0 to p", scale = "number" }`. Raises ValueError."""
    found: dict[str, DTypeParameter] = {}
    for name, limits in table_items(table):
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,19}", name) or name in (
            *FORMULA_FUNCTIONS,
            SAME_FOR_ALL_OPERANDS,
        ):
            raise UnknownWordError(
                f"{quote_short(name)} is no name for a parameter: a word of lower-case letters", name
            )
        found[name] = DTypeParameter(name, *_read_limits(require_text(limits), found))
    if not 1 <= len(found) <= MAX_PARAMETERS:
        raise UnknownWordError(f"a dtype has from 1 to {MAX_PARAMETERS} parameters", "parameters")
    return tuple(found.values())


def _read_limits(
    limits: str, earlier_parameters: Mapping[str, DTypeParameter]
) -> tuple[bool, int | None, int | str | None, str]:
    """Read the limits of a parameter: if it is whole, its least and greatest value, and what it counts."""
    if limits in LIMITS_BY_PARAMETER_WORD:
        return *LIMITS_BY_PARAMETER_WORD[limits], ""
    matched = LIMITS_PATTERN.fullmatch(limits)
    if not matched:
        cause = f'{quote_short(limits)} should be "1 to 38", "0 to p", "number" or "whole number"'
        raise UnknownWordError(cause + spelling_hint(limits, LIMITS_BY_PARAMETER_WORD), limits)
    least, most = int(matched[1]), matched[2]
    if most.lstrip("-").isdecimal():
        if int(most) < least:
            cause = f"{quote_short(limits)} leaves no value; write the smaller number first"
            raise UnknownWordError(cause, limits)
        return True, least, int(most), matched[3] or ""
    if most not in earlier_parameters:
        cause = (
            f"{quote_short(most)} is no parameter that stands before{spelling_hint(most, earlier_parameters)}"
        )
        raise UnknownWordError(cause, most)
    return True, least, most, matched[3] or ""


def read_families(
    reader: KeyReader, words: Vocabulary, order: Order[Any], dtypes: Mapping[str, DType]
) -> Mapping[DType, FamilyRules]:
    """Read how dtypes with parameters join, and which members other dtypes count as."""
    found: dict[DType, FamilyRules] = {}
    for word, facts in reader.read_table("dtypes"):
        family = dtypes.get(word)
        if family is None or not family.parameters or not isinstance(facts, Mapping):
            continue
        joins: dict[str, Formula] = {}
        members: dict[DType, DType] = {}
        with reader.record_mistakes_in_part("dtypes", word, "joins"):
            joins = _read_joins(family, facts.get("joins", {}))
        with reader.record_mistakes_in_part("dtypes", word, "from"):
            members = _read_members(family, facts.get("from", {}), words, order)
        found[family] = FamilyRules(family, Frozen(joins), Frozen(members))
    return Frozen(found)


def _read_joins(family: DType, table: object) -> dict[str, Formula]:
    """Read the formula of each parameter. A parameter without a formula must be equal in all operands."""
    names = [parameter.name for parameter in family.parameters]
    found: dict[str, Formula] = {}
    for name, formula in table_items(table):
        if name not in names:
            raise UnknownWordError(
                f"{quote_short(name)} is no parameter of {family_spelling(family)}"
                f"{spelling_hint(name, names)}",
                name,
            )
        found[name] = read_formula(require_text(formula), names, computed_names=(*found,))
    return {
        **{
            name: Formula(SAME_FOR_ALL_OPERANDS, SAME_FOR_ALL_OPERANDS) for name in names if name not in found
        },
        **found,
    }


def _read_members(family: DType, table: object, words: Vocabulary, order: Order[Any]) -> dict[DType, DType]:
    """Read the members that other dtypes count as: `{ "u8, i8" = "3, 0" }`."""
    found: dict[DType, DType] = {}
    for names, arguments in table_items(table):
        try:
            member = member_of(family, read_arguments(require_text(arguments), family))
        except DTypeError as e:
            raise UnknownWordError(str(e), require_text(arguments)) from None
        for d in map(words.require_dtype, words.read_nodes(names)):
            if d not in order or family not in order or order.join(d, family) is not family:
                raise OrderDependentError(f"{d} is not below {family} in the order, and so never joins it")
            if d in found:
                raise ValueError(f"{d} is mapped twice; keep one entry")
            found[d] = member
    return found


def read_computed_member(code: str, words: Vocabulary) -> ComputedMember:
    """Read `decimal(p + 1, s)`: a member of a family, by formulas. Raises ValueError."""
    name, formulas = split_call(code)
    family = words.known.get(name)
    if family is None or not family.parameters:
        near = spelling_hint(name, [word for word, d in words.known.items() if d.parameters])
        raise UnknownWordError(f"{quote_short(name)} is no dtype with parameters{near}", name)
    if len(formulas) != len(family.parameters):
        raise UnknownWordError(
            f"{family} has {len(family.parameters)} parameters: {family_spelling(family)}", code
        )
    every = [parameter.name for d in words.known.values() for parameter in d.parameters]
    return ComputedMember(
        family, tuple(read_formula(formula, every, computed_names=every) for formula in formulas)
    )
