"""Runs random command lines, and checks that each ends as docs/promises.md says.

    tools/fuzz.py [--lines N] [--seed N] [--workers N]

Each line runs in this process, its streams caught.
"""
from __future__ import annotations

import argparse
import io
import os
import random
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from command_lines import ERROR, GRAMMAR, a_line, prepare

from typelattice.show.cli.main import COMMAND_NAMES, MAX_ERROR_CHARS, main

SECONDS = 60  # that a line may take before it counts as hanging; the slowest take two


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that did not end as promised, and how it ended."""

    argv: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        return f"typelattice {shlex.join(self.argv)[:500]}\n    {self.what[:2_000]}"


def fault_of(argv: Sequence[str], run: Callable[[Sequence[str]], int] = main) -> str:
    """How a line ends otherwise than promised; nothing if it ends as promised."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with limited(SECONDS), redirect_stdout(out), redirect_stderr(err):
            status = run(argv)
    except BaseException as e:
        # A traced script ends its process as Python would: what is no script is a mistake in its syntax.
        return "" if argv[0] == "trace" and isinstance(e, SystemExit) else f"{type(e).__name__}: {e}"
    said, complained = out.getvalue(), err.getvalue()
    if argv[0] == "trace" and status != 2:
        return ""  # a script that ran says and returns what it likes
    found = argv[0] in ("agree", "conform", "emit", "lint", "runs", "watch") or "--exit-code" in argv
    if status not in (0, 1, 2) or (status == 1 and not found):
        return f"exit status {status}"
    if status == 2 and not ERROR.fullmatch(complained):
        return f"an error that is not one line: {complained!r}"
    if status == 2 and said:
        return f"an error after part of an answer: {said[:99]!r}, {complained!r}"
    lines = complained.splitlines()
    if max(map(len, lines), default=0) > MAX_ERROR_CHARS + 20 or not all(map(str.isprintable, lines)):
        return f"an error that is too long or cannot be printed: {complained!r}"
    notes = all(line.startswith("typelattice: left out: ") for line in lines)
    if status != 2 and not (said and notes):
        return f"an answer that is none, or has an error: {said[:99]!r}, {complained!r}"
    if not said.replace("\n", "").isprintable():
        return f"output that cannot be printed: {said!r}"
    return ""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in what takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fuzz(lines: int, seed: int, run: Callable[[Sequence[str]], int] = main, most: int = 20) -> list[Fault]:
    """The faults of so many lines, up to the most that are wanted."""
    dice, faults = random.Random(seed), list[Fault]()
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for n in range(lines):
                if n % 50 == 0:
                    prepare(Path(folder), dice)
                before, argv = {*os.listdir(folder)}, a_line(dice)
                what = fault_of(argv, run) or left_behind(Path(folder), before, argv)
                if what:
                    faults.append(Fault(argv, what))
                if len(faults) >= most:
                    break
        finally:
            os.chdir(here)
    return faults


def left_behind(folder: Path, before: set[str], argv: Sequence[str]) -> str:
    """Files that a line has left and did not name, which are removed."""
    asked_for = " ".join(["typelattice.html", *argv])  # the page of `explore`, if it is given no other name
    here = argv[0] == "emit" and not {"-o.", "."}.isdisjoint(argv)  # the folder itself is named
    left = [name for name in {*os.listdir(folder)} - before if name not in asked_for and not here]
    for name in left:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return f"left behind: {left}" if left else ""


def _part(lines: int, seed: int) -> list[Fault]:
    return fuzz(lines, seed)


def start() -> int:
    parser = argparse.ArgumentParser(description="Runs command lines made from a grammar.")
    parser.add_argument("--lines", type=int, default=100_000)
    fresh = random.SystemRandom().randrange(10**9)
    parser.add_argument("--seed", type=int, default=fresh, help="(default: a fresh one)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    os.environ["LANGUAGE"] = "C"  # or argparse looks for translations of every message
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # no command waits for somebody who types
    started = time.monotonic()
    assert set(GRAMMAR) == set(COMMAND_NAMES), "the grammar has every command"
    with ProcessPoolExecutor(args.workers) as pool:
        each = args.lines // args.workers
        parts = [pool.submit(_part, each, args.seed + worker) for worker in range(args.workers)]
        faults = [fault for part in parts for fault in part.result()]
    print(*faults, sep="\n")
    took = time.monotonic() - started
    print(f"{len(faults)} faults in {each * args.workers:,} lines, seed {args.seed}, {took:.0f} s")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(start())
