"""Random programs as ONNX models: `--programs 500` makes so many of each, not a few."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable

import pytest
from samples import one_in
from test_programs_random import STEPS, arrays, comparable, grown, listed, whole

import typelattice as tl
from typelattice.programs.program.program import Program

pytestmark = pytest.mark.live
np = pytest.importorskip("numpy")

IN_RUNTIME = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", one_in(5, range(metafunc.config.getoption("programs"))))


def random_program(
    seed: int, name: str, among: list[str], built: Callable[[Program], object] = str, steps: int = STEPS
) -> Program:
    """A program of so many lines at most that a system takes whole; it gives the results of all its steps."""
    bound, kept = grown(random.Random(seed), name, among, built, steps)
    p = whole(bound, kept)
    assert p is not None and len(p.steps) > 3, kept
    return p


@pytest.mark.parametrize("name", ["numpy", "jax", "torch"])
def test_random_programs_run_by_onnxruntime_give_the_values_of_a_namespace(name: str, seed: int) -> None:
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    pytest.importorskip("ndonnx")
    among = [d.name for d in tl.system("ndonnx").dtypes if d.name in IN_RUNTIME]
    p = random_program(seed, name, among, lambda p: p.to_onnx(name), steps=12)
    model = p.to_onnx(name)
    onnx.checker.check_model(model, full_check=True)
    given = arrays(p, np)
    try:
        made = runtime.InferenceSession(model.SerializeToString()).run(None, given)
    except Exception as lacking:  # a class of its own
        known = ("NOT_IMPLEMENTED", "by zero", "not currently registered")  # the last: no complex numbers
        assert any(words in str(lacking) for words in known), p.source
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            values = listed(p.run(tl.namespace(name, np), **given))
        except ValueError as by_value:
            assert "negative integer powers" in str(by_value)
            return
    for step, outcome, got, x in zip(p.steps, p.under(name), made, values, strict=True):
        o = outcome.operand
        if o is None or o.tier == "scalar":
            continue
        assert str(got.dtype) == str(o.dtype), (step.text, p.source)
        assert step.shape is None or (got.ndim == 0) == (o.tier == "0d"), (step.text, p.source)
        expected = np.asarray(x.bare)
        np.testing.assert_allclose(
            comparable(got), comparable(expected), rtol=1e-2, err_msg=f"{step.text} in\n{p.source}"
        )
