"""TypeScript: a module without dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from typelattice.study.codegen.answer_data import can_fold, count_answers, data_file_name, operand_letters
from typelattice.study.codegen.names import camel_case, signature_lines, snake_case
from typelattice.study.codegen.tables import REFUSED, REFUSED_INDEX, GeneratedTables, LookupFunction

LINE_WIDTH = 80  # of prettier
CALLS = """\
// prettier-ignore
const dtypes: [string, d.DType][] = [
$members
];
// prettier-ignore
const scalars: string[] = [$scalars];
// prettier-ignore
const functions: [string, string, (a: number, b: number) => d.DType][] = [
$functions
];

// prettier-ignore
function check(ok: boolean, what: string): void {
  if (!ok) throw new Error(`$${what} is wrong`);
}

// prettier-ignore
function placeOf(operand: string | undefined, word: string | undefined): number {
  const names = operand === "d" ? dtypes.map(([name]) => name) : scalars;
  const found = names.indexOf(word ?? "");
  check(found >= 0, `the operand $${word} of the data`);
  return found;
}
"""
TEST_PROGRAM = Template("""\
// $head
// Reads the right answers from a file, and asks every function for each, also in chains of three.
import * as d from "./${system}_dtypes.js";

declare const process: { argv: string[]; exitCode: number };
declare const console: { log(text: string): void };

$calls_of_functions

// prettier-ignore
function checkChains(name: string, call: (a: number, b: number) => d.DType, want: number[][]): void {
  const places = new Map(dtypes.map(([, dtype], i) => [dtype, i]));
  for (let a = 0; a < dtypes.length; ++a) for (let b = 0; b < dtypes.length; ++b) {
    const first = places.get(call(a, b)) ?? -1;
    for (let c = 0; c < dtypes.length; ++c) {
      const wanted = dtypes[want[want[a]![b]!]![c]!]![1];
      check(call(first, c) === wanted, `$${name} in a chain`);
$fold
    }
  }
}

// prettier-ignore
function main(text: string): void {
  let answers = 0;
  let want: number[][] = [];
  for (const line of text.trim().split("\\n").slice(1)) {
    const words = line.split(" ");
$casts
    const [name, operands, call] = functions.find((each) => each[0] === words[0])!;
    const a = operands.length > 1 ? placeOf(operands[0], words[1]) : 0;
    const row = words.slice(2).map((word) => placeOf("d", word));
    row.forEach((found, b) => {
      check(call(a, b) === dtypes[found]![1], `$${name} of $${words[1]}, number $${b}`);
    });
    answers += row.length;
    if (a === 0) want = [];
    want.push(row);
    if (operands === "dd" && want.length === dtypes.length) checkChains(name, call, want);
  }
  check(answers === $answers, "the number of answers");
}

const files: string = "node:fs"; // a name that needs no types of Node
// prettier-ignore
async function readAndCheck(): Promise<void> {
  const fs = await import(files);
  main(fs.readFileSync(process.argv[2] ?? "$file", "utf8"));
}

readAndCheck().catch((error: unknown) => {
  console.log(String(error));
  process.exitCode = 1;
});
""")
CHAIN_PROGRAM = Template("""\
// $head
// Reads lines `FUNCTION LEFT RIGHT`, and prints each result. $$2 is the result of line 2 of a program.
import * as d from "./${system}_dtypes.js";

declare const process: { argv: string[]; exitCode: number };
declare const console: { log(text: string): void };

$calls_of_functions

// prettier-ignore
function main(text: string): void {
  const printed: string[] = [];
  let results: number[] = [];
  for (const line of text.trim().split("\\n")) {
    const words = line.split(" ");
    if (words[0] === "program") {
      results = [];
      continue;
    }
    const [, operands, call] = functions.find((each) => each[0] === words[0])!;
    const place = (operand: string | undefined, word: string): number =>
      word.startsWith("$$") ? results[Number(word.slice(1))]! : placeOf(operand, word);
    const a = operands.length > 1 ? place(operands[0], words[1]!) : 0;
    const found = call(a, place(operands[operands.length - 1], words[2]!));
    results.push(dtypes.findIndex(([, dtype]) => dtype === found));
    printed.push(dtypes[results[results.length - 1]!]![0]);
  }
  console.log(printed.join("\\n"));
}

const files: string = "node:fs"; // a name that needs no types of Node
// prettier-ignore
async function readAndCall(): Promise<void> {
  const fs = await import(files);
  main(fs.readFileSync(0, "utf8"));
}

readAndCall().catch((error: unknown) => {
  console.log(String(error));
  process.exitCode = 1;
});
""")
TEST_OF_FOLD = """\
      const all: [d.DType, d.DType, d.DType] = [dtypes[a]![1], dtypes[b]![1], dtypes[c]![1]];
      if (name === "promote") check(d.promoteAll(...all) === wanted, "promote_all");"""
TEST_OF_CASTS = """\
    if (words[0] === "cast_folds") {
      const [x, y] = [placeOf("d", words[1]), placeOf("d", words[2])];
      words.slice(3).forEach((word, z) => {
        const folds = d.castFolds(dtypes[x]![1], dtypes[y]![1], dtypes[z]![1]);
        check(folds === (word === "1"), `cast_folds of ${words[1]}, ${words[2]}, number ${z}`);
        answers += 1;
      });
      continue;
    }"""


def typescript_module(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the module: objects of indices, tables, and a function for each question."""
    lines = [f"// {head}", ""]
    lines += ["/** Every function takes every member. A refused operand gives a refusal. */"]
    lines += ["export const DType = {", f"  Refused: {REFUSED_INDEX},"]
    lines += [f"  {names[str(d)]}: {i}," for d, i in tables.indices.items()]
    lines += ["} as const;", "export type DType = (typeof DType)[keyof typeof DType];", ""]
    if tables.scalar_kinds:
        kinds = [f"  {word.capitalize()}: {i}," for i, word in enumerate(tables.scalar_kinds)]
        lines += ["/** Kinds of Python scalars. */", "export const Scalar = {", *kinds, "} as const;"]
        lines += ["export type Scalar = (typeof Scalar)[keyof typeof Scalar];", ""]
    for name, table in tables.tables.items():
        rows = [
            f"  {f'/* {left} */ ' if left else ''}[{', '.join(map(str, row))}],"
            for left, row in zip(tables.row_names(name), table, strict=True)
        ]
        lines += ["// prettier-ignore", f"const {_table_name(name)}: readonly (readonly number[])[] = ["]
        lines += [*rows, "];", ""]
    for f in tables.lookups:
        cell, name = f.cell_index("[{}]!").replace("[0]", "[0]!"), function_name(f.function)
        if f.function == "strong":
            lines += ["/** The dtype of an array: it is not weak. */"]
        lines += signature_lines(f"export function {name}(", f.parameters, "): DType {", LINE_WIDTH, "  ")
        body = f"  return {_table_name(f.table)}{cell} as DType;"
        lines += [*(["  // prettier-ignore"] if len(body) > LINE_WIDTH else []), body, "}", ""]
    if tables.has_fold:
        lines += _write_fold(tables)
    if tables.foldable_casts:
        lines += _write_casts(tables)
    return "\n".join(lines)


def _table_name(name: str) -> str:
    return f"{name.upper()}_TABLE"


def function_name(name: str) -> str:
    """Return a function's name as TypeScript writes it.

    >>> function_name("promote_array_scalar")
    'promoteArrayScalar'
    """
    found = camel_case(name)
    return found[:1].lower() + found[1:]


def _write_fold(tables: GeneratedTables) -> list[str]:
    if tables.no_fold_reason:
        return [f"// No function promotes several operands: {tables.no_fold_reason}.", ""]
    return [
        "/** Promotes operands from left to right. */",
        "export function promoteAll(first: DType, ...others: DType[]): DType {",
        "  return others.reduce(promote, first);",
        "}",
        "",
    ]


def _write_casts(tables: GeneratedTables) -> list[str]:
    return [
        "// prettier-ignore",
        "const CAST_FOLDS_TABLE: readonly (readonly number[])[] = [",
        *(f"  [{', '.join(map(str, row))}]," for row in tables.foldable_casts),
        "];",
        "",
        "/** True if casting a to b and then to c gives the same as casting a to c. */",
        "export function castFolds(a: DType, b: DType, c: DType): boolean {",
        f"  return CAST_FOLDS_TABLE[a * {tables.size} + b]?.[c] === 1;",
        "}",
        "",
    ]


def typescript_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that throws for a wrong answer of any function to any operands."""
    return _fill_program(TEST_PROGRAM, tables, names, head)


def typescript_chains(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that reads calls of functions, and prints what they give."""
    return _fill_program(CHAIN_PROGRAM, tables, names, head)


def _fill_program(program: Template, tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    def call(f: LookupFunction) -> str:
        given = "ab" if len(f.tiers) > 1 else "b"
        arguments = (
            f"{place} as d.Scalar" if tier == "scalar" else f"dtypes[{place}]![1]"
            for place, tier in zip(given, f.tiers, strict=True)
        )
        return (
            f"({'a' if given == 'ab' else '_'}, b) => d.{function_name(f.function)}({', '.join(arguments)})"
        )

    members = [f'  ["{REFUSED}", d.DType.Refused],']
    members += [f'  ["{o}", d.DType.{names[str(o)]}],' for o in tables.indices]
    return Template(program.template.replace("$calls_of_functions\n", CALLS)).substitute(
        head=head, system=snake_case(tables.system), members="\n".join(members), file=data_file_name(tables),
        scalars=", ".join(f'"{word}"' for word in tables.scalar_kinds),
        functions="\n".join(
            f'  ["{f.function}", "{operand_letters(f)}", {call(f)}],' for f in tables.lookups
        ),
        fold=TEST_OF_FOLD if can_fold(tables) else "",
        casts=TEST_OF_CASTS if tables.foldable_casts else "", answers=count_answers(tables),
    )  # fmt: skip


def typescript_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    return "\n".join(
        [
            f"// {head}",
            "// Yours to write, in ask.ts: the implementation's dtype for two arrays; Refused if refused.",
            "// export function ask(a: DType, b: DType): DType",
            'import { ask } from "./ask.js";',
            f'import {{ DType }} from "./{snake_case(tables.system)}_dtypes.js";',
            "",
            "declare const console: { log(text: string): void };",
            "const names = new Map<DType, string>([",
            *(f'  [DType.{names[str(d)]}, "{d}"],' for d in tables.indices if not d.weak),
            "]);",
            "const dtypes = [...names.keys()];",
            'console.log(["", ...dtypes.map((d) => names.get(d))].join(","));',
            "for (const a of dtypes) {",
            '  const row = dtypes.map((b) => names.get(ask(a, b)) ?? "-");',
            '  console.log([names.get(a), ...row].join(","));',
            "}",
            "",
        ]
    )
