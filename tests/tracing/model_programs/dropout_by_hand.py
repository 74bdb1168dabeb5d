"""A mask of a dropout written by hand is float32, and so is what it scales."""

# goal: bfloat16
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        h = torch.relu(self.first(x))
        kept = (torch.rand(h.shape) > 0.1).float() / 0.9
        h = h * kept  # departs
        return self.second(h)


model = Net().bfloat16()
out = model(torch.randn(4, 8, dtype=torch.bfloat16))
