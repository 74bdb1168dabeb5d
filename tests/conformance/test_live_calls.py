"""Calls that no table describes are asked of the library itself, which may break down."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pytest

import typelattice as tl
from typelattice.conformance.recording import live_libraries
from typelattice.conformance.recording.live_calls import UnclearError, take_part
from typelattice.conformance.recording.live_libraries import LiveLibraries, LiveProcess
from typelattice.programs.calls.library_questions import FORBID_VARIABLE, AskedOperand, LibraryQuestion
from typelattice.programs.calls.steps import Input, LibraryCall, LibraryObject, Pairs, Ref
from typelattice.programs.program.program import Program
from typelattice.show.cli.main import main


@pytest.fixture
def asker() -> Iterator[LiveLibraries]:
    made = LiveLibraries()
    yield made
    made.close()


def question(name: str, *args: object, **keywords: object) -> LibraryQuestion:
    return LibraryQuestion(name, args, tuple(keywords.items()), ())


def outcome(text: str, system: str = "numpy", **bound: str) -> str:
    replay = tl.program(text, tl.system(system), **bound).under(system)
    return f"{replay.result} {replay.result.asked or replay.result.reason}"


@pytest.mark.parametrize(
    "text, given, expected",
    [
        ("np.sort_complex(x)", "bool", "complex128 asked of numpy"),
        ("np.real_if_close(x)", "float32", "float32 asked of numpy"),
        ("np.real_if_close(x[0])", "float32[3]", "float32 asked of numpy"),
        ("np.empty(x)", "float32[3]", "refused asked of numpy"),
        ("np.divmod(x, 2, casting='no')[1]", "int8", "int8 asked of numpy"),
        ("np.bmat([x, x])", "float32[2,2]", "float32 asked of numpy"),
        ("x.byteswap()", "int16", "int16 asked of numpy"),
        ("np.iterable(x)", "int8", "Python bool asked of numpy"),
        ("np.real_if_close(x[0] + x)", "float32[?,3]", "float32 asked of numpy"),
        ("np.poly1d([1.0, 2.0])(x)", "float32[3]", "float64 asked of numpy"),
        ("np.poly1d([1.0, 2.0]).deriv()(x)", "float32[3]", "float64 asked of numpy"),
        ("np.real_if_close(np.ma.masked_array(x, [True, False]).filled())", "int8[2]", "int8 asked of numpy"),
    ],
)
def test_an_unknown_call_has_the_librarys_answer(text: str, given: str, expected: str) -> None:
    assert outcome(text, x=given).startswith(expected)


def test_a_call_of_an_object_is_written_and_read_back() -> None:
    """Objects, functions and dictionaries stand among the arguments."""
    made = LibraryObject("np.poly1d", ((1.0, 2.0),), (("variable", "z"),), ("deriv",))
    args = (LibraryObject("()", (made,)), Ref(0), LibraryObject("np.sum"), Pairs(((0, Ref(0)),)))
    steps = (Input("float32", text="x"), LibraryCall("()", args, (), text="f(x)"))
    whole = Program(steps, (1,), "source")
    assert "np.poly1d((1.0, 2.0), variable='z').deriv()(x, np.sum, {0: x})" in str(whole)
    assert Program.from_json(whole.to_json()).steps == steps


def test_no_private_attribute_and_no_module_is_taken() -> None:
    holder = SimpleNamespace(os=os, _own=1)
    assert take_part((1, 2), 1) == 2
    for part in ("os", "_own"):
        with pytest.raises(UnclearError):
            take_part(holder, part)
    with pytest.raises(UnclearError, match="of a module"):
        take_part(os, "getpid")


def test_the_answer_says_which_version_was_asked() -> None:
    import numpy

    assert outcome("np.real_if_close(x)", x="float32") == (
        f"float32 asked of numpy {numpy.__version__} just now"
    )


def test_several_results_are_taken_by_number_or_name() -> None:
    for text in ("np.histogram2d(x, x)[1] * 2", "h, edges, _ = np.histogram2d(x, x)\nedges * 2"):
        assert str(tl.program(text, x="int8").under("numpy").result) == "float64"
    assert str(tl.program("np.ma.MaskedArray(x).data * 2", x="int8").under("numpy").result) == "int8"


def test_other_systems_do_not_know_the_call() -> None:
    p = tl.program("np.real_if_close(x)", x="float32")
    why = "torch has no rule for np.real_if_close, a function of numpy"
    assert p.under("torch").result.reason == why
    assert "cannot be asked" in str(p.under("numpy1").result.reason)


def test_a_call_that_no_dtype_makes_right_is_refused_with_the_librarys_reason() -> None:
    with pytest.raises(tl.ProgramError, match=r"numpy [\d.]+ refuses it: TypeError: .*unexpected keyword"):
        tl.program("np.real_if_close(x, sideways=1)", x="float32")
    with pytest.raises(tl.ProgramError, match=r"gives a .*, which is no array of numbers"):
        tl.program("np.min_scalar_type(x) * 2", x="int8")
    with pytest.raises(tl.ProgramError, match="unknown function 'spacinng'"):
        tl.program("np.spacinng(x)", x="float32")


def test_nobody_is_asked_if_the_user_forbids_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORBID_VARIABLE, "no")
    with pytest.raises(tl.ProgramError, match="unknown function 'real_if_close'"):
        tl.program("np.real_if_close(x)", x="float32")


def test_an_asked_program_reads_back_from_text_and_json() -> None:
    p = tl.program("np.real_if_close(x) * np.packbits(x > 0, axis=-1)[0]", x="float32[4]")
    again = (p, tl.program(str(p)), tl.Program.from_json(p.to_json()))
    assert [str(each.under("numpy").result) for each in again] == ["float32"] * 3


def test_a_question_writes_and_starts_nothing(asker: LiveLibraries, tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    array = AskedOperand("float32", (2,))
    for asked in (
        question("np.savetxt", str(file), array),
        question("np.save", str(file), array),
        question(".tofile", array, str(file)),
        question("np.testing.measure", f"open({str(file)!r}, 'w')"),
    ):
        assert "is not passed on: it may name a file" in asker.ask("numpy", asked).message
    assert "opens no files" in asker.ask("numpy", question("np.save", "out", array)).message
    assert not [*tmp_path.iterdir()]
    for code in ("print(1)", "import os", "x = 1", "x\ny", "__import__('os')", "a" * 101, "../x", "~", "C:x"):
        assert "may name a file, or be code" in asker.ask("numpy", question("np.einsum", code, array)).message
    for text in ("i,i->i", "...i, ...i -> ...i"):
        assert asker.ask("numpy", question("np.einsum", text, array, array)).answer == "float32"


@pytest.mark.parametrize(
    "name", ["np.os.getcwd", "np.__name__", "np._globals", "np.ctypeslib.os.system", "np.x.__class__", "np"]
)
def test_a_name_that_leads_out_of_the_library_is_no_function(asker: LiveLibraries, name: str) -> None:
    assert not asker.has_function("numpy", name)


def test_a_library_that_hangs_or_dies_costs_that_question(
    monkeypatch: pytest.MonkeyPatch, asker: LiveLibraries
) -> None:
    asked = question("np.real_if_close", AskedOperand("float32", None))
    process = asker._process("numpy")
    assert process.request("has", "np.real_if_close") is True
    assert process.process is not None
    process.process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(live_libraries, "CALL_SECONDS", 0.3)
    assert asker.ask("numpy", asked).answer == "!hang"
    assert process.process is None
    monkeypatch.undo()
    assert process.request("has", "np.real_if_close") is True
    assert process.process is not None
    process.process.kill()
    process.process.wait()
    other = question("np.real_if_close", AskedOperand("float64", None))
    assert asker.ask("numpy", other).answer == "!crash"
    assert asker.ask("numpy", question("np.real_if_close", AskedOperand("float16", None))).answer == "float16"


def test_the_process_ends_with_the_one_that_asks(tmp_path: Path) -> None:
    code = (
        "import typelattice as tl, os, signal\n"
        "tl.program('np.real_if_close(x)', x='float32').under('numpy')\n"
        "from typelattice.conformance.recording.live_libraries import open_live_libraries\n"
        "print(open_live_libraries().processes['numpy'].process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = str(Path(tl.__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    pid = int(ran.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z":
            return
        sleep(0.1)
    pytest.fail("the process is still there")


def test_a_library_that_is_not_installed_is_not_asked() -> None:
    with pytest.raises(tl.ProgramError, match=r"unknown function 'frob'.*; to ask cupy itself, pip install"):
        tl.program("cp.frob(x)", x="float32")
    process = LiveProcess("cupy")
    assert process.request("has", "cp.real_if_close") is None
    assert "cupy" in process.error


def test_the_command_says_of_whom_it_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "np.real_if_close(x)", "x=float32", "--system", "numpy"]) == 0
    assert "asked of numpy" in capsys.readouterr().out
