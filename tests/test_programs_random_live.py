"""Random programs against the real libraries: `--programs 500` makes so many of each, not a few."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from test_programs_random import STEPS, arrays, comparable, grown, listed, whole

import typelattice as tl
from typelattice.facts.operations import OPERATIONS
from typelattice.programs.program import Program
from typelattice.programs.running import run
from typelattice.programs.step import Call

pytestmark = pytest.mark.live
np = pytest.importorskip("numpy")

IN_RUNTIME = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("programs")))


def random_program(
    seed: int, name: str, among: list[str], built: Callable[[Program], object] = str, steps: int = STEPS
) -> Program:
    """A program of so many lines at most that a system takes whole; it gives the results of all its steps."""
    bound, kept = grown(random.Random(seed), name, among, built, steps)
    p = whole(bound, kept)
    assert p is not None and len(p.steps) > 3, kept
    return p


# -- JAX


def exponents_are_arrays(p: Program) -> None:
    """Raises ProgramError of a 0-d integer exponent, which takes no part where JAX knows its value.

    Under a trace, as here, it does not, and the exponent promotes.
    """
    said = p.under("jax")
    for step in p.steps:
        if isinstance(step, Call) and step.name in ("pow", "ipow"):
            o = said[step.operands[1]].operand
            if o is not None and o.tier == "0d" and o.kind.rank == 1:
                raise tl.ProgramError(f"{step.text} has an exponent that only JAX's eager arrays know")


@pytest.mark.filterwarnings("ignore")  # of casts that drop imaginary parts
def test_random_programs_give_what_jax_gives(seed: int) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    # XLA adds narrower integers, and does little else with them.
    among = [d.name for d in tl.system("jax").dtypes if d.kind == "bool" or (d.bits or 0) >= 8]
    p = random_program(seed, "jax", among, exponents_are_arrays)
    said = p.under("jax")
    given = {name: jax.ShapeDtypeStruct(shape_of(p, name), plain(x)) for name, x in p.inputs.items()}
    try:
        made = jax.eval_shape(lambda given: p.run(jnp, **given), given)
    except NotImplementedError:  # XLA lacks it
        return
    for step, outcome, x in zip(p.steps, said, made, strict=True):
        o = outcome.operand
        if o is None or o.tier == "scalar":
            continue
        if any(str(said[i]) == "bool*" for i in step.parts):
            return  # of weak bools no rule says what becomes of the weakness
        operands = [str(said[i]) for i in step.parts]
        assert (str(x.dtype), x.weak_type) == (str(o.dtype), o.weak), (step.text, operands, p.source)


# -- PyTorch


def added_in(torch: ModuleType) -> list[str]:
    """The dtypes in which PyTorch has a kernel that adds, and one that compares."""
    found = []
    for d in tl.system("torch").dtypes:
        try:
            x = torch.ones(1, dtype=getattr(torch, d.name))
            _ = (x + x, x == x)
        except (AttributeError, RuntimeError):  # NotImplementedError is one
            continue
        found.append(d.name)
    assert len(found) > 9
    return found


class PyTorch:
    """PyTorch's own functions of elements under the standard's names, and array-api-compat's of the others.

    Those of array-api-compat promote 0-d arrays as the standard says, before PyTorch sees them.
    """

    def __init__(self, torch: ModuleType, compat: ModuleType) -> None:
        self.torch, self.compat = torch, compat

    def __getattr__(self, name: str) -> Any:
        op = OPERATIONS.get(name)
        if op is not None and op.form == "elementwise" and name != "clip":
            for own in reversed(op.functions):  # its `equal` is of arrays as wholes, and `eq` of elements
                if hasattr(self.torch, own):
                    return getattr(self.torch, own)
        return getattr(self.compat, name)


@pytest.mark.filterwarnings("ignore")  # of casts that drop imaginary parts, of narrow complex numbers
def test_random_programs_give_what_pytorch_gives(seed: int) -> None:
    torch = pytest.importorskip("torch")
    compat = pytest.importorskip("array_api_compat.torch")
    p = random_program(seed, "torch", added_in(torch))
    given = {
        name: torch.ones(shape_of(p, name), dtype=getattr(torch, plain(x))) for name, x in p.inputs.items()
    }
    try:
        made = run(p.steps, p.results, PyTorch(torch, compat), given)
    except (NotImplementedError, RuntimeError) as lacking:  # a kernel, or a division by zero
        assert "not implemented for" in str(lacking) or "ZeroDivision" in str(lacking), p.source
        return
    for step, outcome, x in zip(p.steps, p.under("torch"), made, strict=True):
        o = outcome.operand
        if o is not None and o.tier != "scalar":
            got = str(x.dtype).removeprefix("torch."), x.ndim == 0
            operands = [str(p.under("torch")[i]) for i in step.parts]
            assert got == (str(o.dtype), o.tier == "0d"), (step.text, operands, p.source)


# -- ONNX


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
        assert "NOT_IMPLEMENTED" in str(lacking) or "by zero" in str(lacking), p.source
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
        assert (str(got.dtype), got.ndim == 0) == (str(o.dtype), o.tier == "0d"), (step.text, p.source)
        expected = np.asarray(x.bare)
        np.testing.assert_allclose(
            comparable(got), comparable(expected), rtol=1e-2, err_msg=f"{step.text} in\n{p.source}"
        )


def shape_of(p: Program, name: str) -> tuple[int | None, ...]:
    """The shape of an input."""
    return next(step.shape or () for step in p.steps if step.text == name and step.op is None)


def plain(given: object) -> str:
    """The name of an input's dtype."""
    return str(given).partition(":")[0]
