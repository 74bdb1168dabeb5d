"""Functions of jax.jit compared with a goal: islands are no finding, and what escapes is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.models.departures import Departures
from typelattice.tracing.run_data.model_run import ModelQuestions
from typelattice.tracing.run_data.policy import read_policy

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("without_64_bits")]
jax = pytest.importorskip("jax")

GRAD = """
import jax, jax.numpy as jnp
def loss(w):
    return jnp.mean((w * 2).astype(jnp.float32) ** 2)
g = jax.grad(loss)(jnp.ones(3, jnp.bfloat16))
"""
START = """
import jax, jax.numpy as jnp
bf = jnp.bfloat16
p = {"w": jnp.ones((8, 8), bf), "n": jnp.ones(8, bf)}
wide = jnp.ones(8, jnp.float32)
x = jnp.ones((4, 8), bf)
def norm(x, w):
    with jax.named_scope("norm"):
        h = x.astype(jnp.float32)
        h = h * jax.lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-6)
        return h.astype(x.dtype) * w
def loss_of(p, x):
    for i in range(2):
        with jax.named_scope(f"layer{i}"):
            x = x + jax.nn.gelu(norm(x, p["n"]) @ p["w"])
    return -jax.nn.log_softmax((x @ p["w"]).astype(jnp.float32))[:, 0].mean()
"""
CLEAN = [
    "jax.jit(norm)(x, p['n'])",
    "jax.jit(jax.value_and_grad(loss_of))(p, x)",
    """
@jax.jit
def step(p, m, x):
    loss, g = jax.value_and_grad(loss_of)(p, x)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    return jax.tree.map(lambda a, b: a - (0.01 * b).astype(a.dtype), p, m), m, loss
m = jax.tree.map(lambda a: jnp.zeros(a.shape), p)
for _ in range(2):
    p, m, loss = step(p, m, x)
""",
    "jax.jit(lambda x: jax.lax.scan(lambda c, _: (c * 0.5, norm(c, p['n'])), x, None, length=3))(x)",
]
FAULTY = [
    # the program, the scope, a part of the source
    ("def f(x, s):\n    with jax.named_scope('mlp'):\n        return x * s  # departs\njax.jit(f)(x, wide)",
     "mlp", "s is float32"),
    ("def f(x):\n    h = x.astype(jnp.float32)\n    with jax.named_scope('out'):\n"
     "        return h + x  # departs\njax.jit(f)(x)", "out", "asks for float32"),
    ("def f(x):\n    return x * jnp.float32(2)  # departs\njax.jit(f)(x)", "", "a constant is float32"),
    ("n = jnp.float32(2)\ndef f(x):\n    return jnp.sin(x / n)  # departs\njax.jit(f)(x)", "", "float32"),
    ("def body(c, _):\n    with jax.named_scope('cell'):\n        y = c * wide  # departs\n"
     "    return c, y\njax.jit(lambda x: jax.lax.scan(body, x, None, length=3))(x)", "cell", ""),
    ("def f(x, flag):\n    return jax.lax.cond(flag, lambda x: x * wide,"
     " lambda x: x + wide, x)  # departs\njax.jit(f)(x, True)", "", ""),
    ("@jax.custom_vjp\ndef g(x):\n    return x * wide  # departs\n"
     "g.defvjp(lambda x: (g(x), x), lambda r, t: (t.astype(r.dtype),))\n"
     "jax.jit(lambda x: g(x) + 1)(x)", "", ""),
]  # fmt: skip


@pytest.fixture
def without_64_bits() -> Iterator[None]:
    """Let a program run as JAX begins, whatever tests before it have set."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", before)


def departures_of(text: str, tmp_path: Path) -> tuple[Departures, list[str]]:
    script = tmp_path / "program.py"
    script.write_text(f"{START}{text}\n")
    questions = ModelQuestions(read_policy("", "bfloat16"))
    run = run_script(str(script), (), (), models=questions).run
    assert run.model is not None and not run.model.log.failure
    assert run.model.log.operation_count
    found = collect_findings(run).departures
    assert found is not None
    return found, script.read_text().splitlines()


@pytest.mark.parametrize("text", CLEAN)
def test_islands_and_wide_states_are_no_finding(text: str, tmp_path: Path) -> None:
    found, _ = departures_of(text, tmp_path)
    assert not found.departures


@pytest.mark.parametrize("text, scope, source", FAULTY)
def test_a_wide_array_that_escapes_is_named_with_its_scope(
    text: str, scope: str, source: str, tmp_path: Path
) -> None:
    found, lines = departures_of(text, tmp_path)
    first = found.departures[0]
    assert first.place is not None and first.place.location is not None
    assert "# departs" in lines[first.place.location.line - 1]
    assert scope in "".join(first.modules)
    if source == "s is float32":
        assert first.sources[0].name == "s"


def test_a_loss_in_float32_under_grad_is_no_finding(tmp_path: Path) -> None:
    script = tmp_path / "grad.py"
    script.write_text(GRAD)
    found = collect_findings(run_script(str(script), [], []).run)
    assert not found.causes and len(found.islands) == 1
