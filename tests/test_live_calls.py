"""Random calls of a library: what hangs is answered so, and a mismatch is shrunk to one that no list knows."""
from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence

import pytest

import typelattice as tl
from typelattice.conformance.compare import Mismatch
from typelattice.conformance.library import NoSuchOperandError, OperandString
from typelattice.conformance.live import Asker, check, shrink
from typelattice.recorded.departures import Departure


class Stuck:
    """Answers int64, whatever meets; power never answers."""

    name, how = "stuck", "made up"
    versions: Mapping[str, str] = {"stuck": "1"}

    def dtypes(self) -> Sequence[str]:
        return ("int8", "int16")

    def make(self, operand: str) -> object:
        if OperandString.parse(operand).tier not in ("array", "0d"):
            raise NoSuchOperandError(operand)
        return operand

    def read(self, result: object) -> str:
        return str(result)

    def operations(self) -> Mapping[str, Callable[..., object]]:
        return {"result_type": lambda *of: "int64", "power": lambda x, y: time.sleep(60)}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms here")
def test_a_call_that_hangs_is_answered_so() -> None:
    asker = Asker(Stuck(), limit=0.05)
    assert asker.has("int8")
    assert asker.ask("power", ("int8", "int8")).answer == "!hang"
    assert asker.ask("result_type", ("int8", "int8")).answer == "int64"


def test_a_mismatch_is_not_shrunk_to_a_listed_one() -> None:
    asker, system = Asker(Stuck()), tl.system("numpy")
    asked = ("int8:0d", "int16", "int8:0d")
    assert all(map(asker.has, asked))
    found = Mismatch(asker.ask("result_type", asked), "int16")
    assert str(shrink(asker, system, found).call) == "result_type(int16, int8) = int64"
    listed = [Departure(r"result_type\([^,]*, [^,]*\)|result_type\(int8, .*", "two, or an int8 in front", "")]
    assert str(shrink(asker, system, found, listed).call) == "result_type(int8:0d, int16, int8) = int64"


def test_the_same_small_mismatch_is_kept_once() -> None:
    class Quick(Stuck):
        def operations(self) -> Mapping[str, Callable[..., object]]:
            return {"result_type": lambda *of: "int64"}

    report = check(Quick(), tl.system("numpy"), 200, 0)
    assert report.compared == 200
    assert len(report.mismatches) < 10
