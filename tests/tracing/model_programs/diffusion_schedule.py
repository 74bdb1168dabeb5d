"""A denoiser in bfloat16, with float32 timesteps and a float32 schedule. Clean."""

# goal: bfloat16
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def embed_time(t, size):
    half = size // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half)
    angles = t.float()[:, None] * freqs
    return torch.cat([angles.cos(), angles.sin()], -1)


class Denoiser(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(size, size), nn.SiLU(), nn.Linear(size, size))
        self.conv1, self.conv2 = nn.Conv2d(3, size, 3, padding=1), nn.Conv2d(size, 3, 3, padding=1)
        self.norm = nn.GroupNorm(4, size)

    def forward(self, x, t):
        emb = self.time(embed_time(t, 16).to(x.dtype))
        h = F.silu(self.norm(self.conv1(x)) + emb[:, :, None, None])
        return self.conv2(h)


torch.manual_seed(0)
model = Denoiser().to(torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 100), 0)
for _ in range(2):
    clean, noise, t = torch.randn(2, 3, 8, 8), torch.randn(2, 3, 8, 8), torch.randint(0, 100, (2,))
    a = alphas[t].view(-1, 1, 1, 1)
    noisy = a.sqrt() * clean + (1 - a).sqrt() * noise
    guess = model(noisy.to(torch.bfloat16), t)
    loss = F.mse_loss(guess.float(), noise)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
