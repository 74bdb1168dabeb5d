"""The remedies for models in bfloat16: casts where the wide array meets the narrow one, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from typelattice.tracing.entry_points.script import run_script
from typelattice.tracing.findings.findings import collect_findings
from typelattice.tracing.remedies.remedy import find_remedy

pytestmark = pytest.mark.live

MODEL = """
import torch, math
torch.manual_seed(0)
bf = torch.bfloat16
def rope(x, base=10000.0):
    n, d = x.shape
    inv = 1.0 / (base ** (torch.arange(0, d, 2).float() / d))
    pos = torch.arange(n).float()
    ang = pos[:, None] * inv[None, :]
    cos, sin = ang.cos(), ang.sin()
    a, b = x[:, ::2], x[:, 1::2]
    return torch.cat([a * cos - b * sin, a * sin + b * cos])
q = rope(torch.ones(8, 4, dtype=bf))
betas = torch.linspace(1e-4, 0.02, 10)
alphas = torch.cumprod(1 - betas, 0)
def add_noise(x, n, t):
    a = alphas[t].sqrt()
    s = (1 - alphas[t]).sqrt()
    return a[:, None] * x + s[:, None] * n
t = torch.tensor([1, 5])
noisy = add_noise(torch.ones(2, 4, dtype=bf), torch.ones(2, 4, dtype=bf), t)
class Adam:
    def __init__(self, p):
        self.m = torch.zeros(p.shape); self.v = torch.zeros(p.shape); self.t = 0
    def step(self, p, g):
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.99 * self.v + 0.01 * g * g
        mh = self.m / (1 - 0.9 ** self.t)
        vh = self.v / (1 - 0.99 ** self.t)
        return p - 0.01 * mh / (vh.sqrt() + 1e-8)
opt = Adam(torch.ones(4, dtype=bf))
w = opt.step(torch.ones(4, dtype=bf), torch.ones(4, dtype=bf))
class EMA:
    def __init__(self, w):
        self.shadow = w.float().clone()
    def update(self, w):
        self.shadow = 0.99 * self.shadow + 0.01 * w
ema = EMA(torch.ones(4, dtype=bf))
ema.update(torch.ones(4, dtype=bf))
def temb(t, dim):
    freqs = torch.exp(-math.log(10000) * torch.arange(dim // 2) / (dim // 2))
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.cos(), args.sin()], -1)
h = torch.ones(2, 4, dtype=bf) + temb(t, 4)
def attend(x, w, mask):
    s = x @ w
    s = s + mask
    v = x.to(s.dtype)
    return v @ s
def denoise(latents, t):
    sigma = (torch.tensor([t]).float() / 1000).view(1, 1)
    return (1 - sigma) * latents
z = denoise(torch.ones(2, 2, dtype=bf), 999)
y = attend(torch.ones(4, 4, dtype=bf), torch.ones(4, 4, dtype=bf), torch.zeros(4))
"""
CHANGED = """
return torch.cat([a * cos.to(a.dtype) - b * sin.to(b.dtype), a * sin.to(a.dtype) + b * cos.to(b.dtype)])
return a[:, None].to(torch.result_type(x, 0.0)) * x + s[:, None].to(torch.result_type(n, 0.0)) * n
return p - (0.01 * mh / (vh.sqrt() + 1e-8)).to(torch.result_type(p, 0.0))
h = torch.ones(2, 4, dtype=bf) + temb(t, 4).to(torch.bfloat16)
return ((1 - sigma).to(torch.result_type(latents, 0.0))) * latents
s = s + mask.to(torch.result_type(s, 0.0))
"""


def test_positions_angles_schedules_moments_and_averages_stay_wide(tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(MODEL)
    findings = collect_findings(run_script(str(script), (), ()).run)
    remedies = [find_remedy(findings.predicted_run, cause) for cause in findings.causes]
    lines = [text.strip() for remedy in remedies if remedy for _, _, text in remedy.list_changed_lines()]
    assert {*lines} == {*CHANGED.strip().splitlines()}
    assert remedies.count(None) == 1  # the average is never narrow


MODULE = """
import torch, torch.nn as nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4))
        self.inner = nn.Linear(4, 4)
    def forward(self, x):
        return self.inner(x * self.w)
m = M()
{cast}
y = m(torch.ones(2, 4, dtype={dtype}))
"""


@pytest.mark.parametrize(
    "cast, dtype",
    [
        ("m = m.bfloat16()", "torch.bfloat16"),
        ("m = M().half()", "torch.half"),
        ("m._apply(lambda t: t.bfloat16())", "torch.bfloat16"),
        ("for p in m.parameters(): p.data = p.data.bfloat16()", "torch.bfloat16"),
        ("m.inner.to(torch.float64); m.w.data = m.w.data.double()", "torch.float64"),
    ],
)
def test_a_parameter_has_the_dtype_of_now_however_it_was_cast(cast: str, dtype: str, tmp_path: Path) -> None:
    script = tmp_path / "cast.py"
    script.write_text(MODULE.format(cast=cast, dtype=dtype))
    run = run_script(str(script), (), ()).run
    assert not run.mismatches
    assert run.operations


WIDE = "wide = pickle.loads(pickle.dumps(torch.ones(3, dtype=torch.float64)))"


@pytest.mark.parametrize(
    "line, changed",
    [
        ("y = w.double() * 2", "y = w.to(torch.float32) * 2"),
        ("y = (w + 1).double() * 2", "y = (w + 1).to(torch.float32) * 2"),
        ("y = F.mse_loss(w.sum(-1), wide.sum(-1))", f"{WIDE}.to(torch.float32)"),
        ("for b in [wide]: y = F.mse_loss(w.sum(-1), b.sum(-1))", f"{WIDE}.to(torch.float32)"),
    ],
)  # fmt: skip
def test_a_remedy_is_code_that_pytorch_takes(line: str, changed: str, tmp_path: Path) -> None:
    script = tmp_path / "line.py"
    start = "import pickle, torch\nimport torch.nn.functional as F\nw = torch.ones(3)\n"
    script.write_text(f"{start}{WIDE}\n{line}\n")
    findings = collect_findings(run_script(str(script), (), ()).run)
    remedies = [find_remedy(findings.predicted_run, cause) for cause in findings.causes]
    lines = [text.strip() for each in remedies if each for _, _, text in each.list_changed_lines()]
    assert changed in lines
