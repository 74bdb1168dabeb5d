"""The process that surveys functions of one package, each in a fork of its own.

It reads a task as JSON from its standard input and writes a row as JSON for each function. A function that
hangs, crashes or exits ends only its fork. The next fork continues with the next source of arguments.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import packages_distributions, version
from select import select
from tempfile import TemporaryDirectory
from typing import Any

from typelattice.conformance.recording.library_process import limit_memory
from typelattice.repair.survey.argument_recipes import recipe_calls
from typelattice.repair.survey.example_calls import (
    ExampleCall,
    calls_in_tests,
    example_calls,
    find_test_files,
    import_modules_of,
    package_docs,
)
from typelattice.repair.survey.first_wide_line import WideLine, find_first_wide_line
from typelattice.repair.survey.isolation import end_with_parent, isolate_process, leave_network
from typelattice.repair.survey.judged_call import FLOAT32_REFUSED_PREFIX, JudgedCall, judge_call
from typelattice.repair.survey.public_functions import SurveyError, public_functions
from typelattice.repair.survey.surveyor_handle import SurveyRow
from typelattice.repair.survey.time_limit import TimeLimitError, time_limit

CALL_SOURCES = ("examples", "recipes", "tests")
ENOUGH_CALLS = 3  # judged calls with float results
SOURCE_TIME_SHARE = 0.3  # of the limit, for one source of arguments, so that the next have time
CALL_TIME_SHARE = 0.25  # of the limit, so that one slow call leaves time for others
NOT_REACHED = "not reached"
NOT_CALLED_TEXT = "neither examples, recipes nor tests call it with floats"


def main() -> None:
    """Serve one task: list the functions of a package, or survey those that the task names."""
    task = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    warnings.simplefilter("ignore")
    leave_network()
    package = task["package"]
    sys.path.append(task.get("folder", ""))
    try:
        functions = public_functions(package)
    except SurveyError as e:
        answers.write(json.dumps({"error": str(e)}) + "\n")
        return
    if task["functions"] is None:
        answers.write(json.dumps({"version": package_version(package), "functions": [*functions]}) + "\n")
        return
    docs = package_docs(functions)
    find_test_files(package.partition(".")[0])
    import_modules_of(docs)
    for name in task["functions"]:
        if name in functions:
            row = _survey_in_forks(package, name, functions[name], docs, task["limit"])
        else:
            row = {"verdict": NOT_REACHED, "why": "it is not there when the package is imported again"}
        answers.write(json.dumps({"package": package, "function": name, **row}) + "\n")


def package_version(package: str) -> str:
    """Return the version of the distribution that installed a package, or else of its module."""
    root = package.partition(".")[0]
    for distribution in packages_distributions().get(root, ()):
        with suppress(Exception):
            return version(distribution)
    return str(getattr(sys.modules.get(root), "__version__", "unknown"))


def _survey_in_forks(
    package: str, name: str, function: Callable[..., Any], docs: Mapping[str, str], limit: float
) -> SurveyRow:
    """Survey a function in a fork; if that ends early, in another one with the remaining sources."""
    row: SurveyRow = {}
    remaining_sources: Sequence[str] = CALL_SOURCES
    end_reason, did = "", set[str]()
    while remaining_sources:
        latest, ended_now, stage, noted = _survey_in_fork(
            package, name, function, docs, remaining_sources, limit
        )
        did |= noted
        row = latest if latest.get("verdict") or not row.get("why") else row
        if not ended_now or row.get("verdict", NOT_REACHED) != NOT_REACHED:
            break
        end_reason = ended_now
        remaining_sources = remaining_sources[remaining_sources.index(stage) + 1 :]
    row.setdefault("verdict", NOT_REACHED)
    if row["verdict"] == NOT_REACHED:
        row["why"] = f"it {end_reason}" if end_reason else row.get("why") or NOT_CALLED_TEXT
    if did:
        row["did"] = sorted(did)
    return row


def _survey_in_fork(
    package: str, name: str, function: Callable[..., Any], docs: Mapping[str, str],
    sources: Sequence[str], limit: float,
) -> tuple[SurveyRow, str, str, set[str]]:
    """Survey a function in one fork; return the row, the reason of an early end, its source, its deeds."""
    reading, writing = os.pipe()
    with TemporaryDirectory(prefix="survey-") as scratch:
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _survey_and_exit(writing, scratch, package, name, function, docs, sources, limit)
        os.close(writing)
        row: SurveyRow = {}
        stage, did = sources[0], set[str]()
        finished = late = False
        try:
            for message in _yield_messages(reading, limit):
                if message is None:
                    late = True
                    break
                row = message.get("row", row)
                stage = message.get("stage", stage)
                did |= {*message.get("did", ())}
                finished = finished or "done" in message
        finally:
            os.close(reading)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
    if finished:
        return row, "", stage, did
    if late:
        return row, f"takes more than {limit:g} s", stage, did
    code = os.waitstatus_to_exitcode(status)
    ended = f"ends its process with status {code}" if code >= 0 else f"ends its process by signal {-code}"
    return row, ended, stage, did


def _yield_messages(pipe: int, limit: float) -> Iterator[SurveyRow | None]:
    """Yield the messages of a fork until it ends, and None if it takes too long."""
    text, deadline = b"", time.monotonic() + limit
    while True:
        if not select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            yield None
            return
        chunk = os.read(pipe, 65536)
        if not chunk:
            return
        *lines, text = (text + chunk).split(b"\n")
        for line in lines:
            message = json.loads(line)
            yield message
            if "done" in message:
                return


def _survey_and_exit(
    pipe: int, scratch: str, package: str, name: str, function: Callable[..., Any], docs: Mapping[str, str],
    sources: Sequence[str], limit: float,
) -> None:
    """Survey a function in this process, and end the process."""
    try:
        os.setsid()
        end_with_parent()
        os.chdir(scratch)
        limit_memory()
        noted: set[str] = set()

        def send(**message: Any) -> None:
            os.write(pipe, json.dumps(message).encode() + b"\n")

        def note(deed: str) -> None:
            if deed not in noted:
                noted.add(deed)
                send(did=[deed])

        isolate_process(os.path.expanduser("~"), scratch, note)
        _survey_function(package, name, function, docs, sources, limit, send)
        send(done=True)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _survey_function(
    package: str, name: str, function: Callable[..., Any], docs: Mapping[str, str], sources: Sequence[str],
    limit: float, send: Callable[..., None],
) -> None:
    judged: list[JudgedCall] = []
    why = ""
    for source in sources:
        send(stage=source)
        try:
            with time_limit(SOURCE_TIME_SHARE * limit):
                for call in _find_calls(source, package, name, function, docs):
                    found = judge_call(name, function, call, CALL_TIME_SHARE * limit)
                    if isinstance(found, str):
                        why = _choose_reason(why, found)
                        continue
                    judged.append(found)
                    if sum(bool(each.kept or each.wide) for each in judged) >= ENOUGH_CALLS:
                        break
        except TimeLimitError:
            why = why or f"{source} take more than {SOURCE_TIME_SHARE * limit:g} s"
        if any(each.kept or each.wide for each in judged):
            break
    if not judged:
        refused = why.startswith(FLOAT32_REFUSED_PREFIX)
        send(row={"verdict": "refused" if refused else NOT_REACHED, "why": why} if why else {})
        return
    row = _make_row(judged)
    send(row=row)
    wide = next((each for each in judged if each.wide), None)
    if wide is not None:
        cause: WideLine | str = "the trace takes too long"
        try:
            with suppress(TimeLimitError), time_limit(2 * SOURCE_TIME_SHARE * limit):
                cause = find_first_wide_line(wide.repeat, wide.wide, package)
        except Exception as e:  # an error of the function, or of ours: the verdict stays the same
            cause = f"the trace fails: {type(e).__name__}"
        send(row=row | ({"no cause": cause} if isinstance(cause, str) else {"cause": asdict(cause)}))


def _find_calls(
    source: str, package: str, name: str, function: Callable[..., Any], docs: Mapping[str, str]
) -> Iterator[ExampleCall]:
    if source == "examples":
        return example_calls(name, function, docs)
    if source == "recipes":
        return recipe_calls(function)
    return calls_in_tests(name, function, package)


def _choose_reason(before: str, now: str) -> str:
    """Choose the better of two reasons: a refusal of float32 is a finding, a bad argument is not."""
    order = (FLOAT32_REFUSED_PREFIX, "a call", "integers", "an argument", "no valid call", "no call", "")
    return min((before, now), key=lambda why: next(i for i, head in enumerate(order) if why.startswith(head)))


def _make_row(judged: list[JudgedCall]) -> SurveyRow:
    kept, wide = any(each.kept for each in judged), any(each.wide for each in judged)
    verdict = "mixed" if kept and wide else "wide" if wide else "kept" if kept else "no floats"
    shown = next((each for each in judged if each.wide), None) or next(
        (each for each in judged if each.kept), judged[0]
    )
    row: SurveyRow = {"verdict": verdict, "call": shown.text, "source": shown.source}
    if verdict == "mixed":
        row["wide"] = sorted({leaf for each in judged for leaf in each.wide})[:4]
    return row
