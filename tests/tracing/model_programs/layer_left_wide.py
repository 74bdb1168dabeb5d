"""A layer that is made after the cast of the model is float32, and refuses bfloat16. The program fails."""

# goal: bfloat16
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))  # departs


model = Net().to(torch.bfloat16)
model.head = nn.Linear(8, 10)
out = model(torch.randn(2, 8, dtype=torch.bfloat16))
