"""Slopes of positions in float32 are added to the scores, which are cast back after the softmax."""

# goal: bfloat16
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, size=16, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)

    def forward(self, x):
        batch, length, size = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts
        slopes = torch.logspace(-1, -8, self.heads, base=2)[:, None, None]
        bias = slopes * torch.arange(length)[None, None, :]
        scores = q @ k.transpose(-1, -2) + bias  # departs
        mixed = scores.softmax(-1).to(v.dtype) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, size))


model = Attention().bfloat16()
loss = model(torch.randn(2, 6, 16, dtype=torch.bfloat16)).float().pow(2).mean()
loss.backward()
