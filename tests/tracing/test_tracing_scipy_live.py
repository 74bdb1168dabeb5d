"""SciPy's compiled functions in a run: steps with a rule, under NumPy and under other systems."""

from __future__ import annotations

import numpy as np
import pytest

import typelattice as tl
from typelattice.programs.calls.call_tables import NameSort, name_meanings, read_equivalents
from typelattice.programs.calls.steps import Opaque
from typelattice.tracing.run_data.run import Run

pytest.importorskip("scipy")
from scipy import fft, linalg, ndimage, signal, special, stats
from scipy.spatial import distance

pytestmark = pytest.mark.live
MODULES = {each.__name__: each for each in (fft, linalg, ndimage, signal, special, stats, distance)}


def smooth(x: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, ...]:
    s = linalg.svd(m)[1]
    return (
        special.expit(x) + 1, special.betainc(2, x, x) + 1, fft.rfft(x) + 1, fft.dct(x, norm="ortho") + 1,
        s + 1, linalg.expm(A=m) + 1, ndimage.gaussian_filter(m, 1.0) + 1, distance.cdist(m, m) + 1,
        signal.lfilter([1.0], [1.0, 0.5], x) + 1, stats.zscore(x) + 1,
    )  # fmt: skip


def run_of(function: object, *arrays: object) -> Run:
    return tl.trace(function, *arrays).run


VECTOR, MATRIX = np.linspace(0.1, 1, 8, dtype="float32"), np.eye(3, dtype="complex64")


def test_no_call_of_scipys_compiled_code_is_opaque() -> None:
    run = run_of(smooth, VECTOR, MATRIX.real.copy())
    assert not [step for step, _ in run if isinstance(step, Opaque)]
    assert run.mismatches == ()
    assert {step.module for step, _ in run if getattr(step, "module", "")} == {*MODULES}


def test_each_of_several_results_has_a_dtype_of_its_own() -> None:
    def parts(m: np.ndarray) -> tuple[np.ndarray, ...]:
        p, lower, upper = linalg.lu(m)
        u, s, v = linalg.svd(m)
        return p + 1, lower + 1, upper + 1, u + 1, s + 1, v + 1

    run = run_of(parts, MATRIX)
    found = [str(o) for (step, _), o in zip(run, run.under("numpy"), strict=True) if "linalg" in step.text]
    assert found == ["float32", "complex64", "complex64", "complex64", "float32", "complex64"]
    assert run.mismatches == ()


def test_another_system_answers_if_it_has_the_function_and_refuses_it_by_name_if_not() -> None:
    run = run_of(lambda x: (special.expit(x), special.betainc(2, x, x)), VECTOR.astype("int32"))
    sigmoid, betainc = [o for (step, _), o in zip(run, run.under("torch"), strict=True) if step.inputs]
    assert (str([*run][1][1].operand), str(sigmoid)) == ("float64", "float32")
    assert betainc.reason == "torch has no rule for scipy.special.betainc"
    assert not [o.reason for o in run.under("numpy1") if o.reason]


def test_an_argument_that_may_decide_of_the_dtype_leaves_a_call_opaque() -> None:
    run = run_of(lambda m: ndimage.gaussian_filter(m, 1.0, output=np.float64), MATRIX.real.copy())
    assert [type(step) for step, _ in run if "ndimage" in step.text] == [Opaque]
    assert run.mismatches == ()


def test_every_function_that_has_a_rule_is_one_of_scipys() -> None:
    inherited = tl.system("numpy").custom_operations
    own = [name for name in tl.system("scipy").custom_operations if name not in inherited]
    stated = {f"{name.partition('_')[0]}.{name.partition('_')[2]}" for name in own if name[0] != "_"}
    prefixes = {
        module.rpartition(".")[2]: module
        for _, module in name_meanings(NameSort.MODULE_WITH_RULES)
        if "." in module
    }
    shared = {name for _, name in read_equivalents() if name.partition(".")[0] in prefixes}
    lacking = [
        each
        for each in stated | shared
        if not hasattr(MODULES[prefixes[each.partition(".")[0]]], each.partition(".")[2])
    ]
    assert lacking == []
