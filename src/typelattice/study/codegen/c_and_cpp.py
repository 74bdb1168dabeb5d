"""C11 and C++17: a header without allocation, exceptions or libc, and a program that tests it."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from typelattice.study.codegen.answer_data import can_fold, count_answers, data_file_name, operand_letters
from typelattice.study.codegen.names import snake_case
from typelattice.study.codegen.tables import REFUSED, REFUSED_INDEX, GeneratedTables, LookupFunction

FORMATTER_OFF = "// clang-format off"  # no formatter changes the file


def c_header(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return the header of C11. Every name begins with the name of the system."""
    p, upper = snake_case(tables.system), snake_case(tables.system).upper()
    members = [f"  {upper}_{names[str(d)]} = {i}," for d, i in tables.indices.items()]
    scalars = [f"  {upper}_SCALAR_{word.upper()} = {i}," for i, word in enumerate(tables.scalar_kinds)]
    members[-1] = members[-1].rstrip(",")
    lines = [
        FORMATTER_OFF,
        f"/* {head} */",
        f"#ifndef {upper}_DTYPES_H",
        f"#define {upper}_DTYPES_H",
        "",
        "#include <stdint.h>",
        "",
        "/* Every function takes every member. A refused operand gives a refusal. */",
        "typedef enum {",
        f"  {upper}_REFUSED = {REFUSED_INDEX},",
        *members,
        f"}} {p}_dtype;",
        "",
    ]
    if scalars:
        lines += ["/* Kinds of Python scalars. */", "typedef enum {", *scalars]
        lines[-1] = lines[-1].rstrip(",")
        lines += [f"}} {p}_scalar;", ""]
    for name, table in tables.tables.items():
        lines += [f"static const uint{tables.bits}_t {p}_{name}_table[{len(table)}][{len(table[0])}] = {{"]
        lines += [*_table_rows(tables, name), "};"]
    lines += [""]
    for f in tables.lookups:
        given = ", ".join(f"{p}_{kind.lower()} {name}" for name, kind in f.parameters.items())
        lines += [
            *([STRONG_COMMENT[0]] if f.function == "strong" else []),
            f"static inline {p}_dtype {p}_{f.function}({given}) {{",
            f"  return ({p}_dtype){p}_{f.table}_table{f.cell_index()};",
            "}",
            "",
        ]
    if tables.has_fold:
        lines += _write_c_fold(tables, p)
    if tables.foldable_casts:
        lines += _write_c_casts(tables, p)
    return "\n".join([*lines, f"#endif  // {upper}_DTYPES_H", ""])


STRONG_COMMENT = (
    "/* The dtype of an array: it is not weak. */",
    "// The dtype of an array: it is not weak.",
)


def _table_rows(tables: GeneratedTables, table: str) -> list[str]:
    """Write a row a line, each with the name of its left operand."""
    rows = zip(tables.row_names(table), tables.tables[table], strict=True)
    return [f"  {f'/* {name} */ ' if name else ''}{{{', '.join(map(str, row))}}}," for name, row in rows]


def _write_c_fold(tables: GeneratedTables, prefix: str) -> list[str]:
    if tables.no_fold_reason:
        return [f"// No function promotes several operands: {tables.no_fold_reason}.", ""]
    return [
        "/* Promotes one operand or more, from left to right. */",
        f"static inline {prefix}_dtype {prefix}_promote_all("
        f"const {prefix}_dtype *operands, unsigned count) {{",
        f"  {prefix}_dtype found = operands[0];",
        "  for (unsigned i = 1; i < count; ++i) {",
        f"    found = {prefix}_promote(found, operands[i]);",
        "  }",
        "  return found;",
        "}",
        "",
    ]


def _write_c_casts(tables: GeneratedTables, prefix: str) -> list[str]:
    return [
        f"static const uint8_t {prefix}_cast_folds_table[{len(tables.foldable_casts)}][{tables.size}] = {{",
        *(f"  {{{', '.join(map(str, row))}}}," for row in tables.foldable_casts),
        "};",
        "",
        "/* 1 if casting a to b and then to c gives the same as casting a to c. */",
        f"static inline int {prefix}_cast_folds({prefix}_dtype a, {prefix}_dtype b, {prefix}_dtype c) {{",
        f"  return {prefix}_cast_folds_table[(unsigned)a * {tables.size}U + (unsigned)b][c];",
        "}",
        "",
    ]


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
        "// Every function takes every member. A refused operand gives a refusal.",
        f"enum class DType : std::uint{tables.bits}_t {{",
        f"  kRefused = {REFUSED_INDEX},",
        *(f"  {names[str(d)]} = {i}," for d, i in tables.indices.items()),
        "};",
        "",
    ]
    if tables.scalar_kinds:
        kinds = [f"  k{word.capitalize()} = {i}," for i, word in enumerate(tables.scalar_kinds)]
        lines += ["// Kinds of Python scalars.", "enum class Scalar : std::uint8_t {", *kinds, "};", ""]
    for name, table in tables.tables.items():
        shape = f"[{len(table)}][{len(table[0])}]"
        lines += [f"inline constexpr std::uint{tables.bits}_t {name}_table{shape} = {{"]
        lines += [*_table_rows(tables, name), "};"]
    lines += [""]
    for f in tables.lookups:
        given = ", ".join(f"{kind} {name}" for name, kind in f.parameters.items())
        cell = f.cell_index("[static_cast<std::size_t>({})]")
        lines += [
            *([STRONG_COMMENT[1]] if f.function == "strong" else []),
            f"constexpr DType {f.function}({given}) noexcept {{",
            f"  return static_cast<DType>({f.table}_table{cell});",
            "}",
            "",
        ]
    if tables.has_fold:
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
        "  for (std::size_t i = 1; i < count; ++i) {",
        "    found = promote(found, operands[i]);",
        "  }",
        "  return found;",
        "}",
        "",
    ]


def _write_cpp_casts(tables: GeneratedTables) -> list[str]:
    row = f"static_cast<std::size_t>(a) * {tables.size} + static_cast<std::size_t>(b)"
    return [
        f"inline constexpr bool cast_folds_table[{len(tables.foldable_casts)}][{tables.size}] = {{",
        *(f"  {{{', '.join('true' if x else 'false' for x in each)}}}," for each in tables.foldable_casts),
        "};",
        "",
        "// True if casting a to b and then to c gives the same as casting a to c.",
        "constexpr bool cast_folds(DType a, DType b, DType c) noexcept {",
        f"  return cast_folds_table[{row}]",
        "                         [static_cast<std::size_t>(c)];",
        "}",
        "",
    ]


CALLS = """\
static const struct { const char *name; $dtype member; } dtypes[] = {
$members
};
static const char *const scalars[] = {$scalars};
static const unsigned dtype_count = $count, scalar_count = $scalar_count;
/* The operands of each function: d for a dtype, s for a Python scalar. */
static const struct { const char *name, *operands; } functions[] = {
$functions
};
static $dtype call(unsigned f, unsigned a, unsigned b) {
  (void)a;
  switch (f) {
$calls
    default: return $refused;
  }
}

static unsigned count_of(char operand) { return operand == 'd' ? dtype_count : scalar_count; }

static const char *name_of(char operand, unsigned i) { return operand == 'd' ? dtypes[i].name : scalars[i]; }
"""
TEST_PROGRAM = Template("""\
/* Reads the right answers from a file, and asks every function for each, also in chains of three. */
$calls_of_functions
/* The place of the operand that the data has next, or the count for none. */
static unsigned read_operand(${std}FILE *data, char operand) {
  char word[128] = "";
  unsigned i = 0;
  if (${std}fscanf(data, "%127s", word) != 1) return count_of(operand);
  while (i < count_of(operand) && ${std}strcmp(name_of(operand, i), word) != 0) ++i;
  return i;
}

static unsigned want[$places][$places];

static int wrong(unsigned f, unsigned a, unsigned b) {
  const char *operands = functions[f].operands;
  const char *left = operands[1] ? name_of(operands[0], a) : "-";
  const char *right = name_of(operands[operands[1] ? 1 : 0], b);
  ${std}printf("%s is wrong for %s and %s\\n", functions[f].name, left, right);
  return 1;
}

static int check_chains(unsigned f) {
  for (unsigned a = 0; a < dtype_count; ++a) {
    for (unsigned b = 0; b < dtype_count; ++b) {
      unsigned first = 0;
      while (first < dtype_count && dtypes[first].member != call(f, a, b)) ++first;
      if (first == dtype_count) return wrong(f, a, b);
      for (unsigned c = 0; c < dtype_count; ++c) {
        const $dtype wanted = dtypes[want[want[a][b]][c]].member;
        if (call(f, first, c) != wanted) return wrong(f, first, c);
$fold
      }
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  ${std}FILE *data = ${std}fopen(argc > 1 ? argv[1] : "$file", "r");
  unsigned answers = 0;
  const unsigned count = sizeof functions / sizeof functions[0];
  char word[128] = "";
  if (!data) return 2;
  while (${std}fgetc(data) != '\\n') {
  }
  while (${std}fscanf(data, "%127s", word) == 1) {
$casts
    unsigned f = 0, a = 0;
    while (f < count && ${std}strcmp(functions[f].name, word) != 0) ++f;
    if (f == count) return 2;
    const char left = functions[f].operands[0], right = functions[f].operands[1];
    if (right) a = read_operand(data, left);
    if (right ? a == count_of(left) : ${std}fscanf(data, "%127s", word) != 1) return 2;
    for (unsigned b = 0; b < count_of(right ? right : left); ++b, ++answers) {
      want[a][b] = read_operand(data, 'd');
      if (want[a][b] == dtype_count) return 2;
      if (call(f, a, b) != dtypes[want[a][b]].member) return wrong(f, a, b);
    }
    if (left == 'd' && right == 'd' && a + 1 == dtype_count && check_chains(f)) return 1;
  }
  ${std}fclose(data);
  return answers == $answers ? 0 : 2;
}""")
CHAIN_PROGRAM = Template("""\
/* Reads lines `FUNCTION LEFT RIGHT`, and prints each result. $$2 is the result of line 2 of a program. */
$calls_of_functions
int main(void) {
  static unsigned results[65536];
  const unsigned count = sizeof functions / sizeof functions[0];
  char name[128] = "", given[2][128] = {"", ""};
  unsigned made = 0;
  while (${std}scanf("%127s %127s %127s", name, given[0], given[1]) == 3) {
    unsigned f = 0, place[2] = {0, 0}, found = 0;
    if (${std}strcmp(name, "program") == 0) {
      made = 0;
      continue;
    }
    while (f < count && ${std}strcmp(functions[f].name, name) != 0) ++f;
    if (f == count || made == 65536) return 2;
    for (unsigned i = functions[f].operands[1] ? 0 : 1; i < 2; ++i) {
      const char operand = functions[f].operands[functions[f].operands[1] ? i : 0];
      unsigned number = 0;
      if (${std}sscanf(given[i], "$$%u", &number) == 1) {
        place[i] = results[number];
        continue;
      }
      number = count_of(operand);
      while (place[i] < number && ${std}strcmp(name_of(operand, place[i]), given[i]) != 0) ++place[i];
      if (place[i] == number) return 2;
    }
    while (found < dtype_count && dtypes[found].member != call(f, place[0], place[1])) ++found;
    if (found == dtype_count) return 2;
    results[made++] = found;
    ${std}printf("%s\\n", dtypes[found].name);
  }
  return 0;
}""")
TEST_OF_FOLD = Template("""\
        const $dtype all[] = {dtypes[a].member, dtypes[b].member, dtypes[c].member};
        if (f == $promote && ${prefix}promote_all(all, 3) != wanted) return wrong(f, a, b);""")
TEST_OF_CASTS = Template("""\
    if (${std}strcmp(word, "cast_folds") == 0) {
      const unsigned x = read_operand(data, 'd'), y = read_operand(data, 'd');
      if (x == dtype_count || y == dtype_count) return 2;
      for (unsigned z = 0; z < dtype_count; ++z, ++answers) {
        unsigned folds = 2;
        if (${std}fscanf(data, "%u", &folds) != 1) return 2;
        const $dtype a = dtypes[x].member, b = dtypes[y].member, c = dtypes[z].member;
        if ((unsigned)${prefix}cast_folds(a, b, c) == folds) continue;
        ${std}printf("cast_folds is wrong for %s, %s and ", dtypes[x].name, dtypes[y].name);
        ${std}printf("%s\\n", dtypes[z].name);
        return 1;
      }
      continue;
    }""")


def c_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that calls every function with all operands, and returns 1 for a wrong answer."""
    return _c_program(tables, names, head, TEST_PROGRAM)


def c_chains(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that reads calls of functions, and prints what they give."""
    return _c_program(tables, names, head, CHAIN_PROGRAM)


def _c_program(tables: GeneratedTables, names: Mapping[str, str], head: str, program: Template) -> str:
    p, upper = snake_case(tables.system), snake_case(tables.system).upper()
    spelling = {"prefix": f"{p}_", "dtype": f"{p}_dtype", "refused": f"{upper}_REFUSED", "std": ""}
    text = _fill_program(program, tables, names, spelling, f"{upper}_", f"({p}_scalar)")
    includes = [f'#include "{p}_dtypes.h"', "", "#include <stdio.h>", "#include <string.h>", ""]
    return "\n".join([FORMATTER_OFF, f"/* {head} */", *includes, text, ""])


def cpp_test(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that calls every function with all operands, and returns 1 for a wrong answer."""
    return _cpp_program(tables, names, head, TEST_PROGRAM)


def cpp_chains(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that reads calls of functions, and prints what they give."""
    return _cpp_program(tables, names, head, CHAIN_PROGRAM)


def _cpp_program(tables: GeneratedTables, names: Mapping[str, str], head: str, program: Template) -> str:
    p = snake_case(tables.system)
    spelling = {"prefix": "", "dtype": "DType", "refused": "DType::kRefused", "std": "std::"}
    text = _fill_program(program, tables, names, spelling, "DType::", "Scalar")
    includes = [f'#include "{p}_dtypes.hpp"', "", "#include <cstdio>", "#include <cstring>", ""]
    using = [f"using namespace {p}_dtypes;", ""]
    return "\n".join([FORMATTER_OFF, f"// {head}", *includes, *using, text, ""])


def _fill_program(
    program: Template, tables: GeneratedTables, names: Mapping[str, str], spelling: Mapping[str, str],
    member: str, scalar: str,
) -> str:  # fmt: skip
    """Write a program that calls every function, with the words in which C and C++ differ."""
    members = [f'  {{"{REFUSED}", {spelling["refused"]}}},']
    members += [f'  {{"{o}", {member}{names[str(o)]}}},' for o in tables.indices]
    kinds, scalars = tables.scalar_kinds, [f'"{word}"' for word in tables.scalar_kinds]

    def arguments(f: LookupFunction) -> str:
        return ", ".join(
            f"{scalar}({place})" if tier == "scalar" else f"dtypes[{place}].member"
            for place, tier in zip("ab" if len(f.tiers) > 1 else "b", f.tiers, strict=True)
        )

    calls = [
        f"    case {number}: return {spelling['prefix']}{f.function}({arguments(f)});"
        for number, f in enumerate(tables.lookups)
    ]
    promote = next((i for i, f in enumerate(tables.lookups) if f.function == "promote"), None)
    return Template(program.template.replace("$calls_of_functions\n", CALLS)).substitute(
        spelling, members="\n".join(members), count=len(members), places=max(len(members), len(kinds)),
        scalars=", ".join(scalars or ['""']), scalar_count=len(kinds), calls="\n".join(calls),
        functions="\n".join(f'  {{"{f.function}", "{operand_letters(f)}"}},' for f in tables.lookups),
        fold=TEST_OF_FOLD.substitute(spelling, promote=promote) if can_fold(tables) else "",
        casts=TEST_OF_CASTS.substitute(spelling) if tables.foldable_casts else "",
        file=data_file_name(tables), answers=count_answers(tables),
    )  # fmt: skip


def c_probe(tables: GeneratedTables, names: Mapping[str, str], head: str) -> str:
    """Return a program that prints the answers of the user's function `ask` as CSV, for `lint` to read."""
    p, upper = snake_case(tables.system), snake_case(tables.system).upper()
    rows = [f'  {{{upper}_{names[str(d)]}, "{d}"}},' for d in tables.indices if not d.weak]
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
    rows = [f'  {{DType::{names[str(d)]}, "{d}"}},' for d in tables.indices if not d.weak]
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
