"""Random calls of a library: a mismatch is made small, and no listed one; what hangs costs its call."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import typelattice as tl
from typelattice.conformance.compare_random_calls import compare_live, shrink_mismatch
from typelattice.conformance.compare_with_system import Mismatch
from typelattice.conformance.library import NoSuchOperandError, ParsedOperandString
from typelattice.conformance.library_process import LibraryProcess
from typelattice.recorded.list_departures import list_departures
from typelattice.recorded.recorded_calls import RecordedCall


class Stubborn:
    """Answers int64, whatever meets."""

    name, how = "stubborn", "made up"
    versions: Mapping[str, str] = {"stubborn": "1"}

    def dtypes(self) -> Sequence[str]:
        return ("int8", "int16")

    def make(self, operand: str) -> object:
        if ParsedOperandString.parse(operand).tier not in ("array", "0d"):
            raise NoSuchOperandError(operand)
        return operand

    def read(self, result: object) -> str:
        return str(result)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"result_type": answer}


class Stuck(Stubborn):
    """Never answers what the power of two int16 is."""

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {
            "pow": lambda x, y: time.sleep(600) if x == y == "int16" else max(x, y, key=len).split(":")[0]
        }


def answer(*operands: str) -> str:
    return "int64"


def test_a_mismatch_is_not_shrunk_to_a_listed_one(tmp_path: Path) -> None:
    system = tl.system("numpy")
    found = Mismatch(RecordedCall("result_type", ("int8:0d", "int16", "int8:0d"), "int64"), "int16")
    with LibraryProcess(Stubborn) as asked:
        assert str(shrink_mismatch(asked, system, found).call) == "result_type(int16, int8) = int64"
        (tmp_path / "list.toml").write_text(
            """[[departure]]
            ops = "result_type"
            operands = ["any + any", "i8:array then any..."]
            reason = "two, or an int8 in front"
            source = "here"
            """
        )
        left = shrink_mismatch(asked, system, found, list_departures("stubborn", tmp_path / "list.toml"))
        assert str(left.call) == "result_type(int8:0d, int16, int8) = int64"


def test_the_same_small_mismatch_is_kept_once() -> None:
    with LibraryProcess(Stubborn) as asked:
        report = compare_live(asked, tl.system("numpy"), 200, 0)
    assert report.compared_count == 200
    assert 0 < len(report.mismatches) < 10


def test_a_call_that_hangs_is_counted_apart() -> None:
    told: list[tuple[int, int, str]] = []
    with LibraryProcess(Stuck, limit=0.5) as asked:
        report = compare_live(asked, tl.system("numpy"), 10, 1, progress=lambda *step: told.append(step))
    assert report.broken_count > 0
    assert report.compared_count + report.broken_count == 10
    assert told == [(done, 10, "pow") for done in range(1, 11)]
