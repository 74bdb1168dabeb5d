"""C11 and C++17: a header without allocation, exceptions or libc, and a program that tests it."""

from __future__ import annotations

from collections.abc import Mapping

from typelattice.codegen.names import snake_case
from typelattice.codegen.tables import REFUSED_INDEX, GeneratedTables, cast_cases, expected_results

FORMATTER_OFF = "// clang-format off"  # no formatter changes the file


def c_header(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the header of C11. Every name begins with the name of the system."""
    p, upper = snake_case(tables.system), snake_case(tables.system).upper()
    members = [f"  {upper}_{names[str(d)]} = {i}," for d, i in tables.indices.items()]
    scalars = [f"  {upper}_SCALAR_{word.upper()} = {i}," for i, word in enumerate(tables.scalar_kinds)]
    lines = [
        FORMATTER_OFF,
        f"/* {head} */",
        f"#ifndef {upper}_DTYPES_H",
        f"#define {upper}_DTYPES_H",
        "",
        "#include <stdint.h>",
        "",
        "typedef enum {",
        *members,
        f"  {upper}_REFUSED = {REFUSED_INDEX}",
        f"}} {p}_dtype;",
        "",
    ]
    if scalars:
        lines += ["/* Kinds of Python scalars. */", "typedef enum {", *scalars]
        lines[-1] = lines[-1].rstrip(",")
        lines += [f"}} {p}_scalar;", ""]
    for number, table in enumerate(tables.tables):
        lines += [f"static const uint8_t {p}_table_{number}[{len(table)}][{len(table[0])}] = {{"]
        lines += [f"  {{{', '.join(map(str, row))}}}," for row in table]
        lines += ["};"]
    lines += [""]
    for f in tables.lookups:
        given = ", ".join(f"{p}_{kind.lower()} {name}" for name, kind in f.parameters.items())
        lines += [
            f"static inline {p}_dtype {p}_{f.function}({given}) {{",
            f"  return ({p}_dtype){p}_table_{f.table_index}{f.cell_index()};",
            "}",
            "",
        ]
    if tables.has_promote:
        lines += _write_c_fold(tables, p, upper)
    if tables.foldable_casts:
        lines += _write_c_casts(tables, p)
    return "\n".join([*lines, f"#endif  // {upper}_DTYPES_H", ""])


def _write_c_fold(tables: GeneratedTables, prefix: str, upper: str) -> list[str]:
    if tables.no_fold_reason:
        return [f"// No function promotes several operands: {tables.no_fold_reason}.", ""]
    return [
        "/* Promotes one operand or more, from left to right. */",
        f"static inline {prefix}_dtype {prefix}_promote_all("
        f"const {prefix}_dtype *operands, unsigned count) {{",
        f"  {prefix}_dtype found = operands[0];",
        f"  for (unsigned i = 1; i < count && found != {upper}_REFUSED; ++i) {{",
        f"    found = {prefix}_promote(found, operands[i]);",
        "  }",
        "  return found;",
        "}",
        "",
    ]


def _write_c_casts(tables: GeneratedTables, prefix: str) -> list[str]:
    return [
        f"static const uint8_t {prefix}_table_casts[{len(tables.foldable_casts)}][{tables.size}] = {{",
        *(f"  {{{', '.join(map(str, row))}}}," for row in tables.foldable_casts),
        "};",
        "",
        "/* 1 if casting a to b and then to c gives the same as casting a to c. */",
        f"static inline int {prefix}_cast_folds({prefix}_dtype a, {prefix}_dtype b, {prefix}_dtype c) {{",
        f"  return {prefix}_table_casts[(unsigned)a * {tables.size}U + (unsigned)b][c];",
        "}",
        "",
    ]


def c_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that calls every function with all operands, and returns 1 for a wrong answer."""
    p, upper = snake_case(tables.system), snake_case(tables.system).upper()

    def spell(tier: str, i: int) -> str:
        return (
            f"{upper}_SCALAR_{tables.scalar_kinds[i].upper()}"
            if tier == "scalar"
            else f"{upper}_{by_index[i]}"
        )

    by_index = {i: names[str(d)] for d, i in tables.indices.items()} | {REFUSED_INDEX: "REFUSED"}
    lines = [FORMATTER_OFF, f"/* {head} */", f'#include "{p}_dtypes.h"', "", "int main(void) {"]
    for f in tables.lookups:
        fields = " ".join(f"{p}_{kind.lower()} {name};" for name, kind in f.parameters.items())
        given = ", ".join(f"cases[i].{name}" for name in f.parameters)
        lines += ["  {", f"    static const struct {{ {fields} {p}_dtype want; }} cases[] = {{"]
        lines += [
            f"      {{{', '.join([*(spell(*x) for x in operands), spell('array', want)])}}},"
            for operands, want in expected_results(tables, f)
        ]
        lines += ["    };", "    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {"]
        lines += [f"      if ({p}_{f.function}({given}) != cases[i].want) return 1;", "    }", "  }"]
    if tables.foldable_casts:
        lines += [f"  static const struct {{ {p}_dtype a, b, c; int want; }} chains[] = {{"]
        lines += [
            f"    {{{', '.join(spell('array', i) for i in chain)}, {want}}},"
            for *chain, want in cast_cases(tables)
        ]
        lines += ["  };", "  for (unsigned i = 0; i < sizeof chains / sizeof chains[0]; ++i) {"]
        folds = f"{p}_cast_folds(chains[i].a, chains[i].b, chains[i].c)"
        lines += [f"    if ({folds} != chains[i].want) return 1;"]
        lines += ["  }"]
    return "\n".join([*lines, "  return 0;", "}", ""])


def cpp_header(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """The header of C++17: an enumeration and constexpr functions in a namespace of the system's name."""
    p, guard = snake_case(tables.system), f"{snake_case(tables.system).upper()}_DTYPES_HPP"
    lines = [
        FORMATTER_OFF,
        f"// {head}",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <cstddef>",
        "#include <cstdint>",
        "",
        f"namespace {p}_dtypes {{",
        "",
        "enum class DType : std::uint8_t {",
        *(f"  {names[str(d)]} = {i}," for d, i in tables.indices.items()),
        f"  kRefused = {REFUSED_INDEX},",
        "};",
        "",
    ]
    if tables.scalar_kinds:
        kinds = [f"  k{word.capitalize()} = {i}," for i, word in enumerate(tables.scalar_kinds)]
        lines += ["// Kinds of Python scalars.", "enum class Scalar : std::uint8_t {", *kinds, "};", ""]
    for number, table in enumerate(tables.tables):
        lines += [f"inline constexpr std::uint8_t table_{number}[{len(table)}][{len(table[0])}] = {{"]
        lines += [f"  {{{', '.join(map(str, row))}}}," for row in table]
        lines += ["};"]
    lines += [""]
    for f in tables.lookups:
        given = ", ".join(f"{kind} {name}" for name, kind in f.parameters.items())
        cell = f.cell_index("[static_cast<std::size_t>({})]")
        lines += [
            f"constexpr DType {f.function}({given}) noexcept {{",
            f"  return static_cast<DType>(table_{f.table_index}{cell});",
            "}",
            "",
        ]
    if tables.has_promote:
        lines += _write_cpp_fold(tables)
    if tables.foldable_casts:
        lines += _write_cpp_casts(tables)
    return "\n".join([*lines, f"}}  // namespace {p}_dtypes", "", f"#endif  // {guard}", ""])


def _write_cpp_fold(tables: GeneratedTables) -> list[str]:
    if tables.no_fold_reason:
        return [f"// No function promotes several operands: {tables.no_fold_reason}.", ""]
    return [
        "// Promotes one operand or more, from left to right.",
        "constexpr DType promote_all(const DType *operands, std::size_t count) noexcept {",
        "  DType found = operands[0];",
        "  for (std::size_t i = 1; i < count && found != DType::kRefused; ++i) {",
        "    found = promote(found, operands[i]);",
        "  }",
        "  return found;",
        "}",
        "",
    ]


def _write_cpp_casts(tables: GeneratedTables) -> list[str]:
    row = f"static_cast<std::size_t>(a) * {tables.size} + static_cast<std::size_t>(b)"
    return [
        f"inline constexpr bool table_casts[{len(tables.foldable_casts)}][{tables.size}] = {{",
        *(f"  {{{', '.join('true' if x else 'false' for x in each)}}}," for each in tables.foldable_casts),
        "};",
        "",
        "// True if casting a to b and then to c gives the same as casting a to c.",
        "constexpr bool cast_folds(DType a, DType b, DType c) noexcept {",
        f"  return table_casts[{row}]",
        "                    [static_cast<std::size_t>(c)];",
        "}",
        "",
    ]


def cpp_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that calls every function with all operands, and returns 1 for a wrong answer."""
    p = snake_case(tables.system)
    by_index = {i: names[str(d)] for d, i in tables.indices.items()} | {REFUSED_INDEX: "kRefused"}

    def spell(tier: str, i: int) -> str:
        return (
            f"Scalar::k{tables.scalar_kinds[i].capitalize()}" if tier == "scalar" else f"DType::{by_index[i]}"
        )

    lines = [
        FORMATTER_OFF,
        f"// {head}",
        f'#include "{p}_dtypes.hpp"',
        "",
        f"using namespace {p}_dtypes;",
        "",
    ]
    lines += ["int main() {"]
    for f in tables.lookups:
        fields = " ".join(f"{kind} {name};" for name, kind in f.parameters.items())
        given = ", ".join(f"each.{name}" for name in f.parameters)
        lines += ["  {", f"    struct Case {{ {fields} DType want; }};"]
        lines += ["    static constexpr Case cases[] = {"]
        lines += [
            f"      {{{', '.join([*(spell(*x) for x in operands), spell('array', want)])}}},"
            for operands, want in expected_results(tables, f)
        ]
        lines += ["    };", "    for (const Case &each : cases) {"]
        lines += [f"      if ({f.function}({given}) != each.want) return 1;", "    }", "  }"]
    if tables.foldable_casts:
        lines += ["  struct Chain { DType a, b, c; bool want; };", "  static constexpr Chain chains[] = {"]
        lines += [
            f"    {{{', '.join(spell('array', i) for i in chain)}, {'true' if want else 'false'}}},"
            for *chain, want in cast_cases(tables)
        ]
        lines += ["  };", "  for (const Chain &each : chains) {"]
        lines += ["    if (cast_folds(each.a, each.b, each.c) != each.want) return 1;", "  }"]
    return "\n".join([*lines, "  return 0;", "}", ""])


def c_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    p, upper = snake_case(tables.system), snake_case(tables.system).upper()
    rows = [f'  {{{upper}_{names[str(d)]}, "{d}"}},' for d in tables.indices]
    lines = [FORMATTER_OFF, f"/* {head} */", f'#include "{p}_dtypes.h"', "", "#include <stdio.h>", ""]
    lines += [
        f"/* Yours to write: the implementation's dtype for two arrays; {upper}_REFUSED for a refusal. */",
        f"{p}_dtype ask({p}_dtype a, {p}_dtype b);",
        "",
        f"static const struct {{ {p}_dtype index; const char *name; }} dtypes[] = {{",
        *rows,
        "};",
        "",
        f"static const char *name_of({p}_dtype d) {{",
    ]
    return "\n".join([*lines, *_probe_body("int main(void)"), ""])


def cpp_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    p = snake_case(tables.system)
    rows = [f'  {{DType::{names[str(d)]}, "{d}"}},' for d in tables.indices]
    lines = [FORMATTER_OFF, f"// {head}", f'#include "{p}_dtypes.hpp"', "", "#include <cstdio>", ""]
    lines += [
        f"using {p}_dtypes::DType;",
        "using std::printf;",
        "",
        "// Yours to write: the implementation's dtype for two arrays; kRefused for a refusal.",
        "DType ask(DType a, DType b);",
        "",
        "static constexpr struct { DType index; const char *name; } dtypes[] = {",
        *rows,
        "};",
        "",
        "static const char *name_of(DType d) {",
    ]
    return "\n".join([*lines, *_probe_body("int main()"), ""])


def _probe_body(main: str) -> list[str]:
    return [
        "  for (unsigned i = 0; i < sizeof dtypes / sizeof dtypes[0]; ++i) {",
        "    if (dtypes[i].index == d) return dtypes[i].name;",
        "  }",
        '  return "-";',
        "}",
        "",
        f"{main} {{",
        "  const unsigned count = sizeof dtypes / sizeof dtypes[0];",
        '  for (unsigned i = 0; i < count; ++i) printf(",%s", dtypes[i].name);',
        "  for (unsigned i = 0; i < count; ++i) {",
        '    printf("\\n%s", dtypes[i].name);',
        "    for (unsigned j = 0; j < count; ++j) {",
        '      printf(",%s", name_of(ask(dtypes[i].index, dtypes[j].index)));',
        "    }",
        "  }",
        '  printf("\\n");',
        "  return 0;",
        "}",
    ]
