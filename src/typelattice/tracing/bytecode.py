"""The marks of a rewritten module, in its compiled code, become what they stand for: copies and witnesses."""

from __future__ import annotations

import dis
from collections.abc import Sequence
from types import CodeType

from typelattice.facts.errors import TypelatticeError
from typelattice.tracing.rewriting import COPY, IN_PLACE, WITNESS

OP = dis.opmap
CACHE, NOP, PUSH_NULL, EXTENDED = OP["CACHE"], OP["NOP"], OP["PUSH_NULL"], OP["EXTENDED_ARG"]
TO_IN_PLACE = 13  # from the number of an operator to that of the same in place (CPython's opcode.h, 3.11 on)


class UnknownBytecodeError(TypelatticeError, ValueError):
    """Compiled code of a form that this release of Python was not known to have."""


def with_copies(code: CodeType) -> CodeType:
    """Compiled code in which each mark is an instruction that copies a value of the stack.

    All instructions keep their places, so that jumps, lines and exceptions' tables hold as they are. Raises
    UnknownBytecodeError.
    """
    consts = tuple(with_copies(x) if isinstance(x, CodeType) else x for x in code.co_consts)
    marks = {
        i: x.removeprefix(COPY).split(".")
        for i, x in enumerate(consts)
        if isinstance(x, str) and x.startswith(COPY)
    }
    return code.replace(co_consts=consts, co_code=_copied(code.co_code, marks) if marks else code.co_code)


def _copied(code: bytes, marks: dict[int, list[str]]) -> bytes:
    made = bytearray(code)
    found: set[int] = set()
    extended, before = 0, NOP  # what prefixes say of the argument; the last instruction
    widened: list[int] = []  # the places of the prefixes
    pushed, left = 0, 0  # what lies above the items by now, and how many of them are yet to be copied
    in_place = skip = False
    for at in range(0, len(code), 2):
        op, arg = code[at], code[at + 1] | extended << 8
        if op == EXTENDED:
            extended, widened = arg, [*widened, at]
            continue
        if op == CACHE or skip:
            skip = False
            continue
        if op == OP["LOAD_CONST"] and arg in marks:
            count, number, how = int(marks[arg][0]), int(marks[arg][1]), marks[arg][2]
            if number == 0:
                pushed = int(before == PUSH_NULL)
            if at + 2 >= len(code) or code[at + 2] != OP["UNARY_NEGATIVE"]:
                raise UnknownBytecodeError("a mark is not followed by its sign; trace it with another Python")
            made[at : at + 4] = bytes((OP["COPY"], count - number + pushed, NOP, 0))
            for prefix in widened:
                made[prefix : prefix + 2] = bytes((NOP, 0))
            pushed, left, skip = pushed + 1, count - 1 - number, True
            in_place = how == IN_PLACE
            found.add(arg)
        elif left:
            pushed += dis.stack_effect(op, arg if op >= dis.HAVE_ARGUMENT else None, jump=False)
        elif in_place:
            if op != OP["BINARY_OP"]:
                raise UnknownBytecodeError("an operator in place is none; trace it with another Python")
            made[at + 1] += TO_IN_PLACE
            in_place = False
        extended, widened, before = 0, [], op
    if found != marks.keys():
        raise UnknownBytecodeError("a mark was not found; trace it with another Python")
    return bytes(made)


def with_witnesses(code: CodeType, witnesses: Sequence[object]) -> CodeType:
    """Compiled code whose constants that stand for witnesses are those witnesses."""
    consts = tuple(
        with_witnesses(x, witnesses)
        if isinstance(x, CodeType)
        else witnesses[int(x.removeprefix(WITNESS))]
        if isinstance(x, str) and x.startswith(WITNESS)
        else x
        for x in code.co_consts
    )
    return code.replace(co_consts=consts)
