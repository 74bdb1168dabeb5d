"""The command line: finds the command, runs it, and turns every error into one line and an exit status."""

from __future__ import annotations

import re
import shlex
import sys
from argparse import Action, ArgumentError, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import typelattice as tl
from typelattice.base.errors.error_texts import clip_text, did_you_mean, quote_short, spelling_hint
from typelattice.base.rendering.terminal_output import OutputError, print_error, print_output
from typelattice.show.cli.command import (
    MAX_ERROR_CHARS,
    Command,
    DifferencesFound,
    Paragraphs,
    ScriptInterrupted,
    UsageError,
    error_line,
)
from typelattice.show.cli.interrupts import end_by_interrupt, end_in_silence
from typelattice.show.cli.program_words import CommandWords, check_program_words, split_program_words

# Each command is a module in `commands/`.
COMMANDS_BY_PURPOSE = {
    "find and fix wide floats in your code": ("trace", "fix", "tune", "port", "runs", "survey"),
    "ask for dtypes; this runs no code of yours": (
        "explain", "table", "diff", "consensus", "laws", "draw", "explore", "systems",
    ),
    "write rules, and code from them": ("check", "design", "emit", "stubs", "lint", "agree"),
    "compare rules with what libraries do": ("conform", "compare", "record", "watch"),
    "set up your editor and shell": ("lsp", "completion"),
}  # fmt: skip
COMMAND_NAMES = tuple(name for names in COMMANDS_BY_PURPOSE.values() for name in names)

OWN_OPTIONS = ("--help", "--version")
NOUN_BY_OPTION = {"--system": "a system is named by ", "--op": "an operation is named by "}

# 130 is what shells report for Ctrl-C
EXIT_ANSWERED, EXIT_DIFFERENT, EXIT_NO_ANSWER, EXIT_INTERRUPTED = 0, 1, 2, 130


def find_command(name: str) -> Command:
    """Return the command of a name; its module is imported at the first call."""
    found: Command = import_module(f"typelattice.show.cli.commands.{name}").COMMAND
    return found


class Parser(ArgumentParser):
    """Reads the arguments of one command; raises UsageError where argparse prints a page and exits."""

    def __init__(self, name: str) -> None:
        found = find_command(name)
        examples = [f"  typelattice {name} {each}".rstrip() for each in found.examples]
        super().__init__(
            prog=f"typelattice {name}",
            description="\n".join([found.description, "", "examples:", *examples]),
            epilog=f"exit status:\n  {found.exit_status}",
            allow_abbrev=False,
            formatter_class=RawDescriptionHelpFormatter,
        )
        # argparse uses this to distinguish -1 from an option; its own pattern misses -1e39 and -inf.
        self._negative_number_matcher = re.compile(r"-\.?\d|-(inf|nan)$")
        found.add_arguments(self)
        self.runs_program = found.runs_program

    def split_words(self, words: Sequence[str]) -> CommandWords:
        """Split the words of a command line into ours and those of the program that the command runs.

        Raises UsageError if an option of ours stands after the program.
        """
        if not self.runs_program:
            return CommandWords(tuple(words), ())
        split = split_program_words(words, self._option_string_actions)
        check_program_words(self.prog, split, self._option_string_actions)
        return split

    def parse(self, words: Sequence[str]) -> Namespace:
        """Parse the words of a command line into arguments. Raises UsageError."""
        self._check_given_once(words)
        try:
            found, unread = self.parse_known_intermixed_args(words)
        except UsageError:
            self._check_near(words)
            raise
        if unread:
            others = [word for word in unread if not word.startswith("-")]
            known = [word for word in words if word in others or word not in unread]
            near = self._nearest_option(unread)
            advice = near + ("" if "--system" in near else self._suggest_options(known, others))
            self.error(f"unrecognized arguments: {' '.join(unread)}{advice}")
        return found

    def _check_near(self, words: Sequence[str]) -> None:
        """Raise UsageError for a misspelt option. Otherwise argparse would say that the right one is
        missing.
        """
        for word in (word.partition("=")[0] for word in _words_before_dashes(words)):
            if word not in self._option_string_actions and (near := self._nearest_option([word])):
                self.error(f"unrecognized arguments: {word}{near}")

    def _check_value(self, action: Action, value: object) -> None:
        """Raise ArgumentError, with the nearest choice, for a value that is not one of the choices."""
        choices = [*(action.choices or ())]
        if choices and value not in choices:
            near = spelling_hint(str(value), choices)
            raise ArgumentError(action, f"invalid choice: {value!r}{near}; choose from {', '.join(choices)}")

    def _nearest_option(self, unknown_words: Sequence[str]) -> str:
        """Return the option that is nearest to the first word that looks like an option.

        A letter, such as `-o`, means the options that begin with it.
        """
        mistyped = next((word.partition("=")[0] for word in unknown_words if word.startswith("-")), "")
        if re.fullmatch("-[a-z]", mistyped):
            options = [name for name in self._option_string_actions if name.startswith(f"-{mistyped}")]
            return did_you_mean(options)
        return spelling_hint(mistyped, self._option_string_actions) if mistyped.startswith("--") else ""

    def _check_given_once(self, words: Sequence[str]) -> None:
        """Raise UsageError if an option with one value is given twice: we do not guess which one counts."""
        given = [word.partition("=")[0] for word in _words_before_dashes(words)]
        for option in self._actions:
            holds_one = option.nargs != 0 and not isinstance(option.default, list)
            if holds_one and sum(word in option.option_strings for word in given) > 1:
                self.error(f"argument {'/'.join(option.option_strings)}: given more than once; name one")

    def _suggest_options(self, words: Sequence[str], unknown_words: Sequence[str]) -> str:
        """Return the command line to type instead, if the words not understood name values of options.

        These are systems and an operation. An option is suggested as often as it may be given.
        """
        option_by_word = {word: _option_of_value(word) for word in unknown_words}
        options = sorted({*option_by_word.values()}, reverse=True)
        for option in options:
            action = self._option_string_actions.get(option)
            several = action is not None and isinstance(action.default, list)
            count = [*option_by_word.values(), *(word.partition("=")[0] for word in words)].count(option)
            if action is None or (count > 1 and not several):
                return ""
        typed = [
            part
            for word in words
            for part in ((option_by_word[word], word) if word in option_by_word else (word,))
        ]
        named = " and ".join(NOUN_BY_OPTION[option] + option for option in options)
        return f"; {named}: type {self.prog} {shlex.join(typed)}" if options else ""

    def error(self, message: str) -> NoReturn:
        name = self.prog.removeprefix("typelattice ")
        raise UsageError(f"{name}: {clip_text(message, MAX_ERROR_CHARS // 2)}; see {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process; return one of the four exit statuses above.

    Raises KeyboardInterrupt if Ctrl-C must end this process: no exit status can say this as well.
    """
    if argv is None:
        end_by_interrupt()
    try:
        print_output(run(list(sys.argv[1:] if argv is None else argv), argv is None), sys.stdout)
    except DifferencesFound:
        return EXIT_DIFFERENT
    except (KeyboardInterrupt, ScriptInterrupted):
        if argv is not None:
            return EXIT_INTERRUPTED
        end_in_silence()
        raise KeyboardInterrupt from None
    except tl.TypelatticeError as e:
        if not (isinstance(e, OutputError) and e.is_pipe_closed):
            print_error(_error_text(e))
        return EXIT_NO_ANSWER
    return EXIT_ANSWERED


def _error_text(error: tl.TypelatticeError) -> str:
    """Return an error as one bounded line; each mistake of a system file has its own line."""
    if isinstance(error, tl.FormatError):
        return f"typelattice: {error}"  # its lines are bounded and printable
    return error_line(str(error))


def run(argv: list[str], ends_process: bool = False) -> Paragraphs:
    """Yield the output of a command line. Raises TypelatticeError, or DifferencesFound after some output.

    `ends_process`: this process ends with the command.
    """
    first, *rest = argv or ["help"]
    if first == "help" and rest:
        if len(rest) > 1 or rest[0] not in COMMAND_NAMES:
            raise UsageError(_no_command(" ".join(rest), COMMAND_NAMES))
        yield Parser(rest[0]).format_help().rstrip("\n")
    elif first in ("-h", "--help", "help"):
        yield from _write_help()
    elif first == "--version":
        yield f"typelattice {tl.__version__}"
    elif first not in COMMAND_NAMES:
        raise UsageError(_no_command(first, (*COMMAND_NAMES, *OWN_OPTIONS, "help")))
    else:
        parser = Parser(first)
        words = parser.split_words(rest)
        if {"-h", "--help"} & {*_words_before_dashes(words.ours)}:
            yield parser.format_help().rstrip("\n")
            return
        args = parser.parse(words.ours)
        if words.program:
            args.command = [*words.program]
        args.ends_process = ends_process
        yield from find_command(first).run(args)


def _option_of_value(word: str) -> str:
    """Return the option that a system or an operation is a value of, or an empty text."""
    if word in tl.systems(versions=True) or word.endswith(".toml"):
        return "--system"
    from typelattice.core.operations.operations import OPERATION_BY_NAME  # needed only for an error

    return "--op" if word in OPERATION_BY_NAME else ""


def _no_command(typed: str, known_words: Sequence[str]) -> str:
    near = spelling_hint(typed, known_words)
    return f"no command {quote_short(typed)}{near}; typelattice --help lists the commands"


def _words_before_dashes(words: Sequence[str]) -> Sequence[str]:
    return words[: words.index("--")] if "--" in words else words


def _write_help() -> Paragraphs:
    yield "Where did my float32 become float64? What dtype does x + y have?\n"
    yield "usage: typelattice COMMAND ..."
    for purpose, names in COMMANDS_BY_PURPOSE.items():
        yield f"\n{purpose}:"
        yield from (f"  {name:10} {find_command(name).description}" for name in names)
    yield "\n  typelattice COMMAND --help: more, with examples; typelattice --version\n\ntry:"
    yield from (
        f"  typelattice {name} {find_command(name).examples[0]}" for name in ("trace", "explain", "diff")
    )
    yield (
        "\nexit status: 0 an answer, 1 a difference or a failed check, 2 no answer;\n"
        "             3 a failed --exit-code, or a patch that may not be written"
    )
