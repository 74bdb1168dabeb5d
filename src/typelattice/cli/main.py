"""The command line: finds the command, runs it, turns every bad input into one line and exit code 2."""
from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import typelattice as tl
from typelattice.cli.command import Command, Out, Usage
from typelattice.facts.suggest import nearest
from typelattice.rendering.grid import printable
from typelattice.rendering.terminal import colour, show, width

BAD_INPUT = (tl.DTypeError, tl.OperandError, tl.OpError, tl.FormatError, tl.UnknownSystemError)
COMMANDS = {  # name -> the module of `cli` that has it
    "explain": "explain", "table": "grids", "diff": "grids", "consensus": "grids", "laws": "judgement", "conform": "elsewhere",
    "record": "elsewhere", "design": "elsewhere", "systems": "explain", "check": "judgement",
}  # fmt: skip


def command(name: str) -> Command:
    """The command of a name."""
    found: Command = getattr(import_module(f"typelattice.cli.{COMMANDS[name]}"), name)
    return found


class Parser(ArgumentParser):
    """Raises Usage where argparse prints a page; takes -1 and -1e39 for numbers."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(
            prog=f"typelattice {name}",
            description=command.about,
            epilog="\n".join(["examples:", *(f"  typelattice {name} {example}" for example in command.examples)]),
            allow_abbrev=False,
            formatter_class=RawDescriptionHelpFormatter,
        )
        self._negative_number_matcher = re.compile(r"-\.?\d|-(inf|nan)$")
        command.arguments(self)

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{self.prog}: {message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line. 0: done; 2: bad input, with one line on stderr; 1: nobody reads the output any more."""
    width.cache_clear()
    colour.cache_clear()
    try:
        for paragraph in run(list(sys.argv[1:] if argv is None else argv)):
            show(paragraph, sys.stdout)
        sys.stdout.flush()
    except SystemExit as e:  # argparse, after --help
        return int(e.code or 0)
    except Usage as e:
        show(printable(str(e)), sys.stderr)
        return 2
    except BAD_INPUT as e:
        show(f"typelattice: {printable(str(e))}", sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more on its way out
        return 1
    return 0


def run(argv: list[str]) -> Out:
    """What a command line prints."""
    first, *rest = argv or ["help"]
    if first in ("-h", "--help", "help"):
        yield from _help()
    elif first == "--version":
        yield f"typelattice {tl.__version__}"
    elif first in COMMANDS:
        yield from command(first).run(Parser(first, command(first)).parse_intermixed_args(rest))
    else:
        raise Usage(f"typelattice: no command {first[:40]!r}{nearest(first, COMMANDS)}; there are {', '.join(COMMANDS)}")


def _help() -> Out:
    yield "What dtype does x + y have, in every array library, and why?\n\nusage: typelattice COMMAND ...\n"
    yield from (f"  {name:9} {command(name).about}" for name in COMMANDS)
    yield "\n  typelattice COMMAND --help: more, with examples; typelattice --version\n\ntry:"
    yield from (f"  typelattice {name} {command(name).examples[0]}" for name in ("explain", "table", "diff"))
