"""The head of a model runs after the block of autocast has ended, so it computes in float32."""

# goal: bfloat16
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 16))
head = nn.Linear(16, 5)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(2):
    x, y = torch.randn(4, 8), torch.randint(0, 5, (4,))
    with torch.autocast("cpu", torch.bfloat16):
        h = body(x)
    loss = F.cross_entropy(head(h.float()), y)  # departs
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
