"""The command `completion`: a script for a shell that completes command lines."""

from __future__ import annotations

import shlex
from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable

import typelattice as tl
from typelattice.cli.command import Command, Paragraphs
from typelattice.facts.dtypes import DTYPES
from typelattice.facts.operations import OPERATIONS
from typelattice.support.errors import TypelatticeError

SHELLS = ("bash", "zsh", "fish")
SYSTEM, OPERATION, OPERAND, TOML, FILE, FOLDER = "system", "operation", "operand", "toml", "file", "folder"
COMPLETIONS = {  # metavar of an argument -> its completion; other metavars are free text
    "NAME|FILE": SYSTEM, "SYSTEM": SYSTEM, "OTHER": SYSTEM,
    "LIST|SYSTEM": SYSTEM, "SYSTEM|IMPLEMENTATION": SYSTEM, "OP": OPERATION, "OPERAND": OPERAND,
    "DTYPE": OPERAND, "FILE": FILE, "SCRIPT ARG": FILE, "RUN.json": FILE, "FILE.toml": TOML,
    "FORM.toml": TOML, "KNOWN.toml": TOML, "FOLDER": FOLDER, "DIR": FOLDER,
}  # fmt: skip


class MissingCompleterError(TypelatticeError, ImportError):
    """The library that writes completion scripts is not installed."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")


def run(args: Namespace) -> Paragraphs:
    """Print the script. Raises MissingCompleterError."""
    try:
        from shtab import complete
    except ImportError:
        raise MissingCompleterError("completion needs the library shtab: pip install shtab") from None
    yield complete(all_commands(), args.shell)


def all_commands() -> ArgumentParser:
    """Return a parser with each command as a subcommand, and with the completion of each argument."""
    from typelattice.cli.main import COMMANDS, Parser, command

    about = "What dtype does x + y have, in every array library, and why?"
    root = ArgumentParser(prog="typelattice", description=about)
    commands = root.add_subparsers(metavar="COMMAND")
    for name in COMMANDS:
        parser = Parser(name)
        for action in parser._actions:
            _complete(action)
        commands.add_parser(
            name, help=command(name).description, parents=[parser], add_help=False,
            description=parser.description, formatter_class=RawDescriptionHelpFormatter,
        )  # fmt: skip
    return root


def _complete(action: Action) -> None:
    """Tell shtab how to complete an argument; it reads the attribute `complete`."""
    import shtab

    known = {
        SYSTEM: _words(SYSTEM, tl.systems(), toml=True), OPERATION: _words(OPERATION, OPERATIONS),
        OPERAND: _words(OPERAND, DTYPES), TOML: shtab.glob("*.toml"), FILE: shtab.FILE,
        FOLDER: shtab.DIRECTORY,
    }  # fmt: skip
    kind = COMPLETIONS.get(str(action.metavar))
    if kind and action.choices is None:
        action.complete = known[kind]  # type: ignore[attr-defined]


def _words(kind: str, words: Iterable[str], toml: bool = False) -> dict[str, object]:
    """Return a shtab completion with these words, and with system files if `toml`."""
    name, listed = f"_typelattice_{kind}", " ".join(map(shlex.quote, words))
    bash = f"{name}() {{\n  compgen -W {shlex.quote(listed)} -- $1\n"
    zsh = f"{name}() {{\n  compadd -- {listed}\n"
    fish = f"function {name}\n  printf '%s\\n' {listed}\n"
    if toml:
        bash += "  compgen -f -X '!*.toml' -- $1\n"
        zsh += "  _files -g '*.toml'\n"
        fish += "  __fish_complete_suffix .toml\n"
    preamble = {"bash": bash + "}", "zsh": zsh + "}", "fish": fish + "end"}
    return {"bash": name, "zsh": name, "fish": f"({name})", "preamble": preamble}


COMMAND = Command(
    "Print a script that completes these commands in a shell.", add_arguments, run,
    ("bash", "zsh", "fish"),
)  # fmt: skip
