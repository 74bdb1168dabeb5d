"""Tables that are kept by hand are read without running them, and every wrong cell is named by its line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import refused

import typelattice as tl
from typelattice.show.cli.main import main
from typelattice.study.codegen.emit import emit_files

NAMES = '[names]\nu1 = "uint8"\ni1 = "int8"\ni2 = "int16"\nf2 = "float16"\n'
GRID = "kind = 'grid'\nafter = 'lookup ='\naxis = 'u1 i1 i2 f2'\n" + NAMES
CPP = """// lookup of dtypes
auto lookup = {
    /* u1 */ {u1, i2, i2, f2},
    /* i1 */ {i2, i1, i2, f2},  // {u1}, a comment
    /* i2 */ {i2, i2, i2, f2},
    /* f2 */ {f2, f2, f2, f2},
};
"""
PYTHON = """lookup = [  # [u1]
    [u1, i2, i2, f2],
    [i2, i1, i2, f2],
    [i2, i2, i2, f2],
    [f2, f2, f2, f2],
]
"""
RUST = """match (a, b) {
    (Int8, UInt8) => Some(Int16),
    (Int8, Float16 | Int16) if wide() => Some(Float16),
    (Int8 | UInt8, Int16) => Some(Int16),
    (Int16, Int16) => Some(Int16),
    (_, Float16) => Some(Float16),
    (UInt8, _) => Some(UInt8),
}
"""
ARMS = r"""kind = "pairs"
after = "match (a, b)"
entry = '\((?P<left>[^,()]+),(?P<right>[^()]+)\)\s*(?P<guard>if [^=]*)?=>\s*Some\((?P<result>\w+)\)'
guard = '\bif\b'
symmetric = true
[names]
Int8 = "int8"
UInt8 = "uint8"
Int16 = "int16"
Float16 = "float16"
"""
Lint = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def lint(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Lint:
    monkeypatch.chdir(tmp_path)

    def run(file: str, text: str, form: str, *options: str) -> tuple[int, list[str]]:
        Path(file).write_text(text, encoding="utf-8")
        Path("form.toml").write_text(form, encoding="utf-8")
        against = () if "--against" in options else ("--against", "torch")
        status = main(["lint", file, "--form", "form.toml", *against, *options])
        return status, capsys.readouterr().out.splitlines()

    return run


@pytest.mark.parametrize(
    ("file", "text", "form"),
    [("a.cpp", CPP, GRID), ("a.py", PYTHON, f"comments = 'python'\n{GRID}")],
)
def test_a_right_grid_has_no_difference(lint: Lint, file: str, text: str, form: str) -> None:
    assert lint(file, text, form) == (0, ["16 cells compared, 0 differ from torch, 0 not read"])


def test_each_wrong_cell_is_named_by_its_own_line(lint: Lint) -> None:
    status, lines = lint("a.cpp", CPP.replace("/* i1 */ {i2, i1", "/* i1 */ {i1,\n i1"), GRID)
    assert status == 1
    assert lines[0].startswith("a.cpp:4: int8 with uint8 is int8; int16 by torch.toml, line ")
    assert lines[0].endswith(", observed int16")
    assert lines[1:] == ["16 cells compared, 1 differ from torch, 0 not read"]


def test_a_known_difference_is_allowed_and_no_other(lint: Lint) -> None:
    wrong = CPP.replace("/* i1 */ {i2", "/* i1 */ {i1")
    Path("known.toml").write_text('[allow]\n"int8 + uint8" = "int8"\n', encoding="utf-8")
    assert lint("a.cpp", wrong, GRID, "--allow", "known.toml")[0] == 0
    assert lint("a.cpp", wrong.replace("{i1, i1", "{f2, i1"), GRID, "--allow", "known.toml")[0] == 1


def test_a_known_difference_of_no_cell_is_refused(lint: Lint, capsys: pytest.CaptureFixture[str]) -> None:
    entry = '"int8 + uint9" = "int8"\n'
    Path("known.toml").write_text(f"[allow]\n{entry}", encoding="utf-8")
    assert lint("a.cpp", CPP, GRID)[0] == 0
    line = ("lint", "a.cpp", "--form", "form.toml", "--against", "torch")
    known = "known.toml, line 2, allow: the table has no cell 'int8 + uint9'"
    assert known in refused(capsys, *line, "--allow", "known.toml")
    Path("form.toml").write_text(GRID.replace("[names]", f"[before]\n{entry}[names]"), encoding="utf-8")
    assert "form.toml, line 5, before: the table has no cell 'int8 + uint9'" in refused(capsys, *line)


def test_what_the_code_answers_before_the_table_counts(lint: Lint) -> None:
    wrong = CPP.replace("/* i1 */ {i2", "/* i1 */ {i1").replace("/* u1 */ {u1, i2", "/* u1 */ {u1, i1")
    before = GRID.replace("[names]", '[before]\n"int8 + uint8" = "int16"\n[names]')
    assert lint("a.cpp", wrong, GRID)[0] == 1
    assert lint("a.cpp", wrong, before)[0] == 0


def test_the_first_arm_counts_and_arms_with_guards_are_not_read(lint: Lint) -> None:
    status, lines = lint("a.rs", RUST, ARMS)
    assert status == 0
    assert lines == [
        "a.rs:3: not read: (Int8, Float16 | Int16) if wide() => Some(Float16)",
        "9 cells compared, 0 differ from torch, 1 not read",
    ]


def test_an_arm_that_cannot_be_read_hides_those_behind_it(lint: Lint) -> None:
    """What a program answers to such a pair is not known, and no later arm says it."""
    arms = RUST.replace("(Int8, UInt8) => Some(Int16)", "(Int8, UInt8) => Some(Decimal)")
    status, lines = lint("a.rs", arms, ARMS)
    assert status == 0
    assert lines[0] == "a.rs:2: not read: Int8 with UInt8 is Decimal"
    assert lines[-1].startswith("8 cells compared, 0 differ from torch")


def test_a_table_may_have_dtypes_that_only_the_system_knows(lint: Lint) -> None:
    Path("mine.toml").write_text(
        'name = "mine"\norder = "q7 -> decimal -> f32"\n[dtypes]\n'
        'q7 = { kind = "float", bits = 8, values = "unknown" }\n'
        '[dtypes.decimal]\nkind = "float"\nbits = 64\njoins = { s = "max(s)", p = "max(p)" }\n'
        'parameters = { p = "1 to 9 digits", s = "0 to p decimals" }\nfrom = { q7 = "3, 0" }\n',
        encoding="utf-8",
    )
    table = "dtype,q7,f32\nq7,q7,q7\nf32,f32,f32\n"
    _, lines = lint("a.csv", table, "kind = 'grid'", "--against", "mine.toml")
    assert lines == [
        "a.csv:2: q7 with float32 is q7; float32 by mine.toml, line 2",
        "4 cells compared, 1 differ from mine, 0 not read",
    ]
    form = "kind = 'grid'\nskip = 'f32'\n[names]\nD = 'decimal(3,0)'\n"
    _, lines = lint("a.csv", table.replace("q7,q7,q7", "q7,D,q7"), form, "--against", "mine.toml")
    assert lines[0] == "a.csv:2: q7 with q7 is decimal(3,0); q7 by mine.toml, line 2"


def test_covers_are_joined_as_an_order(lint: Lint) -> None:
    form = "kind = 'covers'\nafter = 'above ='\ncomments = 'python'\n"
    text = "above = {\n 'uint8': ['int16'], 'int8': ['int16'],\n 'int16': ['float16'], }"
    assert lint("a.py", text, form) == (0, ["10 cells compared, 0 differ from torch, 0 not read"])
    status, lines = lint("a.py", text.replace("'int8': ['int16']", "'int8': ['uint8']"), form)
    assert status == 1
    assert lines[0].startswith("a.py:2: uint8 with int8 is uint8; int16 by torch.toml")


IN_C = "above = {\n {U8, {I16}},\n {I8, {I16}},\n {I16, {F16}}, {F16, {}} };"
IN_RUST = "above = &[\n (I::U8, &[I::I16]),\n (I::I8, vec![I::I16]),\n I::I16 => I::F16, I::F16 => &[] ];"
NAMES_IN_C = "".join(
    f'"{mark}{code}" = "{d}"\n'
    for mark in ("", "I::")
    for code, d in (("U8", "uint8"), ("I8", "int8"), ("I16", "int16"), ("F16", "float16"))
)
COVERS_IN_C = f"kind = 'covers'\nafter = 'above ='\n[names]\n{NAMES_IN_C}"


@pytest.mark.parametrize("text", [IN_C, IN_RUST])
def test_covers_are_read_in_other_languages(lint: Lint, text: str) -> None:
    assert lint("a.cpp", text, COVERS_IN_C) == (0, ["10 cells compared, 0 differ from torch, 0 not read"])
    i8, i16, f16 = (f"I::{code}" if "I::" in text else code for code in ("I8", "I16", "F16"))
    status, lines = lint("a.cpp", re.sub(rf"({i8}, .*?){i16}", rf"\g<1>{f16}", text), COVERS_IN_C)
    assert status == 1
    assert lines[0].startswith("a.cpp:2: uint8 with int8 is float16; int16 by torch.toml")


def test_an_entry_that_is_not_read_leaves_only_its_joins_unknown(lint: Lint) -> None:
    status, lines = lint("a.cpp", IN_C.replace("{I8, {I16}}", "{I8, {I16, X}}"), COVERS_IN_C)
    assert (status, lines) == (
        0,
        [
            "a.cpp:3: not read: {I8, {I16, X}}",
            "a.cpp:2: not read: uint8 with int8, because of line 3",
            "9 cells compared, 0 differ from torch, 2 not read",
        ],
    )
    status, lines = lint("a.cpp", IN_C.replace("{F16, {}}", "{F16, {X}}"), COVERS_IN_C)
    assert lines[-1] == "10 cells compared, 0 differ from torch, 1 not read"


def test_an_entry_that_stands_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cpp").write_text(IN_C.replace("{I8, ", "{U8, "), encoding="utf-8")
    form = tmp_path / "form.toml"
    form.write_text(COVERS_IN_C, encoding="utf-8")
    line = ("lint", str(tmp_path / "a.cpp"), "--form", str(form), "--against", "torch")
    assert "line 3: uint8 stands in line 2 already; remove one" in refused(capsys, *line)


WEAK = """above = {
 'bool': ['i*'], 'i*': ['uint8', 'int8'], 'uint8': ['int16'],
 'int8': ['int16'], 'int16': ['f*'],
 'f*': ['float16', 'bfloat16'], 'float16': ['float32'], 'bfloat16': ['float32'], 'float32': ['float64'],
}"""
COVERS = "kind = 'covers'\nafter = 'above ='\ncomments = 'python'\nnames = { 'i*' = 'i*', 'f*' = 'f*' }\n"


def test_weak_nodes_of_an_order_count_by_their_defaults(lint: Lint) -> None:
    jax = ("--against", "jax")
    assert lint("a.py", WEAK, COVERS, *jax) == (0, ["36 cells compared, 0 differ from jax, 0 not read"])
    wrong = WEAK.replace("'int8': ['int16']", "'int8': ['f*']")
    status, lines = lint("a.py", wrong, COVERS, *jax)
    assert (status, lines[-1]) == (1, "36 cells compared, 2 differ from jax, 0 not read")
    assert lines[0].startswith("a.py:2: uint8 with int8 is float64; int16 by jax.toml")


def test_cells_that_are_not_read_fail_if_one_asks(lint: Lint) -> None:
    form = COVERS.replace("'f*' = 'f*'", "'f*' = 'u*'")  # torch has no default of unsigned integers
    for options, status in (((), 0), (("--strict",), 1)):
        found, lines = lint("a.py", "above = { 'uint8': ['f*'], 'int8': ['f*'], }", form, *options)
        assert (found, lines[-1]) == (status, "2 cells compared, 0 differ from torch, 1 not read")


def test_a_wrong_order_is_refused_with_its_line(
    lint: Lint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cycle = WEAK.replace("'float32': ['float64'],", "\n 'float32': ['float64'],\n 'float64': ['float32'],")
    (tmp_path / "a.py").write_text(cycle, encoding="utf-8")
    (tmp_path / "form.toml").write_text(COVERS, encoding="utf-8")
    said = refused(capsys, "lint", "a.py", "--form", "form.toml", "--against", "jax")
    assert "a.py, line 5: a cycle: float32 -> float64 -> float32" in said


@pytest.mark.parametrize("style", ["markdown", "csv"])
def test_the_tables_that_we_print_are_read_back(
    lint: Lint, style: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--dtypes=int8,uint8,float16,uint16", "--codes=names", f"--format={style}")
    assert main(["table", "--system", "torch", *options]) == 0
    text = capsys.readouterr().out
    status, lines = lint(f"a.{'csv' if style == 'csv' else 'md'}", text, "kind = 'grid'\nrefused = '-'\n")
    assert (status, lines[-1]) == (0, "16 cells compared, 0 differ from torch, 0 not read")


def test_emitted_code_lints_clean(lint: Lint) -> None:
    files = emit_files(tl.system("torch"), "c11", tiers=["array"])
    system = tl.system("torch")
    axis = [str(d) for d in system.dtypes]
    names = "".join(f'"{i}" = "{name}"\n' for i, name in enumerate(axis, 1))
    size = len(axis) + 1  # a refusal has the index 0
    form = f"kind = 'grid'\nafter = 'torch_promote_table[{size}][{size}] ='\nrefused = '0'\nskip = '0'\n"
    form += f"axis = '{' '.join(map(str, range(size)))}'\n[names]\n{names}"
    status, lines = lint("a.h", files["torch_dtypes.h"], form)
    assert (status, lines[-1]) == (0, f"{len(axis) ** 2} cells compared, 0 differ from torch, 0 not read")


def test_differences_are_data_too(lint: Lint) -> None:
    wrong = CPP.replace("/* i1 */ {i2", "/* i1 */ {i1")
    (difference,) = json.loads("\n".join(lint("a.cpp", wrong, GRID, "--format", "json")[1]))["differences"]
    assert (difference["line"], difference["operands"]) == (4, ["int8", "uint8"])
    assert (difference["stated"], difference["expected"]) == ("int8", "int16")
    (run,) = json.loads("\n".join(lint("a.cpp", wrong, GRID, "--format", "sarif")[1]))["runs"]
    (result,) = run["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("\nknd = 'grid'", "form.toml, line 2: unknown key 'knd'"),
        ("kind = 'tree'", "kind is one of grid, pairs, covers"),
        (GRID.replace("lookup =", "nowhere"), "there is no 'nowhere', after which the table begins"),
        (GRID.replace("u1 i1", "u1"), "line 3: the table has 4 rows, the axis 3 words"),
        (GRID.replace("int16", "int61"), "form.toml, line 7, names: unknown dtype 'int61'"),
        ("kind = 'pairs'\nentry = '('", "entry or guard is no regular expression"),
        ("kind = 'pairs'\nentry = 'x'", "with the groups left, right and result"),
        ("kind = 3", "kind is one of"),
        ("kind = 'grid'\nnames = 3", "names is a table"),
    ],
)
def test_a_form_that_says_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, why: str
) -> None:
    (tmp_path / "a.cpp").write_text(CPP, encoding="utf-8")
    (tmp_path / "form.toml").write_text(form, encoding="utf-8")
    line = ("lint", str(tmp_path / "a.cpp"), "--form", str(tmp_path / "form.toml"), "--against", "torch")
    assert why in refused(capsys, *line)
