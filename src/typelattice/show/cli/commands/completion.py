"""The command `completion`: a script by which a shell completes command lines, and the words offered."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from glob import escape, glob

import typelattice as tl
from typelattice.core.dtypes.dtypes import DTYPES
from typelattice.core.operations.operations import OPERATIONS
from typelattice.show.cli.command import Command, Paragraphs

COMPLETE_SYSTEM, COMPLETE_OPERATION, COMPLETE_OPERAND, COMPLETE_TOML_FILE, COMPLETE_FILE = (
    "system",
    "operation",
    "operand",
    "toml",
    "file",
)
COMPLETION_BY_METAVAR = {  # metavar of an argument -> its completion; other metavars are free text
    "NAME|FILE": COMPLETE_SYSTEM, "SYSTEM": COMPLETE_SYSTEM, "OTHER": COMPLETE_SYSTEM,
    "LIST|SYSTEM": COMPLETE_SYSTEM, "SYSTEM|IMPLEMENTATION": COMPLETE_SYSTEM,
    "OP": COMPLETE_OPERATION, "OPERAND": COMPLETE_OPERAND, "DTYPE": COMPLETE_OPERAND,
    "FILE": COMPLETE_FILE, "SCRIPT ARG": COMPLETE_FILE, "RUN.json": COMPLETE_FILE,
    "FILE.toml": COMPLETE_TOML_FILE, "FORM.toml": COMPLETE_TOML_FILE, "KNOWN.toml": COMPLETE_TOML_FILE,
    "FOLDER": COMPLETE_FILE, "DIR": COMPLETE_FILE,
}  # fmt: skip
WORD_SEPARATOR = "\t"  # between the words of `--words`; fish would cut a text at its line breaks
# Each script asks the command itself for words. If it offers none, the shell completes names of files.
SCRIPT_BY_SHELL = {
    "bash": """\
_typelattice() {
  local IFS=$'\\t'
  local words="${COMP_WORDS[*]:1:COMP_CWORD}"
  IFS=$'\\n'
  COMPREPLY=($(typelattice completion bash --words="$words" 2>/dev/null))
}
complete -o default -F _typelattice typelattice""",
    "zsh": """\
#compdef typelattice
_typelattice() {
  local offered=(${(f)"$(typelattice completion zsh --words="${(pj:\\t:)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#offered )); then compadd -a offered; else _files; fi
}
if [[ $funcstack[1] == _typelattice ]]; then _typelattice; else compdef _typelattice typelattice; fi""",
    "fish": """\
function _typelattice
  set -l words (commandline -opc) (commandline -ct)
  set -l offered (typelattice completion fish --words=(string join \\t -- $words[2..]) 2>/dev/null)
  if test -n "$offered"; printf '%s\\n' $offered; else; __fish_complete_path $words[-1]; end
end
complete -c typelattice -f -a '(_typelattice)'""",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=(*SCRIPT_BY_SHELL,), help="the shell that reads the script")
    given = "for the script: print what the last of these words may become; tabs separate the words"
    parser.add_argument("--words", metavar="WORDS", help=given)


def run(args: Namespace) -> Paragraphs:
    """Print the script, or the words that complete a command line."""
    if args.words is None:
        yield SCRIPT_BY_SHELL[args.shell]
    else:
        yield from complete_line(args.words.split(WORD_SEPARATOR))


def complete_line(words: Sequence[str]) -> list[str]:
    """Return what the last word of a command line may become. Files that are no system are left to the shell.

    >>> complete_line(["dr"]), complete_line(["explain", "--op", "log1"])
    (['draw'], ['log10', 'log1p'])
    """
    from typelattice.show.cli.main import COMMAND_NAMES, OWN_OPTIONS

    *before, last = (word for word in words if word != "=")  # bash separates `--op=add` into three words
    offered: Iterable[str] = ()
    if not before:
        offered = (*COMMAND_NAMES, *OWN_OPTIONS)
    elif before[0] in COMMAND_NAMES:
        offered = _offer_words(before[0], before[1:], last)
    return sorted({word for word in offered if word.startswith(last)})


def _offer_words(command: str, before: Sequence[str], last: str) -> Iterable[str]:
    """Return options, or values of the argument that comes next."""
    from typelattice.show.cli.main import Parser

    parser = Parser(command)
    options = {name: action for action in parser._actions for name in action.option_strings}
    positional = [action for action in parser._actions if not action.option_strings]
    awaiting: Action | None = None  # the option that takes the next word as its value
    count = 0
    for word in before:
        if word in options:
            awaiting = options[word] if options[word].nargs != 0 else None
        elif awaiting is None:
            count += 1
        elif awaiting.nargs not in ("*", "+"):
            awaiting = None
    if awaiting is None and last.startswith("-"):
        return options
    argument = awaiting or (positional[min(count, len(positional) - 1)] if positional else None)
    return _offer_values(argument, last) if argument else ()


def _offer_values(argument: Action, last: str) -> Iterable[str]:
    """Return the values of an argument that are known: its choices, names, or files of systems."""
    if argument.choices is not None:
        return map(str, argument.choices)
    kind = COMPLETION_BY_METAVAR.get(str(argument.metavar))
    files = glob(f"{escape(last)}*.toml") if kind in (COMPLETE_SYSTEM, COMPLETE_TOML_FILE) else []
    names: dict[str, Iterable[str]] = {
        COMPLETE_SYSTEM: tl.systems(), COMPLETE_OPERATION: OPERATIONS, COMPLETE_OPERAND: DTYPES,
    }  # fmt: skip
    return (*names.get(kind or "", ()), *files)


COMMAND = Command(
    "Print a script that completes these commands in a shell.", add_arguments, run,
    ("bash", "zsh", "fish"),
)  # fmt: skip
