"""The workers of a Dask cluster as surveyors: if a worker ends, only its present functions are lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from distributed import Client, KilledWorker, as_completed

from typelattice.survey.public_functions import SurveyError
from typelattice.survey.surveyor_process import Row, list_functions, survey_functions

CONNECTING = 30
"""Seconds to wait for the scheduler."""


def survey_on_workers(
    tasks: Iterable[tuple[str, Sequence[str]]], limit: float, address: str
) -> Iterator[Row]:
    """Yield the rows of all tasks, which are packages with functions, as workers finish them.

    If a worker ends, Dask gives its task to another one. Raises SurveyError without a scheduler, or if a
    worker lacks typelattice or a package.
    """
    try:
        client = Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TypeError) as e:
        why = f"{address} ({type(e).__name__})"
        raise SurveyError(f"there is no Dask scheduler at {why}; start one") from None
    with client:
        futures = {
            client.submit(_survey, package, functions, limit, pure=False): (package, functions)
            for package, functions in tasks
        }
        for future in as_completed([*futures], loop=client.loop):
            package, functions = futures[future]
            if future.status == "finished":
                yield from future.result()
            elif not isinstance(error := future.exception(), KilledWorker):
                why = " ".join(str(error.__cause__ or error).split())
                needs = f"install typelattice and {package} there"
                raise SurveyError(f"a worker cannot survey {package}: {why}; {needs}")
            else:
                why = "it ends the workers that survey it"
                for name in functions:
                    yield {"package": package, "function": name, "verdict": "not reached", "why": why}


def _survey(package: str, functions: Sequence[str], limit: float) -> list[Row]:
    _check_package(package)
    return [*survey_functions(package, functions, limit)]


@cache
def _check_package(package: str) -> None:
    """Raise SurveyError, once in each worker, if it cannot import a package."""
    list_functions(package)
