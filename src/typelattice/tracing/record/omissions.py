"""Sentences on what a run leaves out, to bound its memory or because a dtype is not one of ours."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from typelattice.tracing.run_data.producing_steps import MAX_LINKS, MAX_STEPS_PER_OPERATION, StepTally

SUMMARISED_SENTENCE = (
    "{:,} results, such as those of loops, are counted with an earlier run of the same line on the same "
    "dtypes: of each operation {} are told apart by where their operands come from"
)
UNREAD_SENTENCE = "what is done with arrays of {} is no step: that is no dtype of ours"
FORGOTTEN_SENTENCE = "{:,} arrays were let go: {:,} are remembered at a time"


def yield_omissions(
    tallies: Sequence[StepTally], unknown_dtypes: Collection[str], forgotten: int
) -> Iterator[str]:
    """Yield the sentences for a run's tallies, its unreadable dtypes and its number of forgotten arrays."""
    if summarised := sum(tally.merged_tally.count for tally in tallies if tally.merged_tally):
        yield SUMMARISED_SENTENCE.format(summarised, MAX_STEPS_PER_OPERATION)
    if unknown_dtypes:
        yield UNREAD_SENTENCE.format(" and of ".join(sorted(unknown_dtypes)))
    if forgotten:
        yield FORGOTTEN_SENTENCE.format(forgotten, MAX_LINKS)
