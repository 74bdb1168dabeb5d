"""A sum over layers begins in zeros of the default dtype, so it is float32 and so is what follows."""

# goal: bfloat16
import torch
import torch.nn as nn


class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        total = torch.zeros(x.shape)
        for part in self.parts:
            total = total + part(x)  # departs
        return total / 3


model = Sum().bfloat16()
out = model(torch.randn(2, 8, dtype=torch.bfloat16))
