"""A survey of packages: tasks for several surveyors, and a file of rows to continue from."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from typelattice.base.disk.journal import Journal
from typelattice.base.workers.pool import LocalPool, WorkerPool, connect_cluster
from typelattice.repair.survey.public_functions import check_package_exists, check_system
from typelattice.repair.survey.surveyor_handle import SurveyRow, list_functions, survey_functions

ROWS_HEADER: Mapping[str, object] = {"typelattice": "survey rows", "version": 1}
FUNCTIONS_PER_TASK = 200
"""Functions in one task: a surveyor imports the package once for all of them."""

FUNCTIONS_PER_WORKER_TASK = 20
"""The same on workers of a cluster, where a task that is lost is made again as a whole."""

SurveyTask = tuple[str, Sequence[str]]


@dataclass(slots=True)
class SurveyedPackage:
    """A package at a version, and the row of each of its public functions."""

    name: str
    version: str
    functions: Sequence[str]
    rows: dict[str, SurveyRow] = field(default_factory=dict)

    @property
    def unsurveyed_functions(self) -> list[str]:
        """The functions that have no row yet."""
        return [name for name in self.functions if name not in self.rows]


def survey_packages(
    packages: Sequence[str], rows: Path | None = None, limit: float = 20.0, jobs: int = 1, scheduler: str = ""
) -> Iterator[SurveyedPackage]:
    """Yield each package as soon as all its public functions have a verdict.

    Rows are appended to the file `rows`; those that it has for the same version are not made again. `limit`
    is the number of seconds for a function and each source of its arguments. With `scheduler`, the address of
    a Dask scheduler, its workers share the work; else `jobs` processes do. Raises SurveyError, WorkersError,
    JournalError, FileError.
    """
    check_system()
    for name in packages:
        check_package_exists(name)
    journal = Journal(rows, ROWS_HEADER) if rows else None
    known: dict[tuple[str, str], dict[str, SurveyRow]] = {}
    for row in filter(_is_row, journal.rows if journal else ()):
        known.setdefault((row["package"], row["version"]), {})[row["function"]] = row
    listed: dict[str, SurveyedPackage] = {}
    waiting: list[SurveyedPackage] = []
    size = FUNCTIONS_PER_WORKER_TASK if scheduler else FUNCTIONS_PER_TASK

    def list_tasks() -> Iterator[SurveyTask]:
        for name in dict.fromkeys(packages):
            listed[name] = package = SurveyedPackage(name, *list_functions(name))
            rows_before = known.get((name, package.version), {})
            package.rows.update((f, rows_before[f]) for f in package.functions if f in rows_before)
            waiting.append(package)
            left = package.unsurveyed_functions
            yield from ((name, left[at : at + size]) for at in range(0, len(left), size))

    pool: WorkerPool = LocalPool([Surveyor(limit) for _ in range(jobs)])
    if scheduler:
        pool = connect_cluster(partial(Surveyor, limit, checks=True), rows_of_lost_task, scheduler)
    with pool, journal or nullcontext():
        for row in pool.results(list_tasks()):
            package = listed[row["package"]]
            row = package.rows[row["function"]] = {"version": package.version, **row}
            if journal:
                journal.append(row)
            if not package.unsurveyed_functions:
                waiting.remove(package)
                yield package
    yield from waiting


class Surveyor:
    """A worker that surveys functions, in a process for each task.

    With `checks` it first looks whether it can import the package, as another machine may lack it.
    """

    def __init__(self, limit: float, checks: bool = False) -> None:
        self._limit, self._checks = limit, checks
        self._checked = set[str]()
        self._stopped = threading.Event()

    def results(self, task: SurveyTask) -> Iterator[SurveyRow]:
        """Yield a row for each function. Raises SurveyError if the package cannot be imported."""
        package, functions = task
        if self._checks and package not in self._checked:
            list_functions(package)
            self._checked.add(package)
        return survey_functions(package, functions, self._limit, self._stopped.is_set)

    def stop(self) -> None:
        """End the process; nothing is surveyed any more."""
        self._stopped.set()

    def close(self) -> None:
        """Do nothing: each process ends with its task."""


def rows_of_lost_task(task: SurveyTask) -> Iterator[SurveyRow]:
    """Yield the rows of functions that end each process which surveys them."""
    package, functions = task
    for name in functions:
        why = "it ends the workers that survey it"
        yield {"package": package, "function": name, "verdict": "not reached", "why": why}


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and {"package", "version", "function", "verdict"} <= row.keys()
