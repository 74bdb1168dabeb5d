"""Libraries are asked in processes of their own: one that hangs, crashes, prints or lies costs one call."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import hostile
import planted
import pytest
from forked import fork_libraries

from typelattice.base.errors.errors import TypelatticeError
from typelattice.conformance.recording.in_process_library import InProcessLibrary
from typelattice.conformance.recording.libraries.language_base import Language
from typelattice.conformance.recording.library import CannotAskError, UnknownLibraryError
from typelattice.conformance.recording.library_process import (
    CRASH_ANSWER,
    HANG_ANSWER,
    START_TIME_FACTOR,
    LibraryProcess,
)
from typelattice.conformance.recording.load_library import load_library
from typelattice.core.evidence.recording_files import RECORDINGS_FOLDER, load_recording

HERE = Path(__file__).parents[1]
LONG = 10.0  # seconds, where nothing should take as long


def test_a_call_that_hangs_or_crashes_costs_that_call_only() -> None:
    pairs = [(x, y) for x in hostile.DTYPES for y in hostile.DTYPES]
    with LibraryProcess(hostile.Fragile, limit=0.5) as asked:
        answers = list(asked.answers([("subtract", pair) for pair in pairs]))
        assert answers == [("int8", ""), CRASH_ANSWER, HANG_ANSWER, ("int16", "")]
        assert list(asked.answers([("add", ("int8", "int16"))])) == [("int16", "")]


def test_whatever_a_call_raises_is_its_answer_on_one_printable_line() -> None:
    pairs = [(x, y) for x in hostile.DTYPES for y in hostile.DTYPES]
    with LibraryProcess(hostile.Fragile, LONG) as asked:
        assert list(asked.answers([("multiply", pair) for pair in pairs])) == [
            ("!SystemExit", "0"),
            ("!KeyboardInterrupt", ""),
            ("!UnreadableError", "a message that cannot be read"),
            ("!ValueError", r"\x1b[31mred\x1b[0m"),
        ]


def test_a_type_that_no_adapter_knows_ends_the_asking_at_once() -> None:
    class Unknown(Language):
        name, how, versions = "unknown", "", {}
        native_types, forms = {"int8": "byte"}, {"add": ("{} + {}",)}

        def types(self, expressions: Sequence[str]) -> Iterator[tuple[int, str | TypeError]]:
            yield 0, self.names["word"]

    library = InProcessLibrary(Unknown())
    with pytest.raises(CannotAskError, match=r"types\(\) of unknown raises KeyError: 'word'"):
        library.ask("add", ("int8", "int8"))


def test_answers_that_nobody_waits_for_do_not_come_later() -> None:
    with LibraryProcess(hostile.Sane, LONG) as asked:
        several = asked.answers([("add", ("int8", "int8"))] * 3)
        next(several)
        del several
        assert list(asked.answers([("add", ("int16", "int8"))])) == [("int16", "")]


def test_what_a_library_prints_is_not_seen(capfd: pytest.CaptureFixture[str]) -> None:
    with LibraryProcess(hostile.Talkative, LONG) as asked:
        assert list(asked.answers([("add", ("int8", "int8"))])) == [("int8", "")]
    assert capfd.readouterr() == ("", "")


UNFIT: dict[str, str] = {
    "ConstructorRaises": r"it raises LookupError: no \\x1b\[31mdevice found$",
    "ConstructorExits": r"it raises SystemExit: goodbye$",
    "ConstructorDies": r"its process died before the first call$",
    "MakeRaises": r"make\('int8'\) raises RuntimeError: int8 is beyond me$",
    "NoOperations": r"operations\(\) names none; give at least one, such as add$",
    "UnknownOperation": r"^unknown operation 'multply' [(]did you mean multiply",
    "OperationNotCallable": r"operations\(\) has '3' for 'add', which cannot be called$",
    "DtypesNoList": r"dtypes\(\) must be a list of strings, not '3'$",
    "NameEscapes": r"name must be of printable strings of up to 400 characters, not ",
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_library_that_cannot_be_asked_is_refused_with_the_reason(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork_libraries(monkeypatch)
    with (
        pytest.raises(TypelatticeError, match=UNFIT[name]) as caught,
        LibraryProcess(getattr(hostile, name), LONG),
    ):
        pass
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ("ConstructorHangs", "MakeHangs"))
def test_a_library_that_is_never_ready_is_given_up(name: str) -> None:
    limit = 0.02
    message = f"it was not ready within {START_TIME_FACTOR * limit:g} seconds"
    with pytest.raises(CannotAskError, match=message), LibraryProcess(getattr(hostile, name), limit):
        pass


@pytest.mark.parametrize("name, shown", (("ReadsNothing", "'None'"), ("ReadsEscapes", r"x1b\[2Jint8")))
def test_an_answer_that_is_no_printable_string_is_refused_with_its_call(name: str, shown: str) -> None:
    message = rf"read must give a string such as 'int16', it gave .*{shown}.* for add\(int8, int8\)"
    with LibraryProcess(getattr(hostile, name), LONG) as asked, pytest.raises(CannotAskError, match=message):
        list(asked.answers([("add", ("int8", "int8"))]))


def test_an_implementation_is_no_library_of_a_recording() -> None:
    with pytest.raises(CannotAskError, match="operations must be a method that returns functions, not"):
        InProcessLibrary(planted.Faithful())  # type: ignore[arg-type]


def test_a_library_is_held_to_the_same_in_this_process() -> None:
    asker = InProcessLibrary(hostile.ReadsNothing())
    assert asker.has_operand("int8") and not asker.has_operand("int8:0d")
    with pytest.raises(CannotAskError, match="it gave 'None'"):
        asker.ask("add", ("int8", "int8"))
    assert InProcessLibrary(hostile.Fragile()).ask("multiply", ()) [0] == "!TypeError"


@pytest.mark.parametrize(
    "name, message",
    (
        (
            "hostile:NOTHING",
            "hostile:NOTHING is no library: it has neither its methods, nor can it be called; "
            "name an object, a class, or a function that makes one",
        ),
        ("hostile:Missing", "has no attribute 'Missing'; write module:attribute"),
        ("nowhere_to_be_found:Library", "No module named 'nowhere_to_be_found'; write module:attribute"),
        (":", "Empty module name; write module:attribute"),
    ),
)
def test_a_library_of_your_own_that_is_none_is_refused(name: str, message: str) -> None:
    with pytest.raises(UnknownLibraryError, match=message):
        load_library(name)


def command(*arguments: str) -> tuple[list[str], dict[str, str]]:
    """The command line as a process of its own, and its environment."""
    paths = os.pathsep.join([str(HERE), str(HERE.parent / "src")])
    return [sys.executable, "-m", "typelattice", *arguments], os.environ | {"PYTHONPATH": paths}


def typelattice(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """What the command line prints, in a real process."""
    words, env = command(*arguments)
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=120, **settings)


@pytest.mark.parametrize("name", ["ConstructorDies", "NameEscapes", "ReadsNothing", "NOTHING", "Unasked"])
def test_the_command_line_says_in_one_line_why_a_library_cannot_be_compared(name: str) -> None:
    done = typelattice("conform", f"hostile:{name}", "--system", "numpy", "--live", "20")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "Traceback" not in done.stderr and done.stderr.strip().isprintable()


def test_a_library_that_exits_while_asked_is_compared_all_the_same() -> None:
    done = typelattice("conform", "hostile:Exits", "--system", "numpy", "--live", "40")
    assert (done.returncode, done.stderr) == (0, "")
    assert " 0 mismatches" in done.stdout and "calls left out because the library broke down" in done.stdout


def test_a_library_that_exits_while_recorded_is_recorded_all_the_same(tmp_path: Path) -> None:
    output = tmp_path / "exits.jsonl"
    done = typelattice("record", "hostile:Exits", "-o", str(output))
    assert (done.returncode, done.stderr) == (0, "")
    found = load_recording(output)
    assert "the process died" in {call.message for call in found.calls() if call.answer == "!crash"}


def test_the_libraries_that_are_no_module_are_made_by_partial() -> None:
    with LibraryProcess(partial(load_library, "hostile:Sane"), LONG) as asked:
        assert asked.catalogue.operands == hostile.DTYPES


ON_LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux of its processes")


@ON_LINUX
def test_a_disk_without_room_is_refused_before_the_library_is_asked(tmp_path: Path) -> None:
    import resource

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = typelattice("record", "hostile:Leaves", "-o", "out.jsonl", cwd=tmp_path, preexec_fn=little_room)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "typelattice: cannot write 'out.jsonl': File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_as_output_is_refused_before_the_library_is_asked(tmp_path: Path) -> None:
    done = typelattice("record", "hostile:Leaves", "-o", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "typelattice: cannot write '.': it is a folder\n"
    assert list(tmp_path.iterdir()) == []


@ON_LINUX
@pytest.mark.parametrize("ended_by", ("SIGKILL", "SIGTERM", "SIGINT"))
def test_a_library_that_hangs_does_not_outlive_who_asked_it(tmp_path: Path, ended_by: str) -> None:
    words, env = command("conform", "hostile:Leaves", "--system", "numpy", "--live", "5")
    asking = subprocess.Popen(words, env=env, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True)
    asked = wait_for(
        lambda: (tmp_path / "asked").exists() and (tmp_path / "asked").read_text(encoding="ascii")
    )
    asking.send_signal(getattr(signal, ended_by))
    assert asking.communicate(timeout=60)[1] == b""
    assert wait_for(lambda: not alive(int(asked)))


def wait_for(found: Callable[[], object]) -> Any:
    """What a function finds, as soon as it finds anything; None if that takes a minute."""
    for _ in range(3000):
        if result := found():
            return result
        time.sleep(0.02)
    return None


def alive(number: int) -> bool:
    """Whether a process of that number runs, and is no zombie."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_what_strangers_wrote_does_not_reach_the_terminal_raw(tmp_path: Path) -> None:
    """Neither from a recording nor from a list of departures."""
    text = (Path(RECORDINGS_FOLDER) / "arrow-unify.jsonl").read_text(encoding="utf-8")
    head, rows = text.split("\n", 1)
    head = json.dumps(json.loads(head) | {"versions": {"pyarrow": "\x1b[31m26"}})
    rows = rows.replace('"int8": ', '"\\u001b[2Jint8": ')
    (tmp_path / "own.jsonl").write_text(f"{head}\n{rows}", encoding="utf-8")
    listed = (
        '[[departure]]\nops = "all"\noperands = ["i8"]\n'
        'reason = "\\u001b[1mwhy"\nsource = "\\u001b]0;here\\u0007"\n'
    )
    (tmp_path / "own.toml").write_text(listed, encoding="utf-8")
    done = typelattice(
        "conform", "arrow-unify", "--recording", "own.jsonl", "--departures", "own.toml", cwd=tmp_path
    )
    assert done.returncode == 1 and done.stderr == ""
    assert "listed:" in done.stdout and "int8, the system says" in done.stdout
    assert all(line.isprintable() for line in done.stdout.splitlines())
