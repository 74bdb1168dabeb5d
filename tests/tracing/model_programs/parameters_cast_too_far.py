"""A cast of the whole model also casts parameters that have to stay float32."""

# policy: params=bfloat16,compute=bfloat16,keep=*sinks
import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.sinks = nn.Parameter(torch.zeros(4))
        self.proj = nn.Linear(8, 4)

    def forward(self, x):
        return self.proj(x) + self.sinks.to(x.dtype)


model = nn.Sequential(nn.Linear(8, 8), Head())
model.to(torch.bfloat16)  # departs
out = model(torch.randn(2, 8, dtype=torch.bfloat16))
