"""Results that are Python numbers, which have no dtype: reductions of a Polars Series."""

from __future__ import annotations

import pytest
from small_systems import CHAIN, NUMPYLIKE, make

import typelattice as tl
from typelattice.conformance.recording.compare_with_system import answer_as_recorded as written
from typelattice.core.evidence.recorded_answer import find_recorded_answer
from typelattice.core.explanations.promotion_in_english import answer_text


@pytest.mark.parametrize(
    ("gives", "expected"),
    [("py", ["py:bool", "py:int", "py:float"]), ("py.float", ["py:float"] * 3), ("py.int", ["py:int"] * 3)],
)
def test_a_result_may_be_a_python_number(gives: str, expected: list[str]) -> None:
    s = make(CHAIN, **NUMPYLIKE, ops={"sum": {"kernels": "all", "gives": gives}})
    found = [s.explain(dtype, op="sum") for dtype in ("bool", "uint8", "float32")]
    assert [written(p) for p in found] == expected
    assert answer_text(found[1]).startswith("Python")
    assert repr(found[1]).startswith("<Python")


def test_polars_gives_the_number_that_its_rule_says() -> None:
    p = tl.system("polars-series").explain("int8", op="sum")
    found = find_recorded_answer(p)
    assert found is not None
    assert (found.call.answer, found.departs) == ("py:int", False)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.sum()", "Python int"),
        ("x.sum() * y", "float32"),
        ("x.mean() * y", "float32"),
        ("x.max() + x.min()", "Python int"),
        ("x.dot(y)", "Python float"),
        ("(y - y.mean()) / y.std()", "float32"),
    ],
)
def test_programs_go_on_with_the_number(source: str, expected: str) -> None:
    given = {name: dtype for name, dtype in (("x", "int8[3]"), ("y", "float32[3]")) if name in source}
    assert str(tl.program(source, **given).under("polars-series").result) == expected
