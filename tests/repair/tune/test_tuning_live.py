"""Tuning of PyTorch and JAX. What is expected was written down before the programs were tuned."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from typelattice.repair.tune.operation_sites import ABSORPTION, LOST_UPDATES
from typelattice.repair.tune.tuning_result import Tuning

pytestmark = pytest.mark.live
Tune = Callable[..., Tuning]

# Near 0.5, updates of 0.0005 are below half a unit in the last place of bfloat16: the weights stay float32,
# and the moments may be bfloat16.
ADAM = """
import torch
w = torch.full((8,), 0.2)
m = torch.zeros(8)
v = torch.zeros(8)
for step in range(1, 601):
    grad = w - 0.5
    m = 0.9 * m + 0.1 * grad
    v = 0.999 * v + 0.001 * grad * grad
    a = m / (1 - 0.9**step)
    b = v / (1 - 0.999**step)
    w = w - 0.0005 * a / (b.sqrt() + 1e-8)
print(w.tolist())
"""
# All tensors of the two products must agree, and the gradients go to the tensors that require them.
PERCEPTRON = """
import torch
torch.manual_seed(0)
x = torch.randn(32, 4, dtype=torch.float64)
y = torch.sin(x.sum(dim=1, keepdim=True))
a = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
b = torch.randn(6, 1, dtype=torch.float64, requires_grad=True)
for step in range(5):
    loss = ((torch.tanh(x @ a) @ b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for each in (a, b):
            each -= 0.01 * each.grad
            each.grad = None
print(loss.item())
"""
# The logits and the powers of a softmax from which the largest logit is subtracted bear bfloat16 at 2e-2.
SOFTMAX = """
import jax
import jax.numpy as jnp
x = jax.random.normal(jax.random.PRNGKey(0), (16, 8))
w = jax.random.normal(jax.random.PRNGKey(1), (8, 4))

@jax.jit
def softmax(x, w):
    logits = jnp.matmul(x, w)
    powers = jnp.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / jnp.sum(powers, axis=1, keepdims=True)

shares = softmax(x, w)
"""


def test_adam_keeps_its_weights_in_float32(tune_script: Tune) -> None:
    """The weights stay float32, because updates are absorbed; the moments become bfloat16."""
    pytest.importorskip("torch")
    tuning = tune_script(ADAM, 1e-2, dtypes=("float32", "bfloat16"))
    found = {each.line: (each.sort, each.reason_line) for each in tuning.wide_lines}
    assert found[3] == (ABSORPTION, 12)
    assert tuning.narrowed is not None
    chosen = {place.line: dtype for place, dtype in tuning.narrowed.choices()}
    assert chosen[4] == chosen[5] == "bfloat16"


def test_tensors_that_must_agree_narrow_together_and_keep_their_gradients(tune_script: Tune) -> None:
    """Each alone is refused by the product, and a cast tensor would have no gradient."""
    pytest.importorskip("torch")
    tuning = tune_script(PERCEPTRON, 1e-3, dtypes=("float32",))
    assert tuning.narrowed is not None
    assert {place.line: dtype for place, dtype in tuning.narrowed.choices()}.items() >= {
        4: "float32", 6: "float32", 7: "float32",
    }.items()  # fmt: skip
    assert ".to(torch.float32).requires_grad_(True)" in tuning.diff(tuning.narrowed.number)


def test_a_softmax_of_jax_bears_bfloat16(tune_script: Tune) -> None:
    """It becomes narrower, and its truth in float64 has the same random numbers."""
    pytest.importorskip("jax")
    tuning = tune_script(SOFTMAX, 2e-2, dtypes=("float32", "bfloat16"), results=("shares",))
    assert tuning.narrowed is not None
    assert "bfloat16" in tuning.diff(tuning.narrowed.number)
    own = next(point for point in tuning.points if "as it stands" in point.labels)
    assert 0 < own.error < 1e-5, "the program in float64 has drawn other numbers"


# The two layers bear bfloat16 at 2e-2, so one cast of the model is enough.
MODEL = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.last = nn.Linear(16, 1)

    def forward(self, x):
        return self.last(torch.tanh(self.first(x)))


torch.manual_seed(0)
net = Net()
with torch.no_grad():
    print(net(torch.randn(64, 8)).square().mean().item())
"""


def test_a_model_is_cast_in_one_place(tune_script: Tune) -> None:
    """Its layers are places, and arguments of another dtype are cast where it is called."""
    pytest.importorskip("torch")
    tuning = tune_script(MODEL, 2e-2, dtypes=("bfloat16",))
    assert tuning.narrowed is not None
    patch = tuning.diff(tuning.narrowed.number)
    assert "+net = Net().to(torch.bfloat16)" in patch, patch
    assert "nn.Linear(8, 16).to" not in patch


# A package that makes nested arrays, as flax does. The updates of 1e-4 are below half a unit in the last
# place of a bfloat16 near 0.5: the parameters stay float32.
PACKAGE = """
import jax.numpy as jnp


class Net:
    def init(self, x):
        kernel, bias = jnp.full((x.shape[1], 400), 0.5, jnp.float32), jnp.full(1, 0.5, jnp.float32)
        return {"params": {"dense": {"kernel": kernel, "bias": bias}}}

    def apply(self, params, x):
        layer = params["params"]["dense"]
        return x @ layer["kernel"] + layer["bias"]
"""
TRAINING = """
import sys
sys.path.insert(0, {folder!r})
import jax
import jax.numpy as jnp
from nested_arrays import Net
x = jax.random.normal(jax.random.PRNGKey(0), (256, 8))
net = Net()
params = net.init(x)

@jax.jit
def update(params, x):
    grads = jax.grad(lambda p: jnp.mean((net.apply(p, x) - 1.0) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 1e-4 * jnp.sign(g), params, grads)

for step in range(100):
    params = update(params, x)
print(params["params"]["dense"]["kernel"].sum())
"""


def test_nested_arrays_of_a_package_are_a_place(
    tune_script: Tune, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """They are cast together, and their updates say why they stay wide."""
    pytest.importorskip("jax")
    folder = tmp_path_factory.mktemp("environment") / "site-packages"
    folder.mkdir()
    (folder / "nested_arrays.py").write_text(PACKAGE, encoding="utf-8")
    script = TRAINING.replace("{folder!r}", repr(str(folder)))
    tuning = tune_script(script, 2e-3, dtypes=("float32", "bfloat16"))
    (wide,) = (each for each in tuning.wide_lines if each.line == 9)
    assert wide.sort == LOST_UPDATES and "params.dense.kernel" in wide.text
    loose = tune_script(script, 0.5, dtypes=("float32", "bfloat16"))
    assert "params = jax.tree.map(lambda a: a.astype(jnp.bfloat16)" in "".join(
        loose.diff(point.number) for point in loose.points
    )


def test_saved_tensors_are_results(tune_script: Tune) -> None:
    """What `torch.save` wrote is compared."""
    pytest.importorskip("torch")
    script = "import torch\nx = torch.linspace(0, 1, 500)\ntorch.save({'y': x * x}, 'y.pt')\n"
    tuning = tune_script(script, 1e-2)
    assert tuning.results == "the numbers that are printed or saved" and not tuning.notes
    assert tuning.narrowed is not None and tuning.narrowed.worst_name == "the file y.pt['y']"


def test_a_cluster_tries_the_configurations(tune_script: Tune) -> None:
    """The tasks of its scheduler change state while the program is tuned."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        script = "import numpy as np\nx = np.linspace(0, 1, 200)\nprint(np.exp(x).sum())\n"
        found = tune_script(script, 1e-3, scheduler=cluster.scheduler_address, seconds=60)
        assert client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter) > 0
    assert found.narrowed is not None
    assert found.run_count > 1
