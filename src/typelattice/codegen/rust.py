"""Rust: a module without the standard library. A refusal is None."""

from __future__ import annotations

from collections.abc import Mapping

from typelattice.codegen.names import signature_lines, snake_case
from typelattice.codegen.tables import REFUSED_INDEX, GeneratedTables, cast_cases, expected_results

RUST_DERIVE_LINE = "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]"


def rust_module(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the module: enumerations, tables of `Option<DType>`, and a function for each question."""
    by_index = {i: names[str(d)] for d, i in tables.indices.items()}
    lines = [
        f"// {head}",
        "",
        RUST_DERIVE_LINE,
        "#[repr(u8)]",
        "pub enum DType {",
        *(f"    {name} = {i}," for i, name in by_index.items()),
        "}",
        "",
    ]
    if tables.scalar_kinds:
        kinds = [f"    {word.capitalize()} = {i}," for i, word in enumerate(tables.scalar_kinds)]
        lines += ["/// Kinds of Python scalars.", RUST_DERIVE_LINE, "#[repr(u8)]"]
        lines += ["pub enum Scalar {", *kinds, "}", ""]
    for number, table in enumerate(tables.tables):
        shape = f"[[Option<DType>; {len(table[0])}]; {len(table)}]"
        words = [
            ["None" if i == REFUSED_INDEX else f"Some(DType::{by_index[i]})" for i in row] for row in table
        ]
        cells = [f"    [{', '.join(row)}]," for row in words]
        lines += ["#[rustfmt::skip]", f"const TABLE_{number}: {shape} = [", *cells, "];", ""]
    for f in tables.lookups:
        lines += [
            *signature_lines(f"pub const fn {f.function}(", f.parameters, ") -> Option<DType> {", 100),
            f"    TABLE_{f.table_index}{f.cell_index('[{} as usize]')}",
            "}",
            "",
        ]
    if tables.has_promote:
        lines += _write_fold(tables)
    if tables.foldable_casts:
        lines += _write_casts(tables)
    return "\n".join(lines)


def _write_fold(tables: GeneratedTables) -> list[str]:
    if tables.no_fold_reason:
        return [f"// No function promotes several operands: {tables.no_fold_reason}.", ""]
    return [
        "/// Promotes operands from left to right; None for a refusal, and for no operand at all.",
        "pub fn promote_all(operands: &[DType]) -> Option<DType> {",
        "    let (first, rest) = operands.split_first()?;",
        "    rest.iter()",
        "        .try_fold(*first, |found, &each| promote(found, each))",
        "}",
        "",
    ]


def _write_casts(tables: GeneratedTables) -> list[str]:
    return [
        "#[rustfmt::skip]",
        f"const TABLE_CASTS: [[bool; {tables.size}]; {len(tables.foldable_casts)}] = [",
        *(f"    [{', '.join('true' if x else 'false' for x in row)}]," for row in tables.foldable_casts),
        "];",
        "",
        "/// True if casting a to b and then to c gives the same as casting a to c.",
        "pub const fn cast_folds(a: DType, b: DType, c: DType) -> bool {",
        f"    TABLE_CASTS[a as usize * {tables.size} + b as usize][c as usize]",
        "}",
        "",
    ]


def rust_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that asserts the answer of every function to all operands."""
    p = snake_case(tables.system)
    by_index = {i: names[str(d)] for d, i in tables.indices.items()}

    def spell(tier: str, i: int) -> str:
        return (
            f"Scalar::{tables.scalar_kinds[i].capitalize()}" if tier == "scalar" else f"DType::{by_index[i]}"
        )

    lines = [f"// {head}", f'#[path = "{p}_dtypes.rs"]', "#[allow(dead_code)]", f"mod {p}_dtypes;"]
    lines += [f"use {p}_dtypes::*;", "", "#[rustfmt::skip]", "fn main() {"]
    for f in tables.lookups:
        types, arguments = ", ".join(f.parameters.values()), ", ".join(f.parameters)
        lines += [f"    let cases: &[({types}, Option<DType>)] = &["]
        for given, found in expected_results(tables, f):
            want = "None" if found == REFUSED_INDEX else f"Some(DType::{by_index[found]})"
            lines += [f"        ({', '.join(spell(*x) for x in given)}, {want}),"]
        lines += ["    ];", f"    for &({arguments}, want) in cases {{"]
        lines += [f"        assert_eq!({f.function}({arguments}), want);", "    }"]
    if tables.foldable_casts:
        lines += ["    let chains: &[(DType, DType, DType, bool)] = &["]
        lines += [
            f"        ({', '.join(spell('array', i) for i in chain)}, {'true' if want else 'false'}),"
            for *chain, want in cast_cases(tables)
        ]
        lines += ["    ];", "    for &(a, b, c, want) in chains {"]
        lines += ["        assert_eq!(cast_folds(a, b, c), want);", "    }"]
    return "\n".join([*lines, "}", ""])


def rust_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    p = snake_case(tables.system)
    return "\n".join(
        [
            f"// {head}",
            "// Yours to write, in ask.rs: the implementation's dtype for two arrays; None for a refusal.",
            "// pub fn ask(a: DType, b: DType) -> Option<DType>",
            "mod ask;",
            "#[allow(dead_code)]",
            f"mod {p}_dtypes;",
            f"use {p}_dtypes::DType;",
            "",
            "fn main() {",
            "    #[rustfmt::skip]",
            "    let dtypes = [",
            *(f'        (DType::{names[str(d)]}, "{d}"),' for d in tables.indices),
            "    ];",
            "    for (_, name) in dtypes {",
            '        print!(",{name}");',
            "    }",
            "    for (a, left) in dtypes {",
            '        print!("\\n{left}");',
            "        for (b, _) in dtypes {",
            "            let found = ask::ask(a, b);",
            "            let name = dtypes.iter().find(|(d, _)| found == Some(*d));",
            '            print!(",{}", name.map_or("-", |(_, name)| name));',
            "        }",
            "    }",
            "    println!();",
            "}",
            "",
        ]
    )
