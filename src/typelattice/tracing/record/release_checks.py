"""Checks of each operation of a run against the other release of its library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from typelattice.base.errors.outside_errors import raise_if_from_outside
from typelattice.programs.calls.steps import MAX_STEP_CHARS, SourceLocation
from typelattice.tracing.library_traits import release_comparison
from typelattice.tracing.record.value_loss_witness import ValueChecks
from typelattice.tracing.run_data.release_difference import EFFECTS, ReleaseDifference

MAX_COMPARED_RUNS = 64  # of one operation with operands of the same dtypes


class ReleaseChecks(ValueChecks):
    """The differences so far by source location and text. The worst one of a text is kept.

    With `on_windows`, the older release is that of Windows, if the library has one.
    """

    def __init__(self, on_windows: bool = False) -> None:
        super().__init__()
        self.on_windows = on_windows
        self.differences: dict[tuple[SourceLocation, str], ReleaseDifference] = {}
        self.compared: Counter[tuple[Any, ...]] = Counter()

    def observe_operation(
        self,
        witness: Any,
        name: str,
        operands: Sequence[Any],
        keywords: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Compare an operation that has run, if its library has two releases to compare."""
        kind = witness.array_kinds[type(result)]
        releases = release_comparison(kind.library) if kind is not None else None
        if releases is None or not all(self.is_plain[type(x)] for x in operands):
            return
        key = witness, *(getattr(x, "dtype", type(x)) for x in operands)
        self.compared[key] += 1
        if self.compared[key] > MAX_COMPARED_RUNS:
            return
        self.checked_count += 1
        compare = partial(releases.compare_releases, name, operands, keywords, result, self.on_windows)
        try:
            found = compare()
        except Exception as e:
            raise_if_from_outside(e, compare)
            return
        if found is None:
            return
        effect, loser, sentence, severity = found
        at = SourceLocation(witness.module.file, witness.operation.line)
        text = witness.recorder.sources[witness.module.file].text_at(witness.operation)[:MAX_STEP_CHARS]
        difference = ReleaseDifference(effect, at, text, loser, sentence, severity)
        known = self.differences.get((at, text))
        if known is None or _rank(difference) < _rank(known):
            self.differences[at, text] = difference


def _rank(difference: ReleaseDifference) -> tuple[int, float]:
    return EFFECTS.index(difference.effect), -difference.severity
