"""The parts of a command of the command line, and the exceptions that end one."""
from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from typelattice.rendering.grid import printable
from typelattice.support.error_texts import clip_text, quote_short
from typelattice.support.errors import TypelatticeError

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


def exit_code_argument(parser: ArgumentParser, meaning: str) -> None:
    """Add the option `--exit-code`, for scripts and CI; `meaning` says when the status is 1."""
    parser.add_argument("--exit-code", action="store_true", help=f"exit with 1 if {meaning}")


def count_own_words(options_with_value: Collection[str], words: Sequence[str]) -> int:
    """Count our own words of a command line: those before the script, or up to the module of `-m`.

    `options_with_value` are the options with a value.

    >>> count_own_words(["--to"], ["--to", "float32", "script.py", "--write"])
    2
    """
    i = 0
    while i < len(words) and words[i].startswith("-"):
        if words[i] == "--":
            return i
        if words[i].startswith("-m"):
            return min(len(words), i + (2 if words[i] == "-m" else 1))
        i += 2 if words[i] in options_with_value else 1
    return min(i, len(words))


def describe_passed_options(arguments: Callable[[ArgumentParser], None], words: Sequence[str]) -> str:
    """Return a note on our options after the script, which gets them, or an empty string."""
    parser = ArgumentParser(add_help=False)
    arguments(parser)
    own = {option for action in parser._actions for option in action.option_strings if option != "-m"}
    passed = [word for word in words if word.partition("=")[0] in own]
    what = f"{', '.join(passed)} stood after the script and was passed to it"
    return f"{what}; put our options before the script" if passed else ""


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

    If a command line ends with that of another program, `count_own_words` counts the command's own words. The
    other words are its argument `command`.
    """

    description: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], Paragraphs]
    examples: tuple[str, ...]
    count_own_words: Callable[[Sequence[str]], int] = len
    exit_status: str = "0 if there is an answer, 2 if there is none"
