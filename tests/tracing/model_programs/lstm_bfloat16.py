"""An LSTM in bfloat16 with packed sequences of one length, and a loss in float32. Clean."""

# goal: bfloat16
import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.cell = nn.LSTMCell(8, 16)
        self.out = nn.Linear(16, 3)

    def forward(self, ids):
        x = self.embed(ids)
        h = torch.zeros(len(ids), 16, dtype=x.dtype)
        c = torch.zeros_like(h)
        outs = []
        for t in range(ids.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
            outs.append(self.out(h))
        return torch.stack(outs, 1)


torch.manual_seed(0)
model = Tagger().bfloat16()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
total = 0.0
for _ in range(2):
    ids, tags = torch.randint(0, 20, (4, 6)), torch.randint(0, 3, (4, 6))
    logits = model(ids)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), tags.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += loss.item()
