"""The command `completion`: a script for a shell that completes command lines."""

from __future__ import annotations

import shlex
from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable

import typelattice as tl
from typelattice.base.errors.errors import TypelatticeError
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.operations.operations import OPERATIONS
from typelattice.show.cli.command import Command, Paragraphs

SUPPORTED_SHELLS = ("bash", "zsh", "fish")
COMPLETE_SYSTEM, COMPLETE_OPERATION, COMPLETE_OPERAND, COMPLETE_TOML_FILE, COMPLETE_FILE, COMPLETE_FOLDER = (
    "system",
    "operation",
    "operand",
    "toml",
    "file",
    "folder",
)
COMPLETION_BY_METAVAR = {  # metavar of an argument -> its completion; other metavars are free text
    "NAME|FILE": COMPLETE_SYSTEM, "SYSTEM": COMPLETE_SYSTEM, "OTHER": COMPLETE_SYSTEM,
    "LIST|SYSTEM": COMPLETE_SYSTEM, "SYSTEM|IMPLEMENTATION": COMPLETE_SYSTEM,
    "OP": COMPLETE_OPERATION, "OPERAND": COMPLETE_OPERAND, "DTYPE": COMPLETE_OPERAND,
    "FILE": COMPLETE_FILE, "SCRIPT ARG": COMPLETE_FILE, "RUN.json": COMPLETE_FILE,
    "FILE.toml": COMPLETE_TOML_FILE, "FORM.toml": COMPLETE_TOML_FILE, "KNOWN.toml": COMPLETE_TOML_FILE,
    "FOLDER": COMPLETE_FOLDER, "DIR": COMPLETE_FOLDER,
}  # fmt: skip


class MissingCompleterError(TypelatticeError, ImportError):
    """The library that writes completion scripts is not installed."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SUPPORTED_SHELLS, help="the shell that reads the script")


def run(args: Namespace) -> Paragraphs:
    """Print the script. Raises MissingCompleterError."""
    try:
        from shtab import complete
    except ImportError:
        raise MissingCompleterError("completion needs the library shtab: pip install shtab") from None
    yield complete(build_full_parser(), args.shell)


def build_full_parser() -> ArgumentParser:
    """Return a parser with each command as a subcommand, and with the completion of each argument."""
    from typelattice.show.cli.main import COMMAND_NAMES, Parser, find_command

    about = "What dtype does x + y have, in every array library, and why?"
    root = ArgumentParser(prog="typelattice", description=about)
    commands = root.add_subparsers(metavar="COMMAND")
    for name in COMMAND_NAMES:
        parser = Parser(name)
        for action in parser._actions:
            _set_completion(action)
        commands.add_parser(
            name, help=find_command(name).description, parents=[parser], add_help=False,
            description=parser.description, formatter_class=RawDescriptionHelpFormatter,
        )  # fmt: skip
    return root


def _set_completion(action: Action) -> None:
    """Tell shtab how to complete an argument; it reads the attribute `complete`."""
    import shtab

    known = {
        COMPLETE_SYSTEM: _complete_words(COMPLETE_SYSTEM, tl.systems(), toml=True),
        COMPLETE_OPERATION: _complete_words(COMPLETE_OPERATION, OPERATIONS),
        COMPLETE_OPERAND: _complete_words(COMPLETE_OPERAND, DTYPES),
        COMPLETE_TOML_FILE: shtab.glob("*.toml"),
        COMPLETE_FILE: shtab.FILE,
        COMPLETE_FOLDER: shtab.DIRECTORY,
    }
    kind = COMPLETION_BY_METAVAR.get(str(action.metavar))
    if kind and action.choices is None:
        action.complete = known[kind]  # type: ignore[attr-defined]


def _complete_words(kind: str, words: Iterable[str], toml: bool = False) -> dict[str, object]:
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
