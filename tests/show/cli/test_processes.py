"""The command line as a process: what it does where streams are closed, disks are full, or Ctrl-C comes."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from forked import run_python
from samples import one_in

import typelattice as tl
from typelattice.show.cli.main import main

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(tl.__file__).parents[1]), "PYTHONWARNINGS": "error"}
COMMAND = [sys.executable, "-m", "typelattice"]
SECONDS = 60
NOWHERE = [(">&-", "it is closed"), ("> /dev/full", "No space left on device")]
# An answer, an error, more than a pipe holds, help, and no command.
COMMANDS = ["explain int8 uint8", "explain int9", "table --format html", "laws --help", ""]


def process(argv: list[str], redirect: str = "", **keys: Any) -> tuple[int, str, str]:
    """(exit status, standard output, standard error) of a command line, redirected by a shell."""
    shell = ["sh", "-c", f'exec "$@" {redirect}', "sh", *COMMAND, *argv]
    done = subprocess.run(shell, capture_output=True, env=ENVIRONMENT, timeout=SECONDS, check=False, **keys)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def is_one_line(error: str) -> bool:
    return error.startswith("typelattice: ") and error.count("\n") == 1 and error.endswith("\n")


@pytest.mark.parametrize("text", ["1or 2", "9" * 500 + "else", r"f('\d')", "1 is 1"])
def test_what_python_warns_of_in_a_text_is_not_printed(text: str) -> None:
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(StringIO()):
        warnings.simplefilter("always")
        with redirect_stderr(StringIO()) as error:
            main(["explain", text, "--system", "jax"])
    assert not warned and "Warning" not in error.getvalue()


def test_an_answer_is_on_standard_output_alone() -> None:
    status, out, err = process(["explain", "int8", "uint8"])
    assert (status, err) == (0, "")
    assert out.startswith("int8 with uint8\n")


def test_an_error_is_on_standard_error_alone() -> None:
    status, out, err = process(["explain", "int9"])
    assert (status, out) == (2, "")
    assert is_one_line(err)


@pytest.mark.parametrize(
    ("command", "redirect", "why"),
    one_in(3, [(command, *where) for command in COMMANDS for where in NOWHERE]),
)
def test_output_that_goes_nowhere_is_one_error(command: str, redirect: str, why: str) -> None:
    status, _, err = process(command.split(), redirect)
    assert status == 2
    assert is_one_line(err)
    assert why in err or "unknown dtype" in err


@pytest.mark.parametrize(("command", "redirect"), [
    *(("explain int9", redirect) for redirect in ("2>&-", "2> /dev/full", ">&- 2>&-", "> /dev/full 2>&1")),
    *((command, "2>&-") for command in ("nonsense", "check nothing.toml")),
])  # fmt: skip
def test_without_standard_error_the_status_says_it(command: str, redirect: str) -> None:
    assert process(command.split(), redirect) == (2, "", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_without_standard_error_an_answer_is_an_answer(command: str) -> None:
    status, out, _ = process(command.split(), "2>&-")
    assert (status, out) == answered(command)


def answered(command: str) -> tuple[int, str]:
    """The exit status and the answer of a command line in this process."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
        return main(command.split()), out.getvalue()


@pytest.mark.parametrize("command", ["table --format html", "systems", "explain int8", "conform keras"])
def test_a_reader_that_goes_away_makes_no_noise(command: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, *command.split()], stdout=write, stderr=subprocess.PIPE, env=ENVIRONMENT)
    os.close(write)
    assert (done.returncode, done.stderr) == (2, b"")


INTERRUPTED = """
import sys
from typelattice.show.cli import main
run = main.run

def started(*given):
    print("ready", flush=True, file=sys.stderr)
    yield from run(*given)

main.run = started
sys.exit(main.main())
"""


@pytest.mark.parametrize(("command", "statuses"), [
    ("laws --format json", {130}), ("conform jax", {130}), ("design numpy --repair --every", {0, 130}),
])  # fmt: skip
def test_an_interrupt_ends_it_without_a_traceback(command: str, statuses: set[int]) -> None:
    """A search that was interrupted shows the best so far, if there is anything to show."""
    argv = [sys.executable, "-c", INTERRUPTED, *command.split()]
    p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    assert p.stderr
    assert p.stderr.readline() == b"ready\n"
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=SECONDS)
    assert (128 - p.returncode if p.returncode < 0 else p.returncode) in statuses  # as a shell counts
    assert err == b""


def test_an_interrupt_while_nobody_reads_ends_it() -> None:
    """Output is more than a pipe holds, so that writing waits for a reader; the interrupt comes meanwhile."""
    program = "import sys\nfrom typelattice.base.rendering.terminal_output import print_output as show\n"
    program += "show(['x' * 10**6], sys.stdout)"
    argv = [sys.executable, "-c", program]
    p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    assert p.stdout and p.stderr
    assert p.stdout.read(1) == b"x"
    p.send_signal(signal.SIGINT)
    assert p.wait(SECONDS) != 0
    assert b"KeyboardInterrupt" in p.stderr.read()
    p.stdout.close()
    p.stderr.close()


@pytest.mark.parametrize("argv", [
    "check pipe.toml", "explain int8 --system ./pipe.toml", "table --system /dev/zero", "laws pipe.toml",
    "design jep9407-0 --plan pipe.toml", "conform numpy --recording pipe.jsonl", "check child.toml",
    "conform numpy --departures pipe.toml", "laws numpy --dtypes pipe.toml",
])  # fmt: skip
def test_a_pipe_or_a_device_is_no_file(tmp_path: Path, argv: str) -> None:
    """Nobody writes into the pipes: whoever opened them would wait."""
    os.mkfifo(tmp_path / "pipe.toml")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "child.toml").write_text('name = "child"\nextends = "pipe"\n')
    done = run_python("typelattice", *argv.split(), folder=tmp_path, variables=ENVIRONMENT)
    assert (done.returncode, done.stdout) == (2, "")
    err = done.stderr
    assert is_one_line(err.partition("\n")[0] + "\n" if argv == "check child.toml" else err)


@pytest.mark.parametrize("program", one_in(2, ["design numpy --repair --every", "laws"]))
def test_a_process_that_ignores_interrupts_goes_on_ignoring_them(program: str) -> None:
    """So a shell starts what it runs in the background."""
    started = [
        "sh",
        "-c",
        'trap "" INT; exec "$@"',
        "sh",
        sys.executable,
        "-c",
        INTERRUPTED,
        *program.split(),
    ]
    p = subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    assert p.stderr
    assert p.stderr.readline() == b"ready\n"
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=SECONDS)
    assert (p.returncode, err) == (0, b"")


@pytest.mark.parametrize("argv", ["design jep9407-0 -o .", "record mine:Library -o new.jsonl"])
def test_a_full_disk_leaves_no_file(tmp_path: Path, argv: str) -> None:
    """No file may grow beyond nothing: what the system says then, it says of a full disk too."""
    (tmp_path / "mine.py").write_text(LIBRARY)
    shell = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *COMMAND, *argv.split()]
    environment = {**ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(shell, capture_output=True, cwd=tmp_path, env=environment, timeout=SECONDS)
    assert done.returncode == 2
    assert is_one_line(done.stderr.decode())
    assert b"File too large" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["mine.py"]


LIBRARY = """
import shutil

class Library:
    name, versions, how = "mine", {"mine": "1"}, "by hand"
    def dtypes(self): return ["int8"]
    def make(self, operand):
        if operand != "int8":
            from typelattice.conformance.recording.library import NoSuchOperandError
            raise NoSuchOperandError(operand)
        return operand
    def read(self, result): return result
    def operations(self): return {"add": lambda a, b: a}

class Removing(Library):
    def operations(self): return {"add": lambda a, b: shutil.rmtree("folder", ignore_errors=True) or a}
"""


def test_a_recording_that_cannot_be_saved_is_kept_elsewhere(tmp_path: Path) -> None:
    """The folder is there when the questions begin, and gone when the answers are to be saved."""
    (tmp_path / "mine.py").write_text(LIBRARY)
    (tmp_path / "folder").mkdir()
    (tmp_path / "spare").mkdir()
    environment = {**ENVIRONMENT, "TMPDIR": str(tmp_path / "spare")}
    argv = [*COMMAND, "record", "mine:Removing", "-o", "folder/mine.jsonl"]
    done = subprocess.run(argv, capture_output=True, cwd=tmp_path, env=environment, timeout=SECONDS)
    assert done.returncode == 2
    assert f"the answers are in {tmp_path / 'spare' / 'mine.jsonl'}" in done.stderr.decode()
    assert (tmp_path / "spare" / "mine.jsonl").is_file()


@pytest.mark.parametrize("argv", [
    "design jep9407-0 -o no/folder", "record mine:Library -o no/file.jsonl",
    "record mine:Library -o /dev/null", "design jep9407-0 -o /dev/null",
])  # fmt: skip
def test_no_folder_is_made_and_no_device_replaced(tmp_path: Path, argv: str) -> None:
    (tmp_path / "mine.py").write_text(LIBRARY)
    status, out, err = process(argv.split(), cwd=tmp_path)
    assert (status, out) == (2, "")
    assert is_one_line(err)
    assert [each.name for each in tmp_path.iterdir()] == ["mine.py"]
    assert Path("/dev/null").is_char_device()
