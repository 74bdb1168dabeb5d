"""The optimizer calls the forward pass, as Lightning does. A scale in float32 widens the output."""

# goal: bfloat16
import torch
import torch.nn as nn


class Momentum(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.01})

    def step(self, closure=None):
        loss = closure()
        with torch.no_grad():
            for p in self.param_groups[0]["params"]:
                state = self.state[p]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(p)
                p.sub_(state["momentum"].mul_(0.9).add_(p.grad), alpha=0.01)
        return loss


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)).bfloat16()
scale = torch.ones(4)
for optimizer in (torch.optim.SGD(model.parameters(), lr=0.1), Momentum(model.parameters())):

    def closure(optimizer=optimizer):
        optimizer.zero_grad()
        out = model(torch.randn(4, 8, dtype=torch.bfloat16)) * scale  # departs
        out = out.tanh()
        loss = out.detach().pow(2)
        out.sum().backward()
        return loss

    optimizer.step(closure)
