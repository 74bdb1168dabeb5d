"""Patches that keep floats narrow: each change was run, and is kept only if nothing else came of it."""

from __future__ import annotations

import inspect
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import Any

from typelattice.disk.read import FileError, read_bytes
from typelattice.disk.write import check_writable, write_bytes
from typelattice.facts.dtypes import DType, dtype
from typelattice.fixing.changes import Change, changes
from typelattice.fixing.child import Program
from typelattice.fixing.comparison import Difference, difference, dtypes_differ, printed_difference
from typelattice.fixing.source import FixError, Source
from typelattice.fixing.workspace import Result, Workspace, workspace
from typelattice.tracing.findings.causes import Cause
from typelattice.tracing.findings.findings import Findings, findings
from typelattice.tracing.ground.widths import width_of
from typelattice.tracing.report.words import counted, size

MOST = 1 << 24  # bytes of a source
TRIES = 24  # changes that are tried for one cause
ROUNDS = 100  # causes that are fixed at most
Lines = Mapping[tuple[str, int], int]  # the bytes of wide floats by file and line


@dataclass(frozen=True, slots=True)
class Fixed:
    """A change that was kept: its file and line, and the code there before and after."""

    file: Path
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{_shown(self.file)}:{self.line}: {self.after}"


@dataclass(frozen=True, slots=True)
class Unfixed:
    """A cause of which no change was kept, and why the last one was taken back."""

    file: Path
    line: int
    code: str
    reason: str

    def __str__(self) -> str:
        return f"{_shown(self.file)}:{self.line}: {self.code}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Patch:
    """The changes of a program after which its floats stay narrow.

    `contents` has the bytes of each changed file before and after. `bytes` are those of the arrays of wide
    floats in the run before and after. `difference` compares the values of both runs.

    >>> print(Patch((), (), {}, (0, 0), Difference()))
    nothing to do: no float is widened
    """

    fixed: tuple[Fixed, ...]
    unfixed: tuple[Unfixed, ...]
    contents: Mapping[Path, tuple[bytes, bytes]] = field(repr=False)
    bytes: tuple[int, int]
    difference: Difference

    @property
    def safe(self) -> bool:
        """True if all values of the patched program equal those before."""
        return self.difference.none

    @property
    def diff(self) -> str:
        """The changes as a unified diff."""
        return "".join(
            line
            for path, (before, after) in sorted(self.contents.items())
            for line in _diff(_shown(path), before.decode("utf-8"), after.decode("utf-8"))
        )

    def write(self) -> None:
        """Write the changes. Raises FixError, FileError; then no file is written."""
        for path, (before, _) in self.contents.items():
            if read_bytes(path, MOST) != before:
                raise FixError(f"{path} has changed since it was run; run typelattice fix again")
            if not os.access(path, os.W_OK):
                raise FixError(f"{path} is read-only; make it writable, or apply the diff by hand")
            check_writable(path, len(self.contents[path][1]))
        for path, (_, after) in self.contents.items():
            write_bytes(path, after)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Print the diff, its grade, and the causes that were not fixed."""
        if not self.fixed and not self.unfixed:
            yield "nothing to do: no float is widened"
            return
        if self.fixed:
            yield self.diff
            yield f"{'safe' if self.safe else 'changes values'}: {self.difference}"
            made, (before, after) = counted(len(self.fixed), "change"), map(size, self.bytes)
            yield f"{made}: {before} of wide floats before, {after} after"
        if self.unfixed:
            yield f"not fixed: {counted(len(self.unfixed), 'place')}"
            yield from (f"  {each}" for each in self.unfixed)


def fix(
    function: Callable[..., Any],
    /,
    *args: Any,
    to: object = "float32",
    tolerance: float | None = None,
    **named: Any,
) -> Patch:
    """Find the changes of a function's file after which its floats stay as narrow as a dtype.

    The function is called with copies of its arguments, in a process of its own and on a copy of its folder.
    A change after which wide arguments give a narrower result is not kept. Raises FixError, FileError.

    >>> fix(lambda x: x * 2.0, 1.0)
    Traceback (most recent call last):
    typelattice.fixing.source.FixError: fix takes a function that is defined by name in a file; ...
    """
    inner = inspect.unwrap(function)
    if not isinstance(inner, FunctionType) or "<" in inner.__qualname__:
        raise FixError(
            "fix takes a function that is defined by name in a file; define one, and give its arguments"
        )
    file = Path(os.path.realpath(inner.__code__.co_filename))
    if not file.is_file():
        raise FixError(f"the source of {inner.__qualname__} is not in a file; save it in one")
    try:
        given = pickle.dumps((args, named))
    except Exception as e:
        raise FixError(
            f"an argument cannot be sent to another process: {e}; give arrays and numbers"
        ) from None
    folder = file.parents[inner.__module__.count(".") if inner.__module__ != "__main__" else 0]
    program = Program(str(file), (), (), False, folder, folder, inner.__qualname__, inner.__module__, given)
    return fix_program(program, dtype(to), tolerance)


def fix_script(
    target: str,
    argv: Sequence[str] = (),
    packages: Sequence[str] = (),
    as_module: bool = False,
    to: object = "float32",
    tolerance: float | None = None,
) -> Patch:
    """Find the changes of a script, or a module, after which its floats stay as narrow as a dtype.

    Raises FixError, FileError.
    """
    here = Path(os.path.realpath(os.curdir))
    path = here
    if not as_module:
        read_bytes(target, 0)  # raises FileError for a path that names no file that can be read
        path = Path(os.path.realpath(target))
    folder = here if as_module or path.is_relative_to(here) else path.parent
    program = Program(
        target if as_module else str(path), tuple(argv), tuple(packages), as_module, folder, folder
    )
    return fix_program(program, dtype(to), tolerance)


def fix_program(program: Program, to: DType, tolerance: float | None = None) -> Patch:
    """Patch a program in a copy of its folder until no change helps any more. Raises FixError."""
    if width_of(to) is None:
        raise FixError(f"{to} is no float; give the widest float that is to remain, such as float32")
    with workspace(program) as place:
        return _Fixing(place, to, tolerance).patch()


class _Fixing:
    """The search for a patch: the sources as they are by now, and the run of them."""

    def __init__(self, place: Workspace, to: DType, tolerance: float | None) -> None:
        self.place, self.to, self.tolerance = place, to, tolerance
        self.limit = width_of(to) or 0
        self.root, self.original = place.program.root, place.program.original
        self.before = self.check()
        self.now = self.before
        self.wide = place.run(widen=True) if place.program.function else ""
        self.sources: dict[str, Source] = {}
        self.refused: dict[str, str] = {}
        self.contents: dict[str, bytes] = {}

    def check(self) -> Result:
        """Run the program twice. Raises FixError where it fails, or gives other values the second time."""
        first, second = self.unchanged(), self.unchanged()
        again = difference(first.values, second.values, self.to)
        if not again.none or first.printed != second.printed:
            what = again.name or again.reason or "what it prints"
            raise FixError(
                f"the program gives other values at each run ({what}): seed it, then run this again"
            )
        return first

    def unchanged(self) -> Result:
        """Run the program as it is. Raises FixError where it fails."""
        ran = self.place.run()
        if isinstance(ran, str):
            raise FixError(f"the program fails without any change: {ran}")
        return ran

    def patch(self) -> Patch:
        fixed: list[Fixed] = []
        unfixed: dict[tuple[str, int, str], Unfixed] = {}
        for _ in range(ROUNDS):
            found = self.read_sources(findings(self.now.run))
            cause = next(
                (c for c in found.causes if self.concerns(c) and self.key(found, c) not in unfixed), None
            )
            if cause is None:
                break
            kept = self.try_changes(found, cause)
            if isinstance(kept, Fixed):
                fixed.append(kept)
            else:
                unfixed[self.key(found, cause)] = kept
        contents = {
            self.origin(file): (before, Path(file).read_bytes())
            for file, before in self.contents.items()
            if Path(file).read_bytes() != before
        }
        left = {self.key(found, c) for c in found.causes}
        wide = tuple(sum(self.wide_lines(findings(each.run)).values()) for each in (self.before, self.now))
        return Patch(
            tuple(fixed), tuple(each for key, each in unfixed.items() if key in left), contents,
            (wide[0], wide[1]), _worse(self.before, self.now, self.to),
        )  # fmt: skip

    def concerns(self, cause: Cause) -> bool:
        """Tell whether a cause makes floats wider than the goal."""
        return (width_of(cause.wide) or 0) > self.limit

    def key(self, found: Findings, cause: Cause) -> tuple[str, int, str]:
        step = found.checked.steps[cause.at]
        return (step.location.file, step.location.line, step.text) if step.location else ("", 0, step.text)

    def read_sources(self, found: Findings) -> Findings:
        """Read the files of a run that lie in the copy; the others are not the user's to change."""
        for file in found.checked.run.sources:
            inside = Path(file).is_absolute() and Path(file).is_relative_to(self.root)
            if file in self.sources or file in self.refused or not inside or not Path(file).is_file():
                continue
            try:
                self.sources[file] = Source(self.origin(file), read_bytes(file, MOST))
                self.contents[file] = self.sources[file].content
                assert self.sources[file].tree
            except (FixError, SyntaxError, FileError) as e:
                self.sources.pop(file, None)
                self.refused[file] = str(e)
        return found

    def origin(self, file: str) -> Path:
        """Map a file of the copy to the user's."""
        return self.original / Path(file).relative_to(self.root)

    def try_changes(self, found: Findings, cause: Cause) -> Fixed | Unfixed:
        """Try the changes of a cause one by one, and keep the first that passes."""
        file, line, code = self.key(found, cause)
        path = self.origin(file) if file in self.sources else Path(file)
        reason = self.refused.get(file, "")
        if file not in self.sources and not reason:
            reason = (
                "it is in no file of the program; name its package with --package, and run from its folder"
            )
        before = self.wide_lines(found)
        for change in islice(changes(found.checked, cause, self.sources), TRIES):
            source = self.sources[change.file]
            content = source.edited(change.edits)
            try:
                patched = Source(source.path, content)
                assert patched.tree
            except (SyntaxError, ValueError):
                continue
            Path(change.file).write_bytes(content)
            ran = self.place.run()
            refusal = ran if isinstance(ran, str) else self.refusal(ran, before, change)
            if not refusal and not isinstance(ran, str):
                self.sources[change.file], self.now = patched, ran
                old, new = (_line(text, change.line) for text in (source.content, content))
                return Fixed(self.origin(change.file), change.line, old, new)
            reason = f"tried {_line(content, change.line)!r}: {refusal}"
            Path(change.file).write_bytes(source.content)
        return Unfixed(path, line, code, reason or "no change of its source is known")

    def refusal(self, ran: Result, before: Lines, change: Change) -> str:
        """Say why a change is taken back; return "" where it is kept."""
        found = findings(ran.run)
        now = self.wide_lines(found)
        new = [at for at in now if at not in before and at != (change.file, change.line)]
        if new:
            file, line = new[0]
            return f"a wide float comes up at {_shown(self.origin(file))}:{line}"
        if sum(now.values()) >= sum(before.values()):
            return "as much is wide as before"
        if ran.warnings != self.before.warnings:
            other = next(iter({*ran.warnings} ^ {*self.before.warnings}), "another number of warnings")
            return f"it does not warn as before: {other}"
        worst = _worse(self.before, ran, self.to)
        if worst.reason:
            return worst.reason
        if self.tolerance is not None and worst.relative > self.tolerance:
            return f"{worst}, beyond the tolerance of {self.tolerance:g}"
        return self.narrows_wide_input()

    def narrows_wide_input(self) -> str:
        """Run the function with wide arguments; say where its results are no longer as wide."""
        if isinstance(self.wide, str):  # it is a script, or fails with wide arguments anyway
            return ""
        ran = self.place.run(widen=True)
        if isinstance(ran, str):
            return f"with wide input: {ran}"
        other = dtypes_differ(self.wide.values, ran.values)
        return f"with wide input {other} is {ran.values[other].dtype}" if other else ""

    def wide_lines(self, found: Findings) -> Lines:
        """Count the bytes of floats wider than the goal, by file and line."""
        bytes_: dict[tuple[str, int], int] = {}
        for step, seen, width in zip(
            found.checked.steps, found.checked.run.seen, found.checked.widths, strict=True
        ):
            if step.location is not None and (width or 0) > self.limit and seen.count:
                at = step.location.file, step.location.line
                bytes_[at] = bytes_.get(at, 0) + seen.bytes
        return bytes_


def _worse(before: Result, after: Result, to: DType) -> Difference:
    """Compare the values and the prints of two runs; return the larger difference."""
    values = difference(before.values, after.values, to)
    both = values, printed_difference(before.printed, after.printed, to)
    return max(both, key=lambda each: (bool(each.reason), each.relative))


def _line(content: bytes, line: int) -> str:
    lines = content.splitlines()
    return lines[line - 1].decode("utf-8").strip() if line <= len(lines) else ""


def _shown(path: Path) -> str:
    here = Path(os.path.realpath(os.curdir))
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


def _diff(name: str, before: str, after: str) -> Iterator[str]:
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    for line in unified_diff(old, new, f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
