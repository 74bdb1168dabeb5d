"""Stubs of a system: what a checker infers from them is what the system says, in every expression."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

import typelattice as tl
from typelattice.conformance.imitations.type_checkers import check_stubs
from typelattice.core.system_files.reader import parse
from typelattice.show.cli.main import main
from typelattice.study.codegen.stubs import StubFile, stub_file
from typelattice.study.codegen.tables import EmitError

MINE = """
name = "mine"
order = "b -> i8 -> i16 -> f32; i8 -> f16 -> f32"
defaults = { int = "i16", float = "f32" }
tiers = ["array", "scalar"]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stubs") / "mine.toml"
    path.write_text(MINE)
    return path


@pytest.fixture(scope="module")
def stubs(file: Path) -> StubFile:
    return stub_file(tl.system(file), ["add", "sqrt", "equal"])


def test_expressions_expect_what_the_system_says(stubs: StubFile, file: Path) -> None:
    mine = tl.system(file)
    assert stubs.expected["x_int8 + x_int16"] == f"Array[{mine.result_type('int8', 'int16')}]"
    assert stubs.expected["1.0 / x_int8"] == f"Array[{mine.promote('float', 'int8', op='divide').dtype}]"
    assert stubs.expected["x_float16 & x_int8"] == ""
    assert stubs.expected["sqrt(x_float32)"] == "Array[float32]"
    assert any("True" in expression for expression in stubs.expected)
    assert len(stubs.expected) > 500


def test_the_file_says_what_types_cannot(stubs: StubFile) -> None:
    assert all(f"# {note}" in stubs.text for note in stubs.omitted_names)
    assert any("value of a Python number" in note for note in stubs.omitted_names)
    jax = stub_file(tl.system("jax"), ["add"])
    assert any("a result is weak" in note for note in jax.omitted_names)


def test_overloads_are_joined_where_operands_answer_alike(stubs: StubFile) -> None:
    assert "def sqrt(x: Array[float32], /) -> Array[float32]: ..." in stubs.text
    assert "def __lt__(self: Array[int8 | int16 | float16 | float32], " in stubs.text
    assert stubs.overloads < len(stubs.expected) / 2


def test_a_dtype_that_no_class_can_be_called_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    fact = '{ kind = "float", bits = 8, max = 240.0, values = "unknown" }'
    bad.write_text(f'name = "bad"\ndtypes = {{ lambda = {fact} }}\norder = "lambda -> f32"\n')
    with pytest.raises(EmitError, match="'lambda' is no name that a class can have; rename the dtype"):
        stub_file(tl.system(bad))


def test_every_result_has_a_class() -> None:
    """The parts of complex64 are float32, which no operand of this file has. A checker took it for Any."""
    text = stub_file(parse('name = "parts"\norder = "i8 -> c64"'), ["abs"]).text
    used = {word for given in re.findall(r"Array\[([\w |]+)\]", text) for word in given.split(" | ")}
    assert used - {"D"} <= {*re.findall("(?m)^class (\\w+):", text)}
    assert "float32" in used


def test_an_operation_of_more_operands_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stubs", str(file), "--ops", "concat"]) == 2
    assert "concat is no function of one or two operands" in capsys.readouterr().err


def test_the_command_writes_the_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "mine.pyi"
    assert main(["stubs", str(file), "--ops", "add", "-o", str(written)]) == 0
    assert "overloads of mine" in capsys.readouterr().out
    assert main(["stubs", str(file), "--ops", "add"]) == 0
    assert capsys.readouterr().out == written.read_text()


@pytest.mark.live
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_checker_finds_the_stubs_exact_and_a_wrong_overload(checker: str, stubs: StubFile) -> None:
    pytest.importorskip(checker)
    assert check_stubs(checker, stubs.text, stubs.names, stubs.expected, 300) == []
    right = "def sqrt(x: Array[float32], /) -> Array[float32]: ..."
    wrong = stubs.text.replace(right, right.replace("-> Array[float32]", "-> Array[float16]"))
    assert check_stubs(checker, wrong, stubs.names, stubs.expected, 300) == [
        "sqrt(x_float32): Array[float16], expected Array[float32]"
    ]


def test_own_operations_reductions_and_where_are_written_by_default(tmp_path: Path) -> None:
    """With the parameters that the file declares, an axis, and a condition."""
    own = tmp_path / "own.toml"
    own.write_text(
        'name = "own"\norder = "b -> i8 -> i32 -> f32"\n[ops]\n'
        'quantize = { like = "positive", parameters = "scale, zero", kernels = "f32", gives = "i8" }\n'
        'scaled = { like = "matmul", operands = "left, right", parameters = "by", '
        'accumulates = { i8 = "i32" } }\n'
    )
    written = stub_file(tl.system(own))
    assert "def quantize(x: Array[float32], scale: builtins.object = ..., zero: builtins" in written.text
    assert written.expected["quantize(x_float32, scale=1, zero=1)"] == "Array[int8]"
    assert written.expected["quantize(x_float32)"] == written.expected["quantize(x_float32, scale=1, zero=1)"]
    assert written.expected["scaled(x_int8, x_int8, by=1)"] == "Array[int32]"
    assert written.expected["sum(x_int8, axis=0, keepdims=True)"] == written.expected["sum(x_int8)"]
    assert written.expected["where(x_bool, x_int8, x_float32)"] == "Array[float32]"
    assert written.expected["quantize(x_int8)"] == ""


@pytest.mark.live
def test_a_checker_finds_own_operations_exact(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'name = "own"\norder = "b -> i8 -> f32"\n[ops]\n'
        'quantize = { like = "positive", parameters = "scale", kernels = "f32", gives = "i8" }\n'
    )
    written = stub_file(tl.system(own))
    assert check_stubs("mypy", written.text, written.names, written.expected, 600) == []
    wrong = written.text.replace("scale: builtins.object", "scal: builtins.object")
    assert check_stubs("mypy", wrong, written.names, written.expected, 600)
