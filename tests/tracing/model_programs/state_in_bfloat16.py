"""The optimizer's moments are bfloat16, since the parameters are, though float32 is meant."""

# policy: params=bfloat16,compute=bfloat16,state=float32
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(8, 4).bfloat16()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(2):
    loss = model(torch.randn(4, 8, dtype=torch.bfloat16)).float().pow(2).mean()
    loss.backward()
    optimizer.step()  # departs
    optimizer.zero_grad()
