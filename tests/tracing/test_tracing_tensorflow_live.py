"""Runs of TensorFlow: eager operations, and what functions compute that `tf.function` compiles."""

from __future__ import annotations

from typing import Any

import pytest

import typelattice as tl
from typelattice.tracing.run_data.run import Run

pytestmark = pytest.mark.live
tf = pytest.importorskip("tensorflow")


def rows(run: Run) -> list[tuple[str | None, str, int]]:
    """What ran: operation, observed dtype, count."""
    assert not run.mismatches
    assert len(run.observations) == len(run.program.steps)
    run.under("torch")
    return [(step.op, str(seen.operand.dtype), seen.count) for step, seen in run if seen.count]


def times_called(function: Any, *args: Any) -> Any:
    for _ in range(3):
        found = function(*args)
    return found * 2


def mixed(x: Any, y: Any) -> Any:
    z = x * 2
    if tf.reduce_sum(z) > 0:
        z = tf.cast(tf.cast(z, tf.float64), tf.float32)
    return z + y


def test_a_graph_is_read_and_each_call_counted_and_linked() -> None:
    compiled = tf.function(mixed)
    run = tl.trace(times_called, compiled, tf.ones(3), tf.ones(3)).run
    assert rows(run) == [
        (None, "float32", 1), (None, "float32", 1), ("multiply", "float32", 3),
        ("astype", "float64", 3), ("astype", "float32", 3), ("add", "float32", 3), ("multiply", "float32", 1),
    ]  # fmt: skip
    *_, total, last = [i for i, seen in enumerate(run.observations) if seen.count]
    assert run.program.steps[last].inputs[0] == total and run.opaque == 0
    place = run.program.steps[total].location
    assert place is not None and place.file == __file__ and run.program.steps[total].text == "return z + y"
    assert run.observations[total].bytes == 36


def beside_lists(x: Any) -> Any:
    return x - [1.0, 2.0, 3.0], [1, 2, 3] * x, tf.concat([x, [1.0]], 0), tf.maximum(x, [1.0, 2.0, 3.0])


def test_a_list_beside_a_tensor_is_of_its_dtype() -> None:
    run = tl.trace(beside_lists, tf.ones(3, tf.float16)).run
    names = ("subtract", "multiply", "concat", "maximum")
    assert rows(run) == [(None, "float16", 1), *((name, "float16", 1) for name in names)]


def test_a_function_is_not_traced_again_and_one_within_is_read_too() -> None:
    times = []

    @tf.function
    def inner(x: Any) -> Any:
        times.append(1)
        return x / 3

    weight = tf.Variable([1.0, 2.0, 3.0], name="weight")

    @tf.function
    def outer(x: Any) -> Any:
        _, z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a - 2), (0, x * weight))
        return {"found": [inner(z)]}

    def function(x: Any) -> Any:
        return outer(x)["found"][0] + 1

    run = tl.trace(function, tf.ones(3)).run
    ops = [op for op, *_ in rows(run) if op]
    assert ops == ["multiply", "subtract", "divide", "add"] and run.opaque == 0
    assert "weight" in [step.text for step in run.program.steps]
    assert len(times) == 1


def test_eager_operations_and_gradients_are_there() -> None:
    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_mean(x * x)
        return tape.gradient(y, x) + 1

    run = tl.trace(function, tf.ones(4, "float16")).run
    assert rows(run)[1:] == [
        ("multiply", "float16", 1), ("mean", "float16", 1), ("GradientTape.gradient", "float16", 1),
        ("add", "float16", 1),
    ]  # fmt: skip
    assert run.observations[1].bytes == 8
