"""The command line of a program that we run: where it begins, and options of ours that stand in it."""

from __future__ import annotations

import shlex
from argparse import Action
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typelattice.show.cli.command import UsageError

MODULE_OPTION = "-m"
DASHES = "--"
MIN_MISSPELT_CHARS = 6  # a shorter option, such as --all, is one letter away from too many others


@dataclass(frozen=True, slots=True)
class CommandWords:
    """The words after the name of a command: ours, then those of the program that it runs."""

    ours: tuple[str, ...]
    program: tuple[str, ...]

    @property
    def may_be_ours(self) -> tuple[str, ...]:
        """The program's words up to `--`, among which an option of ours may stand by mistake."""
        return self.program[: self.program.index(DASHES)] if DASHES in self.program else self.program


def split_program_words(words: Sequence[str], options: Mapping[str, Action]) -> CommandWords:
    """Split a command line before the script, after the module of `-m`, or before `--`.

    `options` are our options by their spellings.
    """
    i = 0
    while i < len(words) and words[i].startswith("-") and words[i] != DASHES:
        if words[i].startswith(MODULE_OPTION):
            i += 2 if words[i] == MODULE_OPTION else 1
            break
        i += 2 if _takes_next_word(words[i], options) else 1
    return CommandWords(tuple(words[:i]), tuple(words[i:]))


def check_program_words(prog: str, words: CommandWords, options: Mapping[str, Action]) -> None:
    """Raise UsageError if an option of ours, or one that is a letter away, stands among the program's words.

    The program may have an option of the same name, so we do not guess: nothing runs, and the error has the
    command line for each meaning.
    """
    movable = {name: action for name, action in options.items() if name != MODULE_OPTION}
    found = dict.fromkeys(name for name in map(_option_name, words.may_be_ours) if name in movable)
    if found:
        what, advice = ", ".join(found), f"type {prog} {shlex.join(_move_options(words, movable))}"
    else:
        near = [(word, name) for word in words.may_be_ours for name in movable if _is_one_slip(word, name)]
        if not near:
            return
        word, name = near[0]
        corrected = name + word.removeprefix(_option_name(word))
        meant = tuple(corrected if each == word else each for each in words.program)
        moved = _move_options(CommandWords(words.ours, meant), movable)
        what, advice = f"{_option_name(word)} (did you mean {name}?)", f"type {prog} {shlex.join(moved)}"
    raise UsageError(
        f"{what} stands after the program; if it is ours, {advice}; "
        f"if it is the program's, type {prog} {shlex.join([*words.ours, DASHES, *words.program])}"
    )


def _option_name(word: str) -> str:
    return word.partition("=")[0]


def _takes_next_word(word: str, options: Mapping[str, Action]) -> bool:
    """Return True if a word is an option of ours with a value, which the next word holds."""
    return word in options and options[word].nargs != 0


def _move_options(words: CommandWords, options: Mapping[str, Action]) -> list[str]:
    """Put our options among the program's words first, each with its value, or the name of a missing one."""
    moved: list[str] = []
    left: list[str] = []
    rest = [*words.may_be_ours]
    while rest:
        word = rest.pop(0)
        if _option_name(word) not in options:
            left.append(word)
            continue
        moved.append(word)
        if _takes_next_word(word, options):
            moved.append(rest.pop(0) if rest else str(options[word].metavar or "VALUE"))
    return [*moved, *words.ours, *left, *words.program[len(words.may_be_ours) :]]


def _is_one_slip(word: str, option: str) -> bool:
    """Return True if a word is a long option with one letter more, one less, another one, or two swapped.

    >>> [_is_one_slip(each, "--write") for each in ("--wirte", "--writ", "--wrote", "--white=1", "--right")]
    [True, True, True, True, False]
    """
    typed = word.partition("=")[0]
    if min(len(typed), len(option)) < MIN_MISSPELT_CHARS or not typed.startswith(DASHES):
        return False
    start = next((i for i, (a, b) in enumerate(zip(typed, option, strict=False)) if a != b), -1)
    if start < 0:
        return abs(len(typed) - len(option)) == 1
    a, b = typed[start:], option[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[1::-1] + a[2:] == b and len(a) > 1)
