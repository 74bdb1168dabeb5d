"""The check for authors of array libraries, as a function and as pytest tests.

A library is a namespace of the array API standard as it is, or an object with the four methods of
`library.Library`. It is asked in this process, every operation over every pair of operands, and compared with
any system.

    import mylibrary as xp
    from typelattice.conformance.pytest import promotion_tests

    test_promotion = promotion_tests(xp, "array-api", baseline="known.toml")
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from typelattice.conformance.array_namespace import INFO, ArrayNamespace
from typelattice.conformance.compare import REFUSAL, Report, compare
from typelattice.conformance.in_process_library import InProcessLibrary
from typelattice.conformance.library import Library, OperandString
from typelattice.conformance.questions import planned_calls
from typelattice.engine.system import System
from typelattice.files.reader import system as find_system
from typelattice.recorded.departure import Departure
from typelattice.recorded.departures import departures
from typelattice.recorded.recording import Call

SEVERAL = 500
"""Random calls of three operands and more, of each operation that takes them."""

SHOWN = 3
"""Examples of each cause in a failure."""


def compare_all(
    library: Library,
    system: str | Path | System,
    listed: Sequence[Departure] = (),
    op: str | None = None,
) -> Report:
    """Compare a library with a system, over every call or those of `op`; `listed` are known departures."""
    return compare(find_system(system), calls(library, op), listed)


def calls(library: Library, op: str | None = None) -> Iterator[Call]:
    """Every operation of a library over every pair of its operands, with the library's answers.

    Calls of Python scalars alone are left out: Python answers them, or the library as it likes.
    """
    asker = InProcessLibrary(library)
    has = asker.catalogue()
    planned = planned_calls(has.operands, has.operations, has.several, SEVERAL, seed=0)
    for name, operands in planned.questions(has.operands):
        if op in (None, name) and any(OperandString.parse(operand).dtype for operand in operands):
            with warnings.catch_warnings():  # where pytest makes errors of them, they would be answers
                warnings.simplefilter("ignore")
                answer, message = asker.ask(name, operands)
            yield Call(name, operands, answer, message)


def library_of(library: Any) -> Library:
    """A namespace as a library, or the library that a callable makes. Raises CannotAskError."""
    if callable(library) and not hasattr(library, INFO):
        return cast(Library, library())
    return ArrayNamespace(library)


def promotion_tests(
    library: Any,
    system: str | Path | System,
    baseline: str | Path | None = None,
    undefined: bool = False,
) -> Callable[[str], None]:
    """Return a pytest test of each operation of a library; it fails for mismatches not in the baseline.

    `library`: a namespace of the array API standard, or a callable that makes a `library.Library`.
    `undefined`: the library may answer what the system refuses, as the standard allows. `baseline`: a TOML
    file of `[[departure]]` tables, see docs/departures.md; none may cover more calls than it counts.
    Needs pytest: `pip install pytest`. Raises CannotAskError for what cannot be asked.
    """
    import pytest

    asked = library_of(library)
    own = find_system(system).own_dtypes
    listed = departures(asked.name, Path(baseline), own) if baseline else ()

    @pytest.mark.parametrize("op", sorted(asked.operations()))
    def test(op: str) -> None:
        report = compare_all(asked, system, listed, op)
        if undefined:
            kept = tuple(m for m in report.mismatches if m.ours != REFUSAL)
            report = replace(report, mismatches=kept)
        # Raised and not asserted: pytest would add what the values of an assert were.
        if report.mismatches:
            raise AssertionError(told(report))
        for departure, found in report.listed.items():
            if len(found) > departure.count:
                known = f"{departure.count} are known: {departure.reason}"
                raise AssertionError(f"{len(found)} calls, {known}")

    return test


def told(report: Report) -> str:
    """The mismatches in words: each cause once, with different examples."""
    lines = []
    for cause, mismatches in report.groups().items():
        lines.append(f"{len(mismatches)} calls, {cause}")
        lines += (f"    {mismatch}" for mismatch in mismatches[:SHOWN])
    return "\n".join(lines)
