"""Python: a typed module without dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from typelattice.study.codegen.answer_data import can_fold, count_answers, data_file_name
from typelattice.study.codegen.names import signature_lines, snake_case
from typelattice.study.codegen.tables import REFUSED, REFUSED_INDEX, GeneratedTables, LookupFunction

CALLS = """\
DTYPES = {
$members
}
SCALARS = {
$scalars
}
FUNCTIONS = {
$functions
}
"""
TEST_SCRIPT = Template('''\
# $head
# fmt: off
"""Read the right answers from a file, and ask every function for each, also in chains of three."""
import sys
from itertools import product
from pathlib import Path

import ${system}_dtypes as d

$calls_of_functions

def check_chains(function: str, want: dict) -> None:
    for a, b, c in product(DTYPES.values(), repeat=3):
        chain = FUNCTIONS[function][0](FUNCTIONS[function][0](a, b), c)
        assert chain is want[want[a, b], c], (function, a, b, c)
$fold

def main(path: Path) -> None:
    answers, want = 0, {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        name, left, *words = line.split(" ")
$casts
        function, *operands = FUNCTIONS[name]
        for right, word in zip(operands[-1], words, strict=True):
            given = (*([] if left == "-" else [operands[0][left]]), operands[-1][right])
            want[given] = DTYPES[word]
            assert function(*given) is want[given], (name, given, word)
            answers += 1
        if operands == [DTYPES, DTYPES] and left == [*DTYPES][-1]:
            check_chains(name, want)
    assert answers == $answers, "the data has lost answers"


main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).with_name("$file"))
''')
CHAIN_SCRIPT = Template('''\
# $head
# fmt: off
"""Read lines `FUNCTION LEFT RIGHT`, and print each result. $$2 is the result of line 2 of a program."""
import sys

import ${system}_dtypes as d

$calls_of_functions
NAMES = {dtype: name for name, dtype in DTYPES.items()}

results: list = []
for line in sys.stdin:
    name, *words = line.split()
    if name == "program":
        results.clear()
        continue
    function, *operands = FUNCTIONS[name]
    words = words[2 - len(operands):]
    given = (
        results[int(word[1:])] if word.startswith("$$") else known[word]
        for word, known in zip(words, operands, strict=True)
    )
    results.append(function(*given))
    print(NAMES[results[-1]])
''')
TEST_OF_FOLD = """\
        if function == "promote":
            assert d.promote_all(a, b, c) is chain, (a, b, c)
"""
TEST_OF_CASTS = """\
        if name == "cast_folds":
            middle, *words = words
            for last, word in zip(DTYPES.values(), words, strict=True):
                chain = DTYPES[left], DTYPES[middle], last
                assert d.cast_folds(*chain) == (word == "1"), chain
                answers += 1
            continue"""


def python_module(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the module: enumerations, tables, and a function for each question."""
    lines = [f"# {head}", "from __future__ import annotations", "", "from enum import IntEnum", "", ""]
    lines += [
        "class DType(IntEnum):",
        '    """Every function takes every member. A refused operand gives a refusal."""',
        "",
        f"    REFUSED = {REFUSED_INDEX}",
        *(f"    {names[str(d)]} = {i}" for d, i in tables.indices.items()),
        "",
        "",
    ]
    if tables.scalar_kinds:
        kinds = [f"    {word.upper()} = {i}" for i, word in enumerate(tables.scalar_kinds)]
        lines += ["class Scalar(IntEnum):", '    """Kinds of Python scalars."""', "", *kinds, "", ""]
    lines += ["# fmt: off"]
    for name, table in tables.tables.items():
        rows = zip(tables.row_names(name), table, strict=True)
        lines += [
            f"{_table_name(name)} = (",
            *(f"    ({', '.join(map(str, row))},),{f'  # {left}' if left else ''}" for left, row in rows),
            ")",
        ]
    lines += ["# fmt: on"]
    for f in tables.lookups:
        lines += ["", "", *signature_lines(f"def {f.function}(", f.parameters, ") -> DType:", 88)]
        if f.function == "strong":
            lines += ['    """Return the dtype of an array: it is not weak."""']
        lines += [f"    return DType({_table_name(f.table)}{f.cell_index()})"]
    if tables.has_fold:
        lines += _write_fold(tables)
    if tables.foldable_casts:
        lines += _write_casts(tables)
    return "\n".join([*lines, ""])


def _table_name(name: str) -> str:
    return f"_{name.upper()}_TABLE"


def _write_fold(tables: GeneratedTables) -> list[str]:
    if tables.no_fold_reason:
        return ["", "", f"# No function promotes several operands: {tables.no_fold_reason}."]
    return [
        "",
        "",
        "def promote_all(first: DType, *others: DType) -> DType:",
        '    """Promote operands from left to right."""',
        "    for each in others:",
        "        first = promote(first, each)",
        "    return first",
    ]


def _write_casts(tables: GeneratedTables) -> list[str]:
    return [
        "",
        "",
        "# fmt: off",
        "_CAST_FOLDS_TABLE = (",
        *(f"    ({', '.join(map(str, row))},)," for row in tables.foldable_casts),
        ")",
        "# fmt: on",
        "",
        "",
        "def cast_folds(a: DType, b: DType, c: DType) -> bool:",
        '    """Return True if casting a to b and then to c gives the same as casting a to c."""',
        f"    return _CAST_FOLDS_TABLE[a * {tables.size} + b][c] == 1",
    ]


def python_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a script that asserts the answer of every function to all operands."""
    return _fill_script(TEST_SCRIPT, tables, names, head)


def python_chains(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a script that reads calls of functions, and prints what they give."""
    return _fill_script(CHAIN_SCRIPT, tables, names, head)


def _fill_script(script: Template, tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    def operands(f: LookupFunction) -> str:
        return ", ".join("SCALARS" if tier == "scalar" else "DTYPES" for tier in f.tiers)

    members = [f'    "{REFUSED}": d.DType.REFUSED,']
    members += [f'    "{o}": d.DType.{names[str(o)]},' for o in tables.indices]
    return Template(script.template.replace("$calls_of_functions\n", CALLS)).substitute(
        head=head, system=snake_case(tables.system), members="\n".join(members), file=data_file_name(tables),
        scalars="\n".join(f'    "{word}": d.Scalar.{word.upper()},' for word in tables.scalar_kinds),
        functions="\n".join(
            f'    "{f.function}": (d.{f.function}, {operands(f)}),' for f in tables.lookups
        ),
        fold=TEST_OF_FOLD if can_fold(tables) else "",
        casts=TEST_OF_CASTS if tables.foldable_casts else "", answers=count_answers(tables),
    )  # fmt: skip


def python_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a script that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    p = snake_case(tables.system)
    return "\n".join(
        [
            f"# {head}",
            "# Yours to write, in ask.py: the implementation's dtype for two arrays; REFUSED for a refusal.",
            "# def ask(a: DType, b: DType) -> DType",
            "from ask import ask",
            f"from {p}_dtypes import DType",
            "",
            "NAMES = {",
            *(f'    DType.{names[str(d)]}: "{d}",' for d in tables.indices if not d.weak),
            "}",
            'print("", *NAMES.values(), sep=",")',
            "for a in NAMES:",
            '    print(NAMES[a], *(NAMES.get(ask(a, b), "-") for b in NAMES), sep=",")',
            "",
        ]
    )
