"""Emitted code, compiled and run: a chain of calls for each program, with the results of earlier calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from typelattice.conformance.agreement.way import (
    REFUSED,
    Answers,
    AskedProgram,
    missing_program,
    no_answers,
    without_value,
    words_of,
)
from typelattice.conformance.recording.library import CannotAskError
from typelattice.core.engine.promotion import Promotion
from typelattice.core.engine.system import System
from typelattice.core.operands.operand import Operand, Tier
from typelattice.programs.calls.steps import Call, Cast
from typelattice.study.codegen.emit import CHAIN_PRINTER_BY_LANGUAGE, emit_files
from typelattice.study.codegen.names import snake_case
from typelattice.study.codegen.tables import EmitError, GeneratedTables, build_tables

CAST_FUNCTION = "cast"  # which emitted code has if the file has rules for casts
MAX_SECONDS = 600
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover")


@dataclass(frozen=True, slots=True)
class Emitted:
    """The code of one language. `{}` in the commands is the file of the program that reads calls."""

    leaves_out: ClassVar[str] = "steps that no emitted function describes"
    language: str
    compiler: str
    install: str
    compile: tuple[str, ...]
    run: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.language

    @property
    def missing(self) -> str:
        return missing_program(self.compiler, self.install)

    def ask(self, system: System, programs: Sequence[AskedProgram]) -> list[Answers]:
        asked_names = (p.op for asked in programs for p in asked.promotions().values() if p.op is not None)
        names, tiers, tables = _choose_tables(system, frozenset(asked_names))
        chains = [_Chain(system, tables, asked) for asked in programs]
        lines = [line for chain in chains for line in ("program 0 0", *chain.lines)]
        printed = iter(self._call(system, names, tiers, lines))
        return [chain.read_answers(printed) for chain in chains]

    def _call(
        self, system: System, names: Sequence[str], tiers: tuple[Tier, ...] | None, lines: Sequence[str]
    ) -> list[str]:
        with TemporaryDirectory() as folder:
            files = emit_files(system, self.language, ops=names, tiers=tiers, casts=True, chains=True)
            for file, text in files.items():
                Path(folder, file).write_text(text, encoding="utf-8")
            main = CHAIN_PRINTER_BY_LANGUAGE[self.language][0].format(snake_case(system.name))
            if self.compile:
                self._run([word.format(main) for word in self.compile], folder, "")
            command = [word.format(Path(main).with_suffix("").name) for word in self.run]
            return self._run(command, folder, "\n".join([*lines, ""])).splitlines()

    def _run(self, command: Sequence[str], folder: str, given: str) -> str:
        try:
            made = subprocess.run(
                command, cwd=folder, input=given, capture_output=True, text=True, timeout=MAX_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise CannotAskError(f"{command[0]} did not end within {MAX_SECONDS} seconds") from None
        if made.returncode:
            said = " ".join((made.stderr or made.stdout).split())
            raise CannotAskError(f"{command[0]} failed with status {made.returncode}: {said[:300]}")
        return made.stdout


class _Chain:
    """The calls of one program, and the steps that they are for."""

    def __init__(self, system: System, tables: GeneratedTables, asked: AskedProgram) -> None:
        self._system, self._tables, self._asked = system, tables, asked
        self._functions = {f.function: f.tiers for f in tables.lookups}
        with_0d = (f for f in tables.lookups if "0d" in f.tiers)
        self._with_0d = {f.function.removesuffix("_" + "_".join(f.tiers)) for f in with_0d}
        self._known_words = {*tables.by_index.values(), *tables.scalar_kinds}
        self.lines: list[str] = []
        self._call_of_step: dict[int, int] = {}
        promotions = asked.promotions()
        for i, step in enumerate(asked.program.steps):
            calls: Iterator[str] = iter(())
            if isinstance(step, Call):
                calls = self._calls_of_step(i, step, promotions.get(i))
            elif isinstance(step, Cast):
                calls = self._calls_of_cast(i, step)
            for call in calls:
                self._call_of_step[i] = len(self.lines)
                self.lines.append(call)

    def _calls_of_cast(self, i: int, step: Cast) -> Iterator[str]:
        """Yield the call for an explicit cast of an array, if the file has rules for casts."""
        cast, o = self._asked.replay[i].cast, self._asked.replay[step.operand].operand
        if CAST_FUNCTION not in self._functions or cast is None or o is None or o.tier == "scalar":
            return
        word = self._word_of_result(step.operand, o)
        if word[0] == "$" or word in self._known_words:
            yield f"{CAST_FUNCTION} {word} {cast.target}"

    def _word_of_result(self, step: int, operand: Operand) -> str:
        """Return the call that gives a step's result, or the dtype of the result."""
        known = step in self._call_of_step
        return f"${self._call_of_step[step]}" if known else self._word_of(operand)

    def _calls_of_step(self, i: int, step: Call, p: Promotion | None) -> Iterator[str]:
        """Yield the call for a step, or nothing if no function answers it."""
        if p is None:
            yield from self._calls_of_unreached(i, step)
            return
        operands = p.operands
        function = self._function_of(p.op, operands)
        if function is None or p.promoting_operands != operands or not self._is_independent(p):
            return
        inputs = step.inputs if len(step.inputs) == len(operands) else ()
        words = []
        for place, o in enumerate(operands):
            source = inputs[place] if inputs else None
            known = source is not None and self._asked.replay[source].operand == o
            if source is not None and known and source in self._call_of_step and o.tier != "scalar":
                words.append(f"${self._call_of_step[source]}")
            else:
                words.append(self._word_of(o))
        if not all(word[0] == "$" or word in self._known_words for word in words):
            return  # an operation may give a dtype that the system does not have
        yield " ".join((function, *(["-"] if len(words) == 1 else []), *words))

    def _calls_of_unreached(self, i: int, step: Call) -> Iterator[str]:
        """Yield the call for a step that needs a refused one: the code must refuse it, too."""
        outcomes = [self._asked.replay[j] for j in step.inputs]
        if self._asked.replay[i].operand is not None or not outcomes or len(outcomes) > 2:
            return
        if any(o.operand is not None and o.operand.tier != "array" for o in outcomes):
            return
        try:
            operation = self._system.find_operation(step.name)
        except ValueError:
            return
        function = f"{operation.function}_result"
        if operation.is_operator or len(self._functions.get(function, ())) != len(outcomes):
            return
        if all(o.operand is not None for o in outcomes):
            return
        words = [
            f"${self._call_of_step[j]}"
            if j in self._call_of_step
            else self._word_of(o.operand)
            if o.operand
            else REFUSED
            for j, o in zip(step.inputs, outcomes, strict=True)
        ]
        if not all(word[0] == "$" or word in self._known_words for word in words):
            return
        yield " ".join((function, *(["-"] if len(words) == 1 else []), *words))

    def _function_of(self, op: str | None, operands: Sequence[Operand]) -> str | None:
        operation = None if op is None else self._system.find_operation(op)
        sign = operation and ("_in_place" if operation.is_in_place else "_operator" * operation.is_operator)
        base = "promote" if operation is None else f"{operation.function}{sign}_result"
        tiers = tuple(o.tier for o in operands)
        if "0d" not in self._system.tiers and base not in self._with_0d:
            tiers = tuple("array" if tier == "0d" else tier for tier in tiers)
        name = base + ("" if {*tiers} == {"array"} else "_" + "_".join(tiers))
        return name if self._functions.get(name) == tiers else None

    def _is_independent(self, p: Promotion) -> bool:
        """Return True if the values of Python numbers and the parameters of dtypes do not decide."""
        if any(o.foreign_library or (o.dtype is not None and o.dtype.family) for o in p.operands):
            return False
        again = self._system.explain(*map(without_value, p.operands), op=p.op)
        return (again.dtype, again.weak) == (p.dtype, p.weak)

    def _word_of(self, o: Operand) -> str:
        if o.tier == "scalar":
            return str(o.kind.python_name)
        return f"{o.dtype}:weak" if o.weak and f"{o.dtype}:weak" in self._known_words else str(o.dtype)

    def read_answers(self, printed: Iterator[str]) -> Answers:
        """Read the results of the calls, in the words of outcomes."""
        results = [next(printed) for _ in self.lines]
        found = no_answers(self._asked)
        for i, call in self._call_of_step.items():
            dtype, _, weak = results[call].partition(":")
            expected = self._asked.replay[i].operand
            # a weak array that acts like a strong one has no member of its own
            is_merged = (
                expected is not None
                and expected.weak
                and dtype == str(expected.dtype)
                and f"{dtype}:weak" not in self._known_words
            )
            found[i] = words_of(dtype, bool(weak) or is_merged)
        return found


@lru_cache(maxsize=1)  # they are the same for each language
def _choose_tables(
    system: System, asked_names: frozenset[str]
) -> tuple[Sequence[str], tuple[Tier, ...] | None, GeneratedTables]:
    """Return the operations for which code can be emitted, the tiers if not all, and the tables."""
    tiers: tuple[Tier, ...] | None = None
    try:
        build_tables(system)
    except EmitError:  # the values of Python numbers decide
        tiers = ("array",)
    names = [name for name in sorted(asked_names) if _can_emit(system, name, ("array",))]
    try:
        tables = build_tables(system, names, tiers, casts=True)
    except EmitError:  # for the Python numbers of an operation
        names = [name for name in names if _can_emit(system, name, tiers)]
        tables = build_tables(system, names, tiers, casts=True)
    return names, tiers, tables


def _can_emit(system: System, op_name: str, tiers: tuple[Tier, ...] | None) -> bool:
    """Return True if code can be emitted for an operation on operands of some tiers."""
    try:
        build_tables(system, [op_name], tiers)
    except EmitError:
        return False
    return True


EMITTED_WAYS = (
    Emitted("c11", "gcc", "apt-get install gcc", ("gcc", "-std=c11", *SANITIZED, "{}"), ("./a.out",)),
    Emitted("cpp17", "g++", "apt-get install g++", ("g++", "-std=c++17", *SANITIZED, "{}"), ("./a.out",)),
    Emitted(
        "rust",
        "rustc",
        "apt-get install rustc",
        ("rustc", "-A", "warnings", "-o", "a.out", "{}"),
        ("./a.out",),
    ),
    Emitted("python", sys.executable, "", (), (sys.executable, "{}.py")),
    Emitted(
        "typescript",
        "tsc",
        "npm install --global typescript@5",
        ("tsc", "--strict", "--module", "nodenext", "--target", "es2022", "{}"),
        ("node", "{}.js"),
    ),
)
