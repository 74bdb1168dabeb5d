"""The marks of a rewritten module, in its compiled code, become what they stand for: copies and witnesses."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType
from typing import Any

from typelattice.facts.errors import TypelatticeError
from typelattice.tracing.nodes import COMPARED, COPY, COPY_IN_PLACE, TARGET, WITNESS

OP = dis.opmap
CACHE, NOP, PUSH_NULL, EXTENDED = OP["CACHE"], OP["NOP"], OP["PUSH_NULL"], OP["EXTENDED_ARG"]
LOAD_CONST = OP["LOAD_CONST"]
CALL = OP.get("PRECALL", OP["CALL"])  # the first instruction of a call, which says of how many arguments
CALLS = (CACHE, OP["CALL"])  # what the first instruction of a call is followed by
ABOVE_TARGET = 2  # values: a witness's method, and the witness
MARK = StopIteration  # of the constants that marshal keeps, the one that no program's code has
TO_IN_PLACE = 13  # from the number of an operator to that of the same in place (CPython's opcode.h, 3.11 on)


class UnknownBytecodeError(TypelatticeError, ValueError):
    """Compiled code of a form that this release of Python was not known to have."""


def with_copies(code: CodeType, numbers: list[int]) -> CodeType:
    """Compiled code in which each mark of a copy is an instruction that copies a value of the stack.

    All instructions keep their places, so that jumps, lines and exceptions' tables hold as they are. A copy
    of another value would end the process; so the call of each witness is checked to take the values that
    were copied, and the result, from the stack. In place of witnesses it has one mark, and their `numbers`
    are added in the order in which they are met. Raises UnknownBytecodeError.
    """
    consts = tuple([_without_numbers(x, numbers) for x in code.co_consts])
    marks = {
        i: x.removeprefix(COPY).split(".")
        for i, x in enumerate(consts)
        if isinstance(x, str) and x.startswith(COPY)
    }
    return code.replace(co_consts=consts, co_code=_copied(code.co_code, marks) if marks else code.co_code)


def _without_numbers(const: Any, numbers: list[int]) -> Any:
    if isinstance(const, CodeType):
        return with_copies(const, numbers)
    if isinstance(const, str) and const.startswith(WITNESS):
        numbers.append(int(const.removeprefix(WITNESS)))
        return MARK
    return const


def _copied(code: bytes, marks: dict[int, list[str]]) -> bytes:
    made = bytearray(code)
    found: set[int] = set()
    at = 0
    pushed, left = 0, 0  # what lies above the items by now, and how many of them are yet to be copied
    taken = 0  # how many values the call of the witness has to take from the stack; 0 outside of one
    in_place = assigns = False
    while at < len(code):
        if not taken:
            at = code.find(LOAD_CONST, at)
            if at < 0:
                break
        if at % 2 or code[at] in (EXTENDED, CACHE):
            at += 2 - at % 2
            continue
        op = code[at]
        arg, first = _argument(code, at)
        if op == LOAD_CONST and arg in marks:
            count, number, how = int(marks[arg][0]), int(marks[arg][1]), marks[arg][2]
            if how == COMPARED:
                at = _blank(made, first, at + 2, "COMPARE_OP")
                found.add(arg)
                continue
            if how == TARGET:
                at = _copy(made, first, at, ABOVE_TARGET + 1)
                found.add(arg)
                continue
            if number == 0:
                pushed = int(first > 0 and code[first - 2] == PUSH_NULL)
            at = _copy(made, first, at, count - number + pushed)
            pushed, left = pushed + 1, count - 1 - number
            taken = count + 1 if count > 1 else 0  # one value alone lies on top, whatever comes after it
            in_place = assigns = how == COPY_IN_PLACE
            found.add(arg)
            continue
        if taken and pushed == 1 and not left and not in_place and op == CALL and arg == taken:
            taken = 0
            if assigns:
                _assign(made, at + 2)
                assigns = False
        elif taken:
            if in_place and not left:
                if op != OP["BINARY_OP"]:
                    raise UnknownBytecodeError("an operator in place is none; trace it with another Python")
                made[at + 1] += TO_IN_PLACE
                in_place = False
            pushed += dis.stack_effect(op, arg if op >= dis.HAVE_ARGUMENT else None, jump=False)
            if pushed < 1:
                raise UnknownBytecodeError("a call takes what was to be copied; trace it with another Python")
        at += 2
    if found != marks.keys() or taken:
        raise UnknownBytecodeError("a mark was not found; trace it with another Python")
    return bytes(made)


def _copy(made: bytearray, first: int, at: int, depth: int) -> int:
    """Copies the value that lies so deep on the stack, in the place of a mark; where the next one is."""
    if made[at + 2 : at + 3] != bytes((OP["UNARY_NEGATIVE"],)):
        raise UnknownBytecodeError("a mark is not followed by its sign; trace it with another Python")
    copy = bytes((OP["COPY"], depth, NOP, 0))
    made[first : at + 4] = bytes((NOP, 0)) * ((at - first) // 2) + copy
    return at + 4


def _assign(made: bytearray, at: int) -> None:
    """Drops the value that an operator in place has read, whose result is known: it does not run again.

    The operator comes after the rest of a call, which stands there, and takes two places with its cache.
    """
    while made[at] in CALLS:
        at += 2
    if made[at] != OP["BINARY_OP"] or made[at + 2] != CACHE:
        raise UnknownBytecodeError("no operator follows that is in place; trace it with another Python")
    made[at : at + 4] = bytes((OP["SWAP"], 2, OP["POP_TOP"], 0))


def _blank(made: bytearray, first: int, at: int, name: str) -> int:
    """Takes out the instructions from the first to that of a name, which stands there; where the next is."""
    if made[at] != OP[name]:
        raise UnknownBytecodeError(f"a mark is not followed by {name}; trace it with another Python")
    end = at + 2
    while made[end] == CACHE:
        end += 2
    made[first:end] = bytes((NOP, 0)) * ((end - first) // 2)
    return end


def _argument(code: bytes, at: int) -> tuple[int, int]:
    """The argument of an instruction, and where the first of the prefixes stands that widen it."""
    arg, first = code[at + 1], at
    while first > 0 and code[first - 2] == EXTENDED:
        first -= 2
        arg |= code[first + 1] << 4 * (at - first)
    return arg, first


def with_witnesses(code: CodeType, witnesses: Iterator[object]) -> CodeType:
    """Compiled code that has witnesses in place of their marks, in the order in which they are met."""
    consts = [
        with_witnesses(x, witnesses) if type(x) is CodeType else next(witnesses) if x is MARK else x
        for x in code.co_consts
    ]
    return code.replace(co_consts=tuple(consts))
