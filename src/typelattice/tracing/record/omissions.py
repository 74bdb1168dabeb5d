"""Sentences on what a run leaves out, to bound its memory or because a dtype is not one of ours."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from typelattice.tracing.run_data.array_links import MOST_AT_ONE, MOST_LINKS, Note

SUMMARISED = (
    "{:,} results, such as those of loops, are counted with an earlier run of the same line on the same "
    "dtypes: of each operation {} are told apart by where their operands come from"
)
UNREAD = "what is done with arrays of {} is no step: that is no dtype of ours"
LET_GO = "{:,} arrays were let go: {:,} are remembered at a time"


def omissions(notes: Sequence[Note], unread: Collection[str], let_go: int) -> Iterator[str]:
    """Yield the sentences for a run's notes, its unreadable dtypes and its number of forgotten arrays."""
    if summarised := sum(note.alike.count for note in notes if note.alike):
        yield SUMMARISED.format(summarised, MOST_AT_ONE)
    if unread:
        yield UNREAD.format(" and of ".join(sorted(unread)))
    if let_go:
        yield LET_GO.format(let_go, MOST_LINKS)
