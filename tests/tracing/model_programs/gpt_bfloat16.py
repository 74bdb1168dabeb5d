"""A small GPT in bfloat16, whose norms compute in float32. Clean."""

# goal: bfloat16
import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return h.to(x.dtype) * self.weight


class Block(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = RMSNorm(size), RMSNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.mlp = nn.Sequential(nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

    def forward(self, x):
        batch, length, size = x.shape
        parts = self.qkv(self.norm1(x)).split(size, -1)
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, size))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, words=50, size=16, layers=2, length=8):
        super().__init__()
        self.token, self.position = nn.Embedding(words, size), nn.Embedding(length, size)
        self.layers = nn.ModuleList(Block(size, 2) for _ in range(layers))
        self.norm, self.head = RMSNorm(size), nn.Linear(size, words, bias=False)

    def forward(self, ids):
        x = self.token(ids) + self.position(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


torch.manual_seed(0)
model = GPT().to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(2):
    ids = torch.randint(0, 50, (2, 8))
    logits = model(ids)
    loss = F.cross_entropy(logits.float().view(-1, 50), ids.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
