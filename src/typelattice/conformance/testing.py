"""The check for authors of array libraries: as a function, and as pytest tests, against any system.

Four methods make a library known, those of `library.Library`; it is asked in this process, every operation over every
pair of operands.

    from typelattice.conformance.testing import promotion_tests

    test_promotion = promotion_tests(MyLibrary, "array-api", baseline="known.toml")
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from typelattice.conformance.asking import KINDS, TIERS, Catalogue
from typelattice.conformance.compare import Report, compare
from typelattice.conformance.library import Library
from typelattice.conformance.live import Asker
from typelattice.conformance.record import plan
from typelattice.engine.system import System
from typelattice.files.reader import system as find_system
from typelattice.recorded.departures import Departure, departures
from typelattice.recorded.recording import Call


def check(library: Library, system: str | Path | System, listed: Sequence[Departure] = (), op: str | None = None) -> Report:
    """How a library and a system differ over every call, or those of one operation; `listed` are known departures."""
    return compare(find_system(system), calls(library, op), listed)


def calls(library: Library, op: str | None = None) -> Iterator[Call]:
    """Every operation of a library over every pair of its operands, with the library's answers."""
    asker = Asker(library)
    operands = tuple(o for o in (*(f"{d}{tier}" for tier in TIERS for d in library.dtypes()), *KINDS) if asker.has(o))
    nary = tuple(name for name in getattr(library, "nary", ("result_type",)) if name in asker.functions)
    has = Catalogue(library.name, dict(library.versions), library.how, "", operands, tuple(asker.functions), nary)
    for name, asked in plan(has, 500, 0).calls(operands):
        if op in (None, name):
            yield asker.ask(name, asked)


def promotion_tests(
    make: Callable[[], Library], system: str | Path | System, baseline: str | Path | None = None
) -> Callable[[str], None]:
    """A pytest test, parametrised by the library's operations: no mismatch beyond the baseline, which must not grow.

    `baseline` is a TOML file of `[[departure]]` tables, see `departures`. Needs pytest: `pip install typelattice[conformance]`.
    """
    import pytest

    library = make()
    listed = departures(library.name, Path(baseline)) if baseline else ()

    @pytest.mark.parametrize("op", sorted(library.operations()))
    def test(op: str) -> None:
        report = check(library, system, listed, op)
        assert not report.mismatches, "\n".join(f"{len(ms)}  {cause}: {ms[0]}" for cause, ms in report.groups().items())
        for departure, found in report.listed.items():
            assert len(found) <= departure.count, f"{len(found)} calls, {departure.count} are known: {departure.reason}"

    return test
