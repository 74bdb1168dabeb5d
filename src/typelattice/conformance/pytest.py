"""The check for authors of array libraries, as a function and as pytest tests.

A library is a namespace of the array API standard, or an object with the four methods of `library.Library`.
It is called in this process: every operation with every pair of operands. The answers are compared with any
system.

    import mylibrary as xp
    from typelattice.conformance.pytest import promotion_tests

    test_promotion = promotion_tests(xp, "array-api", baseline="known.toml")

`imitation_tests` runs an imitation of a library, such as a compiler, in its own process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from typelattice.conformance.imitations.compare_implementation import compare_implementation, describe_causes
from typelattice.conformance.imitations.implementation import ImplementationAsLibrary
from typelattice.conformance.imitations.known_differences import read_known_differences, select_unknown
from typelattice.conformance.recording.array_api_library import INSPECTION_FUNCTION, ArrayNamespace
from typelattice.conformance.recording.compare_with_system import (
    ConformanceReport,
    Mismatch,
    compare_calls,
)
from typelattice.conformance.recording.in_process_library import InProcessLibrary
from typelattice.conformance.recording.library import Library, ParsedOperandString
from typelattice.conformance.recording.library_process import CALL_SECONDS
from typelattice.conformance.recording.load_library import is_made
from typelattice.core.dtypes.dtypes import DTYPES, Kind
from typelattice.core.engine.operation_rules import STANDARD_RULES_BY_CLASS, class_of
from typelattice.core.engine.system import System
from typelattice.core.evidence.answer_notation import EXCEPTION_PREFIX, REFUSED_SIGN
from typelattice.core.evidence.departure import Departure
from typelattice.core.evidence.list_departures import list_departures
from typelattice.core.evidence.recorded_calls import RecordedCall
from typelattice.core.operations.operations import OPERATION_BY_NAME
from typelattice.core.registry.libraries import library_of as library_of_module
from typelattice.core.registry.libraries import recordings
from typelattice.core.system_files.reader import system as find_system

RANDOM_CALLS_PER_OPERATION = 500
"""Random calls of three operands and more, of each operation that takes them."""

MAX_SHOWN_MISMATCHES = 3
"""Examples of each cause in a failure."""


def compare_all(
    library: Library,
    system: str | Path | System,
    departures: Sequence[Departure] = (),
    op: str | None = None,
) -> ConformanceReport:
    """Compare a library with a system, over all calls or those of `op`; `departures` are known departures."""
    return compare_calls(find_system(system), yield_library_calls(library, op), departures)


def yield_library_calls(library: Library, op: str | None = None) -> Iterator[RecordedCall]:
    """List every operation of a library with every pair of its operands, and the library's answers.

    Calls with only Python scalars are left out: Python itself may answer them.
    """
    asker = InProcessLibrary(library)
    for name, operands in asker.catalogue().plan_questions(RANDOM_CALLS_PER_OPERATION, seed=0):
        if op in (None, name) and any(ParsedOperandString.parse(operand).dtype for operand in operands):
            with warnings.catch_warnings():  # pytest can turn warnings into errors, which would be answers
                warnings.simplefilter("ignore")
                answer, message = asker.ask(name, operands)
            yield RecordedCall(name, operands, answer, message)


def make_library(library: Any) -> Library:
    """Return a namespace, an object with the method `ask`, or the result of a callable, as a library.

    An object with the methods of a library is one. Raises CannotAskError.
    """
    if callable(library) and not is_made(library) and not hasattr(library, INSPECTION_FUNCTION):
        library = library()
    if is_made(library):
        return ImplementationAsLibrary(library) if hasattr(library, "ask") else cast(Library, library)
    return ArrayNamespace(library)


def promotion_tests(
    library: Any,
    system: str | Path | System,
    baseline: str | Path | None = None,
    undefined: bool = False,
) -> Callable[[str], None]:
    """Return a pytest test of each operation of a library. It fails for mismatches not in the baseline.

    `library`: a namespace of the array API standard, a `library.Library`, an object with the method `ask`, or
    a callable that makes one of them.
    `undefined`: the library may answer calls that the system refuses, as the standard allows; the test prints
    the number of such answers. The standard's statements about every result still hold: a comparison gives
    bool, an operator in place keeps the left dtype. `baseline`: a TOML file of `[[departure]]` tables, see
    docs/departures.md; no entry may include more calls than it counts. The departures of the library itself
    are also known. Needs pytest: `pip install pytest`. Raises CannotAskError if the library cannot be called.
    """
    import pytest

    tested_library = make_library(library)
    against = find_system(system)
    listed = list_departures(tested_library.name, Path(baseline), against.custom_dtypes) if baseline else ()
    known = (
        list_departures(against.name)
        if library_of_module(tested_library.name) == _recorded_library(against)
        else ()
    )

    @pytest.mark.parametrize("op", sorted(tested_library.operations()))
    def test(op: str) -> None:
        report = compare_all(tested_library, against, (*listed, *known), op)
        if undefined:
            remaining = tuple(m for m in report.mismatches if not is_undefined(m))
            if undefined_count := len(report.mismatches) - len(remaining):
                print(f"{op}: {undefined_count:,} answers where {against.name} refuses")
            report = replace(report, mismatches=remaining)
        # Raised and not asserted: pytest would add the values of an assert.
        if report.mismatches:
            raise AssertionError(report_text(report))
        for departure in listed:
            found = report.mismatches_by_departure[departure]
            if len(found) > departure.count:
                why = f"{departure.count} are known: {departure.reason}"
                raise AssertionError(f"{len(found)} calls, {why}")

    return test


def imitation_tests(
    name: str,
    other: str | None = None,
    known: str | Path | None = None,
    calls: int | None = None,
    limit: float = CALL_SECONDS,
    by_value: bool = False,
    programs: int = 0,
) -> Callable[[], None]:
    """Return a pytest test that an implementation gives the same answers as what it imitates.

    `name`: a built-in implementation, or `module:attribute` of a class with the method `ask`. `other`: a
    system or another implementation. `known`: a JSON file of known differences, which
    `typelattice compare --known FILE --update` writes. `calls`: the number of random calls; default: all.
    `limit`: the seconds that a call may take. `by_value`: also compare values. `programs`: the number of
    random programs of several operations. The test fails once for each new cause, and shows a program with
    the difference. It raises what `compare_implementation` raises.
    """

    def test() -> None:
        found = compare_implementation(name, other, calls, limit=limit, by_value=by_value, programs=programs)
        if new := select_unknown(found.causes, read_known_differences(known) if known else {}):
            raise AssertionError("\n".join([found.subject_line, *describe_causes(found, new)]))

    return test


def _recorded_library(system: System) -> str:
    """Return the library whose recording has the name of a system, or ""."""
    entry = recordings().get(system.name)
    return entry.library if entry else ""


def is_undefined(mismatch: Mismatch) -> bool:
    """Return True for an answer where the system refuses, unless the standard still fixes the result.

    >>> call = RecordedCall("less", ("int8", "float32"), "bool")
    >>> is_undefined(Mismatch(call, "-")), is_undefined(Mismatch(replace(call, answer="float32"), "-"))
    (True, False)
    """
    answer = mismatch.call.answer.rstrip("*")
    if mismatch.system_answer != REFUSED_SIGN or answer.startswith(EXCEPTION_PREFIX):
        return False
    op = OPERATION_BY_NAME[mismatch.call.op]
    gives = STANDARD_RULES_BY_CLASS[class_of(op)].gives
    if op.is_in_place or gives == "left":
        return answer == ParsedOperandString.parse(mismatch.call.operands[0]).dtype
    if not isinstance(gives, Kind) or answer not in DTYPES:
        return True
    return DTYPES[answer].kind.python_name == gives.python_name


def report_text(report: ConformanceReport) -> str:
    """Return the mismatches in words: each cause once, with different examples."""
    lines = []
    for cause, mismatches in report.group_by_cause().items():
        lines.append(f"{len(mismatches)} calls, {cause}")
        lines += (f"    {mismatch}" for mismatch in mismatches[:MAX_SHOWN_MISMATCHES])
    return "\n".join(lines)
