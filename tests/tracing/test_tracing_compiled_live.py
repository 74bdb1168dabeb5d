"""Runs of functions that JAX compiles: what they compute is there, whether or not it is traced then."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import typelattice as tl
from typelattice.programs.calls.call_tables import graph_operation
from typelattice.programs.calls.steps import Input
from typelattice.tracing.run_data.run import Run

pytestmark = pytest.mark.live
jax = pytest.importorskip("jax")
jnp = jax.numpy


def rows(run: Run) -> list[tuple[str | None, str, str, int]]:
    """What ran: operation, text, observed dtype, count. The run holds together, and can be replayed."""
    assert not run.mismatches
    assert len(run.observations) == len(run.program.steps)
    assert all(part < i for i, step in enumerate(run.program.steps) for part in step.inputs)
    run.under("torch")
    return [(step.op, step.text, str(seen.operand.dtype), seen.count) for step, seen in run if seen.count]


def mixed(x: Any, y: Any) -> Any:
    z = x * y
    return jnp.mean(z + 2.5) * 2


def calling(x: Any, y: Any, compiled: Any) -> Any:
    w = x + 1
    for _ in range(3):
        found = compiled(w, y)
    return found * 3


X, Y = jnp.arange(3), jnp.ones(3, "float32")


def test_a_function_that_is_traced_in_the_run_has_the_steps_of_its_source() -> None:
    run = tl.trace(jax.jit(mixed), X, Y).run
    assert rows(run) == [
        (None, "x", "int32", 1), (None, "y", "float32", 1),
        ("multiply", "x * y", "float32", 1), ("add", "z + 2.5", "float32", 1),
        ("mean", "jnp.mean(z + 2.5)", "float32", 1), ("multiply", "jnp.mean(z + 2.5) * 2", "float32", 1),
    ]  # fmt: skip


def test_a_function_that_was_compiled_before_is_read_from_its_jaxpr() -> None:
    compiled = jax.jit(mixed)
    compiled(X, Y)
    run = tl.trace(compiled, X, Y).run
    assert rows(run) == [
        (None, "x", "int32", 1), (None, "y", "float32", 1),
        ("multiply", "x * y", "float32", 1), ("add", "z + 2.5", "float32", 1),
        ("sum", "jnp.mean(z + 2.5)", "float32", 1), ("divide", "jnp.mean(z + 2.5)", "float32", 1),
        ("multiply", "jnp.mean(z + 2.5) * 2", "float32", 1),
    ]  # fmt: skip
    (product,) = [step for step in run.program.steps if step.text == "x * y"]
    assert [run.program.steps[i].text for i in product.inputs] == ["x", "y"]  # the promotion is no step
    assert product.location is not None and product.location.file == __file__


@pytest.mark.parametrize("before", [False, True])
def test_what_goes_in_and_comes_out_is_linked_and_each_call_is_counted(before: bool) -> None:
    compiled = jax.jit(mixed)
    if before:
        compiled(X, Y)
    run = tl.trace(calling, X, Y, compiled).run
    found = {text: (op, count) for op, text, _, count in rows(run)}
    assert found["x + 1"] == ("add", 1)
    assert found["x * y"] == ("multiply", 3) and found["jnp.mean(z + 2.5) * 2"] == ("multiply", 3)
    assert run.opaque == 0
    steps = run.program.steps
    made = {step.text: i for i, step in enumerate(steps)}
    assert steps[made["found * 3"]].inputs[0] == made["jnp.mean(z + 2.5) * 2"]
    entered = steps[made["x * y"]].inputs[0]
    assert made["x + 1"] in (entered, *steps[entered].inputs)


def test_tracing_traces_no_function_again() -> None:
    times = []

    def counting(x: Any) -> Any:
        times.append(1)
        return x * 2

    compiled = jax.jit(counting)
    tl.trace(compiled, X)
    tl.trace(compiled, X)
    assert len(times) == 1


def loss(w: Any, x: Any, y: Any) -> Any:
    p = jnp.tanh(x @ w["a"]) * w["s"]
    return jnp.mean((p - y) ** 2)


def learned(w: Any, x: Any, y: Any) -> Any:
    g = jax.grad(loss)(w, x, y)
    return {k: w[k] - 0.1 * g[k] for k in w}


def learning(step: Any, w: Any, x: Any, y: Any) -> Any:
    for _ in range(4):
        w = step(w, x, y)
    return w["a"] * 2


WEIGHTS = {"a": jnp.ones(3, "float16"), "s": jnp.ones((), "float32")}
BATCH = jnp.ones((4, 3), "float16"), jnp.ones(4, "float16")


def test_the_backward_pass_is_named_in_a_new_function_and_read_in_one_that_was_compiled() -> None:
    step = jax.jit(learned)
    first = tl.trace(learning, step, WEIGHTS, *BATCH).run
    assert [row for row in rows(first) if row[1] == "jax.grad(loss)(w, x, y)"] == [
        ("loss", "jax.grad(loss)(w, x, y)", "float16", 4), ("loss", "jax.grad(loss)(w, x, y)", "float32", 4)
    ]  # fmt: skip
    second = tl.trace(learning, step, WEIGHTS, *BATCH).run
    counts: Counter[str | None] = Counter()
    for op, _, _, count in rows(second):
        counts[op] += count
    assert counts["tanh"] == 4 and counts["matmul"] == 8 and counts["astype"] == 4
    assert second.opaque == 0


PARAMETERS = {"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}


def loss_of(p: Any, x: Any) -> Any:
    return jnp.mean(x @ p["w"] + p["b"])


def derived(x: Any) -> Any:
    loss, gradient = jax.value_and_grad(loss_of)(PARAMETERS, x)
    rows = jax.vmap(lambda row: row + 1)(x)
    return rows, loss * 2, gradient["w"]


def test_where_a_derivative_is_taken_and_nothing_compiled_steps_take_the_programs_own_arrays() -> None:
    run = tl.trace(derived, jnp.ones((8, 4))).run
    rows(run)
    steps = run.program.steps
    at = {step.text: i for i, step in enumerate(steps) if run.observations[i].count}
    product, moved = at['x @ p["w"]'], at['x @ p["w"] + p["b"]']
    x, w = steps[product].inputs
    own, b = steps[moved].inputs
    assert own == product and len({x, w, b}) == 3
    mean = at['jnp.mean(x @ p["w"] + p["b"])']
    assert steps[mean].inputs == (moved,)
    assert steps[at["loss * 2"]].inputs[0] == mean
    assert steps[at["row + 1"]].inputs[0] == x


def controlled(x: Any) -> Any:
    c, ys = jax.lax.scan(lambda c, a: (c + a, a * 2), 0.0, x)
    d = jax.lax.cond(x[0] > 0, lambda a: a * 2, lambda a: a / 3, x)
    v = jax.vmap(lambda a: a * 2.0)(x)
    _, w = jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, x))
    return c + ys + d + v + w + jnp.where(x > 1, x, 2)


@pytest.mark.parametrize("compiled", ["no", "in the run", "before"])
def test_bodies_of_scan_cond_while_and_vmap_are_there_and_what_takes_them_is_named(compiled: str) -> None:
    function = controlled if compiled == "no" else jax.jit(controlled)
    x = jnp.ones(3, "float16")
    if compiled == "before":
        function(x)
    found = {text: op for op, text, _, _ in rows(tl.trace(function, x).run)}
    assert found["a * 2"] == "multiply" and found["a / 3"] == "divide" and found["s[1] * 2"] == "multiply"
    assert found["c + a"] == "add" and found["jnp.where(x > 1, x, 2)"] == "where"
    if compiled != "before":
        names = {op for op in found.values() if op}
        assert {"scan", "cond", "while_loop"} <= names


def test_a_function_of_the_programs_is_not_taken_for_the_operation_whose_name_it_has() -> None:
    def sum(x: Any) -> Any:
        return x * 2.5

    compiled = jax.jit(sum)
    compiled(X)
    ops = [op for op, *_ in rows(tl.trace(lambda x: compiled(x) + 1, X).run) if op]
    assert ops == ["multiply", "add"]


def test_static_arguments_and_arrays_taken_along_are_no_inputs() -> None:
    shift = jnp.ones(3, "float32")
    compiled = jax.jit(lambda x, n: x * n + shift, static_argnums=1)
    run = tl.trace(lambda x: (compiled(x, 2), compiled(x, 3)), X).run
    assert next(row[1:3] for row in rows(run) if row[0] is None) == ("x", "int32")
    again = tl.trace(lambda x: compiled(x, 2), X).run
    assert [op for op, *_ in rows(again) if op] == ["multiply", "add"]
    assert [str(o) for o in again.under("numpy")][-1] == "float64"


def test_where_compiling_is_off_the_function_is_followed_as_any_other() -> None:
    with jax.disable_jit():
        run = tl.trace(calling, X, Y, jax.jit(mixed)).run
    assert {text: count for _, text, _, count in rows(run)}["x * y"] == 3


def test_what_cannot_be_read_is_named_and_stays_one_opaque_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typelattice.tracing.compiled.jax.JAXPR_PARAMETERS", None)
    compiled = jax.jit(lambda x: jnp.where(x > 1, x, 2))
    compiled(X)
    run = tl.trace(lambda x: compiled(x) + 1, X).run
    assert run.opaque == 1
    (left,) = run.unfollowed_code
    assert left.reason.startswith("what it computes inside cannot be read (TypeError: ")


def test_an_input_of_a_run_is_named_as_the_parameter() -> None:
    compiled = jax.jit(lambda x, w: x * w["k"])
    compiled(X, {"k": Y})
    run = tl.trace(compiled, X, {"k": Y}).run
    assert [step.text for step in run.program.steps if isinstance(step, Input)] == ["x", "w['k']"]


def test_keys_of_random_numbers_are_no_operands_and_do_no_harm() -> None:
    @jax.jit
    def noise(key: Any, x: Any) -> Any:
        first, second = jax.random.split(key)
        return x + jax.random.normal(first, x.shape, x.dtype), second

    def twice(x: Any) -> Any:
        y, key = noise(jax.random.key(0), x)
        y, key = noise(key, y)
        return y * 2

    run = tl.trace(twice, Y).run
    found = {text: count for _, text, _, count in rows(run)}
    assert found["x + jax.random.normal(first, x.shape, x.dtype)"] == 2 and found["y * 2"] == 1


def test_names_of_jaxprs_are_ours_where_the_dtypes_are_alike() -> None:
    assert graph_operation("jax", "convert_element_type") == "astype"
    assert graph_operation("jax", "ragged_dot") == ""
