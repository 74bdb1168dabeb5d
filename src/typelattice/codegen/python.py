"""Python: a typed module without dependencies. A refusal is None."""

from __future__ import annotations

from collections.abc import Mapping

from typelattice.codegen.names import signature_lines, snake_case
from typelattice.codegen.tables import REFUSED_INDEX, GeneratedTables, cast_cases, expected_results


def python_module(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the module: enumerations, tables, and a function for each question."""
    lines = [f"# {head}", "from __future__ import annotations", "", "from enum import IntEnum", "", ""]
    lines += [
        "class DType(IntEnum):",
        *(f"    {names[str(d)]} = {i}" for d, i in tables.indices.items()),
        "",
        "",
    ]
    if tables.scalar_kinds:
        kinds = [f"    {word.upper()} = {i}" for i, word in enumerate(tables.scalar_kinds)]
        lines += ["class Scalar(IntEnum):", '    """Kinds of Python scalars."""', "", *kinds, "", ""]
    lines += ["# fmt: off"]
    for number, table in enumerate(tables.tables):
        lines += [f"_TABLE_{number} = (", *(f"    ({', '.join(map(str, row))},)," for row in table), ")"]
    lines += ["# fmt: on", "", "", "def _dtype(index: int) -> DType | None:"]
    lines += [f"    return None if index == {REFUSED_INDEX} else DType(index)"]
    for f in tables.lookups:
        lines += ["", "", *signature_lines(f"def {f.function}(", f.parameters, ") -> DType | None:", 88)]
        lines += [f"    return _dtype(_TABLE_{f.table_index}{f.cell_index()})"]
    if tables.has_promote:
        lines += _write_fold(tables)
    if tables.foldable_casts:
        lines += _write_casts(tables)
    return "\n".join([*lines, ""])


def _write_fold(tables: GeneratedTables) -> list[str]:
    if tables.no_fold_reason:
        return ["", "", f"# No function promotes several operands: {tables.no_fold_reason}."]
    return [
        "",
        "",
        "def promote_all(first: DType, *others: DType) -> DType | None:",
        '    """Promote operands from left to right."""',
        "    found: DType | None = first",
        "    for each in others:",
        "        if found is None:",
        "            return None",
        "        found = promote(found, each)",
        "    return found",
    ]


def _write_casts(tables: GeneratedTables) -> list[str]:
    return [
        "",
        "",
        "# fmt: off",
        "_TABLE_CASTS = (",
        *(f"    ({', '.join(map(str, row))},)," for row in tables.foldable_casts),
        ")",
        "# fmt: on",
        "",
        "",
        "def cast_folds(a: DType, b: DType, c: DType) -> bool:",
        '    """Return True if casting a to b and then to c gives the same as casting a to c."""',
        f"    return _TABLE_CASTS[a * {tables.size} + b][c] == 1",
    ]


def python_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a script that asserts the answer of every function to all operands."""
    p = snake_case(tables.system)
    by_index = {i: names[str(d)] for d, i in tables.indices.items()}

    def spell(tier: str, i: int) -> str:
        return f"d.Scalar.{tables.scalar_kinds[i].upper()}" if tier == "scalar" else f"d.DType.{by_index[i]}"

    lines = [f"# {head}", f"import {p}_dtypes as d", "", "# fmt: off"]
    for f in tables.lookups:
        lines += ["for case in ("]
        for given, found in expected_results(tables, f):
            want = "None" if found == REFUSED_INDEX else f"d.DType.{by_index[found]}"
            lines += [f"    ({', '.join(spell(*x) for x in given)}, {want}),"]
        lines += ["):", f"    assert d.{f.function}(*case[:-1]) is case[-1], case"]
    if tables.foldable_casts:
        lines += ["for chain in ("]
        lines += [
            f"    ({', '.join(spell('array', i) for i in chain)}, {bool(want)}),"
            for *chain, want in cast_cases(tables)
        ]
        lines += ["):", "    assert d.cast_folds(*chain[:-1]) is chain[-1], chain"]
    return "\n".join([*lines, ""])


def python_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a script that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    p = snake_case(tables.system)
    return "\n".join(
        [
            f"# {head}",
            "# Yours to write, in ask.py: the implementation's dtype for two arrays; None for a refusal.",
            "# def ask(a: DType, b: DType) -> DType | None",
            "from ask import ask",
            f"from {p}_dtypes import DType",
            "",
            "NAMES = {",
            *(f'    DType.{names[str(d)]}: "{d}",' for d in tables.indices),
            '    None: "-",',
            "}",
            'print("", *(NAMES[d] for d in DType), sep=",")',
            "for a in DType:",
            '    print(NAMES[a], *(NAMES[ask(a, b)] for b in DType), sep=",")',
            "",
        ]
    )
