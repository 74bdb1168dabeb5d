"""Positions from a float32 table make the residual stream float32, though each layer casts its own input."""

# goal: bfloat16
import torch
import torch.nn as nn


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(size), nn.Linear(size, size)

    def forward(self, x):
        return x + self.mix(self.norm(x.to(self.mix.weight.dtype)))


class Net(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.embed = nn.Embedding(10, size)
        self.layers = nn.ModuleList(Layer(size) for _ in range(2))
        self.head = nn.Linear(size, 10)
        self.angles = torch.outer(torch.arange(16.0), torch.ones(size)).sin()

    def forward(self, ids):
        x = self.embed(ids) + self.angles[: ids.shape[1]]  # departs
        for layer in self.layers:
            x = layer(x)
        return self.head(x.to(self.head.weight.dtype))


model = Net().bfloat16()
out = model(torch.randint(0, 10, (2, 6)))
