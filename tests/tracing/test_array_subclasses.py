"""Subclasses of arrays: those with arithmetic of their own are taken as seen, the others follow the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from typelattice.programs.calls.steps import Opaque
from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.run_data.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # matrices are no longer advised
SETUP = """import numpy as np
class Wide(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *args, **options):
        return getattr(ufunc, method)(*[np.asarray(x, np.float64) for x in args], **options)
class Adding(np.ndarray):
    def __add__(self, other):
        return np.asarray(self, np.float64) + other
class Tagged(np.ndarray):
    def __array_finalize__(self, other):
        self.tag = "a tag"
masked = np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=np.int8)
matrix = np.matrix([[1, 2], [3, 4]], dtype=np.float32)
wide = np.ones(3, np.float32).view(Wide)
adding = np.ones(3, np.float32).view(Adding)
tagged = np.ones(3, np.float32).view(Tagged)
mapped = np.memmap(__file__ + ".map", np.float32, "w+", shape=(3,))
records = np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")])
narrow = np.ones(3, np.float32)
"""
OWN_ARITHMETIC = [
    "masked + 300", "masked / 2", "masked.mean()", "np.add(masked, 1.5)", "masked.filled(0)", "masked[0] + 1",
    "np.ma.concatenate([masked, masked])", "masked * narrow", "matrix * matrix", "matrix ** 2",
    "matrix.T * 2", "matrix.sum(axis=0)", "wide * 2", "narrow + wide", "np.sqrt(adding)", "adding + 1",
    "adding.sum()",
]  # fmt: skip
OWN_ATTRIBUTES = ["tagged * 2", "mapped + 1", "mapped.sum()", "records.b * 2", "np.asarray(mapped) * 2"]


def traced(code: str, path: Path) -> Run:
    path.write_text(f"{SETUP}result = {code}\n")
    ended = run_script(str(path), [], [])
    assert ended.status == 0
    return ended.run


@pytest.mark.parametrize("code", [*OWN_ARITHMETIC, *OWN_ATTRIBUTES])
def test_no_rule_contradicts_an_array_of_a_subclass(code: str, tmp_path: Path) -> None:
    assert not traced(code, tmp_path / "s.py").mismatches


@pytest.mark.parametrize("code", [*OWN_ARITHMETIC, *OWN_ATTRIBUTES])
def test_a_rule_describes_a_subclass_unless_it_computes_in_its_own_way(code: str, tmp_path: Path) -> None:
    run = traced(code, tmp_path / "s.py")
    (step,) = [step for step in run.program.steps if step.text == code]
    # an element of a masked array is a plain scalar
    assert isinstance(step, Opaque) == (code in OWN_ARITHMETIC and code != "masked[0] + 1")


def test_an_operation_of_a_subclass_is_named_with_its_class(tmp_path: Path) -> None:
    last = traced("matrix * matrix", tmp_path / "s.py").program.steps[-1]
    assert isinstance(last, Opaque) and last.name == "multiply as matrix defines it"


@pytest.mark.live
def test_a_parameter_follows_the_rules_and_a_subclass_with_its_own_functions_does_not(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "s.py"
    path.write_text(
        "import torch\nclass Wide(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, function, types, args=(), kwargs=None):\n"
        "        plain = [x.as_subclass(torch.Tensor).double() if isinstance(x, cls) else x for x in args]\n"
        "        return function(*plain, **(kwargs or {}))\n"
        "wide = torch.ones(3).as_subclass(Wide) * 2\nplain = torch.nn.Parameter(torch.ones(3)) * 2\n"
    )
    run = run_script(str(path), [], []).run
    opaque = [step.text for step in run.program.steps if isinstance(step, Opaque)]
    assert "torch.ones(3).as_subclass(Wide) * 2" in opaque and not run.mismatches
    assert "torch.nn.Parameter(torch.ones(3)) * 2" not in opaque
