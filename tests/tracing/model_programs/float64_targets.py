"""Weights of a loss from NumPy are float64, and widen it under autocast."""

# goal: bfloat16
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scale = torch.from_numpy(np.linspace(0.5, 1.5, 8))
for _ in range(2):
    x = torch.randn(4, 8)
    with torch.autocast("cpu", torch.bfloat16):
        out = model(x)
    errors = (out.float() - x) * scale  # departs
    loss = errors.pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
