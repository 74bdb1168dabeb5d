"""The fuzzer of the command line: it finds nothing, and it would."""
from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from typelattice.show.cli.command import UsageError
from typelattice.show.cli.main import COMMAND_NAMES, main

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
import command_lines
import fuzz

WANT_A_LIBRARY = {"compare", "record", "watch", "trace", "fix", "port", "tune"}


def test_no_command_line_makes_it_fall_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first part of the lines; `make fuzz` runs many more."""
    monkeypatch.setenv("LANGUAGE", "C")  # or argparse looks for translations of every message
    assert "\n".join(map(str, fuzz.fuzz(80, seed=9407))) == ""


def test_the_grammar_makes_every_command_and_good_lines_of_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Lines that are all refused at once would find little."""
    monkeypatch.chdir(tmp_path)
    assert set(command_lines.GRAMMAR) == set(COMMAND_NAMES)
    dice = random.Random(1)
    command_lines.prepare(tmp_path, dice)
    refused = {
        name
        for name, (_, make) in command_lines.GRAMMAR.items()
        if name not in WANT_A_LIBRARY and all(main([name, *make(dice)]) == 2 for _ in range(16))
    }
    assert refused == set()


def raises(_: Sequence[str]) -> int:
    raise KeyError("x")


def says(out: str = "", err: str = "", status: int = 0) -> Callable[[Sequence[str]], int]:
    def run(_: Sequence[str]) -> int:
        print(out, end="")
        print(err, end="", file=sys.stderr)
        return status

    return run


@pytest.mark.parametrize(("run", "what"), [
    (raises, "KeyError: 'x'"), (lambda _: sys.exit(0), "SystemExit: 0"),
    (says("x\n", status=3), "exit status 3"), (says("x\n", status=1), "exit status 1"),
    (says(err="typelattice: a\nb\n", status=2), "an error that is not one line"),
    (says(err="Traceback\n", status=2), "an error that is not one line"),
    (says("x\n", "typelattice: a\n", status=2), "an error after part of an answer"),
    (says(err=f"typelattice: {'a' * 9_999}\n", status=2), "an error that is too long"),
    (says(err="typelattice: \x1b[31m\n", status=2), "cannot be printed"),
    (says("x\x1b[31m\n"), "output that cannot be printed"), (says(), "an answer that is none"),
    (says("x\n", err="warning\n"), "an answer that is none, or has an error"),
])  # fmt: skip
def test_each_broken_promise_is_a_fault(run: Callable[[Sequence[str]], int], what: str) -> None:
    assert what in fuzz.fault_of(["explain"], run)


PLANTED: dict[str, Callable[[list[str]], bool]] = {
    "a weak array": lambda argv: argv[0] == "explain" and any(w.endswith(":weak") for w in argv),
    "laws --common": lambda argv: argv[0] == "laws" and "--common" in argv,
    "5,000 digits": lambda argv: any(len(w) > 4_300 and w.isdigit() for w in argv),
    "a surrogate": lambda argv: any("\ud800" in w for w in argv),
    "a bad file in a table": lambda argv: argv[0] == "table" and any("bad.toml" in w for w in argv),
    "no value": lambda argv: argv[-1] in ("-o", "--op", "--format"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(name: str) -> None:
    """Only the lines with the fault in them are run."""

    def run(argv: Sequence[str]) -> int:
        if PLANTED[name](list(argv)):
            raise RuntimeError("planted")
        return says("x\n")(argv)

    found = fuzz.fuzz(100_000, seed=9407, run=run, most=1)
    assert "planted" in str(found[0])


def test_what_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "SECONDS", 0.2)

    def hang(_: Sequence[str]) -> int:
        while True:
            pass

    assert "no answer within 0.2 seconds" in fuzz.fault_of(["explain"], hang)


def test_a_file_that_is_left_behind_is_a_fault() -> None:
    def run(_: Sequence[str]) -> int:
        Path("half-written").touch()
        return says("x\n")(_)

    assert "left behind: ['half-written']" in str(fuzz.fuzz(1, seed=1, run=run)[0])


def test_an_error_of_the_command_line_is_no_fault() -> None:
    assert issubclass(UsageError, ValueError)
    assert fuzz.fault_of(["explain", "int9"]) == ""
