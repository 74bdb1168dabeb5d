"""Rust: a module without the standard library."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from typelattice.study.codegen.answer_data import can_fold, count_answers, data_file_name, operand_letters
from typelattice.study.codegen.names import signature_lines, snake_case
from typelattice.study.codegen.tables import REFUSED, REFUSED_INDEX, GeneratedTables, LookupFunction

RUST_DERIVE_LINE = "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]"


CALLS = """\
#[path = "${system}_dtypes.rs"]
#[allow(dead_code)]
mod ${system}_dtypes;
use ${system}_dtypes::*;

#[rustfmt::skip]
const DTYPES: [(&str, DType); $count] = [
$members
];
#[rustfmt::skip]
const SCALARS: [&str; $scalar_count] = [$scalars];
#[rustfmt::skip]
const FUNCTIONS: [(&str, &str); $function_count] = [
$functions
];

#[rustfmt::skip]
fn call(f: usize, a: usize, b: usize) -> DType {
    let _ = a;
    match f {
$calls
        _ => unreachable!(),
    }
}

#[rustfmt::skip]
fn count_of(operand: u8) -> usize {
    if operand == b'd' { DTYPES.len() } else { SCALARS.len() }
}

#[rustfmt::skip]
fn place_of(operand: u8, word: &str) -> usize {
    let found = match operand {
        b'd' => DTYPES.iter().position(|(name, _)| *name == word),
        _ => SCALARS.iter().position(|name| *name == word),
    };
    found.expect("the data has an unknown operand")
}
"""
TEST_PROGRAM = Template("""\
// $head
// Reads the right answers from a file, and asks every function for each, also in chains of three.
$calls_of_functions
#[rustfmt::skip]
fn check_chains(f: usize, want: &[Vec<usize>]) {
    let all = 0..DTYPES.len();
    for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
        let first = DTYPES.iter().position(|(_, d)| *d == call(f, a, b)).expect("no dtype");
        for c in all.clone() {
            let wanted = DTYPES[want[want[a][b]][c]].1;
            assert_eq!(call(f, first, c), wanted, "{} in a chain", FUNCTIONS[f].0);
$fold
        }
    }
}

#[rustfmt::skip]
fn main() {
    let path = std::env::args().nth(1);
    let text = std::fs::read_to_string(path.as_deref().unwrap_or("$file")).expect("no data");
    let mut answers = 0;
    let mut want: Vec<Vec<usize>> = Vec::new();
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split(' ').collect();
$casts
        let f = FUNCTIONS.iter().position(|(name, _)| *name == words[0]).expect("no function");
        let operands = FUNCTIONS[f].1.as_bytes();
        let (left, right) = (operands[0], operands[operands.len() - 1]);
        let a = if operands.len() > 1 { place_of(left, words[1]) } else { 0 };
        assert_eq!(words.len(), 2 + count_of(right), "the data has a broken line");
        let row: Vec<usize> = words[2..].iter().map(|word| place_of(b'd', word)).collect();
        for (b, &found) in row.iter().enumerate() {
            assert_eq!(call(f, a, b), DTYPES[found].1, "{} of {} and number {b}", words[0], words[1]);
            answers += 1;
        }
        if a == 0 {
            want.clear();
        }
        want.push(row);
        if FUNCTIONS[f].1 == "dd" && want.len() == DTYPES.len() {
            check_chains(f, &want);
        }
    }
    assert_eq!(answers, $answers, "the data has lost answers");
}
""")
CHAIN_PROGRAM = Template("""\
// $head
// Reads lines `FUNCTION LEFT RIGHT`, and prints each result. $$2 is the result of line 2 of a program.
$calls_of_functions
fn main() {
    let text = std::io::read_to_string(std::io::stdin()).expect("no calls");
    let mut results: Vec<usize> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "program" {
            results.clear();
            continue;
        }
        let f = FUNCTIONS.iter().position(|(name, _)| *name == words[0]).expect("no function");
        let operands = FUNCTIONS[f].1.as_bytes();
        let place = |operand: u8, word: &str| match word.strip_prefix('$$') {
            Some(number) => results[number.parse::<usize>().expect("no number")],
            None => place_of(operand, word),
        };
        let a = if operands.len() > 1 { place(operands[0], words[1]) } else { 0 };
        let found = call(f, a, place(operands[operands.len() - 1], words[2]));
        results.push(DTYPES.iter().position(|(_, d)| *d == found).expect("no dtype"));
        println!("{}", DTYPES[results[results.len() - 1]].0);
    }
}
""")
TEST_OF_FOLD = Template("""\
            if f == $promote {
                let all = [DTYPES[a].1, DTYPES[b].1, DTYPES[c].1];
                assert_eq!(promote_all(&all), wanted, "promote_all of {all:?}");
            }""")
TEST_OF_CASTS = """\
        if words[0] == "cast_folds" {
            let (x, y) = (place_of(b'd', words[1]), place_of(b'd', words[2]));
            assert_eq!(words.len(), 3 + DTYPES.len(), "the data has a broken line");
            for (word, (name, z)) in words[3..].iter().zip(DTYPES) {
                let folds = cast_folds(DTYPES[x].1, DTYPES[y].1, z);
                assert_eq!(folds, *word == "1", "cast_folds of {} {} {name}", words[1], words[2]);
                answers += 1;
            }
            continue;
        }"""


def rust_module(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the module: enumerations, tables of dtypes, and a function for each question."""
    by_index = {REFUSED_INDEX: "Refused", **{i: names[str(o)] for o, i in tables.indices.items()}}
    lines = [
        f"// {head}",
        "",
        "/// Every function takes every member. A refused operand gives a refusal.",
        RUST_DERIVE_LINE,
        f"#[repr(u{tables.bits})]",
        "pub enum DType {",
        *(f"    {name} = {i}," for i, name in by_index.items()),
        "}",
        "",
        "impl DType {",
        "    /// None for a refusal: `promote(a, b).ok()?` leaves the caller.",
        "    pub const fn ok(self) -> Option<DType> {",
        "        match self {",
        "            DType::Refused => None,",
        "            dtype => Some(dtype),",
        "        }",
        "    }",
        "}",
        "",
    ]
    if tables.scalar_kinds:
        kinds = [f"    {word.capitalize()} = {i}," for i, word in enumerate(tables.scalar_kinds)]
        lines += ["/// Kinds of Python scalars.", RUST_DERIVE_LINE, "#[repr(u8)]"]
        lines += ["pub enum Scalar {", *kinds, "}", ""]
    for name, table in tables.tables.items():
        shape = f"[[DType; {len(table[0])}]; {len(table)}]"
        words = (", ".join(f"DType::{by_index[i]}" for i in row) for row in table)
        rows = [
            f"    {f'/* {left} */ ' if left else ''}[{row}],"
            for left, row in zip(tables.row_names(name), words, strict=True)
        ]
        lines += ["#[rustfmt::skip]", f"const {_table_name(name)}: {shape} = [", *rows, "];", ""]
    for f in tables.lookups:
        lines += [
            *(["/// The dtype of an array: it is not weak."] if f.function == "strong" else []),
            *signature_lines(f"pub const fn {f.function}(", f.parameters, ") -> DType {", 100),
            f"    {_table_name(f.table)}{f.cell_index('[{} as usize]')}",
            "}",
            "",
        ]
    if tables.has_fold:
        lines += _write_fold(tables)
    if tables.foldable_casts:
        lines += _write_casts(tables)
    return "\n".join(lines)


def _table_name(name: str) -> str:
    return f"{name.upper()}_TABLE"


def _write_fold(tables: GeneratedTables) -> list[str]:
    if tables.no_fold_reason:
        return [f"// No function promotes several operands: {tables.no_fold_reason}.", ""]
    return [
        "/// Promotes operands from left to right; refuses no operand at all.",
        "pub fn promote_all(operands: &[DType]) -> DType {",
        "    let both = |a, &b| promote(a, b);",
        "    match operands.split_first() {",
        "        Some((first, rest)) => rest.iter().fold(*first, both),",
        "        None => DType::Refused,",
        "    }",
        "}",
        "",
    ]


def _write_casts(tables: GeneratedTables) -> list[str]:
    return [
        "#[rustfmt::skip]",
        f"const CAST_FOLDS_TABLE: [[bool; {tables.size}]; {len(tables.foldable_casts)}] = [",
        *(f"    [{', '.join('true' if x else 'false' for x in row)}]," for row in tables.foldable_casts),
        "];",
        "",
        "/// True if casting a to b and then to c gives the same as casting a to c.",
        "pub const fn cast_folds(a: DType, b: DType, c: DType) -> bool {",
        f"    CAST_FOLDS_TABLE[a as usize * {tables.size} + b as usize][c as usize]",
        "}",
        "",
    ]


def rust_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that asserts the answer of every function to all operands."""
    return _fill_program(TEST_PROGRAM, tables, names, head)


def rust_chains(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that reads calls of functions, and prints what they give."""
    return _fill_program(CHAIN_PROGRAM, tables, names, head)


def _fill_program(program: Template, tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    def arguments(f: LookupFunction) -> str:
        return ", ".join(
            f"scalar({place})" if tier == "scalar" else f"DTYPES[{place}].1"
            for place, tier in zip("ab" if len(f.tiers) > 1 else "b", f.tiers, strict=True)
        )

    members = [f'    ("{REFUSED}", DType::Refused),']
    members += [f'    ("{o}", DType::{names[str(o)]}),' for o in tables.indices]
    calls = [f"        {i} => {f.function}({arguments(f)})," for i, f in enumerate(tables.lookups)]
    if any("scalar" in f.tiers for f in tables.lookups):
        kinds = ", ".join(f"Scalar::{word.capitalize()}" for word in tables.scalar_kinds)
        scalar = f"    let scalar = |i: usize| [{kinds}][i];\n    match f {{"
    else:
        scalar = "    match f {"
    promote = next((i for i, f in enumerate(tables.lookups) if f.function == "promote"), None)
    text = Template(program.template.replace("$calls_of_functions\n", CALLS)).substitute(
        head=head, system=snake_case(tables.system), members="\n".join(members), count=len(members),
        scalars=", ".join(f'"{word}"' for word in tables.scalar_kinds), scalar_count=len(tables.scalar_kinds),
        functions="\n".join(f'    ("{f.function}", "{operand_letters(f)}"),' for f in tables.lookups),
        function_count=len(tables.lookups), calls="\n".join(calls), file=data_file_name(tables),
        fold=TEST_OF_FOLD.substitute(promote=promote) if can_fold(tables) else "",
        casts=TEST_OF_CASTS if tables.foldable_casts else "", answers=count_answers(tables),
    )  # fmt: skip
    return text.replace("    match f {", scalar, 1)


def rust_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    p = snake_case(tables.system)
    return "\n".join(
        [
            f"// {head}",
            "// Yours to write, in ask.rs: the implementation's dtype for two arrays; Refused for a refusal.",
            "// pub fn ask(a: DType, b: DType) -> DType",
            "mod ask;",
            "#[allow(dead_code)]",
            f"mod {p}_dtypes;",
            f"use {p}_dtypes::DType;",
            "",
            "fn main() {",
            "    #[rustfmt::skip]",
            "    let dtypes = [",
            *(f'        (DType::{names[str(d)]}, "{d}"),' for d in tables.indices if not d.weak),
            "    ];",
            "    for (_, name) in dtypes {",
            '        print!(",{name}");',
            "    }",
            "    for (a, left) in dtypes {",
            '        print!("\\n{left}");',
            "        for (b, _) in dtypes {",
            "            let found = ask::ask(a, b);",
            "            let name = dtypes.iter().find(|(d, _)| found == *d);",
            '            print!(",{}", name.map_or("-", |(_, name)| name));',
            "        }",
            "    }",
            "    println!();",
            "}",
            "",
        ]
    )
