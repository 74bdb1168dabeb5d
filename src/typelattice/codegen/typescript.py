"""TypeScript: a module without dependencies. A refusal is undefined."""

from __future__ import annotations

from collections.abc import Mapping

from typelattice.codegen.names import camel_case, signature_lines, snake_case
from typelattice.codegen.tables import REFUSED_INDEX, GeneratedTables, cast_cases, expected_results


def typescript_module(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the module: objects of indices, tables, and a function for each question."""
    lines = [f"// {head}", "", "export const DType = {"]
    lines += [f"  {names[str(d)]}: {i}," for d, i in tables.indices.items()]
    lines += ["} as const;", "export type DType = (typeof DType)[keyof typeof DType];", ""]
    if tables.scalar_kinds:
        kinds = [f"  {word.capitalize()}: {i}," for i, word in enumerate(tables.scalar_kinds)]
        lines += ["/** Kinds of Python scalars. */", "export const Scalar = {", *kinds, "} as const;"]
        lines += ["export type Scalar = (typeof Scalar)[keyof typeof Scalar];", ""]
    for number, table in enumerate(tables.tables):
        rows = [f"  [{', '.join(map(str, row))}]," for row in table]
        lines += ["// prettier-ignore", f"const TABLE_{number}: readonly (readonly number[])[] = ["]
        lines += [*rows, "];", ""]
    lines += ["function dtype(index: number | undefined): DType | undefined {"]
    lines += [f"  return index === {REFUSED_INDEX} ? undefined : (index as DType);", "}", ""]
    for f in tables.lookups:
        cell = f.cell_index().replace("][", "]?.[")
        name = function_name(f.function)
        lines += signature_lines(f"export function {name}(", f.parameters, "): DType | undefined {", 80, "  ")
        lines += [f"  return dtype(TABLE_{f.table_index}{cell});", "}", ""]
    if tables.has_promote:
        lines += _write_fold(tables)
    if tables.foldable_casts:
        lines += _write_casts(tables)
    return "\n".join(lines)


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
        "export function promoteAll(",
        "  first: DType,",
        "  ...others: DType[]",
        "): DType | undefined {",
        "  let found: DType | undefined = first;",
        "  for (const each of others) {",
        "    if (found === undefined) return undefined;",
        "    found = promote(found, each);",
        "  }",
        "  return found;",
        "}",
        "",
    ]


def _write_casts(tables: GeneratedTables) -> list[str]:
    return [
        "// prettier-ignore",
        "const TABLE_CASTS: readonly (readonly number[])[] = [",
        *(f"  [{', '.join(map(str, row))}]," for row in tables.foldable_casts),
        "];",
        "",
        "/** True if casting a to b and then to c gives the same as casting a to c. */",
        "export function castFolds(a: DType, b: DType, c: DType): boolean {",
        f"  return TABLE_CASTS[a * {tables.size} + b]?.[c] === 1;",
        "}",
        "",
    ]


def typescript_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that throws for a wrong answer of any function to any operands."""
    p = snake_case(tables.system)
    by_index = {i: names[str(d)] for d, i in tables.indices.items()}

    def spell(tier: str, i: int) -> str:
        return (
            f"d.Scalar.{tables.scalar_kinds[i].capitalize()}"
            if tier == "scalar"
            else f"d.DType.{by_index[i]}"
        )

    lines = [f"// {head}", f'import * as d from "./{p}_dtypes.js";', ""]
    lines += ["function check(ok: boolean): void {"]
    lines += ['  if (!ok) throw new Error("a table is wrong");', "}", "// prettier-ignore", "{"]
    for f in tables.lookups:  # a list of all calls would have a type too complex for the compiler
        for given, found in expected_results(tables, f):
            want = "undefined" if found == REFUSED_INDEX else f"d.DType.{by_index[found]}"
            call = f"d.{function_name(f.function)}({', '.join(spell(*x) for x in given)})"
            lines += [f"  check({call} === {want});"]
    for *chain, folds in cast_cases(tables):
        call = f"d.castFolds({', '.join(spell('array', i) for i in chain)})"
        lines += [f"  check({call} === {'true' if folds else 'false'});"]
    return "\n".join([*lines, "}", ""])


def typescript_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    return "\n".join(
        [
            f"// {head}",
            "// Yours to write, in ask.ts: the implementation's dtype for two arrays; undefined if refused.",
            "// export function ask(a: DType, b: DType): DType | undefined",
            'import { ask } from "./ask.js";',
            f'import {{ DType }} from "./{snake_case(tables.system)}_dtypes.js";',
            "",
            "declare const console: { log(text: string): void };",
            "const names = new Map<DType | undefined, string>([",
            *(f'  [DType.{names[str(d)]}, "{d}"],' for d in tables.indices),
            "]);",
            "const dtypes = Object.values(DType);",
            'console.log(["", ...dtypes.map((d) => names.get(d))].join(","));',
            "for (const a of dtypes) {",
            '  const row = dtypes.map((b) => names.get(ask(a, b)) ?? "-");',
            '  console.log([names.get(a), ...row].join(","));',
            "}",
            "",
        ]
    )
