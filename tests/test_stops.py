"""Casts that a report proposes: each is tried on the run, and none of them makes the program fail."""

from __future__ import annotations

from typing import Any

import pytest

from typelattice.tracing.causes import Cause
from typelattice.tracing.findings import Findings, findings
from typelattice.tracing.importing import Compiler
from typelattice.tracing.recorder import Recorder
from typelattice.tracing.report import report
from typelattice.tracing.run import Run
from typelattice.tracing.stops import Stop, stop


def followed(code: str) -> Run:
    """The run of a module."""
    recorder = Recorder()
    compiled = Compiler(recorder).code("code", "code.py", f"import numpy as np\n{code}\n".encode())
    assert compiled is not None
    exec(compiled, {"__name__": "code"})
    return recorder.run()


def the_cause(code: str) -> tuple[Findings, Cause, Stop]:
    """What is found in a run of one cause, the cause, and what stops it."""
    found = findings(followed(code))
    (cause,) = found.causes
    stopped = stop(found.ran, cause)
    assert stopped is not None
    return found, cause, stopped


def casts(found: Findings, stopped: Stop) -> list[Any]:
    """The source texts of what is cast; of an operand also that of the step that takes it."""
    texts = [step.text for step in found.ran.steps]
    said = [texts[c.of] if c.at is None else (texts[c.of], texts[c.at]) for c in stopped.casts]
    return [*dict.fromkeys(said)]


def told(code: str) -> str:
    """The report of a run, as one line."""
    return " ".join(" ".join(report(followed(code), ())).split())


INTEGERS = """
x = np.linspace(0, 1, 6, dtype=np.float32)
i = np.arange(6)
y = x * i
"""


@pytest.mark.parametrize(
    "use",
    [
        "np.take(x, i)", "x[i]", "i << 1", "i | 1", "np.bincount(i)", "np.repeat(x, i)",
        "np.split(x, i[1:3])", "np.zeros(i[3])", "None",
    ],
)  # fmt: skip
def test_an_integer_is_cast_where_a_float_meets_it_and_not_where_it_is_made(use: str) -> None:
    """What else takes it may need an integer, and what takes it as a shape is not seen."""
    found, cause, stopped = the_cause(f"{INTEGERS}z = {use}")
    assert casts(found, stopped) == [("np.arange(6)", "x * i")]
    assert stopped.kept == cause.widening
    assert "i in x * i (line 5) as float32 (48 bytes): it stays float32" in told(f"{INTEGERS}z = {use}")


def test_an_integer_that_what_follows_meets_again_is_cast_there_as_well() -> None:
    found, _, stopped = the_cause(f"{INTEGERS}z = (y + i) * y")
    assert casts(found, stopped) == [("np.arange(6)", "x * i"), ("np.arange(6)", "y + i")]
    assert len(stopped.kept) == 3


def test_a_cast_is_of_all_that_its_source_text_makes() -> None:
    """In a loop each pass makes another step of it."""
    code = """
x = np.ones(3, np.float32)
y = np.ones(3, np.float32)
for i in range(20):
    s = np.float64(i)
    y = y + x * s
"""
    found, cause, stopped = the_cause(code)
    assert casts(found, stopped) == ["np.float64(i)"]
    assert {*stopped.kept} == {*cause.widening, *cause.later}


IN_PLACE = """
k = np.linspace(0, 1, 4)
x = np.ones(4, np.float32)
y = x * k
"""


@pytest.mark.parametrize(
    "write", ["x *= k", "x[:] = y", "x[1:3] = k[1:3]", "x += k * y", "np.multiply(x, k, out=x)"]
)
def test_what_is_written_into_a_narrow_array_stays_narrow_without_a_cast(write: str) -> None:
    found, cause, stopped = the_cause(IN_PLACE + write)
    assert casts(found, stopped) == ["np.linspace(0, 1, 4)"]
    assert {*stopped.kept} == {*cause.widening, *cause.later}
    narrow = [found.ran.steps[i].op for i in cause.later if str(found.ran.observed(i)) == "float32"]
    assert not narrow


@pytest.mark.parametrize("points", ["np.linspace(0, 1, 5)", "np.linspace(0, 1, 5, dtype=np.float32)"])
def test_a_function_that_always_gives_a_wide_float_is_the_cause_itself(points: str) -> None:
    code = f"""
x = np.ones(3, np.float32)
y = np.interp(x, {points}, np.ones(5, np.float32))
z = y * x
"""
    found, cause, stopped = the_cause(code)
    text = f"np.interp(x, {points}, np.ones(5, np.float32))"
    assert [found.ran.steps[i].text for i in cause.first] == [text]
    assert casts(found, stopped) == [text]
    assert len(stopped.kept) == 2
    assert "gives float64, and of narrower floats too" in told(code)
    assert 'interp = { takes = "bool, real", computes = { "bool, real" = "f64" } }' in told(code)
