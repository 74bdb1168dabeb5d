"""The lines of the working tree that differ from a commit, as Git tells."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from typelattice.base.errors.error_texts import clip_text, quote_short, spelling_hint
from typelattice.base.errors.errors import TypelatticeError
from typelattice.programs.calls.steps import SourceLocation

HUNK_PATTERN = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
FILE_MARK = b"diff --git "
MAX_GIT_SECONDS = 120


class ChangedLinesError(TypelatticeError, ValueError):
    """A commit that the working tree cannot be compared with."""


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """The lines that a working tree changes after a commit, by the real path of their file.

    A file that is not in the commit has no ranges: all its lines are new.
    """

    base: str
    ranges_by_file: Mapping[str, tuple[range, ...]]

    def __contains__(self, location: SourceLocation) -> bool:
        """Return True if a line of a source location was changed."""
        ranges = self.ranges_by_file.get(os.path.realpath(location.file))
        if ranges is None:
            return False
        lines = range(location.line, max(location.line, location.end_line) + 1)
        return not ranges or any(r.start < lines.stop and lines.start < r.stop for r in ranges)


def read_changed_lines(base: str, folder: str) -> ChangedLines:
    """Ask Git which lines of Python files changed since the working tree left a commit or branch.

    If only lines were removed, the lines before and after them count. Raises ChangedLinesError.
    """
    advice = "name a branch or a commit, such as origin/main, and fetch it with its history"
    if base.startswith("-") or not base.isprintable() or not base:
        raise ChangedLinesError(f"{quote_short(base)} is no name of a commit; {advice}")
    top = os.fsdecode(_ask_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))
    commit = f"{base}^{{commit}}"
    try:
        _ask_git(top, "rev-parse", "--verify", "--quiet", commit)
    except ChangedLinesError:
        near = spelling_hint(base, _list_branches(top))
        raise ChangedLinesError(f"there is no commit {base!r}{near}; {advice}") from None
    unrelated = f"the current commit has no history in common with {base!r}; {advice}"
    fork = _ask_git(top, "merge-base", base, "HEAD", why=unrelated)
    differing = "diff", "--no-renames", "--diff-filter=d", "--no-ext-diff", "--no-textconv", "--no-color"
    since = os.fsdecode(fork.strip()), "--", "*.py"
    names = _ask_git(top, *differing, "--name-only", "-z", *since).split(b"\0")[:-1]
    changes = _split_files(_ask_git(top, *differing, "--unified=0", *since))
    new = _ask_git(top, "ls-files", "--others", "--exclude-standard", "-z", "--", "*.py").split(b"\0")[:-1]
    ranges = {_real_path(top, name): ranges for name, ranges in zip(names, changes, strict=True)}
    return ChangedLines(base, ranges | {_real_path(top, name): () for name in new})


def _list_branches(top: str) -> list[str]:
    """Return the names of HEAD, of branches and of tags."""
    names = _ask_git(top, "for-each-ref", "--format=%(refname:short)").decode(errors="replace")
    return ["HEAD", *(name for name in names.split("\n") if name)]


def _real_path(top: str, name: bytes) -> str:
    return os.path.realpath(os.path.join(top, os.fsdecode(name)))


def _split_files(diff: bytes) -> list[tuple[range, ...]]:
    """Return the changed lines of each file of a diff without context, in its order."""
    found: list[list[range]] = []
    for line in diff.split(b"\n"):
        if line.startswith(FILE_MARK):  # each line of content begins with a sign
            found.append([])
        elif hunk := HUNK_PATTERN.match(line):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            found[-1].append(range(start, start + (count or 2)))
    return [tuple(ranges) or (range(0),) for ranges in found]


def _ask_git(folder: str, *words: str, why: str = "") -> bytes:
    """Run a command of Git that changes nothing. Raises ChangedLinesError, with Git's words."""
    command = ["git", "-c", "core.fsmonitor=false", "--no-optional-locks", *words]
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=MAX_GIT_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as e:
        raise ChangedLinesError(f"Git cannot be run: {e}; install Git, or leave --since out") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise ChangedLinesError(why or f"Git cannot tell what changed: {clip_text(said, 200)}")
    return done.stdout
