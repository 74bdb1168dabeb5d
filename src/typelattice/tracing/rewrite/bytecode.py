"""Replacement of the marks in a rewritten module's compiled code by copies and witnesses."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

from typelattice.base.errors.errors import TypelatticeError
from typelattice.tracing.rewrite.nodes import (
    COMPARISON_END,
    COPY_IN_PLACE,
    COPY_PREFIX,
    COPY_TARGET,
    COPY_TOP,
    WITNESS_PREFIX,
)

TESTED_RELEASES = ((3, 11), (3, 12), (3, 13), (3, 14))  # other CPythons may have other bytecode
OPCODE_BY_NAME = dis.opmap
CACHE, NOP, PUSH_NULL, EXTENDED_ARG = (
    OPCODE_BY_NAME["CACHE"],
    OPCODE_BY_NAME["NOP"],
    OPCODE_BY_NAME["PUSH_NULL"],
    OPCODE_BY_NAME["EXTENDED_ARG"],
)
LOAD_CONST = OPCODE_BY_NAME["LOAD_CONST"]
# the first instruction of a call, with the number of arguments
CALL_OPCODE = OPCODE_BY_NAME.get("PRECALL", OPCODE_BY_NAME["CALL"])
REST_OF_CALL = (CACHE, OPCODE_BY_NAME["CALL"])  # the instructions after the first one of a call
ABOVE_TARGET = 2  # the witness's method and the witness lie above the target on the stack
BYTECODE_MARK = StopIteration  # a constant that marshal keeps and that no program's code has
IN_PLACE_OFFSET = 13  # add this to an operator's number for its in-place form (CPython's opcode.h, 3.11 on)


class UnknownBytecodeError(TypelatticeError, ValueError):
    """An error: compiled code has a form that is not known for this release of Python."""


def check_release() -> None:
    """Raise UnknownBytecodeError if no test has run on this release of Python."""
    release = sys.version_info[:2]
    free_threaded = "t" in getattr(sys, "abiflags", "")
    if release not in TESTED_RELEASES or sys.implementation.name != "cpython" or free_threaded:
        kind = "free-threaded " if free_threaded else ""
        which = f"{kind}{sys.implementation.name} {release[0]}.{release[1]}"
        oldest, newest = (".".join(map(str, each)) for each in (TESTED_RELEASES[0], TESTED_RELEASES[-1]))
        what = f"its code was not rewritten, which was never tested with {which}"
        raise UnknownBytecodeError(f"{what}; trace it with CPython {oldest} to {newest}")


def insert_copies(code: CodeType, found_witness_numbers: list[int]) -> CodeType:
    """Return compiled code with an instruction that copies a value of the stack for each mark of a copy.

    All instructions keep their positions, so jumps, lines and exception tables stay valid. A copy of a wrong
    value would end the process. So this checks that the call of each witness takes the copied values and the
    result from the stack. One mark replaces all witnesses, and their `numbers` are added in order of
    appearance. Raises UnknownBytecodeError if a check fails.
    """
    consts = tuple([_clear_numbers(x, found_witness_numbers) for x in code.co_consts])
    marks = {
        i: x.removeprefix(COPY_PREFIX).split(".")
        for i, x in enumerate(consts)
        if isinstance(x, str) and x.startswith(COPY_PREFIX)
    }
    return code.replace(co_consts=consts, co_code=_copy_code(code.co_code, marks) if marks else code.co_code)


def _clear_numbers(const: Any, numbers: list[int]) -> Any:
    if isinstance(const, CodeType):
        return insert_copies(const, numbers)
    if isinstance(const, str) and const.startswith(WITNESS_PREFIX):
        numbers.append(int(const.removeprefix(WITNESS_PREFIX)))
        return BYTECODE_MARK
    return const


def _copy_code(code: bytes, marks: dict[int, list[str]]) -> bytes:
    made = bytearray(code)
    call = _WitnessCall(made)
    found: set[int] = set()
    at = 0
    while at < len(code):
        if not call.taken:
            at = code.find(LOAD_CONST, at)
            if at < 0:
                break
        if at % 2 or code[at] in (EXTENDED_ARG, CACHE):
            at += 2 - at % 2
            continue
        op = code[at]
        arg, first = _read_argument(code, at)
        if op == LOAD_CONST and arg in marks:
            at = call.replace_mark(marks[arg], code, first, at)
            found.add(arg)
            continue
        if call.taken:
            call.follow_instruction(op, arg, at)
        at += 2
    unloaded = marks.keys() - found  # Python leaves out what never runs, such as a branch of `if False`
    if call.taken or (unloaded and not unloaded.isdisjoint(_loaded_constants(code))):
        raise UnknownBytecodeError("a mark was not found; trace it with another Python")
    return bytes(made)


def _loaded_constants(code: bytes) -> Iterator[int]:
    """Yield the numbers of the constants that instructions use, whatever instructions these are."""
    for at in range(0, len(code), 2):
        if code[at] in dis.hasconst:
            yield _read_argument(code, at)[0]


class _WitnessCall:
    """The stack between the first copy for a witness and the witness's call.

    - `pushed` is the number of values above the items, `left` the number of items that are not copied yet.
    - `taken` is the number of values that the call must take from the stack, or 0 outside a call.
    """

    def __init__(self, new_code: bytearray) -> None:
        self.made = new_code
        self.pushed = self.left = self.taken = 0
        self.in_place = self.assigns = False

    def replace_mark(self, mark: Sequence[str], code: bytes, first: int, position: int) -> int:
        """Replace a mark by its instructions. Return the next position."""
        count, number, how = int(mark[0]), int(mark[1]), mark[2]
        if how == COMPARISON_END:
            return _blank_instructions(self.made, first, position + 2, "COMPARE_OP")
        if how == COPY_TARGET:
            return _write_copy(self.made, first, position, ABOVE_TARGET + 1)
        if how == COPY_TOP:
            return _write_copy(self.made, first, position, 1)
        if number == 0:
            self.pushed = int(first > 0 and code[first - 2] == PUSH_NULL)
        position = _write_copy(self.made, first, position, count - number + self.pushed)
        self.pushed, self.left = self.pushed + 1, count - 1 - number
        self.taken = count + 1 if count > 1 else 0  # a single value is on top of the stack, whatever follows
        self.in_place = self.assigns = how == COPY_IN_PLACE
        return position

    def follow_instruction(self, opcode: int, arg: int, position: int) -> None:
        """Follow one instruction. Raises UnknownBytecodeError if the call would take other values."""
        if (
            opcode == CALL_OPCODE
            and arg == self.taken
            and self.pushed == 1
            and not self.left
            and not self.in_place
        ):
            self.taken = 0
            if self.assigns:
                _write_assignment(self.made, position + 2)
                self.assigns = False
            return
        if self.in_place and not self.left:
            if opcode != OPCODE_BY_NAME["BINARY_OP"]:
                raise UnknownBytecodeError("an operator in place is none; trace it with another Python")
            self.made[position + 1] += IN_PLACE_OFFSET
            self.in_place = False
        self.pushed += dis.stack_effect(opcode, arg if opcode >= dis.HAVE_ARGUMENT else None, jump=False)
        if self.pushed < 1:
            raise UnknownBytecodeError("a call takes what was to be copied; trace it with another Python")


def _write_copy(new_code: bytearray, first: int, position: int, depth: int) -> int:
    """Replace a mark by a copy of the value at `depth` on the stack. Return the next position."""
    if new_code[position + 2 : position + 3] != bytes((OPCODE_BY_NAME["UNARY_NEGATIVE"],)):
        raise UnknownBytecodeError("a mark is not followed by its sign; trace it with another Python")
    copy = bytes((OPCODE_BY_NAME["COPY"], depth, NOP, 0))
    new_code[first : position + 4] = bytes((NOP, 0)) * ((position - first) // 2) + copy
    return position + 4


def _write_assignment(new_code: bytearray, position: int) -> None:
    """Replace an in-place operator with a known result: drop the value that it has read.

    The operator follows the rest of a call at `position`. Its caches are also removed: Python ends the
    process if it meets a cache that no instruction skips.
    """
    while new_code[position] in REST_OF_CALL:
        position += 2
    if new_code[position] != OPCODE_BY_NAME["BINARY_OP"]:
        raise UnknownBytecodeError("no operator follows that is in place; trace it with another Python")
    end = _instruction_end(new_code, position)
    new_code[position:end] = bytes((OPCODE_BY_NAME["SWAP"], 2, OPCODE_BY_NAME["POP_TOP"], 0)) + bytes(
        (NOP, 0)
    ) * ((end - position - 4) // 2)


def _blank_instructions(new_code: bytearray, first: int, position: int, name: str) -> int:
    """Blank the instructions from `first` to the one named `name` at `position`. Return the next position."""
    if new_code[position] != OPCODE_BY_NAME[name]:
        raise UnknownBytecodeError(f"a mark is not followed by {name}; trace it with another Python")
    end = _instruction_end(new_code, position)
    new_code[first:end] = bytes((NOP, 0)) * ((end - first) // 2)
    return end


def _instruction_end(code: bytes | bytearray, position: int) -> int:
    """Return the end of an instruction with caches. Raises UnknownBytecodeError if it has none."""
    end = position + 2
    while code[end] == CACHE:
        end += 2
    if end == position + 2:
        raise UnknownBytecodeError("an instruction has no caches; trace it with another Python")
    return end


def _read_argument(code: bytes, position: int) -> tuple[int, int]:
    """Return the argument of an instruction, and the position of the first prefix that widens it."""
    arg, first = code[position + 1], position
    while first > 0 and code[first - 2] == EXTENDED_ARG:
        first -= 2
        arg |= code[first + 1] << 4 * (position - first)
    return arg, first


def insert_witnesses(code: CodeType, witnesses: Iterator[object]) -> CodeType:
    """Return compiled code with witnesses in place of their marks, in order of appearance."""
    consts = [
        insert_witnesses(x, witnesses)
        if type(x) is CodeType
        else next(witnesses)
        if x is BYTECODE_MARK
        else x
        for x in code.co_consts
    ]
    return code.replace(co_consts=tuple(consts))
