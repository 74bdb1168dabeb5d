"""Changes in an installed library since it was recorded, found by the same calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typelattice.conformance.recording.library import ParsedOperandString, versions_text
from typelattice.conformance.recording.library_process import LibraryProcess
from typelattice.conformance.recording.recorder import ProgressReporter, repeat_recording
from typelattice.core.evidence.answer_notation import NOT_ASKED_ANSWER
from typelattice.core.evidence.recording import Recording
from typelattice.core.registry.releases import VERSION_SIGN
from typelattice.study.tables.changed_calls import Changes, changes_between, list_recorded_calls


@dataclass(frozen=True, slots=True)
class LibraryChanges:
    """The changes in a library since it was recorded.

    `new_recording` has its answers to the recorded questions. `removed_names` lists dtypes and operations
    that it no longer has, `added_names` those that the recording does not have.
    """

    old_recording: Recording
    new_recording: Recording
    changes: Changes
    removed_names: tuple[str, ...]
    added_names: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.changes.changes_by_operation or self.removed_names or self.added_names)


def changes_since_recording(
    library_process: LibraryProcess, name: str, old_recording: Recording, progress: ProgressReporter
) -> LibraryChanges:
    """Compare a library with an old recording, which is called `name`.

    The recording of an older release has only calls of the newest release, so nothing counts as new in it.
    """
    now = repeat_recording(library_process, old_recording, progress)
    found = changes_between(
        f"{name} (recorded)",
        list_recorded_calls(old_recording),
        f"{versions_text(now.versions)} (installed)",
        list_recorded_calls(now),
    )
    before, after = (
        {*_list_asked(old_recording)},
        {*library_process.catalogue.dtypes, *library_process.catalogue.operations},
    )
    new = () if VERSION_SIGN in name else tuple(sorted(after - before))
    return LibraryChanges(old_recording, now, found, tuple(sorted(before - after)), new)


def _list_asked(recording: Recording) -> Iterable[str]:
    """Return the dtypes and operations of a recording that the library had."""
    for call in recording.calls():
        if call.answer != NOT_ASKED_ANSWER:
            yield call.op
            for operand in call.operands:
                dtype = ParsedOperandString.parse(operand).dtype
                if dtype:
                    yield dtype
