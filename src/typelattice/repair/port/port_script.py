"""Run a program, and compare each operation with the other release of its library."""

from __future__ import annotations

import ast
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

from typelattice.programs.calls.steps import SourceLocation
from typelattice.repair.port.port_report import PortReport, merge_differences
from typelattice.tracing.entry_points.script import EndedScript, run_script
from typelattice.tracing.library_traits import release_comparison
from typelattice.tracing.record.release_checks import ReleaseChecks
from typelattice.tracing.run_data.release_difference import RAISES, ReleaseDifference

LIBRARY = "numpy"  # the only library with two releases that compute differently


def port_script(
    target: str,
    argv: Sequence[str],
    packages: Sequence[str],
    as_module: bool = False,
    project: str = "",
    on_windows: bool = False,
) -> PortReport:
    """Run a script or a module, and compare its operations with the other release of NumPy.

    With `on_windows`, the older release is that of Windows. Raises ScriptError or FileError if it cannot be
    run.
    """
    checks = ReleaseChecks(on_windows)
    ended = run_script(target, argv, packages, as_module, values=checks, project=project)
    is_needed = checks.checked_count or (ended.error is not None and LIBRARY in sys.modules)
    releases = release_comparison(LIBRARY) if is_needed else None
    own = releases.own_release(on_windows) if releases is not None else ""
    differences = [
        *checks.differences.values(), *_list_constants(ended, releases), *_find_error(ended, own)
    ]  # fmt: skip
    return PortReport(
        own,
        releases.other_release(own, on_windows) if releases is not None else "",
        checks.checked_count,
        merge_differences(differences),
        ended.status,
        _describe_ending(ended),
    )


def _list_constants(ended: EndedScript, releases: Any) -> Iterator[ReleaseDifference]:
    """Yield the constants in followed sources that a dtype does not hold, also on lines that did not run."""
    for file, text in ended.sources.items() if releases is not None else ():
        for node, (effect, loser, sentence, severity) in releases.list_constants_out_of_range(text):
            at = SourceLocation(file, node.lineno)
            yield ReleaseDifference(effect, at, ast.unparse(node), loser, sentence, severity)


def _find_error(ended: EndedScript, own: str) -> Iterator[ReleaseDifference]:
    """Yield the error of a Python int that did not fit, if it ended the program."""
    error = ended.error
    if not isinstance(error, (OverflowError, TypeError)) or not own:
        return
    frames = traceback.extract_tb(error.__traceback__)
    followed = [frame for frame in frames if frame.filename in ended.sources]
    if followed and followed[-1] is frames[-1]:
        frame = followed[-1]
        at = SourceLocation(frame.filename, frame.lineno or 0)
        sentence = f"the program ends here: {type(error).__name__}: {error}"
        yield ReleaseDifference(RAISES, at, (frame.line or "").strip(), own, sentence, 2.0, True)


def _describe_ending(ended: EndedScript) -> str:
    if not ended.status:
        return ""
    what = f"the program ended with status {ended.status}: lines after that were not compared"
    return f"{what}; name an interpreter with NumPy 1 to compare all lines: --python OTHER"
