"""Stubs as an implementation: types read as dtypes, and what a checker prints read as types."""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from typelattice.conformance.imitations import stub_implementation, type_checkers
from typelattice.conformance.imitations.alternative_implementations.numpy_stub_types import answer_of_type
from typelattice.conformance.imitations.implementation import implementations
from typelattice.conformance.imitations.implementation_differences import questions_of_both
from typelattice.conformance.imitations.stub_implementation import StubImplementation
from typelattice.conformance.imitations.type_checkers import EXPRESSIONS_FILE, InferredType, infer_types
from typelattice.conformance.recording.ask_in_parallel import AnswerProcessPool
from typelattice.conformance.recording.in_process_library import Catalogue
from typelattice.conformance.recording.library import CannotAskError, MissingLibraryError
from typelattice.core.operations.operations import make_custom_operation

OF_MYPY = f"""\
{EXPRESSIONS_FILE}:2: note: Revealed type is "numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.float64]]"
{EXPRESSIONS_FILE}:3: error: Unsupported operand types for & ("int" and "str")  [operator]
{EXPRESSIONS_FILE}:3: note: Revealed type is "Any"
operands.pyi:3: error: elsewhere
"""
SCALAR = "numpy.floating[numpy._typing._nbit_base._32Bit]"


@pytest.mark.parametrize(
    "type_, answer",
    [
        (f"numpy.ndarray[tuple[Any, ...], numpy.dtype[{SCALAR}]]", "float32:array"),
        ("ndarray[tuple[int], dtype[float64]]", "float64:array"),
        (SCALAR, "float32:scalar"),
        ("numpy.complexfloating[_nbit_base._32Bit, numpy._typing._nbit_base._32Bit]", "complex64:scalar"),
        ("numpy.signedinteger[_nbit_base._32Bit | numpy._typing._nbit_base._64Bit]", "int64:scalar"),
        ("numpy.bool[builtins.bool]", "bool:scalar"),
        ("numpy.dtype[numpy.bool[bool]]", "bool"),
        ("builtins.int", "py:int"),
        ("Any", "?Any"),
        ("numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.floating[Any]]]", "?floating:array"),
        ("numpy.floating[Any]", "?floating:scalar"),
        ("numpy.float64 | numpy.complex128", "?complex128 or float64:scalar"),
        ("numpy.float64 | ndarray[tuple[Any, ...], dtype[float64]]", "float64"),
        ("ndarray[tuple[Any, ...], dtype[numpy.floating[_64Bit | _96Bit | _128Bit]]]", "longdouble:array"),
        ("complexfloating[_64Bit | _96Bit | _128Bit, _64Bit | _96Bit | _128Bit]", "clongdouble:scalar"),
        ("tuple[numpy.ndarray[tuple[int], numpy.dtype[numpy.uint8]], numpy.float64]", "uint8:array"),
        ("", "?Any"),
    ],
)
def test_a_type_says_an_answer_or_leaves_it_open(type_: str, answer: str) -> None:
    assert answer_of_type(type_) == answer


def printed(monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    monkeypatch.setattr(type_checkers, "find_spec", lambda _: True)
    monkeypatch.setattr(type_checkers, "_run_checker", lambda *_: (output, ""))


def test_what_each_checker_prints_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    types = [
        InferredType("numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.float64]]", ""),
        InferredType("", 'Unsupported operand types for & ("int" and "str")  [operator]'),
        InferredType("", ""),
    ]
    printed(monkeypatch, OF_MYPY)
    assert [*infer_types("mypy", "", [], ["x", "y", "z"], 1)] == types
    told = [
        (1, "information", f'Type of "x" is "{types[0].type}"'),
        (2, "error", types[1].error + "\nand more"),
    ]
    diagnostics = [
        {"file": f"/tmp/{EXPRESSIONS_FILE}", "range": {"start": {"line": n}}, "severity": s, "message": text}
        for n, s, text in told
    ]
    printed(monkeypatch, json.dumps({"generalDiagnostics": diagnostics}))
    assert [*infer_types("basedpyright", "", [], ["x", "y", "z"], 1)] == [
        types[0], types[1]._replace(error=types[1].error), types[2],
    ]  # fmt: skip


@pytest.mark.parametrize("checker", type_checkers.CHECKER_NAMES)
def test_a_checker_that_says_nothing_is_an_error(checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printed(monkeypatch, "usage: ...")
    with pytest.raises(CannotAskError, match=f"{checker} cannot be asked: it says usage: ..."):
        list(infer_types(checker, "", [], ["x"], 1))


def test_a_checker_that_is_missing_or_slow_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(type_checkers, "find_spec", lambda _: None)
        with pytest.raises(MissingLibraryError, match="it is not installed; pip install mypy"):
            list(infer_types("mypy", "", [], ["x"], 1))

    def slow(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("mypy", 1)

    printed(monkeypatch, "")
    monkeypatch.setattr(type_checkers, "_run_checker", slow)
    with pytest.raises(CannotAskError, match="mypy gave no answer within 1 seconds"):
        list(infer_types("mypy", "", [], ["x"], 1))


def test_expressions_are_asked_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[str] = []

    def run(command: Sequence[str], folder: str, *_: object) -> tuple[str, str]:
        folders.append(folder)
        _, *lines = Path(folder, EXPRESSIONS_FILE).read_text().splitlines()
        types = [line.partition("reveal_type(")[2].rstrip(")") for line in lines]
        told = [f'{EXPRESSIONS_FILE}:{n}: note: Revealed type is "{each}"' for n, each in enumerate(types, 2)]
        return "\n".join(told), ""

    printed(monkeypatch, "")
    monkeypatch.setattr(type_checkers, "_run_checker", run)
    monkeypatch.setattr(type_checkers, "EXPRESSIONS_PER_RUN", 2)
    assert [each.type for each in infer_types("mypy", "", [], [*"vwxyz"], 1)] == [*"vwxyz"]
    assert len(folders) == 3 and len({*folders}) == 1  # so that a run may use what the first has read


def test_a_checker_that_is_ended_from_another_thread_ends_with_its_own_processes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As basedpyright, which starts another program."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    with pytest.raises(CannotAskError, match="it says nothing"):
        monkeypatch.setattr(type_checkers, "find_spec", lambda _: True)
        monkeypatch.setitem(type_checkers.ARGUMENTS_BY_CHECKER, "mypy", ())
        (tmp_path / "mypy.py").write_text(code, encoding="ascii")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        end = type_checkers.end_checker
        list(
            infer_types(
                "mypy", "", [], ["x"], 600, on_start=lambda process: Timer(0.5, end, [process]).start()
            )
        )


class Library:
    """The catalogue of a library in a process, without the process."""

    def __exit__(self, *_: object) -> None: ...

    catalogue = Catalogue(
        "numpy", {}, "", sys.version, ("int8", "float32"),
        ("int8", "float32", "int8:0d", "int8:scalar", "int", "300", "float:list"),
        ("add", "+", "+=", "inv", "sum", "dot", "reduceat_add"), ("add",), (),
        {
            "add": "numpy.add", "inv": "numpy.linalg.inv", "sum": "numpy.sum",
            "reduceat_add": "numpy.add.reduceat({}, [0])",
        },
        {"reduceat_add": make_custom_operation("reduceat_add", "sum")},
    )  # fmt: skip


def test_calls_are_written_as_expressions(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    asked: list[Sequence[str]] = []

    def answered(
        checker: str, setup: str, names: Sequence[str], these: Sequence[str], limit: float, **_: object
    ) -> Iterator[InferredType]:
        asked.append(these)
        assert "array_int8: numpy.typing.NDArray[numpy.int8]" in names
        assert "scalar_int8: numpy.int8" in names
        assert "list_float: list[float]" in names
        yield from [InferredType("numpy.int8", "")] * len(these)

    monkeypatch.setattr(stub_implementation, "infer_types", answered)
    monkeypatch.setattr(stub_implementation, "versions_of", lambda *_: {"mypy": "2.0"})
    monkeypatch.setattr(type_checkers, "find_spec", lambda _: True)
    library: Any = Library()
    has = StubImplementation("mypy", library, implementations()["numpy-stubs"], 1)
    request.addfinalizer(has.__exit__)
    assert has.catalogue.operands == ("int8", "float32", "int8:scalar", "int", "float:list")
    assert has.catalogue.operations == ("add", "+", "inv", "sum", "reduceat_add")
    questions = [
        ("add", ("int8", "int")), ("+", ("int8:scalar", "float32")), ("inv", ("float32",)),
        ("reduceat_add", ("float:list",)),
    ]  # fmt: skip
    found: Iterator[tuple[str, str]] = has.answers(questions)
    assert list(found) == [("int8:scalar", "")] * 4
    assert asked == [[
        "numpy.add(array_int8, 1)", "scalar_int8 + array_float32",
        "numpy.linalg.inv(array_float32)", "numpy.add.reduceat(list_float, [0])",
    ]]  # fmt: skip


def test_stubs_are_asked_in_batches_for_which_the_checker_keeps_its_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker of a cluster returns its answers at the end of a task, and the next run goes on from there."""
    folders: list[str] = []

    def answered(*args: Any, folder: str, **_: object) -> Iterator[InferredType]:
        folders.append(folder)
        yield from [InferredType("numpy.int8", "")] * len(args[3])

    monkeypatch.setattr(stub_implementation, "infer_types", answered)
    monkeypatch.setattr(stub_implementation, "versions_of", lambda *_: {"mypy": "2.0"})
    monkeypatch.setattr(type_checkers, "find_spec", lambda _: True)
    assert StubImplementation.batch_size < 10_000
    monkeypatch.setattr(StubImplementation, "batch_size", 2)
    library: Any = Library()
    questions = [(op, (operand, "int8")) for op in ("add", "+") for operand in ("int8", "float32")]
    with AnswerProcessPool(
        lambda: StubImplementation("mypy", library, implementations()["numpy-stubs"], 1)
    ) as asked:
        assert len([*asked.answers(questions)]) == len(questions)
        assert len(folders) == 2 and len({*folders}) == 1
        assert Path(folders[0]).is_dir()
    assert not Path(folders[0]).exists()


def test_scalars_and_lists_are_asked_what_arrays_are() -> None:
    has = replace(Library.catalogue, multi_operand_operations=())
    typed = tuple(operand for operand in has.operands if operand not in ("int8:0d", "300"))
    asked = {*questions_of_both(replace(has, operands=typed), has)}
    assert {("add", ("int8:scalar", "int")), ("add", ("float:list", "int8"))} <= asked
    assert {operands for op, operands in asked if op == "reduceat_add"} == {
        ("int8",), ("float32",), ("float:list",),
    }  # fmt: skip


def test_stubs_without_their_checker_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type_checkers, "find_spec", lambda _: None)
    library: Any = Library()
    with pytest.raises(MissingLibraryError, match="it is not installed; pip install mypy"):
        StubImplementation("mypy", library, implementations()["numpy-stubs"], 1)
