"""Casts that a report proposes: each is tried on the run, and none of them makes the program fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from followed import followed_module

from typelattice.tracing.findings.cast_plans import CastPlan, plan_casts
from typelattice.tracing.findings.findings import Findings, collect_findings
from typelattice.tracing.findings.widening_causes import WideningCause
from typelattice.tracing.record.import_hook import ModuleCompiler
from typelattice.tracing.record.recorder import Recorder
from typelattice.tracing.report.text_report import write_report
from typelattice.tracing.run_data.run import Run


def followed(code: str) -> Run:
    """The run of a module that has NumPy."""
    return followed_module(f"import numpy as np\n{code}\n")[1]


def the_cause(code: str) -> tuple[Findings, WideningCause, CastPlan]:
    """What is found in a run of one cause, the cause, and what stops it."""
    found = collect_findings(followed(code))
    (cause,) = found.causes
    stopped = plan_casts(found.predicted_run, cause)
    assert stopped is not None
    return found, cause, stopped


def casts(found: Findings, stopped: CastPlan) -> list[Any]:
    """The source texts of what is cast; of an operand also that of the step that takes it."""
    texts = [step.text for step in found.predicted_run.steps]
    said = [
        texts[c.producer] if c.consumer is None else (texts[c.producer], texts[c.consumer])
        for c in stopped.casts
    ]
    return [*dict.fromkeys(said)]


def told(code: str) -> str:
    """The report of a run, as one line."""
    return " ".join(" ".join(write_report(followed(code), ())).split())


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
    assert stopped.narrow_steps == cause.widening_steps
    said = told(f"{INTEGERS}z = {use}")
    assert "cast 48 bytes to float32, and it stays float32: code.py:5: i in x * i" in said


def test_an_integer_that_what_follows_meets_again_is_cast_there_as_well() -> None:
    found, _, stopped = the_cause(f"{INTEGERS}z = (y + i) * y")
    assert casts(found, stopped) == [("np.arange(6)", "x * i"), ("np.arange(6)", "y + i")]
    assert len(stopped.narrow_steps) == 3


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
    assert {*stopped.narrow_steps} == {*cause.widening_steps, *cause.later_wide_steps}


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
    assert {*stopped.narrow_steps} == {*cause.widening_steps, *cause.later_wide_steps}
    narrow = [
        found.predicted_run.steps[i].op
        for i in cause.later_wide_steps
        if str(found.predicted_run.result_of(i)) == "float32"
    ]
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
    assert [found.predicted_run.steps[i].text for i in cause.origin_steps] == [text]
    assert casts(found, stopped) == [text]
    assert len(stopped.narrow_steps) == 2
    assert "gives float64, as it does of narrower floats" in told(code)
    assert 'interp".computes = { "bool, real" = "f64", complex = "c128" }' in told(code)


def test_what_meets_the_same_wide_float_elsewhere_does_not_follow() -> None:
    code = """
k = np.linspace(0, 1, 8)
x = np.ones(8, np.float32)
a = x * k
b = x[:8] * k
c = a + 1
"""
    said = told(code)
    assert "also at code.py:6: x[:8] * k follows 1 later step, which ran 1 time costs" in said
    assert "and all of it stays float32: code.py:3: np.linspace(0, 1, 8)" in said


def test_a_call_that_asks_for_a_wide_dtype_does_not_follow_from_itself() -> None:
    assert "follows no later step" in told("x = np.ones(3, np.float32)\ny = np.add(x, 1, dtype=np.float64)")


def test_later_steps_are_texts_of_the_source_and_not_passes_of_a_loop() -> None:
    code = """
x = np.ones(3, np.float32)
for i in range(20):
    s = np.float64(i)
    y = x * s
    z = y + 1
"""
    assert "follows 1 later step, which ran 20 times" in told(code)


def test_every_cast_is_named_with_its_file() -> None:
    names = [f"k{i} = np.linspace(0, {i}, 3)" for i in range(1, 6)]
    used = " * ".join(f"k{i}" for i in range(1, 6))
    said = told("\n".join([*names, "x = np.ones(3, np.float32)", f"y = x * {used}"]))
    for i in range(1, 6):
        assert f"code.py:{i + 1}: np.linspace(0, {i}, 3)" in said


HALF = """
x = np.ones(1000, np.float32)
h = np.float16(0.5)
y = x * h
z = y * np.ones(2)[0]
"""


def test_a_float_that_becomes_of_a_dtype_that_the_program_asked_for_comes_last_and_is_to_be_cast() -> None:
    """Of NumPy nobody gets a float32 without asking; a float64 everybody does."""
    found = collect_findings(followed(HALF))
    wide, meant = found.causes
    assert (wide.wide_dtype.name, meant.wide_dtype.name) == ("float64", "float32")
    assert (wide.is_default_dtype, meant.is_default_dtype, meant.extra_bytes) == (True, False, 0)
    stopped = plan_casts(found.predicted_run, meant)
    assert stopped is not None
    assert (casts(found, stopped), stopped.target.name) == (["np.float16(0.5)"], "float32")
    assert "cast 2 bytes to float32, and nothing is widened: code.py:4: np.float16(0.5)" in told(HALF)


def test_a_real_number_that_a_complex_one_widens_becomes_a_narrow_complex_one() -> None:
    said = told("x = np.ones(4, np.float32)\ny = x * np.complex128(1)")
    assert "cast 16 bytes to complex64, and it becomes complex64: code.py:3: np.complex128(1)" in said


def test_a_step_without_a_rule_says_that_no_cast_could_be_tried() -> None:
    code = "x = np.ones(3, np.float32)\ny = np.average(x, weights=np.linspace(0, 1, 3))"
    assert "remedy not known: typelattice has no rule of average, and cannot replay it" in told(code)


def test_steps_are_named_as_the_source_has_them() -> None:
    said = told("x = np.ones(30, np.float32)\ny = x * np.array(0.0)\nz = x * ([1.0] * 30)")
    assert "code.py:3: np.array(0.0) makes float64:0d" in said
    assert said.count("1.0, 1.0, 1.0") and "1.0, " * 20 not in said


def test_of_places_that_are_not_shown_it_says_how_many_and_where_they_are() -> None:
    lines = [f"a{i} = np.ones({i}, np.float32) * np.ones({i})" for i in range(1, 13)]
    run = followed("\n".join(lines))
    said = " ".join(" ".join(write_report(run, ["torch"])).split())
    assert "and 2 places more; --all shows them, and so do the pages of --html" in said
    assert "and 2 places more: 2 narrower; --all shows them" in said


def test_an_argument_that_is_written_into_is_as_narrow_as_it_came() -> None:
    """What comes from outside is an input of the run."""
    recorder = Recorder()
    body = ["k = np.linspace(0, 1, 4)", "y = x * k", "x *= k"]
    code = "\n    ".join(["import numpy as np\ndef f(x):", *body])
    compiled = ModuleCompiler(recorder).compile_module("code", "code.py", code.encode())
    assert compiled is not None
    scope: dict[str, Any] = {"__name__": "code"}
    exec(compiled, scope)
    scope["f"](np.ones(4, np.float32))
    found = collect_findings(recorder.build_run())
    (cause,) = found.causes
    stopped = plan_casts(found.predicted_run, cause)
    assert stopped is not None
    assert casts(found, stopped) == ["np.linspace(0, 1, 4)"]
    assert {*stopped.narrow_steps} == {*cause.widening_steps, *cause.later_wide_steps}
