"""The parts of a command of the command line, and the exceptions that end one."""
from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from typelattice.base.errors.error_texts import clip_text, quote_short
from typelattice.base.errors.errors import TypelatticeError
from typelattice.base.rendering.grid import printable

MAX_EXAMPLES = 4  # examples shown if there are many of the same sort
MAX_ERROR_CHARS = 1_000
Paragraphs = Iterator[str]  # the output of a command; each gets a line break
STANDARD_OUTPUT = "-"  # the file name for standard output


class UsageError(TypelatticeError, ValueError):
    """A command line that cannot be read."""


class ScriptInterrupted(Exception):
    """The interruption of a script that a command ran; the command has already printed everything."""


class DifferencesFound(Exception):
    """Ends a command that compared two things and found differences, after it has shown them."""


def add_op_argument(
    parser: ArgumentParser, names: str = "`typelattice explain --list-ops` lists them"
) -> None:
    """Add the option `--op`, which takes any name of an operation; `names` says where the names are."""
    how = f"operation, such as add, + or concat (default: only promotion); {names}"
    parser.add_argument("--op", metavar="OP", help=how)


def add_format_argument(parser: ArgumentParser) -> None:
    """Add the option `--format` of commands that print paragraphs, or data for programs."""
    how = "print text (default), or JSON for programs"
    parser.add_argument("--format", choices=("text", "json"), default="text", help=how)


def add_workers_arguments(parser: ArgumentParser) -> None:
    """Add the options `--jobs` and `--scheduler` of commands whose work can be shared."""
    parser.add_argument(
        "--jobs", type=parse_count, default=1, metavar="N", help="processes at a time (default: 1)"
    )
    scheduler = "run in the workers of the Dask cluster with this scheduler"
    parser.add_argument("--scheduler", default="", metavar="ADDRESS", help=scheduler)


def exit_code_argument(parser: ArgumentParser, meaning: str, status: int = 1) -> None:
    """Add the option `--exit-code`, for scripts and CI; `meaning` says when it gives the status."""
    parser.add_argument("--exit-code", action="store_true", help=f"exit with {status} if {meaning}")


def list_examples(items: Sequence[str], limit: int = MAX_EXAMPLES) -> str:
    """Return the first few of many, and dots for the others.

    >>> list_examples(["a", "b", "c"], limit=2)
    'a, b, ...'
    """
    return ", ".join(items[:limit]) + (", ..." if len(items) > limit else "")


def error_line(text: str) -> str:
    """Return a text of an error as one bounded line that can be printed."""
    return clip_text(f"typelattice: {printable(text)}", MAX_ERROR_CHARS)


def parse_count(text: str) -> int:
    """Read a count: a whole number from 1 on."""
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) == 0:
        raise ArgumentTypeError(f"{quote_short(text)} is not a whole number from 1 to 999999999")
    return int(text)


def parse_seed(text: str) -> int:
    """Read the seed of random numbers: a whole number."""
    if not re.fullmatch("-?[0-9]{1,18}", text):
        raise ArgumentTypeError(f"{quote_short(text)} is not a whole number of up to 18 digits")
    return int(text)


def parse_duration(text: str) -> float:
    """Read a number of seconds."""
    if not re.fullmatch(r"[0-9]{0,9}\.?[0-9]{0,9}", text) or not text.strip("0."):
        raise ArgumentTypeError(f"{quote_short(text)} is no number of seconds, such as 0.5 or 10")
    return float(text)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its purpose, its arguments, its output, examples of its arguments, and its exit status.

    If `runs_program` is True, the command line ends with that of a program: the argument `command`.
    """

    description: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], Paragraphs]
    examples: tuple[str, ...]
    runs_program: bool = False
    exit_status: str = "0 if there is an answer, 2 if there is none"
