"""The result of a tuning: the front of error against bytes and time, as text, as data and as patches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from typelattice.base.disk.read import read_bytes
from typelattice.base.disk.write import check_writable
from typelattice.base.disk.write_in_process import write_files_in_process
from typelattice.repair.patch.patch import MAX_SOURCE_BYTES, path_text, write_diff
from typelattice.repair.tune.error_measure import MEASURES
from typelattice.repair.tune.places import Place
from typelattice.repair.tune.trial import Contents
from typelattice.repair.tune.tune_options import TuneError
from typelattice.repair.tune.tuned_program import TunedProgram
from typelattice.repair.tune.wide_lines import WideLine, original_path
from typelattice.tracing.report.formatting import count_text, package_path, size_text

AS_IT_STANDS, IN_FLOAT64, NARROWED, WIDENED = "as it stands", "widest", "narrowed", "widened"
TRIAL_PREFIX = "trial "
MAX_UNTUNED_SHOWN = 12


@dataclass(slots=True)
class Point:
    """A configuration that ran: its error over all inputs, and its cost with the first input.

    `float_bytes` are those of all float arrays that it makes. They and `seconds` are None if not measured.
    """

    labels: list[str]
    configuration: Mapping[Place, str]
    error: float
    reason: str
    worst_name: str
    contents: Contents
    float_bytes: int | None = None
    seconds: float | None = None
    input_count: int = 0
    number: int = 0

    def choices(self) -> Iterator[tuple[Place, str]]:
        """Yield the places whose dtype differs from the program as it stands, with the dtype."""
        for place, dtype in self.configuration.items():
            if place.follows or place.dtype_at(dtype) != place.dtype:
                yield place, place.dtype_at(dtype)

    @property
    def is_named(self) -> bool:
        """True if the point is more than one of the trials."""
        return any(not label.startswith(TRIAL_PREFIX) for label in self.labels)

    @property
    def label(self) -> str:
        """Say what the point is, or which dtypes it has."""
        named = [label for label in self.labels if not label.startswith(TRIAL_PREFIX)]
        return ", ".join(named) if named else "between"


@dataclass(frozen=True, slots=True)
class Widening:
    """The smallest widening that repairs a program: errors before and after, and the places.

    `misses` says that the program as it stands misses the tolerance of the user.
    """

    before: float
    after: float
    places: tuple[Place, ...]
    configuration: Mapping[Place, str]
    tolerance: float
    misses: bool


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of a tuning. `points` are numbered from 1, and stand from the largest to the smallest bytes.

    `narrowed` is the point with the narrowest configuration that keeps the tolerance, or None.
    """

    points: tuple[Point, ...]
    narrowed: Point | None
    wide_lines: tuple[WideLine, ...]
    widening: Widening | None
    tolerance: float
    measure: str
    place_count: int
    group_count: int
    input_count: int
    run_count: int
    results: str
    notes: tuple[str, ...]
    untuned: tuple[tuple[Path, int, str, str], ...]
    ended: str
    original_folder: Path = field(repr=False)
    originals: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def make(
        cls,
        tuned: TunedProgram,
        points: Sequence[Point],
        wide_lines: tuple[WideLine, ...],
        widening: Widening | None,
        ended: str,
    ) -> Tuning:
        """Make the result of a search, with the points in order."""
        ordered = sorted(
            points, key=lambda p: (-(p.float_bytes if p.float_bytes is not None else inf), p.error)
        )
        for number, point in enumerate(ordered, 1):
            point.number = number
        program = tuned.workspace.program
        originals = {
            str(Path(file).relative_to(program.copy_folder)): source.content
            for file, source in tuned.sources.items()
        }
        untuned = tuple(
            (original_path(tuned, each.file), each.line, each.text, each.reason) for each in tuned.untuned
        )
        fits = (p for p in ordered if NARROWED in p.labels and p.error <= tuned.options.tolerance)
        return cls(
            tuple(ordered), next(fits, None), wide_lines, widening, tuned.options.tolerance,
            tuned.options.measure,
            len(tuned.places), len(tuned.graph.groups), len(tuned.inputs), tuned.run_count,
            describe_results(tuned), (*tuned.notes, *tuned.workspace.notes), untuned, ended,
            program.original_folder, originals,
        )  # fmt: skip

    @property
    def saves(self) -> bool:
        """True if a configuration keeps the tolerance, and is better than the program as it stands.

        It makes fewer bytes, as far as both were measured, or the program as it stands misses the tolerance.
        """
        best, own = self.narrowed, next((p for p in self.points if AS_IT_STANDS in p.labels), None)
        if best is None or best is own:
            return False
        if own is None or own.error > self.tolerance or None in (own.float_bytes, best.float_bytes):
            return True
        return (best.float_bytes or 0) < (own.float_bytes or 0)

    def point(self, number: int) -> Point:
        """Return a point by its number. Raises TuneError."""
        if not 1 <= number <= len(self.points):
            raise TuneError(f"there is no point {number}; the front has {len(self.points)}")
        return self.points[number - 1]

    def diff(self, number: int) -> str:
        """Return the patch of a point as a unified diff."""
        return "".join(
            line
            for name, content in sorted(self.point(number).contents.items())
            for line in write_diff(
                path_text(self.original_folder / name),
                self.originals[name].decode("utf-8"),
                content.decode("utf-8"),
            )
        )

    def write(self, number: int) -> list[Path]:
        """Write the patch of a point into the sources, and return the files. Raises TuneError or FileError.

        Only a point whose error was measured within the tolerance is written.
        """
        point = self.point(number)
        if not point.error <= self.tolerance:
            raise TuneError(f"point {number} misses the tolerance {self.tolerance:g}; nothing is written")
        contents = {self.original_folder / name: content for name, content in point.contents.items()}
        for path, content in contents.items():
            name = str(path.relative_to(self.original_folder))
            if read_bytes(path, MAX_SOURCE_BYTES) != self.originals[name]:
                raise TuneError(f"{path} has changed since it was run; run typelattice tune again")
            if package_path(str(path)) is not None:
                raise TuneError(f"{path} is installed; apply the diff to the sources of its package")
            if not os.access(path, os.W_OK) or not path.stat().st_mode & 0o222:  # root may write any file
                raise TuneError(f"{path} is read-only; make it writable, or apply the diff by hand")
            check_writable(path, len(content))
        if contents:
            write_files_in_process(contents)
        return [*contents]

    def data(self) -> dict[str, object]:
        """Return the result as JSON data. What was not measured is null."""
        return {
            "tolerance": self.tolerance,
            "measure": self.measure,
            "results": self.results,
            "inputs": self.input_count,
            "places": self.place_count,
            "groups": self.group_count,
            "runs": self.run_count,
            "ended": self.ended,
            "narrowed": self.narrowed.number if self.narrowed is not None else None,
            "points": [
                {
                    "number": p.number, "label": p.label, "error": p.error if p.error < inf else None,
                    "reason": p.reason, "float_bytes": p.float_bytes, "seconds": p.seconds,
                    "inputs": p.input_count, "within": p.error <= self.tolerance,
                    "choices": [
                        {"file": str(self.path_of(place)), "line": place.line, "code": place.text,
                         "sort": place.sort, "dtype": dtype}
                        for place, dtype in p.choices()
                    ],
                    "diff": self.diff(p.number),
                }
                for p in self.points
            ],
            "wide": [
                {"file": str(w.file), "line": w.line, "code": w.text, "dtype": w.dtype,
                 "refused": w.refused_dtype, "error": w.error, "failure": w.failure, "reason": w.reason,
                 "reason_line": w.reason_line or None, "sort": w.sort}
                for w in self.wide_lines
            ],
            "widening": None if self.widening is None else {
                "before": self.widening.before if self.widening.before < inf else None,
                "after": self.widening.after, "tolerance": self.widening.tolerance,
                "places": [
                    {"file": str(self.path_of(p)), "line": p.line, "code": p.text}
                    for p in self.widening.places
                ],
            },
            "untuned": [
                {"file": str(file), "line": line, "code": text, "reason": why}
                for file, line, text, why in self.untuned
            ],
            "notes": [*self.notes],
        }  # fmt: skip

    def path_of(self, place: Place) -> Path:
        """Return the user's path of the file of a place, which is in the copy."""
        names = sorted(self.originals, key=len, reverse=True)
        name = next((name for name in names if place.file.endswith(f"{os.sep}{name}")), place.file)
        return self.original_folder / name

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Print the front, the lines that stay wide, the widening, and the patch of the narrowest point."""
        many = count_text(self.input_count, "input")
        yield f"tolerance {self.tolerance:g} {MEASURES[self.measure]}"
        yield f"results: {self.results}; truth: the program in float64; {many}"
        groups = count_text(self.group_count, "group")
        places, runs = count_text(self.place_count, "place"), count_text(self.run_count, "run")
        yield f"{places} in {groups}; {runs} of the program"
        if self.ended:
            yield self.ended
        yield ""
        yield from self.table_lines()
        if self.wide_lines:
            yield ""
            yield f"must stay wide: {count_text(len(self.wide_lines), 'place')}"
            for wide in self.wide_lines:
                yield from describe_wide_line(wide)
        if self.widening is not None:
            yield ""
            yield from self.widening_lines(self.widening)
        if self.saves and self.narrowed is not None:
            yield ""
            yield f"patch of point {self.narrowed.number}"
            yield self.diff(self.narrowed.number).removesuffix("\n")
        elif not self.ended:
            yield ""
            yield "no configuration that keeps the tolerance makes fewer bytes than the program as it stands"
        if self.untuned:
            yield ""
            yield f"not tuned: {count_text(len(self.untuned), 'place')}"
            for file, line, text, why in self.untuned[:MAX_UNTUNED_SHOWN]:
                yield f"  {path_text(file)}:{line}: {text}: {why}"
        yield from self.notes

    def table_lines(self) -> Iterator[str]:
        """Print the front as a table."""
        rows = [("point", "error", "float arrays", "time", "")]
        for p in self.points:
            size = size_text(p.float_bytes) if p.float_bytes is not None else "not measured"
            time = f"{p.seconds:.3g} s" if p.seconds is not None else "not measured"
            error = p.reason or f"{p.error:.1e}"
            mark = "" if p.error <= self.tolerance else "misses the tolerance: "
            rows.append((str(p.number), error, size, time, mark + p.label))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        for row in rows:
            yield "  ".join([*(x.ljust(w) for x, w in zip(row, widths, strict=False)), row[4]]).rstrip()

    def widening_lines(self, widening: Widening) -> Iterator[str]:
        """Print the proposal to widen."""
        before = "no finite error" if widening.before == inf else f"an error of {widening.before:.1e}"
        what = "misses the tolerance" if widening.misses else "keeps the tolerance, but loses digits"
        yield f"as it stands the program has {before}: it {what}"
        yield f"the smallest widening that brings it to {widening.after:.1e}:"
        for place in widening.places:
            dtype = widening.configuration.get(place, "")
            where = f"{path_text(self.path_of(place))}:{place.line}"
            yield f"  {where}: {place.text}: {place.sort} in {place.dtype_at(dtype)}"
        point = next((p for p in self.points if WIDENED in p.labels), None)
        own = next((p for p in self.points if AS_IT_STANDS in p.labels), None)
        if point is not None and own is not None and None not in (point.float_bytes, own.float_bytes):
            yield (
                f"  its price: {size_text(own.float_bytes or 0)} of float arrays before, "
                f"{size_text(point.float_bytes or 0)} after (point {point.number})"
            )
            if point is not self.narrowed:
                yield self.diff(point.number).removesuffix("\n")


def describe_wide_line(wide: WideLine) -> Iterator[str]:
    """Print why one line stays wide."""
    yield f"  {path_text(wide.file)}:{wide.line}: {wide.text}: {wide.dtype}"
    failed = wide.failure or (f"error {wide.error:.1e}" if wide.error is not None else "no finite error")
    yield f"    in {wide.refused_dtype}: {failed}"
    if wide.reason:
        where = f"{path_text(wide.reason_file)}:{wide.reason_line}: " if wide.reason_file is not None else ""
        yield f"    {where}{wide.reason}"
    else:
        yield "    no single operation shows the loss: it comes from many"


def describe_results(tuned: TunedProgram) -> str:
    """Say what counts as a result."""
    if tuned.options.metric:
        return f"the metric {tuned.options.metric}"
    if tuned.workspace.program.function:
        return "what the function returns, and its arguments afterwards"
    if not tuned.result_names:
        return "the numbers that are printed or saved"
    names = ", ".join(tuned.result_names[:6]) + (", ..." if len(tuned.result_names) > 6 else "")
    return f"the values of {names}"
