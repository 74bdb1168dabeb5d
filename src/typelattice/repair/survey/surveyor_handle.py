"""A surveyor as a separate process: started with a task, read row by row, ended if it is silent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from select import select
from tempfile import TemporaryDirectory
from typing import Any

from typelattice.base.own_folders import IMPORT_FOLDER
from typelattice.repair.survey.isolation import make_environment
from typelattice.repair.survey.public_functions import SurveyError

SURVEYOR_MAIN_CODE = "from typelattice.repair.survey.surveyor import main; main()"
START_SECONDS = 600.0
"""Seconds until the first answer: packages are imported with all their modules."""

POLL_SECONDS = 0.5
"""Seconds between two looks whether to stop."""

OWN_EXAMPLES = "its examples"
NO_VALID_CALL = "no valid call was found: "
"""Texts of rows that most have: the commonest source of arguments, and the head of the commonest reason."""

MAX_FORKS = 3
"""How many forks a function has at most, each with the limit."""

SurveyRow = dict[str, Any]


def list_functions(package: str) -> tuple[str, Sequence[str]]:
    """Return the version of a package and the names of its public functions. Raises SurveyError."""
    answers = [*_yield_answers({"package": package, "functions": None, "limit": 0.0})]
    if not answers:
        raise SurveyError(f"{package} cannot be listed: its process ended while it was imported")
    if "error" in answers[0]:
        raise SurveyError(answers[0]["error"])
    return answers[0]["version"], answers[0]["functions"]


def survey_functions(
    package: str, functions: Sequence[str], limit: float, is_stopped: Callable[[], bool] = lambda: False
) -> Iterator[SurveyRow]:
    """Yield a row for each function of a package; a surveyor that ends early is started again.

    It ends, and yields nothing more, when `is_stopped` returns True.
    """
    left = [*functions]
    while left and not is_stopped():
        for row in _yield_answers({"package": package, "functions": left, "limit": limit}, is_stopped):
            if "error" in row:
                break
            left.remove(row["function"])
            yield row
        if left and not is_stopped():  # the process ended at the next function
            why = "it ends the process that surveys it"
            yield {"package": package, "function": left.pop(0), "verdict": "not reached", "why": why}


def _yield_answers(
    task: Mapping[str, Any], is_stopped: Callable[[], bool] = lambda: False
) -> Iterator[SurveyRow]:
    """Start a surveyor and yield its answers until it ends, or is silent for too long."""
    with TemporaryDirectory(prefix="typelattice-survey-") as home:
        own = IMPORT_FOLDER
        path = os.pathsep.join(filter(None, [own, os.environ.get("PYTHONPATH", "")]))
        process = subprocess.Popen(
            [sys.executable, "-c", SURVEYOR_MAIN_CODE],
            cwd=home, env={**make_environment(home), "PYTHONPATH": path},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps({**task, "folder": os.getcwd()}).encode())
                process.stdin.close()
            silent, patience, text = 0.0, START_SECONDS, b""
            while silent < patience and not is_stopped():
                if not select([process.stdout], [], [], POLL_SECONDS)[0]:
                    silent += POLL_SECONDS
                    continue
                got = os.read(process.stdout.fileno(), 65536)
                if not got:
                    return
                *lines, text = (text + got).split(b"\n")
                yield from map(json.loads, lines)
                silent, patience = 0.0, MAX_FORKS * task["limit"] + START_SECONDS / 10
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.stdout.close()
            process.wait()
