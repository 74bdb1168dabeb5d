"""A cache of keys that is float32 by default, and is read with a cast. It takes twice the memory."""

# goal: bfloat16
import torch
import torch.nn as nn


class Cached(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.k, self.q = nn.Linear(size, size), nn.Linear(size, size)
        self.cache = None

    def forward(self, x, at):
        if self.cache is None:
            self.cache = torch.zeros(len(x), 16, 8)
        self.cache[:, at : at + 1] = self.k(x)  # departs
        keys = self.cache[:, : at + 1].to(x.dtype)
        return (self.q(x) @ keys.transpose(1, 2)).softmax(-1) @ keys


model = Cached().bfloat16()
x = torch.randn(2, 1, 8, dtype=torch.bfloat16)
with torch.no_grad():
    for i in range(3):
        x = model(x, i)
