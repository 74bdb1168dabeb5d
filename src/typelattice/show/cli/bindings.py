"""Operands for names on the command line: `a=int8:0d`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from typelattice.base.errors.error_texts import quote_short

BINDING_PATTERN = re.compile(r"([^\W\d]\w*)=(?!=)([^\n]*)\Z")  # an operand has a colon before its =


def split_bindings(arguments: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the one program among arguments, and the operands of its names. Raises ProgramError."""
    from typelattice.programs.calls.steps import ProgramError  # most questions have no names: a faster start

    texts = [x for x in arguments if not BINDING_PATTERN.match(x)]
    option = next((x for x in texts if x.startswith("--")), None)
    if option:
        what = f"{quote_short(option)} comes after `--`, so it was read as an operand"
        raise ProgramError(f"{what}; put options before `--`")
    if len(texts) != 1:
        example = "explain 'a*2.0 + b' a=int8 b=float16"
        given = " and ".join(map(quote_short, texts[:3]))
        what = f"several programs, or operands beside a program: {given}" if texts else "no program was given"
        raise ProgramError(f"{what}; give one program, then name=dtype for each name: {example}")
    bound: dict[str, str] = {}
    for match in filter(None, map(BINDING_PATTERN.match, arguments)):
        name, said = match.groups()
        if name in bound:
            raise ProgramError(f"{name} is bound twice, to {bound[name]} and to {said}; leave one out")
        bound[name] = said
    return texts[0], bound
