"""Values inside of modules, optimizers and the backward pass of PyTorch: what is lost, and where."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import pytest

from typelattice.tracing.entry_points.script import run_script

pytestmark = pytest.mark.live
pytest.importorskip("torch")

START = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
bf = torch.bfloat16
class Attention(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.q, self.scale = nn.Linear(8, 8), scale
    def forward(self, x):
        return torch.softmax(self.q(x) @ x.transpose(-1, -2) * self.scale, -1) @ x
class Net(nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.attention, self.head = Attention(scale), nn.Linear(8, 4)
    def forward(self, x):
        return self.head(self.attention(x))
def train(model, optimizer, dtype=bf):
    for _ in range(3):
        model(torch.randn(2, 5, 8, dtype=dtype)).float().square().mean().backward()
        optimizer.step()
"""
LOSSES = [
    # the program, the rule, a part of its text, a module
    ("m = Net().to(bf)\ntrain(m, torch.optim.SGD(m.parameters(), lr=1e-6))  # here", "TL205",
     "stayed the same", ""),
    ("m = Net().to(bf)\ntrain(m, torch.optim.AdamW(m.parameters(), lr=1e-6, foreach=False))  # here",
     "TL205", "keep it in float32 (addcdiv_", ""),
    ("m = Net().to(bf)\ntrain(m, torch.optim.AdamW(m.parameters(), lr=1e-6, foreach=True))  # here",
     "TL205", "stayed the same", ""),
    ("a, b = torch.ones(4, dtype=bf), torch.zeros(4, dtype=bf)\na.lerp_(b, 1e-4)  # here", "TL205",
     "4 of 4 numbers that should change", ""),
    ("m = Net(1e6).half()\nx = torch.randn(2, 5, 8).half()\ny = m(x)", "TL202", "became infinite in float16",
     "attention"),
    ("x = torch.zeros(3, requires_grad=True)\ny = x.sqrt().sum() * 0\ny.backward()", "TL202", "became NaN",
     ""),
    ("w = (torch.randn(64) * 1e4).to(torch.float8_e4m3fn)  # here", "TL208", "largest of float8_e4m3fn", ""),
    ("g = (torch.randn(64) * 1e-9).half()  # here", "TL207", "64 of 64 numbers that were not 0 became 0", ""),
    ("x = torch.full((4, 4), 1e-5).half()\ny = x @ x  # here", "TL207", "became 0 in float16", ""),
    ("q = torch.full((2, 64), 100, dtype=torch.int8)\ny = q @ q.T  # here", "TL201", "wrapped", ""),
    ("q = torch.full((4,), 100, dtype=torch.int8)\nq.mul_(2)  # here", "TL201", "which is -56 in int8", ""),
    ("p = torch.arange(600).to(bf)  # here", "TL204", "which is 256 in bfloat16", ""),
    ("total = torch.zeros((), dtype=bf)\nfor _ in range(1000): total.add_(0.9)  # here", "TL204",
     "over several steps", ""),
    ("import warnings\nwarnings.simplefilter('ignore')"
     "\nn = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])"
     "\ns = torch.eye(3).to_sparse() @ torch.ones(3, 1)"
     "\nq = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)"
     "\nbeta = torch.zeros(2, dtype=bf).fill_(0.999)  # here", "TL206", "0.999 is 1", ""),
    ("beta = torch.zeros(2, dtype=bf).fill_(0.999)  # here", "TL206", "0.999 is 1", ""),
]  # fmt: skip
CLEAN = [
    "m = Net()\ntrain(m, torch.optim.AdamW(m.parameters()), torch.float32)",
    "x = torch.randn(4, 4, dtype=bf)\ny = x.masked_fill(x > 0, float('-inf')).softmax(-1)",
    "mask = torch.full((4, 4), float('-inf')).triu(1)\ny = (torch.randn(4, 4) + mask).softmax(-1)",
    "d = torch.rand(8, dtype=bf).sqrt().add_(1e-8)\ny = 1 / (d + 1)",
    "w = torch.randn(64, 64)\ns = w.abs().max() / 448\nq = (w / s).to(torch.float8_e4m3fn)",
    "q, w = (torch.full(s, 100, dtype=torch.int8) for s in ((17, 64), (64, 8)))\ny = torch._int_mm(q, w)",
    "m = nn.BatchNorm1d(4).to(bf)\ny = m(torch.randn(8, 4, dtype=bf))",
    "e = torch.empty(4, dtype=torch.float16)\ne = e.fill_(2.0) * 2",
]


def read_values(script: Path) -> SimpleNamespace:
    ended = run_script(str(script), (), (), values=True)
    run = ended.run
    return SimpleNamespace(
        value_losses=run.value_losses, value_scope=run.value_scope, status=ended.status or 0
    )


def run_text(text: str, tmp_path: Path) -> SimpleNamespace:
    """Run a program in a process of its own: optimizers end one that has imported TensorFlow before."""
    script = tmp_path / "program.py"
    script.write_text(f"{START}{text}\n")
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(read_values, script).result()


@pytest.mark.parametrize("text, rule, words, module", LOSSES)
def test_a_loss_is_named_at_its_line(text: str, rule: str, words: str, module: str, tmp_path: Path) -> None:
    run = run_text(text, tmp_path)
    losses = [each for each in run.value_losses or () if each.loss.rule == rule]
    assert losses
    shown = [
        f"{each.loss.lost_count:,} of {each.loss.total_count:,} numbers {each.loss.description}"
        for each in losses
    ]
    assert any(words in each for each in shown), shown
    lines = f"{START}{text}".splitlines()
    marked = [number for number, line in enumerate(lines, 1) if line.endswith("# here")]
    if marked and "train(" not in text:
        assert marked[0] in [each.location.line for each in losses]
    if module:
        assert any(module in name for each in losses for name in each.modules)


@pytest.mark.parametrize("text", CLEAN)
def test_numbers_that_are_meant_are_no_loss(text: str, tmp_path: Path) -> None:
    run = run_text(text, tmp_path)
    assert not run.value_losses
    assert run.value_scope is not None and run.value_scope.dispatched_count
    assert not [each for each in run.value_scope.unchecked if "did not run" in each.subject]


def test_a_nan_names_the_infinite_number_that_it_comes_from(tmp_path: Path) -> None:
    run = run_text("x = torch.log(torch.zeros(3))\ny = x - x", tmp_path)
    (loss,) = [each for each in run.value_losses or () if "origin" in each.loss.description
               or "the first came from" in each.loss.description]  # fmt: skip
    assert "torch.log(torch.zeros(3))" in loss.loss.description


def test_operations_that_draw_numbers_are_not_repeated(tmp_path: Path) -> None:
    lines = (
        "drawn = []",
        "for size in (1.0, 40000.0):  # one overflows, and one does not",
        "    torch.manual_seed(0)",
        "    torch.native_dropout(torch.full((64,), size, dtype=torch.float16), 0.5, True)",
        "    drawn.append(torch.rand(3).tolist())",
        "assert drawn[0] == drawn[1]",
    )
    run = run_text("\n".join(lines), tmp_path)
    assert run.status == 0
    assert any("native_dropout, which draws numbers" in each.subject for each in run.value_scope.unchecked)
