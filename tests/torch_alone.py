"""Runs of PyTorch: methods that write in place, autocast, and what its own code does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import typelattice as tl
from typelattice.programs.calls.steps import Opaque
from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.run_data.run import Run

pytestmark = pytest.mark.live
torch = pytest.importorskip("torch")


def rows(run: Run) -> dict[str, tuple[str | None, str, int]]:
    """What ran, by its text: operation, observed dtype, count."""
    assert not run.mismatches
    assert len(run.observations) == len(run.program.steps)
    return {step.text: (step.op, str(seen.operand.dtype), seen.count) for step, seen in run if seen.count}


def test_methods_that_write_in_place_are_steps_that_later_ones_take() -> None:
    def function(x: Any, y: Any) -> Any:
        x.add_(y)
        x.requires_grad_(False)
        x.copy_(y)
        x.mul_(2.5).exp_()
        return x + 1

    run = tl.trace(function, torch.ones(3), torch.ones(3, dtype=torch.float64)).run
    found = rows(run)
    assert found["x.add_(y)"] == ("setitem", "float32", 1)
    assert found["x.copy_(y)"] == ("setitem", "float32", 1)
    assert found["x.mul_(2.5).exp_()"] == ("setitem", "float32", 1) and found["x + 1"][0] == "add"
    assert "x.requires_grad_(False)" not in found
    at = {step.text: i for i, step in enumerate(run.program.steps) if run.observations[i].count}
    assert run.program.steps[at["x + 1"]].inputs[0] == at["x.mul_(2.5).exp_()"]
    assert [str(o) for o in run.under("jax")][at["x + 1"]] == "float32"


OWN = """x.to(torch.float64)
x.to("cpu", torch.float16)
x.to(dtype=torch.float64, copy=True)
x.to(y)
x.type(torch.bfloat16)
x.type_as(y)
x.new_zeros(3)
x.new_full((2,), 1, dtype=torch.float64)
x.to("cpu", copy=True)
torch.randn_like(x, dtype=torch.float64)
torch.from_numpy(x.numpy())
x.t()
x.select(0, 1)
x.expand(2, 3, 3)
x.gather(0, i)
x.index_select(0, i[0])
x.masked_fill(x > 0, 0)
x.view_as(y)
x.chunk(2)[0]
x.unbind()[1]
x.topk(2)[1]
x.sort()[1]
x.median(0)[1]
x.mm(x)
x.clamp_min(0.5)
i.clamp_max(1.5)
i.where(x > 0, 1.5)
torch.where(x > 0, i, 1.5)
torch.meshgrid([x[0], x[1]], indexing="ij")[1]""".splitlines()


@pytest.mark.parametrize("call", OWN)
def test_functions_and_methods_that_are_pytorchs_own_are_described(call: str, tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    made = "import torch\nx = torch.ones(3, 3)\ny = x.double()\ni = torch.zeros(3, 3, dtype=torch.int64)\n"
    script.write_text(f"{made}print(({call}).dtype)\n", encoding="utf-8")
    run = run_script(str(script), (), ()).run
    assert rows(run) and not run.opaque and not run.unfollowed_code


def test_a_scalar_of_numpys_beside_a_tensor_counts_as_pytorch_says(tmp_path: Path) -> None:
    script = tmp_path / "beside.py"
    made = "import torch, numpy as np\nx, n = torch.tensor(1.5), np.float64(2)\n"
    script.write_text(f"{made}x * n\ntorch.add(x, n)\n", encoding="utf-8")
    found = rows(run_script(str(script), (), ()).run)
    assert found["x * n"] == ("multiply", "float32", 1)
    assert found["torch.add(x, n)"] == ("add", "float32", 1)


def test_a_sparse_tensor_which_tells_no_size_is_followed() -> None:
    def function(x: Any) -> Any:
        return x.to_sparse() * 2.5

    run = tl.trace(function, torch.ones(3, 3)).run
    assert rows(run)["x.to_sparse() * 2.5"] == ("multiply", "float32", 1)


def test_what_autocast_casts_is_named_and_is_no_mistake_of_the_rules() -> None:
    def function(x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x
            z = x + x
        return y + z, x @ z

    found = rows(tl.trace(function, torch.ones(3, 3)).run)
    assert found["x @ x"] == ("matmul under autocast", "bfloat16", 1)
    assert found["x + x"] == ("add", "float32", 1)
    assert found["x @ z"] == ("matmul", "float32", 1) and found["y + z"] == ("add", "float32", 1)


class Widening(torch.nn.Module):  # type: ignore[misc,name-defined]  # torch is known at run time alone
    """A module of the program's, which is followed, and whose parts are PyTorch's own."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4).to(torch.bfloat16)
        self.norm = torch.nn.LayerNorm(4)
        self.dropout = torch.nn.Dropout(0.5)
        self.scale = torch.ones(4, dtype=torch.float64)

    def forward(self, x: Any) -> Any:
        h = self.linear(x)
        h = self.dropout(self.norm(h.float()))
        return torch.relu(h * self.scale)


def test_what_is_inside_of_pytorchs_own_modules_is_seen_and_the_line_that_widens_is_named() -> None:
    model = Widening()

    def train(x: Any) -> Any:
        for _ in range(3):
            loss = torch.nn.functional.mse_loss(model(x), torch.zeros(2, 4))
            loss.backward()
        return loss

    traced = tl.trace(train, torch.ones(2, 4, dtype=torch.bfloat16))
    found = rows(traced.run)
    assert traced.run.opaque == 0
    assert found["self.linear(x)"] == ("add", "bfloat16", 3)
    assert found["torch.relu(h * self.scale)"] == ("relu", "float64", 3)
    causes = re.findall(r"^ *\d+  .*:\d+: (.*)$", str(traced), re.MULTILINE)
    assert causes == ["h * self.scale"]
    assert "h.float() computes in float32 on purpose" in " ".join(str(traced).split())
    inputs = {step.text for step, seen in traced.run if step.op is None and not seen.count}
    assert "bias" in inputs


def test_inside_of_a_module_autocast_casts_are_steps() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1))

    def function(x: Any) -> Any:
        wide = net(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return wide, net(x)

    run = tl.trace(function, torch.ones(2, 4)).run
    assert not run.mismatches and run.opaque == 0
    casts = [str(seen.operand.dtype) for step, seen in run if step.op == "astype"]
    assert casts == ["bfloat16"] * 3  # the bias and the input of the first, and the bias of the last
    assert [str(seen.operand.dtype) for step, seen in run if step.op == "add"] == [
        *("float32", "float32"),
        *("bfloat16", "bfloat16"),
    ]


@pytest.mark.parametrize("cast", [False, True])
def test_inside_of_a_module_the_steps_are_the_same_in_inference_mode(cast: bool) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.LayerNorm(4)).eval()
    x = torch.ones(3, 4)

    def function(x: Any) -> Any:
        return torch.nn.functional.mse_loss(net(x), x)

    def steps(without_gradients: Any) -> list[tuple[str | None, str]]:
        with without_gradients(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=cast):
            run = tl.trace(function, x).run
        assert not run.mismatches and not run.unfollowed_code
        return [(step.op, str(seen.operand)) for step, seen in run]

    found = steps(torch.inference_mode)
    assert found == steps(torch.no_grad) and "linear" not in dict(found)


def test_to_look_inside_changes_nothing() -> None:
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))
    before = net[0].running_mean.clone()
    held = {id(x) for x in (*net.parameters(), *net.buffers())}

    def function(x: Any) -> Any:
        return net(x)

    torch.manual_seed(0)
    seen = tl.trace(function, torch.ones(3, 4)).result
    state, mean = torch.get_rng_state(), net[0].running_mean.clone()
    with torch.no_grad():
        net[0].running_mean.copy_(before)
    torch.manual_seed(0)
    assert torch.equal(seen, function(torch.ones(3, 4)))
    assert torch.equal(state, torch.get_rng_state()) and torch.equal(mean, net[0].running_mean)
    assert int(net[0].num_batches_tracked) == 2
    assert held == {id(x) for x in (*net.parameters(), *net.buffers())}


def test_no_code_of_the_programs_runs_once_more_for_it() -> None:
    ran = []
    hooked = torch.nn.Linear(4, 4)
    hooked.register_forward_hook(lambda *given: ran.append("a hook"))

    class Own(torch.nn.Linear):  # type: ignore[misc,name-defined]  # likewise
        def forward(self, x: Any) -> Any:
            ran.append("its own")
            return super().forward(x)

    own = torch.nn.Sequential(Own(4, 4), torch.nn.Linear(4, 4))

    def function(x: Any) -> Any:
        return hooked(x), own(x)

    run = tl.trace(function, torch.ones(3, 4)).run
    assert ran == ["a hook", "its own"]
    assert found_opaque(run) == {"hooked(x)": 1, "super().forward(x)": 1, "own(x)": 1}


def test_a_module_that_data_decide_in_is_seen_as_it_ran() -> None:
    bag = torch.nn.EmbeddingBag(3, 4, max_norm=0.5)

    def function(x: Any) -> Any:
        for _ in range(5):
            y = torch.nn.functional.one_hot(x)
        return y, bag(x, torch.tensor([0]))

    run = tl.trace(function, torch.tensor([0, 1])).run
    assert "torch.nn.functional.one_hot(x)" not in {t for t in found_opaque(run) if run.unfollowed_code}
    assert not run.mismatches and not run.unfollowed_code


def found_opaque(run: Run) -> dict[str, int]:
    """The opaque steps, by their text, and how often they ran."""
    return {step.text: seen.count for step, seen in run if isinstance(step, Opaque)}


COMPILED = """
import torch
from torch import no_grad

def inner(x): return x * x

def function(x): return inner(x + 1.5)

@torch.compile(backend="eager")
def decorated(x): return inner(x - 1)

@no_grad()
def plain(x): return x / 2

module = torch.compile(torch.nn.Linear(3, 3), backend="eager")
x = torch.ones(3)
torch.compile(function, backend="eager")(x), decorated(x), plain(x), module(x)
"""


def test_what_torch_compile_is_given_runs_as_it_is_and_is_followed(tmp_path: Path) -> None:
    script = tmp_path / "compiled.py"
    script.write_text(COMPILED, encoding="utf-8")
    ended = run_script(str(script), (), ())
    assert ended.status == 0 and not ended.run.unfollowed_code
    found = rows(ended.run)
    assert [step.op for step, _ in ended.run if step.text == "x * x"] == ["multiply"] * 2
    assert {"x + 1.5", "x - 1", "x / 2", "module(x)"} <= found.keys()
    assert {*found_opaque(ended.run)} == {"torch.nn.Linear(3, 3)"}  # its weights
    settings: Any = sys.modules["torch._dynamo.config"]
    assert settings.disable is False


CONVERTED = {  # a module that is made and cast in one expression: its weights are as wide as they are then
    "layer": ("layer = torch.nn.Linear(3, 3).bfloat16()", "layer(x)"),
    "module": (
        "class M(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.q, self.w = torch.nn.Linear(3, 3), torch.nn.Parameter(torch.ones(3))\n"
        "    def forward(self, x):\n"
        "        return self.q(x) * self.w\n"
        "m = M().to(torch.bfloat16)",
        "m(x)",
    ),
    "later": ("m = torch.nn.Linear(3, 3)\nm.to(torch.bfloat16)", "m(x)"),
}


@pytest.mark.parametrize("kind", CONVERTED)
def test_weights_that_their_module_casts_are_followed(tmp_path: Path, kind: str) -> None:
    made, call = CONVERTED[kind]
    script = tmp_path / "converted.py"
    script.write_text(f"import torch\nx = torch.ones(2, 3, dtype=torch.bfloat16)\n{made}\ny = {call}\n")
    run = run_script(str(script), (), ()).run
    assert not run.mismatches and not run.held_arrays
    assert run.results["y"] and str(run.observations[run.results["y"]].operand) == "bfloat16"
