"""Positions in a float32 buffer that was made after the cast of the model, so that all after it is wide."""

# goal: bfloat16
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix = nn.Embedding(10, 8), nn.Linear(8, 8)

    def forward(self, ids):
        x = self.embed(ids) + self.positions[: ids.shape[1]]  # departs
        for _ in range(2):
            x = x + self.mix(x.to(self.mix.weight.dtype))
        return x


model = Net().bfloat16()
model.register_buffer("positions", torch.randn(16, 8))
out = model(torch.randint(0, 10, (2, 6)))
