"""Lines as people write them in Go, WGSL, Fortran and Octave: the compiler and the rule agree."""
from __future__ import annotations

import subprocess
from functools import partial

import pytest

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import answer_as_recorded
from typelattice.conformance.recording.library_process import LibraryProcess
from typelattice.conformance.recording.load_library import load_library

pytestmark = pytest.mark.live

REFUSED = "-"

# The operation, its operands, and what the language's own documents say of such a line.
LINES = {
    "go": [
        ("add", ("int8", "int"), "int8"),
        ("add", ("int8", "300"), REFUSED),  # constant 300 overflows int8
        ("add", ("int8", "1.5"), REFUSED),  # truncated
        ("add", ("int8", "int16"), REFUSED),  # mismatched types
        ("add", ("int64", "native_int"), REFUSED),  # int is no alias of int64
        ("add", ("int", "float"), "float64*"),
        ("+=", ("float32", "int"), "float32"),
        ("setitem", ("uint8", "int16"), REFUSED),
        ("bitwise_left_shift", ("int8", "uint64"), "int8"),
        ("equal", ("uint8", "256"), REFUSED),
        ("sqrt", ("float32",), REFUSED),  # math.Sqrt takes a float64
    ],
    "wgsl": [
        ("add", ("float32", "int"), "float32"),
        ("add", ("int32", "float"), REFUSED),
        ("add", ("uint32", "-1"), REFUSED),
        ("add", ("int32", "uint32"), REFUSED),
        ("bitwise_left_shift", ("int32", "uint32"), "int32"),
        ("bitwise_left_shift", ("int32", "int32"), REFUSED),
        ("+=", ("float16", "65520.0"), REFUSED),
        ("where", ("float16", "int"), "float16"),
    ],
    "fortran": [
        ("add", ("int8", "300"), "int32"),  # a literal has 32 bits
        ("add", ("int64", "float32"), "float32"),
        ("add", ("complex64", "float64"), "complex128"),
        ("divide", ("int8", "int16"), "int16"),
        ("bitwise_and", ("int8", "int16"), REFUSED),  # iand wants one kind
        ("setitem", ("int8", "complex128"), "int8"),
        ("equal", ("bool", "bool"), REFUSED),  # .eqv.
        ("floor", ("float64",), "int32"),
    ],
    "octave": [
        ("add", ("int8", "300"), "int8"),  # and its value is 127
        ("add", ("int8", "float64"), "int8"),
        ("add", ("int8", "int16"), REFUSED),
        ("add", ("bool", "bool"), "float64"),
        ("multiply", ("float32", "float64"), "float32"),
        ("concat", ("int16", "int8"), "int16"),
        ("concat", ("int8", "int16"), "int8"),
        ("maximum", ("uint8", "uint16"), "uint16"),
        ("+=", ("float64", "int8"), "int8"),
        ("add", ("int8", "complex128"), REFUSED),
    ],
}


@pytest.mark.parametrize("name", LINES)
def test_lines_as_people_write_them(name: str) -> None:
    questions = [(op, operands) for op, operands, _ in LINES[name]]
    with LibraryProcess(partial(load_library, name), 60) as asked:
        operands = {operand for _, of in questions for operand in of}
        assert operands <= {*asked.catalogue.operands}
        answers = [REFUSED if answer.startswith("!") else answer for answer, _ in asked.answers(questions)]
    said = [answer for _, _, answer in LINES[name]]
    assert dict(zip(questions, answers, strict=True)) == dict(zip(questions, said, strict=True))
    ours = [answer_as_recorded(tl.system(name).explain(*of, op=op)) for op, of in questions]
    assert dict(zip(questions, ours, strict=True)) == dict(zip(questions, said, strict=True))


def test_integers_of_octave_saturate() -> None:
    """The rule computes in double: the sum, and not the operand, is cast to the integer."""
    program = "disp([int8(100) + 300, int8(-100) + 300, int8(-100) + 150, uint8(3) - 5, int8(7) / 2])"
    run = subprocess.run(["octave-cli", "-q", "--eval", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["127", "127", "50", "0", "4"]


def test_a_language_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    commands = {
        "go": "go", "fortran": "gfortran", "octave": "octave-cli", "java": "javac", "csharp": "mcs",
        "opencl": "clang", "cuda": "nvcc",
    }  # fmt: skip
    for name, command in commands.items():
        with pytest.raises(ImportError, match=f"there is no {command} here"):
            load_library(name)
