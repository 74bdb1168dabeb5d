"""A causal mask that is float32 by default widens the scores, which are cast back later."""

# goal: bfloat16
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = q @ k.transpose(-1, -2) / 4.0
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        weights = (scores + mask).softmax(-1)  # departs
        return self.out(weights.to(v.dtype) @ v)


model = Attention().bfloat16()
out = model(torch.randn(2, 6, 16, dtype=torch.bfloat16))
out.sum().backward()
