"""Libraries that do not do what they should, for tests that ask them in processes of their own."""
from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from typelattice.conformance.recording.library import NoSuchOperandError, ParsedOperandString

DTYPES = ("int8", "int16")
NOTHING = None


class Sane:
    """Two dtypes, arrays only; the wider one wins."""

    name = "sane"
    versions: Mapping[str, str] = {"sane": "1.0"}
    how = "by hand"

    def dtypes(self) -> Sequence[str]:
        return DTYPES

    def make(self, operand: str) -> object:
        wanted = ParsedOperandString.parse(operand)
        if wanted.tier != "array" or wanted.dtype is None:
            raise NoSuchOperandError(operand)
        return wanted.dtype

    def read(self, result: object) -> str:
        return str(result)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"add": wider}


def wider(*names: str) -> str:
    return max(names, key=DTYPES.index)


class ConstructorRaises(Sane):
    def __init__(self) -> None:
        raise LookupError("no \x1b[31mdevice\nfound")


class ConstructorExits(Sane):
    def __init__(self) -> None:
        sys.exit("goodbye")


class ConstructorDies(Sane):
    def __init__(self) -> None:
        os._exit(0)


class ConstructorHangs(Sane):
    def __init__(self) -> None:
        time.sleep(600)


class MakeRaises(Sane):
    def make(self, operand: str) -> object:
        raise RuntimeError(f"{operand} is beyond me")


class MakeHangs(Sane):
    def make(self, operand: str) -> object:
        time.sleep(600)
        return operand


class ReadsNothing(Sane):
    def read(self, result: object) -> str:
        return None  # type: ignore[return-value]


class ReadsEscapes(Sane):
    def read(self, result: object) -> str:
        return "\x1b[2Jint8"


class NoOperations(Sane):
    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {}


class UnknownOperation(Sane):
    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"multply": wider}


class OperationNotCallable(Sane):
    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"add": 3}  # type: ignore[dict-item]


class DtypesNoList(Sane):
    def dtypes(self) -> Sequence[str]:
        return 3  # type: ignore[return-value]


class NameEscapes(Sane):
    name = "\x1b]0;owned\x07"


class Talkative(Sane):
    """Prints, also past Python's streams."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        def add(*names: str) -> str:
            print("hello")
            os.write(1, b"hello\n")
            os.write(2, b"hello\n")
            return wider(*names)

        return {"add": add}


class Fragile(Sane):
    """One pair of operands kills it, one hangs, one exits, one interrupts, one raises what cannot be read."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"add": wider, "subtract": subtract, "multiply": multiply}


def subtract(x: str, y: str) -> str:
    match x, y:
        case "int8", "int16":
            os._exit(0)
        case "int16", "int8":
            time.sleep(600)
    return wider(x, y)


def multiply(x: str, y: str) -> str:
    match x, y:
        case "int8", "int8":
            sys.exit(0)
        case "int8", "int16":
            raise KeyboardInterrupt
        case "int16", "int8":
            raise UnreadableError
    raise ValueError("\x1b[31mred\x1b[0m")


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("nobody reads me")


class Leaves(Sane):
    """Leaves the number of its process in the folder, and hangs."""

    def __init__(self) -> None:
        Path("asked").write_text(str(os.getpid()), encoding="ascii")
        time.sleep(600)


class Exits(Sane):
    """Ends its process, successfully, whenever two int16 meet."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        def add(x: str, y: str) -> str:
            if x == y == "int16":
                os._exit(0)
            return wider(x, y)

        return {"add": add, "result_type": wider}


class Unasked(Sane):
    """Has no operation of two operands, so that nothing can be compared at random."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"negative": wider}
