"""Code that is emitted for random systems answers as the engine, in every language.

A program of this test asks every function of the code, and prints the indices that it gives. They are
compared with the engine's answers: the emitted test, which is made of the same tables, has no part in this.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest
from random_systems import OPS, random_system
from test_emit import SANITIZED, STRICT, skip_without, write

import typelattice as tl
from typelattice.core.engine.evaluate_operation import find_operation_rules
from typelattice.core.operands.operand import Operand, operand_of_dtype
from typelattice.core.operations.operations import OpError
from typelattice.study.codegen.emit import emit_files
from typelattice.study.codegen.names import MEMBER_STYLE_BY_LANGUAGE
from typelattice.study.codegen.tables import EmitError, build_tables
from typelattice.study.codegen.typescript import function_name

REFUSED = 0
NUMBERS = {"bool": "True", "int": "int", "float": "float", "complex": "complex"}
TRIPLES = 30  # chains of two calls, and calls of promote_all where it is offered
BATCH = 40  # systems of one program


@dataclass
class Function:
    """An emitted function, the tiers of its operands, and the part of the engine's answer that it gives."""

    name: str
    tiers: tuple[str, ...]
    op: str | None
    part: str

    @property
    def chains(self) -> bool:
        """True if the function takes its own result as each of two operands."""
        return len(self.tiers) == 2 and "scalar" not in self.tiers


@dataclass
class Case:
    """A random system, the functions that are emitted for it, and the lines that a program has to print."""

    system: tl.System
    ops: list[str]
    arrays: list[str]  # its dtypes, and the weak arrays that have members; the first is the refusal
    numbers: list[str]  # the Python numbers that it takes, by kind
    functions: list[Function]
    triples: list[list[int]]  # operands of chains, by place
    want: list[str]
    want_all: str  # the last line, if promote_all is offered


@cache  # for all languages
def build_case(seed: int) -> Case:
    """Return a random system, and ask the engine what its code has to answer."""
    system, dice = random_system(seed), Random(seed)
    ops = [op for op in dice.sample(OPS, 5) if is_emitted(system, op)]
    states: list[Operand | None] = [None, *build_tables(system, ops).indices]
    place = {state: i for i, state in enumerate(states)}
    numbers = [
        word
        for word, number in NUMBERS.items()
        if any(system.explain(number, other).dtype for other in (*system.dtypes, number))
    ]
    tiers = ["array", *(["0d"] if "0d" in system.tiers else []), *(["scalar"] if numbers else [])]
    functions = [f for op in (None, *ops) for f in _functions(system, op, tiers)]

    def ask(f: Function, *given: Operand | str | None) -> Operand | None:
        """Ask the engine. A weak result stays weak, also if the code has no member for it."""
        operands = [
            replace(o, tier=tier) if isinstance(o, Operand) else o
            for o, tier in zip(given, f.tiers, strict=True)
        ]
        p = None if None in operands else system.explain(*operands, op=f.op)
        part = None if p is None or p.dtype is None else getattr(p, f.part)
        return None if p is None or part is None else operand_of_dtype(part, p.weak and f.part == "dtype")

    def line(name: str, answers: Iterable[Operand | None]) -> str:
        known = (o if o is None or o in place else replace(o, weak=False) for o in answers)
        return " ".join([system.name, name, *(str(place[o]) for o in known)])

    triples = [[dice.randrange(len(states)) for _ in range(3)] for _ in range(TRIPLES)]
    want = [line("dtypes", states)]
    for f in functions:
        given = ([NUMBERS[word] for word in numbers] if tier == "scalar" else states for tier in f.tiers)
        want.append(line(f.name, (ask(f, *each) for each in product(*given))))
        if f.chains:
            each_three = ([states[i] for i in each] for each in triples)
            want.append(line(f"{f.name} chain", (ask(f, ask(f, a, b), c) for a, b, c in each_three)))
    every = Function("promote_all", ("array",) * 3, None, "dtype")
    of_three = line("promote_all", (ask(every, *(states[i] for i in each)) for each in triples))
    arrays = ["refused", *map(str, states[1:])]
    return Case(system, ops, arrays, numbers, functions, triples, want, of_three)


def is_emitted(system: tl.System, op: str) -> bool:
    """False if the system has no such operation, or if it gives a dtype that no operand may have."""
    try:
        return bool(build_tables(system, [op]))
    except (OpError, EmitError) as e:
        assert "unknown operation 'fused'" in str(e) or "which no operand may have" in str(e)
        return False


def _functions(system: tl.System, op: str | None, tiers: list[str]) -> Iterator[Function]:
    """The functions that emit has to write for an operation: one for each choice of tiers and part."""
    known = None if op is None else system.find_operation(op)
    for given in product(tiers, repeat=1 if known and known.max_operands == 1 else 2):
        ending = "" if {*given} == {"array"} else "_" + "_".join(given)
        if known is None:
            yield Function(f"promote{ending}", given, None, "dtype")
            continue
        sign = "_in_place" if known.is_in_place else "_operator" if known.is_operator else ""
        name = f"{known.function}{sign}"
        rule = find_operation_rules(system, known.name)
        yield Function(f"{name}_result{ending}", given, op, "dtype")
        yield Function(f"{name}_compute{ending}", given, op, "compute")
        if rule.accumulates or rule.accumulates_of_pairs:
            yield Function(f"{name}_accumulate{ending}", given, op, "arithmetic_dtype")


class C11:
    """A program in C that asks all functions; the other languages say where they differ."""

    name, file, around = "c11", "ask.c", ("#include <stdio.h>\nint main(void) {", "}")
    commands = (["gcc", "-std=c11", *STRICT, *SANITIZED, "ask.c"], ["./a.out"])
    block = ("{", "}")  # around the code that asks one system

    def program(self, cases: list[tuple[Case, bool]]) -> str:
        """Write the program: it prints the lines of each case. With True, `promote_all` is offered."""
        lines = [self.include(case.system.name) for case, _ in cases] + [self.around[0]]
        for case, offered in cases:
            lines += [self.block[0], *self.questions(case, case.system.name, offered), self.block[1]]
        return "\n".join([*lines, self.around[1], ""])

    def questions(self, case: Case, s: str, offered: bool) -> Iterator[str]:
        dtypes = [self.member(s, MEMBER_STYLE_BY_LANGUAGE[self.name](o)) for o in case.arrays]
        yield from self.lists(s, dtypes, [self.number(s, word) for word in case.numbers])
        sizes = {"dtypes": len(dtypes), "numbers": len(case.numbers)}
        yield self.line(f"{s} dtypes", {"i": sizes["dtypes"]}, "dtypes[i]")
        yield self.triples(case.triples)
        a, b, c = (f"dtypes[triples[i][{place}]]" for place in range(3))
        for f in case.functions:
            lists = ["numbers" if tier == "scalar" else "dtypes" for tier in f.tiers]
            loops = {variable: sizes[each] for variable, each in zip("ij", lists, strict=False)}
            given = ", ".join(f"{each}[{i}]" for i, each in zip("ij", lists, strict=False))
            function = self.function(s, f.name)
            yield self.line(f"{s} {f.name}", loops, f"{function}({given})")
            if f.chains:
                chain = f"{function}({function}({a}, {b}), {c})"
                yield self.line(f"{s} {f.name} chain", {"i": TRIPLES}, chain)
        if offered:
            call = self.fold(self.function(s, "promote_all"), f"{a}, {b}, {c}")
            yield self.line(f"{s} promote_all", {"i": TRIPLES}, call)

    def include(self, s: str) -> str:
        return f'#include "{s}_dtypes.h"'

    def member(self, s: str, name: str) -> str:
        return f"{s.upper()}_{name}"

    def number(self, s: str, word: str) -> str:
        return f"{s.upper()}_SCALAR_{word.upper()}"

    def function(self, s: str, name: str) -> str:
        return f"{s}_{name}"

    def lists(self, s: str, dtypes: list[str], numbers: list[str]) -> Iterator[str]:
        yield f"const {s}_dtype dtypes[] = {{{', '.join(dtypes)}}};"
        if numbers:
            yield f"const {s}_scalar numbers[] = {{{', '.join(numbers)}}};"

    def triples(self, triples: list[list[int]]) -> str:
        rows = ", ".join(f"{{{', '.join(map(str, row))}}}" for row in triples)
        return f"const int triples[][3] = {{{rows}}};"

    def fold(self, function: str, given: str) -> str:
        kind = function.removesuffix("_promote_all")
        return f"{function}((const {kind}_dtype[]){{{given}}}, 3)"

    def line(self, label: str, loops: dict[str, int], call: str) -> str:
        """Write the code that prints a label and then the index of each answer, on one line."""
        each = " ".join(f"for (int {i} = 0; {i} < {size}; ++{i})" for i, size in loops.items())
        return f'printf("{label}"); {each} printf(" %d", (int){call}); puts("");'


class Cpp17(C11):
    name, file, around = "cpp17", "ask.cpp", ("#include <cstdio>\nint main() {", "}")
    commands = (["g++", "-std=c++17", *STRICT, *SANITIZED, "ask.cpp"], ["./a.out"])

    def include(self, s: str) -> str:
        return f'#include "{s}_dtypes.hpp"'

    def member(self, s: str, name: str) -> str:
        return f"{s}_dtypes::DType::{name}"

    def number(self, s: str, word: str) -> str:
        return f"{s}_dtypes::Scalar::k{word.capitalize()}"

    def function(self, s: str, name: str) -> str:
        return f"{s}_dtypes::{name}"

    def lists(self, s: str, dtypes: list[str], numbers: list[str]) -> Iterator[str]:
        yield f"const {s}_dtypes::DType dtypes[] = {{{', '.join(dtypes)}}};"
        if numbers:
            yield f"const {s}_dtypes::Scalar numbers[] = {{{', '.join(numbers)}}};"

    def fold(self, function: str, given: str) -> str:
        kind = function.removesuffix("promote_all")
        return f"[&] {{ const {kind}DType each[] = {{{given}}}; return {function}(each, 3); }}()"


class Rust(C11):
    name, file, around = "rust", "ask.rs", ("fn main() {", "}")
    commands = (["rustc", "-D", "warnings", "-o", "a.out", "ask.rs"], ["./a.out"])
    block = ("{ fn ask() {", "} ask(); }")  # a single long function takes rustc minutes

    def include(self, s: str) -> str:
        return f'#[path = "{s}_dtypes.rs"]\n#[allow(dead_code)]\nmod {s};'

    def member(self, s: str, name: str) -> str:
        return f"{s}::DType::{name}"

    def number(self, s: str, word: str) -> str:
        return f"{s}::Scalar::{word.capitalize()}"

    def function(self, s: str, name: str) -> str:
        return f"{s}::{name}"

    def lists(self, s: str, dtypes: list[str], numbers: list[str]) -> Iterator[str]:
        yield f"let dtypes = [{', '.join(dtypes)}];"
        if numbers:
            yield f"let numbers = [{', '.join(numbers)}];"

    def triples(self, triples: list[list[int]]) -> str:
        return f"let triples = {triples};"

    def fold(self, function: str, given: str) -> str:
        return f"{function}(&[{given}])"

    def line(self, label: str, loops: dict[str, int], call: str) -> str:
        each = f'print!(" {{}}", {call} as i32);'
        for i, size in reversed(loops.items()):
            each = f"for {i} in 0..{size} {{ {each} }}"
        return f'print!("{label}"); {each} println!();'


class Python(C11):
    name, file, around = "python", "ask.py", ("", "")
    commands = ([sys.executable, "ask.py"],)

    def program(self, cases: list[tuple[Case, bool]]) -> str:
        lines = [f"import {case.system.name}_dtypes as {case.system.name}" for case, _ in cases]
        lines += [line for case, offered in cases for line in self.questions(case, case.system.name, offered)]
        return "\n".join(lines)

    def member(self, s: str, name: str) -> str:
        return f"{s}.DType.{name}"

    def number(self, s: str, word: str) -> str:
        return f"{s}.Scalar.{word.upper()}"

    def function(self, s: str, name: str) -> str:
        return f"{s}.{name}"

    def lists(self, s: str, dtypes: list[str], numbers: list[str]) -> Iterator[str]:
        yield f"dtypes = [{', '.join(dtypes)}]"
        yield f"numbers = [{', '.join(numbers)}]"

    def triples(self, triples: list[list[int]]) -> str:
        return f"triples = {triples}"

    def fold(self, function: str, given: str) -> str:
        return f"{function}({given})"

    def line(self, label: str, loops: dict[str, int], call: str) -> str:
        each = " ".join(f"for {i} in range({size})" for i, size in loops.items())
        return f'print("{label}", *({call} + 0 {each}))'


class TypeScript(Python):
    name, file = "typescript", "ask.ts"
    around = (
        "declare const console: { log(text: string): void };\n"
        "type Answer = (i: number, j: number) => unknown;\n"
        "function ask(label: string, n: number, m: number, found: Answer): void {\n"
        "  const line: unknown[] = [label];\n"
        "  for (let i = 0; i < n; ++i) for (let j = 0; j < m; ++j) line.push(found(i, j));\n"
        '  console.log(line.join(" "));\n'
        "}",
        "",
    )
    commands = (
        ["tsc", "--strict", "--module", "nodenext", "--target", "es2022", "ask.ts"],
        ["node", "ask.js"],
    )
    block = ("(() => {", "})();")  # tsc refuses a single long function

    def program(self, cases: list[tuple[Case, bool]]) -> str:
        return C11.program(self, cases)

    def include(self, s: str) -> str:
        return f'import * as {s} from "./{s}_dtypes.js";'

    def number(self, s: str, word: str) -> str:
        return f"{s}.Scalar.{word.capitalize()}"

    def function(self, s: str, name: str) -> str:
        return f"{s}.{function_name(name)}"

    def lists(self, s: str, dtypes: list[str], numbers: list[str]) -> Iterator[str]:
        yield f"const dtypes = [{', '.join(dtypes)}] as {s}.DType[];"
        if numbers:
            yield f"const numbers = [{', '.join(numbers)}] as {s}.Scalar[];"

    def triples(self, triples: list[list[int]]) -> str:
        return f"const triples = {triples} as [number, number, number][];"

    def line(self, label: str, loops: dict[str, int], call: str) -> str:
        n, m = [*loops.values(), 1][:2]
        return f'ask("{label}", {n}, {m}, (i, j) => {call.replace("]", "]!")});'


@pytest.mark.parametrize("language", [C11(), Cpp17(), Rust(), Python(), TypeScript()], ids=lambda x: x.name)
def test_code_of_random_systems_answers_as_the_engine(
    tmp_path: Path, language: C11, pytestconfig: pytest.Config, record_property: Callable[[str, str], None]
) -> None:
    skip_without(language.name)
    answers, total = 0, pytestconfig.getoption("--systems")
    for first in range(0, total, BATCH):
        cases: list[tuple[Case, bool]] = []
        want: list[str] = []
        for case in map(build_case, range(first, min(first + BATCH, total))):
            files = emit_files(case.system, language.name, ops=case.ops)
            write(tmp_path, files)
            offered = any(re.search(r"promote_?all\(", text, re.IGNORECASE) for text in files.values())
            cases.append((case, offered))
            want += [*case.want, *([case.want_all] if offered else [])]
        (tmp_path / language.file).write_text(language.program(cases), encoding="ascii")
        for command in language.commands:
            made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
            assert made.returncode == 0, made.stdout[:2000] + made.stderr[:2000]
        assert made.stdout.splitlines() == want
        answers += sum(len(line.split()) - 2 for line in want)
    record_property("shown", f"{language.name}: {total} random systems, {answers:,} answers")
    assert answers > 300 * total
