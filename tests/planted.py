"""Implementations that look up NumPy's recorded answers, without mistakes and with planted ones."""
from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise

from typelattice.conformance.recording.library import ParsedOperandString
from typelattice.core.evidence.answer_notation import EXCEPTION_PREFIX
from typelattice.core.evidence.recording_files import open_recording
from typelattice.core.operations.operations import OPERATION_BY_NAME, OPERATIONS

BREAKING = ("hypot", "int8", "float16")
HANGING = ("hypot", "float16", "int8")


class Faithful:
    """No mistakes; five dtypes."""

    name = "faithful"
    versions: Mapping[str, str] = {"faithful": "1.0"}
    operations = (*OPERATIONS, "+", "&")

    def dtypes(self) -> Sequence[str]:
        return ("bool", "uint8", "int8", "float16", "float32")

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        page = open_recording("numpy")
        call = page and page.find_call(operation, tuple(operands))
        assert call
        if call.answer.startswith(EXCEPTION_PREFIX):
            raise TypeError(f"no {operation} here")
        return call.answer


    def ask_chain(self, operations: Sequence[str], operands: Sequence[str]) -> str:
        answer = ""
        for name in operations:
            count = OPERATION_BY_NAME[name].min_operands - bool(answer)
            own, operands = operands[:count], operands[count:]
            answer = self.ask(name, (*([answer] if answer else []), *own), ())
        return answer


class Fusing(Faithful):
    """Right in each call. Of a sum that is multiplied it makes one operation, of float32."""

    name = "fusing"
    operations = ("add", "multiply", "maximum", "sqrt", "negative")

    def ask_chain(self, operations: Sequence[str], operands: Sequence[str]) -> str:
        answer = super().ask_chain(operations, operands)
        pairs = pairwise(operations)
        return "float32" if ("add", "multiply") in pairs and answer == "float16" else answer


class Weakening(Faithful):
    """No mistakes; `negative` gives a weak array, which counts as any other."""

    name = "weakening"
    operations = ("add", "multiply", "negative")
    tiers = ("array", "weak")

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        answer = super().ask(operation, [each.rstrip("*").removesuffix(":weak") for each in operands], ())
        return f"{answer}*" if operation == "negative" else answer


class WrongBesideWeak(Weakening):
    """One mistake: a sum of `float16` with something weak is `float32`."""

    name = "wrong-beside-weak"

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        answer = super().ask(operation, operands, arguments)
        is_weak = operation == "add" and any(each.endswith(("*", ":weak")) for each in operands)
        return "float32" if is_weak and answer == "float16" else answer


class Planted(Faithful):
    """Five mistakes: each is one root cause."""

    name = "planted"

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        print("noise")
        match (operation, *operands):
            case ("add" | "+", "int8" | "uint8" as x, "uint8" | "int8" as y) if x != y:
                return "int8"
            case ("bitwise_and" | "&", "float16", "int8"):
                return "float16"
            case ("where", "bool", _):
                raise ValueError("bool has no kernel 'where_bool'")
            case call if call == BREAKING:
                os._exit(1)
            case call if call == HANGING:
                time.sleep(60)
        return super().ask(operation, operands, arguments)


class OneEntry(Faithful):
    """One wrong entry of a table that three classes of operations read, and another mistake for bools."""

    name = "one-entry"
    operations = ("add", "multiply", "maximum", "minimum", "concat", "sum")

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        if {operand.partition(":")[0] for operand in operands} == {"int8", "uint8"}:
            return "int8"
        if (operation, *operands) == ("sum", "bool"):
            return "uint8"
        return super().ask(operation, operands, arguments)


class LeftOperand(Faithful):
    """One wrong rule: `/` has the dtype of the left operand."""

    name = "left-operand"
    operations = ("/", "add")

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        answer = super().ask(operation, operands, arguments)
        left = operands[0].partition(":")[0]
        return left if operation == "/" and left in self.dtypes() else answer


class Nothing:
    """Neither the method `ask` nor those of a library."""


class Counting:
    """Integers of NumPy and of Python, with values: it has no mistakes."""

    name = "counting"
    versions: Mapping[str, str] = {"counting": "1.0"}
    operations: Sequence[str] = ("add", "floor_divide", "divide", "sqrt")

    def dtypes(self) -> Sequence[str]:
        return ("int8", "uint8", "float32")

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        dtypes = {operand.partition("=")[0].partition(":")[0] for operand in operands}
        known = dtypes & {*self.dtypes()}
        if len(known) != 1:
            raise TypeError("dtypes must be the same")
        return "float32" if operation in ("divide", "sqrt") else known.pop()

    def ask_values(
        self, operation: str, operands: Sequence[str], arguments: Sequence[object]
    ) -> Sequence[float]:
        x, y = ([*(ParsedOperandString.parse(operand).value for operand in operands), 1])[:2]
        assert not isinstance(x, complex) and not isinstance(y, complex)
        match operation:
            case "add":
                return [self.wrap(x + y, operands)]
            case "floor_divide":
                return [self.floor(x, y)]
            case "divide":
                return [x / y]
        return [math.sqrt(x) if x >= 0 else math.nan]

    def wrap(self, x: float, operands: Sequence[str]) -> float:
        dtype = self.ask("add", operands, ())
        if dtype == "float32" or math.isinf(x):
            return x
        x = int(x) % 256
        return x - 256 if dtype == "int8" and x > 127 else x

    def floor(self, x: float, y: float) -> float:
        return x // y


class Miscounting(Counting):
    """Two wrong values: int8 saturates, and `floor_divide` rounds to zero. Two that are no mistakes."""

    name = "miscounting"

    def ask_values(
        self, operation: str, operands: Sequence[str], arguments: Sequence[object]
    ) -> Sequence[float]:
        (value,) = super().ask_values(operation, operands, arguments)
        return [value * (1 + 1e-7) if operation == "divide" else value]  # within a unit of float32

    def wrap(self, x: float, operands: Sequence[str]) -> float:
        return min(x, 127) if self.ask("add", operands, ()) == "int8" else super().wrap(x, operands)

    def floor(self, x: float, y: float) -> float:
        return math.trunc(x / y)


class Silent(Counting):
    """No values."""

    name = "silent"
    ask_values = None  # type: ignore[assignment]


class Leaking(Faithful):
    """No mistakes, but a call that takes all memory."""

    name = "leaking"
    operations = ("add",)

    def ask(self, operation: str, operands: Sequence[str], arguments: Sequence[object]) -> str:
        if tuple(operands) == ("int8", "int8"):
            bytearray(2**34)
        return super().ask(operation, operands, arguments)


class NoTiers(Faithful):
    """It names a tier that no operand has."""

    tiers = ("array", "vector")


class OneName(Faithful):
    """Its operations are a name, and no list of names."""

    operations = "add"  # type: ignore[assignment]


class Written(LeftOperand):
    """It says how programs write its calls, as if it were NumPy with a wrong `/`."""

    forms: Mapping[str, str] = {
        "setup": "import numpy",
        "array": "{x} = numpy.ones(2, '{dtype}')",
        "argument": "{x}",
        "function": "numpy.{op}",
        "expected": "print(({call}).dtype)",
        "found": "print(x.dtype)",
    }


class HalfWritten(Faithful):
    """It says how arrays are made, and not how they are passed."""

    forms: Mapping[str, str] = {"array": "{x} = numpy.ones(2)"}
