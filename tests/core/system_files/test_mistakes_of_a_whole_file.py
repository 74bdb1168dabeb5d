"""Mistakes planted into a file with most keys: each is found alone, on its line, with its cause.

whole_mistakes.txt has a head for each place: `= ties` replaces the line that begins with `ties`, and
`+ [ops]` adds lines below the one that begins with `[ops]`. Then come the lines of each mistake, and its
cause, which is indented further. The last line is the wrong one, or the one after `>`. The mistakes were made
up from the pages of the format, and not from the code that finds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from typelattice.core.engine.foreign_arrays import CONVERSION_PREFIX, FOREIGN_COUNTS_AS_WORDS, FOREIGN_FORMS
from typelattice.core.engine.operation_rules import KIND_BY_PYTHON_NUMBER_WORD, RESULT_WORDS
from typelattice.core.engine.rule_enums import CountsAs, PairJoin
from typelattice.core.system_files.operation_entries import OPERANDS_BY_SIDE_WORD, REST_KEY
from typelattice.core.system_files.reader import parse
from typelattice.core.system_files.system_text import FormatError
from typelattice.core.system_files.value_reader import RESERVED_WORDS

FOLDER = Path(__file__).parent
WHOLE = (FOLDER / "whole.toml").read_text(encoding="utf-8")


class Mistake(NamedTuple):
    """A mistake: the head of its place, the planted lines, the number of the wrong one, and the cause."""

    head: str
    lines: list[str]
    wrong: int
    cause: str

    def plant(self) -> tuple[str, int]:
        """Return the text with the mistake, and the number of its line."""
        how, start = self.head.split(" ", 1)
        whole = WHOLE.split("\n")
        place = next(i for i, line in enumerate(whole) if line.startswith(start))
        first = place + (how == "+")
        whole[first : place + 1] = self.lines
        return "\n".join(whole), first + self.wrong + 1


def read_mistakes() -> Iterator[Mistake]:
    head, lines = "", list[str]()
    for line in (FOLDER / "whole_mistakes.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("      "):
            wrong = next((i for i, each in enumerate(lines) if each.startswith("> ")), len(lines) - 1)
            yield Mistake(head, [each.removeprefix("> ") for each in lines], wrong, line.strip())
            lines = []
        elif line.startswith("  "):
            lines.append(line.removeprefix("  "))
        else:
            head = line


MISTAKES = [*read_mistakes()]


def test_the_file_is_accepted_without_a_mistake() -> None:
    parse(WHOLE)
    assert len(MISTAKES) > 150


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.lines[-1])
def test_a_mistake_is_found_alone_on_its_line(mistake: Mistake) -> None:
    text, line = mistake.plant()
    with pytest.raises(FormatError) as caught:
        parse(text)
    found = [(e.line, e.cause.partition("; the other is on line ")[0]) for e in caught.value.mistakes]
    assert found == [(line, mistake.cause)]


def test_a_set_has_no_name_that_means_something_else_in_a_list() -> None:
    """`any` in a pair means every operand, and `left` in `gives` the left one, whatever the file says."""
    phrases = (
        *RESULT_WORDS, *KIND_BY_PYTHON_NUMBER_WORD, *CountsAs, *PairJoin, *OPERANDS_BY_SIDE_WORD, REST_KEY,
        *FOREIGN_FORMS, *FOREIGN_COUNTS_AS_WORDS, CONVERSION_PREFIX, "then", "but", "scalars", "right",
    )  # fmt: skip
    assert {word for word in phrases if word.isidentifier()} <= RESERVED_WORDS
