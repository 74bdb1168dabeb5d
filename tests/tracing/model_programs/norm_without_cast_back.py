"""A norm that computes in float32 and multiplies before it casts, so that float32 escapes."""

# goal: bfloat16
import torch
import torch.nn as nn


class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return h * self.weight  # departs


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(8), RMSNorm(8)
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        x = x + self.first(self.norm1(x).to(x.dtype))
        return x + self.norm2(x) * 0.5


model = Net().bfloat16()
out = model(torch.randn(4, 8, dtype=torch.bfloat16))
print(out.dtype)
