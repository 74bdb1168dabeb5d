"""Run a program, and compare each operation with the other release of its library."""

from __future__ import annotations

import ast
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from typelattice.programs.calls.steps import SourceLocation
from typelattice.tracing.entry_points.script import EndedScript, run_script
from typelattice.tracing.library_traits import release_comparison
from typelattice.tracing.record.release_checks import ReleaseChecks
from typelattice.tracing.run_data.release_difference import EFFECTS, RAISES, ReleaseDifference

LIBRARY = "numpy"  # the only library with two releases that compute differently


@dataclass(frozen=True, slots=True)
class PortReport:
    """The differences of a run between two releases, the worst first, and what was looked at.

    `own` and `other` name the systems of the installed release and of the other one, or are "" if no array
    of the library was seen. `checked_count` is the number of operations that were compared. `ending` says how
    the program failed, or is "".
    """

    own: str
    other: str
    checked_count: int
    differences: tuple[ReleaseDifference, ...]
    status: int | None
    ending: str = ""

    @property
    def by_effect(self) -> dict[str, list[ReleaseDifference]]:
        """The differences of each effect."""
        return {effect: [each for each in self.differences if each.effect == effect] for effect in EFFECTS}


def port_script(
    target: str, argv: Sequence[str], packages: Sequence[str], as_module: bool = False, project: str = ""
) -> PortReport:
    """Run a script or a module, and compare its operations with the other release of NumPy.

    Raises ScriptError or FileError if it cannot be run.
    """
    checks = ReleaseChecks()
    ended = run_script(target, argv, packages, as_module, values=checks, project=project)
    is_needed = checks.checked_count or (ended.error is not None and LIBRARY in sys.modules)
    releases = release_comparison(LIBRARY) if is_needed else None
    own = releases.own_release() if releases is not None else ""
    found = {(each.location, each.text): each for each in checks.differences.values()}
    for each in (*_list_constants(ended, releases), *_find_error(ended, own)):
        known = next((x for x in found.values() if _is_same_place(x, each)), None)
        if known is None:
            found[each.location, each.text] = each
    ordered = sorted(found.values(), key=_order)
    return PortReport(
        own,
        releases.other_release(own) if releases is not None else "",
        checks.checked_count,
        tuple(ordered),
        ended.status,
        _describe_ending(ended),
    )


def _order(difference: ReleaseDifference) -> tuple[int, float, str, int]:
    at = difference.location
    return EFFECTS.index(difference.effect), -difference.severity, at.file, at.line


def _is_same_place(known: ReleaseDifference, other: ReleaseDifference) -> bool:
    """Return True if two differences are errors of one line, where one text is a part of the other."""
    same = (known.location.file, known.location.line) == (other.location.file, other.location.line)
    is_part = known.text in other.text or other.text in known.text
    return same and is_part and known.effect == other.effect


def _list_constants(ended: EndedScript, releases: Any) -> Iterator[ReleaseDifference]:
    """Yield the constants in followed sources that a dtype does not hold, also on lines that did not run."""
    for file, text in ended.run.sources.items() if releases is not None else ():
        for node, (effect, loser, sentence, severity) in releases.list_constants_out_of_range(text):
            at = SourceLocation(file, node.lineno)
            yield ReleaseDifference(effect, at, ast.unparse(node), loser, sentence, severity)


def _find_error(ended: EndedScript, own: str) -> Iterator[ReleaseDifference]:
    """Yield the error of a Python int that did not fit, if it ended the program."""
    error = ended.error
    if not isinstance(error, (OverflowError, TypeError)) or not own:
        return
    frames = traceback.extract_tb(error.__traceback__)
    followed = [frame for frame in frames if frame.filename in ended.run.sources]
    if followed and followed[-1] is frames[-1]:
        frame = followed[-1]
        at = SourceLocation(frame.filename, frame.lineno or 0)
        sentence = f"the program ends here: {type(error).__name__}: {error}"
        yield ReleaseDifference(RAISES, at, (frame.line or "").strip(), own, sentence, 2.0)


def _describe_ending(ended: EndedScript) -> str:
    if not ended.status:
        return ""
    what = f"the program ended with status {ended.status}: lines after that were not compared"
    return f"{what}; run it with NumPy 1 to compare all lines in one run"
