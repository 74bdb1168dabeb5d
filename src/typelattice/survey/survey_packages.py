"""A survey of packages: tasks for several surveyors, and a file of rows to continue from."""

from __future__ import annotations

import importlib
import json
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from typelattice.disk.write import explain_failure
from typelattice.survey.public_functions import SurveyError, check_package_exists, check_system
from typelattice.survey.surveyor_process import Row, list_functions, survey_functions

KIND, VERSION = "survey rows", 1
CHUNK = 200
"""Functions in one task: a surveyor imports the package once for all of them."""

ON_WORKERS = 20
"""The same on workers of a cluster, where a task that is lost is made again as a whole."""

Task = tuple[str, Sequence[str]]


@dataclass(slots=True)
class SurveyedPackage:
    """A package at a version, and the row of each of its public functions."""

    name: str
    version: str
    functions: Sequence[str]
    rows: dict[str, Row] = field(default_factory=dict)

    @property
    def left(self) -> list[str]:
        """The functions that have no row yet."""
        return [name for name in self.functions if name not in self.rows]


def survey_packages(
    packages: Sequence[str], rows: Path | None = None, limit: float = 20.0, jobs: int = 1, scheduler: str = ""
) -> Iterator[SurveyedPackage]:
    """Yield each package as soon as all its public functions have a verdict.

    Rows are appended to the file `rows`; its rows of the same version are not made again. `limit` is the
    number of seconds for each function and source of arguments. With `scheduler`, the address of a Dask
    scheduler, its workers share the work; without it, `jobs` processes do. Raises SurveyError, FileError.
    """
    check_system()
    for name in packages:
        check_package_exists(name)
    known: dict[tuple[str, str], dict[str, Row]] = {}
    for row in read_rows(rows) if rows else ():
        known.setdefault((row["package"], row["version"]), {})[row["function"]] = row
    listed: dict[str, SurveyedPackage] = {}
    waiting: list[SurveyedPackage] = []
    size = ON_WORKERS if scheduler else CHUNK

    def list_tasks() -> Iterator[Task]:
        for name in dict.fromkeys(packages):
            listed[name] = package = SurveyedPackage(name, *list_functions(name))
            rows_before = known.get((name, package.version), {})
            package.rows.update((f, rows_before[f]) for f in package.functions if f in rows_before)
            waiting.append(package)
            left = package.left
            yield from ((name, left[at : at + size]) for at in range(0, len(left), size))

    for row in _rows_of(list_tasks(), limit, jobs, scheduler):
        package = listed[row["package"]]
        row = package.rows[row["function"]] = {"version": package.version, **row}
        if rows:
            append_row(rows, row)
        if not package.left:
            waiting.remove(package)
            yield package
    yield from waiting


def _rows_of(tasks: Iterator[Task], limit: float, jobs: int, scheduler: str) -> Iterator[Row]:
    if scheduler:
        try:
            workers = importlib.import_module(f"{__package__}.dask_workers")
        except ImportError:
            raise SurveyError("a cluster needs Dask; install it with pip install distributed") from None
        yield from workers.survey_on_workers(tasks, limit, scheduler)
        return
    made: queue.SimpleQueue[Row | BaseException | None] = queue.SimpleQueue()
    stopped, one_at_a_time = threading.Event(), threading.Lock()

    def work() -> None:
        try:
            while not stopped.is_set():
                with one_at_a_time:
                    task = next(tasks, None)
                if task is None:
                    break
                for row in survey_functions(*task, limit, stopped.is_set):
                    made.put(row)
            made.put(None)
        except BaseException as e:
            made.put(e)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        running = jobs
        while running:
            row = made.get()
            if row is None:
                running -= 1
            elif isinstance(row, BaseException):
                raise row
            else:
                yield row
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file, except an incomplete last line.

    Raises SurveyError if the file is not a file of rows, FileError.
    """
    if not path.exists():
        return
    with explain_failure("read", path):
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    if lines[0] and json.dumps(_head()) != lines[0]:
        raise SurveyError(f"{path} is no file of rows of a survey; name another one with --rows")
    for line in lines[1:-1]:
        with suppress(ValueError):  # a process ended while it wrote this line
            row = json.loads(line)
            if isinstance(row, dict) and {"package", "version", "function", "verdict"} <= row.keys():
                yield row


def append_row(path: Path, row: Row) -> None:
    """Append a row to a file, which begins with a line that names its kind. Raises FileError."""
    with explain_failure("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            head = b"" if file.tell() else json.dumps(_head()).encode() + b"\n"
            if not head:
                file.seek(-1, 2)
                head = b"" if file.read(1) == b"\n" else b"\n"
            file.write(head + json.dumps(row).encode() + b"\n")


def _head() -> Row:
    return {"typelattice": KIND, "version": VERSION}
