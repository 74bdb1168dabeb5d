"""Stubs, and the types that a type checker infers from them, for steps of arrays and Python numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from typelattice.conformance.agreement.way import REFUSED, Answers, AskedProgram, missing_modules, no_answers
from typelattice.conformance.imitations.type_checkers import CHECKER_NAMES, infer_types
from typelattice.conformance.recording.library import CannotAskError
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand
from typelattice.study.codegen.stubs import STUB_SCALARS, stub_file
from typelattice.study.codegen.tables import EmitError

CHECKER = CHECKER_NAMES[0]
MAX_SECONDS = 600.0
ARRAY_TYPE_PATTERN = re.compile(r"(?:stubs\.)?Array\[(?:stubs\.)?(\w+)\]")


class StubsByChecker:
    """The stubs of a system, read by a type checker."""

    name = f"stubs ({CHECKER})"
    leaves_out = "steps that types do not describe: weak or 0-d arrays, more than two operands"

    @property
    def missing(self) -> str:
        return missing_modules(CHECKER)

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        questions = [
            {i: e for i, p in asked.promotions().items() if (e := _write_expression(system, p))}
            for asked in programs
        ]
        functions = list(
            dict.fromkeys(
                str(asked.promotions()[i].op)
                for asked, steps in zip(programs, questions, strict=True)
                for i, expression in steps.items()
                if "(" in expression
            )
        )
        try:
            try:
                stubs = stub_file(system, functions or ["add"])
            except EmitError:
                stubs = stub_file(system, [f for f in functions if _can_describe(system, f)] or ["add"])
        except EmitError as e:
            raise CannotAskError(str(e)) from None
        known = [each for steps in questions for each in steps.values() if each in stubs.expected]
        expressions = [*dict.fromkeys(known)]
        inferred = infer_types(
            CHECKER, "from stubs import *", stubs.names, expressions, MAX_SECONDS, {"stubs.pyi": stubs.text}
        )
        found = dict(zip(expressions, inferred, strict=True)) if expressions else {}
        answers: list[Answers] = []
        for asked, steps in zip(programs, questions, strict=True):
            given = no_answers(asked)
            for i, expression in steps.items():
                if expression not in found:
                    continue
                dtype = ARRAY_TYPE_PATTERN.fullmatch(found[expression].type)
                is_refused = bool(found[expression].error) or "Never" in found[expression].type
                weak = "*" * asked.expected[i].endswith("*")  # a type does not say that a result is weak
                if dtype or is_refused:
                    given[i] = REFUSED if is_refused else f"{dtype[1] if dtype else ''}{weak}"
            answers.append(given)
        return answers


def _can_describe(system: System, op_name: str) -> bool:
    """Return True if stubs have a function for an operation."""
    try:
        stub_file(system, [op_name])
    except EmitError:
        return False
    return True


def _write_expression(system: System, p: Promotion) -> str:
    """Write a step as an expression of stubs, or "" if types cannot say its operands."""
    if p.op is None or len(p.operands) > 2 or p.promoting_operands != p.operands:
        return ""
    if p.python_number_kind or any(o.weak and o.tier != "scalar" for o in p.operands):
        return ""
    if any(o.tier == "0d" or o.foreign_library for o in p.operands):
        return ""
    again = system.explain(*map(_operand_of_stub, p.operands), op=p.op)
    if (again.dtype, again.weak) != (p.dtype, p.weak):  # the value of a Python number decided
        return ""
    words = [
        STUB_SCALARS[_operand_of_stub(o)].literal if o.tier == "scalar" else f"x_{o}" for o in p.operands
    ]
    operation = system.find_operation(p.op)
    if not operation.is_operator and (operation.max_operands or 3) > 2:
        return ""
    if not operation.is_operator:
        return f"{operation.name}({', '.join(words)})"
    if operation.is_in_place or not operation.operator:
        return ""
    if len(words) == 1:
        return operation.operator.replace("x", "") + words[0]
    return f" {operation.operator} ".join(words)


def _operand_of_stub(o: Operand) -> str:
    if o.tier != "scalar":
        return str(o)
    return "True" if o.dtype else str(o.kind.python_name)
