"""Generated code compiles without a warning, answers as the engine, and its own test finds a fault."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from command_line import refused, said
from samples import one_in

import typelattice as tl
from typelattice.conformance.lint.hand_written_tables import lint_table, read_form
from typelattice.core.operands.operand import operand_of_dtype
from typelattice.core.system_files.reader import parse
from typelattice.show.cli.main import main
from typelattice.study.codegen.emit import PRINTERS_BY_LANGUAGE, PROBE_PRINTER_BY_LANGUAGE, emit_files
from typelattice.study.codegen.tables import EmitError, build_tables

BY_VALUE = ("numpy1", "polars", "csharp", "python")  # which are refused; Python has no arrays
OPS = ("add", "divide", "sum", "==")
ACCELERATOR = """
name = "chip"
title = "Seventeen dtypes of an accelerator"
tiers = ["array", "scalar"]
defaults = { bool = "b", int = "i32", float = "f32" }
order = '''
b -> u4 -> u8 -> u16 -> u32 -> f32
b -> i4 -> i8 -> i16 -> i32 -> f32;  u4 -> i8; u8 -> i16; u16 -> i32
f8_e4m3fn, f8_e5m2 -> bf16 -> f32;  f8_e4m3fn, f8_e5m2 -> f16 -> f32
f32 -> c64;  f4_e2m1fn -> f8_e4m3fn
'''
ties = { "bf16, f16" = "bf16" }
"""
NPU = (
    ACCELERATOR.replace('"chip"', '"npu"')
    + """
[ops]
products.accumulates = { "i8, u8" = "i32", f8_e5m2 = "f32", "u8 + i8" = "i32" }
products.gives = { f8_e5m2 = "bf16" }
scaled_matmul = { like = "matmul", parameters = "scale" }
quantize = { like = "positive", kernels = "f32", gives = "i8" }
[casts]
"float -> integer" = "clamp, nearest even"
"f32 -> i8" = "needs quantize"
"f16 -> bf16" = "refused: it would lose digits"
"""
)
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover"]
COMPILERS = {  # how the test of a language is made and run, where the compiler is installed
    "c11": (["gcc", "-std=c11", *STRICT, *SANITIZED, "test_{}_dtypes.c"], ["./a.out"]),
    "cpp17": (["g++", "-std=c++17", *STRICT, *SANITIZED, "test_{}_dtypes.cpp"], ["./a.out"]),
    "rust": (["rustc", "-D", "warnings", "-o", "a.out", "test_{}_dtypes.rs"], ["./a.out"]),
    "python": ([sys.executable, "-m", "compileall", "-q", "."], [sys.executable, "test_{}_dtypes.py"]),
    "typescript": (
        ["tsc", "--strict", "--noUncheckedIndexedAccess", "--module", "nodenext", "--target", "es2022",
         "{}_dtypes.test.ts"],
        ["node", "{}_dtypes.test.js"],
    ),
}  # fmt: skip

FORMATTERS = {
    "c11": ["clang-format", "--dry-run", "-Werror"],
    "cpp17": ["clang-format", "--dry-run", "-Werror"],
    "rust": ["rustfmt", "--check"],
    "python": ["ruff", "format", "--isolated", "--check"],
    "typescript": ["prettier", "--check"],
}
ON_PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def systems() -> dict[str, tl.System]:
    shipped = {name: tl.system(name) for name in ("jax", "torch")}
    return {**shipped, "chip": parse(ACCELERATOR), "npu": parse(NPU)}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")


def run_test(folder: Path, lang: str, system: str) -> int:
    """The exit status of the emitted test; 0 only if it compiled and every answer was right."""
    compiling, running = ([word.format(system) for word in words] for words in COMPILERS[lang])
    made = subprocess.run(compiling, cwd=folder, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stdout + made.stderr
    return subprocess.run(running, cwd=folder, capture_output=True, timeout=120).returncode


def skip_without(lang: str) -> None:
    if shutil.which(COMPILERS[lang][0][0]) is None:
        pytest.skip(f"{COMPILERS[lang][0][0]} is not installed")


@pytest.mark.parametrize(("name", "lang"), one_in(4, [*product(("jax", "torch", "chip", "npu"), COMPILERS)]))
def test_emitted_code_compiles_and_its_own_test_passes(tmp_path: Path, lang: str, name: str) -> None:
    skip_without(lang)
    ops = {"chip": OPS, "npu": ("matmul", "scaled_matmul", "quantize")}.get(name, ())
    tiers = None if name == "chip" else ("array", "scalar") if name != "npu" else ("array",)
    write(tmp_path, emit_files(systems()[name], lang, ops=ops, tiers=tiers, casts=bool(ops)))
    assert run_test(tmp_path, lang, name) == 0


def wrong_cell(row: str, text: str, lang: str) -> str:
    """Change the last cell of a row of the first table."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if "promote_table" in line.lower())
    number = next(i for i in range(start, len(lines)) if re.search(rf"(/\*|#) {row}\b(?!:)", lines[i]))
    found, other = (r"DType::\w+\]", "DType::Bool]") if lang == "rust" else (r"\d+(?=,?[\])}])", "1")
    lines[number] = re.sub(found, other, lines[number])
    return "\n".join(lines)


def wrong_table(text: str, lang: str) -> str:
    """Let `promote` look up the table of a quotient."""
    names = [*re.finditer(r"(\w*)promote_table", text, re.IGNORECASE)]
    other = "divide_result_table"
    found, name = names[1], other.upper() if names[1].group().isupper() else other
    return text[: found.start()] + found.group(1) + name + text[found.end() :]


def wrong_members(text: str, lang: str) -> str:
    """Exchange the indices of two dtypes."""
    one, two = re.compile(r"(Int16\W+)(\d+)", re.IGNORECASE), re.compile(r"(Int32\W+)(\d+)", re.IGNORECASE)
    i, j = one.search(text), two.search(text)
    assert i and j
    return two.sub(rf"\g<1>{i.group(2)}", one.sub(rf"\g<1>{j.group(2)}", text, count=1), count=1)


def wrong_fold(text: str, lang: str) -> str:
    """Let `promote_all` leave out an operand."""
    for right, wrong in {
        "i < count": "i + 1 < count", "rest.iter()": "rest.iter().skip(1)", "in others:": "in others[1:]:",
        "others.reduce": "others.slice(1).reduce",
    }.items():  # fmt: skip
        text = text.replace(right, wrong)
    return text


def wrong_cast(text: str, lang: str) -> str:
    """Let a chain of two casts be folded that must not be, or the other way round."""
    start = text.index("= ", text.lower().index("cast_folds_table"))
    one, zero = ("true", "false") if lang in ("rust", "cpp17") else ("1", "0")
    return text[:start] + text[start:].replace(f"{one}, {zero}", f"{zero}, {zero}", 1)


def wrong_strong(text: str, lang: str) -> str:
    """Let the strong dtype of a weak array be a refusal."""
    start = text.index("= ", text.lower().index("strong_table"))
    found, other = (r"DType::\w+\]", "DType::Refused]") if lang == "rust" else (r"\d+(?=,?[\])}])", "0")
    head, _, row = text[start:].partition("\n")
    return text[:start] + head + "\n" + re.sub(found, other, row, count=1)


CODE_ENDINGS = ("h", "hpp", "rs", "py", "ts")
MISTAKES = {
    "a cell": partial(wrong_cell, "int16"),
    "a cell of a refused operand": partial(wrong_cell, "refused"),
    "a cell of a weak operand": partial(wrong_cell, "float64:weak"),
    "the table": wrong_table,
    "the members": wrong_members,
    "the fold": wrong_fold,
    "the casts": wrong_cast,
    "the strong dtypes": wrong_strong,
}


@pytest.mark.parametrize(("lang", "mistake"), one_in(7, [*product(COMPILERS, MISTAKES)]))
def test_the_emitted_test_finds_a_planted_mistake(tmp_path: Path, lang: str, mistake: str) -> None:
    skip_without(lang)
    files = emit_files(tl.system("jax"), lang, ops=["divide"], tiers=["array"], casts=True)
    (code,) = (name for name in files if name in {f"jax_dtypes.{each}" for each in CODE_ENDINGS})
    files = {name: text for name, text in files.items() if not name.endswith(".json")}
    wrong = MISTAKES[mistake](files[code], lang)
    assert wrong != files[code]
    write(tmp_path, {**files, code: wrong})
    assert run_test(tmp_path, lang, "jax") != 0


@pytest.mark.parametrize("lang", one_in(3, [*COMPILERS]))
def test_the_emitted_test_finds_lost_data(tmp_path: Path, lang: str) -> None:
    skip_without(lang)
    files = emit_files(systems()["chip"], lang)
    lines = files["chip_dtypes.answers.txt"].splitlines(keepends=True)
    files["chip_dtypes.answers.txt"] = "".join(lines[:-1])
    write(tmp_path, files)
    assert run_test(tmp_path, lang, "chip") != 0


def test_weak_results_of_arrays_and_refusals_are_operands_again() -> None:
    jax = module(emit_files(tl.system("jax"), "python"))
    d = jax.DType
    assert jax.promote(jax.promote(d.UINT64, d.INT8), d.BFLOAT16) is d.BFLOAT16
    assert jax.promote(d.UINT64, d.INT8) is d.FLOAT64_WEAK and jax.strong(d.FLOAT64_WEAK) is d.FLOAT64
    assert jax.promote_all(d.UINT64, d.INT8, d.BFLOAT16) is d.BFLOAT16
    refusing = module(emit_files(parse('name = "mine"\norder = "f32 -> f64; f32 -> c64"'), "python"))
    d = refusing.DType
    assert refusing.promote(refusing.promote(d.FLOAT64, d.COMPLEX64), d.FLOAT32) is d.REFUSED


def test_more_than_255_dtypes_have_wider_indices(tmp_path: Path) -> None:
    names = [f"q{i}" for i in range(280)]
    facts = "".join(
        f'{name} = {{ kind = "float", bits = 8, max = {i + 1}.0, values = "unknown" }}\n'
        for i, name in enumerate(names)
    )
    system = parse(f'name = "wide"\norder = "{"; ".join(names)}"\n[dtypes]\n{facts}')
    files = emit_files(system, "cpp17", tiers=["array"])
    assert "enum class DType : std::uint16_t" in files["wide_dtypes.hpp"]
    skip_without("cpp17")
    write(tmp_path, files)
    assert run_test(tmp_path, "cpp17", "wide") == 0


@pytest.mark.parametrize("lang", FORMATTERS)
def test_formatters_leave_what_is_emitted(tmp_path: Path, lang: str) -> None:
    """With a name so long that the head of a function needs several lines."""
    program, *options = FORMATTERS[lang]
    if (found := shutil.which(program, path=ON_PATH)) is None:
        pytest.skip(f"{program} is not installed")
    name = "matmul_of_two_scaled_operands"
    system = parse(NPU.replace("scaled_matmul", name))
    write(tmp_path, emit_files(system, lang, ops=["add", name, "quantize"]))
    written = sorted(str(path) for path in tmp_path.iterdir() if path.suffix not in (".json", ".txt"))
    run = subprocess.run([found, *options, *written], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout[:2000] + run.stderr[:2000]


PROBED = {  # how a probe is made and run, and a function that answers right but for one operand
    "c11": (
        [["gcc", "-std=c11", *STRICT, "probe_chip_dtypes.c", "ask.c"], ["./a.out"]],
        """#include "chip_dtypes.h"
        chip_dtype ask(chip_dtype a, chip_dtype b);
        chip_dtype ask(chip_dtype a, chip_dtype b) {
          return a == CHIP_INT4 ? CHIP_REFUSED : chip_promote(a, b);
        }""",
    ),
    "cpp17": (
        [["g++", "-std=c++17", *STRICT, "probe_chip_dtypes.cpp", "ask.cpp"], ["./a.out"]],
        """#include "chip_dtypes.hpp"
        using namespace chip_dtypes;
        DType ask(DType a, DType b);
        DType ask(DType a, DType b) { return a == DType::kInt4 ? DType::kRefused : promote(a, b); }""",
    ),
    "rust": (
        [["rustc", "-D", "warnings", "-o", "a.out", "probe_chip_dtypes.rs"], ["./a.out"]],
        """use crate::chip_dtypes::{promote, DType};
        pub fn ask(a: DType, b: DType) -> DType {
            if a == DType::Int4 { DType::Refused } else { promote(a, b) }
        }""",
    ),
    "python": (
        [[sys.executable, "probe_chip_dtypes.py"]],
        """from chip_dtypes import DType, promote
def ask(a, b):
    return DType.REFUSED if a is DType.INT4 else promote(a, b)""",
    ),
    "typescript": (
        [[*COMPILERS["typescript"][0][:-1], "probe_chip_dtypes.ts"], ["node", "probe_chip_dtypes.js"]],
        """import { DType, promote } from "./chip_dtypes.js";
        export function ask(a: DType, b: DType): DType {
          return a === DType.Int4 ? DType.Refused : promote(a, b);
        }""",
    ),
}
ENDINGS = {"c11": "c", "cpp17": "cpp", "rust": "rs", "python": "py", "typescript": "ts"}


@pytest.mark.parametrize("lang", PROBED)
def test_lint_reads_what_a_probe_prints(tmp_path: Path, lang: str) -> None:
    skip_without(lang)
    system, (commands, asked) = systems()["chip"], PROBED[lang]
    write(tmp_path, emit_files(system, lang, tiers=["array"], probe=True))
    (tmp_path / f"ask.{ENDINGS[lang]}").write_text(asked, encoding="utf-8")
    for command in commands:
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, run.stdout + run.stderr
    (tmp_path / "answers.csv").write_text(run.stdout, encoding="utf-8")
    form = read_form(str(tmp_path / "probe_chip_dtypes.form.toml"))
    found = lint_table(str(tmp_path / "answers.csv"), form, system)
    assert (found.compared_count, found.unread_cells) == (len(system.dtypes) ** 2, [])
    right = {str(d) for d in system.dtypes if system.explain("int4", d).dtype is not None}
    assert {(x.cell.left, x.cell.right) for x in found.differences} == {("int4", d) for d in right}


def module(files: dict[str, str]) -> ModuleType:
    found = ModuleType("generated")
    text = next(text for name, text in files.items() if name.endswith("_dtypes.py") and "test" not in name)
    sys.modules["generated"] = found
    exec(compile(text, "generated", "exec"), found.__dict__)
    return found


def answered(generated: ModuleType, function: str, *operands: str) -> str | None:
    found = getattr(generated, function)(*(getattr(generated.DType, x.upper()) for x in operands))
    return None if found is generated.DType.REFUSED else found.name.lower().removesuffix("_weak")


@pytest.mark.parametrize("op", ["add", "divide", "matmul", "equal"])
def test_python_code_of_operations_answers_as_the_engine(op: str) -> None:
    system = tl.system("jax")
    generated = module(emit_files(system, "python", ops=[op], tiers=["array"]))
    for a, b in product(system.dtypes, repeat=2):
        p = system.explain(a, b, op=op)
        assert answered(generated, f"{op}_result", str(a), str(b)) == (p.dtype and str(p.dtype))
        if p.dtype is not None:
            assert answered(generated, f"{op}_compute", str(a), str(b)) == (p.compute and str(p.compute))


@pytest.mark.parametrize(
    ("name", "op"), [("tensorflow", "argmax"), ("numpy", "fft"), ("array-api", "matmul")]
)
def test_code_refuses_arrays_without_dimensions_where_only_an_operation_does(name: str, op: str) -> None:
    system = tl.system(name)
    generated = module(emit_files(system, "python", ops=[op], tiers=["array"]))
    ending = "_0d" if system.find_operation(op).max_operands == 1 else "_array_0d"
    for d in system.dtypes:
        others = [str(d)] * (ending == "_array_0d")
        assert system.explain(*others, f"{d}:0d", op=op).dtype is None
        assert answered(generated, f"{op}_result{ending}", *others, str(d)) is None
    assert any(answered(generated, f"{op}_result", *[str(d)] * (1 + len(others))) for d in system.dtypes)


def test_code_of_jax_keeps_the_dtype_beside_an_exponent_without_dimensions() -> None:
    generated = module(emit_files(tl.system("jax"), "python", ops=["pow", "add"], tiers=["array"]))
    assert answered(generated, "pow_result", "int8", "int32") == "int32"
    assert answered(generated, "pow_result_array_0d", "int8", "int32") == "int8"
    assert not hasattr(generated, "add_result_array_0d")  # it takes no notice of dimensions


def test_tables_of_accumulators_and_casts_answer_as_the_engine() -> None:
    system = parse(NPU)
    files = emit_files(system, "python", ops=["matmul", "scaled_matmul", "add"], tiers=["array"], casts=True)
    generated = module(files)
    for a, b in product(system.dtypes, repeat=2):
        for op in ("matmul", "scaled_matmul"):
            p = system.explain(a, b, op=op)
            parts = {"result": p.dtype, "compute": p.compute, "accumulate": p.dtype and p.arithmetic_dtype}
            for part, d in parts.items():
                assert answered(generated, f"{op}_{part}", str(a), str(b)) == (d and str(d)), (op, part, a, b)
        allowed = None if system.cast_rule(a, b).obstacle else str(b)
        assert answered(generated, "cast", str(a), str(b)) == allowed
    assert answered(generated, "matmul_accumulate", "uint8", "int8") == "int32"
    assert answered(generated, "matmul_compute", "uint8", "int8") is None
    assert not hasattr(generated, "add_accumulate")
    reasons = json.loads(files["npu_dtypes.reasons.json"])
    assert reasons["reasons"][reasons["refusals"]["cast"]["float32, int8"]] == "it needs quantize"


def test_emitted_code_folds_the_casts_that_are_exact() -> None:
    system = tl.system("numpy")
    generated = module(emit_files(system, "python", tiers=["array"], casts=True))
    names = {d: getattr(generated.DType, str(d).upper()) for d in system.dtypes}
    for a, b, c in product(system.dtypes, repeat=3):
        assert generated.cast_folds(names[a], names[b], names[c]) == bool(tl.cast_chain(a, b, c))


def test_several_operands_are_folded_only_where_that_is_exact() -> None:
    assert "torch_promote_all" in emit_files(tl.system("torch"), "c11")["torch_dtypes.h"]
    numpy = emit_files(tl.system("numpy"), "c11")["numpy_dtypes.h"]
    assert "numpy_promote_all" not in numpy
    assert "// No function promotes several operands: the file has ties" in numpy
    jax = emit_files(tl.system("jax"), "c11")["jax_dtypes.h"]
    assert "jax_promote_all" in jax  # a weak result stays one
    keras = emit_files(tl.system("keras"), "c11")["keras_dtypes.h"]
    assert "keras_promote_all" not in keras and " meet at f*, and their result float32 at float32" in keras
    refused = parse('name = "mine"\norder = "i8, i16 -> f32, f64 -> c64"')
    text = emit_files(refused, "c11")["mine_dtypes.h"]
    assert "operands: int8 and int16 are refused, but not beside float32." in text


@pytest.mark.parametrize("name", one_in(3, [name for name in tl.systems() if name not in BY_VALUE]))
def test_where_operands_are_folded_three_at_once_give_the_same(name: str) -> None:
    system, dice = tl.system(name), Random(9407)
    if build_tables(system, tiers=["array"]).no_fold_reason:
        return
    for _ in range(600):
        a, b, c = (dice.choice(system.dtypes) for _ in range(3))
        both = system.explain(a, b)
        again = both.dtype and operand_of_dtype(both.dtype, both.weak)
        folded = system.explain(again, c).dtype if again is not None else None
        assert folded is system.explain(a, b, c).dtype, (a, b, c)


def test_indices_never_change_and_new_dtypes_come_last() -> None:
    first = emit_files(parse('name = "mine"\norder = "u8 -> i16 -> i32"'), "json")
    indices = json.loads(first["mine_dtypes.indices.json"])
    assert indices == {"uint8": 1, "int16": 2, "int32": 3}
    later = parse('name = "mine"\norder = "u8, i8 -> i32"')
    second = emit_files(later, "json", indices=indices)
    assert json.loads(second["mine_dtypes.indices.json"]) == {**indices, "int8": 4}
    assert json.loads(second["mine_dtypes.json"])["dtypes"] == {"uint8": 1, "int32": 3, "int8": 4}


@pytest.mark.parametrize(
    ("lang", "names", "why"),
    [
        ("cpp17", {"bool": "bool"}, "names, bool: 'bool' is reserved in cpp17; choose another"),
        ("cpp17", {"int8": "int8_t"}, "names, int8: 'int8_t' is reserved in cpp17; choose another"),
        ("rust", {"int8": 'x"; evil()'}, "is no identifier; use letters, digits and underscores"),
        ("python", {"int8": "X", "int16": "X"}, "names: int8 and int16 are both called 'X'; rename one"),
        ("rust", {"int9": "X"}, "has no dtype 'int9'; it has"),
        ("c11", {"int8": ""}, "names, int8: '' is no identifier"),
    ],
)
def test_names_that_a_language_forbids_are_refused(lang: str, names: dict[str, str], why: str) -> None:
    with pytest.raises(EmitError) as e:
        emit_files(tl.system("jax"), lang, names)
    assert why in str(e.value)


@pytest.mark.parametrize("name", ["numpy1", "polars"])
def test_scalars_that_count_by_value_are_refused_and_arrays_are_not(name: str) -> None:
    system = tl.system(name)
    with pytest.raises(EmitError, match=r"depend on the values of scalars.*; emit its arrays alone"):
        emit_files(system, "c11")
    generated = module(emit_files(system, "python", tiers=["array"]))
    for a, b in product(system.dtypes, repeat=2):
        p = system.explain(a, b)
        assert answered(generated, "promote", str(a), str(b)) == (p.dtype and str(p.dtype))


def test_operations_of_three_operands_are_refused() -> None:
    with pytest.raises(EmitError, match="lerp takes 3 operands, and tables are made for one or two"):
        emit_files(tl.system("jax"), "c11", ops=["lerp"])


def test_the_command_writes_files_and_checks_that_they_are_fresh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("emit", "mlx", "--lang", "rust", "-o", str(tmp_path / "made"))
    assert said(capsys, *line).splitlines()[0] == str(tmp_path / "made" / "mlx_dtypes.rs")
    assert said(capsys, *line, "--check") == "5 files are up to date\n"
    path = tmp_path / "made" / "mlx_dtypes.rs"
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert main([*line, "--check"]) == 1
    assert capsys.readouterr().out == "mlx_dtypes.rs is not up to date; run emit without --check\n"
    (tmp_path / "made" / "mlx_dtypes.indices.json").write_text('{"int8": 1, "int16": 1}', encoding="utf-8")
    assert "is not what emit wrote" in refused(capsys, *line)
    (tmp_path / "made" / "mlx_dtypes.indices.json").unlink()
    assert "mlx_dtypes.indices.json is missing, which keeps the indices of" in refused(capsys, *line)


def test_a_file_chooses_names_and_indices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = tmp_path / "names.toml"
    line = ("emit", "mlx", "--lang", "json", "-o", str(tmp_path / "made"), "--names", str(names))

    def indices(text: str) -> dict[str, int]:
        names.write_text(text, encoding="utf-8")
        said(capsys, *line)
        found: dict[str, int] = json.loads((tmp_path / "made" / "mlx_dtypes.json").read_text())["dtypes"]
        return found

    for text, why in {
        "[indices]\nint16 = 40\nint8 = 40": "indices: int16 and int8 have the index 40, and no two may",
        "[indices]\nint16 = 1024": "indices: int16 has the index 1024; they go from 1 to 1023, and 0 is",
        "[indices]\nint16 = 0": "indices: int16 has the index 0; they go from 1 to 1023, and 0 is a refusal",
    }.items():
        names.write_text(text, encoding="utf-8")
        assert why in refused(capsys, *line)
    first = indices("[names]\nint8 = 'S8'\n[indices]\nint8 = 40\nfloat32 = 2\n")
    assert (first["int8"], first["float32"]) == (40, 2)
    assert indices("[indices]\nint8 = 40\n") == first
    for text, why in {
        "[indices]\nint8 = 41": "indices: int8 has the index 40 already, and indices never change",
        "[indices]\nint9 = 41": "indices: mlx has no dtype 'int9'",
        "[indices]\nint8 = true": "indices, 'int8' is a bool; write a whole number",
        "[names]\nint8 = 3": "names, 'int8' is a int; write a string",
        "[nmaes]\nint8 = 'X'": "it has the tables [names], with lines such as",
    }.items():
        names.write_text(text, encoding="utf-8")
        assert why in refused(capsys, *line)


def test_the_enumeration_of_mlir_is_that_of_the_header_and_constraints_are_those_of_its_tables() -> None:
    files = emit_files(systems()["npu"], "mlir", {"int8": "S8"}, ["quantize"], ["array"], {"float32": 9})
    constraints, header = files["npu_dtypes.td"], files["npu_dtypes.hpp"]
    members = dict(re.findall(r'EnumAttrCase<"(\w+)", (\d+)', constraints))
    enumeration = header.partition("enum class DType")[2].partition("}")[0]
    assert members == dict(re.findall(r"^  (\w+) = ([1-9]\d*),", enumeration, re.MULTILINE))
    assert (members["S8"], members["kFloat32"]) == ("16", "9")
    assert "def Npu_QuantizeResult_a : AnyTypeOf<[Npu_kFloat32]>;" in constraints
    assert "def Npu_QuantizeResult : AnyTypeOf<[Npu_S8]>;" in constraints


def test_mlir_tblgen_reads_the_constraints(tmp_path: Path) -> None:
    if (program := shutil.which("mlir-tblgen")) is None:
        pytest.skip("mlir-tblgen is not installed")
    include = Path(program).resolve().parent.parent / "include"
    files = emit_files(systems()["npu"], "mlir", ops=("matmul", "scaled_matmul", "quantize"), casts=True)

    def read(how: str) -> subprocess.CompletedProcess[str]:
        command = [program, how, "-I", str(include), "-I", ".", "test_npu_dtypes.td"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    write(tmp_path, files)
    for how in ("-gen-enum-decls", "-gen-op-decls", "-gen-op-defs"):
        assert read(how).returncode == 0, read(how).stderr
    files["npu_dtypes.td"] = files["npu_dtypes.td"].replace("def Npu_Cast :", "def Npu_Cost :")
    write(tmp_path, files)
    assert "Npu_Cast" in read("-gen-op-defs").stderr


def test_every_language_has_a_compiler_to_be_tested_with() -> None:
    assert {*PRINTERS_BY_LANGUAGE} - {*COMPILERS} == {"json", "mlir"}  # MLIR's header is that of C++
    assert {*PROBE_PRINTER_BY_LANGUAGE} == {*PROBED}


def test_the_names_of_written_files_are_printed_without_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emit", "jep9407-3", "--lang", "json", "-o", str(tmp_path / "a\x1b[31m")]) == 0
    assert capsys.readouterr().out.replace("\n", "").isprintable()
