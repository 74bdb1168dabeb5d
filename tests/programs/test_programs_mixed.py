"""Programs that name their library: whose arrays the inputs are, and what NumPy's numbers are among them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import typelattice as tl
from typelattice.programs.calls.steps import Call
from typelattice.programs.program.program import Program


def dtype(source: str, system: str, **given: str) -> str:
    return str(tl.program(source, **given).under(system).result)


@pytest.mark.parametrize("number", ["np.float64(2.5)", "np.sqrt(64.)", "np.pi", "np.ones(3).sum()"])
def test_a_number_of_numpy_is_a_python_number_to_pytorch(number: str) -> None:
    assert dtype(f"torch.relu(x) * {number}", "torch", x="float16[3]") == "float16"


def test_numpys_own_steps_stay_numpys() -> None:
    source = "t = np.float32(2) * np.int16(3)\ntorch.relu(x) * torch.from_numpy(np.ones(3) * t)"
    program = tl.program(source, x="float32[3]")
    outcomes = {step.text: str(o) for step, o in zip(program.steps, program.under("torch"), strict=True)}
    assert outcomes["np.float32(2) * np.int16(3)"] == "float32"
    assert outcomes["np.ones(3) * t"] == str(program.under("torch").result) == "float64"


def test_inputs_are_arrays_of_the_library_that_the_source_names() -> None:
    assert dtype("import torch\nx.max(1)[1]", "torch", x="float32[3,3]") == "int64"
    assert dtype("import numpy as np\nx.max(1)[1]", "numpy", x="float32[3,3]") == "float32"
    assert dtype("y = jnp.exp(x)\nx.max(1)[1]", "jax", x="float32[3,3]") == "float32"


def test_numpys_code_counts_bytes() -> None:
    assert dtype('np.exp(x).astype("f8")', "numpy", x="float32[3]") == "float64"
    assert dtype('np.zeros(3, dtype="i4")', "numpy") == "int32"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("t = np.int64(3)\nt /= 2\nt", "float64"),  # NumPy's scalars are replaced
        ("t = np.asarray(3)\nt /= 2\nt", "refused"),  # and its arrays written into
        ("t = np.asarray(3, dtype=np.int64)\nt /= 2\nt", "refused"),
        ("t = np.float32(1)\nt += np.float64(2)\nt", "float64"),
    ],
)
def test_an_in_place_operator_replaces_a_scalar_of_numpy(source: str, expected: str) -> None:
    assert dtype(source, "numpy") == expected


@pytest.mark.parametrize(
    ("line", "system", "refused"),
    [
        ("x[0] /= 2", "numpy", False),  # an element is a scalar, which is written back
        ("x[1:] /= 2", "numpy", True),  # a slice is written into
        ("x[x > 1] /= 2", "numpy", True),
        ("x[0] /= 2", "torch", True),
        ("x[0] *= 2", "torch", False),
    ],
)
def test_elements_are_computed_in_place_and_then_written(line: str, system: str, refused: bool) -> None:
    replay = tl.program(line, x="int8[3]").under(system)
    assert bool(replay.refusals) is refused


@pytest.mark.parametrize(
    ("source", "instead"),
    [("import jax", r"x.at\[key\].set\(y\)"), ("import tensorflow as tf", "tensor_scatter_nd_update")],
)
def test_elements_of_arrays_that_do_not_change_are_not_written(source: str, instead: str) -> None:
    with pytest.raises(tl.ProgramError, match=f"'x\\[0\\]': arrays of .* do not change; write {instead}"):
        tl.program(f"{source}\nx[0] = 1", x="float32[3]")


@pytest.mark.parametrize(("system", "expected"), [("keras-jax", "float32"), ("keras-tensorflow", "float64")])
def test_an_array_of_another_library_has_the_dtype_that_it_promotes_to_alone(
    system: str, expected: str
) -> None:
    """Keras on JAX, without 64 bits, makes float32 of NumPy's float64; on TensorFlow it keeps it."""
    program = tl.program("keras.ops.array(np.ones(3))")
    assert str(program.under({"numpy": "numpy", "keras": system}).result) == expected


@pytest.mark.parametrize(
    ("source", "system", "expected"),
    [
        ("jax.lax.add(x, y)", "jax", "refused"),
        ("jnp.add(x, y)", "jax", "float32"),
        ("jax.lax.add(x, y)", "jax@0.10", "refused"),
        ("jax.lax.add(x, y)", "jax-strict", "refused"),
        ("lax.add(x, 1.0)", "jax", "refused"),
        ("lax.add(x, 1.0)", "jax-x32", "float32"),
        ("lax.exp(y)", "jax-x32", "refused"),
        ("lax.conj(x)", "jax", "complex64"),
        ("lax.clamp(0.0, x, 1.0)", "jax", "refused"),
        ("jnp.add(lax.mul(x, x), y)", "jax", "float32"),
        ("lax.reduce_sum(z, (0,))", "jax", "uint16"),
        ("jnp.sum(z)", "jax", "uint64"),
        ("lax.argmax(x, 0, jnp.int32)", "jax", "int32"),
        ("lax.div(y, y)", "jax", "int8"),
        ("lax.rem(y, y)", "jax", "int8"),
    ],
)
def test_functions_of_lax_follow_their_own_rules(source: str, system: str, expected: str) -> None:
    """A function's module decides its rules: jax.lax promotes nothing."""
    names = {"x": "float32[3]", "y": "int8[3]", "z": "uint16[3]"}
    given = {name: names[name] for name in names if name in re.findall(r"\w+", source)}
    assert dtype(source, system, **given) == expected


def test_a_module_survives_json() -> None:
    program = tl.program("lax.add(x, y)", x="float32", y="int8")
    assert str(tl.Program.from_json(program.to_json()).under("jax").result) == "refused"


@pytest.mark.parametrize(
    ("system", "computed", "symbolic"),
    [("keras-numpy-computed", "float32", "float64"), ("keras-tensorflow-computed", "float64", "float64")],
)
def test_a_step_of_symbolic_tensors_follows_their_system(system: str, computed: str, symbolic: str) -> None:
    program = tl.program("exp(x)", x="float64[3]")
    assert str(program.under(system).result) == computed
    steps = tuple(
        replace(step, owner="keras", module="KerasTensor") if isinstance(step, Call) else step
        for step in program.steps
    )
    assert str(Program(steps, program.results, program.source).under(system).result) == symbolic


def test_a_step_in_a_graph_of_tensorflow_follows_the_system_of_graphs() -> None:
    program = tl.program("maximum(2, x)", x="float32[3]")
    steps = tuple(
        replace(step, owner="tensorflow", module="SymbolicTensor") if isinstance(step, Call) else step
        for step in program.steps
    )
    graph = Program(steps, program.results, program.source)
    assert str(program.under("tensorflow").result) == "float32"
    assert graph.under("tensorflow").result.dtype is None
